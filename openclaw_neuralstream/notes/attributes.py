"""What a fact tells of whom, as a key: of facts with the same key the later one holds.

Only what can be true once at a time gets a key: where somebody lives or works now, "status: …", "equity is …". An
opinion's key are its words, so that the same opinion with another confidence is the same opinion.
"""

from __future__ import annotations

import re

from openclaw_neuralstream.lexicon import content_terms
from openclaw_neuralstream.model import FactKind, slug_of

_ONE_AT_A_TIME: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        (
            "home",
            (r"\b(?:lives?|living|moved|relocated|resides|based)\s+(?:now\s+)?(?:in|to|at)\b"
            r"|(?<!\w)(?:жив[её]т|живу|переехала?|проживает)(?!\w)|住在|搬到|搬去|定居"),
        ),
        (
            "place",
            (r"^(?:is\s+)?(?:currently|now)\s+(?:in|at)\b|\bis\s+(?:currently|now)\s+(?:in|at)\b"
            r"|^(?:сейчас|теперь)\s+(?:в|на)\s|^(?:目前|现在|現在)(?:人)?在(?!学|做|用|读)"),
        ),
        (
            "work",
            (r"\b(?:works?|working)\s+(?:now\s+)?(?:at|for)\b|\bjoined\s+[A-Z]|\b(?:is|became)\s+employed\b"
            r"|(?<!\w)(?:работает|работаю|устроил(?:ся|ась))\s+(?:сейчас\s+)?(?:в|на)(?!\w)|就职于|任职于|入职|在[^，。]{1,20}工作"),
        ),
        ("age", r"\b(?:is|turned)\s+\d{1,3}\s+years?\s+old\b|(?<!\w)(?:ему|ей|исполнилось)\s+\d{1,3}\s+(?:лет|год)|\d{1,3}岁"),
        ("married", r"\bis\s+(?:married|single|divorced|engaged)\b|(?<!\w)(?:женат|замужем|разведен[а]?)(?!\w)|已婚|单身|离婚"),
    )
)  # fmt: skip
_KEYED = re.compile(
    r"^(?P<key>(?:[^\W\d_][\w'’\-]*[ \t]+){0,3}[^\W\d_][\w'’\-]*)(?:[ \t]*[:：=][ \t]*(?!//)|\s+(?:is|are)\s+(?:now\s+)?(?=[\d$€£¥₽“\"'#v])"
    r"|\s+(?:теперь|равен|равна|составляет)\s+)\S",
    re.IGNORECASE,
)
_KEYED_ZH = re.compile(r"^(?P<key>[\u4e00-\u9fff]{2,8})(?:[:：=]|(?:现在|目前)?[是为](?=[\d$€£¥“\"']))")


def attribute_of(kind: FactKind, text: str, entities: tuple[str, ...]) -> str:
    """The key of a fact: kind, of whom, what; "" where a later fact replaces nothing."""
    if kind in {FactKind.EXPERIENCE, FactKind.OBSERVATION}:
        return ""
    whom = slug_of(entities[0]) if entities else ""
    if kind is FactKind.OPINION:
        said = sorted(set(content_terms(text)))
        return f"opinion/{whom}/{' '.join(said)[:200]}" if said else ""
    plain = re.sub(r"^@\S+\s+", "", text)
    for name, pattern in _ONE_AT_A_TIME:
        if whom and pattern.search(plain):
            return f"world/{whom}/{name}"
    keyed = _KEYED.match(plain) or _KEYED_ZH.match(plain)
    key = " ".join(sorted(set(content_terms(keyed["key"])))) if keyed else ""
    return f"world/{whom}/{key}" if key and (whom or len(key) > 8) else ""
