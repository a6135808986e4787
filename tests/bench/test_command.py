"""`python -m benchmarks.extraction` as people run it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from benchmarks.extraction.__main__ import main
from openclaw_neuralstream.errors import VendorAway


@pytest.fixture(autouse=True)
def _nobodys_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEURALSTREAM_STATE_DIR", str(tmp_path / "state"))


def bench(*words: str) -> Result:
    return CliRunner().invoke(main, words)


def test_the_bench_writes_its_report(tmp_path: Path) -> None:
    out = tmp_path / "result.json"
    shown = bench("--limit", "2", "--out", str(out)).stdout
    report = json.loads(out.read_text())
    assert "recall" not in shown.splitlines()[0]  # a pipe has no header
    assert [report[name]["conversations"] for name in ("all", "en", "zh", "ru")] == [6, 2, 2, 2]
    assert report["settings"]["part"] == "dev"
    assert report["extractors"][0]["name"] == "rules"
    low, high = report["all"]["interval95"]["recall"]
    assert 0 <= low <= report["all"]["recall"] <= high <= 1
    assert not (tmp_path / "state").exists()


def test_the_bench_of_one_language_speaks_of_that_one() -> None:
    report = json.loads(bench("--language", "ru", "--limit", "1", "--json").stdout)
    assert (report["ru"]["conversations"], report["en"]["conversations"]) == (1, 0)


def test_conversations_of_ones_own_are_scored(tmp_path: Path) -> None:
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev" / "en-own.txt").write_text("\n# tea: plain\n> I am allergic to peanuts.\n< Noted.\n")
    assert json.loads(bench("--conversations", str(tmp_path), "--json").stdout)["all"]["conversations"] == 1
    assert "no conversations" in bench("--conversations", str(tmp_path), "--part", "heldout").stderr


def test_a_model_that_does_not_answer_ends_the_bench() -> None:
    result = bench("--extractor", "ollama", "--limit", "1", "--set", "ollama_url=http://127.0.0.1:9")
    assert isinstance(result.exception, VendorAway)
    assert "127.0.0.1:9" in str(result.exception)


def test_a_setting_without_a_value_is_not_understood() -> None:
    assert bench("--set", "gem_model").exit_code == 2
