"""Each trouble of the process has its finding, and the finding names the command that mends it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from openclaw_neuralstream.cli.checks.finding import Finding, Grade, worst
from openclaw_neuralstream.cli.checks.process import process
from openclaw_neuralstream.memory.wiring import open_memory
from openclaw_neuralstream.server.status import status

VERSION = "0.1.0"
TODAY = datetime(2026, 11, 21, 9, tzinfo=UTC)


@pytest.fixture(scope="module")
def real_status(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """What a real, healthy memory says of itself."""
    patch = pytest.MonkeyPatch()
    patch.setenv("NEURALSTREAM_OLLAMA_URL", "http://127.0.0.1:9")
    memory = open_memory(tmp_path_factory.mktemp("doctor") / "state", start=False)
    memory.truth.count("turns.new", 3)
    yield status(memory)
    memory.close()
    patch.undo()


@pytest.fixture
def now(real_status: dict[str, Any]) -> dict[str, Any]:
    healthy = copy.deepcopy(real_status)
    healthy["version"] = VERSION
    return healthy


def bad(now: dict[str, Any]) -> list[Finding]:
    return [finding for finding in process(now, version=VERSION, today=TODAY) if finding.grade in (Grade.WARNING, Grade.BROKEN)]


def test_nothing_is_wrong_with_a_healthy_memory(now: dict[str, Any]) -> None:
    assert bad(now) == []


def put(path: str, value: object) -> Callable[[dict[str, Any]], None]:
    def change(now: dict[str, Any]) -> None:
        *folders, last = path.split("/")
        for folder in folders:
            now = now[folder]
        now[last] = value

    return change


FULL = {"what": "Redis is full", "where": "redis://h:6379/0", "fix": "raise maxmemory"}
LATE = {"recall.deadline": 5, "injected.turns": 20, "injected.nothing": 5}


@pytest.mark.parametrize(
    ("changes", "check", "grade", "says", "fix"),
    [
        ([put("version", "0.0.9")], "process", "warning", "0.0.9", "neuralstream admin stop"),
        ([put("salvaged", "2026-11-21: 3 gems")], "memory", "warning", "2026-11-21: 3 gems", "gems list"),
        ([put("last_turn", "2026-11-15T08:00:00Z")], "memory", "warning", "no turn was captured for 6 days", "neuralstream admin canary"),
        ([put("settings/capture/value", False)], "capture", "warning", "capture is false", "config set capture true"),
        ([put("settings/inject/value", False)], "inject", "warning", "inject is false", "config set inject true"),
        ([put("failures", {"RedisBuffer": FULL})], "services", "broken", "turn buffer: Redis is full (redis://h:6379/0)", "raise maxmemory"),
        ([put("buffer/unreached", ["RedisBuffer"])], "services", "warning", "how many turns wait in the turn buffer is not known", "neuralstream admin logs"),
        ([put("missing_secrets", {"redis_password_env": "MY_PW"})], "services", "broken", "redis_password_env names MY_PW", "export MY_PW"),
        ([put("failures", {"extractor": FULL})], "services", "broken", "extraction: Redis is full", "raise maxmemory"),
        ([put("failures", {"embedder": FULL})], "services", "broken", "embedding: Redis is full", "raise maxmemory"),
        ([put("buffer/risks", [{"what": "appendfsync is everysec", "mend": "redis-cli config set appendfsync always"}])], "services", "warning", "everysec", "appendfsync always"),
        ([put("gems/total", 7), put("embedder/unembedded", 7), put("embedder/others", ["ollama:x/1024"])], "embedder", "broken", "7 gems were embedded by ollama:x/1024", "neuralstream admin reembed"),
        ([put("index/gems", None), put("failures", {"index": FULL})], "index", "broken", "Redis is full (redis://h:6379/0)", "raise maxmemory"),
        ([put("failures", {"index": FULL})], "index", "broken", "Redis is full (redis://h:6379/0)", "raise maxmemory"),
        ([put("index/behind", -1)], "index", "broken", "cannot be used", "neuralstream admin logs"),
        ([put("index/behind", 5_000)], "index", "warning", "5000 changes behind", "neuralstream admin rebuild"),
        ([put("gems/total", 9)], "index", "broken", "holds 0 gems, the memory has 9", "neuralstream admin rebuild"),
        ([put("gems/dead_batches", 2), put("dead_reasons", ["no JSON"])], "dead letters", "warning", "2 batches were set aside: no JSON", "neuralstream admin dead retry"),
        ([put("hooks_refused", {"/h/mine.py": "SyntaxError: x"})], "hooks", "broken", "/h/mine.py was refused", "/h/mine.py"),
        ([put("templates_broken", {"gem_block": "UndefinedError: x"})], "templates", "broken", "gem_block fails", "docs/templates.md"),
        ([put("counters", LATE)], "deadline", "warning", "5 of 30 recalls were too late", "recall_deadline_ms"),
        ([put("counters", {"bridge.failed": 2})], "failures", "warning", "2 handlers", "openclaw logs"),
        ([put("counters", {"spool.failed": 2})], "failures", "warning", "neither delivered nor spooled", "openclaw logs"),
        ([put("counters", {"capture_list.aside": 3})], "capture list", "warning", "3 items were set aside", "neuralstream admin intake --dry-run"),
        ([put("workers/failing", {"distil": "the disk is full"})], "workers", "broken", "distil fails: the disk is full", "neuralstream admin logs"),
        ([put("workers/crashes", 1)], "workers", "broken", "failed 1 times", "neuralstream admin logs --level error"),
    ],
)  # fmt: skip
def test_each_trouble_is_found_and_can_be_mended(
    *, now: dict[str, Any], changes: list[Callable[[dict[str, Any]], None]], check: str, grade: str, says: str, fix: str
) -> None:
    for change in changes:
        change(now)
    found = bad(now)
    assert [(f.check, f.grade.value) for f in found] == [(check, grade)]
    assert says in found[0].what
    assert found[0].why
    assert fix in found[0].fix


def test_a_failing_hook_is_named_with_its_error(now: dict[str, Any]) -> None:
    now["hooks"].append({"name": "user:mine", "place": "user", "calls": 9, "failures": 4, "slow": 0, "ms": 1.0, "last_error": "turn_end: KeyError"})
    assert [f.what for f in bad(now)] == ["user:mine failed 4 of 9 times (turn_end: KeyError)"]


def test_a_few_late_recalls_are_no_trouble_and_are_told(now: dict[str, Any]) -> None:
    now["counters"] = {"recall.deadline": 2, "injected.turns": 3}
    assert bad(now) == []
    (told,) = (f for f in process(now, version=VERSION, today=TODAY) if f.check == "deadline")
    assert (told.grade, told.what) == (Grade.NOTE, "2 of 5 recalls were too late (40%)")
    assert told.fix == "neuralstream config set recall_deadline_ms 600"


def test_where_no_recall_was_late_that_is_well(now: dict[str, Any]) -> None:
    now["counters"] = {"injected.turns": 3}
    assert [f.grade for f in process(now, version=VERSION, today=TODAY) if f.check == "deadline"] == [Grade.OK]


def test_vectors_that_are_only_late_are_no_trouble(now: dict[str, Any]) -> None:
    now["embedder"]["unembedded"] = 3
    now["gems"]["total"] = 3
    assert bad(now) == []


def test_rules_in_place_of_a_model_are_worth_a_note(now: dict[str, Any]) -> None:
    now["extractor"] = {"name": "rules", "why": "auto: Ollama does not answer"}
    assert [(f.grade, f.fix) for f in process(now, version=VERSION, today=TODAY) if f.check == "extractor"] == [(Grade.NOTE, "ollama pull qwen3")]


def test_the_worst_grade_counts() -> None:
    findings = [Finding("a", Grade.OK, ""), Finding("b", Grade.BROKEN, ""), Finding("c", Grade.WARNING, "")]
    assert worst(findings) is Grade.BROKEN
    assert worst([]) is Grade.OK


def test_the_status_of_a_real_memory_is_all_that_the_checks_need(tmp_path: Path, now: dict[str, Any]) -> None:
    assert {finding.check for finding in process(now, version=VERSION, today=TODAY)} >= {
        "process", "memory", "services", "embedder", "index", "extractor", "dead letters", "hooks", "deadline", "workers",
    }  # fmt: skip
