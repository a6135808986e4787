"""Turns become gems in one transaction, once; what cannot be extracted is set aside and can come back."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.model import Batch, Session, Trigger, Turn
from openclaw_neuralstream.store.truth import Truth
from tests.values import NOW, SESSION, SMALL, gem, turn, unit

LEASE = timedelta(seconds=60)


def claim(truth: Truth, *, limit: int = 5, after: float = 0) -> Batch:
    now = NOW + timedelta(seconds=after)
    batch = truth.claim(SESSION, limit=limit, lease=LEASE, now=now, trigger=Trigger.BATCH)
    assert batch is not None
    return batch


def from_elsewhere(turns: Sequence[Turn], batch_id: str = "elsewhere") -> Batch:
    """A batch that another buffer handed out."""
    return Batch(batch_id, SESSION, tuple(turns), "token", NOW + LEASE)


def fill(truth: Truth, count: int) -> None:
    for number in range(1, count + 1):
        truth.append(turn(number))


def test_gems_and_turns_change_together(truth: Truth) -> None:
    fill(truth, 2)
    batch = claim(truth)
    stored = truth.store(batch, [(gem("g", evidence=(batch.turns[0].turn_id,)), unit(1))], embedder=SMALL, at=NOW)
    assert [g.gem_id for g in stored or []] == ["g"]
    assert truth.stats(NOW) == []
    assert truth.extracted([t.turn_id for t in batch.turns]) == {t.turn_id for t in batch.turns}
    assert truth.vectors(["g"], SMALL)["g"] == pytest.approx(unit(1))
    assert truth.commit(batch) is True
    assert [(b.state, b.turns, b.gems) for b in truth.batches(5)] == [("stored", 2, 1)]


def test_a_failed_store_changes_nothing(truth: Truth) -> None:
    fill(truth, 1)
    batch = claim(truth)
    with pytest.raises(BadRequest):
        truth.store(batch, [(gem("a"), unit(1)), (gem("b"), unit(1, dimensions=9))], embedder=SMALL, at=NOW)
    assert (truth.gem_count(), truth.last_event(), truth.extracted([batch.turns[0].turn_id])) == (0, 0, set())
    assert truth.search_words(["redi", "buffer"], gem().scope, 5) == []


def test_a_batch_of_which_a_turn_was_extracted_is_fenced_off(truth: Truth) -> None:
    fill(truth, 3)
    late = claim(truth, limit=2)
    taken_over = claim(truth, limit=3, after=61)
    assert truth.store(taken_over, [(gem("a"), None)], embedder=None, at=NOW) is not None
    assert truth.store(late, [(gem("b"), None)], embedder=None, at=NOW) is None
    assert truth.commit(late) is False
    assert [g.gem_id for g in truth.gems()] == ["a"]


def test_the_same_batch_stored_twice_stores_once(truth: Truth) -> None:
    fill(truth, 1)
    batch = claim(truth)
    assert truth.store(batch, [(gem("a"), None)], embedder=None, at=NOW) is not None
    assert truth.store(batch, [(gem("b"), None)], embedder=None, at=NOW) is None
    assert truth.gem_count() == 1


def test_turns_of_another_buffer_are_kept_and_numbered(truth: Truth) -> None:
    fill(truth, 1)
    guests = [turn(7, turn_id="r1"), turn(8, turn_id="r2")]
    assert truth.store(from_elsewhere(guests), [], embedder=None, at=NOW) == []
    assert [(t.turn_id, t.index) for t in truth.turns(["r1", "r2"])] == [("r1", 2), ("r2", 3)]
    assert truth.append(guests[0]) is False
    assert truth.store(from_elsewhere(guests[:1], "again"), [], embedder=None, at=NOW) is None


def test_numbers_given_by_another_buffer_are_kept_and_counted_on(truth: Truth) -> None:
    truth.store(from_elsewhere([turn(1, turn_id="r", index=20)]), [], embedder=None, at=NOW)
    truth.append(turn(2))
    assert truth.last_index(SESSION.agent, SESSION.key) == 21


def test_two_threads_that_store_the_same_turns_store_them_once(truth: Truth) -> None:
    guests = [turn(n, turn_id=f"r{n}") for n in range(5)]
    answers: list[object] = []
    start = threading.Barrier(2)

    def store(name: str) -> None:
        start.wait(10)
        answers.append(truth.store(from_elsewhere(guests, name), [(gem(name), None)], embedder=None, at=NOW))

    threads = [threading.Thread(target=store, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(answer is None for answer in answers) == [False, True]
    assert truth.gem_count() == 1


# --- dead letters -------------------------------------------------------------------------------------------------------


def test_refused_answers_are_counted_over_restarts(truth: Truth, path: Path) -> None:
    fill(truth, 1)
    batch = claim(truth)
    assert truth.fail(batch, "no JSON") == 1
    truth.release(batch)
    truth.close()
    again = Truth.open(path)
    batch = claim(again)
    assert (again.attempts(batch.batch_id), again.fail(batch, "no JSON")) == (1, 2)
    assert again.attempts("unknown") == 0
    again.close()


def test_a_dead_batch_is_kept_and_comes_back_when_it_is_revived(truth: Truth) -> None:
    fill(truth, 2)
    batch = claim(truth)
    truth.fail(batch, "cut off")
    truth.bury(batch, "cut off", NOW)
    assert truth.commit(batch) is True
    assert [(d.batch_id, d.turns, d.reason, d.attempts) for d in truth.dead()] == [(batch.batch_id, 2, "cut off", 1)]
    assert truth.stats(NOW) == []
    assert truth.append(turn(1)) is False
    assert truth.store(batch, [], embedder=None, at=NOW) is None
    assert (truth.revive(batch.batch_id), truth.revive(batch.batch_id)) == (True, False)
    assert (truth.dead(), truth.attempts(batch.batch_id)) == ([], 0)
    assert [t.index for t in claim(truth).turns] == [1, 2]


def test_a_dead_batch_of_another_buffer_is_kept_too(truth: Truth) -> None:
    truth.bury(from_elsewhere([turn(1)]), "refused", NOW)
    assert truth.extracted([turn(1).turn_id]) == {turn(1).turn_id}
    assert truth.revive("elsewhere") is True
    assert [t.text_of("owner") for t in claim(truth).turns] == [turn(1).text_of("owner")]


# --- history ------------------------------------------------------------------------------------------------------------


def test_history_is_what_was_extracted_before_in_the_same_epoch(truth: Truth) -> None:
    fill(truth, 6)
    truth.append(turn(7, session=replace(SESSION, epoch=1)))
    for _ in range(2):
        truth.store(claim(truth, limit=2), [], embedder=None, at=NOW)
    batch = claim(truth, limit=2)
    found = truth.history(batch.session, batch.turns[0], limit=3)
    assert [t.index for t in found] == [2, 3, 4]
    last = claim(truth)
    assert truth.history(last.session, last.turns[0], limit=9) == []


def test_a_turn_of_another_buffer_has_its_history(truth: Truth) -> None:
    fill(truth, 2)
    truth.store(claim(truth), [], embedder=None, at=NOW)
    assert [t.index for t in truth.history(SESSION, turn(9, turn_id="r"), limit=9)] == [1, 2]


# --- turns that do not read back ----------------------------------------------------------------------------------------


def test_a_turn_that_does_not_read_back_is_set_aside_and_blocks_nobody(truth: Truth, path: Path) -> None:
    fill(truth, 3)
    truth.close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE bodies SET body = x'ff00' WHERE seq = 1")
    again = Truth.open(path)
    assert [t.index for t in claim(again).turns] == [2, 3]
    assert again.extracted([turn(1).turn_id]) == {turn(1).turn_id}
    again.close()


def test_a_session_of_only_unreadable_turns_is_empty(truth: Truth, path: Path) -> None:
    fill(truth, 2)
    truth.close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE bodies SET body = 'not a turn'")
    again = Truth.open(path)
    assert again.claim(SESSION, limit=5, lease=LEASE, now=NOW, trigger=Trigger.IDLE) is None
    assert again.stats(NOW) == []
    again.close()


def test_sessions_are_listed_oldest_first(truth: Truth) -> None:
    for number, key in ((3, "c"), (1, "a"), (2, "b")):
        truth.append(turn(number, session=Session("main", key, "h")))
    assert [b.session.key for b in truth.stats(NOW)] == ["a", "b", "c"]
