"""One Markdown file to a document: any bytes in, notes and facts out, every one with its lines. Pure; never raises."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import lru_cache

from openclaw_neuralstream.fences import generated_lines, is_generated, unescaped, without_markers
from openclaw_neuralstream.model import Document, Fact, Note, Problem, digest, slug_of
from openclaw_neuralstream.notes import bullets, mentions, places
from openclaw_neuralstream.notes.attributes import attribute_of
from openclaw_neuralstream.notes.blocks import BREAK, Block, Shape, blocks
from openclaw_neuralstream.notes.bullets import Bullet, render_fact
from openclaw_neuralstream.notes.decode import decoded
from openclaw_neuralstream.notes.frontmatter import Head, head_of
from openclaw_neuralstream.notes.pieces import pieces
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.when import dates_in, held_in

__all__ = ["LONGEST_FILE", "PARSER", "parse", "render_fact"]

PARSER = 3
"""Counted up when the same bytes give another document: an index of an older parser is built anew."""

LONGEST_FILE = 8_000_000
"""Bytes of a file that are read unless the caller says otherwise; the rest is left out, and said."""

MOST_NOTES = 20_000
"""Notes and facts of one file each."""

MOST_LINES = 250_000
"""Lines of a file that are read: no hand writes more, and a machine's million of tiny ones would take half a minute."""

RETAIN_HEADINGS = frozenset(
    ("retain", "retained", "remember", "запомнить", "сохранить", "记住", "保留", "留存", "覚えておく")
)
_UPDATED = lazy(r" · updated \d{4}-\d\d-\d\d\Z")  # said beside an opinion of ours, not by it
_MOST_TITLE = 200
_MOST_INDENT = 3


def parse(path: str, data: bytes, *, longest: int = LONGEST_FILE) -> Document:
    """The notes and facts of a file.

    path: relative to the workspace, with "/". What is wrong with the file is in `problems`; the rest is indexed.
    """
    hashed = hashlib.blake2b(data, digest_size=16).hexdigest()
    text, said = decoded(data[:longest])
    problems = [Problem(path, 1, said)] if said else []
    if len(data) > longest:
        problems.append(Problem(path, 1, f"only the first {longest:,} of {len(data):,} bytes are indexed"))
    if text is None:
        return Document(path, hashed, _name(path), problems=tuple(problems))
    lines = BREAK.split(text)
    if len(lines) > MOST_LINES:
        problems.append(Problem(path, 1, f"only the first {MOST_LINES:,} of {len(lines):,} lines are indexed"))
        del lines[MOST_LINES:]
    head = head_of(lines)
    if head.wrong:
        problems.append(Problem(path, *head.wrong))
    ranges = generated_lines(data[:longest]) if b"neuralstream:begin" in data else []
    reader = _Reader(path, lines, head, ranges, problems)
    reader.read()
    return replace(reader.document(), digest=hashed)


def _name(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")


@dataclass(slots=True)
class _Section:
    """A heading and the blocks under it, until the next heading."""

    trail: tuple[str, ...] = ()
    levels: tuple[int, ...] = ()
    heading: Block | None = None
    day: date | None = None
    retain: bool = False
    blocks: list[Block] = field(default_factory=list)


class _Reader:
    def __init__(
        self,
        path: str,
        lines: Sequence[str],
        head: Head,
        ranges: Sequence[tuple[int, int]],
        problems: list[Problem],
    ) -> None:
        self.path, self.lines, self.head, self.ranges, self.problems = path, lines, head, ranges, problems
        self.category = places.category_of(path)
        self.day = places.day_of(path) or head.day
        self.kind = places.kind_of(path)
        self.entity = self._entity()
        self.notes: list[Note] = []
        self.facts: list[Fact] = []
        self.title = head.title
        self._tags: dict[str, None] = dict.fromkeys(head.tags)
        self._seen: Counter[str] = Counter()

    def read(self) -> None:
        found = blocks(self.lines, self.head.lines)
        if self.head.wrong and self.head.lines:
            found.insert(0, Block(Shape.TEXT, 1, self.head.lines - 2))  # what was meant is at least found by its words
        if not self.title:
            own = (block for block in found if not is_generated(block.first + 1, self.ranges))
            top = next((block for block in own if block.shape is Shape.HEADING and block.title), None)
            self.title = _plain(top.title) if top else _name(self.path)
        self._inferred()
        sections = list(_sections(found, self.day, retains=self.kind is None))
        for section, following in zip(sections, [*sections[1:], _Section()], strict=True):
            deeper = following.trail[: len(section.trail)] == section.trail
            self._section(section, alone=not (section.blocks or deeper))
        self._cap()

    def document(self) -> Document:
        tags = dict.fromkeys((*self._tags, *(tag for note in self.notes for tag in note.tags)))
        return Document(
            self.path, "", self.title, tuple(tags), self.head.aliases, tuple(self.notes), tuple(self.facts),
            tuple(self.problems), self.day, self.entity,
        )  # fmt: skip

    def _entity(self) -> str:
        """Whose page this is, spelt as its title spells it."""
        named = places.entity_of(self.path)
        return self.head.title if named and slug_of(self.head.title) == slug_of(named) else named

    def _inferred(self) -> None:
        """Tags that nobody wrote: the project or decision a file is about."""
        if self.category in {"project", "decision"} and (tag := slug_of(_undated(_name(self.path)))):
            self._tags.setdefault(tag)

    def _cap(self) -> None:
        if len(self.notes) > MOST_NOTES or len(self.facts) > MOST_NOTES:
            self.problems.append(Problem(self.path, 1, f"only the first {MOST_NOTES:,} notes and facts are indexed"))
            del self.notes[MOST_NOTES:], self.facts[MOST_NOTES:]

    def _section(self, section: _Section, *, alone: bool) -> None:
        """alone: a heading with nothing under it, which is then all there is to say."""
        rest: list[Block] = []
        runs: list[list[Block]] = [rest]
        for item in _items(section.blocks):
            if len(self.facts) > MOST_NOTES or len(self.notes) > MOST_NOTES:
                break
            if self._fact(item, section):
                rest = []
                runs.append(rest)
            else:
                if rest and self._ours(rest[-1]) != self._ours(item[0]):  # no note is half ours
                    rest = []
                    runs.append(rest)
                rest.extend(item)
        for run in runs:
            for piece in pieces(self.lines, run):
                self._note(section, piece.first, piece.last, piece.text)
        if section.heading and section.trail and alone:
            self._note(section, section.heading.first, section.heading.last, section.trail[-1])

    def _ours(self, block: Block) -> bool:
        return is_generated(block.first + 1, self.ranges)

    # --- facts ------------------------------------------------------------------------------------------------------

    def _fact(self, item: Sequence[Block], section: _Section) -> bool:
        if item[0].shape is not Shape.ITEM or item[0].level > _MOST_INDENT:
            return False
        first, last = item[0].first, item[-1].last
        kind = self.kind
        bullet = bullets.read(self.lines[first : last + 1], kind=kind, loose=section.retain or kind is not None)
        if bullet is None:
            return False
        if bullet.wrong:
            self.problems.append(Problem(self.path, first + 1, bullet.wrong))
        if is_generated(first + 1, self.ranges):
            bullet = replace(bullet, text=unescaped(_UPDATED.sub("", bullet.text)))
        self.facts.append(self._placed(bullet, first, last, section))
        return True

    def _placed(self, bullet: Bullet, first: int, last: int, section: _Section) -> Fact:
        entities = bullet.entities or ((self.entity,) if self.entity else ())
        span = held_in(bullet.text, section.day)
        return Fact(
            fact_id=self._id("fact", bullet.kind.value, bullet.text, *entities),
            kind=bullet.kind,
            text=bullet.text,
            entities=entities,
            path=self.path,
            line=first + 1,
            end_line=last + 1,
            confidence=bullet.confidence,
            day=section.day,
            valid_from=span[0] if span else None,
            valid_to=span[1] if span else None,
            tags=self._tags_of(bullet.text),
            attribute=attribute_of(bullet.kind, bullet.text, entities),
            evidence=bullet.evidence,
            against=bullet.against,
            generated=is_generated(first + 1, self.ranges),
        )

    # --- notes ------------------------------------------------------------------------------------------------------

    def _note(self, section: _Section, first: int, last: int, text: str) -> None:
        text = without_markers(text).strip("\n")
        if not any(char.isalnum() for char in text):
            return
        opens = section.heading and (not section.blocks or first == section.blocks[0].first)
        starts = section.heading.first if section.heading and opens else first
        self.notes.append(
            Note(
                note_id=self._id("note", *section.trail, digest(text, size=8)),
                path=self.path,
                line=starts + 1,
                end_line=last + 1,
                trail=section.trail,
                category=self.category,
                title=section.trail[-1] if section.trail else self.title,
                text=text,
                tags=self._tags_of(text),
                day=section.day,
                entities=mentions.unique(((self.entity,) if self.entity else ()) + mentions.entities_in(text)),
                generated=is_generated(first + 1, self.ranges),
            )
        )

    def _tags_of(self, text: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self._tags, *mentions.tags_in(text))))

    def _id(self, *parts: str) -> str:
        """An id that stays when lines move; equal texts of a file are counted."""
        name = digest(self.path, *parts, size=12)
        self._seen[name] += 1
        return name if self._seen[name] == 1 else digest(name, str(self._seen[name]), size=12)


def _sections(found: Sequence[Block], day: date | None, *, retains: bool) -> Iterator[_Section]:
    section = _Section(day=day)
    for block in found:
        if block.shape is Shape.HEADING:
            yield section
            section = _under(section, block, day, retains=retains)
        else:
            section.blocks.append(block)
    yield section


def _under(before: _Section, heading: Block, day: date | None, *, retains: bool) -> _Section:
    depth = next((i for i, level in enumerate(before.levels) if level >= heading.level), len(before.levels))
    title = _plain(heading.title)[:_MOST_TITLE]
    trail = (*before.trail[:depth], title) if title else before.trail[:depth]
    levels = (*before.levels[:depth], heading.level) if title else before.levels[:depth]
    days = [named for part in trail if (named := _dated(part))]
    retain = retains and any(part.casefold().strip(" :：") in RETAIN_HEADINGS for part in trail)
    return _Section(trail, levels, heading, days[-1] if days else day, retain)


@lru_cache(maxsize=4_096)
def _dated(heading: str) -> date | None:
    """The one day that a heading names."""
    span = dates_in(heading, None)
    return span[0] if span and span[0] == span[1] else None


def _items(found: Sequence[Block]) -> Iterator[list[Block]]:
    """Blocks, a top-level list item together with what is deeper in it."""
    group: list[Block] = []
    for block in found:
        deeper = (
            group and group[0].shape is Shape.ITEM and block.shape is Shape.ITEM and block.first == group[-1].last + 1
        )
        if deeper and block.level > group[0].level:
            group.append(block)
            continue
        if group:
            yield group
        group = [block]
    if group:
        yield group


def _plain(title: str) -> str:
    """A heading without its marks: `code`, *stress*, [links](…)."""
    return mentions.plain(title)


def _undated(name: str) -> str:
    day = places.day_of(name)
    return name.replace(f"{day:%Y-%m-%d}", "").strip("-_ ") if day else name
