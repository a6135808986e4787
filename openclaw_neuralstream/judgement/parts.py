"""The parts of a statement that can stand alone, each with its own subject; a part whose subject is not plain says so. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.text.lexicon import sentences

_VERB = (
    r"(?:(?:lives|works|live|work)\b(?=\s+(?:in|at|for|on|near|with|from)\b)"
    r"|(?:hates|likes|loves|plays|weighs|has|wants|needs|speaks|drinks|eats|uses|owns|drives|prefers|knows|studies"
    r"|teaches|dislikes|avoids|wears|hate|like|love|play|have|speak|drink|eat|use|own|drive|prefer|study|avoid|wear)\b"
    r"(?=\s+(?!(?:by|of|about|from|in|at|on|with|for|to|and|or)\b)\w)"
    r"|(?:does not|doesn't|do not|don't|cannot|can't|never)\s+\w+(?=\s)"
    r"|(?:не\s+)?(?:любит|ненавидит|играет|живёт|живет|работает|ест|пьёт|пьет|носит|знает|говорит|изучает|предпочитает"
    r"|водит|весит|боится|умеет|курит|терпит|переносит|люблю|играю|живу|работаю|ем|пью|ношу|знаю|говорю)(?=\s))"
)
_IS = r"(?:is|are|was|were)\b"
_NOUNS = r"(?:(?:[Tt]he|[Mm]y|[Oo]ur)\s+(?:[\w-]+\s+){0,2}?[\w-]+|(?:Моя|Мой|Наша|Наш)\s+\w+)"
_NAME = r"(?!(?:The|My|Our|She|He|It|They|Her|His|Its|Their|This|That|We|You|Я|Мы|Он|Она|Они|Мой|Моя|Её|Его)\b)[A-ZА-ЯЁ][\w-]*"
_HAN_VERB = r"(?:不?(?:喜欢|讨厌|吃|喝|会|住在|在|养|爱)|有|对)"
_CLAUSE = lazy(
    rf"(?:she|he|it|they|her|his|its|their|она|он|они|её|ее|его|их)\s|{_VERB}|(?:{_NOUNS}|{_NAME}(?:'s\s+\w+)?)\s+(?:{_IS}|{_VERB})"
)
_AND = lazy(r",?\s+(?:and|but|и|а|но)\s+", re.IGNORECASE)
_BEGINS_AND = lazy(r"^(?:(?:and|but|и|а|но)\s+|而且|并且|但是|但|也)", re.IGNORECASE)
_VERBAL = lazy(rf"\b{_IS}|\b{_VERB}|\bзовут\b")
_COMMA = lazy(r"(?<=[,;，；])\s*|(?=而且|并且)")
_WITHIN = lazy(
    r"\b(?:if|when|while|unless|that|whether|which|who|because|until|before|after|если|когда|что|пока|котор\w+)\b|如果|因为|的时候",
    re.IGNORECASE,
)
"""What makes the halves of a sentence hang on one another."""

_PRONOUN = lazy(
    r"^(?P<of>her|his|its|their|её|ее|его|их)(?:\s+)|^(?P<who>she|he|it|they|она|он|оно|они)\s+|^(?P<han>[她他它]们?)",
    re.IGNORECASE,
)
_THINGS = frozenset({"it", "its", "they", "their", "их", "они", "оно", "他们", "她们", "它们"})
_CALLED = lazy(
    rf"\b(?:is|am)\s+(?:called|named)\s+(?P<en>{_NAME})|\bname is\s+(?P<name>{_NAME})|\bзовут\s+(?P<ru>{_NAME})"
    r"|(?:叫|名叫)(?P<zh>[\u3400-\u9fff]{2,4})(?=[，。,;；]|$)"
)
_SUBJECT = lazy(
    rf"^(?P<name>{_NAME})(?='s\s|\s+(?:now\s+|теперь\s+)?(?:{_IS}|{_VERB}))|^(?P<noun>I|Я|{_NOUNS})(?=\s+{_VERB})"
    rf"|^(?P<zh>我|[\u3400-\u9fff]{{2,3}}?)(?=现在|{_HAN_VERB}|的)"
)
_NAMED_AFTER = lazy(rf"(?<!\bat )(?<!\bin )(?<!\bon )(?<!\bfrom )(?<!\bв )(?<!\bна )(?<=\s){_NAME}")
_BARE = lazy(
    r"^(?:phone|number|birthday|address|e-?mail|age|weight|name|телефон|номер|день рождения|адрес|почта|возраст|вес|имя)\b"
    r"\s*(?:number\b|номер\b)?\s*(?:$|[^\w\s]|\d|(?:is|are|was|at|in|on|в|на)\b)|^(?:的?(?:电话|手机|号码|生日|地址|邮箱|年龄|体重))",
    re.IGNORECASE,
)
"""An attribute of nobody said: whose it is may be just what was corrected."""

_DENIES = lazy(
    r"^(?:not|а не|не|is|are|was|now|теперь|(?:而)?不是|现在)(?!\w*[\u0430-\u044f])(?=\s|\d|[\u3400-\u9fff])",
    re.IGNORECASE,
)
_OF = lazy(
    r"(?:'s\s+(?!(?:phone|number|birthday|address|e-?mail|age|weight)\b)|的(?!电话|手机|号码|生日|地址|邮箱|年龄|体重))",
    re.IGNORECASE,
)
"""Behind a name: not who it is, but whose somebody is, "Tom's sister"."""

_PREDICATE = lazy(rf"^(?:{_VERB}|{_HAN_VERB})")


@dataclass(frozen=True, slots=True)
class Part:
    """A part in the words that it has alone. whole: it is a sentence as it was said. plain: it is told whom it is about.

    said: the words that it had. subject: whom the words were given that it had not ("" = none were needed).
    """

    text: str
    said: str
    whole: bool
    plain: bool = True
    subject: str = ""


def parts_of(text: str, newer: str) -> list[Part]:
    """The parts of all its sentences; newer: what corrects it, which may have taken the place of a subject."""
    found, before = [], ""
    for sentence in sentences(text):
        cut = _cut(sentence)
        for place, piece in enumerate(cut):
            whole = len(cut) == 1
            found.append(_resolved(piece, before, newer, whole=whole, first=not place))
            before = f"{before} {piece}".strip()
    return found


def _cut(sentence: str) -> list[str]:
    pieces = [piece.strip() for piece in _COMMA.split(sentence) if piece.strip()]
    if not _WITHIN.search(sentence):
        pieces = [half for piece in pieces for half in _halves(piece)]
    return pieces


def _halves(piece: str) -> list[str]:
    """Split at the "and" behind which another clause or another predicate begins, where one stands before it."""
    for match in _AND.finditer(piece):
        left, right = piece[: match.start()], piece[match.end() :]
        if _VERBAL.search(left) and _CLAUSE.match(right):
            return [left, *_halves(right)]
    return [piece]


def _resolved(piece: str, before: str, newer: str, *, whole: bool, first: bool) -> Part:
    plain = piece if first else _BEGINS_AND.sub("", piece)
    if pronoun := _PRONOUN.match(plain):
        word = pronoun[0].strip().casefold()
        who = _antecedent(before, thing=word in _THINGS)
        if not who:
            return Part(plain, piece, whole, plain=False)
        if whole and _antecedent(newer, thing=False) == who:
            return Part(plain, piece, whole)
        return Part(_with(who, pronoun, plain), piece, whole, subject=who)
    if whole or first:
        return Part(plain, piece, whole)
    if _PREDICATE.match(plain):
        who = _subject(before, newer)
        space = "" if re.match(r"[\u3400-\u9fff]", plain) else " "
        return Part(f"{who}{space}{plain}" if who else plain, piece, whole, plain=bool(who), subject=who)
    return Part(plain, piece, whole, plain=not (_BARE.match(plain) or _DENIES.match(plain)))


def _antecedent(before: str, *, thing: bool) -> str:
    """The only one whom a pronoun can mean: who is called so, or the name that the text begins with; "" = not plain."""
    called = _CALLED.search(before)
    subject = _SUBJECT.match(before)
    who = called[called.lastgroup or 0] if called else (subject["name"] or subject["zh"] or "") if subject else ""
    if not called and subject and _OF.match(before[subject.end() :]):
        return ""
    others = {match[0] for match in _NAMED_AFTER.finditer(before)} - {who}
    if others or who == "我" or (thing and not called):
        return ""
    return who


def _subject(before: str, newer: str) -> str:
    """Whom a predicate without a subject is about: who is called so, or the subject, where the correction names it, too."""
    if called := _CALLED.search(before):
        return called[called.lastgroup or 0]
    subject = _SUBJECT.match(before)
    if not subject or re.match(rf"(?:'s|\s+{_IS})|的", before[subject.end() :]):
        return ""
    if re.search(rf"{re.escape(subject[0])}\s+(?:now\s+)?{_IS}", newer, re.IGNORECASE):
        return ""  # who that is may be what was corrected
    return subject[0] if subject[0].casefold() in newer.casefold() else ""


def _with(who: str, pronoun: re.Match[str], plain: str) -> str:
    """The part with the name in the pronoun's place; a Russian name is not bent."""
    rest = plain[pronoun.end() :]
    if pronoun["han"]:
        return f"{who}{rest}"
    if pronoun["of"]:
        return f"{who}'s {rest}" if pronoun["of"].isascii() else f"{who}: {rest}"
    return f"{who} {rest}"
