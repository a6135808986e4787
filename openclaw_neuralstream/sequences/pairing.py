"""Question and answer as a pair, and whether it is significant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from openclaw_neuralstream.model import OWNER, Origin, Pair, Turn, Utterance
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.secrets import redact
from openclaw_neuralstream.text.lexicon import content_terms, terms
from openclaw_neuralstream.text.lines import shortened
from openclaw_neuralstream.text.questions import acts, asked_topics, points_back, question_hash, thanks, words_of

UNIQUENESS, ACTION, DENSITY, EMOTION = "uniqueness", "user_action", "context_density", "emotional_weight"
WEIGHTS: Mapping[str, float] = {UNIQUENESS: 0.3, ACTION: 0.2, DENSITY: 0.25, EMOTION: 0.25}

ACTED, ASKED_TO_ACT, TOOLS, WENT_ON = 1.0, 0.7, 0.6, 0.4
"""How much it shows that the next message acts on the answer, that the question wants something done, that tools did
something, and that the user asked on."""

_LEXICAL = 0.6  # content words of all words in dense prose (Ure: written English lies at 0.4 and above)
_SUBSTANCE = 12  # different content terms from which a pair has said something
_SPECIFICS = 4  # numbers, names and identifiers that make it concrete
_HALF = 0.5  # what each further word of feeling leaves of the distance to 1
_OF_ANSWER = 0.5  # an assistant's own emphasis counts half
_LONGEST = 8_000

_SPECIFIC = lazy(
    r"https?://\S+|`[^`\n]{1,80}`|\b\d[\d.,:/-]*\d\b|\b\d\b|[€$£¥₽]\s?\d|\b\w+[_]\w+\b|\b[a-z]+[A-Z]\w*|[\w.+-]+@[\w.-]+"
    r"|(?<=[\w,;:] )[A-ZА-ЯЁ][\w-]+|(?:[/~]|\b\w+/)[\w./-]{3,}|[《「“][^》」”]{1,40}[》」”]|第?[一二三四五六七八九十百千万]+[个天年月日号点元块次条]"
)
_FEELING = lazy(
    r"\b(?:love[ds]?|hate[ds]?|afraid|scared|worr(?:y|ied|ies)|anxious|angry|furious|frustrat\w+|annoy\w+|upset|sad|cried|crying|depress\w+|happy|excited|glad|proud|grateful"
    r"|wonderful|amazing|awful|terrible|horrible|disaster|hope|hopeless|desperate\w*|stress\w*|panic\w*|sorry|ashamed|lonely|miss(?:ed|ing)? (?:you|him|her|them)|hurts?|pain\w*|died|dying|death"
    r"|urgent\w*|important\w*|critical\w*|crucial|never forget|must not|please remember|emergency|finally)\b"
    r"|\b(?:люблю|любим\w*|обожа\w+|ненави\w+|боюсь|боится|страшно|пережива\w+|беспоко\w+|тревож\w+|зл(?:юсь|ит|ой|ая)|бесит|раздража\w+|обид\w+|груст\w+|плач\w+|плака\w+|депресс\w+|счастлив\w*|рад|рада|рады|горжусь"
    r"|благодар\w+|прекрасн\w+|замечательн\w+|ужас\w*|кошмар\w*|катастроф\w+|надеюсь|надежд\w+|отчая\w+|стресс\w*|паник\w+|извини\w*|стыдно|одинок\w*|скуча\w+|больно|боль|умер\w*|смерт\w+"
    r"|срочно|важно|важн(?:ый|ая|ое|ые)|критич\w+|обязательно|ни в коем случае|не забудь|наконец-то|экстренн\w+)\b"
    r"|爱|恨|害怕|担心|焦虑|生气|愤怒|沮丧|烦|难过|伤心|哭|抑郁|开心|高兴|激动|骄傲|感激|感谢你|太棒|糟糕|可怕|灾难|希望|绝望|压力|恐慌|抱歉|对不起|羞愧|孤独|想念|疼|痛|去世|死"
    r"|紧急|重要|关键|千万|绝对不|一定要|别忘|终于|急",
    re.IGNORECASE,
)
_STRONGER = lazy(r"[!！]|\b[A-ZА-ЯЁ]{4,}\b|[😀-🙏🥰-🥺❤💔]")


def significance(factors: Mapping[str, float]) -> float:
    """The weighted sum of the four factors, in [0, 1]; a factor that is not given counts 0."""
    return round(sum(weight * min(1.0, max(0.0, factors.get(name, 0.0))) for name, weight in WEIGHTS.items()), 4)


def uniqueness(own: AbstractSet[str], others: Iterable[AbstractSet[str]]) -> float:
    """One less the greatest Jaccard similarity to what was asked before; 0 for a message without content terms."""
    if not own:
        return 0.0
    return 1 - max((len(own & other) / len(own | other) for other in others), default=0.0)


def user_action(question: str, *, tools: bool, next_said: str = "") -> float:
    """How far the user acted on it. tools: the answer came with doing. next_said: the user's next message, "" = none yet."""
    wanted = acts(question)
    found = max(ASKED_TO_ACT if wanted else 0.0, TOOLS if tools else 0.0, 0.8 if tools and wanted else 0.0)
    if next_said and acts(next_said):
        return ACTED
    if next_said and not thanks(next_said) and points_back(next_said):
        return max(found, WENT_ON)
    return found


def context_density(question: str, answer: str) -> float:
    """Half how dense in content words it is (and that there are enough of them), half how concrete."""
    text = f"{question}\n{answer}"[:_LONGEST]
    all_terms, content = terms(text), content_terms(text)
    if not content:
        return 0.0
    dense = min(1.0, len(content) / len(all_terms) / _LEXICAL) * min(1.0, len(set(content)) / _SUBSTANCE)
    return 0.5 * dense + 0.5 * min(1.0, len(set(_SPECIFIC.findall(text))) / _SPECIFICS)


def emotional_weight(question: str, answer: str = "") -> float:
    """0 without a word of feeling or emphasis, 0.5 with one of the user's, nearer to 1 with each further one."""
    felt = _felt(question) + _OF_ANSWER * min(2.0, _felt(answer))
    return 1.0 - float(_HALF**felt)


def _felt(text: str) -> float:
    words = len({word.casefold() for word in _FEELING.findall(text[:_LONGEST])})
    stronger = 0.5 * min(2, len(_STRONGER.findall(text[:_LONGEST])))
    return words + (stronger if words or "!" in text or "！" in text else 0.0)


PATH = "memory/topics.txt"
BLANK = """\
# Your interests, one topic a line, in any language: answers about them are kept whatever they score.
# The file is yours: it is read as it stands, and only `neuralstream qa topics add|remove` ever changes it.
"""
_MOST, _INTERESTS_LONGEST = 500, 200


@dataclass(frozen=True, slots=True)
class Interest:
    """A topic as the user wrote it, and the terms that must all be named."""

    name: str
    terms: frozenset[str]

    def named_in(self, pair: Pair) -> bool:
        """Whether a question is about it: all its terms stand there, or in the names of its topics."""
        return self.terms <= _said(pair)


def interests_of(text: str) -> tuple[Interest, ...]:
    """The topics of the file; blank lines, comments (#) and lines that name nothing are left out."""
    found: dict[frozenset[str], Interest] = {}
    for line in text.splitlines():
        name = line.partition("#")[0].strip().removeprefix("- ").strip()[:_INTERESTS_LONGEST]
        wanted = frozenset(content_terms(name.replace("_", " ")) or terms(name))
        if wanted:
            found.setdefault(wanted, Interest(name, wanted))
    return tuple(found.values())[:_MOST]


def with_interest(text: str, name: str) -> str:
    """The file with this topic at its end; as it is when it names it already."""
    (wanted,) = interests_of(name)[:1] or (None,)
    if wanted is None or any(known.terms == wanted.terms for known in interests_of(text)):
        return text
    return f"{text}{'' if not text or text.endswith(chr(10)) else chr(10)}{wanted.name}\n"


def without_interest(text: str, name: str) -> str:
    """The file without the lines that name this topic; all other lines stay as they are."""
    wanted = {known.terms for known in interests_of(name)}
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if not wanted & {known.terms for known in interests_of(line)})


def _said(pair: Pair) -> frozenset[str]:
    about = " ".join(topic.replace("_", " ") for topic in pair.topics)
    return frozenset(terms(f"{pair.question}\n{about}\n{' '.join(pair.tokens)}"))


MOST_QUESTION, MOST_ANSWER = 4_000, 8_000
"""Characters that are kept of a question and of an answer; the turn itself is kept whole elsewhere."""

MOST_OTHER, MOST_OTHERS = 1_000, 8
"""Characters of what another person said in the same turn, and how many of such messages are kept beside the question."""

_PEOPLE = ("owner", "third-party")
SIGNIFICANCE, INTEREST, HAND = "significance", "interest", "hand"
KEEP, DROP = "keep", "drop"
"""What a person can say of an answer."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """What a turn says as a pair, before anything is known of its sequence; the fields as those of `Pair`."""

    turn: Turn
    question: str
    answer: str
    tools: bool
    origin: Origin
    speaker: str
    others: tuple[tuple[str, str], ...]
    answered: Origin


def spoken(turn: Turn) -> Spoken | None:
    """The question and the answer of a turn, secrets out; None when no person said anything in it.

    The question is the owner's where he said anything, else that of who spoke first; what others said stands beside it.
    """
    people = [said for said in turn.utterances if said.speaker in _PEOPLE and said.text.strip()]
    if not people:
        return None
    first = next((said for said in people if said.speaker == "owner"), people[0])
    asked = [said for said in people if _speaker(said) == _speaker(first)]
    heard = [said for said in people if _speaker(said) != _speaker(first)]
    others = [(_speaker(said), shortened(redact(said.text).text, MOST_OTHER)) for said in heard]
    foreign = any(said.origin is Origin.UNTRUSTED for said in turn.utterances)
    return Spoken(
        turn=turn,
        question=shortened(redact("\n".join(said.text for said in asked)).text, MOST_QUESTION),
        answer=shortened(redact(turn.text_of("agent")).text, MOST_ANSWER),
        tools=any(said.speaker == "tool" for said in turn.utterances),
        origin=first.origin,
        speaker=_speaker(first),
        others=tuple(others[:MOST_OTHERS]),
        answered=Origin.UNTRUSTED if foreign else Origin.AGENT,
    )


def _speaker(said: Utterance) -> str:
    return OWNER if said.speaker == "owner" else said.name or said.speaker


def paired(said: Spoken, *, sequence: str, seq: int, others: list[frozenset[str]]) -> Pair:
    """The pair, judged, its answer not yet taken. others: content terms of earlier questions that are like it."""
    own = frozenset(content_terms(said.question))
    factors = {
        UNIQUENESS: uniqueness(own, others),
        ACTION: user_action(said.question, tools=said.tools),
        DENSITY: context_density(said.question, said.answer),
        EMOTION: emotional_weight(said.question, said.answer),
    }
    turn = said.turn
    return Pair(
        turn_id=turn.turn_id,
        scope=turn.scope,
        sequence=sequence,
        seq=seq,
        question=said.question,
        at=turn.at,
        significance=significance(factors),
        factors=tuple((name, round(value, 4)) for name, value in factors.items()),
        tokens=words_of(said.question),
        topics=asked_topics(said.question),
        question_hash=question_hash(said.question),
        origin=said.origin,
        speaker=said.speaker,
        others=said.others,
        answered=said.answered,
    )


def followed(pair: Pair, next_said: str) -> Pair:
    """The pair once the user's next message is known: what was acted on matters more."""
    factors = dict(pair.factors)
    acted = user_action(pair.question, tools=factors.get(ACTION, 0.0) >= 0.6, next_said=next_said)
    if acted <= factors.get(ACTION, 0.0):
        return pair
    factors[ACTION] = acted
    return replace(pair, factors=tuple(factors.items()), significance=significance(factors))


def reason(pair: Pair, *, threshold: float, interests: Sequence[Interest]) -> str:
    """Why its answer is to be kept; "" when it is not."""
    if pair.mark:
        return HAND if pair.mark == KEEP else ""
    if pair.significance > threshold:
        return SIGNIFICANCE
    return INTEREST if any(interest.named_in(pair) for interest in interests) else ""
