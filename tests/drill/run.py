"""Kill a memory at random points, take its services away and bring them back; then count: nothing lost, nothing twice.

Each life is a fork that opens the memory, takes turns and distils them with all its workers, and is killed with SIGKILL
after a random time. Some turns are delivered twice; some are forgotten, gems are edited, the indexes are made anew, in the
midst of it. What was acknowledged must be there at the end, edited where it was edited, and what was forgotten nowhere.
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
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import structlog

from openclaw_neuralstream.embed.embedded import EmbeddedEmbedder
from openclaw_neuralstream.errors import NotFound, VendorAway
from openclaw_neuralstream.extract.learned import LearnedExtractor
from openclaw_neuralstream.memory import wiring
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.memory.forget_files import What
from openclaw_neuralstream.model import Trigger
from openclaw_neuralstream.server import moments
from openclaw_neuralstream.state import StateDir
from tests.drill.outages import Switch, SwitchedChooser, SwitchedIndex
from tests.worlds import end_event, turn_event

SESSIONS = 3
EARLY = 0.1
"""Of all lives, so many may end before the memory is open; the others are measured from their first breath."""
PATIENT, PATIENT_SECONDS = 0.15, 5.0
"""Of all lives, so many may last so long: a batch, an edit, new indexes take longer than most lives."""
BIRTH_SECONDS = 60
"""A life that has not begun by then never will."""
BATCH = 3
EDITED = "It was checked by hand."
_LOOK_SECONDS = 0.05

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
    forgotten: int = 0
    unforgotten: int = 0
    edited: int = 0
    edits_lost: int = 0
    rebuilt: int = 0
    stood_still: float = 0.0
    """Longest uptime, in seconds, in which turns were due, all services there and nothing was extracted."""

    @property
    def well(self) -> bool:
        """Whether nothing is lost, double, unindexed, or there although it was forgotten."""
        return not (self.lost or self.twice or self.unindexed or self.unforgotten or self.edits_lost)


@dataclass(slots=True)
class Told:
    """What the lives told before they were killed. A letter before a number: meant (capital) or done."""

    taken: set[int] = field(default_factory=set)
    done: dict[str, set[int]] = field(default_factory=lambda: {letter: set() for letter in "FfEe"})
    rebuilt: int = 0
    still: float = 0.0
    longest: float = 0.0

    def hear(self, line: str) -> None:
        """A line of a life: a turn that it acknowledged, or what it did to one."""
        if line[0].isdigit():
            self.taken.add(int(line))
        elif line[0] == "r" and line != "ready":
            self.rebuilt += 1
        elif line[0] in self.done:
            self.done[line[0]].add(int(line[1:]))

    def stood(self, seconds: float, *, moved: bool) -> None:
        """Uptime that went by; `moved`: at its end a batch was extracted, or nothing was due."""
        self.still += seconds
        self.longest = max(self.longest, self.still)
        if moved:
            self.still = 0.0


def fact(number: int) -> str:
    """A sentence worth exactly one gem, unlike any other."""
    city = _CITIES[number % len(_CITIES)]
    return f"We keep the contract number {number} in {city}, in folder {number * 7 + 3}."


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
            choose_extractor=SwitchedChooser(LearnedExtractor(), Switch(folder / "model.off")),
        )
    )


def drill(
    folder: Path,
    *,
    rounds: int,
    seed: int,
    redis: Any = None,
    qdrant: Any = None,
    most_ms: int = 600,
    say: Any = lambda _: None,
) -> Report:
    """Run it in `folder`. redis, qdrant: servers that can be killed and started again (`url`, `kill()`, `start()`), or None.

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
        "NEURALSTREAM_BATCH_SIZE": str(BATCH),
        **({"NEURALSTREAM_QDRANT_URL": qdrant.url, "NEURALSTREAM_QDRANT": '{"timeout": 1}'} if qdrant else {}),
        **({"NEURALSTREAM_REDIS_URL": redis.url, "NEURALSTREAM_REDIS": '{"socket_timeout": 0.5}'} if redis else {}),
    }
    _rehearse(folder / "rehearsal", embedder, environ)
    started, sent, told, outages, away = time.monotonic(), 0, Told(), 0, set[str]()
    servers = {name: server for name, server in (("redis", redis), ("qdrant", qdrant)) if server}
    for round_number in range(rounds):
        for name in ("model.off", "index.off"):
            switch = Switch(folder / name)
            if chance.random() < 0.2:
                switch.off()
                outages += 1
            else:
                switch.on()
        for name, server in servers.items():
            if name in away:
                server.start()
                away.remove(name)
            elif chance.random() < 0.1:
                server.kill()
                away.add(name)
                outages += 1
        numbers = [sent + n for n in range(chance.randint(0, 12))]
        known = sorted(told.taken - told.done["F"])
        again = chance.sample(known, min(2, len(known)))
        longest = PATIENT_SECONDS if chance.random() < PATIENT else most_ms / 1000
        seconds, early = chance.uniform(0.005, longest), chance.random() < EARLY
        served = not away and not Switch(folder / "model.off").thrown
        work = [str(number) for number in (*numbers, *again)]
        for deed in _deeds(known, chance):
            work.insert(chance.randint(0, len(work)), deed)
        _round(folder, environ, embedder, work, seconds, told=told, early=early, served=served)
        sent += len(numbers)
        say((round_number + 1, sent, len(told.taken)))
    for name in away:
        servers[name].start()
    for name in ("model.off", "index.off"):
        Switch(folder / name).on()
    report = _settle(folder, environ, embedder, sent, told)
    return replace(report, rounds=rounds, kills=rounds, outages=outages, seconds=round(time.monotonic() - started, 1))


def _deeds(known: list[int], chance: random.Random) -> list[str]:
    """What a life does beside taking turns: "F12" forgets turn 12, "E12" edits its gem, "R0" makes the indexes anew."""
    deeds = [f"{letter}{chance.choice(known)}" for letter in "FE" if known and chance.random() < 0.3]
    return [*deeds, *(["R0"] if chance.random() < 0.15 else [])]


def _rehearse(folder: Path, embedder: EmbeddedEmbedder, environ: Mapping[str, str] | None = None) -> None:
    """One peaceful life: what is imported and compiled in it is there already in every life that is forked."""
    folder.mkdir(parents=True, exist_ok=True)
    memory = open_drilled(folder, environ or {"NEURALSTREAM_EMBEDDER": "embedded"}, embedder)
    moments.turn_end(memory, event(0))
    memory.flush(Trigger.MANUAL)
    memory.close()


def _round(
    folder: Path,
    environ: dict[str, str],
    embedder: EmbeddedEmbedder,
    work: list[str],
    seconds: float,
    *,
    told: Told,
    early: bool,
    served: bool,
) -> None:
    """One life: fork, feed, kill. early: it may end before it is ready. served: extraction has all that it needs."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _live(folder, environ, embedder, work, writer)
    os.close(writer)
    heard, ready = b"", False
    end = time.monotonic() + (seconds if early else BIRTH_SECONDS)
    since = end
    while (left := end - time.monotonic()) > 0:
        if select.select([reader], [], [], left)[0]:
            piece = os.read(reader, 65_536)
            if not piece:
                break
            heard += piece
            if not ready and (ready := heard.startswith(b"ready\n")):
                since = time.monotonic()
                end = end if early else since + seconds
            if served and ready and b"m\n" in piece:
                told.stood(time.monotonic() - since, moved=True)
                since = time.monotonic()
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if served and ready:
        told.stood(max(0.0, time.monotonic() - since), moved=False)
    while piece := os.read(reader, 65_536):
        heard += piece
    os.close(reader)
    if b"!" in heard or not (early or ready):
        raise AssertionError(heard.decode() or f"a life had not begun after {BIRTH_SECONDS} s")
    for line in heard.split(b"\n")[:-1]:
        told.hear(line.decode())


def _live(folder: Path, environ: dict[str, str], embedder: EmbeddedEmbedder, work: list[str], writer: int) -> None:
    try:
        memory = open_drilled(folder, environ, embedder).start()
        os.write(writer, b"ready\n")
        threading.Thread(target=_watch, args=(memory, writer), daemon=True).start()
        for deed in work:
            if not deed.isdigit():
                _do(memory, deed, writer)
                continue
            number = int(deed)
            moments.turn_end(memory, event(number))
            os.write(writer, b"%d\n" % number)
            if number % 11 == 0:
                moments.session_end(memory, end_event("new", key=f"agent:main:drill-{number % SESSIONS}"))
        signal.pause()
    except BaseException as error:  # noqa: BLE001  border of a forked life: the parent tells it
        os.write(writer, f"! {type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(1)


def _do(memory: Memory, deed: str, writer: int) -> None:
    """Say what is meant, do it, say that it is done; a service that is away leaves it undone."""
    os.write(writer, f"{deed}\n".encode())
    number = int(deed[1:])
    with suppress(VendorAway, NotFound):
        if deed[0] == "F":
            memory.eraser.ask(What(turns=(_turn_id(memory, number),)))
        elif deed[0] == "E":
            gem = next((gem for gem in memory.truth.gems(limit=100_000) if gem.content.startswith(fact(number))), None)
            if gem is None:
                return
            memory.edit(gem.gem_id, content=f"{fact(number)} {EDITED}")
        else:
            memory.projection.rebuild()
            memory.turn_projection.rebuild()
            memory.start_reembedding()
        os.write(writer, f"{deed.lower()}\n".encode())


def _watch(memory: Memory, writer: int) -> None:
    """Say "m" whenever a batch was extracted since the last look, or none is due."""
    last = memory.truth.last_event()
    while True:
        news = memory.truth.events(last, limit=1_000)
        due = any(backlog.waiting >= BATCH for _, backlog in memory.distiller.backlogs())
        if not due or any(one.action == "stored" for one in news):
            os.write(writer, b"m\n")
        last = memory.truth.last_event()
        time.sleep(_LOOK_SECONDS)


def _settle(folder: Path, environ: dict[str, str], embedder: EmbeddedEmbedder, sent: int, told: Told) -> Report:
    """Bring everything back, let leases run out, finish the forgettings, distil the rest, and count."""
    memory = open_drilled(folder, environ, embedder)
    until = time.monotonic() + 120
    while memory.eraser.due and time.monotonic() < until:
        memory.eraser.resume()
    while (backlogs := list(memory.distiller.backlogs())) and time.monotonic() < until:
        memory.flush(Trigger.MANUAL)
        if any(backlog.claimed for _, backlog in backlogs):
            time.sleep(0.2)  # claims of the killed wait for their lease
    memory.projection.embed_missing()
    memory.projection.check()
    contents = [gem.content for gem in memory.truth.gems(limit=10 * sent + 10)]
    kept = {number for number in range(sent) if any(fact(number) in content or content in fact(number) for content in _near(contents, number))}
    turns = memory.truth.turns([_turn_id(memory, number) for number in range(sent)])
    meant, forgotten, edited = told.done["F"], told.done["f"], told.done["e"] - told.done["F"]
    handled = {number for number in edited if any(content.endswith(EDITED) for content in _near(contents, number))}
    report = Report(
        rounds=0,
        kills=0,
        sent=sent,
        acknowledged=len(told.taken),
        extracted=len(turns),
        gems=len(contents),
        lost=len(told.taken - meant - kept),
        twice=len(contents) - len(kept),
        unindexed=memory.truth.gem_count() - memory.parts.index.count(),
        outages=0,
        seconds=0.0,
        forgotten=len(forgotten),
        unforgotten=len(forgotten & kept) + memory.eraser.due,
        edited=len(edited),
        edits_lost=len(edited - handled),
        rebuilt=told.rebuilt,
        stood_still=round(told.longest, 1),
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

    from tests.drill.services import QdrantProcess
    from tests.valkey import ValkeyServer

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lives", "--rounds", type=int, default=1_000, dest="rounds")
    parser.add_argument("--index", choices=("embedded", "qdrant"), default="embedded")
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
    qdrant = QdrantProcess() if chosen.index == "qdrant" else None
    try:
        report = drill(chosen.folder, rounds=chosen.rounds, seed=chosen.seed, redis=redis, qdrant=qdrant, say=_say)
    finally:
        for server in filter(None, (redis, qdrant)):
            server.stop()
    print(json.dumps({"seed": chosen.seed, "buffer": chosen.buffer, "index": chosen.index, **asdict(report)}))
    raise SystemExit(0 if report.well else 1)
