"""A message is kept before it is answered: what the user said in a turn that was cut off is a turn of its own, once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from openclaw_neuralstream.memory import wiring
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.memory.forget_files import What
from openclaw_neuralstream.model import Batch, Query, Scope, Turn
from openclaw_neuralstream.server import methods, moments
from openclaw_neuralstream.state import StateDir
from tests.valkey import ValkeyServer
from tests.worlds import answered, end_event, prompt_event, said, turn_event

FACT = "We decided to paint the office green."
NEXT = "Thanks, second message."
ANSWER = "The tin of Farrow paint stands in the cellar."
ASKED = "Which colour do we paint the office?"
RESUMED = {"kind": "internal_system", "sourceTool": "main_session_restart_recovery"}


@pytest.fixture(params=["embedded", "redis"])
def memory(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    server = ValkeyServer().start() if request.param == "redis" else None
    if server:
        monkeypatch.setenv("NEURALSTREAM_REDIS_URL", server.url)
    made = wiring.open_memory(StateDir(tmp_path / "state"), start=False)
    made.parts.warm()
    yield made
    made.close()
    if server:
        server.stop()


def begin_event(text: str, run: str = "cut-off", **more: Any) -> dict[str, Any]:
    """A `turn_begin` event: the message alone."""
    event = turn_event(text, run=run, **more)
    return {**event, "messages": event["messages"][:1]}


def taken(memory: Memory, key: str = "agent:main:main") -> list[Turn]:
    """The turns that were taken in, when nothing waits any more."""
    memory.flush()
    return memory.truth.session_turns("main", key)


def owner_said(memory: Memory) -> list[str]:
    return [turn.text_of("owner") for turn in taken(memory)]


def found(memory: Memory, question: str) -> list[str]:
    """What a question brings word for word, nothing being distilled."""
    memory.turn_projection.catch_up()
    query = Query(question, Scope("main"), memory.now(), sources=frozenset({"turns"}))
    return [record.text for record in memory.recall(query).records if record.speaker == "owner"]


# --- cut off ------------------------------------------------------------------------------------------------------------


def test_a_message_whose_turn_was_cut_off_is_a_turn_of_its_own_once_the_next_ends(memory: Memory) -> None:
    said_at = memory.now() - timedelta(minutes=5)
    moments.turn_begin(memory, {**begin_event(FACT), "messages": [said(FACT, timestamp=said_at.timestamp() * 1000)]})
    assert taken(memory) == []
    moments.turn_begin(memory, begin_event(NEXT, "next"))
    moments.turn_end(memory, turn_event(NEXT, run="next"))
    moments.turn_end(memory, turn_event("And a third one.", run="third"))
    assert owner_said(memory) == [FACT, NEXT, "And a third one."]
    assert abs(taken(memory)[0].at - said_at) < timedelta(seconds=1)


def test_a_turn_that_ends_is_one_turn_with_its_answer(memory: Memory) -> None:
    for _ in range(2):
        moments.turn_begin(memory, begin_event(FACT))
    for _ in range(2):
        moments.turn_end(memory, turn_event(FACT, "Green it is.", run="cut-off"))
    moments.turn_begin(memory, begin_event(FACT))
    moments.turn_end(memory, turn_event(NEXT))
    assert [turn.text_of("owner", "agent") for turn in taken(memory)] == [f"{FACT}\nGreen it is.", f"{NEXT}\nNoted."]


def test_what_was_cut_off_before_new_is_kept_after_it_in_its_own_window(memory: Memory) -> None:
    moments.turn_begin(memory, begin_event(FACT))
    moments.session_end(memory, end_event("new"))
    moments.turn_end(memory, turn_event(NEXT))
    assert [(turn.text_of("owner"), turn.session.epoch) for turn in taken(memory)] == [(FACT, 0), (NEXT, 1)]


def test_a_turn_that_ended_earlier_and_is_told_later_does_not_cut_off_the_one_that_runs(memory: Memory) -> None:
    moments.turn_begin(memory, begin_event(FACT))
    before = (memory.now() - timedelta(hours=1)).timestamp() * 1000
    moments.turn_end(memory, {**turn_event(NEXT), "messages": [said(NEXT, timestamp=before)], "at": before})
    assert owner_said(memory) == [NEXT]
    moments.turn_end(memory, turn_event(FACT, run="cut-off"))
    assert owner_said(memory) == [NEXT, FACT]


def test_a_conversation_that_does_not_go_on_loses_nothing_either(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments.turn_begin(memory, begin_event(FACT))
    memory._end_left_open()
    assert taken(memory) == []
    later = memory.now() + timedelta(days=2)
    monkeypatch.setattr(memory, "now", lambda: later)
    memory._end_left_open()
    assert owner_said(memory) == [FACT]


def test_a_message_survives_the_death_of_the_memory_process(memory: Memory) -> None:
    moments.turn_begin(memory, begin_event(FACT))
    again = wiring.open_memory(memory.parts.state, start=False)  # as after a kill: nothing was closed
    moments.turn_end(again, turn_event(NEXT))
    assert owner_said(again) == [FACT, NEXT]
    again.close()


def test_a_message_that_was_spooled_while_the_process_was_away_is_taken_in(memory: Memory) -> None:
    from openclaw_neuralstream.server.protocol import encode

    memory.parts.state.spool.mkdir(parents=True, exist_ok=True)
    line = encode({"method": "turn_begin", "params": begin_event(FACT)})
    (memory.parts.state.spool / "1.jsonl").write_bytes(line + b"\n")
    assert methods.drain(memory, {}) == {"events": 1, "refused": 0}
    moments.turn_end(memory, turn_event(NEXT))
    assert owner_said(memory) == [FACT, NEXT]


def test_secrets_are_taken_out_before_the_message_is_on_disk(memory: Memory) -> None:
    moments.turn_begin(memory, begin_event("The deploy key is ghp_0123456789abcdefghijABCDEFGHIJ012345, keep it."))
    (begun,) = memory.truth.begun()
    assert "ghp_" not in begun.text_of("owner")


# --- told late ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("distilled", [False, True])
def test_the_answer_of_a_turn_that_was_taken_for_cut_off_is_added_when_its_end_is_told_late(
    memory: Memory, distilled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    made = memory.distiller._made
    monkeypatch.setattr(
        memory.distiller,
        "_made",
        lambda batch, extractor: read.extend(turn.text_of("agent") for turn in batch.turns) or made(batch, extractor),
    )
    ended = turn_event(FACT, ANSWER, run="cut-off")
    moments.turn_begin(memory, begin_event(FACT))
    moments.turn_begin(memory, begin_event(NEXT, "next"))
    moments.turn_end(memory, turn_event(NEXT, run="next"))
    if distilled:
        memory.flush()
    assert [moments.turn_end(memory, ended)["accepted"] for _ in range(2)] == ["new", "seen"]
    assert [turn.text_of("owner", "agent") for turn in taken(memory)] == [f"{FACT}\n{ANSWER}", f"{NEXT}\nNoted."]
    assert distilled or read == [ANSWER, "Noted."]
    memory.turn_projection.catch_up()
    query = Query(
        "Where does the tin of Farrow paint stand?", Scope("main"), memory.now(), sources=frozenset({"turns"})
    )
    assert ANSWER in [record.text for record in memory.recall(query).records]


# --- the host goes on with it -------------------------------------------------------------------------------------------


def test_the_answer_after_a_restart_belongs_to_the_message_that_was_cut_off(memory: Memory) -> None:
    moments.turn_begin(memory, begin_event(FACT))
    words = said(f"[Queued user message from a previous active turn; preserved.]\n{FACT}\n\n[System] Go on.")
    resumed = {**turn_event("", run="host"), "provenance": RESUMED, "messages": [words, answered("Green it is.")]}
    for _ in range(2):
        moments.turn_end(memory, resumed)
    moments.turn_end(memory, turn_event(NEXT))
    assert [turn.text_of("owner", "agent", "system") for turn in taken(memory)] == [
        f"{FACT}\nGreen it is.",
        f"{NEXT}\nNoted.",
    ]


def test_what_the_host_asks_after_a_restart_is_reminded_of_by_the_message_that_was_cut_off(memory: Memory) -> None:
    told = "By the way, the colour of the tandem in the shed is petrol, nearly green."
    moments.turn_end(memory, turn_event(told))
    memory.flush()
    moments.session_end(memory, end_event("new"))
    moments.turn_begin(memory, begin_event("What did I tell you about the colour of the tandem?"))
    built = moments.prompt_build(memory, prompt_event("[System] Go on with your task.", provenance=RESUMED))
    assert "petrol" in built["brief"] + built["text"]


# --- never --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "more",
    [
        {"trigger": "heartbeat"},
        {"trigger": "cron"},
        {"provenance": RESUMED},
        {"provenance": {"kind": "inter_session", "sourceTool": "subagent_announce"}},
        {"key": "agent:main:subagent:1"},
    ],
)
def test_what_no_person_said_does_not_begin(memory: Memory, more: dict[str, Any]) -> None:
    moments.turn_begin(memory, begin_event(FACT, **more))
    assert memory.truth.begun() == []


def test_a_message_that_was_forgotten_before_its_turn_ended_does_not_come_back(memory: Memory) -> None:
    moments.turn_begin(memory, begin_event(FACT))
    assert memory.eraser.forget(What(words="office")).finished
    moments.turn_begin(memory, begin_event(FACT))
    moments.turn_end(memory, turn_event(FACT, run="cut-off"))
    moments.turn_end(memory, turn_event(NEXT))
    assert owner_said(memory) == [NEXT]


def test_a_sentence_that_was_forgotten_before_the_turn_ended_stays_out_of_the_rest(memory: Memory) -> None:
    whole = f"{FACT} The van was sold to Brandt in Lüneburg."
    moments.turn_begin(memory, begin_event(whole))
    memory.eraser.forget(What(words="Brandt"))
    moments.turn_end(memory, turn_event(whole, run="cut-off"))
    (said_,) = owner_said(memory)
    assert FACT in said_
    assert "Brandt" not in said_


def test_a_sentence_that_was_forgotten_stays_out_where_the_turn_ends_with_more_messages(memory: Memory) -> None:
    whole = f"{FACT} The van was sold to Brandt in Lüneburg."
    moments.turn_begin(memory, begin_event(whole))
    memory.eraser.forget(What(words="Brandt"))
    queued = f"[Queued messages while agent was busy]\n\n---\nQueued #1\nShip it today.\n\n---\nQueued #2\n{whole}"
    answer = "Noted: the van was sold to Brandt in Lüneburg."
    moments.turn_end(memory, turn_event(queued, answer, run="cut-off"))
    (turn,) = taken(memory)
    words = turn.text_of("owner", "agent")
    assert "Brandt" not in words
    assert FACT in words
    assert "Ship it today." in words


def test_where_a_cut_message_is_not_found_again_what_is_kept_of_it_stands(memory: Memory) -> None:
    moments.turn_begin(memory, begin_event(f"{FACT} The van was sold to Brandt in Lüneburg."))
    memory.eraser.forget(What(words="Brandt"))
    moments.turn_end(memory, turn_event("We painted it. Brandt has the van.", "Green it is.", run="cut-off"))
    (turn,) = taken(memory)
    assert "Brandt" not in turn.text_of("owner")
    assert FACT in turn.text_of("owner")
    assert turn.text_of("agent") == "Green it is."


def test_a_forgetting_while_a_turn_ends_reaches_all_of_it(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = f"{FACT} The van was sold to Brandt in Lüneburg."
    moments.turn_begin(memory, begin_event(whole))
    forgetting = threading.Thread(target=memory.eraser.forget, args=[What(words="Brandt")])
    append = memory.distiller.append

    def interrupted(turn: Turn) -> bool:
        forgetting.start()
        forgetting.join(2)  # done by now, or waiting for the turn
        return append(turn)

    monkeypatch.setattr(memory.distiller, "append", interrupted)
    moments.turn_end(memory, turn_event(whole, run="cut-off"))
    forgetting.join()
    (said_,) = owner_said(memory)
    assert FACT in said_
    assert "Brandt" not in said_


def test_a_batch_that_is_stored_before_the_copy_of_its_turn_is_kept_whole(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    if len(memory.parts.buffers) == 1:
        pytest.skip("no other buffer")
    moments.turn_begin(memory, begin_event(FACT))
    queued = memory.truth.queued

    def late(turn: Turn) -> bool:
        memory.flush()
        return queued(turn)

    monkeypatch.setattr(memory.truth, "queued", late)
    batches: list[Batch] = []
    store = memory.truth.store
    monkeypatch.setattr(
        memory.truth, "store", lambda batch, *a, **more: batches.append(batch) or store(batch, *a, **more)
    )
    moments.turn_end(memory, turn_event(FACT, ANSWER, run="cut-off"))
    assert len(batches) == 1
    (turn,) = memory.truth.turns([batches[0].turns[0].turn_id])
    assert turn.text_of("owner", "agent") == f"{FACT}\n{ANSWER}"
    assert turn.index == 1


# --- found at once ------------------------------------------------------------------------------------------------------


def test_a_turn_is_found_by_a_question_before_anything_is_made_of_it(memory: Memory) -> None:
    moments.turn_end(memory, turn_event(FACT))
    assert memory.truth.gem_count() == 0
    assert found(memory, ASKED) == [FACT]
    memory.flush()
    assert found(memory, ASKED) == [FACT]


def test_a_turn_that_waits_in_a_buffer_is_forgotten_where_it_waits_and_where_it_is_found(memory: Memory) -> None:
    moments.turn_end(memory, turn_event(FACT))
    memory.eraser.forget(What(words="office"))
    assert found(memory, ASKED) == []
    assert FACT not in owner_said(memory)


def test_turns_of_a_server_that_is_not_used_any_more_are_distilled_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = ValkeyServer().start()
    monkeypatch.setenv("NEURALSTREAM_REDIS_URL", server.url)
    with_server = wiring.open_memory(StateDir(tmp_path / "state"), start=False)
    moments.turn_end(with_server, turn_event(FACT))
    with_server.close()
    server.stop()
    monkeypatch.delenv("NEURALSTREAM_REDIS_URL")
    without = wiring.open_memory(StateDir(tmp_path / "state"))
    assert without.flush().turns == 1
    without.close()
