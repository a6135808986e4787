"""What kind of question a message is, told from its words: asked or stated, and what its answer has to look like."""

from __future__ import annotations

import re
from functools import cache

from openclaw_neuralstream.lexicon import content_terms, terms
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.recall.source import Shape

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
