"""What every turn buffer must do: embedded in SQLite, and in a real Valkey server."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from openclaw_neuralstream.model import Batch, Session, Trigger, Turn
from openclaw_neuralstream.ports import TurnBuffer
from openclaw_neuralstream.store.redis_buffer import RedisBuffer
from openclaw_neuralstream.store.truth import Truth
from tests.valkey import ValkeyServer
from tests.values import NOW, SESSION, turn

LEASE = timedelta(seconds=60)
each_in_a_session_of_its_own = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@dataclass
class Place:
    """A buffer, and how to come back to the same turns after its owner is gone."""

    buffer: TurnBuffer
    reopen: Callable[[], TurnBuffer]

    def claim(self, *, limit: int = 5, session: Session = SESSION, after: float = 0) -> Batch | None:
        now = NOW + timedelta(seconds=after)
        return self.buffer.claim(session, limit=limit, lease=LEASE, now=now, trigger=Trigger.BATCH)

    def claimed(self, **how: object) -> Batch:
        batch = self.claim(**how)  # type: ignore[arg-type]
        assert batch is not None
        return batch


@pytest.fixture(scope="module")
def valkey() -> Iterator[ValkeyServer]:
    server = ValkeyServer().start()
    yield server
    server.stop()


@pytest.fixture(params=["embedded", pytest.param("valkey", marks=pytest.mark.server)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    if request.param == "embedded":
        opened = [Truth.open(tmp_path / "memory.sqlite")]

        def again() -> TurnBuffer:
            opened.append(Truth.open(tmp_path / "memory.sqlite"))
            return opened[-1]

        yield Place(opened[0], again)
        for truth in opened:
            truth.close()
        return
    server: ValkeyServer = request.getfixturevalue("valkey")
    prefix = uuid.uuid4().hex
    buffer = RedisBuffer(server.url, prefix, timeout=30)

    def restarted() -> TurnBuffer:
        server.kill()
        server.start()
        return RedisBuffer(server.url, prefix, timeout=30)

    yield Place(buffer, restarted)
    buffer.close()


def numbers(batch: Batch | None) -> list[int]:
    return [turn.index for turn in batch.turns] if batch else []


# --- append -------------------------------------------------------------------------------------------------------------


def test_a_turn_is_accepted_once(place: Place) -> None:
    assert place.buffer.append(turn(1)) is True
    assert place.buffer.append(turn(1)) is False
    assert [b.waiting for b in place.buffer.stats(NOW)] == [1]


def test_an_extracted_turn_is_not_accepted_again(place: Place) -> None:
    place.buffer.append(turn(1))
    place.buffer.commit(place.claimed())
    assert place.buffer.append(turn(1)) is False
    assert place.buffer.stats(NOW) == []


def test_turns_are_numbered_from_one_for_each_session(place: Place) -> None:
    other = Session("main", "agent:main:other", "host-2")
    for number in (1, 2, 3):
        place.buffer.append(turn(number))
    place.buffer.append(turn(1, session=other))
    assert numbers(place.claim()) == [1, 2, 3]
    assert numbers(place.claim(session=other)) == [1]


def test_numbers_go_on_over_epochs_and_after_extraction(place: Place) -> None:
    place.buffer.append(turn(1))
    place.buffer.commit(place.claimed())
    place.buffer.append(turn(2, session=replace(SESSION, epoch=1)))
    assert numbers(place.claim()) == [2]


def test_a_number_that_is_given_is_kept_and_counted_on(place: Place) -> None:
    place.buffer.append(turn(1, index=7))
    place.buffer.append(turn(2))
    assert numbers(place.claim()) == [7, 8]


def test_many_threads_append_and_every_number_is_given_once(place: Place) -> None:
    with ThreadPoolExecutor(8) as threads:
        accepted = list(threads.map(place.buffer.append, [turn(n % 50 + 1) for n in range(100)]))
    assert accepted.count(True) == 50
    assert sorted(numbers(place.claim(limit=100))) == list(range(1, 51))


@each_in_a_session_of_its_own
@given(text=st.text(st.characters(codec=None), max_size=200))
def test_every_text_comes_back_exactly(place: Place, text: str) -> None:
    said = turn(1, text or "-", turn_id=uuid.uuid4().hex, session=Session("main", uuid.uuid4().hex, "h"))
    place.buffer.append(said)
    batch = place.claimed(session=said.session)
    assert batch.turns == (replace(said, index=1),)


@pytest.mark.parametrize("text", ["\ud800 alone", "a\x00b", "你好，世界 🦞", "Привет", "\ud83d\ude00"])
def test_hostile_and_foreign_text_comes_back_exactly(place: Place, text: str) -> None:
    place.buffer.append(turn(1, text))
    assert place.claimed().turns[0].text_of("owner") == text


def test_a_turn_of_a_megabyte_comes_back(place: Place) -> None:
    place.buffer.append(turn(1, "я" * 1_000_000))
    assert len(place.claimed().turns[0].text_of("owner")) == 1_000_000


def test_accepted_turns_survive_the_death_of_their_owner(place: Place) -> None:
    place.buffer.append(turn(1))
    place.buffer.append(turn(2))
    place.buffer = place.reopen()
    assert numbers(place.claim()) == [1, 2]


# --- claim --------------------------------------------------------------------------------------------------------------


def test_nothing_waits_nothing_is_claimed(place: Place) -> None:
    assert place.claim() is None


def test_a_claim_takes_the_oldest_up_to_its_limit(place: Place) -> None:
    for number in range(1, 8):
        place.buffer.append(turn(number))
    assert numbers(place.claim(limit=5)) == [1, 2, 3, 4, 5]
    assert numbers(place.claim(limit=5)) == [6, 7]
    assert place.claim() is None


def test_a_claim_holds_one_epoch(place: Place) -> None:
    place.buffer.append(turn(1))
    place.buffer.append(turn(2, session=replace(SESSION, epoch=1)))
    first, second = place.claimed(), place.claimed()
    assert [(b.session.epoch, numbers(b)) for b in (first, second)] == [(0, [1]), (1, [2])]


def test_the_queue_is_named_by_agent_and_key_alone(place: Place) -> None:
    place.buffer.append(turn(1))
    assert place.claim(session=Session("other", SESSION.key, "host-1")) is None
    assert numbers(place.claim(session=Session("main", SESSION.key, "another id", epoch=9))) == [1]


def test_many_threads_claim_and_no_turn_is_given_twice(place: Place) -> None:
    for number in range(1, 41):
        place.buffer.append(turn(number))
    with ThreadPoolExecutor(8) as threads:
        batches = list(threads.map(lambda _: place.claim(limit=3), range(20)))
    given = Counter(number for batch in batches for number in numbers(batch))
    assert given == Counter(range(1, 41))


def test_the_same_turns_are_the_same_batch_and_the_attempts_are_counted(place: Place) -> None:
    place.buffer.append(turn(1))
    first = place.claimed()
    place.buffer.release(first)
    second = place.claimed()
    assert (second.batch_id, second.attempt) == (first.batch_id, 2)
    assert second.token != first.token


def test_a_lease_that_has_run_out_counts_for_nothing(place: Place) -> None:
    place.buffer.append(turn(1))
    late = place.claimed()
    assert place.claim(after=59) is None
    assert numbers(place.claim(after=60)) == [1]
    assert place.buffer.commit(late) is False
    assert place.buffer.release(late) is False


def test_a_lease_that_has_run_out_still_commits_when_nobody_took_over(place: Place) -> None:
    place.buffer.append(turn(1))
    batch = place.claimed()
    assert place.buffer.commit(batch) is True
    assert place.claim(after=600) is None


# --- commit and release -------------------------------------------------------------------------------------------------


def test_a_committed_batch_is_gone_and_committing_it_again_changes_nothing(place: Place) -> None:
    place.buffer.append(turn(1))
    batch = place.claimed()
    assert place.buffer.commit(batch) is True
    assert place.buffer.commit(batch) is True
    assert place.buffer.release(batch) is False
    assert place.buffer.stats(NOW) == []


def test_released_turns_wait_in_their_old_order(place: Place) -> None:
    for number in (1, 2, 3):
        place.buffer.append(turn(number))
    batch = place.claimed(limit=2)
    assert place.buffer.release(batch) is True
    assert place.buffer.release(batch) is False
    assert place.buffer.commit(batch) is False
    assert numbers(place.claim()) == [1, 2, 3]


def test_a_batch_that_was_never_claimed_is_neither_committed_nor_released(place: Place) -> None:
    stranger = Batch("b", SESSION, (turn(1),), "token", NOW)
    assert place.buffer.commit(stranger) is False
    assert place.buffer.release(stranger) is False


# --- stats --------------------------------------------------------------------------------------------------------------


def test_stats_say_what_waits_and_since_when(place: Place) -> None:
    other = Session("second", "agent:second:main", "host-2", epoch=3)
    for number in (1, 2, 5):
        place.buffer.append(turn(number))
    place.buffer.append(turn(0, session=other))
    place.claimed(limit=2)
    found = {b.session: (b.waiting, b.claimed, b.oldest - NOW, b.newest - NOW) for b in place.buffer.stats(NOW)}
    assert found == {
        SESSION: (1, 2, timedelta(seconds=1), timedelta(seconds=5)),
        other: (1, 0, timedelta(0), timedelta(0)),
    }
    assert [b.session for b in place.buffer.stats(NOW)] == [other, SESSION]


def test_in_the_stats_a_lease_that_has_run_out_counts_as_waiting(place: Place) -> None:
    place.buffer.append(turn(1))
    place.claimed()
    assert [(b.waiting, b.claimed) for b in place.buffer.stats(NOW + LEASE)] == [(1, 0)]


# --- all together -------------------------------------------------------------------------------------------------------

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(1, 30)),
        st.tuples(st.just("claim"), st.integers(1, 6)),
        st.tuples(st.just("commit"), st.integers(0, 9)),
        st.tuples(st.just("release"), st.integers(0, 9)),
        st.tuples(st.just("wait"), st.integers(1, 90)),
    ),
    max_size=60,
)


@each_in_a_session_of_its_own
@given(steps=STEPS)
def test_whatever_happens_every_turn_is_committed_once(place: Place, steps: list[tuple[str, int]]) -> None:
    session = Session("main", uuid.uuid4().hex, "h")
    accepted: set[str] = set()
    committed: Counter[str] = Counter()
    batches: list[Batch] = []
    clock = 0.0

    def commit(batch: Batch) -> None:
        if batch not in finished and place.buffer.commit(batch):
            finished.append(batch)
            committed.update(turn.turn_id for turn in batch.turns)

    finished: list[Batch] = []
    for step, number in steps:
        if step == "append":
            said: Turn = turn(number, session=session)
            assert place.buffer.append(said) is (said.turn_id not in accepted)
            accepted.add(said.turn_id)
        elif step == "claim":
            batch = place.claim(limit=number, session=session, after=clock)
            batches += [batch] if batch else []
        elif step == "wait":
            clock += number
        elif batches:
            chosen = batches[number % len(batches)]
            commit(chosen) if step == "commit" else place.buffer.release(chosen)
    while batch := place.claim(session=session, after=clock + 3600):
        commit(batch)
    assert committed == Counter(accepted)
