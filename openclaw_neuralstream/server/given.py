"""What a client gave with a request, checked: texts, numbers, scopes, what is wanted; and a record as it is answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import date, datetime
from typing import Any

from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.model import OWNER, RECORD_KINDS, Period, Record, Scope, Wanted
from openclaw_neuralstream.text.lines import instant
from openclaw_neuralstream.text.when import option

Params = Mapping[str, Any]
Method = Callable[[Memory, Params], Any]


def text(params: Params, name: str, default: str | None = None) -> str:
    """A text; without a default it must say something. Raises BadRequest."""
    value = _said(params, name, default)
    if not isinstance(value, str) or (default is None and not value.strip()):
        raise BadRequest(f"{name} must be a text, and not an empty one", where=name, fix=f"say the {name} in words")
    return value


def whole(params: Params, name: str, default: int = 0, *, most: int | None = None) -> int:
    """A whole number from 0 (to `most`). Raises BadRequest."""
    value = _said(params, name, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0 or (most is not None and value > most):
        raise BadRequest(f"{name} must be a whole number from 0 {'on' if most is None else f'to {most}'}", where=name)
    return value


def texts(params: Params, name: str, default: list[str] | None = None) -> list[str]:
    """A list of texts. Raises BadRequest."""
    value = _said(params, name, default)
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise BadRequest(f"{name} must be a list of texts", where=name)
    return value


def mapping(params: Params, name: str) -> Mapping[str, Any]:
    """An object; empty when nothing is said. Raises BadRequest."""
    value = _said(params, name, {})
    if not isinstance(value, Mapping):
        raise BadRequest(f"{name} must be an object", where=name)
    return value


def _said(params: Params, name: str, default: Any) -> Any:
    """What is null was not said."""
    value = params.get(name)
    return default if value is None else value


def scope(params: Params) -> Scope:
    """Whose memory it is about: the owner's of `main` where nothing is said. Raises BadRequest."""
    agent, user = (text(params, name, "") for name in ("agent", "user"))
    return Scope(agent or "main", user or OWNER, text(params, "project", ""))


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


def record_to_json(record: Record) -> dict[str, Any]:
    """A record as the CLI and the tools show it; kind, timestamp, entities, content and source are the spec's form."""
    return {
        **asdict(record),
        "at": instant(record.at),
        "origin": record.origin.value,
        "score": round(record.score, 4),
        "timestamp": record.when or ("" if "#L" in record.citation else f"{record.at:%Y-%m-%d}"),
        "content": record.text,
        "source": record.citation,
    }
