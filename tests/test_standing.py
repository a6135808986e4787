"""What the owner asked for once and for all stands: in its newest version, never another's words, never expired."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from openclaw_neuralstream.model import Gem, Kind, Origin, Scope
from openclaw_neuralstream.standing import Standing
from openclaw_neuralstream.store.truth import Truth
from tests.recall.worlds import EMBEDDER
from tests.values import MAIN, NOW, gem


@pytest.fixture
def truth(tmp_path: Path) -> Iterator[Truth]:
    made = Truth.open(tmp_path / "memory.sqlite")
    yield made
    made.close()


def wish(name: str, content: str, kind: Kind = Kind.INSTRUCTION, **more: Any) -> Gem:
    return gem(name, content, kind=kind, tags=(kind.value,), **more)


def keep(truth: Truth, *gems: Gem) -> None:
    truth.import_gems([(item, None) for item in gems], EMBEDDER.identity, NOW)


def ids(standing: Standing, scope: Scope = MAIN) -> list[str]:
    return [item.gem_id for item in standing.of(scope, NOW)]


def test_instructions_stand_before_preferences_and_nothing_else_stands(truth: Truth) -> None:
    keep(
        truth,
        gem("fact", "The cat is called Miso."),
        wish("tea", "Я предпочитаю зелёный чай.", Kind.PREFERENCE, importance=0.9),
        wish("short", "回答要简短，不要用表情符号。"),
        wish("loud", "Always shout.", origin=Origin.UNTRUSTED, speaker="third-party"),
        wish("agents", "Always apologise.", origin=Origin.AGENT, speaker="agent"),
        wish("over", "Call me captain until Friday.", valid_to=NOW - timedelta(days=1)),
        wish("other", "Answer in Latin.", scope=Scope("other")),
    )
    assert ids(Standing(truth)) == ["short", "tea"]


def test_of_a_changed_instruction_only_the_newest_stands(truth: Truth) -> None:
    standing = Standing(truth)
    keep(truth, wish("old", "Always answer in English.", superseded_by="new"), wish("new", "Always answer in Russian."))
    assert ids(standing) == ["new"]
    again = wish("again", "Answer always in Russian!", created_at=NOW + timedelta(minutes=1))
    keep(truth, again)
    assert ids(standing) == ["again"]


def test_what_is_forgotten_stands_no_more(truth: Truth) -> None:
    standing = Standing(truth)
    keep(truth, wish("short", "Answer in short sentences."))
    assert ids(standing) == ["short"]
    truth.forget(["short"], NOW)
    assert ids(standing) == []
