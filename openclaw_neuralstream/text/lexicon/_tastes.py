"""Whose taste a text tells: its author's, or that of somebody they speak of."""

from __future__ import annotations

import re

from openclaw_neuralstream.patterns import lazy

_KIN_EN = (
    r"(?:wife|husband|spouse|partner|girlfriend|boyfriend|fianc[ée]e?|mum|mom|mother|dad|father|parents?|sons?|daughters?|kids?|child|children|baby|toddler|"
    r"brothers?|sisters?|grand\w+|granny|aunt|uncle|cousins?|niece|nephew|in-laws?|friends?|colleagues?|coworkers?|boss|manager|neighbou?rs?|roommate|flatmate|"
    r"teacher|clients?|dogs?|cats?|pupp(?:y|ies)|kittens?|parrots?|horses?|hamsters?|rabbits?)"
)
_LIKES_EN = (
    r"(?:prefers?|likes?|loves?|loved|liked|enjoys?|hates?|hated|dislikes?|adores?|favou?rs?|(?:can't|cannot) (?:stand|bear|eat|drink)|(?:doesn't|don't|never) (?:like|eat|drink|want|enjoy|use)|"
    r"(?:is|are|'s|'re) (?:\w+ )?(?:a |an )?(?:vegetarians?|vegans?|diabetic|asthmatic|epileptic|fond of|keen on|into|addicted to))"
)
_KIN_RU = (
    r"(?:жен[аеуы]|муж[аеу]?|сын[ау]?|сынов\w+|доч\w+|мам[аеуы]|пап[аеуы]|отец|отца|отцу|мат(?:ь|ери)|бабушк\w+|дедушк\w+|дед[ау]?|брат\w*|сестр\w+|т[её]щ\w+|свекров\w+|родител\w+|дет(?:и|ей|ям)|"
    r"реб[её]н\w+|внук\w*|внучк\w+|друг[ау]?|друзь\w+|друзей|подруг\w+|коллег\w*|начальни\w+|сосед\w*|т[её]т[яеию]|дяд[яеию]|кот[ау]?|кошк\w+|п[её]с|пса|собак\w+|щен\w+)"
)
_LIKES_RU = r"(?:предпочитает|предпочитают|любит|любят|обожает|обожают|ненавидит|ненавидят|увлекается|увлекаются|не (?:ест|едят|пь[её]т|пьют|переносит|выносит)|терпеть не мо(?:жет|гут)|диабетик|вегетариан\w+|веган\w*)"
_KIN_ZH = r"(?:老婆|老公|妻子|丈夫|太太|先生|女儿|儿子|孩子|宝宝|妈妈?|爸爸?|母亲|父亲|父母|爷爷|奶奶|外公|外婆|姥姥|姥爷|哥哥?|弟弟?|姐姐?|妹妹?|叔叔|阿姨|舅舅|姑姑|表[哥弟姐妹]|堂[哥弟姐妹]|孙[子女]|女朋友|男朋友|朋友|同事|老板|邻居|室友|狗|猫)"
_LIKES_ZH = r"(?:喜欢|喜爱|最爱|爱[吃喝看听好玩用]|讨厌|厌恶|偏好|偏爱|不吃|不喝|吃素|受不了|感兴趣|着迷|糖尿病|哮喘)"

_OWN = lazy(
    rf"\b(?:i|we)(?:'m|'re|'ve|'d|'ll)?(?: (?!he\b|she\b|they\b|my\b|our\b|his\b|her\b|that\b|how\b|when\b|because\b|who\b)[\w']+){{0,3}} (?:{_LIKES_EN}|vegetarian|vegan|diabetic|prefer|like|not eat|not drink)\b|"
    r"\bi(?:'m|'d| am)\b.{0,12}\b(?:rather|vegan|vegetarian|diabetic|fan)|\b(?:my|our) (?:(?:own|all-time|absolute|old|new|current) )?favou?rite|\b(?:and|nor|or) (?:i|me)\b|\b(?:i|me) and\b|\bmy preference|"
    r"\b(?:люблю|любим|предпочита(?:ю|ем)|обожа(?:ю|ем)|ненавижу|ненавидим|увлека(?:юсь|емся)|не (?:ем|едим|пью|пь[её]м|курю|использую|хочу|переношу|выношу))\b|"
    r"\b(?:мне|нам)\b.{0,25}(?:нрав|по душе|лучше|удобн|комфортн)|нрав\w+ (?:мне|нам)\b|\bмо[йяеёи]\w? (?:самый |самая |самое )?любим|\bнаш\w* любим|\bу (?:меня|нас)\b|\b(?:я|мы) (?:фанат|веган|вегетариан|диабетик)|"
    rf"(?:我|我们|咱们?)(?:自己|本人)?(?:也|都|最|很|更|不|一直|从来|从小|特别|真的|比较|还是|就|超|非常|平时|通常|一般|其实|早上|晚上|个人)*(?:{_LIKES_ZH}|习惯|宁愿|宁可|更想|不想要|对|有)|"
    rf"(?:我|我们)(?:和|跟|与|同)[^，。,]{{1,8}}(?:都|也)|(?:和|跟|与)我(?:都|也|一样)|我(?:们)?的?(?:个人)?(?:最爱|偏好|最?喜欢的)",
    re.IGNORECASE,
)
_ANOTHERS = lazy(
    rf"\b(?:he|she|they)(?:'s|'re)?(?: [\w']+){{0,2}} ?{_LIKES_EN}\b|\b(?:his|her|their) favou?rite|"
    rf"\b{_KIN_EN}\b(?:,? (?!i\b)[\w']+,?){{0,3}} ?{_LIKES_EN}\b|\b{_KIN_EN}(?: \w+)?(?:'s|s'|’s) (?:\w+ )?favou?rite|favou?rite \w+ of (?:my|our|his|her)\b|"
    rf"\b(?:он|она|они)\b(?: [\w-]+){{0,3}} {_LIKES_RU}|\b{_KIN_RU}\b[^.;!?]{{0,30}}{_LIKES_RU}|"
    rf"\bлюбим\w+ [\w-]+ (?:моей |моего |моих |нашей |нашего |наших )?{_KIN_RU}\b|\b(?:его|е[её]|их) (?:самый |самая |самое )?любим\w+|\bлюбим\w+ [\w-]+ у {_KIN_RU}|"
    rf"\b(?:ему|ей|им|{_KIN_RU})\b(?: [\w-]+){{0,3}} (?:не )?нрав(?:ится|ятся)|"
    rf"(?:他|她|它)们?[^我，。,]{{0,6}}{_LIKES_ZH}|{_KIN_ZH}[^我，。,]{{0,6}}{_LIKES_ZH}|(?:^|[，。,])(?:小|阿|老)[\u4e00-\u9fff](?:最|很|更|特别|也|都|不|有)*{_LIKES_ZH}",
    re.IGNORECASE,
)
_NAMED = lazy(
    rf"(?:^|[.;] )(?!(?:I|We|The|User|Owner|Everyone|Everybody|My|Our|Not?|Always|Never|Please|It|This|That)\b)[A-Z][\w-]+(?: [A-Z][\w-]+)?(?:, [^,]{{2,30}},)?(?:'s (?:\w+ )?favou?rite\b|(?: really| also| just| always)? {_LIKES_EN}\b)|"
    rf"(?:^|[.;] )(?!(?:Я|Мы|Пользователь|Владелец|Команда|Не|Мне|Нам)\b)[А-ЯЁ][\w-]+(?: [А-ЯЁ][\w-]+)?(?: (?:очень|больше всего|тоже|всегда|—|-))? {_LIKES_RU}|"
    r"\b[Лл]юбим\w+ [\w-]+ (?!Я\b|Мы\b)[А-ЯЁ][а-яё]+|^[А-ЯЁ][а-яё]+[уеюи] (?:очень |больше всего |не )*нрав(?:ится|ятся)"
)


def tells_of_another(text: str) -> bool:
    """Whether the taste or state told is that of somebody whom the author speaks of, and not the author's own too."""
    return not _OWN.search(text) and bool(_ANOTHERS.search(text) or _NAMED.search(text))
