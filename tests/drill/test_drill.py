"""Killed two hundred times, with the model, the index and Redis taken away and brought back: nothing lost, nothing twice."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.drill.long import long_drill
from tests.drill.run import Report

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 200
STILL_SECONDS = 60
"""Uptime in which turns may be due, with every service there, and none is extracted."""


def drilled(folder: Path, *options: str) -> Report:
    """In a process of its own: each life is a fork of it, and here are threads and whatever the tests before have left."""
    command = [sys.executable, "-m", "tests.drill", "--rounds", str(ROUNDS), "--folder", str(folder / "drill"), *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr[-4000:]
    said = json.loads(done.stdout.splitlines()[-1])
    return Report(**{name: value for name, value in said.items() if name in Report.__dataclass_fields__})


def well(report: Report) -> bool:
    """The drill was one (turns got through, services were away), and nothing is missing, double or unindexed."""
    assert report.well, report
    assert report.extracted == report.gems >= report.acknowledged - report.forgotten > ROUNDS / 4, report
    assert report.forgotten > 0 < report.edited, report
    assert report.stood_still < STILL_SECONDS, report
    return report.outages > ROUNDS / 10


@pytest.mark.drill
@pytest.mark.timeout(600)
def test_with_the_embedded_buffer(tmp_path: Path):
    assert well(drilled(tmp_path, "--buffer", "embedded", "--seed", "20261121"))


@pytest.mark.drill
@pytest.mark.server
@pytest.mark.timeout(600)
def test_with_both_servers_killed_too(tmp_path: Path):
    assert well(drilled(tmp_path, "--buffer", "redis", "--index", "qdrant", "--seed", "20261122"))


@pytest.mark.drill
@pytest.mark.server
@pytest.mark.timeout(300)
@pytest.mark.parametrize("embedded", [False, True], ids=["redis", "embedded"])
def test_turns_through_the_real_process_are_accounted_for_while_everything_is_taken_away(tmp_path: Path, embedded: bool):
    report = long_drill(tmp_path, turns=60, seed=11, kills=True, every=8, embedded=embedded)
    assert (report.lost, report.twice, report.waiting, report.behind, report.crashes) == (0, 0, 0, 0, 0), report
    assert (report.extracted, report.gems, report.indexed) == (60, report.facts, report.facts), report
    assert sum(report.outages.values()) >= 5, report
