"""What its author says shall not be kept, in three languages."""

from __future__ import annotations

import re
from functools import lru_cache

from openclaw_neuralstream.patterns import lazy

_ASKED = lazy(
    r"\b(?:off the record|between (?:us|you and me))\b|"
    r"\b(?:don'?t|do not|never) (?:remember|save|store|memori[sz]e|record|keep|write (?:this|that) down|log|put) "
    r"(?:this|that|it|any of this|what i|my last)\b|"
    r"\bне (?:запоминай|сохраняй|записывай)(?:те)?\b|\b(?:не для протокола|между нами)\b|"
    r"(?:不要|别|不用|请勿|不准)(?:记(?:住|录|下来?|这)|保存|存储|存下来)|(?:仅限|只有)你我|私下说|不要外传",
    re.IGNORECASE,
)


@lru_cache(maxsize=4_096)
def off_record(text: str) -> bool:
    """Whether somebody asks in it that it be not kept: "off the record", «не записывай», 别记这个."""
    return bool(_ASKED.search(text.replace("’", "'")))
