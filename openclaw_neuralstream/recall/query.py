"""What a message asks: its words, its names, what it leans on."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import date
from functools import cache
from typing import Any, Protocol

from openclaw_neuralstream.errors import NeuralStreamError
from openclaw_neuralstream.model import Gem, Period, Query, Record, Scope
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.ports import NoteSearch, TokenCounter, Vocabulary
from openclaw_neuralstream.recall.days import coming, heads_coming, only_days
from openclaw_neuralstream.recall.gems import LOOKED_AT, Carried, Exact, record_of
from openclaw_neuralstream.recall.source import (
    ASKS,
    ENTITY,
    NEAR,
    Candidate,
    Said,
    Shape,
    Source,
    Understood,
    earlier_too,
)
from openclaw_neuralstream.text.lexicon import content_terms, is_stop, language_of, script_of, terms
from openclaw_neuralstream.text.questions import leans, pointed_at, question_hash
from openclaw_neuralstream.text.questions.leaning import words_said
from openclaw_neuralstream.text.when import mentions, period

LONGEST = 2_000
"""Characters that are read, from the end: what a message wants of us stands there, or it is short."""


def _p(*alternatives: str) -> re.Pattern[str]:
    return lazy("|".join(alternatives), re.IGNORECASE)


_MARK = lazy(r"[?？]\s*[\"'”’»)）]*\s*(?:$|\n)")
_ASKS = _p(
    r"^\W*(?:and |so |but |then |ok,? |hey,? |by the way,? )*(?:who|whom|whose|what|which|when|where|why|how|do|does|did|is|are|was|were"
    r"|am|can|could|will|would|should|has|have|had|may|remind me|tell me|show me|list|recall|do you)(?:'s|’s|'d)?\b",
    r"^\W*(?:а |и |но |так |ну |кстати,? )*(?:кто|кого|кому|кем|чей|чья|чьё|чье|что|чего|чему|чем|какой|какая|какое|какие|каких|какую|каком"
    r"|который|которая|когда|где|куда|откуда|почему|зачем|как|сколько|напомни|расскажи|скажи|покажи|перечисли|подскажи)(?!\w)",
    r"(?<!\w)(?:\w+) ли(?!\w)",
    r"(?:吗|呢|么)[\s。！!.]*$|什么|甚么|怎么|怎样|如何|为什么|为何|谁|哪[个里儿些年天位家种次一]|哪(?=[^怕])|多少|几[个点号时天年月岁次]|是不是|有没有|能不能"
    r"|告诉我|提醒我|还记得|列出",
)

_GIVEN = _p(
    r"\b(?:th(?:is|ese|e (?:following|above|attached|linked))|following|below|above|attached|article|paper|pdf|file|document|page|text|email"
    r"|paragraph|thread|link|code|diff|commit|https?)\b",
    r"(?<!\w)(?:эт(?:от|у|о|и|ой|ого|их)|следующ\w+|ниже|выше|прикреплённ\w+|прикрепленн\w+|стать\w+|текст\w*|документ\w*|файл\w*|письмо|ссылк\w+)(?!\w)",
    r"https?:|下面|以下|上面|这[段篇个份封些]|附件|文章|文件|文档|链接|邮件|论文|代码",
)
"""What is to be summarised is given with the request: memory is not meant."""

_NOT_GIVEN = _p(
    r"\bfor (?:an?|my|our) [^.?!,;]{1,30}",
    r"(?<!\w)для [^.?!,;]{1,30}",
    r"(?:我|我们|咱们)的?(?:[^。？?！，,]{0,4})(?:论文|文章|代码|文档)",
)
"""What a summary is for, and what somebody is writing: "for a press text", "我的论文"."""

_ORDER = _p(
    r"\b(?:in (?:what|which) (?:order|sequence)|(?:chronological|time) order|order of (?:the )?events|sequence of (?:the )?events|chronolog\w+"
    r"|time ?lines?|in(?:to)? (?:the |their )?order (?:that|in which|of (?:their |the )?(?:dates?|days?|time|events?|appearance))|from (?:the )?(?:first|earliest|oldest) to (?:the )?(?:last|latest|newest)|(?:sorted|ordered|listed?|arranged?) by (?:date|time))\b",
    r"(?<!\w)(?:в как(?:ом|ой) (?:порядке|последовательности|очер[её]дности)|хронологи\w+|по порядку|порядок событий|последовательность событий"
    r"|лент[ау] (?:событий|времени)|по датам|что за чем|(?:ход|порядок) (?:событий|дел[а]?|проекта|работ))(?!\w)",
    r"什么(?:样的)?(?:顺序|次序|先后)|(?:顺序|次序|先后)(?:是|如何|怎)|时间(?:线|顺序|轴)|按(?:照)?(?:时间|日期|先后)|来龙去脉|先后顺序|事情的经过",
)
"""An order is named: asked for or told to give, it is wanted."""

_FIRST = _p(
    # English
    r"\bwhat (?:happened|came|was|did \w+ \w+) (?:first|earliest)\b",
    r"\bwhat happened (?:next|then|after that|afterwards)\b",
    r"\b(?:which|what|who)\b[^.?!]{0,80}\b(?:first|earlier|earliest)\b(?=\s*(?:[,:;—–?]|$|of (?:these|those|them|the)))",
    r"\b(?:before or after|earlier or later|sooner or later than)\b",
    r"\b(?:did|was|were|had)\b[^.?!]{0,60}\bfirst\b[^.?!]{0,60}[,:] ?[^.?!]{1,60}\bor\b",
    r"\bfirst\b[^.?!]{1,80}\band (?:then|after(?:wards)?)\b[^.?!]{0,60}\?",
    r"\bhow (?:did|has|have)\b[^.?!]{1,80}\b(?:evolved?|unfold(?:ed)?|progress(?:ed)?|develop(?:ed)?|come about|come to be|changed? over (?:time|the (?:years|months|weeks)))\b",
    # Russian
    r"(?<!\w)что (?:было|случилось|произошло|я делал\w?|мы делали|шло|наступило) (?:сначала|раньше|первым|вначале|потом|дальше|затем|после этого)(?!\w)",
    r"(?<!\w)(?:что|кто|котор\w+|как\w+)(?!\w)[^.?!]{0,50}(?<!\w)(?:раньше|сначала|первым|первой)(?!\w)[^.?!]{0,80}(?:или|,|—|:)[^.?!]{1,60}\?",
    r"(?<!\w)что (?:было |будет |идёт |идет )?(?:раньше|сначала|сперва)(?:,| и| а) (?:а )?что (?:было |будет |идёт |идет )?(?:позже|потом|затем|дальше)(?!\w)",
    r"(?<!\w)(?:до или после|раньше или позже|сначала или потом)(?!\w)",
    r"(?<!\w)сначала(?!\w)[^.?!]{1,80}(?<!\w)(?:потом|затем|после|или)(?!\w)[^.?!]{0,60}\?",
    r"(?<!\w)как (?:развивал\w+|менял\w+|шл[аио] дело|продвигал\w+)(?!\w)",
    # Chinese
    r"哪(?:个|件|件事|一个|一件)[^。？?！]{0,20}(?:先(?!生|进)|最早|在前)|(?:谁|什么)先(?!生|进)[^。？?！，,]{0,20}[？?]|最先(?:发生|做|去)|最早(?:发生|做)",
    r"先(?!生|进|天|锋|驱|例)(?:[^。？?！，]{1,25}(?:还是先|再|然后|接着|后(?!来|面|台|端|悔))|[^。？?！]{1,25}，(?:然后|接着|再|后来))[^。？?！]{0,40}(?:[？?]|吗|呢)",
    r"(?:之前|以前|前)还是(?:之后|以后|后)|后来(?:又)?(?:发生了什么|怎么样)",
)
"""What came first is asked: only in a question."""

_SUMMARY = _p(
    # English
    r"\b(?:summari[sz]e|sum up|recap(?:itulate)?)\b",
    r"\b(?:give|write|make|get|need|want|have)\b[^.?!]{0,20}\b(?:(?:short|brief|quick|full|complete|high-level) )?(?:summary|overview|recap|run-?down)\b",
    r"^\W*(?:(?:a|an|the|short|brief|quick|full) )*(?:summary|overview|recap) of\b",
    r"\bwhat (?:all )?(?:do|did) (?:you|we) (?:already )?(?:know|remember|have)\b(?: so far)?[^.?!]{0,8}\b(?:about|on|of|regarding)\b",
    r"\b(?:everything|all(?: that)?|(?:tell|show|give|remind) me what) (?:that )?(?:you|we|i)(?:'ve|’ve| have| already| ever)* (?:know|remember|said|told|learn(?:ed|t)|discussed|talked|wrote)\b"
    r"[^.?!]{0,20}\b(?:about|on|of|regarding)\b",
    r"\b(?:everything|all(?: that)?|what) (?:i|we|you|one|they|people|somebody) (?:needs?|ha(?:ve|s)|ought) to know\b[^.?!]{0,20}\b(?:about|of|on)\b",
    r"\blist (?:me )?(?:all|every(?:one|body|thing)?)\b(?! (?:files?|commands?|options?|branches|processes)\b)",
    r"\b(?:catch me up|bring me up to (?:speed|date)|fill me in on)\b",
    # Russian
    r"(?<!\w)(?:подвед[иё]\w*(?: \w+){0,2} итог\w*|обобщи\w*|резюмируй\w*|суммируй\w*|подытожь\w*|подытожи\w*)(?!\w)",
    r"(?<!\w)(?:дай|сделай|составь|напиши|нужн\w+|хочу)(?: \w+){0,3} (?:сводк\w+|обзор|резюме|выжимк\w+|краткое содержание)(?!\w)",
    r"(?<!\w)что (?:ты|вы|мы) (?:уже |ещё |еще |вообще )?(?:знае\w+|помни\w+) (?:об?|обо|про|насч[её]т)(?!\w)",
    r"(?<!\w)вс[её],? ?(?:что )?(?:ты |мы |я )?(?:знае\w+|помни\w+|говорил\w*|обсуждал\w*|рассказывал\w*)(?: тебе)? (?:об?|обо|про|насч[её]т)(?!\w)",
    r"(?<!\w)вс[её],? ?что (?:нужно|надо|важно|стоит|следует) знать(?: \w+)? (?:об?|обо|про|насч[её]т)(?!\w)",
    r"(?<!\w)(?:расскажи|опиши|изложи)\w* (?:мне )?(?:вкратце|кратко|коротко|в общих чертах|в двух словах)(?!\w)|(?<!\w)перечисли\w* (?:мне )?(?:вс[её]|всех)(?!\w)",
    r"(?<!\w)(?:введи|введите) (?:меня )?в курс(?!\w)",
    # Chinese
    r"(?:^|[，,。；;：:\s]|请|帮我|帮忙|给我|你|再|来|做个|做一个|能否|能不能|可以|想)(?:简单|简要|大致)?(?:地)?(?:总结|概括|归纳|汇总|概述|梳理|盘点)(?!会|报告|大会|书|里|中|性)",
    r"把[^。？?！]{1,30}(?:总结|概括|归纳|汇总|概述|梳理|盘点)|列出(?:所有|全部|一切)(?!文件|命令|选项|进程)|需要(?:知道|了解)的(?:所有|全部|一切)",
    r"你(?:都|还|现在|目前)*(?:知道|了解|记得)(?:关于|有关)?[^。？?！]{0,20}(?:些什么|哪些|多少|什么)|(?:关于|有关)[^。？?！]{1,20}你(?:都|还)*(?:知道|了解|记得)",
    r"(?:关于|有关)[^。？?！]{1,20}的?(?:所有|全部|一切)(?:信息|事情|内容|情况|事)?|(?:概况|总体情况|整体情况)(?:是|如何|怎)",
)

_TRUE_THEN = _p(
    r"\b(?:was|were) (?:it )?(?:true|the case|valid)\b|\bheld\b",
    r"было (?:верно|правдой|так)|действовало",
    r"是真的|有效|情况如何|是什么情况",
)
_WHEN = _p(
    r"\b(?:when|how long (?:ago|have|has|since|did|was|were)|how many (?:days|weeks|months|years)|(?:what|which) (?:day|date|month|year|week)|since when)\b",
    r"(?<!\w)(?:когда|как давно|сколько (?:времени|дней|недель|месяцев|лет)|с как(?:ого|их) \w+|в как(?:ой|ом) (?:день|месяце|году)|какого числа)(?!\w)",
    r"什么时候|何时|多久|几[号月天年]|哪[天年月]|哪一[天年月]|多少[天周年]|多少个(?:星期|月)",
)

_FRAME = _p(
    r"\b(?:(?:please|can you|could you) ){0,3}(?:(?:give|write|make|show|list|tell|get) (?:me|us)?\s*)?(?:(?:a|an|the|short|brief|quick|full|complete) ){0,6}"
    r"(?:summari[sz]e|sum up|recap(?:itulate)?|summary|overview|run-?down|time ?line|chronolog\w+)\b(?: (?:of|on|about|for))?(?: (?:all|everything))?",
    r"\b(?:what|everything|all)?(?: that| all)? ?(?:do |did )?(?:you|we|i)(?:'ve|’ve| have| already)* (?:know|remember|told you|said)(?: so far)?(?: (?:about|on|of))?",
    r"\b(?:catch me up on|bring me up to (?:speed|date) on|fill me in on|tell me (?:all|everything)?|list)\b",
    r"\b(?:in (?:what|which|chronological|time) (?:order|sequence)|order of (?:the )?events|sequence of (?:the )?events|before or after|earlier or later"
    r"|(?:what|which) (?:one |event |thing )?(?:happened|came|comes|was|is)?\s*(?:first|earlier|earliest)|happened|first|earliest"
    r"|in(?:to)? (?:the |their )?order (?:that|in which|of (?:their |the )?(?:dates?|days?|time|events?|appearance))|step by step|come about|come to be)\b",
    r"(?<!\w)(?:подвед\w+(?: \w+){0,1} итог\w*|обобщи\w*|резюмируй\w*|суммируй\w*|подытож\w*|сводк\w*|обзор\w*|выжимк\w*|расскажи\w*|составь|сделай|дай"
    r"|(?:кратк\w+|коротк\w+)|хронологи\w*|по порядку|порядк\w+|последовательност\w+|по датам|сначала|раньше|до или после|первым"
    r"|(?:вс[её],? )?что (?:ты|вы|мы) (?:уже |ещё |еще )?(?:знае\w+|помни\w+)|вс[её]|введи\w* (?:меня )?в курс(?: дела)?|случил\w+|произошл\w+|происход\w+|событи\w+"
    r"|расположи\w*|восстанови\w*|перечисли\w*|вкратце|коротко|что за чем|что позже|(?:нужно|надо|важно) знать)(?!\w)",
    r"(?:请|帮我|给我|能不能|可以|简单|简要)*(?:总结|概括|归纳|汇总|概述|梳理|盘点)(?:一下|下)?|你?(?:都|还)*(?:知道|了解|记得)(?:关于|有关)?(?:些什么|哪些|什么)?"
    r"|关于|有关|告诉我|所有信息|什么(?:样的)?顺序|先后顺序|先后|顺序|时间线|时间轴|按(?:照)?(?:时间|日期)|来龙去脉|之前还是之后|还是先|先|发生",
)
"""What a request for an order or a summary is made of beside its subject."""

_LOOSE = _p(
    r"\b(?:plan(?:s|ned|ning)?|prepar(?:e|ed|es|ing|ations?)|discuss(?:ed|ions?|ing)?|talk(?:ed|s|ing)?|spoke|spoken|said|mention(?:ed)?|decided?|progress(?:ed|ing)?"
    r"|develop(?:ed|ment|ments)?|unfold(?:ed)?|evolved?|proceed(?:ed)?|organi[sz](?:e|ed|ing)|arrange(?:d|ments?)?|carried out|was done|were done|going|details?|things)\b",
    r"(?<!\w)(?:(?:за|с)?планиров\w+|подготов\w+|готовил\w+|обсужд\w+|обсуди\w+|говорил\w*|разговаривал\w*|сказал\w*|упоминал\w*|решал\w*|решил\w*|продвигал\w*"
    r"|развивал\w*|ш[её]л|шла|шло|шли|организов\w+|организац\w+|делали|сделали|сделано|подробност\w+|дел)(?!\w)",
    r"计划|规划|准备|筹备|讨论|商量|聊|谈|(?<!小)说(?![明服])|提到|决定|进行|进展|列出|安排|情况|经过|按(?!摩)|做了?哪些事|做了什么|做(?:了|过)|过(?=的)|哪些",
)
"""How a subject came up, not what it is: what is known of a trip seldom says that it was planned or talked about."""

_HAPPENED = (
    "happened happen happening did do done going news new up to on work worked working day days true case valid held",
    "произошло происходило случилось было делали делал делала нового новости дела верно правдой изменилось сделали",
    "发生 发生了 做了 做过 有什么 事情 新的 干了 情况 的情况如何 是什么情况 什么是真的 真的 发生过 什么事",
)


@cache
def happened() -> frozenset[str]:
    """Terms that a question about days is made of beside its days."""
    return frozenset(term for text in _HAPPENED for term in terms(text))


def subject_of(text: str, shape: Shape) -> str:
    """What is to be ordered or summarised, without the words that ask for it; the text itself where nothing else is said."""
    if shape is Shape.PLAIN:
        return text
    rest = text
    for words in (_FRAME, _LOOSE):
        bare = re.sub(r"\s{2,}", " ", words.sub(" ", rest[-LONGEST:])).strip(" ,，.:：?？!！")
        if not content_terms(bare):
            break
        rest = bare
    return rest


def held_then(text: str) -> bool:
    """Whether it is asked what was true in the days that a question names, not what happened in them."""
    return bool(_TRUE_THEN.search(text[-LONGEST:]))


def is_question(text: str) -> bool:
    """Whether something is asked, of whomever: by its mark, its words, or a request to tell."""
    end = text[-LONGEST:]
    return bool(_MARK.search(end) or _ASKS.search(end))


def shape_of(text: str) -> Shape:
    """What the answer has to look like; PLAIN unless the words plainly say otherwise.

    Order wins over breadth: "summarise in chronological order" wants a timeline. A summary of what the message brings along
    ("summarise this article") asks memory for nothing in particular.
    """
    end = text[-LONGEST:]
    if _ORDER.search(end) or (_FIRST.search(end) and is_question(end)):
        return Shape.TIMELINE
    if _SUMMARY.search(end) and not _GIVEN.search(_NOT_GIVEN.sub(" ", end)):
        return Shape.SUMMARY
    return Shape.PLAIN


def asks_when(text: str) -> bool:
    """Whether a day or a length of time is asked for."""
    return is_question(text) and bool(_WHEN.search(text[-LONGEST:]))


LONGEST_SPELT = 160
"""Characters of a question that is looked at: what is longer says enough without the one word."""

_WORDS, _UNKNOWN = 12, 2
"""Content terms that such a question has at most, and how many words of it are looked up."""

_SHORTEST, _LONG = 5, 10
"""Letters of a word that may be misspelt; from how many on it may have two slips."""

_WORD = lazy(r"(?<![\w'’@#/.:\-])(?:[A-Za-z]+|[А-Яа-яЁё]+)(?![\w'’@/:\-]|\.\w)")


class Wordbook(Protocol):
    """Which terms something that is stored holds."""

    def frequencies(self, terms: Sequence[str], scope: Scope) -> Mapping[str, int]:
        """How many records hold each term; 0 for what none holds."""

    def beginning(self, starts: Sequence[str], scope: Scope) -> Sequence[str]:
        """The terms that begin so."""


Book = tuple[Wordbook, int]
"""A wordbook, and how many of its records must hold a word that is taken for right: a question that was asked before, slip and
all, is a turn itself."""

HEARD = 3


class NoteWords:
    """The words of a workspace's files, as a book in which they are looked up; it is not leafed through."""

    def __init__(self, search_of: Callable[[Scope], NoteSearch | None]) -> None:
        self._search_of = search_of

    def frequencies(self, terms: Sequence[str], scope: Scope) -> Mapping[str, int]:
        """How many notes and facts hold each term; nothing without a workspace."""
        search = self._search_of(scope)
        return search.frequencies(terms) if search else {}

    def beginning(self, _starts: Sequence[str], _scope: Scope) -> Sequence[str]:
        """None."""
        return ()


def respelled(query: Query, books: Sequence[Book], counter: TokenCounter) -> tuple[Query, dict[str, str]]:
    """The question with its misspelt words as they are known, and which those are; a book that does not read is left out."""
    text = query.text
    if not books or len(text) > LONGEST_SPELT or not (words := _doubtful(text)):
        return query, {}
    reader = _Reader(books, query.scope, counter)
    try:
        read = {word: right for word in reader.unknown(words)[:_UNKNOWN] if (right := reader.right(word))}
    except NeuralStreamError:
        return query, {}
    if not read:
        return query, {}
    text = _WORD.sub(lambda match: read.get(match[0].lower(), match[0]), text)
    return replace(query, text=text), read


def _doubtful(text: str) -> list[str]:
    """The longer words, lower-cased, without names (what stands capitalised inside the sentence) and stop words."""
    found = [match for match in _WORD.finditer(text) if len(match[0]) >= _SHORTEST]
    words = [match[0].lower() for match in found if match.start() == 0 or match[0].islower()]
    if not words or len(content_terms(text)) > _WORDS:
        return []
    return [word for word in dict.fromkeys(words) if content_terms(word)]


class _Reader:
    def __init__(self, books: Sequence[Book], scope: Scope, counter: TokenCounter) -> None:
        self._books, self._scope, self._counter = books, scope, counter

    def unknown(self, words: Sequence[str]) -> list[str]:
        """Those whose term nothing holds often enough."""
        asked = list(dict.fromkeys(term for word in words for term in terms(word)))
        held = {
            term
            for book, least in self._books
            for term, count in book.frequencies(asked, self._scope).items()
            if count >= least
        }
        return [word for word in words if not held & set(terms(word))]

    def right(self, word: str) -> str:
        """The known word, or its stem, that this is a slip of; "" when there is none, or it is a word itself."""
        pieces = self._counter.count(f" {word}")
        if pieces < 2:
            return ""
        slips = {term: slip for slip in _slips(word) for term in terms(slip)}
        known = [slips[term] for term in sorted(self._known(slips) - set(terms(word)))]
        if not known:
            known = self._near(word)
        best = min(known, key=lambda right: (self._counter.count(f" {right}"), right), default="")
        return best if best and self._counter.count(f" {best}") < pieces else ""

    def _near(self, word: str) -> list[str]:
        """Known terms with a letter too few or another letter, or two of these in a long word; the nearest."""
        most = 2 if len(word) >= _LONG else 1
        (own,) = terms(word)[:1]
        starts = [own[:2]]
        found = {
            term
            for book, _ in self._books
            for term in book.beginning(starts, self._scope)
            if abs(len(term) - len(own)) <= most
        }
        apart = {
            term: edits(own, term, most)
            for term in found
            if term != own and len(term) >= _SHORTEST - 1 and term.isalpha()
        }
        least = min(apart.values(), default=most + 1)
        return [term for term, far in apart.items() if far == least and far <= most]

    def _known(self, wanted: Iterable[str]) -> set[str]:
        asked = list(dict.fromkeys(wanted))
        return {
            term for book, _ in self._books for term, count in book.frequencies(asked, self._scope).items() if count
        }


def _slips(word: str) -> list[str]:
    """What it is with two neighbours exchanged, or without one of its letters."""
    exchanged = [word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in range(len(word) - 1)]
    shorter = [word[:at] + word[at + 1 :] for at in range(1, len(word))]
    return [slip for slip in dict.fromkeys((*exchanged, *shorter)) if slip != word]


def edits(left: str, right: str, most: int) -> int:
    """How many letters are to be put in, left out, changed, or exchanged with the next one (optimal string alignment).

    Any number above `most` where there are more. Source: Damerau 1964; as computed by Wagner and Fischer 1974.
    """
    before: list[int] = []
    last = list(range(len(right) + 1))
    for row, letter in enumerate(left, 1):
        here = [row]
        for column, other in enumerate(right, 1):
            cost = min(last[column] + 1, here[column - 1] + 1, last[column - 1] + (letter != other))
            if row > 1 and column > 1 and letter == right[column - 2] and left[row - 2] == other:
                cost = min(cost, before[column - 2] + 1)
            here.append(cost)
        if min(here) > most:
            return most + 1
        before, last = last, here
    return last[-1]


class EntitySource:
    """Gems that name whom the question names."""

    name = "entities"
    kind = "gems"

    def __init__(self, vocabulary: Vocabulary, exact: Exact) -> None:
        self._vocabulary = vocabulary
        self._exact = exact

    def find(self, understood: Understood, limit: int) -> list[Candidate]:
        """At most `limit` gems, best first, with the share of the named that they name, and exact coverage and meaning."""
        query = understood.query
        narrowed = query.wanted.entities if query.wanted else ()
        names = sorted({*understood.entities, *narrowed})
        if not names:
            return []
        meant = self._vocabulary.entities_meant(names, query.text, query.scope)
        fits: dict[str, float] = {}
        words: dict[str, dict[str, float]] = {}
        for item in meant:
            found = self._vocabulary.gems_of(
                item.keys, query.scope, limit=LOOKED_AT, entities=True, superseded=earlier_too(understood)
            )
            for gem_id in found:
                fits[gem_id] = fits.get(gem_id, 0.0) + 1.0
                if item.words:
                    words.setdefault(gem_id, {})[item.words] = 1.0
        for name in narrowed:  # whom a person narrows the question to is also whom the words of a gem name
            for gem_id in self._named(name, understood):
                fits.setdefault(gem_id, 1.0)
        whole = max(len(meant), 1)
        carried = {gem_id: Carried(fit / whole, words.get(gem_id, {})) for gem_id, fit in fits.items()}
        return self._exact.candidates(ENTITY, carried, understood, limit)

    def _named(self, name: str, understood: Understood) -> list[str]:
        """Gems that hold all words of the name, in whatever form."""
        asked = list(dict.fromkeys(terms(name)))
        if not asked:
            return []
        hits = self._exact.gems.search_words(
            asked, understood.query.scope, LOOKED_AT, superseded=earlier_too(understood)
        )
        return [hit.gem_id for hit in hits if len(set(hit.matched)) == len(asked)]


_SHORT = 4
_REFERENCE = re.compile(r"\W*#([0-9a-f]{4,64})\W*")
_IN_A_FILE = re.compile(r".+#L\d+(?:-L\d+)?")


def reference(record: Record) -> str:
    """How a block cites a record: where it stands in a file, else four digits that `resolved` knows."""
    if _IN_A_FILE.fullmatch(record.citation):
        return record.citation
    return f"#{_digits(record.id)}"


def referred(text: str) -> str:
    """The digits of a text that is nothing but a short citation; "" for any other."""
    found = _REFERENCE.fullmatch(text.casefold())
    return found[1] if found else ""


def resolved(
    digits: str,
    query: Query,
    *,
    shown: Sequence[str],
    gem: Callable[[str], Gem | None],
    passage: Callable[[str, Scope], str],
    sources: Sequence[Source],
) -> list[Record]:
    """The records that a short citation stands for: of what was shown lately, else the one gem or passage whose id begins so.

    shown: ids of records of late, the newest first.
    """
    ids = [id_ for id_ in dict.fromkeys(shown) if _digits(id_).startswith(digits[:_SHORT]) and _fits(id_, digits)]
    found = gem(digits)
    asked = query.scope
    mine = found is not None and (found.scope.agent, found.scope.user) == (asked.agent, asked.user)
    here = mine and found is not None and found.scope.project in ("", asked.project)
    outdated = "superseded" if found is not None and found.superseded_by else ""
    records = [replace(record_of(found), outdated=outdated)] if found is not None and here else []
    ids += [id_ for id_ in [passage(digits, query.scope)] if id_]
    understood = Understood(query, (), query.text, "")
    for shelf in {id(s): s for source in sources if (s := getattr(source, "shelf", None)) is not None}.values():
        missing = [id_ for id_ in ids if all(record.id != id_ for record in records)]
        records += [item.record for item in shelf.fetch(missing, understood).values()] if missing else []
    return list({record.id: record for record in records}.values())


def _digits(id_: str) -> str:
    short = id_.replace("-", "")[:_SHORT]
    return short if re.fullmatch(r"[0-9a-f]{4}", short) else hashlib.sha256(id_.encode()).hexdigest()[:_SHORT]


def _fits(id_: str, digits: str) -> bool:
    return len(digits) == _SHORT or id_.replace("-", "").startswith(digits)


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
