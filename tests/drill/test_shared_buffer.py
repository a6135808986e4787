"""Two real processes share one buffer on one real Valkey and are killed in between: nothing lost, nothing twice."""

from __future__ import annotations

import logging
import os
import random
import select
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
import structlog

from openclaw_neuralstream.embed.embedded import EmbeddedEmbedder
from openclaw_neuralstream.model import Trigger
from openclaw_neuralstream.server import moments
from openclaw_neuralstream.store.redis_buffer import RedisBuffer
from openclaw_neuralstream.store.truth import Truth
from tests.drill.run import Told, _rehearse, _settle, event, open_drilled
from tests.valkey import ValkeyServer

ROUNDS = 15
BORN = 0.8
"""How many of the lives are not ended before they have begun."""


@pytest.fixture(autouse=True)
def _quiet():
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    yield
    structlog.reset_defaults()


def live(folder: Path, environ: dict[str, str], embedder: EmbeddedEmbedder, numbers: list[int], writer: int) -> None:
    """Takes turns and distils whatever waits, also what the other one took; killed somewhere in it."""
    try:
        memory = open_drilled(folder, environ, embedder)
        for number in numbers:
            moments.turn_end(memory, event(number))
            os.write(writer, b"%d\n" % number)
            if number % 3 == 0:
                memory.flush(Trigger.MANUAL)
        while True:
            memory.flush(Trigger.MANUAL)
    except BaseException as error:  # noqa: BLE001  border of a forked life: the parent tells it
        os.write(writer, f"! {type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(1)


def born(folder: Path, environ: dict[str, str], embedder: EmbeddedEmbedder, numbers: list[int]) -> tuple[int, int]:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        live(folder, environ, embedder, numbers, writer)
    os.close(writer)
    return child, reader


def ended(child: int, reader: int) -> str:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    heard = b""
    while piece := os.read(reader, 65_536):
        heard += piece
    os.close(reader)
    assert b"!" not in heard, heard.decode()
    return heard.rpartition(b"\n")[0].decode()


@pytest.mark.drill
@pytest.mark.server
@pytest.mark.timeout(300)
def test_two_processes_share_one_buffer_and_are_killed_in_between(tmp_path: Path) -> None:
    chance, embedder, server = random.Random(20261123), EmbeddedEmbedder(), ValkeyServer().start()
    environ = {
        "NEURALSTREAM_REDIS_URL": server.url,
        "NEURALSTREAM_RETRY_DELAY": "0.1",
        "NEURALSTREAM_LEASE": "5",
        "NEURALSTREAM_MODEL_TIMEOUT": "1",
        "NEURALSTREAM_EMBEDDER": "embedded",
        "NEURALSTREAM_OLLAMA_URL": "http://127.0.0.1:9",
    }
    try:
        embedder.warm()
        _rehearse(tmp_path / "rehearsal", embedder)
        sent, acknowledged = 0, set[int]()
        for _ in range(ROUNDS):
            lives = []
            for _side in (0, 1):
                numbers = list(range(sent, sent + chance.randint(2, 8)))
                sent += len(numbers)
                lives.append(born(tmp_path, environ, embedder, numbers))
            for side in chance.sample((0, 1), 2):
                if chance.random() < BORN:
                    select.select([lives[side][1]], [], [], 60)  # it has taken a turn, however slow the machine is
                threading.Event().wait(chance.uniform(0.05, 0.5))
                acknowledged |= {int(line) for line in ended(*lives[side]).splitlines()}
        report: Any = _settle(tmp_path, environ, embedder, sent, Told(acknowledged))
    finally:
        server.stop()
    assert (report.lost, report.twice, report.unindexed) == (0, 0, 0), report
    assert report.extracted == report.gems >= report.acknowledged >= ROUNDS, report


@pytest.mark.server
def test_a_claim_whose_lease_ran_out_cannot_be_committed_by_its_old_holder(tmp_path: Path) -> None:
    """The fence, seen from two holders: the slow one neither stores nor removes what the other one took over."""
    from datetime import timedelta

    from tests.values import NOW, SESSION, SMALL, gem, turn, unit

    server = ValkeyServer().start()
    truth = Truth.open(tmp_path / "memory.sqlite")
    try:
        slow, quick = RedisBuffer(server.url, "ns"), RedisBuffer(server.url, "ns")
        slow.append(turn(1))
        first = slow.claim(SESSION, limit=5, lease=timedelta(seconds=10), now=NOW, trigger=Trigger.BATCH)
        second = quick.claim(SESSION, limit=5, lease=timedelta(seconds=10), now=NOW + timedelta(seconds=11), trigger=Trigger.BATCH)
        assert first
        assert second
        assert truth.store(second, [(gem("g"), unit(1))], embedder=SMALL, at=NOW) is not None
        assert truth.store(first, [(gem("h"), unit(1))], embedder=SMALL, at=NOW) is None
        assert (slow.commit(first), quick.commit(second)) == (False, True)
        assert truth.gem_count() == 1
        slow.close()
        quick.close()
    finally:
        truth.close()
        server.stop()
