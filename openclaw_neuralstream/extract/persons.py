"""Of whom a clause speaks, in three languages: what was said of one person must not be told of another. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from openclaw_neuralstream.extract.rules.entities import PLACE_CJK
from openclaw_neuralstream.extract.rules.words import is_chinese
from openclaw_neuralstream.extract.voices import Clause, terms_in
from openclaw_neuralstream.lexicon import content_terms
from openclaw_neuralstream.patterns import lazy

OWNER = "@owner"
_OWNER = lazy(
    r"^(?:the )?(?:owner|user)\b(?!['’]s)|^(?:i|we)(?:['’]\w+)?\b|^(?:владелец|пользователь|я|мы|мне|нам)(?!\w)|^у (?:меня|нас|владельца|пользователя)(?!\w)|"
    r"^(?:用户|主人|我们?|咱们?)(?!的|家|哥|姐|弟|妹|老[婆公]|妻|丈夫|妈|爸|爷|奶|儿子|女儿|朋友|同事|老板|领导)",
    re.IGNORECASE,
)
_KIN_EN = r"brother|sister|wife|husband|son|daughter|mother|mom|mum|father|dad|uncle|aunt|cousin|friend|colleague|boss|manager|neighbou?r|grand(?:ma|pa|mother|father)|partner|girlfriend|boyfriend|roommate|flatmate|client"
_KIN_RU = r"брат|сестр|жен|муж|сын|доч|мам|мат|пап|от[её]?ц|бабушк|дедушк|друг|подруг|коллег|начальни|сосед|т[её]щ|свекров|клиент"
_KIN_ZH = r"哥哥?|姐姐?|弟弟?|妹妹?|老婆|老公|妻子|丈夫|儿子|女儿|妈妈?|爸爸?|父亲|母亲|爷爷|奶奶|外婆|外公|朋友|同事|老板|领导|邻居|客户"
_SUBJECT = lazy(
    rf"^(?:(?:my|our|his|her|their|the owner['’]s|the user['’]s|the) )?(?:(?:older|younger|elder|little|big|best) )?(?P<kin>{_KIN_EN})s?(?!['’]s)\b(?:,? (?P<called>[A-Z][\w-]+))?|"
    rf"^(?:у )?(?:(?:мо|наш|тво|сво)\w* )?(?:(?:старш|младш|лучш)\w+ )?(?P<kin_ru>(?:{_KIN_RU})\w*)(?: (?P<called_ru>[А-ЯЁ][\w-]+))?|"
    rf"^(?:我们?家?|咱们?家?|用户的?|主人的?)?(?P<kin_zh>{_KIN_ZH})|"
    r"^(?!(?i:the|my|our|his|her|their|this|that|these|it|he|she|they|there|in|on|at|from|since|when|if|after|before|every|each|some|all|no|not|yes|we|i|a|an)\b)(?P<name>[A-Z][a-z]+)(?= [a-z])|"
    r"^(?!(?i:у|в|на|по|с|со|из|мы|я|он|она|они|это|наш\w*|мо[йяеёи]\w*|офис|компан\w*)(?!\w))(?P<name_ru>[А-ЯЁ][а-яё]+)(?<!ть)(?<!ти)(?= (?:должн?\w*|[а-яё]+(?:ет|ит|ёт|ал|ала|ил|ила|ает|яет|ует)(?!\w)))|"
    r"^(?P<name_zh>(?!小[时心学说区组孩姐])[小老阿][\u4e00-\u9fff])"
)
_ME = lazy(r"\b(?:i|me|my|we|us|our)\b|(?<!\w)(?:я|мне|меня|мы|нас|нам|мой|моя|мою)(?!\w)|我", re.IGNORECASE)
_PASSIVE = lazy(r"\b(?:by|from)\b|(?<!\w)(?:от)(?!\w)|被|由", re.IGNORECASE)
_NAME = lazy(r"(?<=[^.!?。:\s] )(?P<latin>[A-Z][a-z][\w-]*|[А-ЯЁ][а-яё][\w-]*)")
_CALLED_ZH = lazy(r"(?<![\u4e00-\u9fff])[小老阿][\u4e00-\u9fff](?=[欠说在住是有和给要]|$)")
_CALENDAR = lazy(
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun)[a-z]*|english|owner|user|agent|assistant",
    re.IGNORECASE,
)


def swapped(content: str, claims: Sequence[Clause], heard: Sequence[Clause]) -> bool:
    """Whether a clause of the content tells of one person what was said of another."""
    return not _PASSIVE.search(content) and any(_swapped(claim, heard) for claim in claims)


def _swapped(claim: Clause, heard: Sequence[Clause]) -> bool:
    who = _who(claim.text)
    rest = claim.terms - who
    most = max((len(rest & one.terms) for one in heard), default=0)
    if not who or not most or 2 * most < len(rest):
        return False
    nearest = [one for one in heard if len(rest & one.terms) == most]
    return all(_another(who, one) for one in nearest)


def _another(who: frozenset[str], said: Clause) -> bool:
    whose = _who(said.text)
    if not whose or whose & who or _PASSIVE.search(said.text):
        return False
    if OWNER in whose:
        return not who & said.terms  # "I told my brother …": which of the two is meant is not plain
    match = _subject(said.text)
    return OWNER not in who or not _ME.search(said.text.strip()[match.end() :] if match else said.text)


def _who(clause: str) -> frozenset[str]:
    text = clause.strip()
    if _OWNER.match(text):
        return frozenset({OWNER})
    match = _subject(text)
    if not match:
        return frozenset()
    named = [part for part in match.groupdict().values() if part]
    return frozenset(term for part in named for term in (part, *(() if is_chinese(part) else content_terms(part))))


def _subject(text: str) -> re.Match[str] | None:
    plain = text.strip()
    return _SUBJECT.match(plain) or _SUBJECT.match(plain[:1].lower() + plain[1:])


def unsaid_names(content: str, said: Iterable[str]) -> list[str]:
    """Names in the content that stand nowhere in what was said; days and months are none."""
    text = "\n".join(said)
    known, folded = terms_in(text), text.casefold()
    found = [match["latin"] for match in _NAME.finditer(content) if not _CALENDAR.fullmatch(match["latin"])]
    written = [match[0] for pattern in (PLACE_CJK, _CALLED_ZH) for match in pattern.finditer(content)]
    lost = [name for name in found if name.casefold() not in folded and not _known(name, known)]
    return lost + [name for name in written if name not in text]


def _known(name: str, known: frozenset[str]) -> bool:
    terms = set(content_terms(name))
    return bool(terms) and terms <= known
