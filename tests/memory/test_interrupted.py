"""A forgetting that is interrupted anywhere is finished later, beside extraction, which never sees what is being forgotten."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from openclaw_neuralstream.memory import wiring
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.memory.forget import last_receipts
from openclaw_neuralstream.memory.forget_files import HOST, What
from openclaw_neuralstream.model import Trigger
from openclaw_neuralstream.server import methods, moments, spool
from openclaw_neuralstream.state import StateDir
from tests.memory.test_forget import KEPT, SAID, contents, dump, killed, say, state, traces, verbatim
from tests.valkey import ValkeyServer
from tests.worlds import turn_event

__all__ = ["state"]

FACT, WORD = SAID["en"]
LATER = "We decided to paint the garden shed of the school in green."
STEPS = ("spool", "tags", "buffers", "injected", "log", "reflections", "set aside", "pages", "sequences")


def until(holds: Callable[[], bool], seconds: float = 60.0) -> bool:
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    return holds()


def patched_step(memory: Memory, monkeypatch: pytest.MonkeyPatch, name: str, work: Callable[..., object]) -> None:
    steps = memory.eraser._steps
    monkeypatch.setattr(type(memory.eraser), "_steps", lambda _: {**steps(), name: work})


def interrupted(state: StateDir, monkeypatch: pytest.MonkeyPatch, where: str, *said: str) -> None:
    """A life that is killed at this place of a forgetting of WORD."""
    memory = wiring.open_memory(state, start=False)
    say(memory, *said)
    answers = state.path / "reflect" / "0a" / "answers"
    answers.mkdir(parents=True)
    (answers / "1.json").write_text(json.dumps({"text": FACT}), encoding="utf-8")
    (state.spool / "1.jsonl").write_text(json.dumps({"method": "turn_end", "params": turn_event(FACT)}) + "\n")
    with monkeypatch.context() as patched:
        if where in STEPS:
            patched_step(memory, patched, where, killed)
        else:
            place: Any = {"followed": memory.eraser, "wipe": memory.truth._database}.get(where, memory.truth.erasing)
            patched.setattr(place, {"followed": "_followed", "wipe": "checkpoint"}.get(where, where), killed)
        with pytest.raises(KeyboardInterrupt):
            memory.eraser.forget(What(words=WORD))
    memory.close()


@pytest.mark.parametrize("where", [*STEPS, "note", "followed", "finish", "wipe"])
def test_killed_at_any_step_extraction_goes_on_and_the_next_life_finishes_it(
    state: StateDir, monkeypatch: pytest.MonkeyPatch, where: str
):
    interrupted(state, monkeypatch, where, FACT, KEPT)
    again = wiring.open_memory(state, start=False)
    try:
        say(again, LATER)
        methods.drain(again, {})
        again.flush()
        assert LATER in contents(again), "extraction goes on before it is finished"
        assert WORD not in contents(again) + verbatim(again)
        again.eraser.resume()
        assert traces(state.path, WORD) == []
        assert KEPT in contents(again)
        assert len(last_receipts(again.truth)) == 1
        assert not again.eraser.due
    finally:
        again.close()


def test_a_kill_in_the_transaction_has_done_nothing(state: StateDir, monkeypatch: pytest.MonkeyPatch):
    memory = wiring.open_memory(state, start=False)
    say(memory, FACT)
    with monkeypatch.context() as patched:
        patched.setattr("openclaw_neuralstream.store.forgetting.cut_elsewhere", killed)
        with pytest.raises(KeyboardInterrupt):
            memory.eraser.forget(What(words=WORD))
    memory.close()
    again = wiring.open_memory(state, start=False)
    assert WORD in contents(again)
    assert again.eraser.forget(What(words=WORD)).finished
    again.close()
    assert traces(state.path, WORD) == []


def test_extraction_waits_for_no_forgetting_that_waits_for_another_worker(
    state: StateDir, monkeypatch: pytest.MonkeyPatch
):
    """The sequences of a long history are taken in by another worker; a forgetting that was killed must look at them, too."""
    memory = wiring.open_memory(state, start=False)
    say(memory, FACT, KEPT)
    with monkeypatch.context() as patched:
        patched.setattr("openclaw_neuralstream.memory.forget_files.reflections", killed)
        with pytest.raises(KeyboardInterrupt):
            memory.eraser.forget(What(words=WORD))
    memory.close()
    again, begun, held = wiring.open_memory(state, start=False), threading.Event(), threading.Event()
    assert again.sequencer
    add = again.sequencer.index.add
    monkeypatch.setattr(again.sequencer.index, "add", lambda *given: begun.set() or (held.wait(120) and add(*given)))
    try:
        threading.Thread(target=again.sequencer.catch_up).start()
        begun.wait(60)
        again.start()
        moments.turn_end(again, turn_event(LATER))
        again.ask_to_distil(again.session("main", "agent:main:main"), Trigger.MANUAL)
        assert until(lambda: LATER in contents(again))
    finally:
        held.set()
        again.close()


def test_a_long_step_goes_on_where_it_was(state: StateDir, monkeypatch: pytest.MonkeyPatch):
    interrupted(state, monkeypatch, "pages", FACT, KEPT)
    looked: list[str] = []

    def some(_: object, __: object, ___: object, ____: object = (), *, after: str, most: int) -> str:
        looked.append(after)
        return "" if len(looked) == 4 else f"{len(looked)}.md"

    folder = state.path.parent / "notes"
    folder.mkdir()
    again = wiring.open_memory(state, start=False)
    again.parts.workspaces.seen("main", str(folder))
    monkeypatch.setattr("openclaw_neuralstream.memory.forget_files.workspace", some)
    again.eraser.resume(lambda: len(looked) == 2)  # the life ends in the middle of it
    again.close()
    assert looked == ["", "1.md"]
    after = wiring.open_memory(state, start=False)
    after.parts.workspaces.seen("main", str(folder))
    after.eraser.resume()
    after.close()
    assert looked == ["", "1.md", "2.md", "3.md"]
    assert traces(state.path, WORD) == []


def test_what_is_forgotten_while_it_is_extracted_becomes_no_gem(state: StateDir):
    memory = wiring.open_memory(state, start=False)
    inner = memory.parts.choose_extractor()

    class Slow:
        identity = inner.identity
        done = False

        def extract(self, reading: Any) -> Any:
            drafts = inner.extract(reading)
            if not self.done:
                self.done = True
                memory.eraser.forget(What(words=WORD))
            return drafts

    slow = Slow()
    memory.distiller._parts = replace(memory.parts, choose_extractor=lambda: slow)  # type: ignore[arg-type]
    try:
        say(memory, f"{KEPT} {FACT}")
        memory.flush()
        assert slow.done
        assert KEPT in contents(memory)
        assert traces(state.path, WORD) == []
    finally:
        memory.close()


def test_turns_in_redis_become_no_gems_before_a_forgetting_has_reached_them(
    state: StateDir, monkeypatch: pytest.MonkeyPatch
):
    server = ValkeyServer(appendonly="yes")
    server.start()
    monkeypatch.setenv("NEURALSTREAM_REDIS_URL", server.url)
    monkeypatch.setenv("NEURALSTREAM_REDIS", '{"socket_timeout": 30}')
    memory = wiring.open_memory(state, start=False)
    try:
        moments.turn_end(memory, turn_event(f"{KEPT} {FACT}", key="agent:main:one"))
        moments.turn_end(memory, turn_event(FACT, key="agent:main:two"))
        with monkeypatch.context() as patched:
            patched_step(memory, patched, "buffers", killed)
            with pytest.raises(KeyboardInterrupt):
                memory.eraser.forget(What(words=WORD))
        memory.flush()
        assert KEPT in contents(memory)
        assert WORD not in contents(memory) + verbatim(memory)
        memory.eraser.resume()
        assert WORD.encode() not in dump(memory.parts.buffers[0]._client)
        assert traces(state.path, WORD) == []
    finally:
        memory.close()
        server.stop()


def test_what_is_said_after_a_session_was_deleted_is_kept_though_it_waits_in_the_spool(state: StateDir):
    memory = wiring.open_memory(state, start=False)
    try:
        say(memory, FACT, key="agent:main:goes")
        memory.eraser.ask(What(session="agent:main:goes", agent="main", epoch=0, by=HOST))
        at = 1000 * (memory.now().timestamp() + 60)
        event = turn_event(LATER, key="agent:main:goes", at=at)
        (state.spool / "1.jsonl").write_text(json.dumps({"method": "turn_end", "params": event}) + "\n")
        memory.eraser.resume()
        methods.drain(memory, {})
        assert LATER in verbatim(memory)
        assert traces(state.path, WORD) == []
    finally:
        memory.close()


def test_a_line_that_is_taken_in_is_read_again_where_a_forgetting_comes_in_between(
    state: StateDir, monkeypatch: pytest.MonkeyPatch
):
    memory = wiring.open_memory(state, start=False)
    lines = [json.dumps({"method": "turn_end", "params": turn_event(text)}) for text in (KEPT, FACT, LATER)]
    (state.spool / "1.jsonl").write_text("\n".join(lines) + "\n")
    took, forgetters = spool._took, list[threading.Thread]()

    def forgetting(*given: Any) -> Any:
        if not forgetters:
            forgetters.append(threading.Thread(target=memory.eraser.forget, args=(What(words=WORD),)))
            forgetters[0].start()
            forgetters[0].join(0.3)  # it waits for the line that is taken in just now
        return took(*given)

    monkeypatch.setattr(spool, "_took", forgetting)
    try:
        methods.drain(memory, {})
        forgetters[0].join(60)
        assert KEPT in verbatim(memory)
        assert LATER in verbatim(memory)
        assert traces(state.path, WORD) == []
    finally:
        memory.close()


def test_a_line_of_no_known_form_keeps_nothing_else_from_being_forgotten(state: StateDir) -> None:
    memory = wiring.open_memory(state, start=False)
    say(memory, FACT)
    nested = json.dumps({"method": "turn_end", "params": {"at": 1}})[:-2] + ', "x": ' + "[" * 100_000 + "]" * 100_000 + "}}"
    (state.spool / "refused.jsonl.bad").write_text(nested + "\n")
    memory.eraser.forget(What(words=WORD))
    assert not memory.eraser.due
    memory.close()


def test_a_step_that_fails_holds_up_itself_alone(state: StateDir, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = wiring.open_memory(state, start=False)
    say(memory, FACT)

    def fails(_: object) -> None:
        raise ValueError("a fault of ours")

    with monkeypatch.context() as patched:
        patched_step(memory, patched, "tags", fails)
        receipt = memory.eraser.forget(What(words=WORD))
    assert "tags" in str(receipt.left)
    assert memory.eraser.due
    memory.eraser.resume()
    assert not memory.eraser.due
    memory.close()
