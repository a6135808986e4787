"""The gem index in a Qdrant server, cloud or cluster: one collection, each point a gem."""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from openclaw_neuralstream.errors import BadRequest, EmbedderMismatch, VendorAway
from openclaw_neuralstream.formats import gem_to_json
from openclaw_neuralstream.model import EmbedderIdentity, Gem, Scope, content_uuid
from openclaw_neuralstream.ports import Hit, IndexEntry, Vector
from openclaw_neuralstream.settings import QdrantOptions
from openclaw_neuralstream.store.qdrant_link import QdrantLink, creation, search_params

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

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
