"""Memories that others left in a Qdrant server, listed and imported page by page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from openclaw_neuralstream import adoption, servers
from openclaw_neuralstream.engine import Memory
from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.formats import gem_to_json
from openclaw_neuralstream.model import Gem, Origin
from openclaw_neuralstream.ports import Vector
from openclaw_neuralstream.serve.given import Params
from openclaw_neuralstream.store.qdrant_collections import Collections, Point

_PAGE = 64
_SAMPLE = 8
_SAME = 0.98  # median cosine of stored vectors with ours for the same texts: the same model made both


def list_(memory: Memory, params: Params) -> dict[str, Any]:
    """{"url"?, "api_key_env"?} → {"collections": [{"name", "points", "size", "distance", "ours"}]}."""
    reader = _reader(memory, params)
    try:
        ours = memory.settings.collection if memory.settings.qdrant_url else ""
        return {
            "collections": [
                {"name": c.name, "points": c.points, "size": c.size, "distance": c.distance, "ours": c.name == ours}
                for c in reader.every()
            ]
        }
    finally:
        reader.close()


def import_(memory: Memory, params: Params) -> dict[str, Any]:
    """One page: {"name", "after"?, "limit"?, "dry_run"?, "agent"?, "user"?, "origin"?, "owners"?, "url"?} → what became of it.

    "next" is where the following page begins, None at the end. Points without a text are counted as "unreadable", and
    "fields" has the names of what they hold instead.
    """
    name = str(params.get("name") or "")
    reader = _reader(memory, params)
    try:
        found = reader.get(name)
        points, following = reader.page(name, limit=int(params.get("limit") or _PAGE), after=params.get("after"))
    finally:
        reader.close()
    read = [(gem, point) for point in points if (gem := _gem(memory, params, name, point)) is not None]
    lacking = {point.id for point in points} - {point.id for _, point in read}
    new = read if params.get("dry_run") else _unknown(memory, read)
    keep = _made_by_ours(memory, new, found.size)
    stored = 0 if params.get("dry_run") else _store(memory, new, keep=keep)
    return {
        "points": found.points,
        "read": len(points),
        "unreadable": len(points) - len(read),
        "fields": sorted({field[:40] for point in points if point.id in lacking for field in point.payload})[:20],
        "stored": stored,
        "known": 0 if params.get("dry_run") else len(read) - stored,
        "vectors": "" if not new else "kept" if keep else "made anew",
        "next": following,
        "sample": [gem_to_json(gem) for gem, _ in read[:5]] if params.get("dry_run") else [],
    }


def _reader(memory: Memory, params: Params) -> Collections:
    url, key = str(params.get("url") or ""), str(params.get("api_key_env") or "")
    if not (url or memory.settings.qdrant_url):
        raise BadRequest("no Qdrant server is named", fix="give --url, or neuralstream config set qdrant_url …")
    return Collections(servers.qdrant_link(memory.settings, url=url, api_key_env=key))


def _gem(memory: Memory, params: Params, name: str, point: Point) -> Gem | None:
    if "note" in point.payload and "made_by" in point.payload:
        return None  # our own note of an index
    words = Origin(str(params["origin"])) if params.get("origin") else None
    user, owners = str(params.get("user") or ""), [str(owner) for owner in params.get("owners") or ()]
    ours = bool(memory.settings.qdrant_url) and name == memory.settings.collection and not params.get("url")
    return adoption.own_gem(point.payload, user=user, origin=words, owners=owners, vouched=ours) or adoption.gem_of(
        point.payload,
        collection=name,
        point=point.id,
        agent=str(params.get("agent") or "main"),
        user=user,
        origin=words,
        owners=owners,
        now=memory.now(),
    )


def _unknown(memory: Memory, read: Sequence[tuple[Gem, Point]]) -> list[tuple[Gem, Point]]:
    """Those that are not here yet: the others need not be embedded to be passed over."""
    ids = [gem.gem_id for gem, _ in read]
    here = (
        {gem.gem_id for gem in memory.truth.gems(gem_ids=ids, superseded=True, limit=max(1, len(ids)))}
        if ids
        else set()
    )
    return [(gem, point) for gem, point in read if gem.gem_id not in here]


def _made_by_ours(memory: Memory, read: Sequence[tuple[Gem, Point]], size: int) -> bool:
    """Whether the present embedder made these vectors: the same size, and the same vectors for a sample of the texts."""
    embedder = memory.parts.embedder
    sample = [(gem, point.vector) for gem, point in read if point.vector is not None][:_SAMPLE]
    if size != embedder.identity.dimensions or not sample:
        return False
    ours = embedder.embed_documents([gem.content for gem, _ in sample])
    cosines = [float(vector @ own) for (_, vector), own in zip(sample, ours, strict=True)]
    return float(np.median(cosines)) >= _SAME


def _store(memory: Memory, read: Sequence[tuple[Gem, Point]], *, keep: bool) -> int:
    """Store what is not here yet; the index follows."""
    if not read:
        return 0
    if not keep:
        return memory.import_gems([gem for gem, _ in read])
    pairs: list[tuple[Gem, Vector | None]] = [(gem, point.vector) for gem, point in read]
    stored = memory.truth.import_gems(pairs, memory.parts.embedder.identity, memory.now())
    memory.projection.catch_up()
    return stored


METHODS: dict[str, Callable[[Memory, Params], Any]] = {"collections.list": list_, "collections.import": import_}
