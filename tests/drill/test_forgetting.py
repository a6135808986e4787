"""Killed again and again with forgettings among the turns: each life that has time makes gems, and at the end they are all done."""

from __future__ import annotations

import logging
import os
import random
import select
import signal
import time
from pathlib import Path
from typing import Any

import pytest
import structlog

from openclaw_neuralstream.embed.embedded import EmbeddedEmbedder
from openclaw_neuralstream.memory.forget_files import What
from openclaw_neuralstream.model import Trigger
from openclaw_neuralstream.server import moments
from tests.drill.run import _rehearse, fact, open_drilled
from tests.worlds import turn_event

LIVES, TURNS = 12, 6
SECONDS = 60


@pytest.fixture(autouse=True)
def _quiet():
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    yield
    structlog.reset_defaults()


def word(number: int) -> str:
    return f"zanzibar{number}ine"


def said(number: int) -> str:
    """Every third one is to be forgotten, by a word that only it holds."""
    return f"We keep the key of the safe number {number} with {word(number)}." if number % 3 == 0 else fact(number)


def event(number: int) -> dict[str, Any]:
    return turn_event(said(number), "Noted.", run=f"forget-{number}", key=f"agent:main:forget-{number % 2}")


def live(folder: Path, environ: dict[str, str], embedder: EmbeddedEmbedder, numbers: list[int], writer: int) -> None:
    """Takes turns, has some of them forgotten that earlier lives took, and tells when a gem was made."""
    try:
        memory = open_drilled(folder, environ, embedder)
        before = memory.truth.last_event()
        memory.start()
        for number in numbers:
            moments.turn_end(memory, event(number))
            os.write(writer, b"t%d\n" % number)
            if number % 3 == 0 and number >= TURNS:
                memory.eraser.ask(What(words=word(number - TURNS)))
                os.write(writer, b"f%d\n" % (number - TURNS))
        for key in (0, 1):
            memory.ask_to_distil(memory.session("main", f"agent:main:forget-{key}"), Trigger.MANUAL)
        while not any(e.action == "stored" for e in memory.truth.events(before, limit=1_000)):
            time.sleep(0.01)
        os.write(writer, b"gem\n")
        signal.pause()
    except BaseException as error:  # noqa: BLE001  border of a forked life: the parent tells it
        os.write(writer, f"! {type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(1)


def killed(reader: int, child: int, *, patient: bool, seconds: float) -> list[str]:
    """What a life said before its end: after its first gem, or after so many seconds from its first turn on."""
    heard, end = b"", time.monotonic() + SECONDS
    begun = False
    while (left := end - time.monotonic()) > 0 and b"gem\n" not in heard:
        if select.select([reader], [], [], left)[0]:
            piece = os.read(reader, 65_536)
            if not piece:
                break
            heard += piece
            if not begun and not patient:
                begun, end = True, time.monotonic() + seconds
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while piece := os.read(reader, 65_536):
        heard += piece
    os.close(reader)
    assert b"!" not in heard, heard.decode()
    return heard.rpartition(b"\n")[0].decode().splitlines()


@pytest.mark.drill
@pytest.mark.timeout(500)
def test_forgettings_among_kills_are_finished_and_every_life_that_has_time_makes_gems(tmp_path: Path) -> None:
    chance, embedder = random.Random(20261124), EmbeddedEmbedder()
    embedder.warm()
    environ = {"NEURALSTREAM_EMBEDDER": "embedded", "NEURALSTREAM_OLLAMA_URL": "http://127.0.0.1:9"}
    _rehearse(tmp_path / "rehearsal", embedder)
    taken, asked = set[int](), set[int]()
    for life in range(LIVES):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            live(tmp_path, environ, embedder, list(range(life * TURNS, (life + 1) * TURNS)), writer)
        os.close(writer)
        lines = killed(reader, child, patient=life % 3 == 2, seconds=chance.uniform(0.05, 1.0))
        assert life % 3 != 2 or "gem" in lines, f"life {life} made no gem"
        taken |= {int(line[1:]) for line in lines if line.startswith("t")}
        asked |= {int(line[1:]) for line in lines if line.startswith("f")}
    memory = open_drilled(tmp_path, environ, embedder)
    memory.truth.release_claims()
    memory.eraser.resume()
    memory.flush(Trigger.MANUAL)
    contents = [gem.content for gem in memory.truth.gems(limit=1_000, superseded=True)]
    memory.close()
    everything = b"".join(file.read_bytes() for file in (tmp_path / "state").rglob("*") if file.is_file())
    assert asked
    assert not memory.eraser.due
    assert [number for number in asked if word(number).encode() in everything] == []
    kept = [number for number in sorted(taken - asked) if number % 3]
    assert [sum(f"number {number} " in content for content in contents) for number in kept] == [1] * len(kept)
