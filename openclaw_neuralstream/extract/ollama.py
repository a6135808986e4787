"""Chat models of an Ollama server, through the `ollama` package; its exceptions stop here."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from openclaw_neuralstream.errors import AnswerRefused, VendorAway, VendorBusy, VendorSlow
from openclaw_neuralstream.extract.served import WAITS, AnswerCut, Window, answer_room, more_time, patiently, sendable
from openclaw_neuralstream.ports import TokenCounter

_BAD_REQUEST = 400
_NOT_FOUND = 404
_BUSY = frozenset({429, 502, 503, 504})
_LOOK_SECONDS = 5.0


class OllamaCompletion:
    """A chat model that answers with text. Nothing is asked, and no client made, before the first prompt.

    context: tokens that `num_ctx` may grow to. keep_alive: seconds the model stays loaded, -1 = for good.
    timeout: seconds one whole answer may take. used: tokens of the last answer, its prompt included; 0 = unknown.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        counter: TokenCounter,
        context: int,
        timeout: float,
        keep_alive: float = 600.0,
        waits: Sequence[float] = WAITS,
    ) -> None:
        self.model = model
        self.used = 0
        self._url = url
        self._counter = counter
        self._window = Window(context)
        self._known_window = 0
        self._timeout = timeout
        self._keep_alive = keep_alive
        self._waits = waits
        self._client: Any = None

    def window(self) -> int:
        """Tokens of context that may be asked for: what the settings say, never more than the model has."""
        if not self._known_window:
            try:
                with _translated(self._url, self.model):
                    shown = _client(self._url, _LOOK_SECONDS).show(self.model).modelinfo or {}
            except (VendorAway, AnswerRefused):
                return self._window.most
            sizes = [int(size) for name, size in shown.items() if name.endswith(".context_length")]
            self._known_window = min([self._window.most, *sizes])
            self._window.most = self._known_window
        return self._window.most

    def complete(self, system: str, prompt: str, *, schema: dict[str, object] | None = None) -> str:
        """The model's answer. Raises `VendorAway` (down, slow, no model, no memory) or `AnswerRefused` (cut, empty)."""
        system, prompt = sendable(system), sendable(prompt)
        context = self._window.holding(sum(self._counter.count_all((system, prompt))))
        options = {"num_ctx": context, "num_predict": answer_room(context), "temperature": 0, "seed": 7}
        messages = [{"role": "system", "content": system}, {"role": "user", "content": prompt}]
        request = {"messages": messages, "format": schema, "options": options, "keep_alive": self._keep_alive}
        text, reason = patiently(lambda: self._ask(request), waits=self._waits, timeout=self._timeout)
        if reason == "length":
            raise AnswerCut(text, where=self.model)
        if not text.strip():
            raise AnswerRefused("the model answered with nothing", where=self.model)
        return text

    def _ask(self, request: dict[str, Any]) -> tuple[str, str]:
        self.used = 0
        with _translated(self._url, self.model):
            if self._client is None:
                self._client = _client(self._url, self._timeout)
            return self._collect(self._client.chat(model=self.model, think=False, stream=True, **request))

    def _collect(self, stream: Iterator[Any]) -> tuple[str, str]:
        """The whole answer and why it ended. A stream that trickles past the deadline, or just stops, is no answer."""
        deadline = time.monotonic() + self._timeout
        parts: list[str] = []
        for chunk in stream:
            parts.append(chunk.message.content or "")
            if chunk.done:
                self.used = (chunk.prompt_eval_count or 0) + (chunk.eval_count or 0)
                return "".join(parts), str(chunk.done_reason or "")
            if time.monotonic() > deadline:
                raise VendorSlow(
                    f"Ollama did not finish in {self._timeout:g} s", where=self._url, fix=more_time(self._timeout)
                )
        raise VendorBusy("Ollama stopped in the middle of an answer", where=self._url, fix="ollama serve")


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


@contextmanager
def _translated(url: str, model: str) -> Iterator[None]:
    """Turn whatever the client raises (several unrelated families, see its source) into our errors."""
    import httpx
    from ollama import RequestError, ResponseError

    try:
        yield
    except ResponseError as error:
        raise _refused(error, url, model) from error
    except httpx.ConnectTimeout as error:
        raise VendorAway("Ollama does not answer: ConnectTimeout", where=url, fix="ollama serve") from error
    except httpx.TimeoutException as error:
        raise VendorSlow("Ollama is too slow", where=url, fix="neuralstream config set model_timeout 10m") from error
    except (httpx.RemoteProtocolError, httpx.ReadError) as error:
        raise VendorBusy(f"Ollama does not answer: {type(error).__name__}", where=url, fix="ollama serve") from error
    except (ConnectionError, httpx.HTTPError, httpx.InvalidURL, RequestError) as error:
        raise VendorAway(f"Ollama does not answer: {type(error).__name__}", where=url, fix="ollama serve") from error
    except ValueError as error:  # no JSON, no such fields, no address: all of them are ValueErrors
        raise VendorAway(f"this is not how Ollama answers: {type(error).__name__}", where=url) from error


def _refused(error: Any, url: str, model: str) -> VendorAway | AnswerRefused:
    if error.status_code == _BAD_REQUEST:
        return AnswerRefused(f"Ollama refused the request: {error.error}", where=url)
    if error.status_code in _BUSY:
        return VendorBusy(f"Ollama refused: {error.error}", where=url, fix="ollama ps")
    if error.status_code == _NOT_FOUND:
        return VendorAway(f"Ollama refused: {error.error}", where=url, fix=f"ollama pull {model}")
    if "memory" in str(error.error):
        fix = "neuralstream config set gem_context 8192, or set gem_model to a smaller model"
        return VendorAway(f"Ollama refused: {error.error}", where=url, fix=fix)
    return VendorAway(f"Ollama refused: {error.error}", where=url, fix="ollama ps")
