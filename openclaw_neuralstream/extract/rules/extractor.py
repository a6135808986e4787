"""Turns to drafts by rules: read each message, judge its sentences, resolve days, merge what is said twice."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from openclaw_neuralstream.extract import learned
from openclaw_neuralstream.extract.quoting import frames, inside, quoted
from openclaw_neuralstream.extract.rules import choosing, completing, dates, parting
from openclaw_neuralstream.extract.rules.entities import entities_of, person_in
from openclaw_neuralstream.extract.rules.judge import (
    Verdict,
    cues_of,
    is_question,
    judge,
    judge_result,
    stands_aside,
)
from openclaw_neuralstream.extract.rules.reader import Message, Sentence, read
from openclaw_neuralstream.extract.rules.words import normal, size
from openclaw_neuralstream.foreground import FOREGROUND
from openclaw_neuralstream.lexicon import content_terms, language_of, sentences
from openclaw_neuralstream.lines import one_line
from openclaw_neuralstream.model import OWNER, Draft, ExtractorIdentity, Kind, Origin, Scope, Turn, Utterance
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.ports import Embedder, Reading
from openclaw_neuralstream.questions import topics_of

LEAST = 0.3
"""Drafts below this importance are not proposed."""

_MOST_RESULTS = 2
_ALIKE = 0.85  # share of words that two drafts have in common
_SHORT = 700  # characters; a longer message may be a pasted text
_SUMMARY = 120  # characters
_LONGEST = 400
_ANSWER = 6  # words of an answer that needs its question
_REMEMBERED = 6  # statements that a correction without its subject may mean
_HEARD = 3  # turns before the batch that are listened to
_MERGED = 0.5  # importance of an answer or a confirmation
_REPORT = 0.4
_SHORTEST_REPORT = 5
_MOST_REPORTED = 6
_OFFERED = 2  # turns of the agent that an offer outlives
_CHOICE = "choice"
_REPORTED = " reported: "
_OF_SOMEBODY = lazy(
    r"(?:and |but )?(?:she|he|her|his)\b|(?:а |но |и )?(?:вот )?(?:она|он|её|ее|ей|ему|него|неё|у неё|у него)\b|(?:不过|而且)?(?:她|他)(?!们)",
    re.IGNORECASE,
)
_WANTED = lazy(
    r"(?:and |so )?(?:which|where|when|who|whose|how (?:many|much|old|long|often|big)|what(?:'s| is| are)? (?:the|its|their|his|her|time|day|colou?r|size|name|version))\b|"
    r"(?:а |и )?(?:в каком|в какой|на каком|на какой|какой|какая|какие|где|когда|кто|чей|сколько|как (?:е[её]|его|их) зовут)\b|"
    r"(?:那|是)?(?:在?哪|什么时候|几[点号月]|多少|谁|叫什么)",
    re.IGNORECASE,
)
_PEOPLE = ("owner", "third-party")


_HEARSAY = 0.4  # importance of what another said at most


@dataclass(frozen=True, slots=True)
class _Said:
    """An utterance and the turn it stands in."""

    turn: Turn
    utterance: Utterance


@dataclass(slots=True)
class _Dialogue:
    """What the reader remembers from one message to the next."""

    asked: str = ""  # the agent's last sentence when it asked or proposed something
    asked_in: Turn | None = None  # the turn it was said in
    stated: list[tuple[Draft, Turn]] = field(default_factory=list)  # what people stated last, newest first
    offer: choosing.Offer | None = None  # options that the agent listed
    offered_in: Turn | None = None
    since_offer: int = 0  # turns of the agent since then
    person: str = ""  # whom a person's last statement named
    person_in: Turn | None = None
    turn_before: str = ""
    turn_now: str = ""

    def question_for(self, said: _Said) -> tuple[str, Turn | None]:
        """What the agent asked this person; asked once. Nobody answers what was asked of another."""
        mine, asked, self.asked = self.answers(said), self.asked, ""
        return (asked, self.asked_in) if asked and mine else ("", None)

    def answers(self, said: _Said) -> bool:
        """Whether this person was asked."""
        return said.utterance.speaker == OWNER and self.asked_in is not None and self.asked_in.scope == said.turn.scope

    def question(self, said: _Said) -> learned.Asked | None:
        """The same as a look: it stays to be answered."""
        return (
            learned.Asked(self.asked, self.asked_in.turn_id)
            if self.asked and self.asked_in and self.answers(said)
            else None
        )

    def is_last(self, draft: Draft) -> bool:
        """Whether it was said in the turn before, or the turn that is read: what is taken back was said just now."""
        return bool({self.turn_before, self.turn_now} & set(draft.evidence))

    def forget(self, draft: Draft) -> None:
        """What is no draft any more is not corrected either."""
        self.stated = [
            (one, turn) for one, turn in self.stated if (one.evidence, one.summary) != (draft.evidence, draft.summary)
        ]

    def offer_for(self, said: _Said) -> tuple[choosing.Offer, Turn] | None:
        """What the agent offered this person; nobody takes what was offered to another."""
        mine = said.utterance.speaker == "owner" and self.offered_in and self.offered_in.scope == said.turn.scope
        return (self.offer, self.offered_in) if self.offer and self.offered_in and mine else None

    def person_for(self, said: _Said) -> str:
        """Whom "she" at the beginning of a message means: the one that the same memory's last statement named."""
        mine = self.person_in and self.person_in.scope == said.turn.scope and said.utterance.speaker == "owner"
        return self.person if mine else ""

    def statements_of(self, said: _Said) -> list[Draft]:
        """What this person stated last, newest first; nobody corrects another's words."""
        speaker, scope = said.utterance.speaker, said.turn.scope
        return [draft for draft, turn in self.stated if turn.scope == scope and draft.speaker == speaker]

    def note(self, draft: Draft, turn: Turn) -> None:
        """Remember what a person stated, as it was said."""
        self.stated = [(draft, turn), *self.stated[: _REMEMBERED - 1]]


class RulesExtractor:
    """Extracts by rules. Deterministic; the same turns give the same drafts."""

    identity = ExtractorIdentity("rules", "2")

    def __init__(self, encoder: Embedder | None = None) -> None:
        """encoder: the carried one, for the learned heads beside the rules; None = the rules alone."""
        self._encoder = encoder

    def extract(self, reading: Reading) -> list[Draft]:
        """The drafts of the batch, in the order they were said; what was said twice is one draft.

        What is known already is proposed again: judgement adds its evidence to the gem that says it.
        """
        dialogue = _Dialogue()
        for turn in reading.history[-_HEARD:]:  # what the batch corrects may have been said before it
            _turn(turn, dialogue, [], None)
        drafts: list[Draft] = []
        scopes = {turn.turn_id: turn.scope for turn in reading.batch.turns}
        for turn in reading.batch.turns:
            drafts = _turn(turn, dialogue, drafts, self._encoder)
        found = (_within(draft, scopes) for draft in _united(drafts, scopes))
        return [draft for draft in found if draft.importance >= LEAST]


def _within(draft: Draft, scopes: dict[str, Scope]) -> Draft:
    """With evidence of the batch only; a question may have been asked before it."""
    return replace(draft, evidence=tuple(turn_id for turn_id in draft.evidence if turn_id in scopes))


def _turn(turn: Turn, dialogue: _Dialogue, drafts: list[Draft], encoder: Embedder | None) -> list[Draft]:
    kept = list(drafts)
    dialogue.turn_now = turn.turn_id
    for utterance in turn.utterances:
        FOREGROUND.rest()
        said = _Said(turn, utterance)
        if utterance.speaker in _PEOPLE:
            message = read(utterance.text)
            if message.off_record and utterance.speaker == "owner":
                return drafts
            if message.retracts and kept and kept[-1].speaker == utterance.speaker and dialogue.is_last(kept[-1]):
                kept = kept[:-1]
            asked = dialogue.question(said)
            stated = _stated(message, said, dialogue, kept)
            if encoder is not None:
                stated = _judged(encoder, stated, said, message=message, asked=asked, dialogue=dialogue)
            kept += stated
        elif utterance.speaker == "agent":
            kept += _results(said)
            _listen((utterance,), turn, dialogue)
        elif utterance.speaker == "system" and utterance.origin is Origin.AGENT:
            kept += _reported(said)
    dialogue.turn_before = turn.turn_id
    return kept


def _judged(
    encoder: Embedder,
    stated: list[Draft],
    said: _Said,
    *,
    message: Message,
    asked: learned.Asked | None,
    dialogue: _Dialogue,
) -> list[Draft]:
    """What the learned heads let pass of the rules' drafts and add to them; a later message may correct these, and no others."""
    found = learned.beside(encoder, stated, said.utterance, message=message, turn=said.turn, asked=asked)
    for draft in stated:
        if draft not in found:
            dialogue.forget(draft)
    for draft in found:
        if draft not in stated:
            dialogue.note(replace(draft, content=draft.summary), said.turn)
    return found


def _stated(message: Message, said: _Said, dialogue: _Dialogue, drafts: list[Draft]) -> list[Draft]:
    """What a person states; a short answer is put behind the question it answers."""
    asked, asked_in = dialogue.question_for(said)
    offer = dialogue.offer_for(said)
    choices = _choices(message, said, offer)
    if asked_in and not choices and (answer := _answer(asked, asked_in, message, said)):
        return [answer]
    found: list[Draft] = []
    others = quoted(said.utterance.text)
    for number, heard in enumerate(message.sentences):
        FOREGROUND.rest()
        if inside(heard.text, others):
            continue
        if number in choices:
            if heard.corrected and offer:
                _drop_choice(offer[1], drafts)
            found.append(choices[number])
            continue
        named = _named(heard, "" if number else dialogue.person_for(said))
        sentence, outdated = _completed(named, dialogue.statements_of(said))
        if outdated:
            _drop(outdated, drafts)
            _drop(outdated, found)
        for draft in _reporting(_drafts(sentence, said, dialogue), heard.text, others):
            if person := person_in(draft.summary):
                dialogue.person, dialogue.person_in = person, said.turn
            grounds = (
                dialogue.person_in if named is not heard else None,
                said.turn,
            )
            stands_on = [turn.turn_id for turn in grounds if turn]
            evidence = (*(outdated.evidence if outdated else ()), *stands_on)
            found.append(replace(draft, evidence=tuple(dict.fromkeys(evidence))))
    return found


def _reporting(drafts: Iterable[Draft], sentence: str, others: tuple[str, ...]) -> list[Draft]:
    """The drafts of a sentence; of one that frames another's words what the owner wants or decides is a mere report."""
    told = [draft for draft in drafts if not inside(draft.content, others)]
    if not frames(sentence, others):
        return told
    return [
        replace(draft, kind=Kind.FACT, tags=(*draft.tags, "hearsay"), importance=min(draft.importance, _HEARSAY))
        for draft in told
    ]


def _drafts(sentence: Sentence, said: _Said, dialogue: _Dialogue) -> list[Draft]:
    """A draft for each fact of the sentence, or one for what is stated in it after a request; none where it is worth nothing."""

    def verdict_on(text: str) -> Verdict:
        return judge(
            text,
            sentence.cues,
            asked=sentence.asked,
            corrected=sentence.corrected,
            third_party=said.utterance.speaker == "third-party",
            short=len(said.utterance.text) <= _SHORT,
        )

    def worth(text: str) -> bool:
        verdict = verdict_on(text)
        return verdict.kind is not None and verdict.importance >= LEAST

    texts = parting.parted(sentence.text, worth)
    if len(texts) == 1:
        texts = [next((text for text in _statements(sentence) if verdict_on(text).kind is not None), "")]
    found = []
    for text in filter(None, texts):
        verdict = verdict_on(text)
        if verdict.kind is not None:
            draft = _draft(text, verdict.kind, verdict, said, tags=_tags(sentence))
            dialogue.note(replace(draft, content=text), said.turn)
            found.append(draft)
    return found


def _choices(message: Message, said: _Said, offer: tuple[choosing.Offer, Turn] | None) -> dict[int, Draft]:
    """The sentences that take one of the options, by their place, each with the option's words in it."""
    if offer is None:
        return {}
    (options, turn), alone = offer, len(message.sentences) == 1
    found: dict[int, Draft] = {}
    for number, sentence in enumerate(message.sentences):
        told = choosing.chosen(sentence.text, options, alone=alone, corrected=sentence.corrected)
        if told:
            content = f"{options.heading} — {told}" if options.heading else told
            draft = _merged(content[:_LONGEST], Kind.DECISION, turn, said, _CHOICE)
            found[number] = replace(draft, tags=(*draft.tags, *_tags(sentence)))
    return found


def _named(sentence: Sentence, person: str) -> Sentence:
    """Put "Gwen:" before "She can't eat wheat", where a message begins so and it is known whom it is about."""
    leans = _OF_SOMEBODY.match(sentence.text)
    return replace(sentence, text=f"{person}: {sentence.text}") if person and leans else sentence


def _statements(sentence: Sentence) -> Iterator[str]:
    """The sentence, then what is said in it after a request: "I'm looking for a lens and I just bought a Canon"."""
    yield sentence.text
    plain, cues = normal(sentence.text), sentence.cues
    joint = cues.joint.search(plain)
    if joint and cues.request.search(plain) and not cues.hypothetical.search(plain):
        yield plain[joint.end()].upper() + plain[joint.end() + 1 :]


def _answer(asked: str, asked_in: Turn, message: Message, said: _Said) -> Draft | None:
    """A short answer with its question: "Which city? — Berlin"; a confirmed proposal with its yes."""
    text = " ".join(said.utterance.text.split())
    cues, theirs = cues_of(asked), cues_of(text)
    content, question = f"{asked} — {text}", is_question(asked, cues)
    if len(content) > _LONGEST:
        return None
    if message.affirms:
        kind = Kind.DECISION if question or cues.decision.search(normal(asked)) else Kind.FACT
        confirmed = _is_concrete(asked, said)  # not "Want to hear a joke? — sure"
        return _merged(content, kind, asked_in, said, "confirmed") if confirmed else None
    plain = normal(asked)
    wanted = cues.address.search(plain) or _WANTED.match(plain)
    personal = question and wanted and not cues.offer.search(plain)
    short = 1 <= size(text) <= _ANSWER and len(message.sentences) == 1 and not stands_aside(text, theirs)
    if not (personal and short) or judge(text, theirs).kind is not None:
        return None
    return _merged(content, Kind.FACT, asked_in, said, "answer")


def _is_concrete(text: str, said: _Said) -> bool:
    at = said.utterance.at
    other_day = any(
        span != (at.date(), at.date()) for span in dates.resolve(text, at).spans
    )  # not "tired today? — yes"
    return bool(entities_of(text) or re.search(r"\d", text) or other_day)


def _merged(content: str, kind: Kind, asked_in: Turn, said: _Said, tag: str) -> Draft:
    draft = _draft(content, kind, Verdict(kind, _MERGED), said, tags=(tag,))
    return replace(draft, evidence=tuple(dict.fromkeys((asked_in.turn_id, said.turn.turn_id))))


def _completed(sentence: Sentence, before: Sequence[Draft]) -> tuple[Sentence, Draft | None]:
    """A correction without its subject ("not Monday but Tuesday") with the statement that it corrects, which goes."""
    found = completing.corrected(sentence, [draft.content for draft in before])
    return (replace(sentence, text=found[0], corrected=True), before[found[1]]) if found else (sentence, None)


def _drop(outdated: Draft, drafts: list[Draft]) -> None:
    """Remove a statement in place, whatever days were written into it."""
    drafts[:] = [d for d in drafts if (d.evidence, d.summary) != (outdated.evidence, outdated.summary)]


def _drop_choice(offered_in: Turn, drafts: list[Draft]) -> None:
    """Remove in place what was chosen before of the same options."""
    drafts[:] = [d for d in drafts if _CHOICE not in d.tags or offered_in.turn_id not in d.evidence]


def _results(said: _Said) -> list[Draft]:
    """Concrete results of the agent's work."""
    found: list[Draft] = []
    for sentence in read(said.utterance.text).sentences:
        verdict = judge_result(sentence.text, sentence.cues)
        if verdict.kind is not None and len(found) < _MOST_RESULTS:
            found.append(_draft(sentence.text, verdict.kind, verdict, said))
    return found


def _reported(said: _Said) -> list[Draft]:
    """What a sub-agent brought back: as a whole when it is short enough to stand, else its first statements."""
    who, reported, found = said.utterance.text.partition(_REPORTED)
    if not reported or "\n" in who or not found.strip():
        return []
    whole = " ".join(said.utterance.text.split())
    if len(whole) <= _LONGEST:
        texts = [whole] if size(whole) >= _SHORTEST_REPORT else []
    else:
        stated = (s.text for s in read(found).sentences if size(s.text) >= _SHORTEST_REPORT and len(s.text) <= _LONGEST)
        texts = [f"{who}{_REPORTED}{text}" for text in islice(stated, _MOST_REPORTED)]
    drafts = (_draft(text, Kind.EVENT, Verdict(Kind.EVENT, _REPORT, 0.6), said) for text in texts)
    return [replace(draft, speaker=said.utterance.name or draft.speaker) for draft in drafts]


def _listen(utterances: Sequence[Utterance], turn: Turn, dialogue: _Dialogue) -> None:
    """Note what the agent asked or proposed last."""
    said = [u.text for u in utterances if u.speaker == "agent"]
    last = next(iter(reversed(sentences(said[-1]))), "") if said else ""
    cues = cues_of(last)
    asks = bool(last) and (is_question(last, cues) or bool(cues.decision.search(normal(last))))
    dialogue.asked = " ".join(last.split()) if asks and 2 <= size(last) <= 40 else ""
    dialogue.asked_in = turn
    if said and (offer := choosing.offered(said[-1])):
        dialogue.offer, dialogue.offered_in, dialogue.since_offer = offer, turn, 0
    elif said and dialogue.offered_in is not turn:
        dialogue.since_offer += 1
        dialogue.offer = dialogue.offer if dialogue.since_offer < _OFFERED else None


def _tags(sentence: Sentence) -> tuple[str, ...]:
    """What its author said about the statement itself: that it corrects another, that it is to be remembered."""
    return ("correction",) * sentence.corrected + ("asked",) * sentence.asked


def _draft(text: str, kind: Kind, verdict: Verdict, said: _Said, *, tags: tuple[str, ...] = ()) -> Draft:
    utterance = said.utterance
    dated = dates.resolve(text, utterance.at)
    return Draft(
        content=dated.text,
        summary=one_line(text, _SUMMARY),
        kind=kind,
        evidence=(said.turn.turn_id,),
        speaker=utterance.speaker,
        origin=utterance.origin,
        importance=verdict.importance,
        confidence=verdict.confidence,
        topics=topics_of(text),
        tags=tags,
        entities=verdict.entities,
        valid_to=dated.valid_to,
        language=language_of(text),
    )


def _united(drafts: list[Draft], scopes: dict[str, Scope]) -> list[Draft]:
    """What one person said twice, nearly word by word, as one draft with all its evidence; the first wording stays."""
    kept: list[tuple[frozenset[str], Draft]] = []
    for draft in drafts:
        words = frozenset(content_terms(draft.content)) or frozenset({_same(draft.content)})
        whose = (draft.speaker, scopes.get(draft.evidence[-1]))
        twins = (
            n
            for n, (others, d) in enumerate(kept)
            if _alike(words, others) and whose == (d.speaker, scopes.get(d.evidence[-1]))
        )
        twin = next(twins, None)
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
