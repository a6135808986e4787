"""What a check says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Grade(StrEnum):
    """How bad it is. BROKEN: something that should happen does not."""

    OK = "ok"
    NOTE = "note"
    WARNING = "warning"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Finding:
    """One result. `fix` is what to type; empty where there is nothing to mend."""

    check: str
    grade: Grade
    what: str
    why: str = ""
    fix: str = ""


def ok(check: str, what: str) -> Finding:
    """All is well."""
    return Finding(check, Grade.OK, what)


def note(check: str, what: str, why: str = "", fix: str = "") -> Finding:
    """Worth knowing; nothing is wrong."""
    return Finding(check, Grade.NOTE, what, why, fix)


def warning(check: str, what: str, why: str, fix: str) -> Finding:
    """It works, and not as well as it should."""
    return Finding(check, Grade.WARNING, what, why, fix)


def broken(check: str, what: str, why: str, fix: str) -> Finding:
    """It does not work."""
    return Finding(check, Grade.BROKEN, what, why, fix)


def worst(findings: Sequence[Finding]) -> Grade:
    """The worst grade among them; OK when there are none."""
    order = list(Grade)
    return max((finding.grade for finding in findings), key=order.index, default=Grade.OK)
