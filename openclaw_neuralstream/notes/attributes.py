"""What a fact tells of whom, as a key: of facts with the same key the later one holds.

Only what can be true once at a time, and is said of the fact's own subject from its first word on, gets a key: where
somebody lives or works now, "status: …", "equity is …". "His mother moved to Madrid" says nothing of where he lives. In
doubt a fact replaces nothing: two that are both shown do less harm than one that hides what is true. An opinion's key are
its words, so that the same opinion with another confidence is the same opinion.
"""

from __future__ import annotations

import re

from openclaw_neuralstream.lexicon import content_terms
from openclaw_neuralstream.model import FactKind, slug_of
from openclaw_neuralstream.notes.mentions import entities_in
from openclaw_neuralstream.patterns import lazy

_WHO = (
    r"(?:(?:he|she|they|i)(?:['’](?:s|m|re|ve))?\s+|(?:он|она|они|я)\s+|他们?|她们?|我)?"
    r"(?:(?:(?:is|are|am|has|have|now|currently|still|already|recently|just)\s+)|(?:(?:сейчас|теперь|уже|недавно|пока)\s+)"
    r"|(?:现在|現在|目前|如今|已经|已經|刚|剛|最近|今年|已|人))*"
)
_NOW = r"(?:(?:now|currently|сейчас|теперь|again|снова)\s+)?"
_CALLED = r"(?:the\s+)?[\"“«]?(?-i:[^\W\d_a-zа-яё])"
"""A name: what begins with a capital letter, or with one of a script that has none."""
_CALLED_RU = r"(?:компани[июя]\s+[\"“«]?(?-i:[A-ZА-ЯЁ])|[\"“«]?(?-i:[А-ЯЁ])|[\"“«])"
_END = r"(?=\s*(?:$|[.,;!?。，；！（(]))"

_ONE_AT_A_TIME: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, lazy(rf"{_WHO}(?:{pattern})", re.IGNORECASE))
    for name, pattern in (
        (
            "home",
            (rf"(?:lives?|living|resides|based)\s+{_NOW}(?:in|at)\s+(?!(?:an?|the|his|her|my|our|their|one|two|three)\s)\w"
             rf"|(?:moved|relocated)\s+{_NOW}to\s+{_CALLED}"
             rf"|(?:жив[её]т|живу|проживает|переехала?|перебрал(?:ся|ась))\s+{_NOW}(?:в|во|на)\s+(?:город[е]?\s+)?{_CALLED}"
             r"|(?:住在|搬到|搬去|搬至|定居(?:在|于|於)?)了?(?![一二两三四五六七八九十几0-9这那他她它我自别新])"),
        ),
        (
            "place",
            (rf"(?<=now )(?:in|at)\s+{_CALLED}|(?<=currently )(?:in|at)\s+{_CALLED}"
             rf"|(?:(?<=сейчас )|(?<=теперь ))(?:в|на)\s+{_CALLED}"
             r"|(?:(?<=目前)|(?<=现在)|(?<=現在)|(?<=目前人)|(?<=现在人)|(?<=現在人))在(?![学做用读看写想找等忙吃学學寫讀])[^，。]{1,12}" + _END),
        ),
        (
            "work",
            (rf"(?:works?|working|employed)\s+{_NOW}(?:as\s+(?:an?\s+)?(?=\S)[\w \-]{{2,40}}?\s+)?(?:at|for|by)\s+{_CALLED}|joined\s+{_CALLED}"
             rf"|(?:работает|работаю|устроил(?:ся|ась))\s+{_NOW}(?:в|во)\s+{_CALLED_RU}"
             rf"|(?:就职于|就職於|任职于|任職於|入职|入職)了?|在(?!家|晚|夜|周|早|深|外|线)[^，。的]{{1,20}}工作了?{_END}"),
        ),
        (
            "age",
            (r"(?:turned\s+)?\d{1,3}\s+years?\s+old\b|turned\s+\d{1,3}" + _END +
             r"|(?:(?:ему|ей|мне)\s+)?(?:(?:сейчас|уже)\s+)?(?:исполнилось\s+)?\d{1,3}\s+(?:лет|год[а]?)" + _END
             + r"|满?\d{1,3}(?:岁|歲)了?" + _END),
        ),
        (
            "married",
            (r"(?:married|single|divorced|engaged)(?![\w\-]|\s+(?:in|with|on|out)\b)"
             r"|(?:не\s+)?(?:женат|замужем|холост|разведена?)(?!\w)|(?:已婚|未婚|单身|單身|离婚|離婚|结婚|結婚)了?" + _END),
        ),
    )
)  # fmt: skip

_KEYS = lazy(
    "status|state|phase|stage|progress|equity|balance|price|rent|salary|budget|phone|telephone|mobile|e-?mail|mail|address"
    "|age|birthday|deadline|version|release|port|host|url|branch|role|job|employer|home|timezone|weight|height|size|limit"
    "|owner|статус|состояние|этап|стадия|прогресс|капитал|баланс|цена|аренда|зарплата|бюджет|телефон|почта|адрес|возраст"
    "|версия|релиз|порт|хост|ветка|роль|должность|срок|дедлайн|вес|рост|размер|лимит"
)
"""The words before a colon that have one value at a time. Any other ("idea: …", "child: …") may have many."""
_KEYS_ZH = (
    "状态|狀態|阶段|階段|进度|進度|净值|余额|餘額|价格|價格|租金|工资|薪水|预算|預算|电话|電話|手机|手機|邮箱|郵箱|地址|年龄|年齡|生日"
    "|截止日期|期限|版本|端口|主机|分支|职位|職位|时区|体重|身高|上限|负责人"
)
_KEYED = lazy(
    r"(?P<key>(?:[^\W\d_][\w'’\-]*[ \t]+){0,3}[^\W\d_][\w'’\-]*)(?:[ \t]*[:：=][ \t]*(?!//)|\s+(?:is|are)\s+(?:now\s+)?(?=[\d$€£¥₽“\"'#v])"
    r"|\s+(?:теперь|равен|равна|составляет)\s+)\S",
    re.IGNORECASE,
)
_KEYED_ZH = lazy(
    rf"(?P<key>[\u4e00-\u9fff]{{0,8}}?(?:{_KEYS_ZH}))[ \t]*(?:[:：=]|(?:现在|現在|目前)?[是为為](?=[\d$€£¥“\"'])).",
    re.DOTALL,
)


def attribute_of(kind: FactKind, text: str, entities: tuple[str, ...]) -> str:
    """The key of a fact: kind, of whom, what; "" where a later fact replaces nothing."""
    if kind in {FactKind.EXPERIENCE, FactKind.OBSERVATION}:
        return ""
    whom = slug_of(entities[0]) if entities else ""
    if kind is FactKind.OPINION:
        said = sorted(set(content_terms(text)))
        return f"opinion/{whom}/{' '.join(said)[:200]}" if said else ""
    plain = _without_subject(text, entities)
    if whom in {slug_of(name) for name in entities_in(plain)}:
        return ""  # named in passing: "lives with @Anna in Oslo" is nobody's home
    for name, pattern in _ONE_AT_A_TIME:
        if whom and pattern.match(plain):
            return f"world/{whom}/{name}"
    key = _key(plain)
    return f"world/{whom}/{key}" if key and (whom or " " in key or len(key) > 8) else ""


def _without_subject(text: str, entities: tuple[str, ...]) -> str:
    """The text behind its own subject's name, where it begins with it: "Peter lives …", "@Peter lives …"."""
    plain = text.lstrip("@＠")
    for name in (entities[0], *entities[0].split()[:1]) if entities else ():
        if plain.casefold().startswith(name.casefold()):
            rest = plain[len(name) :]
            if rest[:1].isspace() or (
                rest and not name[-1].isascii() and not rest[0].isascii() and not _cyrillic(name)
            ):
                return rest.strip()
    return text.strip()


def _cyrillic(name: str) -> bool:
    return "\u0400" <= name[-1] <= "\u052f"


def _key(plain: str) -> str:
    """What a text names before its value, if such a thing has one value at a time."""
    keyed = _KEYED.match(plain)
    if keyed:
        words = keyed["key"].casefold().split()
        if _KEYS.fullmatch(words[-1]) or ("а" <= words[0][0] <= "я" and _KEYS.fullmatch(words[0])):
            return " ".join(sorted(set(content_terms(keyed["key"]))))
    keyed = _KEYED_ZH.match(plain)
    return " ".join(sorted(set(content_terms(keyed["key"])))) if keyed else ""
