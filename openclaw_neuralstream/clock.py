"""The one place that asks the system what time it is."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The present moment, in UTC."""
    return datetime.now(UTC)
