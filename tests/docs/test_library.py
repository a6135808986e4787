"""The scripts of docs/library.md run as they are printed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from openclaw_neuralstream import Memory
from openclaw_neuralstream.server import client
from openclaw_neuralstream.state import StateDir
from tests.docs.reference import ROOT

PAGE = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
SCRIPTS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("script", SCRIPTS, ids=["in the process", "over the socket"])
def test_a_script_of_the_page_runs(script: str, tmp_path: Path) -> None:
    state = StateDir(tmp_path / "state")
    env = {**os.environ, "NEURALSTREAM_STATE_DIR": str(state.path), "NEURALSTREAM_OLLAMA_URL": "http://127.0.0.1:9"}
    try:
        done = subprocess.run(
            [sys.executable, "-c", script],
            cwd=tmp_path,
            env=env,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.strip()
        if "remember(" in script:
            assert "5544" in done.stdout
    finally:
        client.stop(state)


def test_every_verb_of_the_page_exists() -> None:
    verbs = re.findall(r"`(\w+)\(", PAGE.partition("| verb of `Memory`")[2].partition("\n\n")[0])
    assert [verb for verb in verbs if not hasattr(Memory, verb)] == []
    assert len(verbs) >= 9
