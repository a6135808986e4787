"""Payment cards (checked by Luhn and issuer) and recovery phrases."""

from __future__ import annotations

import re

from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.secrets.rule import Rule, detector

_CARD = (
    r"(?<![\w.+\-/])(?:[2-6]\d{3}([ \-]?)(?:\d{4}\1){2}\d{1,7}|3[47]\d{2}([ \-]?)\d{6}\2\d{5}|"
    r"3[068]\d{2}([ \-]?)\d{6}\3\d{4})(?![\w\-]|\.\d)"
)
_ISSUERS = lazy(
    r"4\d{15}(?:\d{3})?|5[1-5]\d{14}|(?:222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}|220[0-4]\d{12}(?:\d{3})?|"
    r"3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:6011|65\d\d|64[4-9]\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}|"
    r"62\d{14}(?:\d{1,3})?|(?:50|5[6-9]|6\d)\d{14}(?:\d{3})?"
)
_PHRASE = (
    r"(?:seed|recovery|backup|mnemonic|secret)\s+(?:phrase|words?|seed)|mnemonic|助记词|恢复词|"
    r"(?:12|15|18|24)\s+(?:words|слов|个单词|个词)[^\n:：]{0,40}(?=[:：])|"
    r"(?:сид|seed)[- ]?фраз\w{0,2}|мнемоническ\w{2,3}\s+фраз\w{0,2}|фраз\w{0,2}\s+восстановления"
)
_WORDS = (
    r"(?:\s*(?:\bis\b|\bare\b|это|是|为|[:=：—–\-])){0,2}\s*[\"'`«“]?"
    r"((?:\d{1,2}[.)]\s*)?[a-z]{3,8}(?:[\s,]+(?:\d{1,2}[.)]\s*)?[a-z]{3,8}){11,23})"
)


def luhn(digits: str) -> bool:
    """The check digit of ISO/IEC 7812-1, annex B."""
    doubled = [int(d) * (1 + i % 2) for i, d in enumerate(reversed(digits))]
    return sum(d - 9 if d > 9 else d for d in doubled) % 10 == 0


def _is_card(text: str) -> bool:
    digits = re.sub(r"\D", "", text)
    return bool(_ISSUERS.fullmatch(digits)) and len(set(digits)) > 1 and luhn(digits)


RULES: tuple[Rule, ...] = (
    Rule("card-number", detector(_CARD, re.ASCII), accept=_is_card),
    Rule(
        "recovery-phrase",
        detector(f"(?:{_PHRASE}){_WORDS}", re.IGNORECASE),
        ("phrase", "mnemonic", "seed", "words", "слов", "词", "recovery", "助记词", "恢复词", "фраз"),
        group=1,
    ),
    Rule(
        "recovery-phrase",
        detector(r"(?:助记词|恢复词)\s{0,2}[:：是]?\s{0,3}((?:[一-鿿][ ，、]){11,23}[一-鿿])"),
        ("助记词", "恢复词"),
        group=1,
    ),
)
