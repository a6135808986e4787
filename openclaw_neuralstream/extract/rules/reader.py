"""A message as sentences that are its author's own and stand by themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from openclaw_neuralstream.extract.reading import own_lines
from openclaw_neuralstream.extract.rules.cues import Cues
from openclaw_neuralstream.extract.rules.judge import cues_of, is_question, stands_aside
from openclaw_neuralstream.extract.rules.words import normal, size
from openclaw_neuralstream.lexicon import off_record, sentences
from openclaw_neuralstream.patterns import lazy

_CLAUSE = lazy(r"\s*[,;，；]\s*(?:and |so |but |а |и |но |так что |поэтому |那|所以)?|\s+[—–]\s+")
_RUN_ON = lazy(
    r"\s*[,;:，；：]\s+(?:and |but |so |и |а |но |так что |поэтому )?|[,;，；：](?=[\u3400-\u9fff])|(?<=[\u3400-\u9fff])\s+(?=[\u3400-\u9fff\d])|\s+(?:and|but) (?=(?:i|we|the|my)\b)",
    re.IGNORECASE,
)
_BREATH = 22  # words of a sentence that is taken as a whole
_CLAUSE_WORDS = 4
_MOST_SENTENCES = 400
_MOST_CLAUSES = 12
_JOINED = 380  # characters of two sentences that are joined


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence, cleaned. asked: to be remembered. corrected: it corrects what was said."""

    text: str
    cues: Cues
    asked: bool = False
    corrected: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """What a message says.

    off_record: its author wants none of it kept. retracts: it takes back what was said before. joked: some of it was a joke,
    or is taken back in the next sentence.
    """

    sentences: tuple[Sentence, ...]
    off_record: bool = False
    retracts: bool = False
    affirms: bool = False
    joked: bool = False


def read(text: str) -> Message:
    """Quotes, code, logs and material for the agent to work on left out; sentences that lean on another joined to it."""
    cues = cues_of(text)
    plain = normal(text[:4_000])
    if off_record(plain):
        return Message((), off_record=True)
    cleaned = list(islice(_cleaned(own_lines(text, material_start)), _MOST_SENTENCES))
    meant = list(_unjoked(iter(cleaned)))
    found = list(_merge(iter(meant)))
    return Message(
        tuple(found),
        retracts=bool(cues.retract.match(plain)) and not any(sentence.corrected for sentence in found),
        affirms=len(plain) <= 60 and bool(cues.affirm.search(plain)),
        joked=len(meant) < len(cleaned),
    )


def material_start(line: str) -> int:
    """Where the material begins that the agent is to work on; 0 when there is none."""
    match = cues_of(line).material.search(line)
    return match.end() if match else 0


def _cleaned(lines: list[str]) -> Iterator[Sentence]:
    for line in lines:
        for raw in (part for whole in sentences(line) for part in _parts(whole)):
            cues = cues_of(raw)
            if cues.sarcasm.search(normal(raw)):
                continue
            yield from _questionless(_clean(Sentence(raw.strip(), cues)))


def _parts(text: str) -> Iterator[str]:
    """A breathless sentence clause by clause, so that what matters in it does not drag along the rest."""
    if size(text) <= _BREATH:
        yield text
        return
    held = ""
    for part in filter(None, (one.strip() for one in _RUN_ON.split(text))):
        held = f"{held}, {part}" if held else part
        if size(held) >= _CLAUSE_WORDS:
            yield held
            held = ""
    if held:
        yield held


def _clean(sentence: Sentence) -> Sentence:
    """Without "thanks, by the way, please remember that" in front; what that said is noted."""
    text, cues = sentence.text, sentence.cues
    asked = corrected = False
    for _ in range(6):
        rest, was = text, (asked, corrected)
        if match := cues.correction.match(normal(rest)) and _match(cues.correction, rest):
            rest, corrected = rest[match.end() :], True
        elif match := _match(cues.remember, rest):
            rest, asked = rest[match.end() :], True
        elif match := _match(cues.lead, rest):
            rest = rest[match.end() :]
        rest = rest.strip(" ,，、:：;；—–-")
        if rest == text or size(rest) < 1:
            asked, corrected = was if rest != text and size(rest) < 1 else (asked, corrected)
            break
        text = rest
    return Sentence(_capital(_without_aside(text, cues)), cues, asked, corrected)


def _without_aside(text: str, cues: Cues) -> str:
    """Without "and I need some help with it" at the end, where a statement is left."""
    match = cues.aside.search(text.replace("’", "'"))
    return f"{text[: match.start()]}." if match and size(text[: match.start()]) >= 3 else text


def _match(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    return pattern.match(text.replace("’", "'"))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:] if text[:1].islower() and not re.match(r"[a-z]+[A-Z_./\d]", text) else text


def _questionless(sentence: Sentence) -> Iterator[Sentence]:
    """A question is left out; what was stated before it in the same sentence stays: "I'm vegan, what can I cook?"."""
    if not is_question(sentence.text, sentence.cues):
        yield sentence
        return
    clauses = _CLAUSE.split(sentence.text)
    if len(clauses) > _MOST_CLAUSES:
        return
    for count in range(len(clauses) - 1, 0, -1):
        end = _end_of(sentence.text, clauses, count)
        head = sentence.text[:end].strip()
        if size(head) >= 2 and sentence.cues.own.search(normal(head)) and not is_question(head, sentence.cues):
            yield replace(sentence, text=head)
            return


def _end_of(text: str, clauses: list[str], count: int) -> int:
    position = 0
    for clause in clauses[:count]:
        position = text.index(clause, position) + len(clause)
    return position


def _unjoked(found: Iterator[Sentence]) -> Iterator[Sentence]:
    """Without what was only a joke, or taken back in the next sentence."""
    kept: list[Sentence] = []
    for sentence in found:
        plain = normal(sentence.text)
        if sentence.cues.joke.search(plain) or sentence.cues.retract.search(plain):
            kept = kept[:-1]
            continue
        kept.append(sentence)
    yield from kept


def _merge(found: Iterator[Sentence]) -> Iterator[Sentence]:
    """Join a sentence that begins with "it", "this", "он", "它" to the one before."""
    before: Sentence | None = None
    for sentence in found:
        leans = bool(sentence.cues.anaphora.search(normal(sentence.text)))
        alone = stands_aside(sentence.text, sentence.cues) or (before and stands_aside(before.text, before.cues))
        contrasts = sentence.corrected and sentence.cues.contrast.search(normal(sentence.text))
        if leans and before and not (alone or contrasts) and len(before.text) + len(sentence.text) <= _JOINED:
            gap = "" if before.text.endswith(("。", "！")) else " "
            before = replace(
                before,
                text=f"{before.text}{gap}{sentence.text}",
                asked=before.asked or sentence.asked,
                corrected=sentence.corrected,
            )
            continue
        if before:
            yield before
        before = sentence
    if before:
        yield before
