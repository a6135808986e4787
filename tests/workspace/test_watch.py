"""The watcher: news is gathered, doubts are swept up, and what the real system tells arrives in the index."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from openclaw_neuralstream.workspace.harvest import Choice, Harvested, Rules
from openclaw_neuralstream.workspace.watch import MEND_QUEUE, MEND_WATCHES, Inotify, Listen, Observed, Pace, Watcher
from tests.waiting import until
from tests.workspace.files import Played, Shelf, harvester, on_disk, write

QUICK = Pace(poll=0.05, sweep=1_000, quiet=0.01, patience=0.1)


class World:
    """A folder, an index of it, and a watcher that follows it."""

    def __init__(self, root: Path, listen: Listen, pace: Pace = QUICK) -> None:
        self.root = root
        self.shelf = Shelf()
        self.looks: list[set[str] | None] = []
        reaper = harvester(root, self.shelf)

        def harvest(paths: set[str] | None):
            if not root.is_dir():
                return None
            self.looks.append(paths)
            return reaper.harvest(paths)

        self.watcher = Watcher("test", root, harvest, pace=pace, listen=listen)

    def start(self) -> World:
        self.watcher.start()
        until(lambda: self.watcher.idle)
        return self

    def follows(self, seconds: float = 30) -> None:
        """The index becomes what a fresh one of the folder would be."""
        wanted = on_disk(self.root, Rules(self.root, Choice()))
        until(lambda: self.shelf.texts == wanted, seconds, lambda: (sorted(self.shelf.texts), sorted(wanted)))


@pytest.fixture
def world(tmp_path: Path) -> Iterator[Callable[..., World]]:
    made: list[World] = []
    root = tmp_path / "ws"
    root.mkdir()

    def make(listen: Listen, pace: Pace = QUICK) -> World:
        made.append(World(root, listen, pace))
        return made[-1]

    yield make
    for item in made:
        item.watcher.stop(5)


# --- news that the test tells -------------------------------------------------------------------------------------------


def test_what_changed_while_nothing_ran_is_found_at_the_start(world: Callable[..., World], tmp_path: Path) -> None:
    write(tmp_path / "ws", "memory/a.md", "before")
    assert world(Played()).start().shelf.texts == {"memory/a.md": "before"}


def test_a_burst_becomes_one_look_at_a_set_of_paths(world: Callable[..., World], monkeypatch: pytest.MonkeyPatch) -> None:
    played, over = Played(), threading.Event()
    it = world(played, Pace(patience=60)).start()
    it.looks.clear()
    monkeypatch.setattr(it.watcher.worker, "pause", lambda _: over.wait(60))  # quiet is when the burst is over
    for number in range(100):
        write(it.root, f"memory/{number}.md")
        played.tell(f"memory/{number}.md")
        played.tell(f"memory/{number}.md")
    over.set()
    it.follows()
    until(lambda: it.watcher.idle)
    assert len(it.looks) == 1
    assert it.looks[0] == {f"memory/{number}.md" for number in range(100)}


def test_a_folder_that_is_never_quiet_is_indexed_all_the_same(world: Callable[..., World]) -> None:
    played = Played()
    it = world(played, Pace(quiet=0.02, patience=0.1)).start()
    file = write(it.root, "memory/busy.md", "0")

    def busy() -> bool:
        file.write_text(str(len(it.looks)))
        played.tell("memory/busy.md")
        return len(it.looks) > 3

    until(busy, step=0.002)


def test_dropped_news_are_swept_up_and_told(world: Callable[..., World]) -> None:
    played = Played()
    it = world(played).start()
    write(it.root, "memory/untold.md")
    played.doubt()
    it.follows()
    until(lambda: it.watcher.trouble)
    assert "dropped events 1 times" in it.watcher.trouble  # told behind its remedy
    assert it.watcher.mend == MEND_QUEUE


def test_a_gitignore_changes_what_is_a_note(world: Callable[..., World]) -> None:
    played = Played()
    it = world(played).start()
    write(it.root, "memory/a.md")
    played.tell("memory/a.md")
    it.follows()
    write(it.root, "memory/.gitignore", "*")
    played.tell("memory/.gitignore")
    until(lambda: it.shelf.texts == {})


def test_folders_without_a_watch_are_looked_at_and_told(world: Callable[..., World]) -> None:
    it = world(Played(room=1))
    write(it.root, "memory/deep/a.md")
    it.start()
    write(it.root, "memory/deep/b.md")
    it.follows()
    assert "2 folders have no watch" in it.watcher.trouble
    assert it.watcher.mend == MEND_WATCHES


def test_a_system_that_tells_nothing_is_looked_at_until_it_does(world: Callable[..., World]) -> None:
    played = Played()
    refusing = True

    def listen(root: Path, tell: object, doubt: object) -> Played:
        if refusing:
            raise OSError(errno.EMFILE, "inotify instance limit reached")
        return played(root, tell, doubt)

    it = world(listen).start()
    write(it.root, "memory/a.md")
    it.follows()
    assert "instance limit" in it.watcher.trouble
    assert "max_user_instances" in it.watcher.mend
    refusing = False
    until(lambda: it.watcher.listening and not it.watcher.trouble)


def test_polling_needs_no_news(world: Callable[..., World]) -> None:
    it = world(Played(), Pace(events=False, poll=0.05)).start()
    write(it.root, "memory/a.md")
    it.follows()
    (it.root / "memory/a.md").unlink()
    it.follows()
    assert not it.watcher.listening


def test_a_workspace_that_goes_away_and_comes_back_is_followed_again(world: Callable[..., World], tmp_path: Path) -> None:
    it = world(Inotify, Pace(poll=0.05))
    write(it.root, "memory/a.md")
    it.start()
    it.root.rename(tmp_path / "elsewhere")
    until(lambda: not it.watcher.listening)
    (tmp_path / "elsewhere").rename(it.root)
    until(lambda: it.watcher.listening)
    write(it.root, "memory/b.md")
    it.follows()


def test_a_harvest_that_fails_is_tried_again_with_the_same_paths(tmp_path: Path) -> None:
    played, looks = Played(), []

    def harvest(paths: set[str] | None):
        looks.append(paths)
        if looks.count({"memory/a.md"}) == 1:
            raise ValueError("unexpected")
        return Harvested(folders=[""])

    watcher = Watcher("test", tmp_path, harvest, pace=QUICK, listen=played)
    watcher.start()
    until(lambda: watcher.idle)
    played.tell("memory/a.md")
    until(lambda: looks.count({"memory/a.md"}) == 2, why=lambda: looks)
    assert watcher.worker.crashes == 1
    watcher.stop(5)


# --- news of the real system --------------------------------------------------------------------------------------------

NOISE = pytest.mark.filterwarnings("ignore:Callback with id:RuntimeWarning")  # of watchdog about itself, as long as its list of watches
OBSERVER = pytest.param(Observed, marks=NOISE, id="observer")
REAL = [pytest.param(Inotify, marks=pytest.mark.skipif(sys.platform != "linux", reason="Linux only"), id="inotify"), OBSERVER]
SLOW_SWEEP = Pace(poll=5, sweep=10_000)


@pytest.fixture(params=REAL)
def real(request: pytest.FixtureRequest, world: Callable[..., World]) -> World:
    it = world(request.param, SLOW_SWEEP)
    write(it.root, "MEMORY.md", "core")
    write(it.root, "memory/daily/old.md", "old")
    return it.start()


def test_created_modified_renamed_and_deleted_files_arrive(real: World) -> None:
    file = write(real.root, "memory/daily/new.md", "one")
    real.follows()
    file.write_text("two")
    real.follows()
    file.rename(real.root / "memory/daily/renamed.md")
    real.follows()
    (real.root / "memory/daily/renamed.md").unlink()
    real.follows()


def test_a_save_by_rename_arrives(real: World) -> None:
    beside = real.root / "memory/daily/.old.md.tmp"
    beside.write_text("saved by rename")
    beside.rename(real.root / "memory/daily/old.md")
    real.follows()


def test_appending_without_closing_arrives(real: World) -> None:
    with (real.root / "memory/daily/old.md").open("a") as file:
        file.write(" and more")
        file.flush()
        real.follows()


def test_folders_made_moved_in_moved_about_and_moved_out_arrive(real: World, tmp_path: Path) -> None:
    write(real.root, "bank/entities/deep/Peter.md", "a new tree at once")
    real.follows()
    write(tmp_path / "outside", "one/x.md", "x")
    (tmp_path / "outside").rename(real.root / "memory/in")
    real.follows()
    (real.root / "memory/in").rename(real.root / "memory/about")
    real.follows()
    write(real.root, "memory/about/one/y.md", "in a folder that was moved")
    real.follows()
    (real.root / "memory/about").rename(tmp_path / "out")
    real.follows()
    write(tmp_path / "out", "one/z.md", "no news of ours")
    write(real.root, "memory/about/one/w.md", "a new folder under the old name")
    real.follows()
    shutil.rmtree(real.root / "memory")
    real.follows()


def test_what_lies_behind_a_link_is_no_news(real: World, tmp_path: Path) -> None:
    write(tmp_path / "outside", "secret.md", "secret")
    (real.root / "memory/link").symlink_to(tmp_path / "outside")
    write(tmp_path / "outside", "secret.md", "changed")
    write(real.root, "memory/after.md", "after")
    real.follows()
    assert "memory/link/secret.md" not in real.shelf.texts


@pytest.mark.parametrize("files", [300, pytest.param(2_000, marks=pytest.mark.drill)])
def test_a_git_checkout_of_many_files_arrives_whole(real: World, files: int) -> None:
    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "init.defaultBranch=main"]
        subprocess.run(["git", *identity, *arguments], cwd=real.root, check=True, capture_output=True)

    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "first")
    git("checkout", "-qb", "many")
    for number in range(files):
        write(real.root, f"memory/many/{number % 40}/{number}.md", f"note {number}")
    git("add", "-A")
    git("commit", "-qm", "many")
    real.follows(60)
    git("checkout", "-q", "main")
    real.follows(60)
    git("checkout", "-q", "many")
    real.follows(60)
    assert len(real.shelf.texts) == files + 2


@pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux")
def test_nothing_below_git_or_node_modules_costs_a_watch(world: Callable[..., World]) -> None:
    it = world(Inotify)
    for number in range(50):
        write(it.root, f"memory/node_modules/{number}/x.md")
        write(it.root, f".git/objects/{number}/x")
    write(it.root, "memory/a.md")
    it.start()
    ours = it.watcher._notifier._fd._inotify_fd
    assert Path(f"/proc/self/fdinfo/{ours}").read_text().count("inotify wd:") == 2  # as the kernel counts them


@pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux")
def test_an_overflow_of_the_real_queue_loses_nothing(world: Callable[..., World], monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread that reads the queue is held up until the kernel has dropped events."""
    from watchdog.observers.inotify_c import InotifyFD

    gate = threading.Event()
    gate.set()
    reading = InotifyFD.read_events

    def held(self: InotifyFD, **more: int):
        gate.wait(60)
        return reading(self, **more)

    monkeypatch.setattr(InotifyFD, "read_events", held)
    it = world(Inotify, SLOW_SWEEP)
    write(it.root, "memory/a.md")
    it.start()
    gate.clear()
    write(it.root, "memory/held.md")  # what is being read now still gets through
    queue = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    names = [it.root / "memory" / f"{number}.md" for number in range(100)]
    for number in range(queue // 2 + 2_000):  # two files in turn, so that equal events are not made one
        descriptor = os.open(names[number % 100], os.O_WRONLY | os.O_CREAT)
        os.write(descriptor, b"x")
        os.close(descriptor)
    gate.set()
    until(lambda: it.watcher.lost == 1, 60)
    it.follows(60)


@pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux")
def test_a_system_without_watches_left_is_noticed_and_made_good(world: Callable[..., World], monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel's answer is played at the system call; everything above it is real."""
    import ctypes

    from watchdog.observers import inotify_c

    adding = inotify_c.inotify_add_watch
    left = 2

    def scarce(fd: int, path: bytes, mask: int) -> int:
        nonlocal left
        if left <= 0:
            ctypes.set_errno(errno.ENOSPC)
            return -1
        left -= 1
        return int(adding(fd, path, mask))

    monkeypatch.setattr(inotify_c, "inotify_add_watch", scarce)
    it = world(Inotify, Pace(poll=0.05, sweep=10_000))
    for number in range(5):
        write(it.root, f"memory/{number}/a.md")
    it.start()
    assert it.watcher.blind == 5
    write(it.root, "memory/4/b.md")
    it.follows()
    assert "fs.inotify.max_user_watches" in it.watcher.mend
    left = 100
    until(lambda: it.watcher.blind == 0 and not it.watcher.trouble)
