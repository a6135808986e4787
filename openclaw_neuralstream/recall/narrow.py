"""What a question is narrowed to, for records that no index narrows: gems and turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time

from openclaw_neuralstream.model import Kind, Query, Record, Wanted, slug_of
from openclaw_neuralstream.recall.source import Lasting, Understood
from openclaw_neuralstream.tags import key_of
from openclaw_neuralstream.traces import mentions

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


def outdated(lasting: Lasting | None, turn_ids: Sequence[str], understood: Understood) -> Mapping[str, str]:
    """Those of the turns that say what does not hold at the time that is asked about; none where earlier things are wanted."""
    wanted = understood.query.wanted
    if lasting is None or (wanted and wanted.superseded):
        return {}
    if wanted and wanted.as_of:
        return lasting.outdated_turns(turn_ids, datetime.combine(_last_day(wanted), time.max, UTC), then=True)
    return {} if earlier_too(understood) else lasting.outdated_turns(turn_ids, understood.query.now)


def said_by_then(at: datetime, query: Query) -> bool:
    """Whether something was said already: by now, and by the days as of which a person asks."""
    return at <= query.now and (query.wanted is None or at.date() <= _last_day(query.wanted))


def _last_day(wanted: Wanted) -> date:
    return wanted.as_of.end or date.max if wanted.as_of else date.max


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
    return any(slug_of(name) in slugs or mentions(record.text, name) for name in entities)


def _levels(tag: str) -> set[str]:
    """The keys of a tag and of the levels above it in its name: "a/b" is also "a"."""
    levels = tag.split("/")
    return {key_of("/".join(levels[:n])) for n in range(1, len(levels) + 1)}


def _is(kind: str, wanted: str) -> bool:
    return kind == wanted or kind in KINDS.get(wanted, frozenset())
