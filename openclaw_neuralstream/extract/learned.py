"""What the learned heads make of a message beside the rules: drafts of theirs that it is not worth go, sentences that they missed come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from openclaw_neuralstream.errors import VendorAway
from openclaw_neuralstream.extract import heads
from openclaw_neuralstream.extract.quoting import frames, inside, letters, quoted
from openclaw_neuralstream.extract.reading import units
from openclaw_neuralstream.extract.rules import dates
from openclaw_neuralstream.extract.rules.cues import INJECTION
from openclaw_neuralstream.extract.rules.entities import entities_of, specifics
from openclaw_neuralstream.extract.rules.judge import cues_of
from openclaw_neuralstream.extract.rules.reader import Message, material_start
from openclaw_neuralstream.extract.rules.words import normal
from openclaw_neuralstream.foreground import FOREGROUND
from openclaw_neuralstream.importance import BASE
from openclaw_neuralstream.lexicon import language_of
from openclaw_neuralstream.lines import one_line
from openclaw_neuralstream.model import OWNER, Draft, Kind, Turn, Utterance
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.ports import Embedder
from openclaw_neuralstream.questions import topics_of

_WORTH = 0.75
"""Margin from which a sentence is a gem that the rules did not find; chosen, as the next two, on the development conversations."""

_WORTHLESS = -1.25
"""Margin below which what the rules found is none."""

_ANOTHERS = -1.0
"""Margin of the author's own, below which what the rules found goes, of the kinds with fewer than a hundred labels; they pass by it alone."""

_LABELLED = (Kind.FACT, Kind.EVENT, Kind.DECISION)

_SUMMARY = 120  # characters
_SPECIFIC = 0.04  # importance of each name or number, of three at most
_SURE = 0.05  # importance of each step of the margin, of two at most
_OTHERS = 0.8
_CORRECTION = "correction"
_READ = 40_000  # characters in which a planted order is looked for
_MARK = lazy(r"\[redacted:[\w-]+\]")
_DAYS = lazy(r" ?\(\d{4}(?:-\d\d){0,2}(?: – [\d-]+)?\)")
"""Days as they are written behind the words that name them."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the agent asked last, and in which turn."""

    text: str
    turn_id: str


def beside(
    encoder: Embedder, drafts: Sequence[Draft], said: Utterance, *, message: Message, turn: Turn, asked: Asked | None
) -> list[Draft]:
    """The rules' drafts of a message without the worthless ones, then what they missed; the rules' alone where the encoder does not load.

    encoder: the carried one, with which the heads were trained. asked: what the agent asked this person before it.
    """
    others = quoted(said.text)
    own = (
        [unit for unit in units(said.text, material_start) if _own(unit, others)]
        if _open(said, message, drafts)
        else []
    )
    read = heads.readings(own, asked.text if asked else "")
    known = [_DAYS.sub("", draft.content) for draft in drafts]
    FOREGROUND.rest()
    try:
        judged = heads.judged(encoder, [*heads.placed(known, said.text), *heads.placed(read, said.text)])
    except VendorAway:
        return list(drafts)
    worth, found = judged[: len(known)], judged[len(known) :]
    kept = [draft for draft, one in zip(drafts, worth, strict=True) if _stays(draft, one)]
    told = [letters(text) for text in known]
    for text, one in zip(read, found, strict=True):
        orders = one.kind is Kind.INSTRUCTION and said.speaker != OWNER
        if one.own >= 0 and one.worth >= _WORTH and not (orders or _told(letters(text), told) or _bare(text)):
            turns = (asked.turn_id, turn.turn_id) if asked and text not in own else (turn.turn_id,)
            kept.append(_draft(text, one, said, turns, reports=frames(text, others)))
    return kept


def _open(said: Utterance, message: Message, drafts: Sequence[Draft]) -> bool:
    """Whether what the rules left out may be worth keeping: nothing of it is off the record, taken back, corrected, or planted."""
    corrects = any(_CORRECTION in draft.tags for draft in drafts) or any(one.corrected for one in message.sentences)
    barred = message.off_record or message.retracts or message.joked or corrects
    return not barred and not INJECTION.search(normal(said.text[:_READ]))


def _own(unit: str, others: tuple[str, ...]) -> bool:
    """Whether a unit is meant, and nobody else's words."""
    return not inside(unit, others) and not cues_of(unit).sarcasm.search(normal(unit))


def _stays(draft: Draft, judged: heads.Judged) -> bool:
    """Whether the heads let a draft of the rules pass; an answer behind its question, which is of another turn, always."""
    if len(draft.evidence) > 1:
        return True
    return judged.own >= 0 and judged.worth >= _WORTHLESS if draft.kind in _LABELLED else judged.own >= _ANOTHERS


def _told(text: str, known: Sequence[str]) -> bool:
    """Whether one of the rules' drafts was made of this sentence, or holds it."""
    return any(one and (one in text or text in one) for one in known)


def _bare(text: str) -> bool:
    """Whether nothing is left of it beside a secret that was cut out."""
    return bool(_MARK.search(text)) and specifics(rest := _MARK.sub(" ", text), entities_of(rest)) < 2


def _draft(text: str, judged: heads.Judged, said: Utterance, turns: tuple[str, ...], *, reports: bool) -> Draft:
    """The sentence as a draft, its days worked out. reports: it frames another's words, and is hearsay."""
    names, dated = entities_of(text), dates.resolve(text, said.at)
    kind = Kind.FACT if reports else judged.kind
    worth = BASE[kind] + _SPECIFIC * min(3, specifics(text, names)) + _SURE * min(2.0, judged.worth)
    return Draft(
        content=dated.text,
        summary=one_line(text, _SUMMARY),
        kind=kind,
        evidence=turns,
        speaker=said.speaker,
        origin=said.origin,
        importance=round(min(1.0, worth * (1.0 if said.speaker == OWNER else _OTHERS)), 2),
        confidence=0.65 if reports or said.speaker != OWNER else 0.8,
        topics=topics_of(text),
        tags=("hearsay",) if reports else (),
        entities=names,
        valid_to=dated.valid_to,
        language=language_of(text),
    )
