"""Any endpoint of OpenAI's protocol as the extraction model: asked as each server wants, every failure one of ours."""

from __future__ import annotations

import socket

import pytest

from openclaw_neuralstream.errors import AnswerRefused, VendorAway
from openclaw_neuralstream.extract.answer import schema
from openclaw_neuralstream.extract.openai import OpenAICompletion, found
from openclaw_neuralstream.extract.served import AnswerCut
from tests.openai_server import openai_server


def completion(url: str, model: str = "qwen3", timeout: float = 30.0, **more: object) -> OpenAICompletion:
    return OpenAICompletion(url, model, context=4_096, timeout=timeout, waits=(0, 0), **more)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_the_answer_is_the_joined_stream():
    text = '{"gems": [' + '"длинный 很长 ответ", ' * 30 + '"x"]}'
    with openai_server(answers=[text], usage=77) as server:
        asked = completion(server.url)
        assert (asked.complete("system", "prompt \ud83d"), asked.used) == (text, 77)


def test_a_local_server_is_asked_for_the_schema_without_thinking():
    with openai_server() as server:
        completion(server.url).complete("You distil.", "Distil this.", schema=schema())
        (body,) = server.asked("/v1/chat/completions")
    assert body["response_format"]["json_schema"]["schema"] == schema()
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    assert (body["max_tokens"], body["temperature"]) == (1_024, 0)


@pytest.mark.parametrize(
    ("refuses", "asked_as"),
    [
        (("chat_template_kwargs",), {"max_completion_tokens", "response_format"}),
        (("chat_template_kwargs", "max_completion_tokens"), {"max_tokens", "temperature", "response_format"}),
        (("response_format",), {"max_tokens", "temperature"}),
    ],
)
def test_a_server_that_refuses_a_field_is_asked_in_another_dialect_and_from_then_on(refuses, asked_as):
    with openai_server(refuses=refuses) as server:
        asked = completion(server.url)
        asked.complete("s", "p", schema=schema())
        before = len(server.asked("/v1/chat/completions"))
        asked.complete("s", "p", schema=schema())
        bodies = server.asked("/v1/chat/completions")
    assert len(bodies) == before + 1
    assert set(bodies[-1]) - {"model", "messages", "stream", "stream_options"} == asked_as


def test_a_server_that_refuses_every_dialect_has_refused():
    with openai_server(failure="too-long") as server, pytest.raises(AnswerRefused, match="context size"):
        completion(server.url).complete("s", "p", schema=schema())


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        ("cut", "hung up|does not answer"),
        ("unfinished", "in the middle"),
        ("midway-error", "crashed"),
        ("html", "refused"),
        ("garbage", "not how|does not answer|failed"),
        ("memory", "out of memory"),
        ("denied", "API key"),
        ("quota", "quota"),
        ("busy", "Loading model"),
    ],
)
def test_a_failing_server_is_away(failure, words):
    with openai_server(failure=failure, answers=["x" * 200]) as server, pytest.raises(VendorAway, match=words):
        completion(server.url).complete("s", "p")


@pytest.mark.parametrize("failure", ["busy", "limit", "html", "cut"])
def test_a_server_that_is_busy_for_a_moment_is_asked_again(failure):
    with openai_server(failure=failure, times=2, answers=["x" * 200]) as server:
        assert completion(server.url).complete("s", "p") == "x" * 200
        assert len(server.asked("/v1/chat/completions")) == 3


@pytest.mark.parametrize("failure", ["quota", "memory", "denied"])
def test_what_waiting_does_not_mend_is_asked_once(failure):
    with openai_server(failure=failure) as server:
        with pytest.raises(VendorAway) as caught:
            completion(server.url).complete("s", "p")
        assert len(server.asked("/v1/chat/completions")) == 1
    assert caught.value.fix


@pytest.mark.parametrize("failure", ["slow", "trickle"])
def test_a_slow_server_is_away_after_the_timeout(failure):
    with openai_server(failure=failure, answers=["x" * 200]) as server, pytest.raises(VendorAway, match=r"slow|finish"):
        completion(server.url, timeout=2.0).complete("s", "p")


def test_an_answer_that_is_cut_keeps_what_came():
    with openai_server(failure="length", answers=['{"gems": [']) as server, pytest.raises(AnswerCut) as caught:
        completion(server.url).complete("s", "p")
    assert caught.value.text == '{"gems": ['


def test_an_empty_answer_is_refused():
    with openai_server(failure="empty") as server, pytest.raises(AnswerRefused):
        completion(server.url).complete("s", "p")


def test_nobody_there_is_away_and_the_remedy_is_named():
    with pytest.raises(VendorAway, match="does not answer") as caught:
        completion(f"http://127.0.0.1:{free_port()}/v1").complete("s", "p")
    assert "openai_url" in caught.value.fix


def test_the_key_is_sent_and_that_of_the_environment_is_not(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-this-server")
    with openai_server() as server:
        completion(server.url).complete("s", "p")
        completion(server.url, api_key="mine").complete("s", "p")
        assert server.keys == {"Bearer none", "Bearer mine"}


def test_a_proxy_of_the_environment_is_not_asked_for_loopback(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{free_port()}")
    monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{free_port()}")
    with openai_server() as server:
        assert found(server.url, "qwen3", timeout=30) == "qwen3"


@pytest.mark.parametrize(
    ("models", "wanted", "chosen"),
    [
        (("a", "b"), "b", "b"),
        (("only",), "", "only"),
        ((), "any", "any"),
    ],
)
def test_the_model_is_the_named_one_or_the_only_one(models, wanted, chosen):
    with openai_server(models=tuple({"id": name, "object": "model"} for name in models)) as server:
        assert found(server.url, wanted, timeout=30) == chosen


def test_what_is_missing_is_said_with_what_is_there():
    with openai_server(models=({"id": "a", "object": "model"}, {"id": "b", "object": "model"})) as server:
        for wanted, said in (("c", "no model c; it has a, b"), ("", "no openai_model is set; it has a, b")):
            with pytest.raises(VendorAway, match=said):
                found(server.url, wanted, timeout=30)
        server.failure = "denied"
        with pytest.raises(VendorAway, match="API key"):
            found(server.url, "a", timeout=30)
    with pytest.raises(VendorAway, match="does not answer"):
        found(f"http://127.0.0.1:{free_port()}/v1", "a")


@pytest.mark.parametrize(
    ("model", "props", "window"),
    [
        ({}, None, 4_096),
        ({"max_model_len": 3_000}, None, 3_000),
        ({"meta": {"n_ctx_train": 32_768}}, {"default_generation_settings": {"n_ctx": 2_048}}, 2_048),
        ({"max_model_len": 131_072}, {"odd": 1}, 4_096),
    ],
)
def test_the_window_is_what_the_server_has_and_the_settings_allow(model, props, window):
    with openai_server(models=({"id": "qwen3", "object": "model", **model},), props=props) as server:
        assert completion(server.url).window() == window
