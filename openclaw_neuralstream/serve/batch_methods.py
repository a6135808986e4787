"""Methods about batches, dead letters and where a gem comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from openclaw_neuralstream.clean import clean_gem, clean_text, clean_turn
from openclaw_neuralstream.engine import Memory
from openclaw_neuralstream.errors import BadRequest, NotFound
from openclaw_neuralstream.formats import gem_to_json, instant
from openclaw_neuralstream.model import Gem, Turn
from openclaw_neuralstream.serve.given import Method, Params
from openclaw_neuralstream.store.truth import BatchDetail, BatchRow, DeadBatch

EXTRACTORS = ("auto", "rules", "ollama", "openai", "host")
_MOST = 100_000


def provenance(memory: Memory, gem: Gem) -> dict[str, Any]:
    """The words of the turns it stands on, each time it was said, and both ends of what replaced what."""
    links = memory.truth.links(gem.gem_id)
    reasons = {name: link.why for link in links for name in (link.older, link.newer)}
    return {
        "evidence": [turn_to_json(turn) for turn in memory.truth.turns(gem.evidence)],
        "statements": [
            {
                "batch": said.batch_id,
                "at": instant(said.said_at),
                "content": clean_gem(said.gem).content,
                "why": clean_text(said.why),
                "evidence": list(said.gem.evidence),
                "extractor": asdict(clean_gem(said.gem).extractor),
            }
            for said in memory.truth.statements(gem.gem_id)
        ],
        "by_hand": memory.truth.by_hand(gem.gem_id),
        "replaced_by": _ends(memory, [gem.superseded_by], reasons),
        "replaces": _ends(memory, [gem.supersedes], reasons),
    }


def turn_to_json(turn: Turn) -> dict[str, Any]:
    """A turn as it was said."""
    turn = clean_turn(turn)
    return {
        "turn_id": turn.turn_id,
        "index": turn.index,
        "at": instant(turn.at),
        "said": [{"speaker": u.speaker, "name": u.name, "text": u.text} for u in turn.utterances],
    }


def batches_list(memory: Memory, params: Params) -> dict[str, Any]:
    """{"session"?, "since"?, "limit"?} → {"batches"}, newest first."""
    limit = params.get("limit", 50)
    if not isinstance(limit, int) or not 0 < limit <= _MOST:
        raise BadRequest(f"limit must be a whole number from 1 to {_MOST}", where="limit")
    session, since = str(params.get("session") or ""), str(params.get("since") or "")
    rows = [
        row
        for row in memory.truth.batches(_MOST if session or since else limit)
        if session in ("", row.session.key) and (not since or instant(row.at) >= since)
    ]
    return {"batches": [_row_to_json(memory, row) for row in rows[:limit]]}


def batches_show(memory: Memory, params: Params) -> dict[str, Any]:
    """{"id"} → the turns as they were said, each gem with its evidence, and what became of it and why."""
    found = memory.batch(_id(params))
    return {**_row_to_json(memory, found.row, found), **_detail(memory, found)}


def batches_undo(memory: Memory, params: Params) -> dict[str, Any]:
    """{"id", "dry_run"?} → the gems that are removed, restored, changed, and kept because a person edited them."""
    batch_id = memory.batch(_id(params)).row.batch_id
    undone = memory.undo(batch_id, dry_run=bool(params.get("dry_run")))
    return {
        "batch_id": batch_id,
        **{
            name: [gem_to_json(clean_gem(gem)) for gem in getattr(undone, name)]
            for name in ("removed", "restored", "changed", "kept")
        },
    }


def batches_again(memory: Memory, params: Params) -> dict[str, Any]:
    """{"id", "extractor"?, "unless_same"?, "dry_run"?} → {"gems"}; unless_same: skip what this extractor made already."""
    found = memory.batch(_id(params))
    name = str(params.get("extractor") or "auto")
    if name not in EXTRACTORS:
        raise BadRequest(f"extractor must be one of {', '.join(EXTRACTORS)}", where="extractor")
    chooser = memory.parts.choose_extractor
    extractor = chooser.named(name) if params.get("extractor") else chooser()
    made = found.made.extractor if found.made else None
    same = bool(params.get("unless_same")) and made == extractor.identity and found.row.state == "stored"
    answer = {
        "batch_id": found.row.batch_id,
        "turns": len(found.turns),
        "extractor": asdict(extractor.identity),
        "skipped": same,
        "gems": [],
    }
    if same or params.get("dry_run"):
        return answer
    new = memory.extract_again(found.row.batch_id, extractor)
    memory.truth.count("batches.again")
    return {**answer, "gems": [gem_to_json(clean_gem(gem)) for gem in new]}


def dead_list(memory: Memory, params: Params) -> dict[str, Any]:  # noqa: ARG001  one signature for all methods
    """Batches that were set aside, with the reason and the number of turns."""
    return {
        "batches": [
            {
                "batch_id": dead.batch_id,
                "agent": dead.session.agent,
                "session_key": dead.session.key,
                "turns": dead.turns,
                "reason": dead.reason,
                "at": instant(dead.at),
                "attempts": dead.attempts,
            }
            for dead in memory.truth.dead()
        ]
    }


def dead_show(memory: Memory, params: Params) -> dict[str, Any]:
    """{"id"} → its turns as they were said, and each refused answer's reason."""
    (dead,) = _dead(memory, _id(params), most=1)
    found = memory.batch(dead.batch_id)
    return {
        "batch_id": dead.batch_id,
        "session_key": dead.session.key,
        "reason": dead.reason,
        "at": instant(dead.at),
        "attempts": dead.attempts,
        "refusals": [{"at": instant(at), "reason": reason} for at, reason in found.refusals],
        "turns": [turn_to_json(turn) for turn in found.turns],
    }


def dead_retry(memory: Memory, params: Params) -> dict[str, Any]:
    """{"batch_id"?} → {"revived"}: one batch, or all of them. Raises NotFound for a name that none has."""
    wanted = str(params.get("batch_id") or "")
    dead = _dead(memory, wanted, most=1) if wanted else memory.truth.dead()
    return {"revived": [item.batch_id for item in dead if memory.retry_dead(item.batch_id)]}


def gems_confirm(memory: Memory, params: Params) -> dict[str, Any]:
    """{"id"} → the gem, which counts as the owner's word from now on."""
    return {"gem": gem_to_json(memory.confirm(_id(params)))}


def _dead(memory: Memory, wanted: str, *, most: int) -> list[DeadBatch]:
    found = [dead for dead in memory.truth.dead() if dead.batch_id.startswith(wanted)]
    if not found or len(found) > most:
        told = "no dead batch" if not found else f"{len(found)} dead batches begin with"
        raise NotFound(f"{told} {wanted!r}", fix="neuralstream admin dead list shows the ids")
    return found


def _row_to_json(memory: Memory, row: BatchRow, found: BatchDetail | None = None) -> dict[str, Any]:
    detail = found or memory.truth.batch(row.batch_id)
    made = detail.made if detail else None
    return {
        "batch_id": row.batch_id,
        "at": instant(row.at),
        "agent": row.session.agent,
        "session_key": row.session.key,
        "epoch": row.session.epoch,
        "state": row.state,
        "trigger": row.trigger,
        "turns": row.turns,
        "gems": row.gems,
        "same": made.same if made else 0,
        "replaced": made.replaced if made else 0,
        "dropped": made.dropped if made else 0,
        "refused": row.attempts,
        "reason": row.reason,
        "extractor": asdict(made.extractor) if made else None,
    }


def _detail(memory: Memory, found: BatchDetail) -> dict[str, Any]:
    names = {link.older for link in found.links} | {link.newer for link in found.links}
    return {
        "said": [turn_to_json(turn) for turn in found.turns],
        "statements": [
            {
                "content": clean_gem(statement.gem).content,
                "became": "new" if gem is not None and gem.gem_id == statement.gem.gem_id else "same",
                "why": statement.why,
                "evidence": list(statement.gem.evidence),
                "gem": gem_to_json(clean_gem(gem)) if gem is not None else None,
            }
            for statement, gem in found.said
        ],
        "replaced_gems": _ends(memory, sorted(names), {link.older: link.why for link in found.links}),
        "dropped_gems": [{"content": clean_text(content), "why": why} for content, why in found.drops],
        "refusals": [{"at": instant(at), "reason": reason} for at, reason in found.refusals],
    }


def _ends(memory: Memory, gem_ids: list[str], reasons: Mapping[str, str]) -> list[dict[str, Any]]:
    ends = []
    for gem_id in filter(None, gem_ids):
        gem = memory.truth.gem(gem_id)
        content, by = (clean_text(gem.content), gem.superseded_by) if gem else ("(forgotten)", "")
        ends.append({"gem_id": gem_id, "content": content, "superseded_by": by, "why": reasons.get(gem_id, "")})
    return ends


def _id(params: Params) -> str:
    value = params.get("id")
    if not isinstance(value, str) or not value.strip():
        raise BadRequest(
            "id must be a text, and not an empty one", where="id", fix="neuralstream admin batches list shows the ids"
        )
    return value.strip()


METHODS: dict[str, Method] = {
    "batches.list": batches_list,
    "batches.show": batches_show,
    "batches.undo": batches_undo,
    "batches.again": batches_again,
    "dead.list": dead_list,
    "dead.show": dead_show,
    "dead.retry": dead_retry,
    "gems.confirm": gems_confirm,
}
