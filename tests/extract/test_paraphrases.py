"""A model's gem in other words is believed; one with another number, name, person or sign is not."""

from __future__ import annotations

import pytest

from tests.extract.conversations import turn
from tests.extract.paraphrases import FALSE, TRUE
from tests.extract.test_support import check


def near(_content: str, _said: str) -> float:
    """The vectors that would help a gem most: all texts are alike."""
    return 1.0


@pytest.mark.parametrize(("said", "content"), TRUE)
def test_the_same_in_other_words_is_believed(said: str, content: str) -> None:
    assert [draft.content for draft in check([turn(1, ("owner", said))], content).drafts] == [content]


@pytest.mark.parametrize(("said", "content"), FALSE)
@pytest.mark.parametrize("likeness", [None, near], ids=["by words", "and with vectors that prove nothing"])
def test_what_is_not_the_same_is_refused(said: str, content: str, likeness) -> None:
    assert check([turn(1, ("owner", said))], content, likeness=likeness).drafts == ()


def test_few_common_words_are_enough_where_the_vectors_are_near() -> None:
    said, content = "I coach the village handball girls", "The owner trains a handball team of girls."
    assert check([turn(1, ("owner", said))], content).refused == {"support": 1}
    assert len(check([turn(1, ("owner", said))], content, likeness=near).drafts) == 1


def test_a_name_from_an_earlier_turn_may_say_whom_it_is_about() -> None:
    said = [turn(2, ("owner", "She starts at the bakery on Monday"))]
    content = "The owner's niece Paula starts at the bakery on Monday."
    assert check(said, content).refused == {"name": 1}
    assert len(check(said, content, before=[turn(1, ("owner", "My niece Paula is moving here"))]).drafts) == 1


def test_each_refused_gem_is_told_with_its_reason() -> None:
    found = check(
        [turn(1, ("owner", "The port of the staging database is 543"))], "The port of the staging database is 5433."
    )
    assert found.told == (("The port of the staging database is 5433.", "number"),)
