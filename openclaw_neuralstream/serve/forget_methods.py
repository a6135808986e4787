"""Forgetting over the socket: what would go, and the deed with its receipt."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from openclaw_neuralstream.clean import clean_gem
from openclaw_neuralstream.engine import Memory
from openclaw_neuralstream.erasure import What
from openclaw_neuralstream.errors import BadRequest, NotFound
from openclaw_neuralstream.formats import gem_to_json
from openclaw_neuralstream.model import slug_of
from openclaw_neuralstream.secrets import redact
from openclaw_neuralstream.serve.given import Params

_TEXTS = ("words", "person", "entity", "session", "agent", "user")


def plan(memory: Memory, params: Params) -> dict[str, Any]:
    """{"gems"?, "turns"?, "words"?, "person"?, "entity"?, "session"?, "agent"?, "user"?, "since"?, "until"?} → what would go.

    "turns": every turn and waiting line with the texts that it loses. "forms": other endings of the words, which are not
    meant, and how often they stand in memory.
    """
    chosen, receipt = memory.eraser.foresee(_what(memory, params))
    return {
        "gems": [gem_to_json(clean_gem(gem)) for gem in chosen.gems],
        "turns": [{**asdict(one), "texts": [redact(text).text for text in one.texts]} for one in chosen.reached],
        "forms": dict(chosen.forms),
        "receipt": receipt.to_json(),
    }


def run(memory: Memory, params: Params) -> dict[str, Any]:
    """The same criteria → {"receipt"}: what went, and what could not."""
    return {"receipt": memory.eraser.forget(_what(memory, params)).to_json()}


def _what(memory: Memory, params: Params) -> What:
    given: dict[str, Any] = {name: params.get(name) or "" for name in _TEXTS}
    if not all(isinstance(value, str) for value in given.values()):
        raise BadRequest(f"{', '.join(_TEXTS)} must be texts", where="forget")
    for name in ("person", "entity"):
        if given[name] and not slug_of(given[name]):
            raise BadRequest(f"{name} must be a name", where=name)
    ids = params.get("gems") or []
    if not isinstance(ids, list) or not all(isinstance(item, str) for item in ids):
        raise BadRequest("gems must be a list of ids", where="gems")
    turns = _turns(memory, params.get("turns") or [])
    found = tuple(dict.fromkeys(memory.gem(item).gem_id for item in ids))
    what = What(gems=found, turns=turns, **given, since=_moment(params, "since"), until=_moment(params, "until"))
    if not what.asks:
        raise BadRequest(
            "nothing says what to forget", fix="name gems, turns, words, a session, a person, an entity or a time"
        )
    return what


def _turns(memory: Memory, ids: Any) -> tuple[str, ...]:
    """The turns that recall shows under these ids. Raises NotFound."""
    if not isinstance(ids, list) or not all(isinstance(item, str) for item in ids):
        raise BadRequest("turns must be a list of ids", where="turns")
    found = {item: memory.turn_projection.find(item) for item in ids}
    unknown = [item for item, said in found.items() if said is None]
    if unknown:
        raise NotFound(f"no turn {unknown[0]!r}", fix="neuralstream recall … --json shows the ids")
    return tuple(dict.fromkeys(said.turn_id for said in found.values() if said))


def _moment(params: Params, name: str) -> datetime | None:
    value = params.get(name)
    if value in (None, ""):
        return None
    with suppress(TypeError, ValueError):
        moment = datetime.fromisoformat(str(value))
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    raise BadRequest(f"{name} must be a date or a time", where=name)


METHODS: dict[str, Callable[[Memory, Params], Any]] = {"forget.plan": plan, "forget.run": run}
