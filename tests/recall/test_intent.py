"""What a message wants of memory: the gate and the coherence, with and without the encoder."""

from __future__ import annotations

import pytest

from openclaw_neuralstream.embed import embedded
from openclaw_neuralstream.embed.embedded import EmbeddedEmbedder
from openclaw_neuralstream.errors import VendorAway
from openclaw_neuralstream.ports import Vector
from openclaw_neuralstream.recall.intent import Intent

INTENT = Intent(EmbeddedEmbedder())


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


def test_without_the_encoder_the_dialogue_counts_and_every_message_is_answered() -> None:
    away = Intent(Away())
    assert away.coherence("thanks", "anything") == 1
    assert away.wants("thanks", [])


def test_no_text_is_kept() -> None:
    intent = Intent(EmbeddedEmbedder())
    intent.logit("the gate code is 4471")
    assert "gate" not in str(vars(intent)) + str(vars(embedded))
