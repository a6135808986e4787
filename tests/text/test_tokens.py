"""Token counts are exact where the tokenizer is there, and never far below it where it is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_neuralstream.text.tokens import BestCounter, FormulaCounter, QwenCounter, best_counter

SAMPLES = (
    "We decided to use Valkey instead of Redis for the queue, because its licence is simpler. Anton will move the data.",
    "我们决定队列用Valkey而不是Redis，因为它的许可证更简单。安东会在下个星期搬数据。",
    "Мы решили использовать для очереди Valkey вместо Redis, потому что у него проще лицензия. Антон перенесёт данные.",
    '{"gem_id": "6f2f4b0e", "tags": ["decision", "fact"], "importance": 0.9, "at": "2026-02-23T15:26:00Z"}',
    "def fit(records, *, limit, budget):\n    kept = []\n    for record in records:\n        kept.append(record)\n",
)


@pytest.mark.parametrize("text", SAMPLES)
def test_the_formula_is_near_the_tokenizer(text: str) -> None:
    exact, guessed = QwenCounter().count(text), FormulaCounter().count(text)
    assert 0.85 * exact <= guessed <= 1.7 * exact


def test_nothing_costs_nothing() -> None:
    assert [QwenCounter().count(""), FormulaCounter().count("")] == [0, 0]


@given(st.text(st.characters(codec=None), max_size=200))
def test_any_string_is_counted(text: str) -> None:
    assert QwenCounter().count(text) >= (1 if text else 0)
    assert FormulaCounter().count(text) >= 0


def test_special_tokens_in_a_users_text_are_plain_text() -> None:
    assert QwenCounter().count("<|im_start|>") > 1


def test_a_long_run_without_a_break_is_counted_in_time() -> None:
    """Tokenizers are quadratic in such a run; a million characters would take minutes."""
    assert QwenCounter().count("a" * 1_000_000) > 100_000


def test_the_best_counter_answers_at_once_and_becomes_exact() -> None:
    counter = BestCounter()
    assert counter.count(SAMPLES[0]) > 0
    assert counter.wait(30)
    assert counter.name == "qwen"
    assert counter.count_all(SAMPLES) == QwenCounter().count_all(SAMPLES)


def test_there_is_one_counter_for_the_process() -> None:
    assert best_counter() is best_counter()
