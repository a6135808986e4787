"""Chat models of an Ollama server, through the `ollama` package; its exceptions stop here."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from openclaw_neuralstream.errors import AnswerRefused, VendorAway

_BAD_REQUEST = 400
_NOT_FOUND = 404
_ANSWER_SHARE = 4  # the answer may take a quarter of the context


class OllamaCompletion:
    """A chat model that answers with text. Nothing is asked, and no client made, before the first prompt.

    context: tokens asked of the model (`num_ctx`), constant, or the server loads the model anew each time.
    timeout: seconds one whole answer may take.
    """

    def __init__(self, url: str, model: str, *, context: int, timeout: float) -> None:
        self.model = model
        self._url = url
        self._timeout = timeout
        self._options = {"num_ctx": context, "num_predict": context // _ANSWER_SHARE, "temperature": 0, "seed": 7}
        self._client: Any = None

    def complete(self, system: str, prompt: str, *, schema: dict[str, object] | None = None) -> str:
        """The model's answer. Raises `VendorAway` (down, slow, no model, no memory) or `AnswerRefused` (cut, empty)."""
        messages = [{"role": "system", "content": _sendable(system)}, {"role": "user", "content": _sendable(prompt)}]
        with _translated(self._url, self.model):
            if self._client is None:
                self._client = _client(self._url, self._timeout)
            stream = self._client.chat(
                model=self.model, messages=messages, format=schema, options=self._options, think=False, stream=True
            )
            text, reason = self._collect(stream)
        if reason == "length":
            raise AnswerRefused("the model's answer was cut at its length limit", where=self.model)
        if not text.strip():
            raise AnswerRefused("the model answered with nothing", where=self.model)
        return text

    def _collect(self, stream: Iterator[Any]) -> tuple[str, str]:
        """The whole answer and why it ended. A stream that trickles past the deadline, or just stops, is no answer."""
        deadline = time.monotonic() + self._timeout
        parts: list[str] = []
        for chunk in stream:
            parts.append(chunk.message.content or "")
            if chunk.done:
                return "".join(parts), str(chunk.done_reason or "")
            if time.monotonic() > deadline:
                raise VendorAway(f"Ollama did not finish in {self._timeout:g} s", where=self._url)
        raise VendorAway("Ollama stopped in the middle of an answer", where=self._url, fix="ollama serve")


def available(url: str, model: str, timeout: float = 2.0) -> str:
    """Say why the model cannot be asked: "" when the server answers and has it, else the reason in words."""
    try:
        with _translated(url, model):
            names = {str(entry.model) for entry in _client(url, timeout).list().models}
    except (VendorAway, AnswerRefused) as error:
        return error.what
    wanted = model if ":" in model else f"{model}:latest"
    return "" if wanted in names or model in names else f"Ollama has no model {model}: ollama pull {model}"


def _client(url: str, timeout: float) -> Any:
    from ollama import Client

    return Client(host=url, timeout=timeout, trust_env=False)


def _sendable(text: str) -> str:
    """Without lone surrogates, which no request can carry."""
    return text.encode("utf-8", "replace").decode("utf-8")


@contextmanager
def _translated(url: str, model: str) -> Iterator[None]:
    """Turn whatever the client raises (several unrelated families, see its source) into our two errors."""
    import httpx
    from ollama import RequestError, ResponseError

    try:
        yield
    except ResponseError as error:
        if error.status_code == _BAD_REQUEST:
            raise AnswerRefused(f"Ollama refused the request: {error.error}", where=url) from error
        fix = f"ollama pull {model}" if error.status_code == _NOT_FOUND else "ollama ps"
        raise VendorAway(f"Ollama refused: {error.error}", where=url, fix=fix) from error
    except httpx.TimeoutException as error:
        raise VendorAway("Ollama is too slow", where=url, fix="neuralstream config set model_timeout 10m") from error
    except (ConnectionError, httpx.HTTPError, httpx.InvalidURL, RequestError) as error:
        raise VendorAway(f"Ollama does not answer: {type(error).__name__}", where=url, fix="ollama serve") from error
    except ValueError as error:  # no JSON, no such fields, no address: all of them are ValueErrors
        raise VendorAway(f"this is not how Ollama answers: {type(error).__name__}", where=url) from error
