"""The Qdrant index beside its contract: the collection's form, other embedders, shared collections, a server away.

Runs against the client's local mode, a stand-in for a server; what only a server shows (indexes, shards) is read from
the requests that a recording HTTP server receives.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest
from qdrant_client import QdrantClient, models

from openclaw_neuralstream.errors import EmbedderMismatch, VendorAway
from openclaw_neuralstream.formats import gem_to_json
from openclaw_neuralstream.model import EmbedderIdentity, content_uuid
from openclaw_neuralstream.store.qdrant_index import QdrantIndex
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
    index._client.delete_collection("neuralstream")  # type: ignore[union-attr]
    with pytest.raises(VendorAway):
        index.search(unit(1), MAIN, limit=1)
    assert (index.position(), index.count()) == (0, 0)
    index.close()


def test_a_server_that_is_away_is_named() -> None:
    index = QdrantIndex("http://127.0.0.1:1", "neuralstream", SMALL, timeout=1)
    with pytest.raises(VendorAway) as away:
        index.position()
    assert "127.0.0.1:1" in str(away.value)


class _Recorder(BaseHTTPRequestHandler):
    """Says that the collection is not there, and agrees to everything else."""

    asked: ClassVar[list[tuple[str, str, dict[str, object]]]]
    api_keys: ClassVar[set[str]]

    def _answer(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        body = json.loads(self.rfile.read(length) or b"{}")
        self.asked.append((self.command, self.path, body))
        self.api_keys.add(self.headers.get("api-key"))
        result: object = True
        if self.path.endswith("/exists"):
            result = {"exists": False}
        elif self.command == "GET":
            result = _INFO
        elif self.path.endswith("/points") and self.command == "POST":
            result = []
        elif "points" in self.path or "index" in self.path:
            result = {"operation_id": 1, "status": "completed"}
        data = json.dumps({"result": result, "status": "ok", "time": 0.0}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_PUT = do_POST = _answer  # noqa: N815

    def log_message(self, *_: object) -> None:
        pass


_INFO = {
    "status": "green",
    "optimizer_status": "ok",
    "segments_count": 1,
    "payload_schema": {},
    "config": {
        "params": {"vectors": {"size": 8, "distance": "Cosine"}},
        "hnsw_config": {"m": 16, "ef_construct": 100, "full_scan_threshold": 10_000},
        "optimizer_config": {
            "deleted_threshold": 0.2, "vacuum_min_vector_number": 1000, "default_segment_number": 0, "flush_interval_sec": 5,
        },
    },
}  # fmt: skip


@pytest.fixture
def recorder() -> Iterator[tuple[str, type[_Recorder]]]:
    class Fresh(_Recorder):
        """One test's own."""

    Fresh.asked, Fresh.api_keys = [], set()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Fresh)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", Fresh
    server.shutdown()
    thread.join(10)
    server.server_close()


@pytest.mark.filterwarnings("ignore:Api key is used")
def test_a_server_is_asked_for_the_collection_of_the_specification(
    recorder: tuple[str, type[_Recorder]], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, heard = recorder
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    index = QdrantIndex(url, "neuralstream", SMALL, api_key="key", shards=3, replicas=2)
    assert index.position() == 0
    index.close()
    made = next(body for method, path, body in heard.asked if (method, path) == ("PUT", "/collections/neuralstream"))
    assert made["vectors"] == {"size": 8, "distance": "Cosine", "on_disk": False}
    assert (made["shard_number"], made["replication_factor"], made["on_disk_payload"]) == (3, 2, True)
    indexed = {str(body["field_name"]): body["field_schema"] for _, path, body in heard.asked if "/index" in path}
    assert {"agent", "user", "project"} <= indexed.keys()
    assert (indexed["agent"], indexed["superseded"]) == ("keyword", "bool")
    assert heard.api_keys == {"key"}
