"""Methods about tags: which there are, what stands below which, and what a person changes of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import reduce
from typing import Any

from openclaw_neuralstream.clean import clean_gem
from openclaw_neuralstream.engine import Memory
from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.formats import instant
from openclaw_neuralstream.secrets import redact
from openclaw_neuralstream.serve.given import Method, Params
from openclaw_neuralstream.serve.given import scope as scope_of
from openclaw_neuralstream.tags import TagGraph, tidy
from openclaw_neuralstream.vocabulary import Listed

_SHOWN = 10  # newest gems of a tag that are shown
_STEPS = 5_000  # gems that one call of `tags.infer` reads


def listed(memory: Memory, params: Params) -> dict[str, Any]:
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


METHODS: dict[str, Method] = {
    "tags.list": listed,
    "tags.show": show,
    "tags.change": change,
    "tags.undo": undo,
    "tags.history": history,
    "tags.infer": infer,
}
