"""What is remembered depends on what was said and when, never on the order in which it arrived."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from openclaw_neuralstream.judgement import GemJudge
from openclaw_neuralstream.memory.gemcraft import normal
from openclaw_neuralstream.model import Batch, Gem, Scope, Trigger, content_uuid
from openclaw_neuralstream.store.truth import Truth
from tests.erasing import forget
from tests.values import MAIN, NOW, SESSION, gem, turn

WORLD = (
    "The staging database listens on port 5433.",
    "The staging database listens on port 5544.",
    "The staging database listens on port 5599.",
    "The staging DB uses port 5544.",
    "I live in Berlin.",
    "I moved to Munich.",
    "Созвон с Ириной каждый вторник в 10:00.",
    "Созвон с Ириной перенесли на четверг в 11:00.",
    "我住在北京。",
    "我搬到上海了。",
    "I like coffee.",
)
PLACES = st.lists(st.integers(0, len(WORLD) - 1), min_size=1, max_size=6)
FEW = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def said(number: int, content: str, scope: Scope = MAIN) -> tuple[Batch, Gem]:
    """A batch of one turn, said `number` minutes after nine, and the gem made of it."""
    spoken = turn(number * 60, content, turn_id=f"{scope}-{number}")
    spoken = replace(spoken, scope=scope)
    made = gem(
        content_uuid("gem", scope.agent, scope.user, scope.project, "owner", normal(content)),
        content,
        evidence=(spoken.turn_id,), scope=scope, valid_from=spoken.at, batch=f"b{number}",
    )  # fmt: skip
    return Batch(f"b{number}-{scope.project}", SESSION, (spoken,), "token", NOW, trigger=Trigger.BATCH), made


def store(truth: Truth, *what: tuple[Batch, Gem]) -> None:
    for batch, made in what:
        truth.store(batch, [(made, None)], embedder=None, at=NOW, judge=GemJudge({t.turn_id: t for t in batch.turns}))


def state(truth: Truth) -> list[tuple[str, str, object, object, tuple[str, ...], float]]:
    """All there is, but for ids: content, whether it holds, when, on what, and how sure."""
    by_id = {g.gem_id: g for g in truth.gems(superseded=True, limit=1_000)}
    return sorted(
        (
            g.content,
            by_id[g.superseded_by].content if g.superseded_by else "",
            g.valid_from,
            g.valid_to,
            g.evidence,
            g.confidence,
        )
        for g in by_id.values()
    )


def live(truth: Truth) -> set[str]:
    return {g.content for g in truth.gems(limit=1_000)}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path


def opened(place: Path) -> Truth:
    number = len(list(place.iterdir()))
    return Truth.open(place / f"{number}" / "memory.sqlite")


@FEW
@example([6, 7, 6], Random(1))
@example([6, 7, 6], Random(3))
@given(PLACES, st.randoms(use_true_random=False))
def test_any_order_of_the_same_statements_ends_in_the_same_gems(place: Path, places: Sequence[int], chance) -> None:
    what = [said(number, WORLD[n]) for number, n in enumerate(places)]
    other = list(what)
    chance.shuffle(other)
    one, two = opened(place), opened(place)
    store(one, *what)
    store(two, *other)
    assert state(one) == state(two)
    one.close()
    two.close()


@FEW
@given(PLACES, st.integers(0, len(WORLD) - 1))
def test_taking_back_gives_what_was_before(place: Path, places: Sequence[int], last: int) -> None:
    truth = opened(place)
    store(truth, *(said(number, WORLD[n]) for number, n in enumerate(places)))
    before = state(truth)
    batch, made = said(len(places), WORLD[last])
    store(truth, (batch, made))
    foreseen = truth.undo(batch.batch_id, NOW, dry_run=True)
    undone = truth.undo(batch.batch_id, NOW)
    assert foreseen
    assert undone
    assert state(truth) == before
    assert {g.gem_id for g in foreseen.removed} == {g.gem_id for g in undone.removed}
    assert truth.undo(batch.batch_id, NOW) is None
    truth.close()


@FEW
@given(PLACES)
def test_the_same_batch_twice_changes_nothing(place: Path, places: Sequence[int]) -> None:
    what = [said(number, WORLD[n]) for number, n in enumerate(places)]
    truth = opened(place)
    store(truth, *what)
    before, event = state(truth), truth.last_event()
    store(truth, *what)
    assert (state(truth), truth.last_event()) == (before, event)
    truth.close()


@FEW
@given(PLACES)
def test_nothing_crosses_a_scope(place: Path, places: Sequence[int]) -> None:
    truth, alone = opened(place), opened(place)
    mine = [said(number, WORLD[n]) for number, n in enumerate(places)]
    store(alone, *mine)
    red = [said(number + 20, WORLD[n], Scope("main", project="red")) for number, n in enumerate(reversed(places))]
    guest = [said(number + 40, WORLD[n], Scope("main", "guest")) for number, n in enumerate(reversed(places))]
    store(truth, *red, *mine, *guest)
    assert {g.gem_id for g in truth.gems(limit=99) if g.scope == MAIN} == {g.gem_id for g in alone.gems(limit=99)}
    truth.close()
    alone.close()


def test_a_chain_of_changes_links_each_end_and_only_the_last_holds(place: Path) -> None:
    truth = opened(place)
    store(truth, *(said(number, WORLD[number]) for number in (2, 0, 1)))  # out of order
    chain = {g.content: g for g in truth.gems(superseded=True)}
    first, second, third = (chain[WORLD[n]] for n in (0, 1, 2))
    assert (first.superseded_by, second.superseded_by, third.superseded_by) == (second.gem_id, third.gem_id, "")
    assert (first.supersedes, second.supersedes, third.supersedes) == ("", first.gem_id, second.gem_id)
    assert (first.valid_to, second.valid_to, third.valid_to) == (second.valid_from, third.valid_from, None)
    truth.close()


def test_what_was_so_and_is_so_again_holds_since_then(place: Path) -> None:
    truth = opened(place)
    store(truth, said(1, WORLD[0]), said(2, WORLD[1]), said(3, WORLD[0]))
    (holds,) = truth.gems()
    assert (holds.content, holds.valid_from) == (WORLD[0], NOW + timedelta(minutes=3))
    truth.close()


def test_said_again_it_gains_evidence_confidence_and_importance_and_keeps_its_source(place: Path) -> None:
    truth = opened(place)
    store(truth, said(1, WORLD[1]), said(2, WORLD[3]))
    (merged,) = truth.gems()
    assert (merged.content, merged.evidence) == (WORLD[1], (f"{MAIN}-1", f"{MAIN}-2"))
    assert merged.confidence > 0.8
    assert merged.importance > 0.5
    assert "said 2 times" in merged.importance_reason
    truth.close()


def test_edits_by_hand_outlive_their_batch(place: Path) -> None:
    truth = opened(place)
    batch, made = said(1, WORLD[0])
    store(truth, (batch, made))
    truth.edit(made.gem_id, importance=0.95, at=NOW)
    undone = truth.undo(batch.batch_id, NOW)
    assert undone
    assert [g.gem_id for g in undone.kept] == [made.gem_id]
    assert [(g.importance, g.importance_reason) for g in truth.gems()] == [(0.95, "set by hand")]
    truth.close()


def test_forgetting_the_new_does_not_bring_the_old_back_and_leaves_no_byte(place: Path) -> None:
    truth = opened(place)
    store(truth, said(1, WORLD[0]), said(2, WORLD[1]))
    forget(truth, [g.gem_id for g in truth.gems()])
    assert live(truth) == set()
    path = truth.path
    truth.close()
    assert b"5544" not in b"".join(file.read_bytes() for file in path.parent.iterdir())


def test_other_words_of_the_same_take_the_place_of_those_taken_back(place: Path) -> None:
    truth = opened(place)
    first = said(1, WORLD[1])
    store(truth, first, said(2, WORLD[3]))
    truth.undo(first[0].batch_id, NOW)
    assert live(truth) == {WORLD[3]}
    truth.close()
