"""Methods about questions in their order: list, show, mark, topics, archive."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import Any

from openclaw_neuralstream.engine import Memory
from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.model import Pair
from openclaw_neuralstream.secrets import redact
from openclaw_neuralstream.sequences import view
from openclaw_neuralstream.sequences.interests import interests_of
from openclaw_neuralstream.sequences.listing import Row
from openclaw_neuralstream.sequences.pairing import DROP, KEEP
from openclaw_neuralstream.sequencing import Sequencer
from openclaw_neuralstream.serve import given
from openclaw_neuralstream.serve.given import Method, Params

_MOST = 1_000
_ABOUT = 100  # newest sessions whose topics are counted


def listed(memory: Memory, params: Params) -> dict[str, Any]:
    """{"agent"?, "user"?, "limit"?, "archived"?} → {"sessions", "total"}: the newest first; archived: those put away."""
    sequencer = _sequencer(memory)
    archived = params.get("archived")
    limit = params.get("limit", 20)
    if not isinstance(limit, int) or isinstance(limit, bool) or not 1 <= limit <= _MOST:
        raise BadRequest(f"limit must be a whole number from 1 to {_MOST}", where="limit")
    scope = given.scope(params)
    rows = sequencer.index.sequences(scope, archived=archived if isinstance(archived, bool) else None, limit=limit)
    totals = sequencer.index.totals(scope)
    return {
        "sessions": [_session(row, sequencer.index.pairs(row.sequence, last=1)) for row in rows],
        "total": {"sessions": totals.sequences, "pairs": totals.pairs, "answers": totals.answers},
    }


def shown(memory: Memory, params: Params) -> dict[str, Any]:
    """{"session", "last"?} → {"session", "pairs"}: a session by its name, or the start of it."""
    sequencer = _sequencer(memory)
    row = sequencer.sequence(given.text(params, "session"))
    last = params.get("last", 0)
    pairs = sequencer.index.pairs(row.sequence, last=last if isinstance(last, int) and last > 0 else 0)
    return {"session": _session(row, pairs[-1:]), "pairs": [_pair(pair) for pair in pairs]}


def mark(memory: Memory, params: Params) -> dict[str, Any]:
    """{"pair", "drop"?} → {"pair"}: keep its answer from now on, or never keep it."""
    kept = _sequencer(memory).mark(given.text(params, "pair"), DROP if params.get("drop") is True else KEEP)
    return {"pair": _pair(kept)}


def unmark(memory: Memory, params: Params) -> dict[str, Any]:
    """{"pair"} → {"pair"}: the formula and the topics decide again."""
    return {"pair": _pair(_sequencer(memory).mark(given.text(params, "pair"), ""))}


def topics(memory: Memory, params: Params) -> dict[str, Any]:
    """{"agent"?, "add"?, "remove"?} → {"interests", "topics": [{"topic", "pairs"}], "file", "changed", "known", "unknown"}.

    known: of what was to be added, what was there before. unknown: of what was to be removed, what was not there.
    """
    sequencer = _sequencer(memory)
    agent = given.scope(params).agent
    add, remove = given.texts(params, "add", []), given.texts(params, "remove", [])
    changed = False
    before = {interest.terms for interest in sequencer.interests_of(agent)}
    if add or remove:
        root = sequencer.root_of(agent)
        changed = sequencer.desk.change_topics(root, add=[redact(name).text for name in add], drop=remove)
        sequencer.worker.wake()
    known = memory.parts.workspaces.for_agent(agent)
    found = sequencer.index.topics(given.scope(params), _ABOUT)
    return {
        "interests": [interest.name for interest in sequencer.interests_of(agent)],
        "topics": [{"topic": topic, "pairs": count} for topic, count in found.items()],
        "file": str(known.root / "memory" / "topics.txt") if known else "",
        "changed": changed,
        "known": [name for name in add if _among(name, before)],
        "unknown": [name for name in remove if not _among(name, before)],
    }


def _among(name: str, interests: Collection[frozenset[str]]) -> bool:
    return any(interest.terms in interests for interest in interests_of(name))


def archive(memory: Memory, params: Params) -> dict[str, Any]:
    """{"days"?, "dry_run"?} → {"archived", "sessions"}: what is older; the setting qa_archive_days where not said."""
    sequencer = _sequencer(memory)
    days = params.get("days", memory.settings.qa_archive_days)
    if not isinstance(days, int) or isinstance(days, bool) or days < 0:
        raise BadRequest("days must be a whole number from 0", where="days")
    before = memory.now() - timedelta(days=days)
    dry = params.get("dry_run") is True
    found = sequencer.archive(before, dry_run=dry)
    return {"archived": 0 if dry else len(found), "sessions": found, "days": days}


def write(memory: Memory, params: Params) -> dict[str, Any]:  # noqa: ARG001  one signature for all methods
    """{} → {"written"}: take in what is new and bring the files of the workspaces into line, now."""
    sequencer = _sequencer(memory)
    sequencer.catch_up()
    return {"written": sequencer.files(), "on": memory.settings.qa_files}


def _session(row: Row, last: list[Pair]) -> dict[str, Any]:
    return {
        "session": row.name,
        "agent": row.scope.agent,
        "session_key": row.key,
        "pairs": row.pairs,
        "first": view.instant(row.first),
        "last": view.instant(row.last),
        "archived": row.archived,
        "file": row.file,
        "last_question": redact(last[0].question).text if last else "",
    }


def _pair(pair: Pair) -> dict[str, Any]:
    told = view.pair_to_json(pair)
    told["q"], told["a"] = redact(pair.question).text, redact(pair.answer).text or None
    if pair.others:
        told["others"] = [{"by": speaker, "text": redact(text).text} for speaker, text in pair.others]
    return {"pair": f"{pair.sequence}#{pair.seq}", "turn": pair.turn_id, "factors": dict(pair.factors), **told}


def _sequencer(memory: Memory) -> Sequencer:
    if memory.sequencer is None:
        raise BadRequest("questions are not kept in their order", fix="neuralstream config set sequences true")
    return memory.sequencer


METHODS: dict[str, Method] = {
    "qa.list": listed,
    "qa.show": shown,
    "qa.mark": mark,
    "qa.unmark": unmark,
    "qa.topics": topics,
    "qa.archive": archive,
    "qa.write": write,
}
