"""The Qdrant index beside its contract: the collection's form, other embedders, shared collections, a server away.

Runs against the client's local mode, a stand-in for a server; what only a server shows (indexes, shards) is read from
the requests that a stand-in over HTTP receives.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from qdrant_client import QdrantClient, models

from openclaw_neuralstream.errors import EmbedderMismatch, VendorAway
from openclaw_neuralstream.model import EmbedderIdentity, Scope, content_uuid
from openclaw_neuralstream.settings import QdrantOptions
from openclaw_neuralstream.store.qdrant_index import FILTERS, QdrantIndex
from openclaw_neuralstream.text.lines import gem_to_json
from tests.qdrant_server import QdrantServer
from tests.values import MAIN, SMALL, entry, gem, unit

OTHER_MODEL = EmbedderIdentity("other", 8)
BIGGER = EmbedderIdentity("bigger", 16)


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(tmp_path / "qdrant")


def opened(folder: str, identity: EmbedderIdentity = SMALL, store: str = "default") -> QdrantIndex:
    return QdrantIndex("", "neuralstream", identity, location=folder, store=store)


def test_a_point_is_the_gem_as_the_specification_gives_it(folder: str) -> None:
    index = opened(folder)
    gem_id = content_uuid("a gem")
    index.upsert([entry(gem_id, unit(1))])
    index.close()
    client = QdrantClient(path=folder)
    info = client.get_collection("neuralstream").config.params
    (point,) = client.retrieve("neuralstream", [gem_id], with_payload=True)
    client.close()
    assert (info.vectors.size, info.vectors.distance) == (8, models.Distance.COSINE)  # type: ignore[union-attr]
    assert point.payload == {**gem_to_json(gem(gem_id)), "superseded": False, "store": "default"}


@pytest.mark.parametrize("other", [OTHER_MODEL, BIGGER])
def test_vectors_of_another_embedder_are_refused_until_the_collection_is_made_anew(
    folder: str, other: EmbedderIdentity
) -> None:
    index = opened(folder)
    index.upsert([entry("a", unit(1))])
    index.close()
    index = opened(folder, other)
    for verb in (index.count, index.position, lambda: index.advance(1)):
        with pytest.raises(EmbedderMismatch, match="reembed"):
            verb()
    index.clear()
    index.upsert([entry("b", unit(1, dimensions=other.dimensions))])
    assert (index.count(), index.position()) == (1, 0)
    index.close()


def test_two_memories_can_share_a_collection(folder: str) -> None:
    one = opened(folder, store="one")
    one.upsert([entry("a", unit(1))])
    one.advance(5)
    one.close()
    two = opened(folder, store="two")
    assert (two.count(), two.position(), two.search(unit(1), MAIN, limit=5)) == (0, 0, [])
    two.upsert([entry("b", unit(1))])
    two.clear()
    two.close()
    one = opened(folder, store="one")
    assert (one.count(), one.position(), [hit.gem_id for hit in one.search(unit(1), MAIN, limit=5)]) == (1, 5, ["a"])
    one.close()


def test_a_collection_of_somebody_else_is_never_deleted(folder: str) -> None:
    client = QdrantClient(path=folder)
    client.create_collection("neuralstream", models.VectorParams(size=4, distance=models.Distance.DOT))
    client.upsert("neuralstream", [models.PointStruct(id=1, vector=[1, 0, 0, 0], payload={"theirs": True})])
    client.close()
    index = opened(folder)
    with pytest.raises(EmbedderMismatch):
        index.count()
    with pytest.raises(EmbedderMismatch):
        index.clear()
    index.close()
    client = QdrantClient(path=folder)
    assert client.count("neuralstream").count == 1
    client.close()


def test_a_collection_that_vanishes_is_made_again_at_position_zero(folder: str) -> None:
    index = opened(folder)
    index.upsert([entry("a", unit(1))])
    index.advance(3)
    index._link.connected()[0].delete_collection("neuralstream")
    with pytest.raises(VendorAway):
        index.search(unit(1), MAIN, limit=1)
    assert (index.position(), index.count()) == (0, 0)
    index.close()


def test_a_server_that_is_away_is_named() -> None:
    index = QdrantIndex("http://127.0.0.1:1", "neuralstream", SMALL, timeout=1)
    with pytest.raises(VendorAway) as away:
        index.position()
    assert "127.0.0.1:1" in str(away.value)


@pytest.fixture
def server() -> Iterator[QdrantServer]:
    started = QdrantServer(api_key="key").start()
    yield started
    started.stop()


PLAIN = QdrantOptions()


def served(server: QdrantServer, options: QdrantOptions = PLAIN, **more: object) -> QdrantIndex:
    return QdrantIndex(server.url, "neuralstream", SMALL, api_key="key", options=options, **more)  # type: ignore[arg-type]


pytestmark = pytest.mark.filterwarnings("ignore:Api key is used")


def test_a_server_is_asked_for_the_collection_of_the_specification(
    server: QdrantServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    index = served(server, QdrantOptions(shard_number=3, replication_factor=2, write_consistency_factor=2))
    assert index.position() == 0
    index.close()
    made = server.made["neuralstream"]
    assert made["vectors"] == {"size": 8, "distance": "Cosine", "on_disk": False}
    assert (made["shard_number"], made["replication_factor"], made["write_consistency_factor"]) == (3, 2, 2)
    assert (made["on_disk_payload"], made.get("quantization_config")) == (True, None)
    assert server.keys_seen == {"key"}


@pytest.mark.parametrize(
    ("kind", "made"),
    [
        ("scalar", {"scalar": {"type": "int8", "quantile": 0.99, "always_ram": True}}),
        ("binary", {"binary": {"always_ram": True}}),
    ],
)
def test_quantized_vectors_are_rescored_with_the_full_ones(
    server: QdrantServer, kind: str, made: dict[str, object]
) -> None:
    index = served(
        server, QdrantOptions(quantization=kind, oversampling=3, hnsw_m=32, hnsw_ef_construct=200, hnsw_ef=64)
    )
    index.upsert([entry("a", unit(1))])
    index.search(unit(1), MAIN, limit=5)
    index.close()
    asked = server.made["neuralstream"]
    assert asked["quantization_config"] == made
    assert (asked["hnsw_config"]["m"], asked["hnsw_config"]["ef_construct"]) == (32, 200)
    (query,) = server.bodies("POST", "/collections/neuralstream/points/query")
    assert query["params"] == {"hnsw_ef": 64, "quantization": {"rescore": True, "oversampling": 3.0}}


def test_every_field_that_any_request_filters_by_has_an_index(server: QdrantServer) -> None:
    index = served(server)
    index.upsert([entry("a", unit(1)), entry("b", unit(1), scope=Scope("second", "guest", "p"))])
    index.search(unit(1), MAIN, limit=5)
    index.search(unit(1), Scope("second", "guest", "p"), limit=5, superseded=True)
    index.count()
    index.delete(["a"])
    other = served(server, store="two")
    other.upsert([entry("c", unit(1))])
    other.clear()
    index.close()
    other.close()
    filtered = {str(item["key"]) for _, _, body in server.asked for item in conditions(body)}
    assert filtered == {"store", "note", "agent", "user", "project", "superseded"}
    assert filtered <= server.indexed["neuralstream"].keys()
    assert server.indexed["neuralstream"] == FILTERS


def conditions(body: object) -> Iterator[dict[str, object]]:
    """Every condition on a field, wherever it stands in a request."""
    if isinstance(body, dict):
        if "key" in body and "match" in body:
            yield body
        for value in body.values():
            yield from conditions(value)
    elif isinstance(body, list):
        for value in body:
            yield from conditions(value)


def test_a_collection_of_an_earlier_version_gets_the_indexes_it_lacks(server: QdrantServer) -> None:
    served(server).position()
    del server.indexed["neuralstream"]["note"]
    served(server).position()
    assert server.indexed["neuralstream"] == FILTERS


def test_every_write_waits_until_it_is_applied(server: QdrantServer) -> None:
    index = served(server)
    index.upsert([entry("a", unit(1))])
    index.delete(["a"])
    index.advance(3)
    index.close()
    writes = [
        path
        for verb, path, _ in server.asked
        if path.split("?")[0].endswith(("/points", "/points/delete")) and (verb == "PUT" or "delete" in path)
    ]
    assert len(writes) >= 3
    assert all("wait=true" in path for path in writes)


def test_a_wrong_key_is_named_with_the_setting_that_mends_it(server: QdrantServer) -> None:
    index = QdrantIndex(server.url, "neuralstream", SMALL, api_key="other")
    with pytest.raises(VendorAway) as refused:
        index.position()
    assert "qdrant_api_key_env" in refused.value.fix
    assert "other" not in str(refused.value)


def test_a_server_that_comes_back_serves_again(server: QdrantServer) -> None:
    index = served(server)
    index.upsert([entry("a", unit(1))])
    server.stop()
    with pytest.raises(VendorAway):
        index.search(unit(1), MAIN, limit=1)
    server.start()
    assert [hit.gem_id for hit in index.search(unit(1), MAIN, limit=1)] == ["a"]


def test_a_collection_of_another_size_on_a_server_is_named(server: QdrantServer) -> None:
    served(server).position()
    with pytest.raises(EmbedderMismatch, match=r"vectors of 8 numbers.*bigger/16.*reembed"):
        QdrantIndex(server.url, "neuralstream", BIGGER, api_key="key").count()


def test_binary_codes_come_with_their_warning() -> None:
    assert "binary loses neighbours" in str(QdrantOptions.model_fields["quantization"].description)
