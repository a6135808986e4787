"""A server that speaks OpenAI's HTTP protocol as llama.cpp, vLLM and OpenAI do, with every failure a real one shows."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.listening import Answering, Listening
from tests.ollama_server import vector_of

_STATUS = {
    "denied": (401, {"message": "Incorrect API key provided", "code": "invalid_api_key"}),
    "busy": (503, {"message": "Loading model", "type": "unavailable_error"}),
    "limit": (429, {"message": "Rate limit reached", "code": "rate_limit_exceeded"}),
    "quota": (429, {"message": "You exceeded your current quota", "code": "insufficient_quota"}),
    "memory": (500, {"message": "failed to allocate KV cache: out of memory"}),
    "too-long": (400, {"message": "the request exceeds the available context size"}),
}


@dataclass
class OpenAIServer:
    """What it answers and what it was asked.

    answers: texts for chat, given in turn; the last one stays. failure: how requests go wrong, "" = not;
    times: for how many requests, 0 = all. refuses: names of request fields that it answers with 400.
    """

    url: str = ""
    models: tuple[dict[str, Any], ...] = ({"id": "qwen3", "object": "model"},)
    props: dict[str, Any] | None = None
    key: str = ""
    dimensions: int = 64
    usage: int = 0
    answers: list[str] = field(default_factory=lambda: ['{"gems": []}'])
    failure: str = ""
    times: int = 0
    refuses: tuple[str, ...] = ()
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    released: threading.Event = field(default_factory=threading.Event)

    def asked(self, path: str) -> list[dict[str, Any]]:
        """The bodies of the requests to this path, oldest first."""
        return [body for where, body in self.requests if where == path]

    def goes_wrong(self) -> str:
        """The failure of the next request."""
        failure = self.failure
        if failure and self.times:
            self.times -= 1
            self.failure = failure if self.times else ""
        return failure


@contextmanager
def openai_server(**values: Any) -> Iterator[OpenAIServer]:
    """A running server; closed at the end, requests that hang are let go."""
    state = OpenAIServer(**values)
    listening = Listening(_Handler, state)
    state.url = f"http://127.0.0.1:{listening.start()}/v1"
    try:
        yield state
    finally:
        state.released.set()
        listening.stop()


class _Handler(Answering):
    """One request; `state` is given by `openai_server`."""

    state: OpenAIServer

    def got(self) -> None:
        self.state.requests.append((self.path, {}))
        if self._failed(self.state.failure if self.state.failure in ("denied", "html", "garbage") else ""):
            return
        if self.path == "/v1/models":
            self.answer({"object": "list", "data": list(self.state.models)})
        elif self.path == "/props" and self.state.props is not None:
            self.answer(self.state.props)
        else:
            self.answer({"error": {"message": "not found"}}, 404)

    def posted(self, body: dict[str, Any]) -> None:
        self.state.requests.append((self.path, body))
        self.state.keys.add(str(self.headers.get("Authorization", "")))
        failure = self.state.goes_wrong()
        if self._failed(failure):
            return
        refused = [name for name in self.state.refuses if name in json.dumps(body)]
        if refused:
            self.answer({"error": {"message": f"unknown parameter: {refused[0]}"}}, 400)
        elif body.get("model") not in {model["id"] for model in self.state.models}:
            self.answer({"error": {"message": f"model {body.get('model')} not found"}}, 404)
        elif self.path == "/v1/embeddings":
            self._embed(body, failure)
        else:
            self._chat(failure)

    def _embed(self, body: dict[str, Any], failure: str) -> None:
        vectors = [vector_of(text, self.state.dimensions) for text in body["input"]]
        if failure == "wrong-shape":
            vectors = [vector[:-1] for vector in vectors[:-1]]
        rows = [{"object": "embedding", "index": n, "embedding": vector} for n, vector in enumerate(vectors)]
        self.answer({"object": "list", "data": rows[::-1], "model": body["model"], "usage": {"prompt_tokens": 1, "total_tokens": 1}})

    def _chat(self, failure: str) -> None:
        answers = self.state.answers
        text = "" if failure == "empty" else answers.pop(0) if len(answers) > 1 else answers[0]
        pieces = [text[i : i + 40] for i in range(0, len(text), 40)]
        self.begin_stream("text/event-stream")
        for number, piece in enumerate(pieces):
            self._event(_chunk({"content": piece}))
            if number == 0 and self._broken_midway(failure):
                return
        self._event(_chunk({}, "length" if failure == "length" else "stop"))
        if self.state.usage:
            self._event({**_chunk({}), "choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": self.state.usage}})
        self.stream(b"data: [DONE]\n\n")
        self.end_stream()

    def _broken_midway(self, failure: str) -> bool:
        if failure == "cut":
            self.close_connection = True
            self.connection.close()
        elif failure == "unfinished":
            self.stream(b"data: [DONE]\n\n")
            self.end_stream()
        elif failure == "midway-error":
            self._event({"error": {"message": "the model crashed", "code": 500}})
            self.end_stream()
        elif failure == "trickle":
            while not self.state.released.wait(0.05):
                self._event(_chunk({"content": " "}))
        return failure in ("cut", "unfinished", "midway-error", "trickle")

    def _failed(self, failure: str) -> bool:
        """Failures before any answer."""
        if failure == "slow":
            self.state.released.wait(30)
            self.close_connection = True
        elif failure == "html":
            self.answer_raw(b"<html><body>502 Bad Gateway</body></html>", 502, "text/html")
        elif failure == "garbage":
            self.answer_raw(b"data: this is no JSON at all\n\n", 200, "text/event-stream")
        elif failure in _STATUS:
            status, error = _STATUS[failure]
            self.answer({"error": error}, status)
        else:
            return False
        return True

    def _event(self, value: Any) -> None:
        self.stream(b"data: " + json.dumps(value).encode() + b"\n\n")


def _chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
