"""Blocks: records said to a model through a template, measured, in our frame; whoever wrote them, never too long."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import structlog

from openclaw_neuralstream.model import Block, Record
from openclaw_neuralstream.parts import Parts
from openclaw_neuralstream.recall.reference import reference
from openclaw_neuralstream.render import framed

log = structlog.get_logger(__name__)

LINE_TOKENS = 15
"""What a template puts around a record: its day and its short citation."""

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_RENDER_SECONDS = 0.1  # what the loops of a template of the user's may take on the reply path
_CHARS_A_TOKEN, _TIMES_BUDGET, _LEAST_CHARS = 5, 4, 4_000  # how long a block of a hook or a user's template may be


class Blocks:
    """Writes blocks: a hook's words, else the user's template, else ours."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def cost(self, record: Record) -> int:
        """Tokens of a record in a block."""
        return self._parts.counter.count(record.text) + LINE_TOKENS

    def within(self, records: Iterable[Record], budget: int) -> list[Record]:
        """Those that fit into so many tokens, in their order; shorter ones still go in after one that does not."""
        kept: list[Record] = []
        for record in records:
            cost = self.cost(record)
            if cost <= budget:
                kept.append(record)
                budget -= cost
        return kept

    def write(self, template: str, records: Sequence[Record], **variables: Any) -> Block:
        """The block of these records; empty where there are none and nothing stands.

        standing (variable): records with a place of their own; a template that knows no such place gets them first.
        A text that is too long is nobody's: it is counted, its author named, and the shipped template used.
        """
        if not records and not variables.get("standing"):
            return Block("")
        shown = [*variables.get("standing", ()), *records]
        by, own = next(iter(self._parts.hooks.by_plugin("render", template=template, records=shown).items()), ("", ""))
        given = {"records": records, "dated": short_day, "cited": reference, **variables}
        templates = self._parts.templates
        asked = given if templates.takes(template, "standing") else {**given, "records": shown}
        text = own or templates.render(template, seconds=_RENDER_SECONDS, **asked)
        if len(text) > (most := self._most_chars(template)):
            self._too_long(len(text), template=template, most=most)
            why = f"it writes {len(text):,} characters, at most {most:,} are shown"
            if by:
                self._parts.hooks.blame(by, f"render: {why}")
            else:
                templates.fault(template, why)
            text = templates.shipped(template, **given)
        return replace(self.plain(text), records=tuple(record.id for record in records))

    def plain(self, text: str) -> Block:
        """A text of ours in the frame that is never captured again; empty for a blank one."""
        text = framed(text) if text.strip() else ""
        return Block(text, (), self._parts.counter.count(text))

    def fits(self, block: Block) -> bool:
        """Whether a hook's own block is not too long to be shown; one that is too long is counted."""
        most = max(map(self._most_chars, ("gem_block", "session_start", "subagent_brief")))
        if len(block.text) <= most:
            return True
        self._too_long(len(block.text), most=most)
        return False

    def _too_long(self, chars: int, **told: Any) -> None:
        log.warning("block.too_long", chars=chars, **told)
        self._parts.truth.count("block.too_long")

    def _most_chars(self, template: str) -> int:
        """What a block may weigh that somebody else has written: a few times its budget, and always room for a page."""
        knobs = self._parts.settings
        budgets = {"session_start": knobs.session_token_budget, "subagent_brief": knobs.subagent_token_budget}
        return _LEAST_CHARS + _TIMES_BUDGET * _CHARS_A_TOKEN * budgets.get(template, knobs.recall_token_budget)


def day(record: Record) -> str:
    """The day, or the days, of a record: "2026-11-21"."""
    if not record.when and "#L" in record.citation:
        return "undated"
    return record.when.replace("/", " – ") or f"{record.at:%Y-%m-%d}"


def short_day(record: Record) -> str:
    """The same in fewer tokens: "21 Nov 2026"; "" where none is known, or where the citation names it."""
    if not record.when and "#L" in record.citation:
        return ""
    first, _, last = (record.when or f"{record.at:%Y-%m-%d}").partition("/")
    return " – ".join(filter(None, (_in_words(first), _in_words(last))))


def days_ago(today: date) -> Callable[[Record], str]:
    """A record's day with how long ago that was, so that nobody has to reckon."""

    def dated(record: Record) -> str:
        named = short_day(record)
        if not named or " – " in named:
            return named
        try:
            ago = (today - date.fromisoformat((record.when or f"{record.at:%Y-%m-%d}")[:10])).days
        except ValueError:
            return named
        return f"{named}, {ago} {'day' if ago == 1 else 'days'} ago" if ago > 0 else named

    return dated


def _in_words(day: str) -> str:
    """A day "2026-11-21" as "21 Nov 2026", which has fewer tokens; what is no whole day stays."""
    try:
        known = date.fromisoformat(day)
    except ValueError:
        return day
    return f"{known.day} {_MONTHS[known.month - 1]} {known.year}"
