"""An embedding model of an Ollama server: asked as it wants to be, and every failure is one of ours."""

from __future__ import annotations

import numpy as np
import pytest

from openclaw_neuralstream.embed.ollama import OllamaEmbedder
from openclaw_neuralstream.embed.prefixes import prefixes
from openclaw_neuralstream.errors import EmbedderMismatch, VendorAway
from openclaw_neuralstream.ollama_client import missing
from tests.ollama_server import ollama_server

MODEL = "snowflake-arctic-embed2"


def test_rows_are_unit_vectors_and_blank_texts_are_not_sent() -> None:
    with ollama_server() as server:
        embedder = OllamaEmbedder(server.url, MODEL, 1024, timeout=30)
        rows = embedder.embed_documents(["one", " ", "two"])
        assert np.linalg.norm(rows, axis=1).round(3).tolist() == [1, 0, 1]
        assert server.asked("/api/embed")[0]["input"] == ["one", "two"]


def test_a_question_gets_the_prefix_that_the_model_wants() -> None:
    with ollama_server() as server:
        OllamaEmbedder(server.url, MODEL, 1024, timeout=30).embed_query("where is the key?")
        assert server.asked("/api/embed")[0]["input"] == ["query: where is the key?"]
    assert prefixes("nomic-embed-text:v1.5") == ("search_query: ", "search_document: ")
    assert prefixes("some-other-model") == ("", "")


def test_nothing_is_asked_for_no_texts() -> None:
    with ollama_server() as server:
        embedder = OllamaEmbedder(server.url, MODEL, 1024, timeout=30)
        assert embedder.embed_documents([]).shape == (0, 1024)
        assert not embedder.embed_query("").any()
        assert server.requests == []


def test_lone_surrogates_do_no_harm() -> None:
    with ollama_server() as server:
        embedder = OllamaEmbedder(server.url, MODEL, 1024, timeout=30)
        assert embedder.embed_documents(["broken \ud800 text"]).any()


def test_vectors_of_another_size_are_refused_with_the_remedy() -> None:
    with ollama_server(dimensions=768) as server:
        embedder = OllamaEmbedder(server.url, MODEL, 1024, timeout=30)
        with pytest.raises(EmbedderMismatch, match=r"768 numbers, the index holds 1024.*neuralstream admin reembed"):
            embedder.embed_query("hello")


@pytest.mark.parametrize("failure", ["slow", "html", "garbage", "memory", "wrong-shape"])
def test_every_failure_of_the_service_means_that_it_is_away(failure: str) -> None:
    with ollama_server(failure=failure) as server:
        embedder = OllamaEmbedder(server.url, MODEL, 1024, timeout=0.5)
        with pytest.raises(VendorAway) as refused:
            embedder.embed_query("hello")
        assert refused.value.where == server.url
        server.released.set()


def test_a_question_waits_for_a_shorter_time_than_a_batch_of_texts() -> None:
    with ollama_server(failure="slow") as server:  # it answers when it is released, which is after the question gave up
        with pytest.raises(VendorAway):
            OllamaEmbedder(server.url, MODEL, 1024, timeout=600, question_timeout=0.2).embed_query("hello")
        server.released.set()


def test_nobody_there_means_away() -> None:
    with pytest.raises(VendorAway, match="ollama serve"):
        OllamaEmbedder("http://127.0.0.1:9", MODEL, 1024, timeout=1).embed_query("hello")


def test_whether_it_can_be_asked_is_said_in_words() -> None:
    with ollama_server() as server:
        assert missing(server.url, MODEL, 30) == ""
        assert "ollama pull missing-model" in missing(server.url, "missing-model", 30)
    assert "does not answer" in missing("http://127.0.0.1:9", MODEL, 1)


def test_a_proxy_in_the_environment_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client would send even loopback requests through HTTP_PROXY."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    with ollama_server() as server:
        assert missing(server.url, MODEL, 30) == ""
