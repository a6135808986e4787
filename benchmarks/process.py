"""The process as its clients see it: start to ready, capture, recall at growing stores, memory. `python -m benchmarks.process`."""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import report
from openclaw_neuralstream.embed.embedded import EmbeddedEmbedder
from openclaw_neuralstream.memory import gemcraft
from openclaw_neuralstream.model import Scope, Session
from openclaw_neuralstream.server import client
from openclaw_neuralstream.state import StateDir
from openclaw_neuralstream.store.truth import Truth

_WORDS = """
server backup invoice garden violin harbour release contract kitchen telescope ticket battery bridge museum
recipe printer licence mountain vaccine theatre bicycle router pension notebook antenna orchard passport
turbine marathon aquarium glacier podcast compiler mortgage lighthouse
""".split()  # noqa: SIM905  a table of words reads better than a list of quotes
_NAMES = "Ana Boris Chen Dmitri Elena Farid Grace Hiro Ines Jamal Katya Liu Marta Nikolai Olga Priya".split()  # noqa: SIM905


def sentence(chance: random.Random, number: int) -> str:
    """A made-up fact; numbers make each one different."""
    a, b, c = chance.sample(_WORDS, 3)
    return f"{chance.choice(_NAMES)} keeps the {a} of the {b} next to the {c} in room {number % 997} since week {number % 53}."


def fill(truth: Truth, gems: int, chance: random.Random) -> None:
    """Made-up gems with random unit vectors: speed depends on their number and size, not on their meaning."""
    embedder, session = EmbeddedEmbedder(), Session("main", "agent:main:bench", "bench")
    numbers = np.random.default_rng(7)
    start = datetime(2026, 1, 1, tzinfo=UTC)
    for first in range(0, gems, 2_000):
        batch = []
        for number in range(first, min(first + 2_000, gems)):
            text = sentence(chance, number)
            gem = gemcraft.by_hand(text, Scope("main"), session, importance=0.5, now=start + timedelta(minutes=number))
            vector = numbers.standard_normal(embedder.identity.dimensions, dtype=np.float32)
            batch.append((gem, vector / np.linalg.norm(vector)))
        truth.import_gems(batch, embedder.identity, start)


def timed(call: Callable[[], Any], times: int) -> list[float]:
    """Milliseconds of each call."""
    samples = []
    for _ in range(times):
        started = time.perf_counter()
        call()
        samples.append(1000 * (time.perf_counter() - started))
    return samples


def memory_mb(pid: int) -> float | None:
    """Resident memory and its peak; None where the system does not tell."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return None
    return next(round(int(line.split()[1]) / 1024, 1) for line in lines if line.startswith("VmRSS"))


def start_to_ready(state: StateDir, times: int) -> dict[str, Any]:
    """From the command to its ready line, process ended in between; beside a bare interpreter's start."""
    samples = []
    for _ in range(times):
        samples += timed(lambda: client.start(state), 1)
        client.stop(state)
    bare = timed(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True), times)
    return {"ready_ms": report.percentiles(samples), "bare_interpreter_ms": report.percentiles(bare)}


def event(number: int, chance: random.Random) -> dict[str, Any]:
    """A usual turn of about 2 KB."""
    user = " ".join(sentence(chance, number + n) for n in range(8))
    reply = " ".join(sentence(chance, number - n) for n in range(12))
    return {
        "run_id": f"bench-{number}",
        "agent": "main",
        "session_key": f"agent:main:bench-{number % 5}",
        "session_id": "bench",
        "messages": [
            {"role": "user", "content": user, "idempotencyKey": f"bench-{number}:user"},
            {"role": "assistant", "content": [{"type": "text", "text": reply}], "stopReason": "stop"},
        ],
        "trigger": "user",
        "sender": {"id": "x", "owner": True},
        "success": True,
    }


def warmed(state: StateDir, pause: float = 0.2, patience: float = 300) -> client.SocketDoor:
    """A door to a process whose models are loaded and whose index is complete."""
    door, until = client.connect(state), time.monotonic() + patience
    while time.monotonic() < until:
        status = door.call("status", timeout=120)
        found = door.call("recall", {"query": "warm up"}, timeout=120)
        if status["index"]["gems"] == status["gems"]["total"] and not found["left_out"] and status["tokens"] == "qwen":
            return door
        time.sleep(pause)
    raise SystemExit("the process did not become warm")


def measure(gems: int, asks: int, captures: int) -> dict[str, Any]:
    """One store size: recall through the socket beside a ping, then capture beside a ping, and memory."""
    chance = random.Random(gems)
    with tempfile.TemporaryDirectory() as folder:
        state = StateDir(Path(folder) / "state").prepare()
        truth = Truth.open(state.database)
        fill(truth, gems, chance)
        truth.close()
        door = warmed(state)
        questions = iter([sentence(chance, chance.randrange(gems)).replace(" keeps", "'s") + "?" for _ in range(asks)])
        prompt = {"agent": "main", "session_key": "agent:main:ask", "session_id": "ask", "trigger": "user"}
        door.call("turn_end", {**event(-1, chance), "session_key": "agent:main:ask"})  # past the session's first turn
        ping = timed(lambda: door.call("ping"), asks)
        recall = timed(lambda: door.call("prompt_build", {**prompt, "prompt": next(questions)}), asks)
        resident = memory_mb(door.hello["pid"])
        events = iter([event(number, chance) for number in range(captures)])
        capture = timed(lambda: door.call("turn_end", next(events)), captures)
        door.close()
        client.stop(state, timeout=120)
    return {
        "gems": gems,
        "ping_ms": report.percentiles(ping),
        "recall_ms": report.percentiles(recall),
        "capture_ms": report.percentiles(capture),
        "resident_mb": resident,
    }


def main() -> None:
    """Measure and commit to results/process.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--asks", type=int, default=300)
    parser.add_argument("--captures", type=int, default=500)
    parser.add_argument("--starts", type=int, default=10)
    chosen = report.ready(parser)
    with tempfile.TemporaryDirectory() as folder:
        start = start_to_ready(StateDir(Path(folder) / "state"), chosen.starts)
    sizes = [measure(gems, chosen.asks, chosen.captures) for gems in chosen.sizes]
    path = report.write("process", {"start": start, "sizes": sizes})
    print(path.read_text())


if __name__ == "__main__":
    main()
