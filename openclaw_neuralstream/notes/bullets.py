"""Typed bullets: `- O(c=0.95) @Peter: Prefers concise replies.` to a fact, and a fact back to its bullet."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from openclaw_neuralstream.model import Fact, FactKind
from openclaw_neuralstream.notes import mentions
from openclaw_neuralstream.patterns import lazy

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
        mentions.unique((*names, *mentions.entities_in(text))),
        confidence if meant is FactKind.OPINION else None,
        tuple(dict.fromkeys((*evidence, *mentions.pointers_in(text)))),
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
            (evidence if pointer["for"] else against).extend(mentions.pointers_in(pointer["what"]))
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
    while match := mentions.ENTITY.match(rest, at):
        names.append(mentions.named(match))
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
    said = mentions.entities_in(fact.text)
    names = next(
        fact.entities[:n]
        for n in range(len(fact.entities) + 1)
        if mentions.unique((*fact.entities[:n], *said)) == fact.entities or n == len(fact.entities)
    )
    if not names and _led(fact.text) != ([], fact.text):
        names = fact.entities[:1]
    confidence = f"(c={_shortest(fact.confidence)})" if fact.confidence is not None else ""
    lead = " " + " ".join(map(mentions.written, names)) if names else ""
    pointed = mentions.pointers_in(fact.text)
    lines = [f"- {LETTERS[fact.kind]}{confidence}{lead}: {fact.text}"]
    for word, sources in (("for", [s for s in fact.evidence if s not in pointed]), ("against", fact.against)):
        if sources:
            lines.append(f"  - {word}: {', '.join(sources)}")
    return "\n".join(lines)


def _shortest(number: float) -> str:
    short = f"{number:g}"
    return short if float(short) == number else repr(number)
