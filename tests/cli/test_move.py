"""The index to a Qdrant server and back, waiting turns to a real Valkey and back: counted, repeatable, nothing lost."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from openclaw_neuralstream.errors import VendorAway
from openclaw_neuralstream.model import EmbedderIdentity
from openclaw_neuralstream.store.flat_index import FlatIndex
from openclaw_neuralstream.store.qdrant_index import QdrantIndex
from openclaw_neuralstream.store.truth import Truth
from openclaw_neuralstream.transfer.archive import IndexMove
from tests.cli.conftest import Cli, with_door
from tests.erasing import forget
from tests.qdrant_server import QdrantServer
from tests.valkey import ValkeyServer
from tests.values import NOW, SMALL, gem, unit
from tests.worlds import turn_event

FACTS = [
    "We decided to keep the backups on the NAS in the cellar.",
    "My sister Olga lives in Turku and plays the oboe.",
]


@pytest.fixture
def qdrant() -> Iterator[QdrantServer]:
    server = QdrantServer().start()
    yield server
    server.stop()


@pytest.fixture
def valkey() -> Iterator[ValkeyServer]:
    server = ValkeyServer().start()
    yield server
    server.stop()


def index_of(cli: Cli) -> dict[str, object]:
    return dict(json.loads(cli.ok("status", "--json"))["index"])


def test_the_index_goes_to_a_server_and_back_and_recall_goes_on(cold: Cli, qdrant: QdrantServer) -> None:
    for fact in FACTS:
        cold.ok("remember", fact)
    plan = json.loads(cold.ok("admin", "move", "index", "--to", "qdrant", "--url", qdrant.url, "--dry-run", "--json"))
    assert plan == {"gems": 2, "copied_already": 0, "from": "embedded", "to": "qdrant"}
    assert not qdrant.made
    done = json.loads(cold.ok("admin", "move", "index", "--to", "qdrant", "--url", qdrant.url, "--json"))
    assert (done["expected"], done["found"], done["sampled"], done["wrong"]) == (2, 2, 2, 0)
    now = index_of(cold)
    assert (now["name"], now["gems"], now["behind"]) == ("qdrant", 2, 0)
    assert "oboe" in cold.ok("recall", "Where does Olga live?")
    cold.ok("remember", "The spare key is under the third flower pot.")
    assert "3 gems counted" in cold.ok("admin", "move", "index", "--to", "embedded", "--drop-old")
    now = index_of(cold)
    assert (now["name"], now["gems"], now["behind"]) == ("embedded", 3, 0)
    assert not qdrant.local.collection_exists("neuralstream")
    assert "flower pot" in cold.ok("recall", "Where is the spare key?")


@pytest.mark.parametrize("what", ["index", "buffer"])
def test_what_is_at_home_already_is_not_fetched_from_a_server_that_nobody_named(cold: Cli, what: str) -> None:
    result = cold("admin", "move", what, "--to", "embedded")
    assert (result.exit_code, "embedded already" in result.stderr, "give --url" in result.stderr) == (1, True, False)


def test_a_server_that_is_away_changes_nothing(cold: Cli) -> None:
    cold.ok("remember", FACTS[0])
    result = cold("admin", "move", "index", "--to", "qdrant", "--url", "http://127.0.0.1:1")
    assert (result.exit_code, "Qdrant does not answer" in result.stderr) == (1, True)
    assert index_of(cold)["name"] == "embedded"


def test_a_setting_from_the_environment_is_not_written_over(
    cold: Cli, qdrant: QdrantServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEURALSTREAM_QDRANT_URL", qdrant.url)
    result = cold("admin", "move", "index", "--to", "embedded")
    assert (result.exit_code, "comes from the environment" in result.stderr) == (1, True)


@pytest.mark.server
def test_waiting_turns_go_to_a_real_server_and_back(cold: Cli, valkey: ValkeyServer) -> None:
    with_door(
        cold.state,
        lambda door: [
            door.call("turn_end", turn_event(f"{fact} ({n})", run=f"r{n}")) for n, fact in enumerate(FACTS * 2)
        ],
    )
    assert (
        json.loads(cold.ok("admin", "move", "buffer", "--to", "redis", "--url", valkey.url, "--dry-run", "--json"))[
            "waiting"
        ]
        == 4
    )
    assert json.loads(cold.ok("admin", "move", "buffer", "--to", "redis", "--url", valkey.url, "--json"))["turns"] == 4
    buffer = json.loads(cold.ok("status", "--json"))["buffer"]
    assert (buffer["name"], buffer["waiting"]) == ("redis", 4)
    again = with_door(cold.state, lambda door: door.call("turn_end", turn_event(f"{FACTS[0]} (0)", run="r0")))
    assert again["accepted"] == "seen"
    assert "4 waiting turns moved to embedded" in cold.ok("admin", "move", "buffer", "--to", "embedded")
    assert "4 waiting turns moved to redis" in cold.ok("admin", "move", "buffer", "--to", "redis", "--url", valkey.url)
    cold.ok("admin", "flush")
    now = json.loads(cold.ok("status", "--json"))
    assert (now["buffer"]["waiting"], now["gems"]["total"] > 0) == (0, True)
    again = with_door(cold.state, lambda door: door.call("turn_end", turn_event(f"{FACTS[0]} (0)", run="r0")))
    assert again["accepted"] == "seen"


# --- interrupted --------------------------------------------------------------------------------------------------------


class Dying(FlatIndex):
    """Goes away at the nth upsert."""

    def __init__(self, *args: object, lives: int) -> None:
        super().__init__(*args)  # type: ignore[arg-type]
        self.lives = lives

    def upsert(self, entries: object) -> None:
        self.lives -= 1
        if self.lives < 0:
            raise VendorAway("gone")
        super().upsert(entries)  # type: ignore[arg-type]


@pytest.fixture
def truth(tmp_path) -> Iterator[Truth]:
    opened = Truth.open(tmp_path / "memory.sqlite")
    opened.import_gems([(gem(f"g{n}", f"fact {n}"), unit(1, n)) for n in range(1_700)], SMALL, NOW)
    yield opened
    opened.close()


def test_an_interrupted_move_goes_on_where_it_was(truth: Truth, tmp_path) -> None:
    dying = Dying(tmp_path / "new", SMALL, lives=2)
    with pytest.raises(VendorAway):
        IndexMove(truth, dying, "there").copy()
    dying.close()
    job = IndexMove(truth, whole := Dying(tmp_path / "new", SMALL, lives=100), "there")
    assert job.done == 1_000
    forget(truth, ["g3", "g1500"])
    seen: list[int] = []
    job.copy(seen.append)
    assert seen[0] == 1_498  # two steps back for the two that were forgotten, then on
    assert (job.check().expected, job.check().found, job.check().wrong) == (1_698, 1_698, 0)
    whole.close()


def test_a_move_begun_to_another_place_is_not_taken_for_this_one(truth: Truth, tmp_path) -> None:
    with pytest.raises(VendorAway):
        IndexMove(truth, Dying(tmp_path / "a", SMALL, lives=2), "a").copy()
    assert IndexMove(truth, FlatIndex(tmp_path / "b", SMALL), "b").done == 0


def test_a_copy_that_lost_gems_is_not_used(truth: Truth, tmp_path) -> None:
    job = IndexMove(truth, target := FlatIndex(tmp_path / "new", SMALL), "there")
    job.copy()
    target.delete(["g7"])
    assert not job.check().well


def test_a_place_that_was_kept_only_catches_up(truth: Truth, qdrant: QdrantServer) -> None:
    forget(truth, [f"g{n}" for n in range(60, 1_700)])
    target = QdrantIndex(qdrant.url, "neuralstream", EmbedderIdentity("small", 8))
    IndexMove(truth, target, "q").copy()
    before = len(qdrant.bodies("PUT", "/collections/neuralstream/points"))
    forget(truth, ["g7"])
    job = IndexMove(truth, target, "q")
    job.copy()
    assert len(qdrant.bodies("PUT", "/collections/neuralstream/points")) - before <= 2
    assert job.check().well
    target.close()
