"""Whether a question asks for nothing beside its days: "What happened in March?", "Что было в мае?", "上周聊了什么？"."""

from __future__ import annotations

import re
import unicodedata
from datetime import date, timedelta

from openclaw_neuralstream.model import Period
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.when import tells_past

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
_SAID = lazy(
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
    return bool(_HAPPENED.search(text[-_LONGEST:])) and not _SAID.search(text[-_LONGEST:])


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
