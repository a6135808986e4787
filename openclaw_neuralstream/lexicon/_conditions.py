"""Whether a text tells of an allergy or an illness that stays: how somebody is made, no wish and no opinion."""

from __future__ import annotations

import re

from openclaw_neuralstream.patterns import lazy

_CONDITION = lazy(
    r"\b(?:allerg|anaphyla|intoleran|lactose|c(?:o)?eliac|diabet|asthma|epilep)|\b(?:аллерги|непереносим|целиаки|диабет|астм|эпилепс)|"
    r"过敏|不耐受|乳糜泻|糖尿病|哮喘|癫痫",
    re.IGNORECASE,
)


def names_condition(text: str) -> bool:
    """Whether an allergy, an intolerance or a lasting illness is named."""
    return bool(_CONDITION.search(text))
