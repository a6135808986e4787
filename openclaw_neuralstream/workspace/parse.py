"""Markdown to passages: blocks, bullets, pieces."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from enum import Enum, auto
from functools import lru_cache

from openclaw_neuralstream.model import Document, Fact, FactKind, Note, Problem, digest, slug_of
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.text.fences import generated_lines, is_generated, unescaped, without_markers
from openclaw_neuralstream.text.when import dates_in, held_in
from openclaw_neuralstream.workspace import markdown
from openclaw_neuralstream.workspace.markdown import Head, attribute_of, decoded, head_of

BREAK = lazy("\r\n|\n|\r")


class Shape(Enum):
    """What a block is."""

    HEADING = auto()
    TEXT = auto()
    ITEM = auto()
    CODE = auto()
    TABLE = auto()
    HTML = auto()


@dataclass(frozen=True, slots=True)
class Block:
    """A block from line `first` to line `last` (counted from 0, both included).

    level: of a heading 1 to 6, of an item how far it is indented. title: of a heading.
    """

    shape: Shape
    first: int
    last: int
    level: int = 0
    title: str = ""


_ATX = lazy(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_FENCE = lazy(r"([ \t]*)(`{3,}(?=[^`]*$)|~{3,})")
_ITEM = lazy(r"([ \t]*)(?:[-*+•]|\d{1,9}[.)])(?=[ \t]|$)")
_RULE = lazy(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$")
_UNDERLINE = lazy(r" {0,3}(=+|-+)[ \t]*$")
_RAW = lazy(r" {0,3}<(script|pre|style|textarea)(?=[\s>]|$)", re.IGNORECASE)
_TAG = lazy(
    r" {0,3}</?(?:address|article|aside|blockquote|body|center|details|dialog|dd|div|dl|dt|fieldset|figcaption|figure"
    r"|footer|form|h[1-6]|header|hr|html|iframe|li|link|main|menu|nav|ol|p|section|summary|table|tbody|td|tfoot|th|thead"
    r"|title|tr|ul)(?=[\s/>]|$)",
    re.IGNORECASE,
)
_SPECIAL = frozenset("-*+•0123456789`~|_#<>")
"""What a line begins with that may end a list item."""

_INDENTED = ("    ", "\t", " \t", "  \t", "   \t")


def blocks(lines: Sequence[str], start: int = 0) -> list[Block]:
    """The blocks of these lines from line `start` on, in order; blank lines and rules belong to none. Total."""
    return _BlocksReader(lines, start).read()


class _BlocksReader:
    def __init__(self, lines: Sequence[str], start: int) -> None:
        self.lines = lines
        self.at = start
        self.found: list[Block] = []
        self.in_list = False

    def read(self) -> list[Block]:
        while self.at < len(self.lines):
            line = self.lines[self.at]
            bare = line.strip(" \t")
            if not bare:
                self.at += 1
            else:
                self._block(line, bare)
        return self.found

    def _block(self, line: str, bare: str) -> None:
        lead = bare[0]
        indented = line.startswith(_INDENTED)
        if lead in "`~" and (self.in_list or not indented) and (fence := _FENCE.match(line)):
            self._code(fence)
        elif indented and not self.in_list:
            self._until(Shape.CODE, lambda text: text.startswith(_INDENTED) or not text.strip(" \t"))
        elif lead == "#" and not indented and (heading := _ATX.match(line)):
            self.in_list = False
            self._add(Shape.HEADING, self.at, level=len(heading[1]), title=(heading[2] or "").strip())
        elif lead in "-*_" and _RULE.match(line):
            self.in_list = False
            self.at += 1
        elif lead in "-*+•0123456789" and _ITEM.match(line):
            self._item()
        elif lead == "<" and not indented and self._html(bare, line):
            pass
        elif lead == "|":
            self._until(Shape.TABLE, lambda text: text.lstrip(" \t").startswith("|"))
        else:
            self.in_list = self.in_list and line[0] in " \t"
            self._paragraph()

    def _add(self, shape: Shape, last: int, *, level: int = 0, title: str = "") -> None:
        first = self.at
        self.at = last + 1
        while last > first and not self.lines[last].strip(" \t"):
            last -= 1
        self.found.append(Block(shape, first, last, level, title))

    def _until(self, shape: Shape, goes_on: Callable[[str], bool]) -> None:
        last = self.at
        while last + 1 < len(self.lines) and goes_on(self.lines[last + 1]):
            last += 1
        self._add(shape, last)

    def _code(self, fence: re.Match[str]) -> None:
        mark, indent = fence[2], len(fence[1])
        last = self.at
        while last + 1 < len(self.lines):
            text = self.lines[last + 1]
            bare = text.strip(" \t")
            if self.in_list and indent > 1 and bare and text[0] not in " \t":
                break  # the list item ends, and its code with it
            last += 1
            if (
                len(bare) >= len(mark)
                and bare == mark[0] * len(bare)
                and (self.in_list or not text.startswith(_INDENTED))
            ):
                break
        self._add(Shape.CODE, last)

    def _item(self) -> None:
        """One item with its lazy lines; what is deeper in it are blocks of their own."""
        self.in_list = True
        last = self.at
        while last + 1 < len(self.lines) and self._goes_on(self.lines[last + 1]):
            last += 1
        indent = len(self.lines[self.at]) - len(self.lines[self.at].lstrip(" \t"))
        self._add(Shape.ITEM, last, level=indent)

    def _goes_on(self, text: str) -> bool:
        bare = text.lstrip(" \t")
        if not bare:
            return False
        lead = bare[0]
        if lead not in _SPECIAL:
            return True
        if lead in "|>" or _ITEM.match(text) or _FENCE.match(text) or _RULE.match(text):
            return False
        return not (_ATX.match(bare) or bare.startswith("<!--"))

    def _html(self, bare: str, line: str) -> bool:
        if bare.startswith("<!--"):
            end = "-->"
        elif raw := _RAW.match(line):
            end = f"</{raw[1].lower()}>"
        elif _TAG.match(line):
            self._until(Shape.HTML, lambda text: bool(text.strip(" \t")))
            return True
        else:
            return False
        last = self.at
        text = line[line.find("<!--") + 4 :] if end == "-->" else line
        while end not in text.lower() and last + 1 < len(self.lines):
            last += 1
            text = self.lines[last]
        self._add(Shape.HTML, last)
        return True

    def _paragraph(self) -> None:
        last = self.at
        while last + 1 < len(self.lines):
            text = self.lines[last + 1]
            bare = text.strip(" \t")
            under = _UNDERLINE.match(text)
            if under and not self.in_list and not self.lines[self.at].lstrip(" ").startswith(">"):
                title = " ".join(part.strip() for part in self.lines[self.at : last + 1])
                self._add(Shape.HEADING, last + 1, level=1 if under[1][0] == "=" else 2, title=title)
                return
            if not bare or self._interrupts(text, bare):
                break
            last += 1
        self._add(Shape.TEXT, last)

    def _interrupts(self, text: str, bare: str) -> bool:
        if text.startswith(_INDENTED):
            return False
        if bare[0] in "-*+_•" and (_RULE.match(text) or (_ITEM.match(text) and len(bare) > 1)):
            return True
        if bare.startswith(("1. ", "1) ")):
            return True
        return bool(
            (bare[0] == "#" and _ATX.match(text))
            or (bare[0] in "`~" and _FENCE.match(text))
            or (bare[0] == "<" and (bare.startswith("<!--") or _RAW.match(text) or _TAG.match(text)))
        )


LETTERS = {
    FactKind.WORLD: "W",
    FactKind.EXPERIENCE: "B",
    FactKind.OPINION: "O",
    FactKind.OBSERVATION: "S",
}
_KINDS = {letter: kind for kind, letter in LETTERS.items()} | {
    "В": FactKind.EXPERIENCE,  # Cyrillic letters that look the same
    "О": FactKind.OPINION,
}
LONGEST_FACT = 4_000
"""Characters of a bullet that are kept."""

_BULLET = lazy(r"[ \t]*(?:[-*+•]|\d{1,9}[.)])[ \t]+(.*)", re.DOTALL)
_TYPED = lazy(
    r"(?P<kind>[WBOSВО])(?:[ \t]*[(（][ \t]*c[ \t]*[=:][ \t]*(?P<c>[^)）]{0,30})[)）])?(?P<gap>[ \t]*)(?=(?P<next>[@＠:：]|\S))"
)
_AND = lazy(r"(?:[ \t]*(?:,|，|、|&|\+|\band\b|\bи\b|和|与)?[ \t]*)")
_EVIDENCE = lazy(
    r"[ \t]*(?:[-*+•])[ \t]+(?:(?P<for>for|evidence|за|支持)|(?P<against>against|против|反对))[ \t]*[:：][ \t]*(?P<what>.*)",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Bullet:
    """What a typed bullet says; places are added by who knows the file."""

    kind: FactKind
    text: str
    entities: tuple[str, ...]
    confidence: float | None = None
    evidence: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    wrong: str = ""


def read(lines: Sequence[str], *, kind: FactKind | None = None, loose: bool = True) -> Bullet | None:
    """The fact of a list item given as its lines, sub-items included; None when it is no typed bullet.

    kind: of an item without a letter (a file of the bank gives it). loose: whether a bare letter and a blank are
    enough ("W Peter moved"); else the letter needs an "@", a ":" or a confidence behind it.
    """
    head = _BULLET.match(lines[0])
    if not head:
        return None
    said, evidence, against = _parts(head[1], lines[1:])
    whole = " ".join(" ".join(said).split())[:LONGEST_FACT]
    typed = _TYPED.match(whole)
    if not (typed and _meant(typed, loose=loose or kind is not None)):
        typed = None
    if typed is None and kind is None:
        return None
    names, text = _led(whole[typed.end() :] if typed else whole)
    if not text:
        return None
    meant = _KINDS[typed["kind"]] if typed else kind or FactKind.WORLD
    confidence, wrong = _confidence(typed["c"] if typed else None)
    return Bullet(
        meant,
        text,
        markdown.unique((*names, *markdown.entities_in(text))),
        confidence if meant is FactKind.OPINION else None,
        tuple(dict.fromkeys((*evidence, *markdown.pointers_in(text)))),
        tuple(dict.fromkeys(against)),
        wrong,
    )


def _parts(first: str, more: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """The lines of an item as its text, the sources for it, and those against it."""
    said: list[str] = [first]
    evidence: list[str] = []
    against: list[str] = []
    for line in more:
        pointer = _EVIDENCE.match(line)
        if pointer:
            (evidence if pointer["for"] else against).extend(markdown.pointers_in(pointer["what"]))
        else:
            said.append(_BULLET.sub(r"\1", line))
    return said, evidence, against


def _meant(typed: re.Match[str], *, loose: bool) -> bool:
    """Whether the letter is a kind: always before "@", ":" or with a confidence; alone only a Latin one with a blank."""
    if typed["c"] is not None or typed["next"] in "@＠":
        return True
    if typed["next"] in ":：":
        return loose
    return loose and bool(typed["gap"]) and typed["kind"].isascii()


def _led(rest: str) -> tuple[list[str], str]:
    """The entities before the colon, and what follows; a text without such a start has none."""
    names: list[str] = []
    at = 0
    while match := markdown.ENTITY.match(rest, at):
        names.append(markdown.named(match))
        at = _AND.match(rest, match.end()).end()  # type: ignore[union-attr]
    if rest[at : at + 1] in {":", "："}:
        return names, rest[at + 1 :].strip()
    return [], rest.strip()


def _confidence(said: str | None) -> tuple[float | None, str]:
    if said is None:
        return None, ""
    plain = said.strip().replace(",", ".")
    try:
        value = float(plain.removesuffix("%")) / (100 if plain.endswith("%") else 1)
    except ValueError:
        return None, f"confidence {said.strip()!r} is no number between 0 and 1"
    if 0 <= value <= 1:
        return value, ""
    return None, f"confidence {said.strip()!r} is not between 0 and 1"


def render_fact(fact: Fact | Bullet) -> str:
    """The bullet of a fact, without a line break at its end; `read` gives the same kind, text, entities and evidence."""
    said = markdown.entities_in(fact.text)
    names = next(
        fact.entities[:n]
        for n in range(len(fact.entities) + 1)
        if markdown.unique((*fact.entities[:n], *said)) == fact.entities or n == len(fact.entities)
    )
    if not names and _led(fact.text) != ([], fact.text):
        names = fact.entities[:1]
    confidence = f"(c={_shortest(fact.confidence)})" if fact.confidence is not None else ""
    lead = " " + " ".join(map(markdown.written, names)) if names else ""
    pointed = markdown.pointers_in(fact.text)
    lines = [f"- {LETTERS[fact.kind]}{confidence}{lead}: {fact.text}"]
    for word, sources in (("for", [s for s in fact.evidence if s not in pointed]), ("against", fact.against)):
        if sources:
            lines.append(f"  - {word}: {', '.join(sources)}")
    return "\n".join(lines)


def _shortest(number: float) -> str:
    short = f"{number:g}"
    return short if float(short) == number else repr(number)


ENOUGH = 1_200
"""Bytes (UTF-8) after which a piece ends with its block: about 300 tokens in any language."""

LONGEST = 8_000
"""Bytes of a table, a code block or any other block that stays whole; a longer one is cut at lines."""

_BREAK = lazy(r"[.!?…]\s|[。！？；]|\s")


@dataclass(frozen=True, slots=True)
class Piece:
    """Lines first..last (from 0), or a part of one endless line."""

    first: int
    last: int
    text: str


def pieces(lines: Sequence[str], blocks: Sequence[Block]) -> Iterator[Piece]:
    """Cut these blocks, in order; each piece is text of whole lines, except of lines longer than a piece may be."""
    group: list[Block] = []
    size = 0
    for block in blocks:
        length = _size(lines, block.first, block.last)
        if group and (size + length > ENOUGH or block.first > group[-1].last + 3) and _may_end(group[-1], block):
            yield _whole(lines, group)
            group, size = [], 0
        if length > LONGEST:
            if group:
                yield _whole(lines, group)
                group, size = [], 0
            yield from _cut(lines, block)
            continue
        group.append(block)
        size += length
        if size > LONGEST:
            yield _whole(lines, group)
            group, size = [], 0
    if group:
        yield _whole(lines, group)


def _may_end(last: Block, following: Block) -> bool:
    """A line that introduces a list, a table or code stays with it."""
    return not (last.shape is Shape.TEXT and last.first == last.last and following.shape in {Shape.CODE, Shape.TABLE})


def _whole(lines: Sequence[str], group: Sequence[Block]) -> Piece:
    first, last = group[0].first, group[-1].last
    return Piece(first, last, "\n".join(lines[first : last + 1]))


def _cut(lines: Sequence[str], block: Block) -> Iterator[Piece]:
    first, size = block.first, 0
    for at in range(block.first, block.last + 1):
        length = _size(lines, at, at)
        if size and size + length > 2 * ENOUGH:
            yield Piece(first, at - 1, "\n".join(lines[first:at]))
            first, size = at, 0
        if length > LONGEST:
            for part in _slices(lines[at]):
                yield Piece(at, at, part)
            first, size = at + 1, 0
        else:
            size += length
    if first <= block.last:
        yield Piece(first, block.last, "\n".join(lines[first : block.last + 1]))


def _slices(line: str) -> Iterator[str]:
    step = ENOUGH * 2 if line.isascii() else ENOUGH
    at = 0
    while at < len(line):
        end = min(at + step, len(line))
        if end < len(line):
            borders = [match.end() for match in _BREAK.finditer(line, at + step // 2, end)]
            end = borders[-1] if borders else end
        if line[at:end].strip():
            yield line[at:end].strip()
        at = end


def _size(lines: Sequence[str], first: int, last: int) -> int:
    return sum(
        len(line) if line.isascii() else len(line.encode("utf-8", "replace")) for line in lines[first : last + 1]
    )


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
        self.category = markdown.category_of(path)
        self.day = markdown.day_in_name(path) or head.day
        self.kind = markdown.kind_of(path)
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
        named = markdown.entity_of(self.path)
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
        bullet = read(self.lines[first : last + 1], kind=kind, loose=section.retain or kind is not None)
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
                entities=markdown.unique(((self.entity,) if self.entity else ()) + markdown.entities_in(text)),
                generated=is_generated(first + 1, self.ranges),
            )
        )

    def _tags_of(self, text: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self._tags, *markdown.tags_in(text))))

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
    return markdown.plain(title)


def _undated(name: str) -> str:
    day = markdown.day_in_name(name)
    return name.replace(f"{day:%Y-%m-%d}", "").strip("-_ ") if day else name
