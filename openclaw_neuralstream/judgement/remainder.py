"""What a corrected statement says besides: its own words with the corrected number, or the parts that the correction leaves. Pure.

Careful on purpose: a number or a day takes another's place only where both are plain; who or what takes another's place may
change all else that was said, so there only parts that stand for themselves are kept, behind the correction. What cannot be
told apart gives "".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from openclaw_neuralstream.judgement import words
from openclaw_neuralstream.judgement.parts import Part, parts_of
from openclaw_neuralstream.judgement.reading import Said, is_value, plain_of, read, terms_of, tokens
from openclaw_neuralstream.judgement.relation import APART, Side, relation
from openclaw_neuralstream.model import Gem, Kind
from openclaw_neuralstream.patterns import lazy

_DIGIT = lazy(r"\d")
_CYRILLIC = lazy(r"[\u0400-\u04ff]")
_DENIAL = lazy(r"^(?:not|а не|而?不是)(?=\s|\d)", re.IGNORECASE)
_HANGS = lazy(
    r"^(?:which|where|who|whose|when|because|since|so|as|though|котор\w+|где|что|чтобы|потому|когда|так как|因为|所以|由于|为了)(?!\w)|^(?:因为|所以|由于|为了)",
    re.IGNORECASE,
)
"""Begins a part that says something of the part before it, and nothing by itself."""

_AND = lazy(r"^(?:(?:and|but|и|а|но)\s+|而且|并且|但是|但|也)", re.IGNORECASE)
_BREATH = lazy(r",?\s+(?:and|but|и|но)\s+|[,;]\s+|[，；、]|而且|并且|但是", re.IGNORECASE)
"""Where another thing may begin, whatever it is."""


@dataclass(frozen=True, slots=True)
class _Token:
    """A word of a text, where it stands, and the term that it is compared by; "" = it carries nothing."""

    start: int
    end: int
    literal: str
    term: str

    @property
    def number(self) -> bool:
        return bool(_DIGIT.search(self.literal))


def still_true(older: Gem, newer: Gem) -> str:
    """What the older gem says that its correction does not touch; "" where there is nothing more, or it cannot be told apart."""
    old, new = read(older.content), read(newer.content)
    swapped = _swapped(older.content, newer.content, old, new)
    text = swapped or _untouched(older, newer)
    more = (read(text).kept if swapped else read(text).all) - new.all  # what it denied is itself a correction: no more
    return text if len(more) >= (2 if old.chinese and new.chinese else 1) else ""


def _swapped(older: str, newer: str, old: Said, new: Said) -> str:
    """The older statement with the new value in the place of the old one; "" where it is not plain which is which."""
    then, now = _tokens(older), _tokens(newer)
    for gone, come in (_denied(then, now, old, new), _of_attribute(then, now, old, new), _of_form(then, now, old, new)):
        if gone and come and _fits(gone, come):
            return older[: gone[0].start] + newer[come[0].start : come[-1].end] + older[gone[-1].end :]
    return ""


def _fits(gone: list[_Token], come: list[_Token]) -> bool:
    """Numbers and days, each in the place of one of its form; of Russian only what is not bent."""
    return (
        len(gone) == len(come)
        and any(token.number or is_value(token.term) for token in come)
        and all(_alike(one, other) for one, other in zip(gone, come, strict=True))
    )


def _alike(one: _Token, other: _Token) -> bool:
    if one.literal == other.literal or (one.number and other.number):
        return True
    days = not one.number and not other.number and is_value(one.term) and is_value(other.term)
    return days and not _CYRILLIC.search(one.literal + other.literal)


def _denied(then: list[_Token], now: list[_Token], old: Said, new: Said) -> tuple[list[_Token], list[_Token]]:
    """What the newer one says is no more so, and what it says instead."""
    denied = frozenset(term for one in new.rejected if one <= old.kept for term in one)
    fresh = new.kept - old.all - words.CHANGING
    numbers = any(_DIGIT.search(term) for term in denied)
    come = _run(now, frozenset(t for t in fresh if not numbers or _DIGIT.search(t) or is_value(t)))
    return _run(then, denied), _with_neighbours(now, come, denied)


def _of_attribute(then: list[_Token], now: list[_Token], old: Said, new: Said) -> tuple[list[_Token], list[_Token]]:
    """The two values of the one attribute that both give."""
    shared = old.attributes & new.attributes
    if len(shared) != 1:
        return [], []
    gone, come = (_value(then, old, *shared), _value(now, new, *shared))
    return (gone, come) if [t.term for t in gone] != [t.term for t in come] else ([], [])


def _value(found: list[_Token], said: Said, attribute: str) -> list[_Token]:
    """The first number behind the attribute."""
    after = [term for clause in said.clauses if clause.attribute == attribute for term in clause.after]
    return _run(found, frozenset(term for term in after if _DIGIT.search(term)) & frozenset(after[:1]))


def _of_form(then: list[_Token], now: list[_Token], old: Said, new: Said) -> tuple[list[_Token], list[_Token]]:
    """The only two numbers of one form that differ: "9:30" and "10:15" beside "room 4"."""
    gone = [token for token in then if token.number and token.term in old.all - new.all]
    come = [token for token in now if token.number and token.term in new.kept - old.all]
    pairs = [(a, b) for a in gone for b in come if _form(a) == _form(b)]
    return ([pairs[0][0]], [pairs[0][1]]) if len(pairs) == 1 else ([], [])


def _form(token: _Token) -> str:
    return re.sub(r"\d+", "0", token.literal)


def _run(found: list[_Token], wanted: frozenset[str]) -> list[_Token]:
    """The words of these terms where they stand together, and only there; else none."""
    places = [place for place, token in enumerate(found) if token.term and token.term in wanted]
    together = all(later - place == 1 for place, later in pairwise(places))
    return [found[place] for place in places] if together else []


def _with_neighbours(found: list[_Token], run: list[_Token], wanted: frozenset[str]) -> list[_Token]:
    """The run with the words right beside it that are part of the old value, too: "5 мая" where 3 мая is denied."""
    if not run:
        return run
    first, last = found.index(run[0]), found.index(run[-1])
    while first and found[first - 1].term in wanted:
        first -= 1
    while last + 1 < len(found) and found[last + 1].term in wanted:
        last += 1
    return found[first : last + 1]


def _tokens(text: str) -> list[_Token]:
    found = []
    for start, end in tokens(text):
        literal = text[start:end]
        terms = [term for term in terms_of(plain_of(literal)) if term[0] != "@"]
        found.append(_Token(start, end, literal, terms[0] if len(terms) == 1 else ""))
    return found


def _untouched(older: Gem, newer: Gem) -> str:
    """The correction, and the parts of the older one that it says nothing of; "" where no part is what it corrects."""
    said = parts_of(older.content, newer.content)
    corrected = _corrected(said, older.kind, newer)
    whose = _begins_denied(older.content, newer)
    kept = [
        part.text
        for part, gone in zip(said, corrected, strict=True)
        if not gone and _stands(part) and (part.whole or part.subject or not whose)
    ]
    if not any(corrected) or not kept:
        return ""
    *others, last = [part.rstrip(" ,;，；") for part in kept]
    chinese = read(newer.content).chinese
    ended = [_ended(part, chinese=chinese) for part in (newer.content, *others)]
    return " ".join([*ended, _ended(last, chinese=chinese)]).replace("。 ", "。")


def _begins_denied(older: str, newer: Gem) -> bool:
    """Whether the older one begins with what is denied: its parts without a subject would be taken for the new one's."""
    new = read(newer.content)
    denied = frozenset(term for one in new.rejected for term in one)
    first = next((token.term for token in _tokens(older) if token.term), "")
    return first in denied or bool(new.chinese and read(older[:2]).all & denied)


def left_out(older: Gem, newer: Gem, rest: str) -> tuple[str, ...]:
    """The parts of a corrected gem that the correction says nothing of, and that were not kept: what they say may hold no more."""
    held = read(newer.content).all | read(rest).all
    said = parts_of(older.content, newer.content)
    found: list[str] = []
    for part, gone in zip(said, _corrected(said, older.kind, newer), strict=True):
        if gone:
            found += _beside(part, older.kind, newer)
        elif len(said) > 1 and not _DENIAL.match(part.said):
            found.append(part.said)
    bare = (one.rstrip(" ,;，；.。") for one in found)
    return tuple(one for one in bare if not read(_AND.sub("", one)).all <= held)


def _beside(part: Part, kind: Kind, newer: Gem) -> list[str]:
    """What a corrected part says in another breath, whatever its verb: too little is known of it to keep it, enough to name it."""
    pieces = [piece.strip() for piece in _BREATH.split(part.said) if piece.strip()]
    gone = _corrected([Part(piece, piece, whole=False) for piece in pieces], kind, newer)
    return [piece for piece, is_gone in zip(pieces, gone, strict=True) if not is_gone] if any(gone) else []


def _corrected(said: list[Part], kind: Kind, newer: Gem) -> list[bool]:
    """Which of the parts are what the newer one corrects."""
    new = read(newer.content)
    now = Side(new, newer.kind, "correction" in newer.tags)
    denied = frozenset(term for one in new.rejected for term in one)
    own = [read(part.said) if part.subject else read(part.text) for part in said]
    return [
        bool(denied & one.all) or relation(Side(read(part.text), kind), now).kind != APART
        for part, one in zip(said, own, strict=True)
    ]


def _stands(part: Part) -> bool:
    return part.plain and (part.whole or bool(part.subject) or _for_itself(part.text))


def _for_itself(part: str) -> bool:
    """Whether a part between commas gives a fact of its own: with a number or a name, and no "which", no "because"."""
    found = _tokens(part)
    named = any(token.number or token.literal[:1].isupper() for token in found)
    return len(found) > 1 and (named or read(part).chinese) and not _HANGS.search(part)


def _ended(text: str, *, chinese: bool) -> str:
    plain = text.strip()
    return plain if plain[-1:] in ".!?。！？" else f"{plain}{'。' if chinese else '.'}"
