"""What a text tells of somebody's body: an allergy, an illness that stays, what a doctor forbade; and whose it is."""

from __future__ import annotations

import re

from openclaw_neuralstream.patterns import lazy

_INTOLERANCE = lazy(
    r"\b(?:allerg|anaphyla|intoleran|lactose|c(?:o)?eliac)|\b(?:аллерги|анафила|непереносим|целиаки)|\bне перенос(?:ит|ят|ил|ила) (?:лактоз|глютен|молок|орех|пенициллин)|过敏|不耐|乳糜泻",
    re.IGNORECASE,
)
_ILLNESS = lazy(r"\b(?:diabet|asthma|epilep)|\b(?:диабет|астм|эпилепс)|糖尿病|哮喘|癫痫", re.IGNORECASE)
_FORBIDDEN = lazy(
    r"\b(?:doctors?|gp|physician|dietitian|dietician|cardiologist|allergist|gastroenterologist)\b[^.;!?]{0,30}\b"
    r"(?:forb[ai]d\w*|bann?ed|prohibit\w*|not to|told me to avoid|to (?:stay|keep) (?:off|away)|warned me|"
    r"(?:i|we) (?:can't|cannot|can not|must not|mustn't|shouldn't|should not|may not)|(?:doesn't|won't|does not|will not) (?:let|allow))\b|"
    r"\b(?:i|we)(?:'m| am|'re| are)? (?:must not|mustn't|cannot|can't|may not|not (?:allowed|supposed) to) "
    r"(?:eat|drink|digest|tolerate|take (?:\w+ ){0,2}(?:aspirin|ibuprofen|paracetamol|antibiotics?|penicillin|painkillers?|pills?|medic\w+))\b"
    r"(?! (?:at|here|there|before|after|until|alone|out|with|that much|so|too|today|tonight|now|it|this|anything|another|any ?more|\w+ more)\b)|"
    r"\bblood.thinners?\b|\bwarfarin\b|\banticoagulants?\b|\bварфарин\w*|\bантикоагулянт\w*|\bкроверазжижающ\w+|华法林|抗凝|"
    r"\bmedically forbidden\b|\bcontraindicated\b|\b(?:off limits|forbidden) (?:for|to) me\b|\bgives? me (?:hives|a rash)\b|"
    r"\b(?:врач\w*|доктор\w*|терапевт\w*|кардиолог\w*|аллерголог\w*|диетолог\w*|медик\w*)\b[^.;!?]{0,30}"
    r"(?:\bзапре[тщ]\w+|\bне (?:велел\w*|разреш\w+|совету\w+|рекоменду\w+|позволя\w+)|\bнельзя\b|\bисключи\w+|\bотказаться\b)|"
    r"\bмне (?:категорически |совсем |вообще |строго )?нельзя (?:(?:есть|пить|принимать) |ничего )?"
    r"(?:(?:сладк|остр|сол[её]н|солью?|жирн|жарен|мучн|молочн|кофе|алкогол|вин[оа]|пив[оа]|сахар|грейпфрут|глютен|лактоз|орех|арахис|м[её]д|рыб|мяс|морепродукт|креветк|яй[цо]|аспирин|ибупрофен|пенициллин|антибиотик)\w*|(?<=есть )\w+|(?<=пить )\w+|(?<=принимать )\w+)|"
    r"\bне перенош[уу]\b[^.;!?]{0,20}(?:лактоз|глютен|молок|молочн|пенициллин|аспирин|ибупрофен|антибиотик|наркоз)\w*|"
    r"\bне переносит\b[^.;!?]{0,20}(?:лактоз|глютен|молок|молочн|пенициллин|аспирин|ибупрофен|антибиотик|наркоз)\w*|\bпротивопоказан\w*|"
    r"(?:医生|大夫|医师|营养师|医嘱)[^。；！？]{0,10}(?:禁止|不让|不许|不准|不允许|不能|不可以?|不要|别再?|忌|戒|严禁|避免)|忌口|"
    r"我(?:绝对|完全|真的|一点都?|都)?(?:不能|不可以|不准|不许)(?:再)?(?:吃|喝|碰|服用)(?!饭|完|了|得|太|早|晚|这么)",
    re.IGNORECASE,
)
_ANIMAL = lazy(
    r"\b(?:dogs?|cats?|pupp(?:y|ies)|kittens?|pets?|horses?|hamsters?|parrots?|rabbits?)\b(?=[^.;]{0,30}\b(?:is|are|has|have|was)\b)|"
    r"\b(?:п[её]с|пса|псу|собак[аиу]|кот|кота|коту|кошк[аиу]|кошке|щен\w+|кот[её]н\w+|попуга\w+|хомя\w+|лошад\w+)\b(?=.*(?:аллерги|диабет|астм|эпилепс))|"
    r"(?:狗|猫|宠物|仓鼠|鹦鹉|兔子)[^对]{0,4}(?=对|有|得)",
    re.IGNORECASE,
)
_SELF = lazy(
    r"\b(?:i|i'm|i've|me|we|we're)\b|\b(?:я|мне|меня|мы|нам|нас)\b|(?:^|[^给和跟对])我(?!的?(?:女儿|儿子|妈|爸|妹|姐|哥|弟|老婆|老公|妻|丈夫|爷|奶|外|孩|狗|猫|朋友|同事))",
    re.IGNORECASE,
)


def names_harm(text: str) -> bool:
    """Whether it tells what can harm somebody: an allergy, an intolerance, a lasting illness, what a doctor forbade."""
    return any(pattern.search(text) for pattern in (_INTOLERANCE, _ILLNESS, _FORBIDDEN))


def harms_the_house(text: str) -> bool:
    """Whether what can harm is the author's own, or an allergy of a person they speak of: an illness of another is a fact."""
    if _SELF.search(text):
        return names_harm(text)
    return bool(_INTOLERANCE.search(text)) and not _ANIMAL.search(text)
