"""A turn of the past is asked again: the window as it was, nothing learnt later, and what was really injected then."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from openclaw_neuralstream.clock import utc_now
from openclaw_neuralstream.embed.embedded import EmbeddedEmbedder
from openclaw_neuralstream.errors import BadRequest, NotFound
from openclaw_neuralstream.memory import wiring
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.memory.forget_files import HOST, What
from openclaw_neuralstream.model import Scope
from openclaw_neuralstream.server import moments
from openclaw_neuralstream.server.methods import call
from openclaw_neuralstream.state import StateDir
from tests.worlds import end_event, prompt_event, turn_event

FACT = "We decided to keep the backups of the photo archive on the NAS in the cellar."
ASKED = "Where do we keep the backups of the photo archive?"
KEY = "agent:main:main"


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = utc_now()

    def __call__(self) -> Any:
        return self.now

    def later(self, **by: float) -> int:
        self.now += timedelta(**by)
        return int(1000 * self.now.timestamp())


@pytest.fixture
def clock() -> Clock:
    return Clock()


EMBEDDER = EmbeddedEmbedder()


@pytest.fixture(autouse=True)
def one_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    """The real model, loaded once for all tests."""
    monkeypatch.setattr(wiring, "EmbeddedEmbedder", lambda: EMBEDDER)


@pytest.fixture
def memory(tmp_path: Path, clock: Clock) -> Iterator[Memory]:
    memory = wiring.open_memory(StateDir(tmp_path / "state"), start=False, clock=clock)
    memory.parts.warm()
    yield memory
    memory.close()


def turn(memory: Memory, clock: Clock, text: str, **more: Any) -> dict[str, Any]:
    """A turn as the bridge tells it: the prompt is built, the reply comes, the turn ends."""
    event = turn_event(text, **more)
    at = clock.later(minutes=1)
    for message in event["messages"]:
        message["timestamp"] = at
    built = moments.prompt_build(memory, prompt_event(text, run_id=event["run_id"], key=event["session_key"], at=at))
    moments.turn_end(memory, {**event, "at": at})
    return built


def test_the_last_turn_is_asked_again_and_tells_what_was_injected(memory: Memory, clock: Clock) -> None:
    turn(memory, clock, FACT)
    memory.flush()
    moments.session_end(memory, end_event("new"))
    clock.later(hours=1)
    built = turn(memory, clock, ASKED)
    assert "NAS in the cellar" in built["brief"]
    told = call(memory, "replay", {})
    assert told["turn"]["query"] == ASKED
    assert told["window"]["turns"] == []
    assert "NAS in the cellar" in told["block"]
    assert [item["id"] for item in told["then"]["records"]] == built["records"]
    assert told["then"]["tokens"] == built["tokens"]


def test_what_the_window_held_then_is_rebuilt_from_the_stored_turns(memory: Memory, clock: Clock) -> None:
    turn(memory, clock, FACT)
    turn(memory, clock, "And the cat is called Miso.")
    turn(memory, clock, ASKED)
    memory.flush()
    told = call(memory, "replay", {"session": KEY, "turn": 3})
    assert told["window"]["turns"] == [1, 2]
    assert told["window"]["dialogue"][0] == FACT
    assert told["records"] == []
    assert "in-window" in {item["why"] for item in told["dropped"]}


def test_what_was_learnt_later_is_left_out_and_named(memory: Memory, clock: Clock) -> None:
    turn(memory, clock, ASKED)
    clock.later(hours=1)
    memory.remember(FACT, memory.truth.session_turns("main", KEY)[0].scope, memory.session("main", KEY))
    assert "NAS" in memory.assemble(query_of(memory)).text
    told = call(memory, "replay", {"session": KEY, "turn": 1})
    assert told["block"] == ""
    assert "learnt-later" in {item["why"] for item in told["dropped"]}


def query_of(memory: Memory) -> Any:
    from openclaw_neuralstream.model import Query

    return Query(ASKED, Scope("main"), memory.now())


def test_the_turn_itself_is_no_answer_to_it(memory: Memory, clock: Clock) -> None:
    turn(memory, clock, FACT)
    memory.flush()
    assert call(memory, "replay", {"session": KEY})["records"] == []


@pytest.mark.parametrize(
    ("params", "error"),
    [({"session": "nobody"}, NotFound), ({"session": KEY, "turn": 99}, NotFound), ({"turn": -1}, BadRequest)],
)
def test_what_is_not_there_is_refused_with_a_way_on(
    memory: Memory, clock: Clock, params: dict[str, Any], error: type[NotFound]
) -> None:
    turn(memory, clock, FACT)
    with pytest.raises(error) as refused:
        call(memory, "replay", params)
    assert refused.value.what


def test_nothing_said_yet_is_refused_with_a_way_on(memory: Memory) -> None:
    with pytest.raises(NotFound, match="no turn is stored"):
        call(memory, "replay", {})


def test_what_is_noted_goes_with_the_session(memory: Memory, clock: Clock) -> None:
    turn(memory, clock, FACT)
    session = memory.session("main", KEY)
    assert memory.injected.of(session)
    memory.eraser.forget(What(session=KEY, agent="main"))
    assert memory.injected.of(session) == []


def test_what_is_noted_goes_with_a_session_that_the_host_forgets_and_a_new_one_of_its_name_keeps_its_own(
    memory: Memory, clock: Clock
) -> None:
    turn(memory, clock, FACT)
    moments.session_end(memory, end_event("deleted"))
    turn(memory, clock, ASKED)
    session = memory.session("main", KEY)
    assert len(memory.injected.of(session)) == 2
    memory.eraser.resume()
    (noted,) = memory.injected.of(session)
    (kept,) = memory.truth.session_turns("main", KEY)
    assert noted.turn_id == kept.turn_id
    memory.eraser.ask(What(session=KEY, agent="main", by=HOST))
    memory.eraser.resume()
    assert memory.injected.of(session) == []


def test_no_text_is_noted(memory: Memory, clock: Clock) -> None:
    turn(memory, clock, FACT)
    memory.flush()
    moments.session_end(memory, end_event("new"))
    turn(memory, clock, ASKED)
    assert "cellar" not in memory.truth.meta("injected main agent:main:main")


def test_explain_names_ranks_what_was_understood_and_of_which_a_duplicate_is(memory: Memory) -> None:
    memory.remember("Anna Weiss leads the Lighthouse project.", Scope("main"), memory.session("main", "x"))
    told = call(memory, "explain", {"query": "Who leads the Lighthouse project?"})
    assert told["records"][0]["ranks"]["words"] == 1
    assert told["understood"]["language"] == "en"
    assert told["understood"]["terms"]
    assert told["block_tokens"] == memory.parts.counter.count(told["block"])
    assert all("of" in item for item in told["dropped"])


def test_what_was_asked_and_wished_later_is_not_told_of_an_earlier_turn(memory: Memory, clock: Clock) -> None:
    first, later = "Which plan do we have for the photo archive?", "And where do the disks of the photo archive go?"
    turn(memory, clock, first, key=KEY)
    turn(memory, clock, later, key=KEY)
    turn(memory, clock, "From now on always answer me in short sentences, please.", key=KEY)
    memory.flush()
    assert memory.sequencer is not None
    memory.sequencer.catch_up()
    told = call(memory, "replay", {"session": KEY, "turn": 1})
    assert (told["records"], told["block"]) == ([], "")
    again = call(memory, "replay", {"session": KEY, "turn": 3})
    assert later not in again["block"]


def test_what_a_session_was_given_is_forgotten_with_it(memory: Memory, clock: Clock) -> None:
    memory.remember(FACT, Scope("main"), memory.session("main", "elsewhere"))
    turn(memory, clock, ASKED, key=KEY)
    session = memory.session("main", KEY)
    assert memory.injected.of(session)
    call(memory, "forget.run", {"session": KEY})
    assert memory.injected.of(session) == []
