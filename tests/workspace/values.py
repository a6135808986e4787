"""Evidence by the handful."""

from datetime import date, timedelta
from typing import Any

from openclaw_neuralstream.workspace.opinions import EXPERIENCE, OPINION, WORLD, Evidence

TODAY = date(2026, 11, 21)


def day(number: int) -> date:
    """The numbered day of November 2026."""
    return date(2026, 11, 1) + timedelta(days=number - 1)


def said(kind: str, text: str, on: int = 20, *about: str, line: int = 3, **more: Any) -> Evidence:
    """A bullet of the daily log of that day."""
    when = day(on)
    return Evidence(f"memory/{when}.md#L{line}", kind, text, about, day=when, **more)


def world(text: str, on: int = 20, *about: str, **more: Any) -> Evidence:
    return said(WORLD, text, on, *about, **more)


def experience(text: str, on: int = 20, *about: str, **more: Any) -> Evidence:
    return said(EXPERIENCE, text, on, *about, **more)


def thinks(text: str, on: int = 20, *about: str, **more: Any) -> Evidence:
    return said(OPINION, text, on, *about, **more)
