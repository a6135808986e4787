"""Collections that others made in a Qdrant server: which there are, and their points page by page. Nothing is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from openclaw_neuralstream.errors import NotFound
from openclaw_neuralstream.ports import Vector
from openclaw_neuralstream.store.qdrant_link import QdrantLink


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
