"""A question made ready: the running dialogue as messages with weights, their content terms, the text to embed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import date
from typing import Any

from openclaw_neuralstream.lexicon import content_terms, is_stop, language_of, script_of, terms
from openclaw_neuralstream.model import Period, Query, Scope
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.ports import Vocabulary
from openclaw_neuralstream.questions import leans, pointed_at, question_hash
from openclaw_neuralstream.questions.leaning import words_said
from openclaw_neuralstream.recall.asked import (
    LONGEST,
    asks_when,
    happened,
    held_then,
    is_question,
    shape_of,
    subject_of,
)
from openclaw_neuralstream.recall.daywords import coming, heads_coming, only_days
from openclaw_neuralstream.recall.source import ASKS, NEAR, Said, Shape, Understood
from openclaw_neuralstream.when import mentions, period

FADE = 0.9
"""How much less each earlier message counts than the one after it."""

FAR = 0.5
"""How much less than that the messages count that a follow-up does not directly follow."""

LONGEST_MESSAGE = 4_000
"""Characters of a message that are read, from its end: pasted logs should not drown the question."""

_STANDS_ALONE = 3
"""Content terms with which a message needs no dialogue to say whom it is about."""

MOST_TERMS = 64
"""Content terms of a message that are searched for."""

_NAME = lazy(r"(?<=[\w,;:’'\"«(] )[A-ZА-ЯЁ][a-zа-яё][\w-]+")
_LABEL = lazy(r"^\s*([^\s:：]{2,24})[:：]\s", re.MULTILINE)
_CALENDAR = lazy(
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


def understand(
    query: Query,
    *,
    dialogue_turns: int,
    vocabulary: Vocabulary | None = None,
    coherence: Callable[[str, str], float] | None = None,
) -> Understood:
    """Split the question into messages, the last one first; `dialogue_turns` earlier ones are part of it.

    coherence: how much a message goes on with the dialogue before it, in [0, 1]: what the dialogue counts. None = it counts in full.

    A message of stop words keeps all its terms when nothing else was said at all, so that "who am I?" asks something.
    A follow-up ("and the second one?") goes on with the messages just before it, and with the item of a list it points at.
    vocabulary: whom and what the memory knows by name; without one no entities and tags are told.
    """
    shape = shape_of(query.text)
    earlier = _earlier(query, dialogue_turns)
    lean = bool(earlier) and leans(query.text) and words_said(query.text) <= ASKS
    days = _period(query, shape)
    then = days if days is not None and held_then(days.rest) else None
    only = None if then else _only(query, days)
    if only:
        lean, shape, earlier = False, Shape.SUMMARY if shape is Shape.SUMMARY else Shape.TIMELINE, []
    goes_on = _going_on(query.text, earlier, coherence) if earlier and not lean else 1.0
    said = _messages(query, earlier, then.rest if then else subject_of(query.text, shape), lean=lean, goes_on=goes_on)
    if only:
        said = (replace(said[0], terms=()),)
    elif days and not then and said and said[0].text == query.text and script_of(query.text) == "cjk":
        said = (replace(said[0], terms=_beside_days(query.text, query.now.date()) or said[0].terms), *said[1:])
    if then:  # the days and "what was true" are no words of an answer
        said = (
            replace(said[0], terms=tuple(t for t in said[0].terms if t not in happened()) or said[0].terms),
            *said[1:],
        )
    joined = "\n".join(message.text for message in reversed(said))
    near = "\n".join([query.text, *earlier[:NEAR]]) if lean else query.text
    return Understood(
        query=query,
        said=said,
        text=joined,
        script=script_of(query.text or joined),
        names=frozenset() if only else _meant(said, lean=lean),
        question=(asks := is_question(query.text)),
        shape=shape,
        period=days,
        entities=_known(vocabulary.entities_of, query, near) if vocabulary and not only else frozenset(),
        tags=vocabulary.tags_of(query.text, query.scope) if vocabulary and not only else frozenset(),
        question_hash=question_hash(query.text[-LONGEST:]) if asks else "",
        as_of=query.wanted.as_of if query.wanted and query.wanted.as_of else then,
        dated=asks_when(query.text),
        leans=lean,
        goes_on=goes_on if len(said) > 1 else 0.0,
        only=only,
        beside=frozenset(content_terms(days.rest)) if days else frozenset(),
    )


def told(understood: Understood) -> dict[str, Any]:
    """What was understood, for `explain`: plain values, what is empty left out."""
    days = understood.as_of or understood.only or understood.period
    found: dict[str, Any] = {
        "kind": "question" if understood.question else "statement",
        "shape": understood.shape.value,
        "language": language_of(understood.query.text),
        "terms": list(understood.said[0].terms) if understood.said else [],
        "names": sorted(understood.names),
        "entities": sorted(understood.entities),
        "tags": sorted(understood.tags),
        "days": f"{days.start or ''}/{days.end or ''}" if days else "",
        "only_days": understood.only is not None,
        "as_of": understood.as_of is not None,
        "follow_up": understood.leans,
        "messages": len(understood.said),
        "hash": understood.question_hash,
    }
    return {name: value for name, value in found.items() if value}


def _earlier(query: Query, dialogue_turns: int) -> list[str]:
    """What was said before, the nearest first."""
    earlier = query.dialogue[-dialogue_turns:] if dialogue_turns else ()
    if earlier and earlier[-1].strip() == query.text.strip():
        earlier = earlier[:-1]
    return [text for text in reversed(earlier) if text.strip()]


def _going_on(text: str, earlier: Sequence[str], coherence: Callable[[str, str], float] | None) -> float:
    """What the dialogue counts beside the message: all of it where the message has too few words to ask by itself."""
    if coherence is None or len(content_terms(text)) < ASKS:
        return 1.0
    return coherence(text, "\n".join(reversed(earlier)))


def _messages(query: Query, earlier: Sequence[str], subject: str, *, lean: bool, goes_on: float) -> tuple[Said, ...]:
    texts = [*([subject] if query.text.strip() else []), *(earlier if goes_on else [])]
    who = _labels(texts)
    said = [
        _said(text, (goes_on * FADE**back * (FAR if lean and back > NEAR else 1.0)) if back else 1.0, who)
        for back, text in enumerate(texts)
    ]
    if lean and (item := pointed_at(query.text, earlier[:NEAR])):
        said.insert(1, _said(item, 1.0))
    if said and not any(message.terms for message in said):
        return (Said(said[0].text, tuple(dict.fromkeys(terms(said[0].text)))[:MOST_TERMS], 1.0),)
    return tuple(said)


def _period(query: Query, shape: Shape) -> Period | None:
    """The days that the question names, or those to come where it asks for these, unless a person gave them beside it."""
    wanted, today = query.wanted, query.now.date()
    if wanted and (wanted.period or wanted.as_of):
        return None
    if (named := period(query.text, today)) is not None:
        return named
    ahead = coming(query.text, today)
    asked = ahead is not None and (shape is not Shape.PLAIN or (_asks_days(query.text) and only_days(ahead.rest)))
    return ahead if asked else None


def _only(query: Query, days: Period | None) -> Period | None:
    """The days, named in the question or given beside it, where it asks for nothing else."""
    wanted = query.wanted
    given = wanted.period if wanted and not wanted.as_of else None
    meant, rest = (given, query.text) if given else (days, days.rest if days else "")
    if meant is None or leans(query.text) or not only_days(rest):
        return None
    return meant if _asks_days(query.text) or shape_of(query.text) is not Shape.PLAIN else None


def _asks_days(text: str) -> bool:
    return is_question(text) or heads_coming(text)


def _known(entities_of: Callable[[str, Scope], frozenset[str]], query: Query, near: str) -> frozenset[str]:
    """Whom a question names; of a follow-up that names nobody, whom the messages before it named."""
    return entities_of(query.text, query.scope) or (
        entities_of(near, query.scope) if near != query.text else frozenset()
    )


def _meant(said: Sequence[Said], *, lean: bool) -> frozenset[str]:
    """Whom the question is about: whom it names; a short one that names nobody, whom the dialogue named."""
    own = names(map(_labelled, said[:1]))
    stands_alone = bool(said) and len(said[0].terms) >= _STANDS_ALONE and not lean
    if own or stands_alone:
        return own
    near = names(map(_labelled, said[: 1 + NEAR])) if lean else own
    return near or names(map(_labelled, said))


def _labels(texts: Sequence[str]) -> AbstractSet[str]:
    """Whose labels stand before the messages of a dialogue ("Anna: …"): those of at least two of them, and roles beside them.

    They say who speaks, not what of: they tell whom is meant, and are neither searched for nor embedded.
    """
    count = Counter(found.group(1) for text in texts if (found := _LABEL.match(text)))
    often = {label for label, messages in count.items() if messages > 1}
    return often | {label for label in count if label.casefold() in _ROLES} if often else often


def _labelled(message: Said) -> str:
    return f"{message.by}: {message.text}" if message.by else message.text


def names(texts: Iterable[str]) -> frozenset[str]:
    """Terms of what is called by name: capitalised inside a sentence, or the label of a line ("Anna: …"). Days are not."""
    found: set[str] = set()
    for text in map(_without_days, texts):
        labels = {label for label in _LABEL.findall(text) if label.casefold() not in _ROLES}
        for name in labels | {name for name in _NAME.findall(text) if not _CALENDAR.fullmatch(name)}:
            found.update(term for term in terms(name) if not is_stop(term) and len(term) > 1)
    return frozenset(found)


def _beside_days(text: str, today: date) -> tuple[str, ...]:
    """Terms of a Chinese question with its days set apart: "我周四见了谁" holds no "四见"."""
    found: list[str] = []
    start = 0
    for day in mentions(text, today):
        if all(len(term) == 1 for term in content_terms(text[day.start : day.end])):
            continue  # "这周": too little to stand by itself
        found += content_terms(text[start : day.start])
        found += content_terms(text[day.start : day.end])
        start = day.end
    return tuple(dict.fromkeys([*found, *content_terms(text[start:])]))[:MOST_TERMS]


def _without_days(text: str) -> str:
    short = text[-LONGEST_MESSAGE:]
    for day in reversed(mentions(short, _ANY_DAY)):
        short = f"{short[: day.start]}…{short[day.end :]}"
    return short


def _said(text: str, weight: float, who: AbstractSet[str] = frozenset()) -> Said:
    label = _LABEL.match(text) if who else None
    by = label.group(1) if label and label.group(1) in who else ""
    short = (text[label.end() :] if label and by else text)[-LONGEST_MESSAGE:]
    return Said(short, tuple(dict.fromkeys(content_terms(short)))[:MOST_TERMS], weight, by)
