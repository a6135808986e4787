"""Methods of upkeep: batches, forgetting, scrubbing, audit, archive, import."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import numpy as np

from openclaw_neuralstream.errors import BadRequest, NeuralStreamError, NotFound
from openclaw_neuralstream.memory import scrub, wiring
from openclaw_neuralstream.memory.audit import audit
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.memory.forget_files import What
from openclaw_neuralstream.model import OWNER, Batch, Gem, Origin, Scope, Session, Trigger, Turn, Utterance, slug_of
from openclaw_neuralstream.ports import Reading, Vector
from openclaw_neuralstream.secrets import redact
from openclaw_neuralstream.sequences import pairing
from openclaw_neuralstream.server import given, spool
from openclaw_neuralstream.server.given import Method, Params
from openclaw_neuralstream.store.qdrant_index import Collections, Point
from openclaw_neuralstream.store.truth import BatchDetail, BatchRow, DeadBatch
from openclaw_neuralstream.text.lines import clean_gem, clean_text, clean_turn, gem_to_json, instant
from openclaw_neuralstream.transfer import exchange, files

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


FORGET_METHODS: dict[str, Callable[[Memory, Params], Any]] = {"forget.plan": plan, "forget.run": run}


def methods(drainable: Mapping[str, Method]) -> dict[str, Method]:
    """The methods; `drainable`: what may stand in a spool file, which is taken in before it is looked through."""

    def step(memory: Memory, params: Params) -> dict[str, Any]:
        """{"dry_run"?, "receipt"?} → the receipt so far, with "total"."""
        given, dry_run = params.get("receipt"), params.get("dry_run", False)
        if not isinstance(dry_run, bool) or not isinstance(given, dict | None):
            raise BadRequest("dry_run must be true or false, receipt an object", where="scrub.step")
        if not given and not dry_run:
            _drained(memory)
        return {**scrub.step(memory, given, dry_run=dry_run), "total": scrub.total(memory)}

    def _drained(memory: Memory) -> None:
        try:
            spool.drain(memory, memory.parts.state.spool, drainable)
        except (NeuralStreamError, OSError):
            return  # it stays, and is rewritten where it is

    return {"scrub.step": step}


_PAGE = 5_000


def audit_store(memory: Memory, params: Mapping[str, Any]) -> dict[str, Any]:
    """{"sample"?, "seed"?, "agent"?} → {"population", "looked_at", "unverifiable", "rates", "findings"}."""
    sample, seed = given.whole(params, "sample"), given.whole(params, "seed")
    agent = str(params.get("agent") or "")
    gems = [gem for gem in _all(memory) if agent in ("", gem.scope.agent)]
    found = audit(gems, memory.truth.turns, now=memory.now(), sample=sample, seed=seed)
    rates = {sort: {**asdict(rate), "share": rate.share} for sort, rate in found.rates.items()}
    return {**asdict(found), "rates": rates}


def _all(memory: Memory) -> list[Gem]:
    """Every gem that is not superseded."""
    gems: list[Gem] = []
    while page := memory.truth.gems(limit=_PAGE, offset=len(gems)):
        gems += page
    return gems


AUDIT_METHODS: dict[str, Callable[[Memory, Mapping[str, Any]], Any]] = {"audit": audit_store}


def workspace_files(memory: Memory, params: Params) -> dict[str, Any]:  # noqa: ARG001  one signature for all methods
    """{} → {"workspaces": {name: {"root", "files"}}}: the indexed Markdown and the user's topics, by path in the workspace.

    The files of sequences are not: they are written anew from the memory.
    """
    found: dict[str, dict[str, Any]] = {}
    for workspace in memory.parts.workspaces.all():
        index = workspace.index
        topics = [pairing.PATH] if (workspace.root / pairing.PATH).is_file() else []
        name = workspace.root.name if workspace.root.name not in found else str(len(found))
        found[name] = {"root": str(workspace.root), "files": [*sorted(index.known() if index else ()), *topics]}
    return {"workspaces": found}


ARCHIVE_METHODS: dict[str, Method] = {"archive.files": workspace_files}


_MOST_TAKEN = 200


def take(memory: Memory, params: Params) -> dict[str, Any]:
    """{"turns": [{"event", "stretch"}], "dry_run"?} → {"new", "known", "tokens", "skipped", "waiting", "away", "sizes"?}."""
    return files.take(memory, _items(params), dry_run=bool(params.get("dry_run", False)))


def sample(memory: Memory, params: Params) -> dict[str, Any]:
    """{"turns"} → how long the extractor takes for the first five; nothing is kept."""
    return files.sample(memory, _items(params))


def _items(params: Params) -> list[dict[str, Any]]:
    items = params.get("turns")
    if not isinstance(items, list) or len(items) > _MOST_TAKEN or not all(isinstance(item, dict) for item in items):
        raise BadRequest(f"turns must be a list of at most {_MOST_TAKEN} objects", where="backfill")
    return items


BACKFILL_METHODS: dict[str, Callable[[Memory, Params], Any]] = {"backfill.take": take, "backfill.sample": sample}


_POINTS_A_PAGE = 64
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
        points, following = reader.page(
            name, limit=int(params.get("limit") or _POINTS_A_PAGE), after=params.get("after")
        )
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
    return Collections(wiring.qdrant_link(memory.settings, url=url, api_key_env=key))


def _gem(memory: Memory, params: Params, name: str, point: Point) -> Gem | None:
    if "note" in point.payload and "made_by" in point.payload:
        return None  # our own note of an index
    words = Origin(str(params["origin"])) if params.get("origin") else None
    user, owners = str(params.get("user") or ""), [str(owner) for owner in params.get("owners") or ()]
    ours = bool(memory.settings.qdrant_url) and name == memory.settings.collection and not params.get("url")
    return exchange.own_gem(point.payload, user=user, origin=words, owners=owners, vouched=ours) or exchange.gem_of(
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


COLLECTIONS_METHODS: dict[str, Callable[[Memory, Params], Any]] = {
    "collections.list": list_,
    "collections.import": import_,
}


SENTENCE = "Our backup server moved to Graz because the cellar in Linz was flooded."
"""What a try is about; nothing of it is kept."""


def models(memory: Memory, params: Params) -> dict[str, Any]:
    """{"try"?} → extractor and embedder (name, why), today's cost, and with "try" the outcome of one extraction."""
    wanted = params.get("try", False)
    if not isinstance(wanted, bool):
        raise BadRequest("try must be true or false", where="models")
    tried = _tried(memory) if wanted else None
    chooser = memory.parts.choose_extractor
    return {
        "extractor": asdict(chooser.choice),
        "embedder": asdict(memory.parts.choices["embedder"]),
        "today": asdict(chooser.spent()),
        "tried": tried,
    }


def _tried(memory: Memory) -> dict[str, Any]:
    """What became of the sentence, and how long it took; a failure is an outcome with its remedy."""
    started = time.perf_counter()
    outcome: dict[str, Any] = {"name": "", "model": "", "gems": [], "error": "", "fix": ""}
    try:
        extractor = memory.parts.choose_extractor()
        outcome |= {"name": extractor.identity.name, "model": extractor.identity.model}
        outcome["gems"] = [draft.content for draft in extractor.extract(_reading(memory))]
    except NeuralStreamError as error:
        outcome |= {"error": " · ".join(part for part in (error.what, error.where) if part), "fix": error.fix}
    return {**outcome, "ms": round(1000 * (time.perf_counter() - started))}


def _reading(memory: Memory) -> Reading:
    now, session = memory.now(), Session("models", "models", "")
    said = Utterance(OWNER, Origin.OWNER, SENTENCE, now)
    turn = Turn("models-try", Scope("models"), session, now, (said,), 1)
    return Reading(Batch("models-try", session, (turn,), "", now, trigger=Trigger.MANUAL))


MODEL_METHODS: dict[str, Method] = {"models": models}
