"""A memory file in a temporary folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from openclaw_neuralstream.store.truth import Truth


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.sqlite"


@pytest.fixture
def truth(path: Path) -> Iterator[Truth]:
    opened = Truth.open(path)
    yield opened
    opened.close()
