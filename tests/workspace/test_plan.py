"""From what lies on the disk and what is indexed to what has to be done."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from openclaw_neuralstream.model import Known
from openclaw_neuralstream.workspace.harvest import UNSETTLED, Plan, Seen, plan, settled, within

PATHS = st.sampled_from([f"memory/{name}.md" for name in "abcdefgh"] + ["memory/a/x.md", "MEMORY.md"])
SEEN = st.builds(Seen, st.integers(0, 3), st.integers(0, 3))
SECOND = 1_000_000_000


def known(size: int = 1, mtime_ns: int = 1) -> Known:
    return Known("digest", size, mtime_ns)


def test_new_changed_and_gone_files_each_get_their_due() -> None:
    disk = {"new.md": Seen(1, 1), "same.md": Seen(1, 1), "longer.md": Seen(2, 1), "later.md": Seen(1, 2)}
    indexed = {name: known() for name in ("same.md", "longer.md", "later.md", "gone.md")}
    assert plan(disk, indexed) == Plan(read=("later.md", "longer.md", "new.md"), remove=("gone.md",), same=1)


def test_what_something_happened_to_is_read_whatever_it_looks_like() -> None:
    assert plan({"a.md": Seen(1, 1), "b.md": Seen(1, 1)}, {"a.md": known(), "b.md": known()}, doubted=["a.md"]).read == ("a.md",)


def test_force_reads_everything() -> None:
    assert plan({"a.md": Seen(1, 1)}, {"a.md": known()}, force=True).read == ("a.md",)


@given(st.dictionaries(PATHS, SEEN), st.dictionaries(PATHS, SEEN))
def test_doing_the_plan_leaves_nothing_to_do(disk: dict[str, Seen], before: dict[str, Seen]) -> None:
    indexed = {path: known(seen.size, seen.mtime_ns) for path, seen in before.items()}
    todo = plan(disk, indexed)
    for path in todo.remove:
        del indexed[path]
    for path in todo.read:
        indexed[path] = known(disk[path].size, disk[path].mtime_ns)
    assert plan(disk, indexed) == Plan(same=len(disk))
    assert set(indexed) == set(disk)


def test_a_file_written_in_this_very_tick_is_looked_at_once_more() -> None:
    assert settled(Seen(1, 5 * SECOND + 1), 5 * SECOND + 2) == UNSETTLED
    assert settled(Seen(1, 5 * SECOND + 1), 6 * SECOND) == 5 * SECOND + 1
    assert settled(Seen(1, 5 * SECOND), 6 * SECOND) == UNSETTLED  # a file system with times of whole seconds
    assert settled(Seen(1, 5 * SECOND), 8 * SECOND) == 5 * SECOND


def test_a_folder_that_went_away_takes_its_files_along() -> None:
    indexed = {path: known() for path in ("memory/a.md", "memory/a/x.md", "memory/a/b/y.md", "memory/ab.md", "MEMORY.md")}
    assert set(within(indexed, ["memory/a"])) == {"memory/a/x.md", "memory/a/b/y.md"}
    assert set(within(indexed, ["memory/a.md"])) == {"memory/a.md"}
    assert within(indexed, [""]) == indexed
