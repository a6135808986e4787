"""Records by the days that a question names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import Protocol

from openclaw_neuralstream.model import Kind, Period, Record, Scope
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.ports import PassageSearch
from openclaw_neuralstream.recall.source import DAY, TIME, Candidate, Found, Shape, Shelf, Understood, earlier_too
from openclaw_neuralstream.settings import Settings
from openclaw_neuralstream.text.questions import only_nods
from openclaw_neuralstream.text.when import mentions, tells_past

_LONGEST = 200
"""Characters of a question that may be about days alone; what is longer says more than that."""

_WORD = lazy(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d+")
_HAN = lazy("[\u3400-\u9fff]")

_EVENTS = """
happened happen happening happens occurred occur going went place new news do done doing work worked working talk talked
talking discuss discussed discussing discussion discussions speak spoke speaking spoken say said saying tell told mention
mentioned chat chatted chatting conversation conversations decide decided deciding decision decisions agree agreed agreement
agreements conclude concluded settle settled remember recall know summarise summarize summary recap overview rundown sum
events topics timeline plan plans planned planning scheduled schedule upcoming agenda
было были был была случилось случалось случился случилась произошло происходило произошли нового новое новости событие события
событий событиям делали делал делала делаем делаю сделали сделал сделала говорили говорил говорила обсуждали обсуждал обсуждала обсудили беседовали
разговаривали разговор разговоры разговоров шла шло речь темы тема решили решил решила решено решения решений договорились договорился
постановили работали работал работала занимались занимался занималась упоминали упоминал упоминала сказали сказал сказала рассказывал рассказывала
рассказывали рассказал рассказала помнишь помните знаешь подведи подведите итог итоги обобщи резюмируй подытожь сводка сводку обзор перечисли хронология
хронологию будет будут предстоит планы планируется запланировано намечено расписание ожидается произойдёт произойдет случится
"""
"""Words that ask what there was in some days."""

_BESIDE = """
what whats what's will there's am
which who's everything anything something all any thing things stuff else important notable interesting main topic
did does have has had was were is are been be on up took take takes we i you us me my our ours ourselves together the a an of to about
with for from in at during over and or so ok okay hey hi well please can could would remind show list give make write get short brief quick
full again ever actually exactly there then back that it's subject subjects matter matters event catch already between much
что чего чём чем о об про какие какое какая какой каких мы я ты вы нами мной мною нам мне меня нас у со с и а ну так же там ли всё все весь
вообще ещё еще уже важного важное интересного интересное главное дел дела делах дай сделай составь напиши напомни покажи расскажи скажи пожалуйста
кратко краткий краткую коротко короткий в во на за это нашем наших наши мои моих меня есть
"""
"""Words that may stand beside them and ask for nothing."""

_EVENTS_ZH = lazy(
    "发生|發生|聊|谈|談|讨论|討論|说|說|讲|講|提到|提过|提及|决定|決定|商量|商定|定下|定了|做|干|幹|忙|新鲜事|新事|新闻|总结|總結|概括|归纳|回顾|盘点|梳理|记得|記得|话题|話題|安排|計劃|计划|日程|打算|事"
)
_BESIDE_ZH = lazy(
    "我们|我們|咱们|你们|大家|我|你|您|咱|都|有没有|有|又|还|還|吗|嗎|呢|吧|啊|呀|的|了|过|過|什么|什麼|甚么|啥|些|哪|几|件|个|個|情况|情|请|請|告诉|列出|帮|给|一下|下|在|和|跟|与|之间|关于"
    "|所有|全部|一切|重要|主要|有趣|是|那|时候|里|期间|内容|出|新|情|一|可以|能|到|最|起|来着|呗|会|要|将"
)

_HAVE = lazy(
    r"(?:(?:а )?что (?:там )?(?:ещё |еще )?(?:у (?:меня|нас)(?: есть)?)?"
    r"|(?:so )?what(?:['’]?s| is| do (?:i|we) have| have (?:i|we) got)(?: there)?(?: on)?(?: for (?:me|us))?"
    r"|(?:is there |do (?:i|we) have )?(?:anything|something)(?: on)?(?: for (?:me|us))?"
    r"|(?:我们?|咱们?)?(?:都|还)?有(?:什么|啥)事?(?:吗|呢)?|有事吗?)[\s?!.]*"
)
"""All that "Что у меня в пятницу?" or "what's next week?" says beside the day."""

_PLANNED = """
plan plans planned planning scheduled schedule upcoming agenda планы планируется запланировано намечено расписание do
"""
"""Words that ask for plans, and a verb that stands with them."""
_PLANS_ZH = lazy("安排|計劃|计划|日程|打算")
_OF_PLANS = lazy(r"plan|schedul|agenda|план|намечен|расписан|[安计計日打][排划劃程算]", re.IGNORECASE)
_OURS = lazy(r"\b(?:i|we|my|our)\b|(?<!\w)(?:меня|нас|мои|моих|наши|наших)(?!\w)|[我咱]", re.IGNORECASE)
"""Whose plans those are that are asked for without a day."""

_PARTICIPLES = lazy(r"\b(?:planned|scheduled|got)\b|(?<!\w)(?:запланирован|намечен)\w*")
_ASKING, _NOTHING = frozenset(_EVENTS.split()), frozenset(_BESIDE.split())
_KNOWN = _ASKING | _NOTHING
_PLANS = frozenset(_PLANNED.split())

_DECIDED = lazy(
    r"\b(?:decid\w*|decision\w*|agree\w*|conclud\w*|settled?)\b|(?<!\w)(?:реш(?:ил\w*|ено|ени\w*)|договорил\w*|постановил\w*)(?!\w)"
    "|决定|決定|商定|定下|定了",
    re.IGNORECASE,
)


_HAPPENED = lazy(
    r"\b(?:happen\w*|occurr\w*|took place|new|news|events?|did|do|done|doing|going on)\b"
    r"|(?<!\w)(?:был[оаи]?|случил\w*|произошл\w*|происходил\w*|нового|новости|событи\w+|делал\w?|сделал\w?)(?!\w)"
    "|发生|發生|做|干|忙|新鲜事|新事|新闻",
    re.IGNORECASE,
)
_DAYWORDS_SAID = lazy(
    r"\b(?:talk\w*|discuss\w*|sp[eo]ak\w*|spoke|sa(?:y|id)|t[eo]ld?|mention\w*|chat\w*|conversation\w*|decid\w*|decision\w*|agree\w*|plan\w*|remember|recall"
    r"|summar\w+|recap|overview|rundown|topics?)\b"
    r"|(?<!\w)(?:(?:по|раз)?говорил\w*|разгов\w+|обсуд\w+|обсужд\w+|беседовал\w*|реч[ьи]|тем[аы]|реш\w+|договорил\w*|сказал\w*|рассказывал\w*|рассказал\w*"
    r"|упоминал\w*|план\w+|итог\w*|сводк\w+|обзор)(?!\w)"
    "|聊|谈|談|讨论|討論|说|說|讲|講|提到|提过|提及|决定|決定|商量|商定|定下|话题|話題|总结|總結|概括|回顾|计划|安排",
    re.IGNORECASE,
)

_COMING = lazy(
    r"\b(?:up)?coming up\b|\b(?:up)?coming (?=\w)|\b(?:lies|is|are|'s) ahead\b(?: of (?:me|us))?"
    r"|(?<!\w)(?:предстоящ\w+|предстоит|предстоят)(?!\w)|(?<!\w)(?:что|какие) (?:там )?впереди(?!\w)"
    "|(?:接下来|往后|即将(?:到来)?|后面)(?=的?(?:日程|安排|计划|活动|行程|事件|有(?:什么|哪些)(?:日程|安排|计划|活动|行程)))",
    re.IGNORECASE,
)
"""What is to come."""

_IN_ORDER = lazy(
    r"\b(?:put|sort|arrange|list|give|tell|in(?:to)?|by|the|their|its|order|chronological|dates?|days?|first|next|earliest|comes?)\b"
    r"|(?<!\w)(?:располож\w+|упорядоч\w+|перечисл\w+|расстав\w+|по|порядк\w+|датам|дат|хронологи\w+|раньше|позже|потом|сначала)(?!\w)"
    "|按|照|排|先后|顺序|时间|日期|先|后",
    re.IGNORECASE,
)
"""What asks for their order."""


def only_days(rest: str) -> bool:
    """Whether these words, of a question without those that name its days, ask what there was and nothing else.

    Every word must be known: one that is not is something that is asked for ("What did Mia eat?").
    """
    plain = unicodedata.normalize("NFKC", rest).casefold().strip()
    if len(plain) > _LONGEST:
        return False
    if _HAVE.fullmatch(plain):
        return True
    if _HAN.search(plain):
        events = _EVENTS_ZH.sub("", plain)
        return events != plain and not re.search(r"\w", _BESIDE_ZH.sub("", events))
    words = _WORD.findall(plain)
    return any(word in _ASKING for word in words) and all(word in _KNOWN for word in words)


def asks_happenings(text: str) -> bool:
    """Whether it is asked what happened, and not (also) what was said, decided or planned."""
    return bool(_HAPPENED.search(text[-_LONGEST:])) and not _DAYWORDS_SAID.search(text[-_LONGEST:])


def coming(text: str, today: date) -> Period | None:
    """The days after today for a question of what is to come ("our coming shows", "接下来的日程"); None for any other question.

    `rest` is without the words that ask for an order where nothing else is asked: `only_days` of it is true then.
    """
    rest = _COMING.sub(" ", text) if len(text) <= _LONGEST else text
    if rest == text:
        return Period(today + timedelta(1), None, text) if _only_plans(text) else None
    asked = f"{'计划' if _HAN.search(rest) else 'plans'} {_IN_ORDER.sub(' ', rest)}"
    return Period(today + timedelta(1), None, asked if only_days(asked) else rest)


def heads_coming(text: str) -> bool:
    """Whether a message begins with what is to come, as a heading does: "upcoming events" asks without a question mark."""
    return _COMING.match(text.strip()) is not None


def _only_plans(text: str) -> bool:
    """Whether it asks for the speaker's plans, of no day and for nothing beside them: "what are my plans?"."""
    if len(text) > _LONGEST or not _OF_PLANS.search(text) or not _OURS.search(text):
        return False
    plain = unicodedata.normalize("NFKC", text).casefold()
    if _HAN.search(plain):
        beside = _PLANS_ZH.sub("", plain)
        asked = beside != plain and not re.search(r"\w", _BESIDE_ZH.sub("", beside))
    else:
        words = set(_WORD.findall(plain))
        asked = not words.isdisjoint(_PLANS - {"do"}) and words <= _PLANS | _NOTHING
    return asked and not tells_past(_PARTICIPLES.sub(" ", plain))


def asks_decisions(text: str) -> bool:
    """Whether it is asked what was decided."""
    return bool(_DECIDED.search(text[-_LONGEST:]))


_LEAST, _SAID = 0.4, 0.3
"""What is of the days at all, and how much a verbatim turn adds to that at most; a gem adds up to 0.6 by its importance."""

_FADE = 0.85
"""How much less each further gem of one day (or month) counts than the one before it: days are to be heard in turn."""

_LAST = 0.1
"""What the part of a time that is heard last loses, of a turn; of gems, that have their importance, a fifth of it."""

_PARTS, _EACH = 40, 8
"""Parts of the time from which turns are taken, and how many are looked at in each."""

_LONG = 40
"""Terms of a turn that says much."""

_BARE = 20
"""Terms up to which a turn may say nothing: what has more is not even read for that."""


class OfDay(Protocol):
    """A gem of the days, the part of them that it was found in, and its place there."""

    @property
    def gem_id(self) -> str: ...  # noqa: D102
    @property
    def unit(self) -> str: ...  # noqa: D102
    @property
    def place(self) -> int: ...  # noqa: D102
    @property
    def importance(self) -> float: ...  # noqa: D102
    @property
    def kind(self) -> str: ...  # noqa: D102


class Calendar(Protocol):
    """What the truth knows of days."""

    def gems_of_days(
        self, scope: Scope, first: date | None, last: date | None, *, limit: int, superseded: bool = False
    ) -> Sequence[OfDay]:
        """The most important gems of each day or month of a period."""


class DaySource:
    """Gems of the days that a question is about, where it asks for nothing else."""

    name = "days"
    kind = "gems"

    def __init__(self, calendar: Calendar, shelf: Shelf) -> None:
        self._calendar = calendar
        self._shelf = shelf

    def find(self, understood: Understood, limit: int) -> list[Candidate]:
        """At most `limit` gems, best first, with the signal "day"; [] for a question that asks for more than its days."""
        days = understood.only
        if days is None:
            return []
        found = self._calendar.gems_of_days(
            understood.query.scope, days.start, days.end, limit=limit, superseded=earlier_too(understood)
        )
        decisions = asks_decisions(understood.query.text)
        units = sorted({one.unit for one in found})
        late = dict(zip(units, _in_turn(len(units)), strict=True))
        scores = {
            one.gem_id: _LEAST + (1 - _LEAST) * _worth(one, decisions=decisions) - 0.2 * _LAST * late[one.unit]
            for one in found
        }
        best = sorted(scores, key=lambda gem_id: (-scores[gem_id], gem_id))[:limit]
        return [Candidate(gem_id, self._shelf, DAY, scores[gem_id]) for gem_id in best]


class TurnDaySource:
    """Verbatim turns of those days: from every part of them what says most."""

    name = "turns-of-days"
    kind = "turns"

    def __init__(self, passages: PassageSearch, shelf: Shelf) -> None:
        self._passages = passages
        self._shelf = shelf

    def find(self, understood: Understood, limit: int) -> list[Candidate]:
        """At most `limit` passages, best first, with the signal "day"."""
        days = understood.only
        if days is None:
            return []
        parts = self._passages.said_between(
            _midnight(days.start),
            _midnight(days.end + timedelta(1)) if days.end and days.end < date.max else None,
            understood.query.scope,
            parts=min(limit, _PARTS),
            each=_EACH,
        )
        bare = self._bare([id_ for part in parts for id_, length in part if length <= _BARE], understood.query.scope)
        parts = [told for part in parts if (told := [one for one in part if one[0] not in bare])]
        scores: dict[str, float] = {}
        for part, late in zip(parts, _in_turn(len(parts)), strict=True):
            longest = sorted(part, key=lambda one: (-one[1], one[0]))
            scores |= {id_: _said(length, place) - _LAST * late for place, (id_, length) in enumerate(longest)}
        best = sorted(scores, key=lambda id_: (-scores[id_], id_))[:limit]
        return [Candidate(id_, self._shelf, DAY, scores[id_]) for id_ in best]

    def _bare(self, ids: Sequence[str], scope: Scope) -> set[str]:
        """Those that only thank, greet or say that they heard: nothing happened."""
        return {passage.id for passage in self._passages.passages(ids, scope) if only_nods(passage.text)}


def note_score(place: int) -> float:
    """The signal of a note or fact of the days, by its place among them, the newest first."""
    return _LEAST + (1 - _LEAST) * 0.6 * _FADE**place


def _in_turn(parts: int) -> list[float]:
    """How late each part of a time has its turn, in [0, 1): however few are heard, they are far from each other.

    The van der Corput sequence: the first, the middle, the quarters, the eighths …
    """
    bits = max(parts - 1, 1).bit_length()
    order = sorted(range(parts), key=lambda at: int(f"{at:0{bits}b}"[::-1], 2))
    late = {at: place / parts for place, at in enumerate(order)}
    return [late[at] for at in range(parts)]


def _worth(one: OfDay, *, decisions: bool) -> float:
    worth = one.importance * _FADE**one.place
    return worth if not decisions else 0.5 * worth + (0.5 if one.kind == Kind.DECISION else 0.0)


def _said(length: int, place: int) -> float:
    return _LEAST + _SAID * min(length / _LONG, 1.0) * _FADE**place


def _midnight(day: date | None) -> datetime | None:
    return datetime.combine(day, time(), UTC) if day else None


HELD = 0.5
"""What it counts that something held all through the days asked for, beside what happened in them (1)."""

_LOOKED_AT = 600
"""Characters of a record in which days are looked for: what happened when stands at its beginning."""

Days = tuple[date | None, date | None]


def time_signals(
    candidates: Sequence[Candidate], found: Mapping[str, Found], understood: Understood
) -> list[Candidate]:
    """How well each record's days meet those of the question; [] for a question that names none.

    Records of a shelf that knows their days are left alone: notes and facts, whose source knows the days of each line.
    """
    asked = understood.only or understood.period
    if asked is None:
        return []
    shelves = {candidate.id: candidate.shelf for candidate in candidates if not candidate.shelf.knows_days}
    happenings = understood.only is not None and asks_happenings(understood.query.text)
    told = {id_: meeting(found[id_], asked, happenings=happenings) for id_ in shelves}
    return [Candidate(id_, shelves[id_], TIME, told[id_]) for id_ in shelves if told[id_]]


def meeting(found: Found, asked: Period, *, happenings: bool = False) -> float:
    """1 for what was said or happened in the days asked for, `HELD` for what held all through them, else 0.

    happenings: it is asked what happened, not what was said: what was only said then, of other days, is worth `HELD`;
    what was done then about later ones ("booked a flight for 12 March") happened.
    """
    record = found.record
    day = record.at.date()
    if asked.meets(day, day):
        return HELD if happenings and _elsewhere(record.text[:_LOOKED_AT], day, asked) else 1.0
    first, last = found.held
    if last is not None and first is not None and first != last and asked.meets(first, last):
        return 1.0  # it came to an end: these days are among those in which it held
    named = named_days(record.text[:_LOOKED_AT], day)
    if named is not None:
        return 1.0 if asked.meets(*named) else 0.0
    began_before = first is not None and asked.end is not None and first <= asked.end
    return HELD if began_before and last is None and not found.verbatim else 0.0


def tells_of_others(record: Record, asked: Period) -> bool:
    """Whether it was said in the days asked for, and all that it tells lies in others."""
    day = record.at.date()
    return asked.meets(day, day) and _elsewhere(record.text[:_LOOKED_AT], day, asked)


def _elsewhere(text: str, day: date, asked: Period) -> bool:
    """Whether all that a text tells lies in other days than those."""
    named = named_days(text, day)
    if (
        named is None
        or asked.meets(*named)
        or any(asked.meets(one.first, one.last) for one in mentions(text, day, past=False))
    ):
        return False
    return named[0] <= day or not tells_past(text)


def happened(found: Found) -> tuple[date, date]:
    """The day on which it happened, or the first and last: the one it names, else the one it was said on."""
    record = found.record
    start, _, end = record.when.partition("/")
    if start:
        return date.fromisoformat(start), date.fromisoformat(end or start)
    day = record.at.date()
    return named_days(record.text[:_LOOKED_AT], day) or (day, day)


def in_order(records: Iterable[Record], found: Mapping[str, Found]) -> list[Record]:
    """The records as they happened, earliest first, each with its day; those of one day as they were said."""
    told = [(happened(found[record.id]), record) for record in records]
    told.sort(key=lambda item: (item[0], item[1].at.timestamp(), item[1].id))
    return [replace(record, when=_when(days, record)) for days, record in told]


def _when(days: tuple[date, date], record: Record) -> str:
    first, last = days
    if first != last:
        return f"{first}/{last}"
    return record.when or ("" if first == record.at.date() else str(first))


@lru_cache(maxsize=4_096)
def named_days(text: str, said_on: date) -> tuple[date, date] | None:
    """The first day or range that a text names by date, for a text said on that day; None when it names none."""
    for mention in mentions(text, said_on, past=False):
        return mention.first, mention.last
    return None


_BREADTH = 30
"""Most records for a summary or an order of events, within the same tokens."""

_SHORT = 160
"""Characters of a text that is short enough to stand in full beside many others."""


def most(understood: Understood, settings: Settings) -> int:
    """How many records at most: what the question itself says, else the settings; more for an order or a summary."""
    given = understood.query.limit
    if given or understood.shape is Shape.PLAIN:
        return given or settings.max_gems_injected
    return max(settings.max_gems_injected, _BREADTH)


def shortened(records: Sequence[Record], understood: Understood) -> list[Record]:
    """For an order or a summary the summaries of long texts, so that many have room."""
    if understood.shape is Shape.PLAIN:
        return list(records)
    return [_short(record) for record in records]


def arranged(records: Sequence[Record], found: Mapping[str, Found], understood: Understood) -> list[Record]:
    """For an order of events, and for what there was in some days, the records as they happened, each with its day."""
    ordered = understood.shape is Shape.TIMELINE or understood.only
    return in_order(records, found) if ordered else list(records)


def _short(record: Record) -> Record:
    brief = record.summary.strip()
    return (
        replace(record, text=brief) if brief and len(record.text) > _SHORT and len(brief) < len(record.text) else record
    )
