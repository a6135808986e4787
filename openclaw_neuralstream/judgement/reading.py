"""A statement taken apart so that two can be compared: what it is about, its values, its polarity, what it denies."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache

from openclaw_neuralstream.judgement import words
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.text.lexicon import (
    HATED,
    LIKED,
    MONTHS_RU,
    NEGATED,
    REVOKED,
    is_stop,
    sentences,
    speaks_of,
    stem,
)

_DATED = lazy(r"[(（]\d{4}-\d{2}(?:-\d{2})?(?:[^)）]{0,30})?[)）]")
_HAN = "\u3400-\u9fff"
_DATED_CHINESE = lazy(rf"(?<=[{_HAN}\d])\s*{_DATED.pattern}\s*(?=[{_HAN}，。；！？])")
_OTHER_SCRIPT = lazy(rf"[{_HAN}\u0400-\u04ff]")
_TOKEN = lazy(
    rf"@[a-z]+|(?:周|星期|礼拜)[一二三四五六日天]|\d{{1,4}}年(?:\d+月)?(?:\d+[日号])?|\d+月(?:\d+[日号])?|\d+[日号点]|[{_HAN}]|\d(?:[^\W{_HAN}]|[.,:/-](?=[^\W{_HAN}]))*|[^\W\d_{_HAN}](?:[^\W{_HAN}]|['’_.:/@+-](?=[^\W{_HAN}]))*[+#]*"
)
_DIGIT = lazy(r"\d")
_PART = lazy(rf"[,;，；。！？!?]\s*|[.:：](?=\s|$)|(?<=[{_HAN}])\s+(?=[{_HAN}\d])")
_DAYS = frozenset(
    [
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "januari",
        "februari",
        "march",
        "april",
        "may",
        "june",
        "juli",
        "august",
        "septemb",
        "octob",
        "novemb",
        "decemb",
        "morn",
        "afternoon",
        "even",
        "night",
        "noon",
        "midnight",
        "tomorrow",
        "понедельник",
        "вторник",
        "сред",
        "четверг",
        "пятниц",
        "суббот",
        "воскресен",
        *MONTHS_RU,
        "утр",
        "вечер",
        "ноч",
        "обед",
        "полден",
    ]
)


_DAYS_EN = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday", "January", "February"]
_CHINESE_VALUES = frozenset("一二三四五六七八九十百千万两点月号早晚上午下")
_CHINESE_LIGHT = frozenset(
    "我你他她它们的了着过在是有和与就都也很还吗呢吧啊把被给对让这那个每天将于上下里中年前后面吃喝做说要会能"
)
_YEAR = lazy(r"(?:19|20)\d\d")
_NOT_VALUES = frozenset({"@home", "@job", "@name", "@language"})


@cache
def _days() -> frozenset[str]:
    return _DAYS | {stem(day) for day in _DAYS_EN}


@dataclass(frozen=True, slots=True)
class Clause:
    """A sentence of a statement. before, after: its terms on both sides of the attribute. own: it is about the speaker."""

    attribute: str
    before: frozenset[str]
    after: tuple[str, ...]
    own: bool


@dataclass(frozen=True, slots=True)
class Said:
    """A statement as its terms in order, and what its words give away.

    frame: all its words in order, but for those that say that something changed.
    parts: what stands between its commas and stops, as it was said.
    rejected: values that it says are no more so, each as its terms. liking: 1 likes, −1 hates, 0 neither.
    """

    text: str
    frame: tuple[str, ...]
    terms: tuple[str, ...]
    clauses: tuple[Clause, ...]
    rejected: tuple[frozenset[str], ...]
    negated: bool
    changed: bool
    revoked: bool
    hearsay: bool
    guessed: bool
    past: bool
    own: bool
    liking: int
    chinese: bool
    parts: tuple[str, ...]

    @property
    def all(self) -> frozenset[str]:
        """Its terms."""
        return frozenset(self.terms)

    @property
    def kept(self) -> frozenset[str]:
        """Its terms without what it only denies."""
        denied = frozenset(term for old in self.rejected for term in old)
        return self.all - denied

    @property
    def attributes(self) -> frozenset[str]:
        """The attributes it speaks of."""
        return frozenset(clause.attribute for clause in self.clauses if clause.attribute)


@lru_cache(maxsize=8_192)
def read(text: str) -> Said:
    """The statement taken apart. Total: any text is taken."""
    plain = plain_of(text)
    own, _ = speaks_of(plain)
    liked, hated = bool(LIKED.search(plain)), bool(HATED.search(plain))
    return Said(
        text=same_text(plain),
        frame=tuple(match[0].casefold() for match in _TOKEN.finditer(words.CHANGED.sub(" ", plain))),
        terms=terms_of(plain),
        clauses=tuple(clause for part in sentences(plain) or [plain] for clause in _clauses(part)),
        rejected=_rejected(plain),
        negated=bool(NEGATED.search(plain)) or bool(REVOKED.search(plain)),
        changed=bool(words.CHANGED.search(plain)),
        revoked=bool(REVOKED.search(plain)),
        hearsay=bool(words.HEARSAY.search(plain)),
        guessed=bool(words.GUESSED.search(plain)),
        past=bool(words.PAST.search(plain)),
        own=own,
        liking=-1 if hated or (liked and NEGATED.search(plain)) else int(liked),
        chinese=bool(re.search(f"[{_HAN}]", plain)),
        parts=tuple(part.strip() for part in _PART.split(plain) if part.strip()),
    )


def plain_of(text: str) -> str:
    """Folded, on one line, without the days that extraction wrote out in brackets."""
    folded = unicodedata.normalize("NFKC", text).replace("’", "'")
    return " ".join(_DATED.sub(" ", _DATED_CHINESE.sub("", folded)).split())


def tokens(text: str) -> list[tuple[int, int]]:
    """Where the words of a text begin and end, as terms are made of them; the text as it is."""
    return [match.span() for match in _TOKEN.finditer(text)]


def same_text(plain: str) -> str:
    """What makes two contents the same word for word."""
    return " ".join(plain.casefold().split()).strip(" .!?。！？")


def is_value(term: str) -> bool:
    """A number, a day, a time, an address: what changes while the matter stays."""
    return (
        bool(_DIGIT.search(term))
        or "@" in term[1:]
        or term in _days()
        or term[:1] in "周星礼"
        or term in _CHINESE_VALUES
    )


def years(terms: frozenset[str]) -> frozenset[str]:
    """The years among the terms."""
    return frozenset(term for term in terms if _YEAR.fullmatch(term))


def terms_of(plain: str, *, foreign: bool | None = None) -> tuple[str, ...]:
    """Its terms in order: stems, single Chinese characters, numbers as they are; attributes by their name.

    foreign: whether it stands in a text of another script, where an English word is a name: "Go".
    """
    return tuple(term for term in _raw(_named(plain), foreign=foreign) if term)


def _named(plain: str) -> str:
    for alternatives, one in words.CANON_CHINESE:
        plain = re.sub(alternatives, one, plain)
    for name, pattern in words.ATTRIBUTES:
        plain = pattern.sub(f" {name} ", plain)
    plain = words.LIGHT_CHINESE.sub(" ", plain)
    for pattern in (HATED, LIKED, REVOKED):
        plain = pattern.sub(" ", plain)
    return plain


def _raw(text: str, *, foreign: bool | None = None) -> list[str]:
    found = []
    foreign = bool(_OTHER_SCRIPT.search(text)) if foreign is None else foreign
    for match in _TOKEN.finditer(text):
        word = match[0]
        if word[0] == "@" or _DIGIT.match(word) or (len(word) > 1 and word[0] in "周星礼"):
            found.append(word.lower().rstrip(".,:"))
            continue
        if number := words.NUMBERS.get(word.lower()):
            found.append(number)
            continue
        if re.match(f"[{_HAN}]", word):
            if word not in _CHINESE_LIGHT:
                found.append(word)
            continue
        root = stem(word)
        root = words.CANON.get(root, root)
        light = root in words.LIGHT or is_stop(root) or is_stop(word.lower())
        if not light or (foreign and word.isascii()):
            found.append(root)
    return found


def _clauses(part: str) -> list[Clause]:
    """One clause per attribute of the sentence; the sentence itself when it speaks of none."""
    named = _named(part)
    own, _ = speaks_of(part)
    found = []
    for match in re.finditer(r"@[a-z]+", named):
        if match[0] in words.SINGLE:
            before, after = _raw(named[: match.start()]), _raw(named[match.end() :])
            found.append(
                Clause(
                    match[0], frozenset(t for t in before if t[0] != "@"), tuple(t for t in after if t[0] != "@"), own
                )
            )
    return found or [Clause("", frozenset(_raw(named)), (), own)]


def _rejected(plain: str) -> tuple[frozenset[str], ...]:
    found = []
    foreign = bool(_OTHER_SCRIPT.search(plain))
    for pattern in words.REJECTED:
        for match in pattern.finditer(plain):
            old = frozenset(term for term in terms_of(match["old"], foreign=foreign) if term[0] != "@")
            if 0 < len(old) <= (12 if re.search(f"[{_HAN}]", plain) else 5):
                found.append(old)
    return tuple(found)


def slots(clause: Clause) -> tuple[frozenset[str], frozenset[str]]:
    """(subject, value) of a clause with an attribute: a verb's value stands behind it, a noun's is what looks like one."""
    after = frozenset(clause.after)
    if clause.attribute in _NOT_VALUES:  # "in July we moved to …": when is no part of whom
        return frozenset(term for term in clause.before if not is_value(term)), after
    values = frozenset(term for term in after | clause.before if is_value(term))
    if values:
        return (clause.before | after) - values, values
    return (
        (clause.before, after) if clause.before else (frozenset(clause.after[:1]), after - frozenset(clause.after[:1]))
    )
