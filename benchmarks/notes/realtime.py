"""From save to findable: one file among many, a burst, and what following costs while nothing happens.

    python -m benchmarks.notes.realtime                       10,000 files, 200 saves, a burst of 5,000, 60 s idle
    python -m benchmarks.notes.realtime --files 2000 --saves 40 --burst 1000 --idle 10

The workspace is followed by a process of its own, as it is in use; this process saves files and asks the index.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks import report
from openclaw_neuralstream import logs
from openclaw_neuralstream.memory import wiring
from openclaw_neuralstream.model import Wanted
from openclaw_neuralstream.settings import Settings
from openclaw_neuralstream.state import StateDir
from openclaw_neuralstream.workspace.index import NoteIndex, index_file

_DEADLINE = 120.0
_LOOK = 0.0005
_SELDOM = 0.02
"""Counting costs time that the follower needs."""
_TICK = os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--saves", type=int, default=200)
    parser.add_argument("--burst", type=int, default=5_000)
    parser.add_argument("--idle", type=float, default=60.0)
    parser.add_argument("--no-result", action="store_true", help="print, and keep no result file")
    wanted = report.ready(parser, lambda wanted: not wanted.no_result)
    folder = Path(tempfile.mkdtemp(prefix="ns-realtime-"))
    try:
        figures = measure(folder, wanted)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for name, figure in figures.items():
        print(f"{name}: {figure}")
    if not wanted.no_result:
        settings = {name: getattr(wanted, name) for name in ("files", "saves", "burst", "idle")}
        print(report.write("notes-realtime", {"settings": settings, "figures": figures}))


def measure(folder: Path, wanted: argparse.Namespace) -> dict[str, Any]:
    """All figures; times in milliseconds unless their name says seconds."""
    root, chance = folder / "ws", random.Random(1)
    for number in range(wanted.files):
        save(root, f"memory/{number % 50}/{number}.md", body(number, chance))
    figures: dict[str, Any] = {}
    follower = follow(folder)
    try:
        index = opened(root)
        began = time.perf_counter()
        until(lambda: index.count().files >= wanted.files, look=_SELDOM)
        figures["first_index_seconds"] = round(time.perf_counter() - began, 2)
        figures["one_file_in_place"] = saves(root, index, chance, wanted, by_rename=False)
        figures["one_file_by_rename"] = saves(root, index, chance, wanted, by_rename=True)
        figures["burst"] = burst(root, index, chance, wanted.burst)
        figures["idle"] = idle(follower, wanted.idle)
        index.close()
    finally:
        os.kill(follower, signal.SIGTERM)
        os.waitpid(follower, 0)
    figures["burst"]["bulk_index_seconds"] = bulk(folder, wanted.burst)
    return figures


def saves(root: Path, index: NoteIndex, chance: random.Random, wanted: argparse.Namespace, *, by_rename: bool) -> dict[str, float]:
    """Milliseconds from the end of a save until a word that only this save holds is found."""
    samples = []
    for number in range(wanted.saves):
        word = f"zq{chance.randrange(10**9)}q{number}"
        path = f"memory/{number % 50}/{chance.randrange(wanted.files) // 50 * 50 + number % 50}.md"
        saved = save(root, path, body(number, chance) + f"\n{word}\n", by_rename=by_rename)
        until(lambda word=word: bool(index.find_words([word], Wanted(), limit=1)))
        samples.append(1000 * (time.perf_counter() - saved))
        time.sleep(chance.uniform(0.05, 0.15))  # a person is not a burst
    return report.percentiles(samples)


def burst(root: Path, index: NoteIndex, chance: random.Random, count: int) -> dict[str, float]:
    """Seconds until the last of many new files is found, from the first save and from the last one."""
    before = index.count().files
    texts = [body(number, chance) for number in range(count)]
    began = time.perf_counter()
    for number, text in enumerate(texts):
        save(root, f"memory/burst/{number % 20}/{number}.md", text)
    ended = time.perf_counter()
    until(lambda: index.count().files >= before + count, look=_SELDOM)
    now = time.perf_counter()
    return {
        "files": count,
        "saving_seconds": round(ended - began, 2),
        "from_first_save_seconds": round(now - began, 2),
        "from_last_save_seconds": round(now - ended, 2),
    }


def bulk(folder: Path, count: int) -> float:
    """Seconds that one harvest of the same number of files takes, into an index that is empty."""
    root, chance = folder / "bulk", random.Random(2)
    for number in range(count):
        save(root, f"memory/burst/{number % 20}/{number}.md", body(number, chance))
    known = wiring.workspaces_of(StateDir(folder / "state-bulk").prepare(), Settings(workspace=str(root)), environ={})
    workspace = known.for_agent("main")
    assert workspace is not None
    began = time.perf_counter()
    workspace.harvest()
    seconds = time.perf_counter() - began
    known.close()
    return round(seconds, 2)


def idle(follower: int, seconds: float) -> dict[str, float]:
    """What the follower uses while nothing happens: percent of one core, and its resident memory."""
    before, began = cpu(follower), time.perf_counter()
    time.sleep(seconds)
    used = cpu(follower) - before
    memory = int(Path(f"/proc/{follower}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return {"seconds": seconds, "cpu_percent": round(100 * used / (time.perf_counter() - began), 3), "memory_mb": round(memory / 1e6)}


def cpu(pid: int) -> float:
    """CPU seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


def follow(folder: Path) -> int:
    """A process that follows the workspace until it is told to end."""
    child = os.fork()
    if child:
        return child
    try:
        logs.quiet()
        known = wiring.workspaces_of(StateDir(folder / "state").prepare(), Settings(workspace=str(folder / "ws")), environ={})
        signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
        known.start()
        while True:
            signal.pause()
    finally:
        os._exit(1)


def opened(root: Path) -> NoteIndex:
    until(index_file(root).exists)
    return NoteIndex.open(index_file(root))


def until(true: Callable[[], bool], look: float = _LOOK) -> None:
    end = time.monotonic() + _DEADLINE
    while not true():
        if time.monotonic() > end:
            raise SystemExit("not found in time")
        time.sleep(look)


def save(root: Path, path: str, text: str, *, by_rename: bool = False) -> float:
    """Save it; returns when that was done."""
    file = root / path
    with suppress(FileExistsError):
        file.parent.mkdir(parents=True)
    if by_rename:
        beside = file.with_name(f".{file.name}.tmp")
        beside.write_text(text, encoding="utf-8")
        beside.replace(file)
    else:
        file.write_text(text, encoding="utf-8")
    return time.perf_counter()


_WORDS = "meeting river deploy budget kitchen train winter garden договор поезд сервер встреча 会议 火车 服务器"


def body(number: int, chance: random.Random) -> str:
    """About 2 KB of a daily log in three languages."""
    lines = [" ".join(chance.choices(_WORDS.split(), k=14)) + "." for _ in range(16)]
    fact = f"- W @Peter: Order {number} arrived from {chance.choice(_WORDS.split())}."
    return f"# Day {number}\n\n" + "\n\n".join(lines) + f"\n\n## Retain\n{fact}\n"


if __name__ == "__main__":
    main()
