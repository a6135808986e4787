"""The benchmark measures what it says, and the product keeps silent where memory is not needed, in three languages."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.recall import own
from benchmarks.recall.metrics import Ranked, score, summary
from benchmarks.recall.run import PIPELINE, run

IDS = st.lists(st.sampled_from("abcdefgh"), max_size=8, unique=True)


def ranking(*covers: str, tokens: int = 100) -> list[Ranked]:
    return [Ranked(f"r{n}", frozenset(names.split()), tokens) for n, names in enumerate(covers)]


def test_recall_counts_documents_once_and_in_order() -> None:
    measured = score(ranking("x", "a", "a", "a b"), {"a", "b", "c", "d"})
    assert measured["recall@5"] == 0.5
    assert measured["mrr"] == 0.5
    assert measured["hit@10"] == 1
    assert measured["recall@500tokens"] == 0.5


def test_what_does_not_fit_is_skipped_and_shorter_ones_go_in() -> None:
    records = [Ranked("long", frozenset("a"), 900), Ranked("short", frozenset("b"), 100)]
    measured = score(records, {"a", "b"})
    assert (measured["recall@500tokens"], measured["recall@1000tokens"]) == (0.5, 1)


@given(IDS, st.sets(st.sampled_from("abcdefgh"), min_size=1))
def test_every_measure_is_a_share_and_grows_with_the_cut(order: list[str], relevant: set[str]) -> None:
    measured = score(ranking(*order), relevant)
    assert all(0 <= value <= 1 for value in measured.values())
    assert measured["recall@5"] <= measured["recall@10"] <= measured["recall@20"]


def test_a_perfect_ranking_is_perfect() -> None:
    assert set(score(ranking("a", "b", tokens=1), {"a", "b"}).values()) == {1.0}


def test_the_interval_holds_the_mean() -> None:
    row = summary([{"recall@10": value} for value in (0, 1, 1, 0.5, 1)])["recall@10"]
    assert row["low"] <= row["mean"] <= row["high"]
    assert row["mean"] == 70


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    folder: Path = tmp_path_factory.mktemp("own")
    (folder / "own.json").write_text(json.dumps(own.dataset()), encoding="utf-8")
    report = run(folder / "own.json", folder / "rankings.jsonl", feed="gems", baselines=True, only=frozenset())
    return report, [json.loads(line) for line in (folder / "rankings.jsonl").read_text(encoding="utf-8").splitlines()]


def test_gems_are_found_across_languages(measured: tuple[dict[str, Any], list[dict[str, Any]]]) -> None:
    systems = measured[0]["systems"]
    for kind in ("same language", "across languages"):
        assert systems[PIPELINE][kind]["recall@5"]["mean"] >= 97
    assert systems["bm25 (fts5 porter)"]["all"]["recall@5"]["mean"] < 50


def test_most_questions_that_have_an_answer_inject_and_few_messages_that_need_no_memory_do(
    measured: tuple[dict[str, Any], list[dict[str, Any]]],
) -> None:
    assert measured[0]["injected_when_answerable"] >= 90
    own_matter = {n for n, texts in enumerate(own.UNANSWERED) if re.search(r"\b(?:my|we|Igor|guest)\b", texts[0])}
    no_matter = re.compile(rf"u(?!(?:{'|'.join(map(str, own_matter))})-)\d+-")
    injected = [bool(line["injected"]) for line in measured[1] if no_matter.match(line["id"])]
    assert len(injected) > 100
    assert sum(injected) <= 0.12 * len(injected)


def test_the_rankings_have_the_documented_form(measured: tuple[dict[str, Any], list[dict[str, Any]]]) -> None:
    lines = measured[1]
    asked = {question["id"] for collection in own.dataset()["collections"] for question in collection["questions"]}
    assert {line["id"] for line in lines} == asked
    for line in lines:
        assert set(line) == {"id", "ranking", "injected", "tokens", "ms"}
        assert all(set(record) == {"id", "covers"} and record["covers"] for record in line["ranking"])
        assert set(line["injected"]) <= {record["id"] for record in line["ranking"]}
