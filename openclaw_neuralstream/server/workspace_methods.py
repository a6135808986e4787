"""Methods over a workspace: notes, reflection, sequences, tags."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict
from datetime import date, timedelta
from functools import reduce
from typing import Any

from openclaw_neuralstream.errors import BadRequest, NotFound
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.memory.sequencer import Sequencer
from openclaw_neuralstream.memory.vocabulary import Listed
from openclaw_neuralstream.model import OWNER, FactKind, Pair, Scope
from openclaw_neuralstream.ports import NoteSearch
from openclaw_neuralstream.secrets import redact
from openclaw_neuralstream.sequences import view
from openclaw_neuralstream.sequences.pairing import DROP, KEEP, interests_of
from openclaw_neuralstream.sequences.rows import Row
from openclaw_neuralstream.server import given
from openclaw_neuralstream.server.given import Method, Params
from openclaw_neuralstream.server.given import scope as scope_of
from openclaw_neuralstream.store.tags import TagGraph, tidy
from openclaw_neuralstream.text.lines import clean_gem, instant
from openclaw_neuralstream.workspace.retaining import Retained, Sentence
from openclaw_neuralstream.workspace.workspace import Workspace, harvested_to_json
from openclaw_neuralstream.workspace.writing import Proposal

_LETTERS = {"w": FactKind.WORLD, "b": FactKind.EXPERIENCE, "o": FactKind.OPINION, "s": FactKind.OBSERVATION}


def workspaces(memory: Memory, params: Params) -> dict[str, Any]:  # noqa: ARG001  one signature for all methods
    """{} → {"workspaces"}: each with its folder, agents, index, how it is followed, and what is wrong."""
    return {"workspaces": memory.parts.workspaces.status()}


def harvest(memory: Memory, params: Params) -> dict[str, Any]:
    """{"agent"?, "paths"?, "force"?, "dry_run"?} → {"harvested": [one per workspace]}."""
    return {
        "harvested": [
            harvested_to_json(
                workspace,
                workspace.harvest(
                    set(map(str, params["paths"])) if params.get("paths") else None,
                    force=bool(params.get("force")),
                    dry_run=bool(params.get("dry_run")),
                ),
            )
            for workspace in _chosen(memory, str(params.get("agent") or ""))
        ]
    }


def retain(memory: Memory, params: Params) -> dict[str, Any]:
    """{"text", "agent"?, "kind"?, "confidence"?, "entities"?, "day"?, "dry_run"?} → where it stands now."""
    if params.get("user", OWNER) != OWNER:
        raise BadRequest("only the owner's words go into the owner's files", where="user")
    done = memory.parts.workspaces.retain(
        str(params.get("agent") or "main"), sentence_of(params), day=_day(params), dry_run=bool(params.get("dry_run"))
    )
    return {"text": _told(done), **retained_to_json(done)}


def sentence_of(params: Mapping[str, Any]) -> Sentence:
    """What is to be kept. Raises BadRequest."""
    text, entities, confidence = params.get("text"), params.get("entities") or [], params.get("confidence")
    if not isinstance(text, str) or not text.strip():
        raise BadRequest("text must be a sentence", where="text", fix="say what is to be kept")
    if not isinstance(entities, list | tuple) or not all(isinstance(name, str) for name in entities):
        raise BadRequest("entities must be a list of names", where="entities")
    number = isinstance(confidence, int | float) and not isinstance(confidence, bool)
    if confidence is not None and not (number and 0 <= confidence <= 1):
        raise BadRequest("confidence must be 0 to 1", where="confidence")
    return Sentence(
        text, kind_of(params.get("kind")), None if confidence is None else float(confidence), tuple(entities)
    )


def kind_of(name: object) -> FactKind | None:
    """A kind by its name or letter. Raises BadRequest."""
    if name is None or name == "":
        return None
    try:
        return _LETTERS.get(str(name).lower()) or FactKind(str(name).lower())
    except ValueError as error:
        raise BadRequest(f"kind must be one of {', '.join(FactKind)}", where="kind") from error


def retained_to_json(done: Retained) -> dict[str, Any]:
    """As commands and tools show it."""
    return {
        "citation": done.citation,
        "path": done.path,
        "line": done.line,
        "bullet": done.bullet,
        "added": done.added,
        "redacted": done.redacted,
    }


def _told(done: Retained) -> str:
    verb = "Kept in" if done.added else "It stands already in"
    return f"{verb} {done.citation}: {done.bullet}"


def _day(params: Params) -> date | None:
    if not params.get("day"):
        return None
    try:
        return date.fromisoformat(str(params["day"]))
    except ValueError as error:
        raise BadRequest("day must be of the form 2026-11-21", where="day") from error


def _chosen(memory: Memory, agent: str) -> list[Workspace]:
    if not agent:
        return memory.parts.workspaces.all()
    workspace = memory.parts.workspaces.for_agent(agent)
    if workspace is None:
        raise NotFound(
            f"no workspace of the agent {agent!r} is known", fix="neuralstream admin harvest --json names them all"
        )
    return [workspace]


METHODS: dict[str, Method] = {
    "workspaces": workspaces,
    "harvest": harvest,
    "retain": retain,
    "tool.retain": retain,
}


_LONGEST = 100 * 366 * 86_400


def reflect(memory: Memory, params: Params) -> dict[str, Any]:
    """{"agent"?, "since_seconds"? (0 = ever), "dry_run"?} → {"reports": [one per workspace]}."""
    since = params.get("since_seconds", 7 * 86_400)
    if isinstance(since, bool) or not isinstance(since, int | float) or not 0 <= since <= _LONGEST:
        raise BadRequest("since_seconds must be seconds, 0 for ever", where="since_seconds")
    window = timedelta(seconds=since) if since else None
    dry_run = bool(params.get("dry_run"))
    reports = [
        memory.reflector.reflect(workspace, agent, since=window, dry_run=dry_run)
        for agent, workspace in _chosen_workspace(memory, params)
    ]
    return {"reports": [report.to_json() for report in reports]}


def tool_reflect(memory: Memory, params: Params) -> dict[str, Any]:
    """The agent's tool: {"agent"?} → {"text"}: what was refreshed and what waits for the owner's yes."""
    if params.get("user", OWNER) != OWNER:
        raise BadRequest("only the owner's memory has pages", where="user")
    (report,) = reflect(memory, {"agent": params.get("agent") or "main"})["reports"]
    lines = [
        f"{change['path']}: {change['outcome']}{', ' + change['why'] if change['why'] else ''}"
        for change in report["changes"]
        if change["outcome"] != "unchanged"
    ]
    return {"text": "\n".join(lines) or "Everything is up to date."}


def proposals_list(memory: Memory, params: Params) -> dict[str, Any]:
    """{"agent"?} → {"proposals"}: what waits for a decision, without the diffs."""
    return {
        "proposals": [
            _to_json(one, agent, diff=False)
            for agent, workspace in _chosen_workspace(memory, params)
            for one in memory.reflector.book(workspace).waiting()
        ]
    }


def proposals_show(memory: Memory, params: Params) -> dict[str, Any]:
    """{"id", "agent"?} → the proposal with its unified diff."""
    agent, workspace = _holding(memory, params)
    return _to_json(memory.reflector.book(workspace).find(_id(params)), agent)


def proposals_accept(memory: Memory, params: Params) -> dict[str, Any]:
    """{"id", "agent"?} → the proposal, made. Refused when the file has changed; it then waits anew."""
    agent, workspace = _holding(memory, params)
    return _to_json(memory.reflector.accept(workspace, _id(params)), agent)


def proposals_reject(memory: Memory, params: Params) -> dict[str, Any]:
    """{"id", "agent"?} → the proposal, put away for good."""
    agent, workspace = _holding(memory, params)
    return _to_json(memory.reflector.reject(workspace, _id(params)), agent)


def _to_json(one: Proposal, agent: str, *, diff: bool = True) -> dict[str, Any]:
    told = {
        "id": one.proposal_id,
        "agent": agent,
        "path": one.path,
        "part": one.part,
        "reason": one.reason,
        "made": instant(one.made),
    }
    return {**told, "diff": one.diff} if diff else told


def _id(params: Params) -> str:
    found = params.get("id")
    if not isinstance(found, str) or not found.strip():
        raise BadRequest("id must be a text", where="id")
    return found.strip()


def _chosen_workspace(memory: Memory, params: Params) -> list[tuple[str, Workspace]]:
    """The workspace of the agent, or every one, each with its keeper."""
    agent = str(params.get("agent") or "")
    if not agent:
        return [(w.keeper, w) for w in memory.parts.workspaces.all() if w.keeper and w.here]
    workspace = memory.parts.workspaces.for_agent(agent)
    if workspace is None:
        raise NotFound(
            f"no workspace of the agent {agent!r} is known",
            fix="neuralstream config set workspace /folder, or talk to the agent once: OpenClaw then names it",
        )
    return [(agent, workspace)]


def _holding(memory: Memory, params: Params) -> tuple[str, Workspace]:
    """The workspace whose proposal is meant. Raises NotFound."""
    chosen, wanted = _chosen_workspace(memory, params), _id(params)
    for agent, workspace in chosen:
        if any(one.proposal_id.startswith(wanted) for one in memory.reflector.book(workspace).waiting()):
            return agent, workspace
    raise NotFound(f"no proposal {wanted!r}", fix="neuralstream proposals list shows the ids")


REFLECT_METHODS: dict[str, Method] = {
    "reflect": reflect,
    "tool.reflect": tool_reflect,
    "proposals.list": proposals_list,
    "proposals.show": proposals_show,
    "proposals.accept": proposals_accept,
    "proposals.reject": proposals_reject,
}


def entities(memory: Memory, params: Params) -> dict[str, Any]:
    """{"agent"?, "limit"?} → {"entities": [{"name", "aliases", "page", "facts", "notes", "last_day"}]}."""
    limit = params.get("limit", 0)
    found = _notes(memory, params).entities(limit=limit if isinstance(limit, int) and limit > 0 else 0)
    return {
        "entities": [
            {
                "name": entity.name,
                "slug": entity.slug,
                "aliases": list(entity.aliases),
                "page": entity.page,
                "facts": entity.facts,
                "notes": entity.notes,
                "last_day": str(entity.last_day) if entity.last_day else "",
            }
            for entity in found
        ]
    }


def starting(memory: Memory, params: Params) -> dict[str, Any]:
    """{"agent"?} → {"starting": what is not there yet, in words}; for people who would rather wait than be told nothing."""
    workspace = memory.parts.workspaces.for_agent(str(params.get("agent") or "main"))
    said = []
    if workspace is not None and workspace.indexing:
        said.append("the workspace is being indexed")
    if memory.warming:
        said.append("the embedding model is loading")
    return {"starting": said}


def _notes(memory: Memory, params: Params) -> NoteSearch:
    agent = str(params.get("agent") or "main")
    found = memory.parts.workspaces.search(Scope(agent))
    if found is None:
        fix = "neuralstream config set workspace /folder, or let OpenClaw name it with its next turn"
        raise NotFound(f"agent {agent!r} has no workspace", fix=fix)
    return found


NOTE_METHODS: dict[str, Method] = {"notes.entities": entities, "starting": starting}


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


SEQUENCE_METHODS: dict[str, Method] = {
    "qa.list": listed,
    "qa.show": shown,
    "qa.mark": mark,
    "qa.unmark": unmark,
    "qa.topics": topics,
    "qa.archive": archive,
    "qa.write": write,
}


_SHOWN = 10  # newest gems of a tag that are shown
_STEPS = 5_000  # gems that one call of `tags.infer` reads


def listed_tags(memory: Memory, params: Params) -> dict[str, Any]:
    """{"agent"?, "user"?} → {"tags": [{"tag", "count", "gems", "inferred", "notes", "aliases", "parents", …}]}, most often first."""
    rows = memory.parts.vocabulary.listed(scope_of(params))
    return {"tags": [_plain(row) for row in sorted(rows, key=lambda row: (-row.count, row.name))]}


def show(memory: Memory, params: Params) -> dict[str, Any]:
    """{"name", "agent"?} → the tag, "below" (every tag under it with its steps and counts), "records" reached, newest gems."""
    scope, names = scope_of(params), memory.parts.vocabulary
    found = names.known(_name(params, "name"), scope)
    below = names.below(found.name, scope)
    gems = memory.truth.gems(scope, tag=found.name, limit=_SHOWN)
    return {
        **_plain(found),
        "below": [{**_plain(row), "steps": steps} for row, steps in below],
        "records": names.reached(found.name, scope),
        "newest": [
            {"gem_id": gem.gem_id, "date": gem.source.date, "content": gem.content} for gem in map(clean_gem, gems)
        ],
    }


def change(memory: Memory, params: Params) -> dict[str, Any]:
    """{"action", "name" or "names", "other"?, "dry_run"?, "agent"?} → {"text", "tag", "before", "new", "dry_run"}.

    action: alias (names: the other words, one change together; other: the tag), unalias, merge, rename, parent, unparent, remove.
    """
    action, names, scope = str(params.get("action")), memory.parts.vocabulary, scope_of(params)
    if action not in _CHANGES:
        raise BadRequest(f"no such change: {action!r}", fix=f"one of {', '.join(_CHANGES)}")
    made, must_be_known, sentence = _CHANGES[action]
    firsts, others = _firsts(params), [_name(params, "other")] if "other" in params else []
    given = [*firsts, *others]
    rows = names.listed(scope)
    for name in (*(firsts if must_be_known[0] else ()), *(others if must_be_known[1] else ())):
        names.known(name, scope, rows)
    if action == "rename" and names.is_other(given[0], given[1], rows):
        raise BadRequest(
            f"there is a tag {tidy(given[1])!r} already",
            fix=f"neuralstream tags merge {tidy(given[0])} {tidy(given[1])}",
        )
    dry = bool(params.get("dry_run"))
    if action == "remove" and not dry:
        before, after = memory.truth.tags.remove(given[0])
    else:
        before, after = memory.truth.tags.change(
            action,
            [tidy(name) for name in given],
            lambda graph: reduce(lambda folded, name: made(folded, name, *others), firsts, graph),
            memory.now(),
            rehearse=dry,
        )
    now = names.listed(scope, after)
    main = given[-1] if action in ("alias", "merge", "rename") else given[0]
    shown = [row for row in now if after.key(row.name) == after.key(main)]
    told = [before.canonical(name) for name in given]
    if len(firsts) > 1:
        sentence = _TOGETHER
    said = [tidy(name) for name in given] if action in ("alias", "rename", "unalias") else told
    return {
        "text": sentence.format(", ".join(said[: len(firsts)]), *said[len(firsts) :]),
        "tag": _plain(shown[0]) if shown else None,
        "before": [_plain(row) for row in rows if row.name in told],
        "new": [tidy(name) for name in given if not any(before.key(row.name) == before.key(name) for row in rows)],
        "dry_run": dry,
    }


def undo(memory: Memory, params: Params) -> dict[str, Any]:
    """{"dry_run"?} → {"action", "names", "at"} of the last change, which is taken back."""
    if params.get("dry_run"):
        changes = memory.truth.tags.changes(1)
        if not changes:
            raise BadRequest("nothing was changed that could be taken back", fix="neuralstream tags list")
        taken = changes[0]
    else:
        taken = memory.truth.tags.undo()
    return {"action": taken.action, "names": list(taken.names), "at": instant(taken.at)}


def history(memory: Memory, params: Params) -> dict[str, Any]:  # noqa: ARG001  one signature for all methods
    """→ {"changes": [{"at", "action", "names"}]}, the newest first."""
    changes = memory.truth.tags.changes()
    return {"changes": [{"at": instant(c.at), "action": c.action, "names": list(c.names)} for c in changes]}


def infer(memory: Memory, params: Params) -> dict[str, Any]:
    """{"anew"?} → {"looked", "left"}: infer tags of the next gems without any; anew: begin with the first one again."""
    if params.get("anew"):
        memory.truth.tags.infer_anew()
    looked = 0
    while looked < _STEPS and (step := memory.truth.tags.infer_some()):
        looked += step
    return {"looked": looked, "left": memory.truth.tags.left()}


_Change = Callable[..., TagGraph]
_CHANGES: dict[str, tuple[_Change, tuple[bool, bool], str]] = {
    "alias": (TagGraph.alias, (False, False), "{0} is another word for {1}"),
    "unalias": (TagGraph.unalias, (True, False), "{0} is a tag of its own again"),
    "merge": (TagGraph.merge, (True, True), "{0} is {1} from now on"),
    "rename": (TagGraph.rename, (True, False), "{0} is called {1} from now on"),
    "parent": (TagGraph.put_under, (False, False), "{0} stands below {1}"),
    "unparent": (TagGraph.take_from, (True, True), "{0} no longer stands below {1}"),
    "remove": (TagGraph.without, (True, False), "nothing that was said of {0} is known any more"),
}
"""Action → what it does to the graph, whether its first and second name must be known, what is told."""


_TOGETHER = "{0} are other words for {1}"


def _plain(row: Listed) -> dict[str, Any]:
    plain = asdict(row)
    return {"tag": plain.pop("name"), "count": row.count, **plain}


def _firsts(params: Params) -> list[str]:
    """The one name, or for an alias all of them."""
    names = params.get("names")
    if names is None:
        return [_name(params, "name")]
    if not isinstance(names, list) or not names or params.get("action") != "alias":
        raise BadRequest(
            "names must be a list of other words for one tag", where="names", fix="neuralstream tags alias"
        )
    return list(dict.fromkeys(_named(name, "names") for name in names))


def _name(params: Params, field: str) -> str:
    return _named(params.get(field), field)


def _named(value: object, field: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise BadRequest(f"{field} must be the name of a tag", where=field, fix="neuralstream tags list")
    if redact(value).text != value:
        raise BadRequest("a secret is no name of a tag", where=field)
    return value


TAG_METHODS: dict[str, Method] = {
    "tags.list": listed_tags,
    "tags.show": show,
    "tags.change": change,
    "tags.undo": undo,
    "tags.history": history,
    "tags.infer": infer,
}
