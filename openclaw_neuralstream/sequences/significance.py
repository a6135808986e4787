"""How much an answer matters: 0.3 · uniqueness + 0.2 · user action + 0.25 · context density + 0.25 · emotional weight.

All four factors are in [0, 1], need no model, and read English, Chinese and Russian alike. Sources: uniqueness is one less
the greatest Jaccard similarity (Jaccard 1912; Broder 1997 for texts); context density starts from lexical density, the
share of content words (Ure 1971), and asks for specifics beside; emotional weight counts words of feeling and emphasis
with signs that strengthen them, as lexicon methods do (Hutto and Gilbert, VADER, 2014); what people act on, they keep
(user action) is a rule of our own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet

from openclaw_neuralstream.lexicon import content_terms, terms
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.questions import acts, points_back, thanks

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
