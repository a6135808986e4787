"""Turns to drafts by rules: read each message, judge its sentences, resolve days, merge what is said twice."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from openclaw_neuralstream.extract.rules import dates
from openclaw_neuralstream.extract.rules.entities import entities_of, topics_of
from openclaw_neuralstream.extract.rules.judge import (
    BASE,
    Verdict,
    cues_of,
    is_question,
    judge,
    judge_result,
    normal,
    size,
    stands_aside,
)
from openclaw_neuralstream.extract.rules.reader import Message, Sentence, read
from openclaw_neuralstream.lexicon import content_terms, language_of, sentences
from openclaw_neuralstream.model import Draft, ExtractorIdentity, Kind, Origin, Turn, Utterance
from openclaw_neuralstream.ports import Reading

LEAST = 0.3
"""Drafts below this importance are not proposed."""

_MOST_RESULTS = 2
_ALIKE = 0.85  # share of words that two drafts have in common
_SHORT = 700  # characters; a longer message may be a pasted text
_SUMMARY = 120
_PEOPLE = ("owner", "third-party")


@dataclass(slots=True)
class _Dialogue:
    """What the reader remembers from one message to the next."""

    asked: str = ""  # the agent's last sentence when it asked or proposed something
    asked_in: str = ""  # the turn it was said in
    last: Draft | None = None  # the last thing a person stated


class RulesExtractor:
    """Extracts by rules. Deterministic; the same turns give the same drafts."""

    identity = ExtractorIdentity("rules", "1")

    def extract(self, reading: Reading) -> list[Draft]:
        """The drafts of the batch, in the order they were said; what was said twice is one draft."""
        dialogue = _Dialogue()
        for turn in reading.history[-1:]:
            _listen(turn.utterances, turn.turn_id, dialogue)
        drafts: list[Draft] = []
        known = {_same(gem.content) for gem in reading.known}
        for turn in reading.batch.turns:
            drafts = _turn(turn, dialogue, drafts)
        return [draft for draft in _united(drafts) if draft.importance >= LEAST and _same(draft.content) not in known]


def _turn(turn: Turn, dialogue: _Dialogue, drafts: list[Draft]) -> list[Draft]:
    kept = list(drafts)
    for utterance in turn.utterances:
        if utterance.speaker in _PEOPLE:
            message = read(utterance.text)
            if message.off_record:
                return drafts
            if message.retracts:
                kept = _taken_back(kept)
            kept += _stated(message, utterance, turn, dialogue, kept)
        elif utterance.speaker == "agent":
            kept += _results(utterance, turn)
            _listen((utterance,), turn.turn_id, dialogue)
        elif utterance.speaker == "system" and utterance.origin is Origin.AGENT:
            kept += _reported(utterance, turn)
    return kept


def _stated(
    message: Message, utterance: Utterance, turn: Turn, dialogue: _Dialogue, drafts: list[Draft]
) -> list[Draft]:
    """What a person states; a short answer is put behind the question it answers."""
    asked, asked_in = dialogue.asked, dialogue.asked_in
    dialogue.asked = ""
    if utterance.speaker == "owner" and asked and (answer := _answer(asked, asked_in, message, utterance, turn)):
        return [answer]
    found: list[Draft] = []
    for sentence in message.sentences:
        sentence = _completed(sentence, dialogue, drafts)
        verdict = judge(
            sentence.text,
            sentence.cues,
            asked=sentence.asked,
            corrected=sentence.corrected,
            third_party=utterance.speaker == "third-party",
            short=len(utterance.text) <= _SHORT,
        )
        if verdict.kind is not None:
            draft = _draft(sentence.text, verdict, utterance, turn, corrected=sentence.corrected)
            found.append(draft)
            dialogue.last = replace(draft, content=sentence.text)
    return found


def _answer(asked: str, asked_in: str, message: Message, utterance: Utterance, turn: Turn) -> Draft | None:
    """A short answer with its question: "Which city? — Berlin"; a confirmed proposal with its yes."""
    text = " ".join(utterance.text.split())
    cues = cues_of(asked)
    question = is_question(asked, cues)
    if message.affirms:
        if not (entities_of(asked) or re.search(r"\d", asked) or dates.resolve(asked, utterance.at).spans):
            return None  # "Want to hear a joke? — sure"
        kind = Kind.DECISION if question or cues.decision.search(normal(asked)) else Kind.FACT
        return _merged(f"{asked} — {text}", kind, 0.5, asked_in, utterance, turn, "confirmed")
    short = 1 <= size(text) <= 6 and len(message.sentences) == 1 and not stands_aside(text, cues_of(text))
    personal = question and cues.address.search(normal(asked)) and not cues.offer.search(normal(asked))
    if not (short and personal) or judge(text, cues_of(text)).kind is not None:
        return None
    return _merged(f"{asked} — {text}", Kind.FACT, BASE[Kind.TODO], asked_in, utterance, turn, "answer")


def _merged(
    content: str, kind: Kind, importance: float, asked_in: str, utterance: Utterance, turn: Turn, tag: str
) -> Draft | None:
    if len(content) > 400:
        return None
    draft = _draft(content, Verdict(kind, importance, 0.8), utterance, turn, corrected=False)
    evidence = (asked_in, turn.turn_id) if asked_in and asked_in != turn.turn_id else (turn.turn_id,)
    return replace(draft, evidence=evidence, tags=(tag,))


def _completed(sentence: Sentence, dialogue: _Dialogue, drafts: list[Draft]) -> Sentence:
    """A correction without its subject ("not Monday but Tuesday") with the statement that it corrects."""
    match = sentence.cues.contrast.search(normal(sentence.text))
    before = dialogue.last
    if not match or before is None or size(sentence.text) > 10:
        return sentence
    old = next((v for k, v in match.groupdict().items() if k.startswith("old") and v), "")
    new = next((v for k, v in match.groupdict().items() if k.startswith("new") and v), "")
    if not old or not new:
        return sentence
    corrected = re.sub(re.escape(old), lambda _: new, before.content, count=1, flags=re.IGNORECASE)
    if corrected == before.content:
        return sentence
    drafts[:] = [draft for draft in drafts if draft.evidence != before.evidence or draft.summary != before.summary]
    return replace(sentence, text=corrected, corrected=True)


def _results(utterance: Utterance, turn: Turn) -> list[Draft]:
    """Concrete results of the agent's work."""
    found: list[Draft] = []
    for sentence in read(utterance.text).sentences:
        verdict = judge_result(sentence.text, sentence.cues)
        if verdict.kind is not None and len(found) < _MOST_RESULTS:
            found.append(_draft(sentence.text, verdict, utterance, turn, corrected=False))
    return found


def _reported(utterance: Utterance, turn: Turn) -> list[Draft]:
    """What a sub-agent brought back, when it is concrete and short enough to stand."""
    text = " ".join(utterance.text.split())
    verdict = Verdict(Kind.EVENT, 0.4, 0.6, ())
    if not re.search(r"\breported: \S", text) or not 5 <= size(text) <= 80 or len(text) > 500:
        return []
    return [_draft(text, verdict, utterance, turn, corrected=False)]


def _listen(utterances: Sequence[Utterance], turn_id: str, dialogue: _Dialogue) -> None:
    """Note what the agent asked or proposed last."""
    said = [u.text for u in utterances if u.speaker == "agent"]
    last = next(iter(reversed(sentences(said[-1]))), "") if said else ""
    cues = cues_of(last)
    asks = bool(last) and (is_question(last, cues) or bool(cues.decision.search(normal(last))))
    dialogue.asked = " ".join(last.split()) if asks and 2 <= size(last) <= 40 else ""
    dialogue.asked_in = turn_id


def _draft(text: str, verdict: Verdict, utterance: Utterance, turn: Turn, *, corrected: bool) -> Draft:
    assert verdict.kind is not None  # noqa: S101 - told apart by the caller
    cues = cues_of(text)
    plain = normal(text)
    past = bool(cues.past.search(plain)) and not cues.ahead.search(plain)
    dated = dates.resolve(text, utterance.at, past=past)
    return Draft(
        content=dated.text,
        summary=_one_line(text),
        kind=verdict.kind,
        evidence=(turn.turn_id,),
        speaker=utterance.speaker,
        origin=utterance.origin,
        importance=verdict.importance,
        confidence=verdict.confidence,
        topics=topics_of(text),
        tags=("correction",) if corrected else (),
        entities=verdict.entities,
        valid_to=dated.valid_to,
        language=language_of(text),
    )


def _taken_back(drafts: list[Draft]) -> list[Draft]:
    """Without the last thing that was said."""
    return drafts[:-1]


def _united(drafts: list[Draft]) -> list[Draft]:
    """What was said twice, nearly word by word, as one draft with all its evidence; the first wording stays."""
    kept: list[tuple[frozenset[str], Draft]] = []
    for draft in drafts:
        words = frozenset(content_terms(draft.content)) or frozenset({_same(draft.content)})
        twin = next(
            (n for n, (others, d) in enumerate(kept) if d.speaker == draft.speaker and _alike(words, others)), None
        )
        if twin is None:
            kept.append((words, draft))
            continue
        others, first = kept[twin]
        evidence = tuple(dict.fromkeys((*first.evidence, *draft.evidence)))
        kept[twin] = others, replace(first, evidence=evidence, importance=max(first.importance, draft.importance))
    return [draft for _, draft in kept]


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Nearly the same words, and the same numbers."""
    numbers = {term for term in one ^ other if any(char.isdigit() for char in term)}
    return not numbers and len(one & other) >= _ALIKE * len(one | other)


def _same(text: str) -> str:
    return re.sub(r"[\s.!。！]+", " ", text.casefold()).strip()


def _one_line(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _SUMMARY else flat[: _SUMMARY - 1].rstrip() + "…"
