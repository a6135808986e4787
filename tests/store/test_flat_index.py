"""The flat index on its bad days, and with many readers beside a writer."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openclaw_neuralstream.errors import StateError
from openclaw_neuralstream.memory.projection import Projection
from openclaw_neuralstream.model import EmbedderIdentity, Scope
from openclaw_neuralstream.ports import Vector, Vectors
from openclaw_neuralstream.store.flat_index import FlatIndex, FlatVectors
from openclaw_neuralstream.store.truth import Truth
from tests.erasing import forget
from tests.values import MAIN, NOW, SMALL, entry, gem, unit


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "index"


def filled(folder: Path, count: int = 20) -> None:
    index = FlatIndex(folder, SMALL)
    index.upsert([entry(f"gem-{n:02}", unit(1, n)) for n in range(count)])
    index.advance(count)
    index.close()


def state(index: FlatIndex) -> tuple[int, int]:
    return index.count(), index.position()


class Unchanging:
    """An embedder that is never asked."""

    identity = SMALL

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        raise AssertionError(texts)

    def embed_query(self, text: str) -> Vector:
        raise AssertionError(text)


# --- lost and damaged ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["rows.sqlite", "vectors.f32"])
@pytest.mark.parametrize("harm", ["gone", "empty", "garbage", "cut"])
def test_a_lost_or_damaged_file_means_beginning_anew_at_position_zero(folder: Path, name: str, harm: str) -> None:
    filled(folder)
    file = folder / name
    data = file.read_bytes()
    if harm == "gone":
        file.unlink()
    else:
        file.write_bytes({"empty": b"", "garbage": b"\x5a" * len(data), "cut": data[: len(data) // 3]}[harm])
    index = FlatIndex(folder, SMALL)
    hits = index.search(unit(1), MAIN, limit=5)
    if (name, harm) == ("vectors.f32", "cut"):  # the file is grown ahead: a third of it still holds all rows
        assert (state(index), len(hits)) == ((20, 20), 5)
    else:
        assert (state(index), hits) == ((0, 0), [])
    index.upsert([entry("new", unit(1))])
    assert "new" in [hit.gem_id for hit in index.search(unit(1), MAIN, limit=2)]
    index.close()


@pytest.mark.parametrize("harm", [np.float32(np.nan), np.float32(1e30), np.float32(0.5)])
def test_a_vector_that_does_not_read_back_is_found_out(folder: Path, harm: np.float32) -> None:
    filled(folder)
    with (folder / "vectors.f32").open("r+b") as file:
        file.seek(3 * 32)
        file.write(np.full(8, harm, np.float32).tobytes())
    index = FlatIndex(folder, SMALL)
    assert index.search(np.full(8, 1, np.float32), MAIN, limit=20) == []
    assert state(index) == (0, 0)
    index.close()


def test_rows_that_a_crash_left_behind_are_wiped_at_the_next_start(folder: Path) -> None:
    filled(folder, 3)
    index = FlatIndex(folder, SMALL)
    index.delete(["gem-01"])
    index.close()
    with (folder / "vectors.f32").open("r+b") as file:
        file.seek(32)
        file.write(unit(9, 9, 9).tobytes())
    FlatIndex(folder, SMALL).close()
    assert unit(9, 9, 9).tobytes() not in (folder / "vectors.f32").read_bytes()


def test_vectors_of_another_embedder_are_never_shown(folder: Path) -> None:
    filled(folder)
    other = FlatIndex(folder, EmbedderIdentity("other", 8))
    assert (state(other), other.search(unit(1), MAIN, limit=5)) == ((0, 0), [])
    other.close()


def test_an_index_that_was_lost_is_rebuilt_from_the_truth(folder: Path, tmp_path: Path) -> None:
    truth = Truth.open(tmp_path / "memory.sqlite")
    gems = [gem(f"g{n}", f"c{n}", supersedes="g1" if n == 2 else "") for n in range(30)]
    truth.import_gems([(one, unit(1, n)) for n, one in enumerate(gems)], SMALL, NOW)
    forget(truth, ["g3"])
    index = FlatIndex(folder, SMALL)
    Projection(truth, index, Unchanging()).catch_up()
    before = index.search(unit(1), MAIN, limit=50)
    index.close()
    (folder / "rows.sqlite").write_bytes(b"gone")
    again = FlatIndex(folder, SMALL)
    Projection(truth, again, Unchanging()).check()
    assert again.search(unit(1), MAIN, limit=50) == before
    assert (len(before), again.position()) == (28, truth.last_event())
    again.close()
    truth.close()


def test_the_files_are_for_their_owner_only(folder: Path) -> None:
    filled(folder)
    assert {oct(file.stat().st_mode & 0o777) for file in folder.iterdir()} == {"0o600"}


def test_a_closed_index_says_so(folder: Path) -> None:
    index = FlatIndex(folder, SMALL)
    index.close()
    index.close()
    with pytest.raises(StateError):
        index.upsert([entry("a", unit(1))])


# --- readers beside a writer --------------------------------------------------------------------------------------------


def test_readers_never_see_another_scope_while_rows_change_hands(folder: Path) -> None:
    """A writer moves rows between two scopes; no search ever shows a gem of the other one, or a wrong cosine."""
    index = FlatIndex(folder, SMALL)
    done = threading.Event()
    wrong: list[object] = []

    def read(agent: str) -> None:
        sign = 1 if agent == "a" else -1
        while not done.is_set():
            hits = index.search(unit(1), Scope(agent), limit=10)
            wrong.extend(h for h in hits if not h.gem_id.startswith(agent) or h.cosine != pytest.approx(sign, abs=1e-5))

    threads = [threading.Thread(target=read, args=(agent,)) for agent in "abab"]
    for thread in threads:
        thread.start()
    for round_ in range(20):
        for agent, sign in (("a", 1), ("b", -1)):
            index.upsert([entry(f"{agent}{n}", unit(sign), scope=Scope(agent)) for n in range(round_ % 7 + 3)])
        index.delete([f"{agent}{n}" for agent in "ab" for n in range(0, 10, 1 + round_ % 3)])
    done.set()
    for thread in threads:
        thread.join(30)
    assert wrong == []
    index.close()


def test_growing_leaves_older_views_readable(tmp_path: Path) -> None:
    vectors = FlatVectors(tmp_path / "v", 8)
    vectors.grow(1)
    vectors.write(0, unit(1))
    before = vectors.matrix
    vectors.grow(100_000)
    vectors.write(99_999, unit(0, 1))
    assert before[0] == pytest.approx(unit(1))
    assert vectors.matrix[99_999] == pytest.approx(unit(0, 1))
    vectors.close()


def test_clearing_while_others_search_is_no_error(folder: Path) -> None:
    index = FlatIndex(folder, SMALL)
    done = threading.Event()
    errors: list[BaseException] = []

    def read() -> None:
        try:
            while not done.is_set():
                index.search(unit(1), MAIN, limit=3)
        except BaseException as error:  # noqa: BLE001 - reported below
            errors.append(error)

    thread = threading.Thread(target=read)
    thread.start()
    for _ in range(15):
        index.upsert([entry(f"g{n}", unit(1, n)) for n in range(5)])
        index.clear()
    done.set()
    thread.join(30)
    assert errors == []
    index.close()


# --- two processes, one folder ------------------------------------------------------------------------------------------


@given(
    steps=st.lists(
        st.tuples(st.integers(0, 1), st.sampled_from(["upsert", "delete", "search"]), st.integers(0, 12)), max_size=40
    )
)
@settings(max_examples=40, deadline=None)
def test_each_of_two_owners_sees_what_the_other_one_wrote(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[int, str, int]]
) -> None:
    folder = tmp_path_factory.mktemp("shared")
    indexes = [FlatIndex(folder, SMALL), FlatIndex(folder, SMALL)]
    kept = set[str]()
    try:
        for side, step, number in steps:
            index, name = indexes[side], f"gem-{number}"
            if step == "upsert":
                index.upsert([entry(name, unit(1, number))])
                kept.add(name)
            elif step == "delete":
                index.delete([name])
                kept.discard(name)
            assert {hit.gem_id for hit in index.search(unit(1), MAIN, limit=50)} == kept
        assert [index.count() for index in indexes] == [len(kept)] * 2
    finally:
        for index in indexes:
            index.close()


def test_room_that_another_process_made_is_never_cut(folder: Path) -> None:
    small, large = FlatIndex(folder, SMALL), FlatIndex(folder, SMALL)
    large.upsert([entry(f"gem-{n}", unit(1, n)) for n in range(3_000)])
    small.upsert([entry("one", unit(1))])
    assert len(large.search(unit(1), MAIN, limit=4_000)) == 3_001
    small.close()
    large.close()
