"""A stand-in for the host, where the real one would only cost time."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from openclaw_neuralstream.server import client
from openclaw_neuralstream.state import StateDir

FAKE = Path(__file__).with_name("fake_openclaw.py")


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StateDir]:
    own = StateDir(tmp_path / "state")
    openclaw = tmp_path / "openclaw"
    openclaw.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{FAKE}" "$@"\n')
    openclaw.chmod(0o755)
    for name, value in {
        "NEURALSTREAM_STATE_DIR": str(own.path),
        "OPENCLAW_BIN": str(openclaw),
        "OPENCLAW_GATEWAY_PORT": "9",
        "FAKE_CONFIG": str(tmp_path / "openclaw.json"),
        "PYTHONPATH": os.pathsep.join([str(FAKE.parents[2]), os.environ.get("PYTHONPATH", "")]),
    }.items():
        monkeypatch.setenv(name, value)
    yield own
    client.stop(own)
