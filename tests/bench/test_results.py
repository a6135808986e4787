"""A result that is kept names the commit that gives it again, or says that there is none."""

from __future__ import annotations

import argparse
import subprocess
from pathlib import Path

import pytest

from benchmarks import report


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of one module, one page and one result, all committed; the benchmarks are its own."""
    results = tmp_path / "benchmarks" / "results"
    results.mkdir(parents=True)
    for file in ("code.py", "README.md", "benchmarks/results/a.json"):
        (tmp_path / file).write_text("1\n")
    for words in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=n", "-c", "user.email=e@x", "commit", "-q", "-m", "all"],
    ):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    monkeypatch.setattr(report, "RESULTS", results)
    return tmp_path


def started(monkeypatch: pytest.MonkeyPatch, *words: str) -> argparse.Namespace:
    """A benchmark of this command line, until it begins to measure."""
    monkeypatch.setattr("sys.argv", ["benchmark", *words])
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path)
    return report.ready(parser)


def test_what_is_committed_may_be_measured_and_other_results_and_pages_change_nothing(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started(monkeypatch)
    for file in ("README.md", "benchmarks/results/a.json"):
        (project / file).write_text("2\n")
    started(monkeypatch)
    assert "dirty" not in report.environment()["commit"]


@pytest.mark.parametrize("inside", [False, True])
def test_changed_code_is_refused_by_name_before_anything_is_measured(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], inside: bool
) -> None:
    (project / "code.py").write_text("2\n")
    with pytest.raises(SystemExit):
        started(monkeypatch, *(("--out", str(project / "benchmarks" / "results" / "b.json")) if inside else ()))
    said = capsys.readouterr().err
    assert "code.py" in said
    assert "--dirty" in said


def test_it_is_measured_all_the_same_when_asked_and_then_says_so(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "code.py").write_text("2\n")
    started(monkeypatch, "--dirty")
    assert report.environment()["commit"].endswith("-dirty")
    assert started(monkeypatch, "--out", str(project / "elsewhere.json")).dirty is False
