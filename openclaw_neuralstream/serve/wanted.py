"""What a person narrows a question to, from its words: "30d", "last week", "2025-11", names, kinds, tags."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.model import RECORD_KINDS, Period, Wanted
from openclaw_neuralstream.when import option

SOURCES = ("gems", "turns", "notes", "sequences")
NARROWING = ("since", "until", "as_of", "entity", "kind", "tag", "replaced", "sources")
"""The parameters of a question that narrow it."""


def narrowed(params: Mapping[str, Any]) -> bool:
    """Whether a person narrowed the question at all."""
    return any(params.get(name) for name in NARROWING)


def wanted_of(params: Mapping[str, Any], now: datetime) -> Wanted | None:
    """What is wanted; None when nothing is narrowed. Raises BadRequest that names what is not understood."""
    today = now.date()
    as_of = _time(params, "as_of", today)
    wanted = Wanted(
        period=_period(_time(params, "since", today), _time(params, "until", today)),
        entities=_words(params, "entity"),
        kinds=_kinds(params),
        tags=_words(params, "tag"),
        as_of=as_of,
        superseded=bool(params.get("replaced", False)),
    )
    return None if wanted == Wanted() else wanted


def sources_of(params: Mapping[str, Any]) -> frozenset[str]:
    """The kinds of memory that are asked; empty = all."""
    named = _words(params, "sources")
    unknown = set(named) - set(SOURCES)
    if unknown:
        raise BadRequest(f"no such source: {', '.join(sorted(unknown))}", fix=f"one of {', '.join(SOURCES)}")
    return frozenset(named)


def _period(since: Period | None, until: Period | None) -> Period | None:
    if since is None and until is None:
        return None
    return Period(since.start if since else None, until.end if until else None)


def _time(params: Mapping[str, Any], name: str, today: date) -> Period | None:
    said = params.get(name) or ""
    if not isinstance(said, str):
        raise BadRequest(f"{name} must be a text", where=name)
    if not said.strip():
        return None
    found = option(said, today)
    if found is None:
        raise BadRequest(
            f"{said!r} is no time that is understood", where=name, fix='try 30d, 2w, 2025-11, 2025-11-27 or "last week"'
        )
    return found


def _kinds(params: Mapping[str, Any]) -> tuple[str, ...]:
    kinds = tuple(kind.lower() for kind in _words(params, "kind"))
    unknown = [kind for kind in kinds if kind not in RECORD_KINDS]
    if unknown:
        raise BadRequest(f"no such kind: {', '.join(unknown)}", where="kind", fix=f"one of {', '.join(RECORD_KINDS)}")
    return kinds


def _words(params: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = params.get(name) or ()
    words = (value,) if isinstance(value, str) else value
    if not isinstance(words, (list, tuple)) or not all(isinstance(word, str) for word in words):
        raise BadRequest(f"{name} must be a list of texts", where=name)
    return tuple(dict.fromkeys(word.strip().lstrip("@#") for word in words if word.strip()))[:50]
