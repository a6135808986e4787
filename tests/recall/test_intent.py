"""What a message wants of memory: the gate and the coherence, with and without the encoder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from openclaw_neuralstream.embed import embedded
from openclaw_neuralstream.embed.embedded import EmbeddedEmbedder
from openclaw_neuralstream.errors import VendorAway
from openclaw_neuralstream.memory import wiring
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.model import Origin, Query, Scope
from openclaw_neuralstream.ports import Vector
from openclaw_neuralstream.recall.intent import Intent
from openclaw_neuralstream.state import StateDir

INTENT = Intent(EmbeddedEmbedder())


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    opened = wiring.open_memory(StateDir(tmp_path), environ={"NEURALSTREAM_EMBEDDER": "embedded"}, start=False)
    yield opened
    opened.close()


class Away(EmbeddedEmbedder):
    """An encoder that does not load."""

    def embed_query(self, text: str) -> Vector:
        raise VendorAway("it is away")


@pytest.mark.parametrize("message", ["thanks a lot!", "what is 17 times 23", "谢谢啦", "спасибо, всё"])
def test_a_message_that_needs_nothing_is_below_zero(message: str) -> None:
    assert INTENT.logit(message) < 0


@pytest.mark.parametrize(
    "message", ["who has my drill?", "when is my sister's birthday", "我妹妹生日是哪天", "у кого моя дрель"]
)
def test_a_question_about_own_matters_is_above_zero(message: str) -> None:
    assert INTENT.logit(message) > 0


def test_a_message_about_something_else_does_not_go_on_with_the_dialogue() -> None:
    talk = "How do I prune tomatoes?\nCut the side shoots.\nAnd how often do I water them?"
    assert INTENT.coherence("how often do tomatoes need water?", talk) > 0.5
    assert INTENT.coherence("what port is the broker on", talk) < 0.2


def test_without_the_encoder_the_dialogue_counts_and_only_questions_are_answered(memory: Memory) -> None:
    assert Intent(Away()).coherence("thanks", "anything") == 1
    scope = Scope("main")
    memory.keep("The garden shed is green.", scope, memory.session("main", "one"), origin=Origin.OWNER)
    memory._intent = Intent(Away())
    at = memory.now()
    assert "green" in memory.remind(Query("what colour is the garden shed?", scope, at)).text
    assert not memory.remind(Query("the garden shed, ok", scope, at)).text


def test_no_text_is_kept() -> None:
    intent = Intent(EmbeddedEmbedder())
    intent.logit("the gate code is 4471")
    assert "gate" not in str(vars(intent)) + str(vars(embedded))
