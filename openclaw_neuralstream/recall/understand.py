"""A question made ready: the running dialogue as messages with weights, their content terms, the text to embed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date

from openclaw_neuralstream.lexicon import content_terms, is_stop, script_of, terms
from openclaw_neuralstream.model import Query
from openclaw_neuralstream.recall.source import Said, Understood
from openclaw_neuralstream.when import mentions

FADE = 0.9
"""How much less each earlier message counts than the one after it."""

LONGEST_MESSAGE = 4_000
"""Characters of a message that are read, from its end: pasted logs should not drown the question."""

_STANDS_ALONE = 3
"""Content terms with which a message needs no dialogue to say whom it is about."""

MOST_TERMS = 64
"""Content terms of a message that are searched for."""

_NAME = re.compile(r"(?<=[\w,;:’'\"«(] )[A-ZА-ЯЁ][a-zа-яё][\w-]+")
_LABEL = re.compile(r"^\s*([^\s:：]{2,24})[:：]\s", re.MULTILINE)
_CALENDAR = re.compile(
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|july|september|october|november|december"
    r"|понедельник\w{0,3}|вторник\w{0,3}|сред[аыуе]|четверг\w{0,3}|пятниц\w{1,3}|суббот\w{1,3}|воскресень\w{1,2}"
    r"|январ\w{1,2}|феврал\w{1,2}|март\w{0,2}|апрел\w{1,2}|ма[йяею]|июн\w{1,2}|июл\w{1,2}|август\w{0,2}|(?:сент|окт|но|дек)[ая]?бр\w{1,2}",
    re.IGNORECASE,
)
"""Months and weekdays that are nobody's name; "April" and "June" are told from people by what stands around them."""
_ANY_DAY = date(2024, 2, 1)  # where days are named does not depend on the day of asking
_ROLES = frozenset(
    ["user", "assistant", "system", "tool", "human", "ai", "agent", "пользователь", "ассистент", "用户", "助手"]
)


def understand(query: Query, *, dialogue_turns: int) -> Understood:
    """Split the question into messages, the last one first; `dialogue_turns` earlier ones are part of it.

    A message of stop words keeps all its terms when nothing else was said at all, so that "who am I?" asks something.
    """
    earlier = query.dialogue[-dialogue_turns:] if dialogue_turns else ()
    if earlier and earlier[-1].strip() == query.text.strip():
        earlier = earlier[:-1]
    texts = [text for text in (query.text, *reversed(earlier)) if text.strip()]
    said = tuple(_said(text, FADE**back) for back, text in enumerate(texts))
    if said and not any(message.terms for message in said):
        said = (Said(said[0].text, tuple(dict.fromkeys(terms(said[0].text)))[:MOST_TERMS], 1.0),)
    joined = "\n".join(message.text for message in reversed(said))
    return Understood(query=query, said=said, text=joined, script=script_of(query.text or joined), names=_meant(said))


def _meant(said: Sequence[Said]) -> frozenset[str]:
    """Whom the question is about: whom it names; a short one that names nobody, whom the dialogue named."""
    own = names(message.text for message in said[:1])
    stands_alone = bool(said) and len(said[0].terms) >= _STANDS_ALONE
    return own if own or stands_alone else names(message.text for message in said)


def names(texts: Iterable[str]) -> frozenset[str]:
    """Terms of what is called by name: capitalised inside a sentence, or the label of a line ("Anna: …"). Days are not."""
    found: set[str] = set()
    for text in map(_without_days, texts):
        labels = {label for label in _LABEL.findall(text) if label.casefold() not in _ROLES}
        for name in labels | {name for name in _NAME.findall(text) if not _CALENDAR.fullmatch(name)}:
            found.update(term for term in terms(name) if not is_stop(term) and len(term) > 1)
    return frozenset(found)


def _without_days(text: str) -> str:
    short = text[-LONGEST_MESSAGE:]
    for day in reversed(mentions(short, _ANY_DAY)):
        short = f"{short[: day.start]}…{short[day.end :]}"
    return short


def _said(text: str, weight: float) -> Said:
    short = text[-LONGEST_MESSAGE:]
    return Said(short, tuple(dict.fromkeys(content_terms(short)))[:MOST_TERMS], weight)
