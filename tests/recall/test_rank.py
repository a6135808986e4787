"""Of whom a record tells decides how much it counts where somebody is named."""

from __future__ import annotations

import pytest

from openclaw_neuralstream.model import Query
from openclaw_neuralstream.recall import Found
from openclaw_neuralstream.recall.fuse import Fused
from openclaw_neuralstream.recall.rank import ranked
from openclaw_neuralstream.recall.source import COVERAGE, MEANING, WORDS
from openclaw_neuralstream.recall.understand import understand
from tests.recall.worlds import record
from tests.values import MAIN, NOW


def named(question: str, *texts: str) -> list[float]:
    """What the records of nobody in particular keep of their score, beside one that names who is asked about, in the order given."""
    found = {text: Found(record(text, text), who=frozenset({"owner"})) for text in texts}
    fused = [Fused(text, {WORDS: 0.5, MEANING: 0.5, COVERAGE: 0.5}, 0.5) for text in texts]
    factors = {item.id: item.factors["named"] for item in ranked(fused, found, understand(Query(question, MAIN, NOW), dialogue_turns=0), 64)}
    return [factors[text] for text in texts]


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ("What did Anna win?", ("Anna won a medal.", "I won a medal.", "Lisa won a medal.")),
        ("Что выиграла Анна?", ("Анна выиграла медаль.", "Я выиграл медаль.", "Лиза выиграла медаль.")),
        ("今天Anna得了什么奖？Anna: 嗯", ("Anna得了奖牌。", "我得了奖牌。", "Lisa得了奖牌。")),
    ],
)
def test_what_tells_of_others_counts_less_than_what_may_be_about_who_is_named(
    question: str, texts: tuple[str, ...]
) -> None:
    about, of_self, of_others = named(question, *texts)
    assert about == 1 > of_self > of_others > 0
