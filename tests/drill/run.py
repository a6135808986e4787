"""Kill a memory at random points, take its services away and bring them back; then count: nothing lost, nothing twice.

Each round forks a process that opens the memory, takes turns over a pipe and distils them with all its workers, and is
killed with SIGKILL after a random time. Some turns are delivered twice. What was acknowledged must be there at the end.
"""

from __future__ import annotations

import json
import logging
import os
import random
import select
import shutil
import signal
import sys
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import structlog

from openclaw_neuralstream import wiring
from openclaw_neuralstream.embed.embedded import EmbeddedEmbedder
from openclaw_neuralstream.engine import Memory
from openclaw_neuralstream.extract.rules import RulesExtractor
from openclaw_neuralstream.model import Trigger
from openclaw_neuralstream.serve import moments
from openclaw_neuralstream.state import StateDir
from tests.drill.outages import Switch, SwitchedChooser, SwitchedIndex
from tests.worlds import end_event, turn_event

SESSIONS = 3
EARLY = 0.1
"""Of all lives, so many may end before the memory is open; the others are measured from their first breath."""
BIRTH_SECONDS = 60
"""A life that has not begun by then never will."""

_CITIES = ("Lisbon", "Kyoto", "Tallinn", "Quito", "Accra", "Hobart", "Turku", "Cusco", "Bergen", "Nara")


@dataclass(frozen=True, slots=True)
class Report:
    """What a drill did and found; `lost` and `twice` must be 0."""

    rounds: int
    kills: int
    sent: int
    acknowledged: int
    extracted: int
    gems: int
    lost: int
    twice: int
    unindexed: int
    outages: int
    seconds: float


def fact(number: int) -> str:
    """A sentence worth exactly one gem, unlike any other."""
    city = _CITIES[number % len(_CITIES)]
    return f"The warehouse number {number} of the company is in {city} and its manager is employee {number * 7 + 3}."


def event(number: int) -> dict[str, Any]:
    """The turn with this number, always the same."""
    return turn_event(fact(number), "Noted.", run=f"drill-{number}", key=f"agent:main:drill-{number % SESSIONS}")


def open_drilled(folder: Path, environ: dict[str, str], embedder: EmbeddedEmbedder) -> Memory:
    """The product's own memory with switches in front of the model and the index."""
    memory = wiring.open_memory(StateDir(folder / "state"), environ=environ, start=False)
    parts = memory.parts
    return Memory(
        replace(
            parts,
            embedder=embedder,
            index=SwitchedIndex(parts.index, Switch(folder / "index.off")),
            choose_extractor=SwitchedChooser(RulesExtractor(), Switch(folder / "model.off")),
        )
    )


def drill(
    folder: Path,
    *,
    rounds: int,
    seed: int,
    redis: Any = None,
    most_ms: int = 300,
    say: Any = lambda _: None,
) -> Report:
    """Run it in `folder`. redis: a server that can be killed and started again (`url`, `kill()`, `start()`), or None.

    To be run in a process without threads of its own: each life is a fork of it.
    """
    chance, embedder = random.Random(seed), EmbeddedEmbedder()
    embedder.warm()
    folder.mkdir(parents=True, exist_ok=True)
    environ = {
        "NEURALSTREAM_RETRY_DELAY": "0.1",
        "NEURALSTREAM_LEASE": "5",
        "NEURALSTREAM_MODEL_TIMEOUT": "1",
        "NEURALSTREAM_OLLAMA_URL": "http://127.0.0.1:9",
        "NEURALSTREAM_EMBEDDER": "embedded",
        **({"NEURALSTREAM_REDIS_URL": redis.url, "NEURALSTREAM_REDIS_TIMEOUT": "0.5"} if redis else {}),
    }
    _rehearse(folder / "rehearsal", embedder)
    started, sent, acknowledged, outages, redis_down = time.monotonic(), 0, set[int](), 0, False
    for round_number in range(rounds):
        for name in ("model.off", "index.off"):
            switch = Switch(folder / name)
            if chance.random() < 0.2:
                switch.off()
                outages += 1
            else:
                switch.on()
        if redis and redis_down:
            redis.start()
            redis_down = False
        elif redis and chance.random() < 0.1:
            redis.kill()
            redis_down, outages = True, outages + 1
        numbers = [sent + n for n in range(chance.randint(0, 12))]
        again = chance.sample(sorted(acknowledged), min(2, len(acknowledged)))
        seconds, early = chance.uniform(0.005, most_ms / 1000), chance.random() < EARLY
        acknowledged |= _round(folder, environ, embedder, [*numbers, *again], seconds, early=early)
        sent += len(numbers)
        say((round_number + 1, sent, len(acknowledged)))
    if redis and redis_down:
        redis.start()
    for name in ("model.off", "index.off"):
        Switch(folder / name).on()
    report = _settle(folder, environ, embedder, sent, acknowledged)
    return replace(report, rounds=rounds, kills=rounds, outages=outages, seconds=round(time.monotonic() - started, 1))


def _rehearse(folder: Path, embedder: EmbeddedEmbedder) -> None:
    """One peaceful life: what is imported and compiled in it is there already in every life that is forked."""
    folder.mkdir(parents=True, exist_ok=True)
    memory = open_drilled(folder, {"NEURALSTREAM_EMBEDDER": "embedded"}, embedder)
    moments.turn_end(memory, event(0))
    memory.flush(Trigger.MANUAL)
    memory.close()


def _round(
    folder: Path, environ: dict[str, str], embedder: EmbeddedEmbedder, numbers: list[int], seconds: float, *, early: bool
) -> set[int]:
    """One life: fork, feed, kill. early: it may end before it is ready. Returns what was acknowledged before the end."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _live(folder, environ, embedder, numbers, writer)
    os.close(writer)
    heard, ready = b"", False
    end = time.monotonic() + (seconds if early else BIRTH_SECONDS)
    while (left := end - time.monotonic()) > 0:
        if select.select([reader], [], [], left)[0]:
            piece = os.read(reader, 65_536)
            if not piece:
                break
            heard += piece
            if not ready and (ready := heard.startswith(b"ready\n")) and not early:
                end = time.monotonic() + seconds
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while piece := os.read(reader, 65_536):
        heard += piece
    os.close(reader)
    if b"!" in heard or not (early or ready):
        raise AssertionError(heard.decode() or f"a life had not begun after {BIRTH_SECONDS} s")
    return {int(line) for line in heard.split(b"\n")[:-1] if line != b"ready"}


def _live(folder: Path, environ: dict[str, str], embedder: EmbeddedEmbedder, numbers: list[int], writer: int) -> None:
    try:
        memory = open_drilled(folder, environ, embedder).start()
        os.write(writer, b"ready\n")
        for number in numbers:
            moments.turn_end(memory, event(number))
            os.write(writer, b"%d\n" % number)
            if number % 11 == 0:
                moments.session_end(memory, end_event("new", key=f"agent:main:drill-{number % SESSIONS}"))
        signal.pause()
    except BaseException as error:  # noqa: BLE001  border of a forked life: the parent tells it
        os.write(writer, f"! {type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(1)


def _settle(
    folder: Path, environ: dict[str, str], embedder: EmbeddedEmbedder, sent: int, acknowledged: set[int]
) -> Report:
    """Bring everything back, let leases run out, distil the rest, and count."""
    memory = open_drilled(folder, environ, embedder)
    until = time.monotonic() + 120
    while (backlogs := list(memory.distiller.backlogs())) and time.monotonic() < until:
        memory.flush(Trigger.MANUAL)
        if any(backlog.claimed for _, backlog in backlogs):
            time.sleep(0.2)  # claims of the killed wait for their lease
    memory.projection.embed_missing()
    memory.projection.check()
    contents = [gem.content for gem in memory.truth.gems(limit=10 * sent + 10)]
    kept = {number for number in range(sent) if any(fact(number) in content or content in fact(number) for content in _near(contents, number))}
    turns = memory.truth.turns([_turn_id(memory, number) for number in range(sent)])
    report = Report(
        rounds=0,
        kills=0,
        sent=sent,
        acknowledged=len(acknowledged),
        extracted=len(turns),
        gems=len(contents),
        lost=len(acknowledged - kept),
        twice=len(contents) - len(kept),
        unindexed=memory.truth.gem_count() - memory.parts.index.count(),
        outages=0,
        seconds=0.0,
    )
    memory.close()
    return report


def _near(contents: list[str], number: int) -> list[str]:
    return [content for content in contents if f"number {number} " in content]


def _turn_id(memory: Memory, number: int) -> str:
    from openclaw_neuralstream import capture

    turn = capture.read_turn(event(number), now=memory.now(), settings=memory.settings)
    assert not isinstance(turn, capture.Skipped)
    return turn.turn_id


def _say(progress: tuple[int, int, int]) -> None:
    if sys.stderr.isatty():
        print("{} rounds, {} turns sent, {} acknowledged".format(*progress), end="\r", file=sys.stderr)


def main() -> None:
    """The command: prints one JSON report, exit code 1 when something was lost or stored twice."""
    import argparse

    from tests.valkey import ValkeyServer

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("--buffer", choices=("embedded", "redis"), default="embedded")
    parser.add_argument("--folder", type=Path, default=Path(".cache/drill"))
    parser.add_argument("--long", action="store_true", help="thousands of turns through the real process instead")
    parser.add_argument("--turns", type=int, default=10_000, help="with --long: how many")
    parser.add_argument("--kills", action="store_true", help="with --long: kill the process and move its file, too")
    parser.add_argument("--every", type=int, default=150, help="with --long: turns from one outage to the next, on average")
    parser.add_argument("--out", type=Path, help="with --long: file for the report")
    chosen = parser.parse_args()
    if chosen.long:
        from tests.drill.long import main as long_main

        long_main(chosen)
        return
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))  # outages are what it is about
    shutil.rmtree(chosen.folder, ignore_errors=True)
    redis = ValkeyServer().start() if chosen.buffer == "redis" else None
    try:
        report = drill(chosen.folder, rounds=chosen.rounds, seed=chosen.seed, redis=redis, say=_say)
    finally:
        if redis:
            redis.stop()
    print(json.dumps({"seed": chosen.seed, "buffer": chosen.buffer, **asdict(report)}))
    raise SystemExit(1 if report.lost or report.twice or report.unindexed else 0)
