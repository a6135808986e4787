"""A server that speaks Ollama's HTTP protocol, with every failure a real one shows. For tests of whatever asks Ollama."""

from __future__ import annotations

import hashlib
import json
import math
import ssl
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.listening import Answering, Listening

MODELS = ("qwen3:latest", "snowflake-arctic-embed2:latest")


@dataclass
class OllamaServer:
    """What it answers and what it was asked.

    answers: texts for /api/chat, given in turn; the last one stays. failure: how the next requests go wrong:
    "" | "denied" | "busy" | "slow" | "trickle" | "cut" | "html" | "garbage" | "memory" | "bad-format" | "midway-error" | "length" | "empty" | "wrong-shape".
    """

    url: str = ""
    models: tuple[str, ...] = MODELS
    dimensions: int = 1024
    answers: list[str] = field(default_factory=lambda: ['{"gems": []}'])
    failure: str = ""
    times: int = 0  # for how many requests of chat the failure lasts; 0 = all
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    tls: ssl.SSLContext | None = None
    released: threading.Event = field(default_factory=threading.Event)

    def asked(self, path: str) -> list[dict[str, Any]]:
        """The bodies of the requests to this path, oldest first."""
        return [body for where, body in self.requests if where == path]

    def has(self, model: str) -> bool:
        """Whether it has the model, with or without its tag."""
        return model in self.models or f"{model}:latest" in self.models

    def next_answer(self) -> str:
        """The next text of `answers`."""
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextmanager
def ollama_server(**values: Any) -> Iterator[OllamaServer]:
    """A running server; closed at the end, requests that hang are let go."""
    state = OllamaServer(**values)
    listening = Listening(Ollama, state, state.tls)
    state.url = f"{listening.scheme}://127.0.0.1:{listening.start()}"
    try:
        yield state
    finally:
        state.released.set()
        listening.stop()


def vector_of(text: str, dimensions: int) -> list[float]:
    """A deterministic vector of unit length: each word adds a direction of its own, so that shared words are near."""
    total = [0.0] * dimensions
    for word in text.lower().split() or [""]:
        for slot in range(8):
            seed = hashlib.blake2b(f"{slot}:{word}".encode("utf-8", "replace"), digest_size=8).digest()
            place, sign = struct.unpack("<Ii", seed)
            total[place % dimensions] += 1.0 if sign > 0 else -1.0
    length = math.sqrt(sum(x * x for x in total)) or 1.0
    return [x / length for x in total]


class Ollama(Answering):
    """One request; `state` is given by `ollama_server`."""

    state: OllamaServer

    def got(self) -> None:
        self.state.requests.append((self.path, {}))
        if self._failed():
            return
        if self.path == "/api/tags":
            models = [{"name": name, "model": name, "size": 1, "digest": "0" * 64} for name in self.state.models]
            self.answer({"models": models})
        elif self.path in ("/", "/api/version"):
            self.answer({"version": "0.12.0"})
        else:
            self.answer({"error": "not found"}, 404)

    def posted(self, body: dict[str, Any]) -> None:
        self.state.requests.append((self.path, body))
        if self._failed():
            return
        if not self.state.has(body.get("model", "")):
            self.answer({"error": f"model '{body.get('model')}' not found"}, 404)
        elif self.path == "/api/chat":
            self._chat(body)
        elif self.path == "/api/embed":
            self._embed(body)
        elif self.path == "/api/show":
            self.answer({"details": {"family": "qwen3"}, "model_info": {"qwen3.context_length": 40_960}})
        else:
            self.answer({"error": "not found"}, 404)

    def _embed(self, body: dict[str, Any]) -> None:
        texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
        vectors = [vector_of(text, self.state.dimensions) for text in texts]
        if self.state.failure == "wrong-shape":
            vectors = [vector[:-1] for vector in vectors[:-1]]
        self.answer({"model": body["model"], "embeddings": vectors, "total_duration": 1, "load_duration": 1})

    def _chat(self, body: dict[str, Any]) -> None:
        text = "" if self.state.failure == "empty" else self.state.next_answer()
        reason = "length" if self.state.failure == "length" else "stop"
        if body.get("stream") is False:
            self.answer(_chunk(body, text, done=True, reason=reason))
            return
        pieces = [text[i : i + 40] for i in range(0, len(text), 40)]
        self.begin_stream("application/x-ndjson")
        for number, piece in enumerate(pieces):
            self._stream(_chunk(body, piece))
            if number == 0 and self._broken_midway(body):
                return
        self._stream(_chunk(body, "", done=True, reason=reason))
        self.end_stream()

    def _broken_midway(self, body: dict[str, Any]) -> bool:
        failure = self.state.failure
        if failure == "cut":
            self.close_connection = True
            self.connection.close()
        elif failure == "unfinished":
            self.end_stream()
        elif failure == "midway-error":
            self._stream({"error": "an unknown error was encountered while running the model"})
            self.end_stream()
        elif failure == "trickle":
            while not self.state.released.wait(0.05):
                self._stream(_chunk(body, " "))
        return failure in ("cut", "unfinished", "midway-error", "trickle")

    def _failed(self) -> bool:
        """Failures before any answer."""
        failure = self.state.failure
        if failure and self.state.times:
            self.state.times -= 1
            self.state.failure = failure if self.state.times else ""
        if failure == "slow":
            self.state.released.wait(30)
            self.close_connection = True
        elif failure == "denied":
            self.answer({"error": "unauthorized"}, 401)
        elif failure == "busy":
            self.answer({"error": "server busy, please try again.  maximum pending requests exceeded"}, 503)
        elif failure == "html":
            self.answer_raw(b"<html><body>502 Bad Gateway</body></html>", 502, "text/html")
        elif failure == "garbage":
            self.answer_raw(b"this is no JSON at all\n", 200, "application/x-ndjson")
        elif failure == "memory":
            self.answer({"error": "model requires more system memory (9.1 GiB) than is available (3.2 GiB)"}, 500)
        elif failure == "bad-format":
            self.answer({"error": "invalid JSON schema in format"}, 400)
        else:
            return False
        return True

    def _stream(self, value: Any) -> None:
        self.stream(json.dumps(value).encode() + b"\n")


def _chunk(body: dict[str, Any], text: str, *, done: bool = False, reason: str = "") -> dict[str, Any]:
    chunk: dict[str, Any] = {
        "model": body["model"],
        "created_at": "2026-11-21T10:00:00Z",
        "message": {"role": "assistant", "content": text},
        "done": done,
    }
    return {**chunk, "done_reason": reason, "total_duration": 1, "eval_count": 1} if done else chunk
