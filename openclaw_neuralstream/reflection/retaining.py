"""Daily logs of days that are over and have no Retain section: one is proposed for each."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

import structlog

from openclaw_neuralstream.errors import AnswerRefused, VendorAway
from openclaw_neuralstream.extract.names import entities_of
from openclaw_neuralstream.lexicon import INJECTION
from openclaw_neuralstream.model import digest, slug_of
from openclaw_neuralstream.notes import mentions
from openclaw_neuralstream.notes.blocks import BREAK, Shape, blocks
from openclaw_neuralstream.notes.bullets import render_fact
from openclaw_neuralstream.notes.daily import guessed
from openclaw_neuralstream.notes.decode import decoded
from openclaw_neuralstream.notes.frontmatter import head_of
from openclaw_neuralstream.notes.parse import RETAIN_HEADINGS
from openclaw_neuralstream.ports import Extractor
from openclaw_neuralstream.reflect import logs
from openclaw_neuralstream.reflect.cache import Answers
from openclaw_neuralstream.reflect.pages import Page
from openclaw_neuralstream.reflect.report import Change
from openclaw_neuralstream.reflect.rewrite import Rewrite, Verdict, appended
from openclaw_neuralstream.reflect.writing import Place, read
from openclaw_neuralstream.reflection.desk import Desk
from openclaw_neuralstream.reflection.folder import Shelf

log = structlog.get_logger(__name__)

RETAIN = "retain"
"""The part of a proposal for a daily log."""

_MOST_LOGS = 31


def lacks_retain(data: bytes) -> bool:
    """Whether nobody has written a Retain section into it; headings as the parser of notes reads them."""
    lines = BREAK.split(decoded(data)[0] or "")
    headings = (block for block in blocks(lines, head_of(lines).lines) if block.shape is Shape.HEADING)
    return not any(mentions.plain(heading.title).casefold().strip(" :：") in RETAIN_HEADINGS for heading in headings)


class Retaining:
    """Reads logs with an extractor, once each."""

    def __init__(self, desk: Desk, index: Shelf, extractor: Extractor, answers: Answers, agent: str) -> None:
        self._desk = desk
        self._index = index
        self._extractor = extractor
        self._answers = answers
        self._agent = agent

    def proposals(self, since: date | None, today: date) -> Iterator[Change]:
        """One for each such log that says enough, the newest first; what was refused once is not proposed again."""
        days = [(day, path) for path in self._index.known() if (day := logs.day_of(path)) and day < today]
        wanted = [(day, path) for day, path in sorted(days, reverse=True) if since is None or day >= since]
        for _, path in wanted[:_MOST_LOGS]:
            if not self._desk.book.refused(path, RETAIN):
                change = self._desk.attempt(Page(path, RETAIN, ""), self._proposal)
                if change.outcome != "unchanged":
                    yield change

    def _proposal(self, place: Place) -> Change:
        before, day = read(place), logs.day_of(place.path)
        if before is None or day is None or not lacks_retain(before):
            return Change(place.path, RETAIN, "unchanged")
        section = self._section(place.path, before, day)
        if not section:
            return Change(place.path, RETAIN, "unchanged", "nothing worth keeping was found")
        made = Rewrite(Verdict.UPDATED, before, appended(before, section))
        return self._desk.propose(place.path, RETAIN, section, "this day has no Retain section", made)

    def _section(self, path: str, data: bytes, day: date) -> str:
        words = data.decode("utf-8", "surrogateescape")
        key = digest(RETAIN, path, words, repr(self._extractor.identity))
        kept = self._answers.get(key)
        if isinstance(kept, str):
            return kept
        try:
            drafts = self._extractor.extract(logs.reading(path, data, day, self._agent))
        except (VendorAway, AnswerRefused) as error:
            log.info("retain.none", reason=type(error).__name__)
            return ""
        found = logs.complemented(drafts, path, data, self._names)
        harmless = [one for one in found if not INJECTION.search(one.content)]
        section = logs.retain_section(harmless, path, render_fact, guessed)
        if not self._desk.dry_run:
            self._answers.put(key, section)
        return section

    def _names(self, sentence: str) -> tuple[str, ...]:
        """Whom and what a sentence names: who is known already, and what looks like a name."""
        known = (entity.name for entity in self._index.named_in(sentence))
        return tuple({slug_of(name): name for name in (*entities_of(sentence), *known)}.values())
