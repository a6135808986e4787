"""A stand-in for a Qdrant server: its REST protocol over real HTTP, in front of the client's own local mode.

No Qdrant server comes as a package. This one refuses what the official request models refuse, demands the API key, keeps
what it was asked, can be taken away and brought back with its data, and searches exactly. It has no graph, no shards, no
quantization: what these do is known from the requests only. `NEURALSTREAM_TEST_QDRANT_URL` names a real server.
"""

from __future__ import annotations

import re
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError
from qdrant_client import QdrantClient, models

from tests.listening import Answering, Listening

_INFO = {
    "status": "green", "optimizer_status": "ok", "segments_count": 1,
    "config": {
        "hnsw_config": {"m": 16, "ef_construct": 100, "full_scan_threshold": 10_000},
        "optimizer_config": {"deleted_threshold": 0.2, "vacuum_min_vector_number": 1000, "default_segment_number": 0, "flush_interval_sec": 5},
    },
}  # fmt: skip
_DELETE: TypeAdapter[Any] = TypeAdapter(models.FilterSelector | models.PointIdsList)
_UPDATED = {"operation_id": 1, "status": "completed"}


@dataclass
class QdrantServer:
    """Start, take away, bring back; `asked` holds (method, path with query, body) of every request.

    failure: how requests go wrong, "" = not at all, worded as the server words it: "slow", "busy", "html", and for writes
    alone "read-only" (a key that may only read) and "full" (its disk). version: what it says of itself; before 1.10 there
    is no query.
    """

    api_key: str = ""
    version: str = "1.15.0"
    failure: str = ""
    tls: ssl.SSLContext | None = None
    released: threading.Event = field(default_factory=threading.Event)
    asked: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)
    indexed: dict[str, dict[str, str]] = field(default_factory=dict)
    made: dict[str, dict[str, Any]] = field(default_factory=dict)
    keys_seen: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.local = QdrantClient(":memory:")
        self.lock = threading.Lock()
        self._listening = Listening(_Handler, self, self.tls)

    @property
    def url(self) -> str:
        return f"{self._listening.scheme}://127.0.0.1:{self._listening.port}"

    def start(self) -> QdrantServer:
        """Listen, on the same port as before when it was away."""
        self._listening.start()
        return self

    def stop(self) -> None:
        """Gone: connections are refused. The data stays for the next start."""
        self.released.set()
        self._listening.stop()

    def bodies(self, method: str, path: str) -> list[dict[str, Any]]:
        """The bodies of these requests, oldest first; the path without its query."""
        return [body for verb, where, body in self.asked if verb == method and where.split("?")[0] == path]

    def answer(self, method: str, path: str, body: dict[str, Any]) -> Any:
        for verb, pattern, work in _ROUTES:
            if verb == method and (match := re.fullmatch(pattern, path)):
                with self.lock:
                    return work(self, match[1] if match.groups() else "", body)
        raise LookupError(f"no such route: {method} {path}")

    # --- what it can do -----------------------------------------------------------------------------------------------

    def exists(self, name: str, _: dict[str, Any]) -> Any:
        return {"exists": self.local.collection_exists(name)}

    def list_(self, _name: str, _body: dict[str, Any]) -> Any:
        return self.local.get_collections()

    def info(self, name: str, _: dict[str, Any]) -> Any:
        found = self.local.get_collection(name)
        schema = {f: {"data_type": kind, "points": 0} for f, kind in self.indexed.get(name, {}).items()}
        params = {**found.config.params.model_dump(mode="json", exclude_none=True)}
        return {**_INFO, "points_count": found.points_count, "payload_schema": schema, "config": {**_INFO["config"], "params": params}}  # type: ignore[dict-item]

    def create(self, name: str, body: dict[str, Any]) -> Any:
        request = models.CreateCollection.model_validate(body)
        self.made[name] = body
        return self.local.create_collection(name, vectors_config=request.vectors)

    def drop(self, name: str, _: dict[str, Any]) -> Any:
        self.indexed.pop(name, None)
        return self.local.delete_collection(name)

    def index(self, name: str, body: dict[str, Any]) -> Any:
        models.CreateFieldIndex.model_validate(body)
        self.indexed.setdefault(name, {})[body["field_name"]] = body["field_schema"]
        return _UPDATED

    def upsert(self, name: str, body: dict[str, Any]) -> Any:
        self.local.upsert(name, models.PointsList.model_validate(body).points)
        return _UPDATED

    def remove(self, name: str, body: dict[str, Any]) -> Any:
        self.local.delete(name, _DELETE.validate_python(body))
        return _UPDATED

    def retrieve(self, name: str, body: dict[str, Any]) -> Any:
        asked = models.PointRequest.model_validate(body)
        return self.local.retrieve(name, asked.ids, with_payload=asked.with_payload or False, with_vectors=asked.with_vector or False)

    def count(self, name: str, body: dict[str, Any]) -> Any:
        asked = models.CountRequest.model_validate(body)
        return self.local.count(name, count_filter=asked.filter, exact=True)

    def query(self, name: str, body: dict[str, Any]) -> Any:
        asked = models.QueryRequest.model_validate(body)
        return self.local.query_points(
            name, query=asked.query, query_filter=asked.filter, limit=asked.limit or 10, with_payload=asked.with_payload  # type: ignore[arg-type]
        )

    def scroll(self, name: str, body: dict[str, Any]) -> Any:
        asked = models.ScrollRequest.model_validate(body)
        points, following = self.local.scroll(
            name, limit=asked.limit or 10, offset=asked.offset, with_payload=asked.with_payload or False, with_vectors=asked.with_vector or False
        )
        return {"points": [point.model_dump(mode="json") for point in points], "next_page_offset": following}


_NAME = "/collections/([^/]+)"
_ROUTES: list[tuple[str, str, Callable[[QdrantServer, str, dict[str, Any]], Any]]] = [
    ("GET", "/collections", QdrantServer.list_),
    ("GET", f"{_NAME}/exists", QdrantServer.exists),
    ("GET", _NAME, QdrantServer.info),
    ("PUT", _NAME, QdrantServer.create),
    ("DELETE", _NAME, QdrantServer.drop),
    ("PUT", f"{_NAME}/index", QdrantServer.index),
    ("PUT", f"{_NAME}/points", QdrantServer.upsert),
    ("POST", f"{_NAME}/points", QdrantServer.retrieve),
    ("POST", f"{_NAME}/points/delete", QdrantServer.remove),
    ("POST", f"{_NAME}/points/count", QdrantServer.count),
    ("POST", f"{_NAME}/points/query", QdrantServer.query),
    ("POST", f"{_NAME}/points/scroll", QdrantServer.scroll),
]


_WRITES = {("PUT", "points"), ("PUT", "index"), ("POST", "delete")}


class _Handler(Answering):
    state: QdrantServer
    protocol_version = "HTTP/1.0"  # no connection outlives the server

    def _serve(self) -> None:
        body = self.body()
        self.state.asked.append((self.command, self.path, body))
        key = self.headers.get("api-key") or ""
        self.state.keys_seen.add(key)
        if self.path == "/":  # the one path without a key; it is no part of the envelope either
            return self.answer({"title": "qdrant - vector search engine", "version": self.state.version, "commit": "0"})
        if self.state.api_key and key != self.state.api_key:
            said = "Invalid API key or JWT" if key else "Must provide an API key or an Authorization bearer token"
            return self.answer_raw(said.encode(), 401, "text/plain")
        if self._failed():
            return None
        try:
            result = self.state.answer(self.command, self.path.split("?")[0], body)
        except ValidationError as error:
            return self.answer({"status": {"error": str(error)}}, 400)
        except (LookupError, ValueError) as error:
            return self.answer({"status": {"error": f"Not found: {error}"}, "time": 0.0}, 404)
        plain = result.model_dump(mode="json") if isinstance(result, BaseModel) else result
        if isinstance(plain, list):
            plain = [item.model_dump(mode="json") if isinstance(item, BaseModel) else item for item in plain]
        return self.answer({"result": plain, "status": "ok", "time": 0.0}, 200)

    def _failed(self) -> bool:
        """Failures before any answer."""
        failure, path = self.state.failure, self.path.split("?")[0]
        wrote = self.command == "DELETE" or (self.command, path.rpartition("/")[2]) in _WRITES
        if failure == "slow":
            self.state.released.wait(30)
            self.close_connection = True
        elif failure == "busy":
            self.answer({"status": {"error": "Service is overloaded"}, "time": 0.0}, 503)
        elif failure == "html":
            self.answer_raw(b"<html><body>502 Bad Gateway</body></html>", 200, "text/html")
        elif failure == "read-only" and wrote:
            self.answer({"status": {"error": "Forbidden: Write access to collection is required"}, "time": 0.0}, 403)
        elif failure == "full" and wrote:
            said = "Service internal error: No space left on device: WAL buffer size exceeds available disk space"
            self.answer({"status": {"error": said}, "time": 0.0}, 500)
        elif path.endswith("/points/query") and int(self.state.version.split(".")[1]) < 10:
            self.answer_raw(b"", 404, "text/plain")
        else:
            return False
        return True

    do_GET = do_PUT = do_POST = do_DELETE = _serve  # noqa: N815
