"""The log as a person follows it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.cli.conftest import Cli


@pytest.fixture
def followed(cold: Cli) -> Iterator[subprocess.Popen[str]]:
    cold.state.prepare()
    (cold.state.logs / "neuralstream.log").write_text("at=1 level=info event=first\n")
    command = [
        sys.executable,
        "-m",
        "openclaw_neuralstream",
        "--state-dir",
        str(cold.state.path),
        "admin",
        "logs",
        "-f",
        "--level",
        "info",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as process:
        yield process
        process.kill()


@pytest.mark.timeout(60)
def test_following_shows_what_comes_also_after_the_log_turned_over(cold: Cli, followed: subprocess.Popen[str]) -> None:
    assert followed.stdout is not None
    log = cold.state.logs / "neuralstream.log"
    assert followed.stdout.readline() == "at=1 level=info event=first\n"
    with log.open("a") as file:
        file.write("at=2 level=debug event=hidden\nat=3 level=warning event=second\nat=4 level=info ev")
    assert followed.stdout.readline() == "at=3 level=warning event=second\n"
    with log.open("a") as file:
        file.write("ent=third\n")
    assert followed.stdout.readline() == "at=4 level=info event=third\n"
    log.rename(log.with_suffix(".log.1"))
    log.write_text("at=5 level=error event=fourth\n")
    assert followed.stdout.readline() == "at=5 level=error event=fourth\n"


def test_lines_in_the_log_cannot_steer_the_terminal(cold: Cli) -> None:
    cold.state.prepare()
    (cold.state.logs / "neuralstream.log").write_text("at=1 level=info event=\x1b[2Jx\n")
    assert "\x1b" not in cold.ok("admin", "logs")


def test_the_number_of_lines_is_kept(cold: Cli) -> None:
    cold.state.prepare()
    (cold.state.logs / "neuralstream.log").write_text("".join(f"at={n} level=info event=x\n" for n in range(200)))
    assert cold.ok("admin", "logs", "-n", "3").splitlines() == [f"at={n} level=info event=x" for n in (197, 198, 199)]
    assert len(cold.ok("admin", "logs").splitlines()) == 50
