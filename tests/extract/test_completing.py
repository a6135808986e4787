"""A correction that gives nothing but the right value is put into the statement that it corrects, in three languages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_neuralstream.extract.rules import RulesExtractor
from openclaw_neuralstream.extract.rules.completing import corrected
from openclaw_neuralstream.extract.rules.judge import cues_of
from openclaw_neuralstream.extract.rules.reader import Sentence
from tests.extract.conversations import owner_says

CORRECTIONS = [
    ("We keep the access logs for 14 days.", "Actually make that 30 days.", "We keep the access logs for 30 days."),
    (
        "The reset link expires after 30 minutes.",
        "Hmm no, I meant 60 minutes.",
        "The reset link expires after 60 minutes.",
    ),
    ("The vet is called Ilse Brandt.", "Sorry, it's not Brandt but Brandl.", "The vet is called Ilse Brandl."),
    ("Бэкапы храним 7 дней.", "Нет, 10 дней.", "Бэкапы храним 10 дней."),
    ("Нашу собаку зовут Бобик.", "Ой, перепутал, не Бобик, а Бублик.", "Нашу собаку зовут Бублик."),
    ("备份我们保留7天。", "不，应该是10天。", "备份我们保留10天。"),
    ("我家猫叫团团。", "打错字了，是圆圆，不是团团。", "我家猫叫圆圆。"),
]


@pytest.mark.parametrize(("said", "correction", "right"), CORRECTIONS)
def test_the_statement_stands_corrected_and_the_wrong_one_is_gone(said: str, correction: str, right: str) -> None:
    (draft,) = RulesExtractor().extract(owner_says(said, correction))
    assert draft.content == right
    assert draft.evidence == ("turn-1", "turn-2")
    assert "correction" in draft.tags


STATEMENTS = [
    ("We plant twelve apple trees by the fence.", "Correction: the orchard has fourteen apple trees now, not twelve."),
    ("The meeting is on Thursday at 3.", "Correction: the meeting is on Friday, not Thursday."),
    ("We pay 800 for the flat in Delft.", "Correction: the rent is 900, not 800."),
    ("Мы платим за студию 60 тысяч в месяц.", "Поправка: аренда стоит 70 тысяч, а не 60 тысяч."),
    ("我们房租四千。", "更正：房租改成五千。"),
]


@pytest.mark.parametrize(("said", "correction"), STATEMENTS)
def test_a_correction_with_a_subject_of_its_own_is_not_put_into_another_statement(said: str, correction: str) -> None:
    assert _bare(correction.partition(" " if "：" not in correction else "：")[2], said) is None


def test_a_day_keeps_the_hour_that_is_named_with_it() -> None:
    assert _bare("on Friday at 4, not Thursday.", "We meet on Thursday.") == ("We meet on Friday at 4.", 0)


def test_of_two_values_nobody_can_tell_which_one_is_meant() -> None:
    assert _bare("30 days", "We keep logs for 14 days and backups for 7 days.") is None


def test_another_persons_words_are_not_corrected_by_a_value_of_another_shape() -> None:
    assert _bare("Friday", "We keep logs for 14 days.") is None


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_two_texts_can_be_held_against_each_other(correction: str, statement: str) -> None:
    found = _bare(correction, statement)
    assert found is None or found[0] != statement


def _bare(correction: str, statement: str) -> tuple[str, int] | None:
    return corrected(Sentence(correction, cues_of(correction), corrected=True), [statement])
