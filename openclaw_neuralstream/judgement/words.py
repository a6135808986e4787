"""What gives a statement away: words of change, denial, hearsay, the past; attributes that have one value. Pure tables."""

from __future__ import annotations

import re

from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.text.lexicon import A_MONTH_RU


def _any(*alternatives: str) -> re.Pattern[str]:
    return lazy("|".join(f"(?:{a})" for a in alternatives), re.IGNORECASE)


CHANGED = _any(
    # English
    r"^(?:correction|actually|no,|sorry,|wait,|i meant|i was wrong|update:)",
    r"\bnot (?:any ?more|any longer)\b|\bno longer\b|\bany ?more\b|\binstead\b|\bafter all\b|\bfrom now on\b|\bnow\b",
    r"\b(?:re)?scheduled to\b|\bpostponed (?:to|until)\b|\b(?:moved|changed|switched|migrated|renamed|updated|corrected|pushed|brought forward) (?:\w+ )?(?:to|from|over)\b",
    r"^(?:from|starting|as of|since|beginning) (?:\w+ )?(?:january|february|march|april|may|june|july|august|september|october|november|december|today|tomorrow|next|this|\w+day)\b|^(?:we|i|they|he|she)(?:'ve| have)? (?:moved|changed|switched|pushed|shifted|bumped|rescheduled|postponed)\b",
    r"\b(?:has|have|was|were|been|is|are) (?:now )?(?:moved|changed|replaced|renamed|updated|switched|cancell?ed|revoked|dropped)\b",
    r"^(?:scratch|strike|forget) (?:that|what)\b|^(?:i|we) (?:got|had) [^,;]{2,40} wrong\b|\bchange of plans?\b|\bchang(?:ed|ing) (?:my|our|his|her|their) minds?\b|\b(?:it )?turns out\b|\bturned out\b|\bthese days\b",
    r"\b(?:moved|pushed|shifted|switched|changed) (?:[\w'-]+ ){1,4}to\b|\b(?:raised|lowered|increased|decreased|reduced|extended|shortened|cut|upped|bumped|stretch(?:ed)?|went up|gone up|rose|risen|dropped|fell|grew) (?:[\w'-]+ ){0,5}to\b",
    r"\b(?:had to|have to|decided to|going to|want to) (?:move|change|switch|push|postpone|reschedule|shift|replace)\b|\bgot an? new\b|\b(?:got|been) (?:cancell?ed|moved|pushed|renamed|replaced)\b",
    # Russian
    r"^(?:поправка|исправление|точнее|на самом деле|нет,|извини|ошиб(?:ся|лась)|уточнение)",
    r"\b(?:теперь|отныне|больше не|уже не|вместо|передумал\w*|всё-таки|все-таки)\b",
    r"\b(?:перенес\w*|перенёс\w*|перенос\w*|перешл\w*|перешёл|перешел|переехал\w*|сменил\w*|изменил\w*|поменял\w*|заменил\w*|переименова\w*|обновил\w*|сдвину\w*)\b",
    r"\b(?:оказал(?:ось|ся|ась|ись)|перепутал\w*|ошиб(?:ся|лась|лись)|поднял[аи]?|повысил\w*|снизил\w*|увеличил\w*|уменьшил\w*|продлил\w*|сократил\w*|вырос(?:ла|ло|ли)?|подорожал\w*|подешевел\w*|отменя\w+|отменил\w*|отмен[её]н\w*)\b",
    rf"^со? (?:{A_MONTH_RU}|следующ|завтра|сегодня|понедельник|вторник|сред|четверг|пятниц)\w*|\b(?:перевел[аи]?|перевёл)\b",
    # Chinese
    r"(?:月|周|年|号|日|今天|明天)起|不[^，,。；;]{1,8}了(?=[，,。；;！!]|$)|(?:改|换|调)(?:喝|吃|用|学|坐|走)|(?:挪|移|延|调)(?:到|至)",
    r"^(?:更正|纠正|其实|不对|不是|说错了|修正)",
    r"(?:涨|降|提高|升|增加|减|减少|延长|缩短|加)到|改主意|(?:改|换|转)(?:去|坐|走|上)|^原来|(?:记|说|写|弄|搞)错了|调走了|不去了",
    r"现在|不再|从今以后|以后|改成|改为|改到|改用|改在|换成|换到|换用|换了|搬到|搬去|推迟到|提前到|调整为|更新为|更名为|取消了|而是",
)
"""The newer statement says that something is other than it was."""

ADDED = _any(
    r"\b(?:also|too|as well|another|in addition|a second|the other)\b",
    r"\b(?:тоже|также|ещё один|еще один|ещё одна|еще одна|ещё одну|еще одну|втор(?:ой|ая|ую)|друг(?:ой|ая|ую)|вдобавок)\b",
    r"又(?!改|推|换|调|挪|变|提前|延)|另外|另一|还有|第二(?:个|只|条|辆)|也(?!许)",
)
"""Says that something comes to what there is, and takes nothing away."""

ANEW = _any(r"\b(?:new|second|other)\b", r"(?<!\w)(?:нов|втор|друг)(?:ой|ый|ая|ую|ое|ого)(?!\w)", r"新(?:的|来)|另")
"""One that came to those there are, when it is said how it is called."""

REASONS = lazy(
    r"(?<=\S )(?:because|due to|thanks to|so that|in order to)\b.*$|(?<=\S )(?:из-за|потому что|так как|чтобы|ради)\b.*$|(?:因为|由于|为了).*$",
    re.IGNORECASE,
)
"""Why something is so: no part of what it is."""

SINCE = _any(
    r"^(?:from|starting|as of|since|beginning) (?:this |next |last )?[\w]+,? ",
    r"^со? (?:этого |следующего |прошлого )?[а-яё]+,? ",
    r"^(?:从|自)[^，,]{1,6}?(?:起|开始)[，,]?",
)

AGAIN = _any(r"\bagain\b|\bback to\b|\bafter all\b", r"\b(?:снова|опять|обратно)\b", r"又(?:开始)?|重新|还是")
"""Says that something is once more what it was before."""

MIND = _any(
    r"\bchang(?:ed|ing) (?:my|our|his|her|their) minds?\b|\bchange of plans?\b|\bon second thoughts?\b",
    r"\bпередумал\w*\b|\bпланы (?:поменял|изменил)\w+",
    r"改(?:了)?主意|改变主意|计划(?:有变|变了)|变卦",
)
"""Somebody decided otherwise."""

RULE_OFF = _any(
    r"\b(?:forget|ignore|drop) (?:what i (?:said|told you|asked)|(?:the|my) (?:\w+ )?(?:rule|wish|instruction|limit)s?)\b|\b(?:old|earlier|previous) (?:rule|instruction|limit|wish)\b",
    r"\b(?:rule|limit|ban|instruction|wish)s? (?:\w+ ){0,2}?(?:no longer|does not|doesn't|is (?:off|gone|over|lifted))\b|\bno longer (?:holds?|appl(?:y|ies)|valid)\b",
    r"(?<!\w)(?:забудь(?:те)?|(?:запрет|правило|ограничение|предел)\w* (?:больше не|снят\w*|снял\w*|отмен\w*)|(?:снял[аи]?|отменил\w*|отменяю) (?:запрет|правил|ограничен)\w*)(?!\w)",
    r"不用(?:再)?(?:守|管|理|遵守)了|(?:那条|规则|规矩|限制|要求)[^，,。]{0,6}(?:取消|作废|不算)|(?:之前|以前|原来)(?:说|要求)[^。]{0,20}(?:改一下|改成|改为|改了)",
)
"""Says that something that was asked for once and for all holds no more."""

TOLD = frozenset(
    [
        "suggest", "recommend", "answer", "repli", "reply", "write", "use", "say", "said", "forget", "rule", "limit", "hold", "longer", "onli", "only",
        "предлага", "предлагай", "советуй", "пиши", "отвечай", "забудь", "запрет", "правил", "推", "荐", "建", "议", "回", "答", "可", "以", "要", "说",
    ]
)  # fmt: skip
"""Of what is asked for, the words that say nothing of the matter."""

SWAPPED = (
    lazy(
        r"(?P<who>[^,;.!?]{0,40}?)\b(?:chang(?:ed|es)|switch(?:ed|es)|swapped|got an? new|ha(?:s|ve) an? new|found an? new)\s+(?P<what>[a-z]+)",
        re.IGNORECASE,
    ),
    lazy(
        r"(?P<who>[^,;.!?]{0,40}?)(?<!\w)(?:сменил\w*|поменял\w*|(?:перешл\w+|переш[её]л) в друг\w+|нов(?:ый|ая|ое|ую)) (?P<what>[а-яё]+)",
        re.IGNORECASE,
    ),
    lazy(r"(?P<who>[^，。；！？,;.]{0,12}?)换了?(?:一?[个家所辆份位])?新?(?P<what>[\u3400-\u9fff]{1,4})"),
)
"""Who has another one of what."""

CHANGING = frozenset(
    [
        "move", "chang", "switch", "push", "shift", "bump", "rais", "lower", "increas", "decreas", "reduc", "extend", "stretch", "cut",
        "подня", "подним", "повыс", "сниз", "увелич", "уменьш", "продл", "сократ", "вырос", "перенесл", "перенес", "сдвин", "сдвинул", "поменя",
        "оказа", "ошибс", "got", "get", "wrong", "turn", "涨", "降",
    ]
)  # fmt: skip
"""Verbs that say that something changed, and nothing of what."""

THEIRS_TO_CHANGE = _any(r"\b(?:the )?landlord|\bthey\b", r"\bхозя(?:ин|йка)\w*", r"房东|公司|学校|单位|物业")
"""Who changes what is another's: "the landlord raised the rent"."""

INTRODUCED = _any(
    r"\b(?:have|has|had|got|own|owns|adopted|bought|know|knows|met|there(?:'s| is| was))\b(?: \w+){0,2} (?:an?|one|another|two|three|some|several)\b",
    r"(?<!\w)(?:у (?:меня|нас|него|не[её]|них)|есть|появил\w+|завел\w*|завёл)(?!\w)(?=.*\b(?:есть|по имени|зовут|появил\w+|жив[её]т)\b)",
    r"有(?:了)?(?:一|个|两|几|只|位|条|名|匹|台|辆|三)|养了|认识(?:一|个|了)",
)
"""Brings up one of several: who has "a dog named Rex" may have another one."""

ONE_OF_MANY = _any(
    r"\b(?:invoice|bill|order|receipt|payment|ticket|booking|reservation|refund|purchase|delivery|parcel|donation|fine)s?\b",
    r"\b(?:сч[её]т(?:а|ом|у|е)?|счет-фактур\w+|заказ\w*|чек\w*|билет\w*|плат[её]ж\w*|квитанци\w+|брон\w+|покупк\w+|посылк\w+|штраф\w*)\b",
    r"发票|账单|订单|收据|付款|车票|机票|快递|包裹|罚款|退款",
)
"""Things of which the next one comes by itself: another amount is another one."""

DEFINITE = _any(
    r"\b(?:the|my|our|his|her|their|its|your|this|that)\b|\w's\b",
    r"[а-яё]|[\u3400-\u9fff]",
)
"""Speaks of one thing that is known; Russian and Chinese have no articles that would tell."""

HEARSAY = _any(
    r"\b(?:apparently|supposedly|allegedly|reportedly|rumou?r|i heard|i read|i was told|according to|he says|she says|they say|says that|told me|claims?|said that)\b",
    r"\b(?:говорят|якобы|вроде бы|по слухам|я слышал\w*|мне сказал\w*|по словам|утвержда\w+|(?:он|она) сказал\w*|говорит,? что)\b",
    r"听说|据说|据.{1,6}说|说是|好像|传言|告诉我",
)
GUESSED = _any(
    r"\b(?:maybe|perhaps|probably|might|i think|i guess|not sure|considering|thinking (?:of|about)|if)\b",
    r"\b(?:может быть|возможно|наверное|кажется|думаю|подумываю|не уверен\w*|если)\b",
    r"可能|也许|大概|我觉得|不确定|考虑|如果|要是",
)
PAST = _any(
    r"\b(?:used to|formerly|previously|back then|in the past|as a (?:child|kid|student)|years ago)\b",
    r"\b(?:раньше|прежде|когда-то|в детстве|в прошлом|лет назад)\b",
    r"以前|曾经|过去|小时候|从前|年前",
)
CHATTER = _any(
    r"^(?:thanks?(?: you)?(?: so much| a lot)?|ok(?:ay)?|hi|hello|hey|good (?:morning|night|evening)|bye|lol|haha+|you're welcome|great|nice|cool|sure|no problem)[\s,.!]*(?:thanks?|thank you)?[\s.!]*$",
    r"^(?:спасибо(?: большое)?|ок|окей|привет|здравствуй(?:те)?|доброе утро|добрый (?:день|вечер)|пока|хорошо|ладно|пожалуйста|понял|ясно)[\s.!]*$",
    r"^(?:谢谢|多谢|好的?|嗯+|你好|您好|早上好|晚安|再见|哈哈+|没事|不客气|明白|收到)[\s。！!~]*$",
    r"^the (?:user|owner|assistant|agent) (?:said|says|asked|greeted|thanked|is (?:asking|chatting|greeting))\b[^.]{0,60}(?:hi|hello|thanks?|how are|small talk|greeting)?[.]?$",
)
TOOL_NOISE = _any(
    r"^\s*[{\[].*[}\]]\s*$",
    r"\bTraceback \(most recent call last\)|^\s*at [^\s(]+\(.*:\d+\)|\bexit code \d+\b.*\bstd(?:out|err)\b",
    r"^(?:GET|POST|PUT|DELETE|HTTP/\d)\b.*\b\d{3}\b",
    r"^[-dlrwx]{10}\s|^\$ \S+",
)
AFFIRMED = _any(
    r"^(?:yes|yeah|yep|sure|ok(?:ay)?|right|correct|exactly|agreed|absolutely|definitely|go ahead|do (?:it|that)|sounds good|confirmed|deal|please do)\b",
    r"^(?:да|ага|угу|конечно|верно|точно|правильно|согласен|согласна|ок|хорошо|давай(?:те)?|именно|подтверждаю)(?![\w])",
    r"^(?:对|是的|是|好|好的|嗯|没错|可以|行|同意|确认|就这样|当然)",
)

# What a text says was so, and is no more: its groups hold the old value, and the new one where it is told.
REJECTED = (
    lazy(
        r"\b(?:not|instead of|rather than|no longer)\s+(?:on |at |in |to |the |a |an )*(?P<old>[^,;.!?()]{1,60}?)(?= but\b|\.\D|\.$|[,;!?()]|$)",
        re.IGNORECASE,
    ),
    lazy(
        r"\b(?:sold|cancell?ed|scrapped|ditched|gave up(?: on)?|given up(?: on)?|got rid of|stopped using)\s+(?:the |my |our |on |this |that |his |her )?(?P<old>[^,;.!?]{1,40}?)"
        r"(?= (?:on|in|last|this|yesterday|because|since|for|and|at)\b|[,;.!?]|$)",
        re.IGNORECASE,
    ),
    lazy(
        r"(?:^|[,;.!?]\s*|\b(?:and|as|the) )(?P<old>[^,;.!?]{2,30}?) (?:has |have |had |was |were |got |been )*(?:(?:is |are )(?:dead|gone|closed|retired)|left|quit|retired|resigned|cancell?ed|discontinued)\b",
        re.IGNORECASE,
    ),
    lazy(
        r"\b(?:moved|changed|switched|migrated|went|renamed|upgraded|transferred|relocated|rescheduled|postponed|pushed)\b[^.;!?]{0,40}?\bfrom (?P<old>[^,;.!?]{1,40}?) to (?P<new>[^,;.!?]{1,60})",
        re.IGNORECASE,
    ),
    lazy(r"(?<!\w)(?:а )?не (?:на |в |во |по |за |до |с |у |из |от )*(?P<old>[^,;.!?()]{1,60})", re.IGNORECASE),
    lazy(
        r"(?<!\w)вместо (?P<old>[^,;.!?()]{1,40}?)(?= (?:теперь|будет|используем|берём|берем)|[,;.!?]|$)", re.IGNORECASE
    ),
    lazy(
        r"(?:перешл\w+|переш[её]л|переехал\w*|перенес\w+|перенёс|перевел\w+|сменил\w*|поменял\w*|переименова\w+)[^.;!?]{0,40}?(?<!\w)(?:с|со|из)(?!\w) (?P<old>[^,;.!?]{1,40}?) (?:на|в|во) (?P<new>[^,;.!?]{1,60})",
        re.IGNORECASE,
    ),
    lazy(
        r"(?:^|[,;.!?]\s*)(?P<old>[^,;.!?]{2,30}?) (?:отменя\w+|отменил\w*|отмен[её]н\w*|уволил\w*|уш[её]л|ушла|закрыл\w*)",
        re.IGNORECASE,
    ),
    lazy(r"(?:продал\w*|бросил\w*|забросил\w*|отменил\w*) (?P<old>[^,;.!?]{1,40})", re.IGNORECASE),
    lazy(r"(?P<old>[^，。；！？,;.]{1,12}?)(?:不去了|取消了|调走了|离职了|辞职了|退休了|卖了|不用了|不要了|不干了)"),
    lazy(r"从(?P<old>[^，。；！？,;.]{1,10}?)(?:离职|辞职|退出|搬走|退租)"),
    lazy(r"不再(?P<old>[^，。；！？,;.]{1,30})"),
    lazy(r"不(?:再)?(?:是|用|在|叫)(?P<old>[^，。；！？,;.]{1,30})"),
    lazy(
        r"(?:从|由)(?P<old>[^，。；！？,;.]{1,20}?)(?:改|换|搬|迁移?|调|转|移)(?:成|为|到|至|用|去)(?P<new>[^，。；！？,;.]{1,30})"
    ),
    lazy(r"(?:取代|代替|替代|替换)(?:了)?(?P<old>[^，。；！？,;.]{1,20})"),
)

# Attributes of which a subject has one value at a time. A match stands for the attribute's name in the comparison.
ATTRIBUTES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, _any(*alternatives))
    for name, alternatives in (
        ("@port", (r"\bports?\b", r"\bпорт\w*", r"端口")),
        (
            "@home",
            (
                r"\b(?:lives?|living|resides?|residing|based|settled|moved|relocated|moving) (?:in|to|at)\b|\bhome (?:town |city )?is in\b",
                r"\b(?:живу|живёт|живет|живём|живем|проживаю|переехал\w*|переезжа\w*)(?: \w+)? (?:в|во|на)(?!\w)",
                r"住在|搬到|搬去|定居在?|搬家到",
            ),
        ),
        (
            "@job",
            (
                r"\b(?:works?|working|employed|joined|job is|start(?:ed)? working) (?:at|for|as|by)\b|\b(?:joined|work for)\b",
                r"\b(?:работаю|работает|устроил\w* работать|устроил\w*|перешёл работать|перешла работать)(?: \w+)? (?:в|во|на|к)?(?!\w)",
                r"工作于|就职于|入职|跳槽到|上班于|任职于?",
            ),
        ),
        (
            "@name",
            (
                r"\b(?:name is|is called|are called|is named|call me|address me as|named)\b",
                r"\b(?:зовут|называй меня|называется|обращайся ко мне)\b",
                r"名字(?:是|叫)|叫做|名叫|叫我|称呼我",
            ),
        ),
        ("@birthday", (r"\bbirthday\b|\bwas born on\b", r"\bдень рождения\b|\bродил\w+", r"生日|出生")),
        ("@mail", (r"\be-?mail(?: address)?\b", r"\b(?:почта|имейл|e-?mail)\w*", r"邮箱|电邮|邮件地址")),
        ("@phone", (r"\b(?:phone|mobile|cell)(?: number)?\b", r"\b(?:телефон\w*|мобильн\w+)", r"电话|手机号?")),
        ("@deadline", (r"\bdeadline\b|\bdue (?:date|on|by)\b|\bis due\b", r"\b(?:дедлайн|срок (?:сдачи)?|крайний срок)\w*", r"截止(?:日期|时间)?|最后期限")),
        ("@price", (r"\b(?:price|costs?|rent|salary|budget|fee) ?(?:is|are)?\b", r"\b(?:цен[аыу]|стоит(?! (?:в|на|у|под|за|рядом|перед)(?!\w))|стоимост|аренд|зарплат|бюджет)\w*", r"价格|费用|房租|租金|工资|预算|售价")),
        ("@address", (r"\baddress\b", r"\bадрес\w*", r"地址")),
        ("@version", (r"\bversion\b", r"\bверси\w+", r"版本")),
        ("@favourite", (r"\bfavou?rite\b", r"\b(?:любим\w+)", r"最喜欢|最爱")),
        ("@language", (r"\b(?:answer|reply|respond|speak|write)(?: \w+){0,2} in(?= (?:english|russian|chinese|german|french|spanish|\w+ish|\w+ese)\b)", r"\b(?:отвечай|пиши|говори)\w*(?: \w+){0,2} (?:на|по)(?![\w])", r"用(?=[中英俄德法日韩]文|汉语|英语|俄语|中文).{0,3}")),
        ("@age", (r"\b(?:is|am|are) (?=\d+ years? old)|\byears? old\b", r"\b\d+ (?:лет|года?)(?!\w)", r"岁")),
        ("@backup", (r"\bbackups? (?:are|is|go|live|stay)\b", r"\bбэкап\w*|\bрезервн\w+ копи\w+", r"备份")),
    )
)  # fmt: skip

SINGLE = frozenset(name for name, _ in ATTRIBUTES) - {"@backup"}

# Words that carry no value: dropped before two statements are compared.
LIGHT = frozenset(
    [
        "decid",
        "decis",
        "choos",
        "chose",
        "chosen",
        "pick",
        "agre",
        "conclus",
        "settl",
        "use",
        "uses",
        "us",
        "using",
        "listen",
        "run",
        "remain",
        "stay",
        "still",
        "current",
        "now",
        "actual",
        "correct",
        "correction",
        "instead",
        "never",
        "longer",
        "anymor",
        "updat",
        "pleas",
        "rememb",
        "note",
        "also",
        "just",
        "realli",
        "veri",
        "new",
        "old",
        "later",
        "alreadi",
        "go",
        "going",
        "никогд",
        "всегд",
        "реш",
        "решен",
        "решил",
        "договор",
        "выбра",
        "использ",
        "использован",
        "слуша",
        "теперь",
        "сейчас",
        "поправк",
        "точн",
        "запомн",
        "пожалуйст",
        "нов",
        "стар",
        "уже",
        "больш",
        "будет",
        "использу",
        "наход",
        "стоит",
        "леж",
        "располож",
        "locat",
    ]
)
LIGHT_CHINESE = _any(
    r"我们|咱们|决定|约定|已经|现在|目前|以后|请|记住|记得|更正|其实|改成|改为|改到|改用|换成|换到|使用|监听|而是|不是|不再|一下|这个|那个|从不|从|由|是|在|的|了|把|要|会|用|为|到|不|没|永远|总是"
)

# One word for several that say the same here.
CANON = {
    "db": "databas", "postgresql": "postgr", "postgres": "postgr", "prefer": "like", "love": "like", "enjoy": "like",
    "repli": "answer", "respond": "answer", "respons": "answer", "brief": "short", "concis": "short", "mobil": "phone",
    "everi": "always", "alway": "always", "everytim": "always", "kid": "child", "children": "child", "mum": "mother",
    "mom": "mother", "dad": "father", "job": "work", "automobil": "car", "apart": "flat",
    "предпочита": "нрав", "любл": "нрав", "люб": "нрав", "нравят": "нрав", "нравит": "нрав", "кратк": "коротк", "мам": "мат", "пап": "отец",
    "бд": "баз", "сдела": "дела",
}  # fmt: skip
_UNITS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_TEENS = ["ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_SMALL = {"два": 2, "две": 2, "двух": 2, "три": 3, "трёх": 3, "трех": 3, "четыре": 4, "четырёх": 4, "четырех": 4,
          "восьми": 8, "сорок": 40, "девяносто": 90, "сто": 100, "двести": 200}  # fmt: skip
_SOFT = {"пят": 5, "шест": 6, "сем": 7, "восем": 8, "девят": 9, "десят": 10, "двадцат": 20, "тридцат": 30, **{
    f"{unit}надцат": n
    for n, unit in enumerate(["один", "две", "три", "четыр", "пят", "шест", "сем", "восем", "девят"], 11)
}}  # fmt: skip
NUMBERS = {
    word: str(number)
    for word, number in [
        *((word, n) for n, word in enumerate(_UNITS, 1) if n > 1),
        *((word, n) for n, word in enumerate(_TEENS, 10)),
        *((word, n) for n, word in zip(range(20, 100, 10), _TENS, strict=True)),
        *((f"{ten}-{unit}", 20 + 10 * t + n) for t, ten in enumerate(_TENS) for n, unit in enumerate(_UNITS, 1)),
        *_SMALL.items(),
        *((stem + ending, n) for stem, n in _SOFT.items() for ending in "ьи"),
        *((f"{stem}ьдесят", 10 * n) for stem, n in _SOFT.items() if 5 <= n <= 8),
    ]
}
"""Numbers in words, as digits: "fourteen" is another number than "twelve". "one" is left out, it counts nothing."""

CANON_CHINESE = (
    (r"偏好|喜爱|更喜欢", "喜欢"),
    (r"回复|答复", "回答"),
    (r"简短|简洁", "简短"),
    (r"数据库|资料库", "数据库"),
)
