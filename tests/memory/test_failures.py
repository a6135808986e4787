"""Whatever fails after a batch was claimed: its turns wait again at once, and the reason is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from openclaw_neuralstream.cli.checks.finding import Grade
from openclaw_neuralstream.cli.checks.process import process
from openclaw_neuralstream.errors import BadRequest, StateError, VendorAway, VendorRefused
from openclaw_neuralstream.memory import distil, wiring
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.model import Query, Scope
from openclaw_neuralstream.server import moments
from openclaw_neuralstream.server.status import status
from openclaw_neuralstream.state import StateDir
from tests.ollama_server import ollama_server
from tests.waiting import until
from tests.worlds import turn_event

FACT = "We decided to keep the backups of the photo archive on the NAS in the cellar."
ASKED = "Where do we keep the backups of the photo archive?"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    memory = wiring.open_memory(StateDir(tmp_path / "state"), start=False)
    yield memory
    memory.close()


def backlog(memory: Memory) -> tuple[int, int]:
    backlogs, _ = memory.distiller.waiting()
    return sum(b.waiting for b in backlogs), sum(b.claimed for b in backlogs)


def told(memory: Memory) -> list[str]:
    """What `doctor` finds broken or worth a warning, with its remedy."""
    now = status(memory)
    found = process(now, version=now["version"], today=memory.now())
    return [f"{f.check}: {f.what} → {f.fix}" for f in found if f.grade in (Grade.WARNING, Grade.BROKEN)]


def raising(error: Exception) -> Callable[..., None]:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


PLACES: list[tuple[str, Callable[[Memory], object], str]] = [
    ("turns that cannot be read", lambda _: distil, "clean_turn"),
    ("the extractor cannot be chosen", lambda memory: type(memory.parts.choose_extractor), "__call__"),
    ("the history cannot be read", lambda memory: memory.truth, "history"),
    ("the index breaks", lambda memory: memory.parts.index, "search"),
    ("the embedder breaks", lambda memory: memory.parts.embedder, "embed_documents"),
    ("the judge breaks", lambda memory: memory.distiller, "judged"),
    ("the gems cannot be stored", lambda memory: memory.truth, "store"),
]


@pytest.mark.parametrize("error", [KeyError("the words of the owner"), BadRequest("a vector must be 512 numbers")])
@pytest.mark.parametrize(("home", "name"), [place[1:] for place in PLACES], ids=[place[0] for place in PLACES])
def test_a_batch_that_fails_is_given_back_and_ends_as_a_dead_letter(
    *, memory: Memory, home: Callable[[Memory], object], name: str, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments.turn_end(memory, turn_event(FACT))
    reason = error.what if isinstance(error, BadRequest) else "KeyError in test_failures.py:"
    with monkeypatch.context() as patched:
        patched.setattr(home(memory), name, raising(error))
        for attempt in range(1, memory.settings.model_attempts + 1):
            memory.away._until.clear()
            memory.flush()
            last = attempt == memory.settings.model_attempts
            assert backlog(memory) == ((0, 0) if last else (1, 0))
            assert memory.truth.counters()["batches.refused"] == attempt
            (finding,) = told(memory)
            assert finding.startswith("dead letters: " if last else "services: extraction: ")
            assert reason in finding
            assert "words of the owner" not in finding
    (dead,) = memory.truth.dead()
    memory.retry_dead(dead.batch_id)
    assert memory.flush().gems == 1
    assert told(memory) == []


def test_what_breaks_after_the_gems_are_stored_costs_no_attempt(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    moments.turn_end(memory, turn_event(FACT))
    with monkeypatch.context() as patched:
        patched.setattr(memory.parts.index, "upsert", raising(KeyError("x")))
        with pytest.raises(KeyError):
            memory.flush()
    assert (backlog(memory), memory.truth.gem_count(), memory.truth.dead()) == ((0, 0), 1, [])


def test_a_full_disk_is_told_by_the_worker_that_meets_it(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    moments.turn_end(memory, turn_event(FACT))
    memory.ask_to_distil(memory.session("main", "agent:main:main"), distil.Trigger.MANUAL)
    with monkeypatch.context() as patched:
        patched.setattr(memory.truth, "store", raising(StateError("the disk is full", where="memory.sqlite", fix="make room")))
        memory.start()
        until(lambda: memory.failing)
        assert backlog(memory) == (1, 0)
        assert any("distil fails: the disk is full" in finding for finding in told(memory))


# --- an embedder of another size ----------------------------------------------------------------------------------------


def test_vectors_of_another_size_stop_nothing_and_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ollama_server(dimensions=768) as server:
        for name, value in {"OLLAMA_URL": server.url, "EMBEDDER": "ollama", "EMBEDDING_DIMENSIONS": "512", "EXTRACTOR": "rules"}.items():
            monkeypatch.setenv(f"NEURALSTREAM_{name}", value)
        memory = wiring.open_memory(StateDir(tmp_path / "state"), start=False)
        try:
            moments.turn_end(memory, turn_event(FACT))
            assert memory.flush().gems == 1
            assert backlog(memory) == (0, 0)
            memory.turn_projection.embed_missing()
            (finding,) = told(memory)
            assert "snowflake-arctic-embed2 gives vectors of 768 numbers, the index holds 512" in finding
            assert "embedding_dimensions 768, then neuralstream admin reembed" in finding
            assert memory.truth.counters()["away.embedder"] == 1
            block = memory.remind(Query(ASKED, Scope("main"), memory.now()))
            assert "NAS in the cellar" in block.text
            assert memory.truth.counters()["recall.left_out.meaning"] == 1
            server.dimensions = 512
            memory.projection.embed_missing()
            assert told(memory) == []
        finally:
            memory.close()


# --- failing until the next success -------------------------------------------------------------------------------------


def test_a_service_is_named_until_its_next_success(memory: Memory) -> None:
    away = memory.away
    away.mark("index", VendorAway("it does not answer"))
    away._until.clear()
    assert ("index" in away, away.names()) == (False, ["index"])
    away.answered("index")
    assert away.names() == []


def test_who_refuses_writes_is_not_well_for_being_read(memory: Memory) -> None:
    away = memory.away
    away.mark("RedisBuffer", VendorRefused("it is full"), wrote=True)
    away.answered("RedisBuffer")
    assert away.names() == ["RedisBuffer"]
    away.answered("RedisBuffer", wrote=True)
    assert away.names() == []
