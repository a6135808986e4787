"""Host tests: one gateway a module (its start costs 20 to 40 s). Skipped without the host, unless CI says it must be there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from openclaw_host import node
from openclaw_host.gateway import Host

HERE = Path(__file__).resolve().parent
MISSING = "OpenClaw is not installed; type: python tests/host/install_host.py"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.host)
            item.add_marker(pytest.mark.timeout(600))


@pytest.fixture(scope="session", autouse=True)
def _installed() -> None:
    if node.node() and node.openclaw():
        return
    if os.environ.get("CI") == "true":
        pytest.fail(MISSING)
    pytest.skip(MISSING)


@pytest.fixture
def host(running: Host) -> Host:
    """The gateway that a module keeps running, its model as at the start; a module of another habit has its own."""
    running.model.reset()
    return running
