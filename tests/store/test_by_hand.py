"""What a person asked to be kept replaces what it corrects and is taken back whole; what others brought stays."""

from __future__ import annotations

from dataclasses import replace

import pytest

from openclaw_neuralstream.model import ExtractorIdentity, Gem, Origin
from openclaw_neuralstream.ports import Judge, Judgement
from openclaw_neuralstream.store.settling import Kept
from openclaw_neuralstream.store.truth import Truth
from tests.values import NOW, gem

HAND = ExtractorIdentity("hand", "1")
OLD, NEW = gem("old", "The port is 5544", extractor=HAND), gem("new", "The port is 6000, not 5544", extractor=HAND)


def judged(judgement: Judgement) -> Judge:
    return lambda *_: judgement


def keep(truth: Truth, one: Gem, judgement: Judgement | None = None) -> Kept:
    return truth.remember(one, None, None, NOW, judge=judged(judgement or Judgement("new", "new")))


def holding(truth: Truth) -> set[str]:
    return {one.gem_id for one in truth.gems()}


def replacing(older: Gem) -> Judgement:
    return Judgement("new", "new", replaces=((older.gem_id, "says otherwise"),))


@pytest.mark.parametrize("changes", [{}, {"importance": 0.9}, {"tags": ["home"]}])
def test_a_correction_is_taken_back_with_what_was_set_in_it_since(truth: Truth, changes: dict[str, object]) -> None:
    keep(truth, OLD)
    assert [item.gem.gem_id for item in keep(truth, NEW, replacing(OLD)).replaced] == ["old"]
    if changes:
        truth.edit("new", **changes, at=NOW)
    assert holding(truth) == {"new"}
    undone = truth.take_back("new", HAND.name, NOW)
    assert undone
    assert [one.gem_id for one in undone.removed] == ["new"]
    assert [one.gem_id for one in undone.restored] == ["old"]
    assert holding(truth) == {"old"}


def test_what_an_import_brought_stays_when_the_same_by_hand_is_taken_back(truth: Truth) -> None:
    imported = gem("imported", "The kettle is blue", extractor=ExtractorIdentity("mem0", "1"))
    truth.import_gems([(imported, None)], None, NOW)
    same = Judgement("same", "says the same", same_as="imported")
    assert keep(truth, gem("by-hand", "The kettle is blue!", extractor=HAND), same).gem.gem_id == "imported"
    undone = truth.take_back("imported", HAND.name, NOW)
    assert undone
    assert (undone.removed, [one.gem_id for one in undone.kept]) == ((), ["imported"])
    assert holding(truth) == {"imported"}
    assert truth.take_back("imported", HAND.name, NOW) is None


def test_what_holds_all_the_same_is_not_told_as_replaced(truth: Truth) -> None:
    keep(truth, OLD)
    unsure = replace(NEW, origin=Origin.UNTRUSTED)
    assert keep(truth, unsure, replacing(OLD)).replaced == ()
    assert "old" in holding(truth)
