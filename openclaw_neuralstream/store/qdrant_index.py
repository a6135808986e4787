"""Qdrant: the link, its collections, the index of gems."""

from __future__ import annotations

import json
import math
import re
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np

from openclaw_neuralstream.errors import (
    UNTRUSTED,
    BadRequest,
    EmbedderMismatch,
    NotFound,
    VendorAway,
    VendorBusy,
    VendorRefused,
    VendorSlow,
    line_failure,
)
from openclaw_neuralstream.model import EmbedderIdentity, Gem, Scope, content_uuid
from openclaw_neuralstream.ports import Hit, IndexEntry, Vector
from openclaw_neuralstream.settings import QdrantOptions
from openclaw_neuralstream.text.lines import gem_to_json

if TYPE_CHECKING:
    from qdrant_client import QdrantClient


LEAST_VERSION = "1.10"
"""The first server that knows `POST /collections/{name}/points/query`, which every search is."""

_SAID = 300  # characters of the server's own words in a message
_BUSY = frozenset({429, 502, 503, 504})
_KEY = "set qdrant_api_key_env to the name of the environment variable that holds the API key"
_GRPC = {  # the codes of gRPC that have a status of HTTP of the same meaning
    "UNAUTHENTICATED": 401, "PERMISSION_DENIED": 403, "NOT_FOUND": 404, "INVALID_ARGUMENT": 400, "UNIMPLEMENTED": 404,
    "RESOURCE_EXHAUSTED": 429, "INTERNAL": 500, "UNKNOWN": 500,
}  # fmt: skip


def creation(models: Any, dimensions: int, options: QdrantOptions) -> dict[str, Any]:
    """The arguments of `create_collection`. models: qdrant_client.models."""
    return {
        "vectors_config": models.VectorParams(
            size=dimensions, distance=models.Distance.COSINE, on_disk=options.on_disk
        ),
        "shard_number": options.shard_number,
        "replication_factor": options.replication_factor,
        "write_consistency_factor": options.write_consistency_factor,
        "on_disk_payload": options.on_disk_payload,
        "hnsw_config": models.HnswConfigDiff(m=options.hnsw_m, ef_construct=options.hnsw_ef_construct),
        "quantization_config": _quantization(models, options.quantization),
    }


def search_params(models: Any, options: QdrantOptions) -> Any:
    """How a search looks: as wide as asked for, quantized candidates rescored; None = as the server does by itself."""
    quantized = None
    if options.quantization != "none":
        quantized = models.QuantizationSearchParams(rescore=True, oversampling=options.oversampling)
    if quantized is None and not options.hnsw_ef:
        return None
    return models.SearchParams(hnsw_ef=options.hnsw_ef or None, quantization=quantized)


def _quantization(models: Any, kind: str) -> Any:
    if kind == "scalar":
        return models.ScalarQuantization(
            scalar=models.ScalarQuantizationConfig(type=models.ScalarType.INT8, quantile=0.99, always_ram=True)
        )
    if kind == "binary":
        return models.BinaryQuantization(binary=models.BinaryQuantizationConfig(always_ram=True))
    return None


class QdrantLink:
    """One server, connected at the first use. Its errors leave as VendorAway."""

    def __init__(
        self, url: str, *, api_key: str = "", timeout: float = 5.0, grpc: bool = False, location: str | None = None
    ) -> None:
        """location: ":memory:" or a folder, in place of a server (for tests)."""
        self.where = location or _shown(url)
        self.stand_in = location is not None
        self._url = url
        self._api_key = api_key
        self._timeout = timeout
        self._grpc = grpc
        self._location = location
        self._client: QdrantClient | None = None

    def connected(self) -> tuple[QdrantClient, Any]:
        """The client and its models."""
        from qdrant_client import QdrantClient, models

        if self._client is None:
            if self._location == ":memory:":
                self._client = QdrantClient(":memory:")
            elif self._location is not None:
                self._client = QdrantClient(path=self._location)
            else:
                self._client = QdrantClient(
                    url=self._url,
                    api_key=self._api_key or None,
                    timeout=math.ceil(self._timeout),
                    prefer_grpc=self._grpc,
                    check_compatibility=False,
                    **_without_proxy(self._url),
                )
        return self._client, models

    def close(self) -> None:
        """Release the connections."""
        if self._client is not None:
            self._client.close()
        self._client = None

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Whatever the client raises inside is VendorAway."""
        import grpc
        import httpx
        from qdrant_client.common.client_exceptions import QdrantException
        from qdrant_client.http.exceptions import ApiException

        try:
            yield
        except (ApiException, QdrantException, httpx.HTTPError, grpc.RpcError, OSError, ValueError) as error:
            raise self._told(error) from error

    def _told(self, error: Exception) -> VendorAway:
        """A failure of the client, of the server or of the line as ours, by its type and its status."""
        import grpc
        import httpx
        from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
        from qdrant_client.http.exceptions import UnexpectedResponse

        source = getattr(error, "source", error)  # what the client has wrapped
        if isinstance(error, UnexpectedResponse):
            return self._refused(error.status_code or 0, _said(error.content, error.reason_phrase))
        if isinstance(error, ResourceExhaustedResponse):
            return self._refused(429, str(error))
        call: Any = error if isinstance(error, grpc.Call) else None
        if call is not None and call.code().name in _GRPC:
            return self._refused(_GRPC[call.code().name], str(call.details()))
        if call is not None and call.code() is not grpc.StatusCode.DEADLINE_EXCEEDED:
            return self._unreached(error, str(call.details()))
        if call is None and not isinstance(source, httpx.ReadTimeout | httpx.WriteTimeout | httpx.PoolTimeout):
            return self._unreached(source, str(source))
        what, more = f"Qdrant did not answer within {self._timeout:g} s", max(10, 2 * self._timeout)
        fix = f"look how busy the server is, or: neuralstream config set qdrant.timeout {more:g}s"
        return VendorSlow(what, where=self.where, fix=fix)

    def _refused(self, status: int, said: str) -> VendorAway:
        """The server answered with an error: its own words, and what mends it."""
        if status in _BUSY:
            return VendorBusy(f"Qdrant is busy: {said}", where=self.where, fix="look how busy the server is")
        means, fix = {
            401: ("refuses our API key", _KEY),
            403: ("does not allow this with our API key", f"{_KEY} with the right to write to the collection"),
            404: ("does not know what we ask for", "mend qdrant_url: is it a Qdrant server, and its root?"),
        }.get(status, ("refuses", "look at the server's log: a full disk, a damaged or a changed collection"))
        return VendorRefused(f"Qdrant {means}: {said} (HTTP {status})", where=self.where, fix=fix)

    def _unreached(self, error: Exception, said: str) -> VendorAway:
        why = line_failure(error)
        fix = "start the server or mend qdrant_url; gems wait in the memory file and follow when it answers"
        if why.startswith(UNTRUSTED):
            fix = "set SSL_CERT_FILE, where OpenClaw starts, to the PEM file of the authority that signed it, and qdrant_url to the name it is made out to"
        words = why or (said.strip() or type(error).__name__).splitlines()[0][:_SAID]
        return VendorAway(f"Qdrant does not answer: {words}", where=self.where, fix=fix)

    def check_version(self) -> None:
        """Raise VendorRefused for a server that is too old; one that does not tell its version is let be."""
        from qdrant_client.http.exceptions import UnexpectedResponse

        try:
            version = self.connected()[0].info().version
        except UnexpectedResponse:  # a gateway before it hides its root
            return
        if _numbers(version) and _numbers(version) < _numbers(LEAST_VERSION):
            what = f"Qdrant is version {version}, {LEAST_VERSION} is the least: it does not know points/query"
            raise VendorRefused(what, where=self.where, fix=f"upgrade the server to {LEAST_VERSION} or newer")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:2])


def _said(content: bytes, otherwise: str) -> str:
    """The server's own words: it answers {"status": {"error": …}}, a gateway before it {"error": …} or plain text."""
    text = content.decode("utf-8", "replace").strip()
    try:
        told = json.loads(text)
        told = told.get("status") if isinstance(told.get("status"), dict) else told
        text = str(told.get("error") or text)
    except (ValueError, AttributeError):
        pass
    return " ".join(text.split())[:_SAID] or otherwise


def _shown(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _without_proxy(url: str) -> dict[str, Any]:
    """A server on this machine is never asked through a proxy of the environment; SSL_CERT_FILE counts all the same."""
    parts = urlsplit(url)
    if parts.hostname not in {"127.0.0.1", "::1", "localhost"}:
        return {}
    import httpx

    return {"trust_env": False, **({"verify": httpx.create_ssl_context()} if parts.scheme == "https" else {})}


@dataclass(frozen=True, slots=True)
class Collection:
    """What a collection says of itself; size 0 where it has no vector of one known size."""

    name: str
    points: int
    size: int
    distance: str


@dataclass(frozen=True, slots=True)
class Point:
    """One point: its id as text, its payload, its vector where there is one."""

    id: str
    payload: Mapping[str, Any]
    vector: Vector | None


class Collections:
    """The collections of one server. All verbs raise VendorAway."""

    def __init__(self, link: QdrantLink) -> None:
        self._link = link

    def every(self) -> list[Collection]:
        """Every collection, by name."""
        with self._link.answering():
            client, _ = self._link.connected()
            names = sorted(found.name for found in client.get_collections().collections)
        return [self.get(name) for name in names]

    def get(self, name: str) -> Collection:
        """One collection. Raises NotFound."""
        with self._link.answering():
            client, _ = self._link.connected()
            if not client.collection_exists(name):
                raise NotFound(
                    f"no collection {name!r}", where=self._link.where, fix="neuralstream admin collections list"
                )
            info = client.get_collection(name)
            size, distance = _form(info.config.params.vectors)
            return Collection(name, int(client.count(name, exact=True).count), size, distance)

    def page(self, name: str, *, limit: int, after: int | str | None = None) -> tuple[list[Point], int | str | None]:
        """Some points, and where the next ones begin (None at the end)."""
        with self._link.answering():
            client, _ = self._link.connected()
            found, following = client.scroll(name, limit=limit, offset=after, with_payload=True, with_vectors=True)
        points = [Point(str(point.id), point.payload or {}, _vector(point.vector)) for point in found]
        return points, following if following is None or isinstance(following, int) else str(following)

    def close(self) -> None:
        """Release the connections."""
        self._link.close()


def _form(vectors: Any) -> tuple[int, str]:
    """Size and distance of the vectors; of the first ones where they have names."""
    if isinstance(vectors, dict):
        vectors = next(iter(vectors.values()), None)
    if vectors is None:
        return 0, ""
    return int(vectors.size), str(getattr(vectors.distance, "value", vectors.distance))


def _vector(found: Any) -> Vector | None:
    """A dense vector of unit length; None for anything else."""
    if isinstance(found, dict):
        found = next(iter(found.values()), None)
    if not isinstance(found, list) or not found or not isinstance(found[0], float | int):
        return None
    vector = np.asarray(found, dtype=np.float32)
    length = float(np.linalg.norm(vector))
    return vector / length if np.isfinite(length) and length > 0 else None


_CHUNK = 100  # points of one request
FILTERS = {
    **dict.fromkeys(("store", "note", "agent", "user", "project", "gem_id", "session_key"), "keyword"),
    "superseded": "bool",
}
"""Every payload field that a filter of ours names, and how the server indexes it."""


class QdrantIndex:
    """One collection: Cosine, payload on disk, each point a gem exactly as `gem_to_json` says it.

    Two fields are added: `superseded`, to filter by, and `store`, so that several memories can share a collection.
    One more point, without a gem, keeps the position and which embedder made the vectors.
    Connects at the first verb. Raises VendorAway when the server does not answer, and EmbedderMismatch for a collection
    of another embedder; only `clear` then helps, and only where the collection holds nothing but our own.
    """

    def __init__(
        self,
        url: str,
        collection: str,
        identity: EmbedderIdentity,
        *,
        api_key: str = "",
        options: QdrantOptions | None = None,
        timeout: float = 5.0,
        grpc: bool = False,
        store: str = "default",
        location: str | None = None,
    ) -> None:
        """location: ":memory:" or a folder, in place of a server (for tests)."""
        self.identity = identity
        self._link = QdrantLink(url, api_key=api_key, timeout=timeout, grpc=grpc, location=location)
        self._collection = collection
        self._options = options or QdrantOptions.model_validate({})
        self._store = store
        self._lock = threading.Lock()
        self._ready = False

    def upsert(self, entries: Sequence[IndexEntry]) -> None:
        """Insert or replace by gem id. Raises BadRequest for a vector of another size or one that is not finite."""
        latest = {entry.gem.gem_id: (entry, self._checked(entry.vector)) for entry in entries}
        waiting = iter(latest.values())
        while chunk := list(islice(waiting, _CHUNK)):
            with self._serving() as (client, models):
                points = [
                    models.PointStruct(
                        id=_point_id(entry.gem.gem_id),
                        vector=vector.tolist(),
                        payload=self._payload(entry.gem),
                    )
                    for entry, vector in chunk
                ]
                client.upsert(self._collection, points, wait=True)

    def delete(self, gem_ids: Sequence[str]) -> None:
        """Remove these; unknown ids are fine. The server frees their bytes when it next optimises the segment."""
        if not gem_ids:
            return
        with self._serving() as (client, models):
            points: list[int | str | uuid.UUID] = [_point_id(gem_id) for gem_id in gem_ids]
            client.delete(self._collection, models.PointIdsList(points=points), wait=True)

    def search(self, vector: Vector, scope: Scope, *, limit: int, superseded: bool = False) -> list[Hit]:
        """The `limit` nearest gems of the scope, best first; [] for a zero vector."""
        query = self._checked(vector)
        if limit <= 0 or not query.any():
            return []
        with self._serving() as (client, models):
            found = client.query_points(
                self._collection,
                query=query.tolist(),
                query_filter=self._filter(models, scope, superseded=superseded),
                search_params=search_params(models, self._options),
                limit=limit,
                with_payload=["gem_id"],
            )
            return [Hit(str((point.payload or {})["gem_id"]), float(point.score)) for point in found.points]

    def count(self) -> int:
        """How many gems of ours it holds."""
        with self._serving() as (client, models):
            return self._count(client, self._ours(models))

    def position(self) -> int:
        """The number of the last gem event applied; 0 = none, or the collection was lost."""
        with self._serving() as (client, _):
            return int((self._note(client) or {}).get("position", 0))

    def advance(self, position: int) -> None:
        """Record durably that all events up to `position` are applied."""
        with self._serving() as (client, models):
            self._write_note(client, models, position)

    def clear(self) -> None:
        """Remove what is ours and set the position to 0; a collection that holds nothing else is made anew."""
        with self._lock, self._link.answering():
            client, models = self._connected()
            if client.collection_exists(self._collection):
                self._remove_ours(client, models)
            self._prepare(client, models)
            self._write_note(client, models, 0)
            self._ready = True

    def drop(self) -> None:
        """Remove what is ours, and the collection with it when it holds nothing else."""
        with self._lock, self._link.answering():
            client, models = self._connected()
            if client.collection_exists(self._collection):
                self._remove_ours(client, models)
            self._ready = False

    def close(self) -> None:
        """Release the connections."""
        with self._lock:
            self._link.close()
            self._ready = False

    # --- connection -------------------------------------------------------------------------------------------------

    @contextmanager
    def _serving(self) -> Iterator[tuple[QdrantClient, Any]]:
        """The client and its models, the collection made and checked. An error makes the next verb check it again."""
        try:
            with self._link.answering():
                with self._lock:
                    client, models = self._connected()
                    if not self._ready:
                        self._prepare(client, models)
                        self._ready = True
                yield client, models
        except VendorAway:
            self._ready = False
            raise

    def _connected(self) -> tuple[QdrantClient, Any]:
        return self._link.connected()

    # --- collection -------------------------------------------------------------------------------------------------

    def _prepare(self, client: QdrantClient, models: Any) -> None:
        if not self._link.stand_in:
            self._link.check_version()
        if not client.collection_exists(self._collection):
            client.create_collection(self._collection, **creation(models, self.identity.dimensions, self._options))
        self._check(client, models)
        if not self._link.stand_in:  # the stand-in for tests has no payload indexes
            self._index_payload(client, models)
        if self._note(client) is None:
            self._write_note(client, models, 0)

    def _index_payload(self, client: QdrantClient, models: Any) -> None:
        """Every field that a filter names gets its index, also in a collection that an earlier version made."""
        indexed = client.get_collection(self._collection).payload_schema
        for field, kind in FILTERS.items():
            if field not in indexed:
                client.create_payload_index(self._collection, field, models.PayloadSchemaType(kind), wait=True)

    def _check(self, client: QdrantClient, models: Any) -> None:
        vectors = client.get_collection(self._collection).config.params.vectors
        made_by = (self._note(client) or {}).get("made_by", str(self.identity))
        wanted = f"the embedder {self.identity} gives vectors of {self.identity.dimensions} numbers"
        if vectors is None or isinstance(vectors, dict):
            names = ", ".join(sorted(vectors or {})) or "none"
            found = f"named vectors ({names}), one without a name is needed"
        elif vectors.size != self.identity.dimensions:
            found = f"vectors of {vectors.size} numbers, {wanted}"
        elif vectors.distance != models.Distance.COSINE:
            found = f"vectors with the distance {vectors.distance.value}, Cosine is needed"
        elif made_by != str(self.identity):
            found = f"vectors of {made_by}, the embedder is {self.identity}"
        else:
            return
        what = f"the collection {self._collection!r} holds {found}"
        raise EmbedderMismatch(what, where=self._link.where, fix=self._remake(client, models))

    def _remake(self, client: QdrantClient, models: Any) -> str:
        """What mends a collection that does not fit: it is made anew only where all in it is ours."""
        others = self._count(client, None) - self._count(client, self._ours(models, with_note=True))
        another = "neuralstream config set collection NAME"
        if others:
            return f"it holds {others} points that are not ours, name another one: {another}"
        return f"neuralstream admin reembed makes it anew; or name another one: {another}"

    def _remove_ours(self, client: QdrantClient, models: Any) -> None:
        ours = self._ours(models, with_note=True)
        if self._count(client, ours) == self._count(client, None):
            client.delete_collection(self._collection)
        else:
            client.delete(self._collection, models.FilterSelector(filter=ours), wait=True)

    def _note(self, client: QdrantClient) -> dict[str, Any] | None:
        found = client.retrieve(self._collection, [self._note_id], with_payload=True)
        return found[0].payload if found else None

    def _write_note(self, client: QdrantClient, models: Any, position: int) -> None:
        note = {"note": self._store, "position": position, "made_by": str(self.identity)}
        vector = [1.0] + [0.0] * (self.identity.dimensions - 1)
        client.upsert(self._collection, [models.PointStruct(id=self._note_id, vector=vector, payload=note)], wait=True)

    @property
    def _note_id(self) -> str:
        return content_uuid("qdrant", "note", self._store)

    def _count(self, client: QdrantClient, wanted: Any) -> int:
        return int(client.count(self._collection, count_filter=wanted, exact=True).count)

    def _ours(self, models: Any, *, with_note: bool = False) -> Any:
        mine = [_is(models, "store", self._store)]
        return (
            models.Filter(should=[*mine, _is(models, "note", self._store)]) if with_note else models.Filter(must=mine)
        )

    def _filter(self, models: Any, scope: Scope, *, superseded: bool) -> Any:
        must = [_is(models, "store", self._store), _is(models, "agent", scope.agent), _is(models, "user", scope.user)]
        if scope.project:
            any_of = models.MatchAny(any=["", scope.project])
            must.append(models.FieldCondition(key="project", match=any_of))
        if not superseded:
            must.append(_is(models, "superseded", False))
        return models.Filter(must=must)

    def _payload(self, gem: Gem) -> dict[str, Any]:
        data = {**gem_to_json(gem), "superseded": bool(gem.superseded_by), "store": self._store}
        sendable: dict[str, Any] = json.loads(json.dumps(data, ensure_ascii=False).encode("utf-8", "replace"))
        return sendable  # a lone surrogate became "?": the truth keeps the exact text

    def _checked(self, vector: Vector) -> Vector:
        data = np.ascontiguousarray(vector, dtype=np.float32)
        if data.shape != (self.identity.dimensions,) or not np.isfinite(data).all():
            raise BadRequest(f"a vector of {self.identity} must be {self.identity.dimensions} finite numbers")
        return data


def _is(models: Any, key: str, value: object) -> Any:
    return models.FieldCondition(key=key, match=models.MatchValue(value=value))


def _point_id(gem_id: str) -> str:
    """The gem's own id where it is a UUID, as the server demands; else one derived from it."""
    try:
        return str(uuid.UUID(gem_id))
    except ValueError:
        return content_uuid("qdrant", "point", gem_id)
