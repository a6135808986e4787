"""A process killed at any moment of a reflection: a person's files are whole, and the next run finishes the work."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from openclaw_neuralstream.text.fences import fences
from openclaw_neuralstream.workspace.writing import outside
from tests.workspace.world import world

pytestmark = pytest.mark.drill

PEOPLE = 40
MINE = b"# Mine\r\n\r\nNot even UTF-8: \xff\xfe\r\n"
RUN = """
import sys
from pathlib import Path
from tests.workspace.world import world
with world(Path(sys.argv[1]), memory_md="augment", memory_md_every=0) as made:
    print("ready", flush=True)
    made.reflect()
    print("done", flush=True)
"""


def log_of(day: int) -> str:
    bullets = [f"- W @Person{n}: Wore hat number {day} of {n}.\n- O @Person{n}: Prefers hat number {day}." for n in range(PEOPLE)]
    return "## Retain\n" + "\n".join(bullets) + "\n"


def killed_after(tmp_path: Path, seconds: float) -> bool:
    """Run a reflection and kill it; False when it was done before."""
    command = [sys.executable, "-c", RUN, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(seconds)  # the moment of the kill is what is drilled
        os.kill(process.pid, signal.SIGKILL)
        return "done" not in process.stdout.read()


def test_a_kill_at_any_moment_leaves_every_file_whole(tmp_path: Path) -> None:
    with world(tmp_path) as made:
        folder = made.folder.root
        made.folder.keep("MEMORY.md", MINE)
        for number in range(PEOPLE):
            made.folder.keep(f"bank/entities/Person{number}.md", MINE + b"%d\r\n" % number)
    struck = 0
    for day in range(1, 7):
        (folder / "memory").mkdir(exist_ok=True)
        (folder / f"memory/2026-11-{day:02}.md").write_text(log_of(day), encoding="utf-8")
        struck += killed_after(tmp_path, 0.05 + 0.13 * day)
        for file in [folder / "MEMORY.md", *(folder / "bank/entities").glob("*.md")]:
            data = file.read_bytes()
            assert data.startswith(MINE), file.name
            assert all(not fence.touched for fence in fences(data)), file.name
            assert len(fences(data)) <= 1
            assert outside(data, "memory" if file.name == "MEMORY.md" else "entity").startswith(MINE)
    assert struck > 0
    with world(tmp_path, memory_md="augment", memory_md_every=0) as made:
        assert not [change for change in made.reflect().changes if change.outcome == "failed"]
        assert made.reflect().written == ()
        assert len(fences((folder / "bank/entities/Person7.md").read_bytes())) == 1
        assert not list(folder.rglob("*.neuralstream-tmp"))
