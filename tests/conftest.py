"""Small worlds for tests: a memory in a temporary folder, turns, a clock that the test moves."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

_REPEATABLE = bool(os.environ.get("CI"))  # elsewhere each run looks at new examples
settings.register_profile(
    "quick", max_examples=40, deadline=None, derandomize=_REPEATABLE, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("long", max_examples=1_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


class TestClock:
    """A clock that stands still until the test moves it."""

    __test__ = False

    def __init__(self, start: datetime) -> None:
        self.at = start

    def __call__(self) -> datetime:
        return self.at

    def move(self, **by: float) -> None:
        self.at += timedelta(**by)


@pytest.fixture
def clock() -> TestClock:
    return TestClock(datetime(2026, 11, 21, 9, 0, tzinfo=UTC))


@pytest.fixture(autouse=True)
def _no_settings_of_the_developer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Tests never see the machine's own memory, settings or services."""
    for name in [name for name in os.environ if name.startswith(("NEURALSTREAM_", "OPENCLAW_", "OLLAMA_"))]:
        if name != "OPENCLAW_DIR":
            monkeypatch.delenv(name)
    monkeypatch.setenv("NEURALSTREAM_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("NEURALSTREAM_OLLAMA_URL", "http://127.0.0.1:9")  # nobody listens on the discard port


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The long ones first, so that no worker is left alone with one at the end."""
    items.sort(key=lambda item: not any(item.get_closest_marker(name) for name in ("drill", "model", "host")))
