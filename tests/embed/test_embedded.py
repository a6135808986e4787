"""The carried model puts what means the same together, in any of its languages, from any thread."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openclaw_neuralstream.embed.embedded import DIMENSIONS, EmbeddedEmbedder
from openclaw_neuralstream.errors import VendorAway
from openclaw_neuralstream.ports import Vectors

EMBEDDER = EmbeddedEmbedder()
CAT = ("The cat is called Miso.", "猫叫味噌。", "Кошку зовут Мисо.")
QUESTION = ("What is my cat's name?", "我的猫叫什么名字？", "Как зовут мою кошку?")
OTHER = ("The invoice was paid twice.", "发票付了两次。", "Счёт оплатили дважды.")


def test_nothing_is_loaded_before_the_first_text() -> None:
    assert EmbeddedEmbedder()._model is None


@pytest.mark.parametrize("question", QUESTION)
@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_question_is_nearer_to_its_answer_than_to_anything_else_across_languages(question: str, at: int) -> None:
    asked = EMBEDDER.embed_query(question)
    answer, other = EMBEDDER.embed_documents([CAT[at], OTHER[at]]) @ asked
    assert answer > other + 0.1


def test_shapes_and_lengths_are_as_promised() -> None:
    assert EMBEDDER.embed_documents([]).shape == (0, DIMENSIONS)
    rows = EMBEDDER.embed_documents(["one", "", "  ", "two"])
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1).round(3).tolist() == [1, 0, 0, 1]
    assert not EMBEDDER.embed_query("").any()


@given(st.text(st.characters(codec=None), max_size=80))
@settings(max_examples=25)
def test_any_text_gives_a_finite_vector_of_unit_length_or_zero(text: str) -> None:
    vector = EMBEDDER.embed_query(text)
    assert np.isfinite(vector).all()
    assert abs(np.linalg.norm(vector) - 1) < 1e-3 or not vector.any()


def test_a_batch_gives_the_same_as_one_by_one() -> None:
    texts = [*CAT, *QUESTION, *OTHER]
    alone = np.stack([EMBEDDER.embed_documents([text])[0] for text in texts])
    assert np.allclose(EMBEDDER.embed_documents(texts), alone, atol=1e-5)


def test_many_threads_load_one_model_and_get_the_same_vectors() -> None:
    embedder = EmbeddedEmbedder()
    expected = EMBEDDER.embed_documents(QUESTION)
    models: list[int] = []
    wrong: list[Vectors] = []

    def work() -> None:
        for _ in range(5):
            found = embedder.embed_documents(QUESTION)
            wrong.extend([] if np.allclose(found, expected, atol=1e-5) else [found])
        models.append(id(embedder._model))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert wrong == []
    assert len(models) == 6
    assert len(set(models)) == 1


def test_a_question_does_not_wait_for_a_model_that_another_thread_loads() -> None:
    embedder = EmbeddedEmbedder()
    with embedder._loading, pytest.raises(VendorAway, match="still loading"):
        embedder.embed_query("hello")
