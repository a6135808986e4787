"""Kill a process at random points while it indexes a workspace: the user's files stay, the index is sound in the end.

    python -m tests.drill.files --rounds 300

Each round forks a process that harvests with all it has (watcher, forced harvests, retaining), while files change; it is
killed with SIGKILL after a random time. Afterwards the index must be the one that a fresh build gives.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import tempfile
import time
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path

from openclaw_neuralstream.memory import wiring
from openclaw_neuralstream.settings import Settings
from openclaw_neuralstream.state import StateDir
from openclaw_neuralstream.workspace.book import Workspaces
from openclaw_neuralstream.workspace.index import NoteIndex
from openclaw_neuralstream.workspace.retaining import Sentence
from tests.workspace.test_any_order import build, held

RETAINED = "memory/2026-11-21.md"


@dataclass(frozen=True, slots=True)
class Report:
    """What a drill did and found; `damaged_files`, `unlike` and `lost_bullets` must be 0."""

    rounds: int
    kills: int
    files: int
    retained: int
    damaged_files: int
    lost_bullets: int
    unlike: int
    seconds: float


def drill(folder: Path, *, rounds: int, files: int, seed: int, longest: float = 0.5) -> Report:
    """Kill it `rounds` times; then open it, harvest once, and compare."""
    began, chance = time.monotonic(), random.Random(seed)
    root = folder / "ws"
    written: dict[str, bytes] = {}
    for number in range(files):
        write(root, number, chance, written)
    kills = 0
    for _ in range(rounds):
        child = os.fork()
        if child == 0:
            live(folder, chance.random())
        end = time.monotonic() + chance.uniform(0.01, longest)
        while time.monotonic() < end:
            write(root, chance.randrange(files), chance, written)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        kills += os.WIFSIGNALED(status)
    workspaces = opened(folder)
    workspaces.for_agent("main").harvest()
    fresh = NoteIndex.open(folder / "fresh" / "index.sqlite")
    build(root, settings_of(root), fresh)
    unlike = int(held(workspaces.for_agent("main").index) != held(fresh))
    fresh.close()
    workspaces.close()
    damaged = sum((root / path).read_bytes() != data for path, data in written.items())
    said = acknowledged(folder)
    log = (root / RETAINED).read_text() if (root / RETAINED).exists() else ""
    lost = sum(log.count(f"bullet {number} of the drill\n") != 1 for number in said)
    return Report(rounds, kills, files, len(said), damaged, lost, unlike, round(time.monotonic() - began, 1))


def write(root: Path, number: int, chance: random.Random, written: dict[str, bytes]) -> None:
    """The user saves a file, as an editor does: in place or by rename."""
    path = f"memory/{number % 7}/{number}.md"
    data = f"# Note {number}\n\n## Retain\n- W @P{number % 5}: fact {chance.random()}\n\n{'words ' * chance.randrange(400)}\n".encode()
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    if chance.random() < 0.5:
        file.write_bytes(data)
    else:
        beside = file.with_name(f".{number}.tmp")
        beside.write_bytes(data)
        beside.replace(file)
    written[path] = data


def live(folder: Path, salt: float) -> None:
    """The life of the process that is killed. Never returns."""
    try:
        workspaces = opened(folder)
        workspaces.start()
        workspace = workspaces.for_agent("main")
        with (folder / "acknowledged").open("a") as said:
            for number in range(1_000_000):
                name = f"{os.getpid()}-{salt:.6f}-{number}"
                done = workspaces.retain("main", Sentence(f"W: bullet {name} of the drill"), day=DAY)
                if done.added:
                    said.write(name + "\n")
                    said.flush()
                workspace.harvest(force=number % 3 == 0)
    finally:
        os._exit(1)


def acknowledged(folder: Path) -> list[str]:
    """The bullets that were said to be written."""
    file = folder / "acknowledged"
    return [line for line in file.read_text().split("\n") if line] if file.exists() else []


def opened(folder: Path) -> Workspaces:
    return wiring.workspaces_of(StateDir(folder / "state").prepare(), settings_of(folder / "ws"), environ={})


def settings_of(root: Path) -> Settings:
    return Settings(workspace=str(root), watch_poll=0.05)


DAY = date(2026, 11, 21)


def main() -> None:
    """The long form."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--files", type=int, default=300)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    wanted = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="ns-files-"))
    print(f"seed {wanted.seed}", flush=True)
    report = drill(folder, rounds=wanted.rounds, files=wanted.files, seed=wanted.seed)
    shutil.rmtree(folder)
    print(asdict(report))
    if report.damaged_files or report.unlike or report.lost_bullets:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
