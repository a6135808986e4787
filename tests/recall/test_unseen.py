"""Data that nobody tuned on: agent chats with long answers, group chats, other names, files that leave things out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks.recall.data import DataError, load
from benchmarks.recall.run import PIPELINE, run

LONG = (
    "Great question! Here are things to think about when you plan a mountain cabin, its budget and its deadline:\n\n"
    "1. **Budget**: the budget of a cabin depends on the roof, the budget of the roof on the budget of the wood.\n"
    "2. **Deadline**: a deadline for the cabin helps to keep the budget of the cabin.\n\n"
    "```python\nbudget = {'cabin': 0, 'roof': 0}\nfor cabin in budget: print(cabin, budget[cabin])\n```\n"
) * 6

FILLER = (
    "I walked the dog along the canal before work.",
    "The printer is out of ink again.",
    "My neighbour plays the trumpet at night.",
    "We watched an old film about sailors.",
    "The tomatoes on the balcony are nearly ripe.",
    "I lost my umbrella on the tram.",
)


def measured(
    folder: Path, said: Sequence[tuple[str, str]], asked: Sequence[Mapping[str, Any]], **fields: Any
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """The report of the runner over one collection, and the rankings by question; documents are numbered from 0."""
    documents = [{"id": f"док-{n}", "speaker": who, "text": text, **fields} for n, (who, text) in enumerate(said)]
    questions = [{"id": f"问{n}", **question} for n, question in enumerate(asked)]
    data = {"collections": [{"id": "聊天/1", "documents": documents, "questions": questions}]}
    (folder / "data.json").write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")
    report = run(folder / "data.json", folder / "r.jsonl", feed="turns", baselines=True, only=frozenset())
    lines = (folder / "r.jsonl").read_text(encoding="utf-8").splitlines()
    return report, {line["id"]: line for line in map(json.loads, lines)}


def first(line: Mapping[str, Any]) -> list[str]:
    return list(line["ranking"][0]["covers"])


def test_in_an_agent_chat_what_the_user_said_stands_before_the_long_answer(tmp_path: Path) -> None:
    said = [("user", "What should I think about for a cabin?"), ("assistant", LONG)]
    said += [("user", text) for text in FILLER]
    said += [("user", "My budget for the cabin is 48,000 dollars, and the deadline is in June."), ("assistant", LONG)]
    report, lines = measured(tmp_path, said, [{"text": "What is my budget for the cabin?", "relevant": ["док-8"]}])
    assert first(lines["问0"]) == ["док-8"]
    assert lines["问0"]["injected"]
    assert report["systems"][PIPELINE]["all"]["recall@5"]["mean"] == 100


@pytest.mark.parametrize(
    ("said", "question"),
    [
        (
            [("Ayşe", "I adopted a parrot from the shelter last week."), ("Björn", "I repaired the old motorbike.")],
            "What did Ayşe adopt from the shelter?",
        ),
        (
            [("Иван", "На прошлой неделе я взял попугая из приюта."), ("Ольга", "Я починила старый мотоцикл.")],
            "Кого взял из приюта наш Иван?",
        ),
    ],
)
def test_in_a_group_chat_the_one_who_is_named_is_answered_for(
    tmp_path: Path, said: list[tuple[str, str]], question: str
) -> None:
    chat = [*said, *(("Noor", text) for text in FILLER)]
    _, lines = measured(tmp_path, chat, [{"text": question, "relevant": ["док-0"]}])
    assert first(lines["问0"]) == ["док-0"]
    assert lines["问0"]["injected"]


def test_days_may_be_missing_wrong_or_in_words(tmp_path: Path) -> None:
    said = [("Kim", text) for text in FILLER]
    for time in ({}, {"time": "yesterday"}, {"time": "1:56 pm on 8 May, 2023"}, {"time": "2023-15-99"}):
        _, lines = measured(
            tmp_path, said, [{"text": "Where did Kim lose the umbrella?", "relevant": ["док-5"]}], **time
        )
        assert first(lines["问0"]) == ["док-5"]


def test_an_empty_collection_and_a_question_without_labels_are_no_fault(tmp_path: Path) -> None:
    report, lines = measured(tmp_path, [], [{"text": "Is anything known?"}])
    assert lines["问0"]["ranking"] == []
    assert report["injected_when_unanswerable"] == 0


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("[", "no JSON"),
        ("{}", 'no list "collections"'),
        ('{"collections": [{"id": "a", "documents": [{"id": "1"}]}]}', 'documents[0]: "text" is missing'),
        ('{"collections": [{"id": "a", "questions": [{"text": "?"}]}]}', 'questions[0]: "id" is missing'),
        ('{"collections": [{"id": "a", "documents": "x"}]}', '"documents" must be a list'),
        ('{"collections": [{"id": "a"}, {"id": "a"}]}', 'the id "a" stands there more than once'),
    ],
)
def test_a_file_of_another_form_is_refused_with_the_place(tmp_path: Path, data: str, said: str) -> None:
    (tmp_path / "data.json").write_text(data, encoding="utf-8")
    with pytest.raises(DataError) as refused:
        load(tmp_path / "data.json")
    assert said in str(refused.value)


def test_labels_that_name_nothing_are_counted(tmp_path: Path) -> None:
    data = {"collections": [{"id": "a", "questions": [{"id": 1, "text": "?", "relevant": ["gone"]}]}]}
    (tmp_path / "data.json").write_text(json.dumps(data), encoding="utf-8")
    assert load(tmp_path / "data.json")[1][0].strays == 1
