"""How months are called: the stems by which one is told, and what of a pattern finds any of them."""

from __future__ import annotations

MONTHS_EN = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTHS_RU = ("январ", "феврал", "март", "апрел", "ма", "июн", "июл", "август", "сентябр", "октябр", "ноябр", "декабр")

A_MONTH_EN = "|".join(MONTHS_EN)
A_MONTH_RU = "|".join("ма[яй]" if stem == "ма" else stem for stem in MONTHS_RU)
"""Alternatives, to be put in brackets; "ма" alone begins many words."""
