"""Ollama as the extraction model: asked as its protocol wants, every failure told as one of two errors."""

import json
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_neuralstream.errors import AnswerRefused, VendorAway
from openclaw_neuralstream.extract.answer import schema
from openclaw_neuralstream.extract.ollama import OllamaCompletion
from openclaw_neuralstream.extract.served import Window, answer_room
from openclaw_neuralstream.ollama_client import missing
from openclaw_neuralstream.text.tokens import FormulaCounter
from tests.ollama_server import ollama_server
from tests.waiting import until

COUNTER = FormulaCounter()


def completion(url: str, model: str = "qwen3", timeout: float = 30.0, **more: object) -> OllamaCompletion:
    return OllamaCompletion(url, model, counter=COUNTER, context=4_096, timeout=timeout, waits=(0, 0), **more)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_the_answer_is_the_joined_stream():
    text = json.dumps({"gems": [{"content": "длинный ответ 很长的回答 " * 20}]}, ensure_ascii=False)
    with ollama_server(answers=[text]) as server:
        assert completion(server.url).complete("system", "prompt") == text


def test_the_request_carries_context_schema_and_no_thinking():
    with ollama_server() as server:
        completion(server.url).complete("You distil.", "Distil this.", schema=schema())
        (body,) = server.asked("/api/chat")
    assert body["messages"] == [
        {"role": "system", "content": "You distil."},
        {"role": "user", "content": "Distil this."},
    ]
    assert body["format"] == schema()
    assert body["think"] is False
    assert body["options"] == {"num_ctx": 4_096, "num_predict": 1_024, "temperature": 0, "seed": 7}


def test_lone_surrogates_do_not_stop_a_request():
    with ollama_server() as server:
        completion(server.url).complete("s", "broken \ud83d half")
        (body,) = server.asked("/api/chat")
    assert body["messages"][1]["content"] == "broken ? half"


def test_a_proxy_of_the_environment_is_not_asked(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{free_port()}")
    monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{free_port()}")
    with ollama_server() as server:
        assert missing(server.url, "qwen3", timeout=30) == ""


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        ("cut", "does not answer"),
        ("unfinished", "in the middle"),
        ("midway-error", "unknown error"),
        ("html", "refused"),
        ("garbage", "not how Ollama answers"),
        ("memory", "more system memory"),
    ],
)
def test_a_failing_server_is_away(failure, words):
    with ollama_server(failure=failure, answers=["x" * 200]) as server, pytest.raises(VendorAway, match=words):
        completion(server.url).complete("s", "p")


@pytest.mark.parametrize("failure", ["slow", "trickle"])
def test_a_slow_server_is_away_after_the_timeout(failure):
    with ollama_server(failure=failure, answers=["x" * 200]) as server, pytest.raises(VendorAway):
        completion(server.url, timeout=0.3).complete("s", "p")


@pytest.mark.parametrize("failure", ["length", "empty", "bad-format"])
def test_an_answer_that_is_no_good_is_refused(failure):
    with ollama_server(failure=failure) as server, pytest.raises(AnswerRefused):
        completion(server.url).complete("s", "p")


def test_nobody_there_is_away():
    with pytest.raises(VendorAway, match="does not answer"):
        completion(f"http://127.0.0.1:{free_port()}").complete("s", "p")


def test_a_missing_model_says_what_to_type():
    with ollama_server() as server, pytest.raises(VendorAway) as caught:
        completion(server.url, model="qwen9").complete("s", "p")
    assert caught.value.fix == "ollama pull qwen9"


def test_the_same_completion_works_again_when_the_server_is_well():
    with ollama_server(failure="memory") as server:
        asked = completion(server.url)
        with pytest.raises(VendorAway):
            asked.complete("s", "p")
        server.failure = ""
        assert asked.complete("s", "p") == '{"gems": []}'


@pytest.mark.parametrize("model", ["qwen3", "qwen3:latest"])
def test_a_server_that_has_the_model_is_available(model):
    with ollama_server() as server:
        assert missing(server.url, model, timeout=30) == ""


def test_what_is_not_available_is_said_in_words():
    with ollama_server() as server:
        assert missing(server.url, "qwen9", timeout=30) == "Ollama has no model qwen9: ollama pull qwen9"
        server.failure = "garbage"
        assert "not how Ollama answers" in missing(server.url, "qwen3", timeout=30)
    assert "does not answer" in missing(f"http://127.0.0.1:{free_port()}", "qwen3")


@pytest.mark.parametrize("url", ["", "not a url", "http://", "ftp://127.0.0.1", "http://127.0.0.1:99999"])
def test_an_address_that_is_none_is_said_in_words(url):
    assert missing(url or "http://", "qwen3", timeout=0.5) != ""


def test_a_server_that_is_busy_for_a_moment_is_asked_again():
    with ollama_server(failure="busy", times=2) as server:
        assert completion(server.url).complete("s", "p") == '{"gems": []}'
        assert len(server.asked("/api/chat")) == 3


def test_a_server_that_stays_busy_is_away():
    with ollama_server(failure="busy") as server, pytest.raises(VendorAway, match="busy"):
        completion(server.url).complete("s", "p")


@pytest.mark.parametrize("failure", ["memory", "garbage", "slow"])
def test_what_waiting_does_not_mend_is_asked_once(failure):
    with ollama_server(failure=failure) as server:
        with pytest.raises(VendorAway):
            completion(server.url, timeout=0.3 if failure == "slow" else 30.0).complete("s", "p")
        until(lambda: server.asked("/api/chat"))  # a busy server may read it after the asker has gone
        assert len(server.asked("/api/chat")) == 1


def test_out_of_memory_names_the_setting_that_needs_less():
    with ollama_server(failure="memory") as server, pytest.raises(VendorAway) as caught:
        completion(server.url).complete("s", "p")
    assert "gem_context" in caught.value.fix


def test_the_window_grows_with_what_is_sent_and_never_shrinks():
    with ollama_server() as server:
        asked = OllamaCompletion(server.url, "qwen3", counter=COUNTER, context=200_000, timeout=30, keep_alive=-1)
        for words in (10, 12_000, 10, 40_000):
            asked.complete("s", "word " * words)
        bodies = server.asked("/api/chat")
    assert [body["options"]["num_ctx"] for body in bodies] == [8_192, 32_768, 32_768, 65_536]
    assert [body["options"]["num_predict"] for body in bodies] == [2_048, 4_096, 4_096, 4_096]
    assert {body["keep_alive"] for body in bodies} == {-1}


@given(st.lists(st.integers(1, 300_000), min_size=1, max_size=8), st.integers(2_048, 262_144))
def test_a_window_holds_what_is_sent_or_is_as_large_as_it_may_be(tokens, most):
    window = Window(most)
    sizes = [window.holding(count) for count in tokens]
    assert sizes == sorted(sizes)
    assert all(size == most or size - answer_room(size) >= count for size, count in zip(sizes, tokens, strict=True))


def test_the_window_is_never_larger_than_the_model_has():
    with ollama_server() as server:
        assert OllamaCompletion(server.url, "qwen3", counter=COUNTER, context=200_000, timeout=30).window() == 40_960
        assert completion(server.url).window() == 4_096
    assert completion(f"http://127.0.0.1:{free_port()}").window() == 4_096


def test_what_an_answer_cost_is_told():
    with ollama_server() as server:
        asked = completion(server.url)
        asked.complete("s", "p")
    assert asked.used == 1
