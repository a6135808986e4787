"""Numbers that name a person or an account: IBAN, identity cards, passports; by their check digits where they have some."""

from __future__ import annotations

import re

from openclaw_neuralstream.secrets.rule import Rule, detector

_IBAN = r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?:[ ]?[A-Z0-9]{4}){2,7}(?:[ ]?[A-Z0-9]{1,4})?(?![A-Za-z0-9])"
_CHINESE_ID = (
    r"(?<![0-9A-Za-z])[1-9]\d{5}(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dXx](?![0-9A-Za-z])"
)
_SNILS = r"(?<![\d\-])\d{3}-\d{3}-\d{3}[ \-]\d{2}(?![\d\-])"
_SSN = r"\b(?:ssn|social security(?: number| no\.?)?)\b\W{0,3}(?:is\b|was\b)?\s{0,3}(\d{3}-?\d{2}-?\d{4})(?!\d)"
_PASSPORT = (
    r"(?:\bpassport(?:\s+(?:no|number|nr|#))?\b\.?|护照(?:号码?)?|паспорт\w{0,3}(?:\s+\w{2,12}){0,3})"
    r"\s{0,3}(?:is\b|[:：#№—–\-是])?\s{0,3}((?-i:[A-Z]{1,2})\d{6,9}|\d{2}\s?\d{2}\s?№?\s?\d{6})(?!\d)"
)
_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)


def _is_iban(text: str) -> bool:
    """ISO 13616: letters as numbers, the first four characters last, modulo 97 is 1."""
    plain = text.replace(" ", "")
    if not 15 <= len(plain) <= 34:
        return False
    return int("".join(str(int(char, 36)) for char in plain[4:] + plain[:4])) % 97 == 1


def _is_chinese_id(text: str) -> bool:
    """GB 11643: the last character is a weighted sum modulo 11."""
    total = sum(int(digit) * weight for digit, weight in zip(text, _WEIGHTS, strict=False))
    return "10X98765432"[total % 11] == text[-1].upper()


RULES: tuple[Rule, ...] = (
    Rule("bank-account", detector(_IBAN), accept=_is_iban),
    Rule("identity-number", detector(_CHINESE_ID, re.ASCII), accept=_is_chinese_id),
    Rule("identity-number", detector(_SNILS, re.ASCII)),
    Rule("identity-number", detector(_SSN, re.IGNORECASE), ("ssn", "social security"), group=1),
    Rule("passport-number", detector(_PASSPORT, re.IGNORECASE), ("passport", "护照", "паспорт"), group=1),
)
