"""Killed at any point: what was accepted is there, what was stored is there once, and the index can be trusted."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
from collections import Counter
from datetime import timedelta
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from openclaw_neuralstream.model import Trigger
from openclaw_neuralstream.store.flat_index import FlatIndex
from openclaw_neuralstream.store.truth import Truth
from tests.erasing import forget
from tests.store.test_flat_index import Unchanging
from tests.values import MAIN, NOW, SESSION, SMALL, gem, turn, unit

ROUNDS = int(os.environ.get("NS_KILL_ROUNDS", "25"))


def work(folder: Path, first: int, told: Connection) -> None:
    """Accept turns, distil them, forget some gems, let the index follow; tell each accepted turn before the next."""
    from openclaw_neuralstream.memory.projection import Projection

    truth, index = Truth.open(folder / "memory.sqlite"), FlatIndex(folder / "index", SMALL)
    projection = Projection(truth, index, Unchanging())
    projection.check()
    truth.release_claims()
    for number in range(first, first + 10_000):
        truth.append(turn(number))
        told.send(number)
        if number % 3 == 0:
            batch = truth.claim(SESSION, limit=4, lease=timedelta(hours=1), now=NOW, trigger=Trigger.BATCH)
            if batch:
                made = [(gem(f"of-{t.turn_id}", t.text_of("owner"), evidence=(t.turn_id,)), unit(1, t.index)) for t in batch.turns]
                truth.store(batch, made, embedder=SMALL, at=NOW)
                truth.commit(batch)
                projection.catch_up()
        if number % 20 == 0:
            forget(truth, [g.gem_id for g in truth.gems(limit=1)])
            projection.catch_up()


def killed_after(folder: Path, first: int, tellings: int) -> int:
    """Let the work tell so many turns, kill it in whatever it does then; returns the last turn that was told."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=work, args=(folder, first, theirs))
    process.start()
    theirs.close()
    last = first - 1
    for _ in range(tellings):
        assert ours.poll(60)
        last = ours.recv()
    assert process.pid
    os.kill(process.pid, signal.SIGKILL)
    process.join(30)
    try:
        while ours.poll(0):
            last = ours.recv()
    except EOFError:
        pass
    return last


@pytest.mark.parametrize("rounds", [3, pytest.param(ROUNDS, marks=pytest.mark.drill)])
def test_nothing_is_lost_and_nothing_is_there_twice(tmp_path: Path, rounds: int) -> None:
    chance = random.Random(20261121)
    last = 0
    for _ in range(rounds):
        last = killed_after(tmp_path, last + 1, chance.randint(1, 40))
        truth, index = Truth.open(tmp_path / "memory.sqlite"), FlatIndex(tmp_path / "index", SMALL)
        ids = [turn(number).turn_id for number in range(1, last + 1)]
        extracted = truth.extracted(ids)
        truth.release_claims()
        waiting = [t.turn_id for t in _waiting(truth)]
        assert Counter([*extracted, *(t for t in waiting if t in ids)]) == Counter(ids)
        gems = truth.gems(limit=100_000)
        assert len({g.gem_id for g in gems}) == len(gems) == truth.gem_count()
        found = {hit.gem_id for hit in index.search(unit(1), MAIN, limit=100_000)}
        behind = {event.gem_id for event in truth.events(index.position(), limit=100_000)}
        assert found - behind == {g.gem_id for g in gems} - behind
        index.close()
        truth.close()
        last = max([last, *(int(t.rsplit("-", 1)[1]) for t in waiting)])


def _waiting(truth: Truth) -> list:
    batch = truth.claim(SESSION, limit=100_000, lease=timedelta(hours=1), now=NOW, trigger=Trigger.BATCH)
    if batch is None:
        return []
    truth.release(batch)
    return list(batch.turns)
