"""The extractor that needs no model: sentences worth keeping, as typed, chosen by the learned heads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from openclaw_neuralstream.embed.embedded import EmbeddedEmbedder
from openclaw_neuralstream.errors import VendorAway
from openclaw_neuralstream.extract import heads
from openclaw_neuralstream.extract.names import entities_of, specifics
from openclaw_neuralstream.extract.quoting import frames, inside, quoted
from openclaw_neuralstream.extract.reading import opening, readings, units
from openclaw_neuralstream.extract.rules import dates
from openclaw_neuralstream.foreground import FOREGROUND
from openclaw_neuralstream.importance import BASE
from openclaw_neuralstream.model import OWNER, Draft, ExtractorIdentity, Kind, Origin, Scope, Turn, Utterance
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.ports import Embedder, Reading
from openclaw_neuralstream.text.lexicon import INJECTION, language_of, names_harm, off_record
from openclaw_neuralstream.text.lines import one_line
from openclaw_neuralstream.text.questions import topics_of

_PEOPLE = (OWNER, "third-party")
_SUMMARY = 120  # characters
_JOINED = 400  # characters of two sentences that are joined
_SPECIFIC = 0.04  # importance of each name or number, of three at most
_SURE = 0.05  # importance of each step of the margin, of two at most
_OTHERS = 0.8
_REPORT = 0.4
_REPORTED = " reported: "
_LONGEST = 400
_SHORTEST_REPORT = 25  # characters
_MOST_REPORTED = 6
_READ = 40_000  # characters in which "off the record" is looked for
_UNSPACED = ("。", "！", "？")
_MARK = lazy(r"\[redacted:[\w-]+\]")


@dataclass(frozen=True, slots=True)
class _Said:
    """A person's message, the sentences of it that are read, and the agent's last words before it.

    asked_in: the turn of the question that the sentence answers, "" where it answers none.
    """

    turn: Turn
    utterance: Utterance
    sentences: tuple[str, ...]
    asked: str = ""
    asked_in: str = ""

    @property
    def heard(self) -> heads.Heard:
        return heads.Heard(self.sentences, self.asked)


class LearnedExtractor:
    """Extracts by the learned heads. Deterministic; the same turns give the same drafts."""

    identity = ExtractorIdentity("rules", "3")

    def __init__(self, encoder: Embedder | None = None) -> None:
        """encoder: the carried one, with which the heads were trained; None = one of its own."""
        self._encoder = encoder or EmbeddedEmbedder()

    def extract(self, reading: Reading) -> list[Draft]:
        """The drafts of the batch, in the order they were said. Raises VendorAway where the encoder does not load.

        What is known already is proposed again: judgement adds its evidence to the gem that says it.
        """
        said = list(_people(reading))
        FOREGROUND.rest()
        openings = [heads.Heard(tuple(filter(None, (opening(one.utterance.text),)))) for one in said]
        verdicts = heads.judged(self._encoder, [*(one.heard for one in said), *openings])
        pasted = [bool(begins) and begins[0].material >= 0 for begins in verdicts[len(said) :]]
        of = {
            id(one.utterance): (one, verdict)
            for one, verdict, material in zip(said, verdicts, pasted, strict=False)
            if not material
        }
        drafts: list[Draft] = []
        before: list[Draft] = []
        for turn in reading.batch.turns:
            told: list[Draft] = []
            for utterance in turn.utterances:
                if id(utterance) in of:
                    FOREGROUND.rest()
                    one, verdict = of[id(utterance)]
                    if _takes_back(verdict):
                        gone = [draft for draft in (*before, *told) if draft.speaker == utterance.speaker]
                        drafts, told = [d for d in drafts if d not in gone], [d for d in told if d not in gone]
                    told += _drafts(one, verdict)
                elif utterance.speaker == "system" and utterance.origin is Origin.AGENT:
                    told += _reported(turn, utterance)
            drafts, before = drafts + told, told
        return _united(drafts, {turn.turn_id: turn.scope for turn in reading.batch.turns})


def kind_of(text: str) -> Kind:
    """Of which kind a sentence is that somebody asks to be kept; a fact where the encoder does not load."""
    judged = _alone(text)
    return _kind(text, judged) if judged else Kind.FACT


def worth(text: str) -> float:
    """How far a statement is above what is just worth keeping; 0 where the encoder does not load."""
    judged = _alone(text)
    return max(judged.keep, judged.standing) if judged else 0.0


def is_material(text: str) -> bool:
    """Whether a message gives the agent a text to work on; False where the encoder does not load."""
    judged = _alone(begin) if (begin := opening(text)) else None
    return judged is not None and judged.material >= 0


def _kind(text: str, judged: heads.Judged) -> Kind:
    """The kind that the head gives; what can harm somebody is told like a preference, in every session."""
    return Kind.PREFERENCE if judged.kind is not Kind.INSTRUCTION and names_harm(text) else judged.kind


def _alone(text: str) -> heads.Judged | None:
    try:
        [[judged]] = heads.judged(EmbeddedEmbedder(), [heads.Heard((text,))])
    except VendorAway:
        return None
    return judged


def _people(reading: Reading) -> Iterator[_Said]:
    """What people say in the batch, each message with what the agent said to this person before it."""
    asked: dict[Scope, tuple[str, str]] = {}
    for turn in (*reading.history[-1:], *reading.batch.turns):
        for utterance in turn.utterances:
            if utterance.speaker == "agent":
                asked[turn.scope] = (utterance.text, turn.turn_id)
            elif utterance.speaker in _PEOPLE and turn in reading.batch.turns:
                text, turn_id = asked.pop(turn.scope, ("", "")) if utterance.speaker == OWNER else ("", "")
                plain = _read(utterance.text)
                read = tuple(readings(plain, text))
                yield _Said(turn, utterance, read, text, turn_id if read != plain else "")


def _read(text: str) -> tuple[str, ...]:
    """The sentences of a message up to a planted order; none where it is off the record."""
    if off_record(text[:_READ]):
        return ()
    return tuple(takewhile(lambda unit: not INJECTION.search(unit), units(text)))


def _takes_back(verdict: Sequence[heads.Judged]) -> bool:
    """Whether a message takes back the one before it, and says nothing else first."""
    return bool(verdict) and verdict[0].back >= 0


def _drafts(said: _Said, verdict: Sequence[heads.Judged]) -> list[Draft]:
    """A draft of each sentence that is worth keeping and nobody else's words; one that leans on another is joined to it."""
    others = quoted(said.utterance.text)
    found: list[tuple[str, Draft]] = []
    before = ""
    for text, one in zip(said.sentences, verdict, strict=True):
        if one.back >= 0:
            found = [(whole, draft) for whole, draft in found if not whole.endswith(before)] if before else found
        elif not inside(text, others) and one.kept and not _bare(text):
            whole = text
            if one.leans >= 0 and before and len(before) + len(text) < _JOINED:
                whole = f"{before}{'' if before.endswith(_UNSPACED) else ' '}{text}"
                found = [(known, draft) for known, draft in found if not whole.startswith(known)]
            draft = _draft(whole, one, said, reports=frames(text, others))
            if draft.kind is not Kind.INSTRUCTION or said.utterance.speaker == OWNER:
                found.append((whole, draft))
        before = text
    return [draft for _, draft in found]


def _bare(text: str) -> bool:
    """Whether nothing is left of it beside a secret that was cut out."""
    return bool(_MARK.search(text)) and specifics(rest := _MARK.sub(" ", text), entities_of(rest)) < 2


def _draft(text: str, judged: heads.Judged, said: _Said, *, reports: bool) -> Draft:
    """The sentence as a draft, its days worked out. reports: it frames another's words, and is hearsay."""
    utterance = said.utterance
    owner = utterance.speaker == OWNER
    names, dated = entities_of(text), dates.resolve(text, utterance.at)
    kind = Kind.FACT if reports else _kind(text, judged)
    worth = BASE[kind] + _SPECIFIC * min(3, specifics(text, names)) + _SURE * min(2.0, max(0.0, judged.keep))
    return Draft(
        content=dated.text,
        summary=one_line(text, _SUMMARY),
        kind=kind,
        evidence=tuple(filter(None, dict.fromkeys((said.asked_in, said.turn.turn_id)))),
        speaker=utterance.speaker,
        origin=utterance.origin,
        importance=round(min(1.0, worth * (1.0 if owner else _OTHERS)), 2),
        confidence=0.8 if owner and not reports else 0.65,
        topics=topics_of(text),
        tags=("hearsay",) * reports + ("correction",) * (judged.corrects >= 0) + ("answer",) * bool(said.asked_in),
        entities=names,
        valid_to=dated.valid_to,
        language=language_of(text),
    )


def _reported(turn: Turn, utterance: Utterance) -> list[Draft]:
    """What a sub-agent brought back: as a whole when it is short enough to stand, else its first statements."""
    who, reported, found = utterance.text.partition(_REPORTED)
    if not reported or "\n" in who or not found.strip():
        return []
    whole = " ".join(utterance.text.split())
    texts = [whole] if len(whole) <= _LONGEST else [f"{who}{_REPORTED}{text}" for text in _long_enough(units(found))]
    return [
        Draft(
            content=(dated := dates.resolve(text, utterance.at)).text,
            summary=one_line(text, _SUMMARY),
            kind=Kind.EVENT,
            evidence=(turn.turn_id,),
            speaker=utterance.name or utterance.speaker,
            origin=utterance.origin,
            importance=_REPORT,
            confidence=0.6,
            topics=topics_of(text),
            entities=entities_of(text),
            valid_to=dated.valid_to,
            language=language_of(text),
        )
        for text in texts[:_MOST_REPORTED]
        if len(text) >= _SHORTEST_REPORT and not INJECTION.search(text)
    ]


def _long_enough(found: Iterable[str]) -> list[str]:
    return [text for text in found if len(text) >= _SHORTEST_REPORT]


def _united(drafts: Sequence[Draft], scopes: dict[str, Scope]) -> list[Draft]:
    """What one person said twice, word by word, as one draft with all its evidence; only turns of the batch are evidence."""
    kept: dict[tuple[str, str, Scope], Draft] = {}
    for draft in drafts:
        same = "".join(char for char in draft.content.casefold() if char.isalnum())
        key = (same, draft.speaker, scopes[draft.evidence[-1]])
        first = kept.get(key, draft)
        evidence = tuple(one for one in dict.fromkeys((*first.evidence, *draft.evidence)) if one in scopes)
        kept[key] = replace(first, evidence=evidence, importance=max(first.importance, draft.importance))
    return list(kept.values())
