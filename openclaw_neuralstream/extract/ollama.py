"""Chat models of an Ollama server."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

from openclaw_neuralstream.errors import AnswerRefused, VendorAway, VendorBusy, VendorSlow
from openclaw_neuralstream.extract.served import WAITS, AnswerCut, Window, answer_room, more_time, patiently, sendable
from openclaw_neuralstream.ollama_client import client, translated
from openclaw_neuralstream.ports import TokenCounter

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
                with translated(self._url, self.model):
                    shown = client(self._url, _LOOK_SECONDS).show(self.model).modelinfo or {}
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
        with translated(self._url, self.model):
            if self._client is None:
                self._client = client(self._url, self._timeout)
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
