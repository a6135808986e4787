"""What every gem index must do: the flat file, and Qdrant.

No Qdrant server comes as a package, so the client's own local mode stands in for one: it speaks the same calls with the
same collection, payload and filters, but it is not the server; the same once more behind the REST protocol.
`NEURALSTREAM_TEST_QDRANT_URL` names a real one.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.model import EmbedderIdentity, Scope
from openclaw_neuralstream.ports import GemIndex
from openclaw_neuralstream.store.flat_index import FlatIndex
from openclaw_neuralstream.store.qdrant_index import QdrantIndex
from tests.qdrant_server import QdrantServer
from tests.real_servers import QDRANT_API_KEY, QDRANT_URL
from tests.values import MAIN, SMALL, entry, unit


@dataclass
class Place:
    """An index, and how to come to it again after it was closed."""

    index: GemIndex
    make: Callable[[EmbedderIdentity], GemIndex]

    def found(self, *numbers: float, scope: Scope = MAIN, limit: int = 10, superseded: bool = False) -> list[str]:
        hits = self.index.search(unit(*numbers), scope, limit=limit, superseded=superseded)
        return [hit.gem_id for hit in hits]

    def reopen(self, identity: EmbedderIdentity = SMALL) -> GemIndex:
        self.index.close()
        self.index = self.make(identity)
        return self.index


def _flat(tmp_path: Path) -> Callable[[EmbedderIdentity], GemIndex]:
    return lambda identity: FlatIndex(tmp_path / "index", identity)


def _qdrant(tmp_path: Path) -> Callable[[EmbedderIdentity], GemIndex]:
    name = f"test-{uuid.uuid4().hex}"
    location = None if QDRANT_URL else str(tmp_path / "qdrant")
    return lambda identity: QdrantIndex(QDRANT_URL, name, identity, api_key=QDRANT_API_KEY, location=location)


@pytest.fixture(scope="module")
def http_server() -> Iterator[QdrantServer]:
    server = QdrantServer().start()
    yield server
    server.stop()


@pytest.fixture(params=["flat", "qdrant", "qdrant over http"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    if request.param == "qdrant over http":
        url, name = request.getfixturevalue("http_server").url, f"test-{uuid.uuid4().hex}"
        served = Place(QdrantIndex(url, name, SMALL), lambda identity: QdrantIndex(url, name, identity))
        yield served
        served.index.close()
        return
    make = {"flat": _flat, "qdrant": _qdrant}[request.param](tmp_path)
    found = Place(make(SMALL), make)
    yield found
    getattr(found.index, "drop", found.index.clear)()
    found.index.close()


def test_an_empty_index_finds_nothing(place: Place) -> None:
    assert (place.found(1), place.index.count(), place.index.position()) == ([], 0, 0)


def test_the_nearest_come_first_and_no_more_than_asked_for(place: Place) -> None:
    place.index.upsert([entry("far", unit(0, 1)), entry("near", unit(1, 0.1)), entry("middle", unit(1, 1))])
    assert place.found(1) == ["near", "middle", "far"]
    assert place.found(1, limit=2) == ["near", "middle"]
    assert place.found(1, limit=0) == []


def test_a_hit_carries_its_cosine(place: Place) -> None:
    place.index.upsert([entry("same", unit(1)), entry("across", unit(0, 1)), entry("against", unit(-1))])
    hits = place.index.search(unit(1), MAIN, limit=3)
    assert [hit.gem_id for hit in hits] == ["same", "across", "against"]
    assert [hit.cosine for hit in hits] == pytest.approx([1, 0, -1], abs=1e-6)


def test_agents_and_users_never_see_each_others_gems(place: Place) -> None:
    scopes = [Scope("main"), Scope("second"), Scope("main", "guest")]
    place.index.upsert([entry(f"of-{s.agent}-{s.user}", unit(1), scope=s) for s in scopes])
    assert [place.found(1, scope=s) for s in scopes] == [["of-main-owner"], ["of-second-owner"], ["of-main-guest"]]
    assert place.found(1, scope=Scope("third")) == []


def test_the_scope_is_applied_before_the_limit(place: Place) -> None:
    others = [entry(f"other-{n}", unit(1), scope=Scope("second")) for n in range(30)]
    place.index.upsert([*others, entry("mine", unit(0, 1))])
    assert place.found(1, limit=1) == ["mine"]


def test_a_project_sees_its_own_and_what_belongs_to_none(place: Place) -> None:
    place.index.upsert(
        [
            entry("red", unit(1), scope=Scope("main", project="red")),
            entry("blue", unit(1), scope=Scope("main", project="blue")),
            entry("none", unit(1)),
        ]
    )
    assert sorted(place.found(1, scope=Scope("main", project="red"))) == ["none", "red"]
    assert place.found(1, scope=Scope("main", project="green")) == ["none"]
    assert sorted(place.found(1)) == ["blue", "none", "red"]


def test_superseded_gems_come_only_when_asked_for(place: Place) -> None:
    place.index.upsert([entry("old", unit(1), superseded_by="new"), entry("new", unit(0, 1))])
    assert place.found(1) == ["new"]
    assert place.found(1, superseded=True) == ["old", "new"]


def test_the_same_id_replaces(place: Place) -> None:
    place.index.upsert([entry("a", unit(1))])
    place.index.upsert([entry("a", unit(0, 1), superseded_by="b")])
    assert place.index.count() == 1
    assert place.found(1) == []
    place.index.upsert([entry("a", unit(0, 1), scope=Scope("second")), entry("a", unit(0, 0, 1), scope=Scope("second"))])
    assert (place.found(1), place.found(1, scope=Scope("second"))) == ([], ["a"])
    hit = place.index.search(unit(0, 0, 1), Scope("second"), limit=1)[0]
    assert hit.cosine == pytest.approx(1)


def test_what_is_deleted_is_gone_and_unknown_ids_are_fine(place: Place) -> None:
    place.index.upsert([entry("a", unit(1)), entry("b", unit(1))])
    place.index.delete(["a", "never-there"])
    place.index.delete([])
    assert (place.found(1), place.index.count()) == (["b"], 1)


def test_deleted_places_are_used_again(place: Place) -> None:
    for round_ in range(3):
        place.index.upsert([entry(f"{round_}-{n}", unit(1, n)) for n in range(5)])
        place.index.delete([f"{round_}-{n}" for n in range(4)])
    assert sorted(place.found(1)) == ["0-4", "1-4", "2-4"]


def test_ids_need_not_be_uuids(place: Place) -> None:
    names = ["plain", str(uuid.uuid4()), "имя", "with space/and:signs"]
    place.index.upsert([entry(name, unit(1)) for name in names])
    assert sorted(place.found(1)) == sorted(names)


def test_a_gem_with_a_lone_surrogate_is_indexed(place: Place) -> None:
    place.index.upsert([entry("a", unit(1), content="half \ud800", topics=("\udfff",))])
    assert place.found(1) == ["a"]


def test_a_zero_vector_is_near_to_nothing(place: Place) -> None:
    place.index.upsert([entry("a", unit(1))])
    assert place.index.search(np.zeros(8, np.float32), MAIN, limit=5) == []


@pytest.mark.parametrize("vector", [np.ones(7, np.float32), np.full(8, np.nan, np.float32), np.full(8, np.inf, np.float32)])
def test_a_vector_of_another_size_or_not_finite_is_refused(place: Place, vector: np.ndarray) -> None:
    with pytest.raises(BadRequest, match="small/8"):
        place.index.upsert([entry("a", vector)])
    with pytest.raises(BadRequest, match="small/8"):
        place.index.search(vector, MAIN, limit=1)
    assert place.index.count() == 0


def test_gems_and_position_survive_a_restart(place: Place) -> None:
    place.index.upsert([entry("a", unit(1)), entry("b", unit(0, 1), scope=Scope("second", project="p"))])
    place.index.advance(41)
    place.index.advance(42)
    place.reopen()
    assert (place.found(1), place.index.count(), place.index.position()) == (["a"], 2, 42)


def test_a_cleared_index_is_empty_at_position_zero(place: Place) -> None:
    place.index.upsert([entry("a", unit(1))])
    place.index.advance(7)
    place.index.clear()
    assert (place.found(1), place.index.count(), place.index.position()) == ([], 0, 0)
    place.index.upsert([entry("b", unit(1))])
    assert place.found(1) == ["b"]


def test_more_than_one_request_worth_of_gems(place: Place) -> None:
    place.index.upsert([entry(f"{n:04}", unit(1, n / 1000)) for n in range(350)])
    assert place.index.count() == 350
    assert place.found(1, limit=3) == ["0000", "0001", "0002"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=12)
@given(seed=st.integers(0, 2**32 - 1), mine=st.integers(1, 40), others=st.integers(0, 60), limit=st.integers(1, 12))
def test_the_search_is_exact(place: Place, seed: int, mine: int, others: int, limit: int) -> None:
    place.index.clear()
    random = np.random.default_rng(seed)
    vectors = random.standard_normal((mine + others, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    query = vectors[0] + 0.1
    query /= np.linalg.norm(query)
    scopes = [MAIN] * mine + [Scope("second")] * others
    order = random.permutation(mine + others)
    place.index.upsert([entry(f"g{n}", vectors[n], scope=scopes[n]) for n in order])
    expected = sorted(range(mine), key=lambda n: -float(vectors[n] @ query))[:limit]
    hits = place.index.search(query, MAIN, limit=limit)
    assert [hit.cosine for hit in hits] == pytest.approx([float(vectors[n] @ query) for n in expected], abs=1e-5)
