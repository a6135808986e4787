"""What a question is narrowed to, for records that no index narrows: gems and turns."""

from __future__ import annotations

from collections.abc import Sequence

from openclaw_neuralstream.model import Kind, Record, Wanted, slug_of
from openclaw_neuralstream.recall.source import Understood
from openclaw_neuralstream.tags import key_of
from openclaw_neuralstream.traces import names

KINDS = {
    "world": frozenset({Kind.FACT, Kind.DECISION, Kind.CODE}),
    "experience": frozenset({Kind.EVENT}),
    "opinion": frozenset({Kind.PREFERENCE}),
    "observation": frozenset[Kind](),
}
"""The kinds of gems that a kind of facts stands for; gems also answer to their own kinds."""


def earlier_too(understood: Understood) -> bool:
    """Whether also what was replaced is looked for: a person wants it, or the question is about days that are over."""
    wanted = understood.query.wanted
    return bool(wanted and wanted.superseded) or understood.as_of is not None or understood.past is not None


def admits(record: Record, wanted: Wanted) -> bool:
    """Whether a record is of the days, kinds, entities and tags that are wanted."""
    day = record.at.date()
    if wanted.period and not wanted.period.meets(day, day):
        return False
    if wanted.kinds and not any(_is(record.kind, kind) for kind in wanted.kinds):
        return False
    if wanted.entities and not _is_about(record, wanted.entities):
        return False
    keys = set(wanted.tag_keys) or {key_of(tag) for tag in wanted.tags}
    return not wanted.tags or any(_levels(tag) & keys for tag in (*record.tags, *record.inferred_tags))


def _is_about(record: Record, entities: Sequence[str]) -> bool:
    """Whether it was labelled with one of them, or said by them, or names them in its words, whatever their endings."""
    slugs = {slug_of(name) for name in (*record.entities, record.speaker)}
    return any(slug_of(name) in slugs or names(record.text, name) for name in entities)


def _levels(tag: str) -> set[str]:
    """The keys of a tag and of the levels above it in its name: "a/b" is also "a"."""
    levels = tag.split("/")
    return {key_of("/".join(levels[:n])) for n in range(1, len(levels) + 1)}


def _is(kind: str, wanted: str) -> bool:
    return kind == wanted or kind in KINDS.get(wanted, frozenset())
