"""The host's own model, asked through whichever bridge is connected."""

from __future__ import annotations

import threading
from typing import Any, Protocol

from openclaw_neuralstream.errors import AnswerRefused, VendorAway


class Asks(Protocol):
    """A connection that can be asked for something."""

    def ask(self, method: str, params: dict[str, Any], timeout: float) -> Any:
        """The result. Raises VendorAway when it goes away or is silent for `timeout` seconds."""


class HostModel:
    """A `Completion` over the connected bridges; the newest is asked. Raises VendorAway while there is none."""

    def __init__(self, timeout: float = 180.0) -> None:
        self.model = "host"
        self.timeout = timeout
        self._lock = threading.Lock()
        self._bridges: list[Asks] = []

    def add(self, bridge: Asks) -> None:
        """A bridge that answers completions has connected."""
        with self._lock:
            self._bridges.append(bridge)

    def remove(self, bridge: Asks) -> None:
        """It has gone; unknown ones are fine."""
        with self._lock:
            self._bridges = [known for known in self._bridges if known is not bridge]

    def complete(self, system: str, prompt: str, *, schema: dict[str, object] | None = None) -> str:
        """The model's answer."""
        with self._lock:
            bridge = self._bridges[-1] if self._bridges else None
        if bridge is None:
            raise VendorAway("the host's model is not connected", fix="start the OpenClaw gateway")
        params = {"system": system, "prompt": prompt, "schema": schema, "timeout_ms": int(1000 * self.timeout)}
        answer = bridge.ask("complete", params, self.timeout)
        text = answer.get("text") if isinstance(answer, dict) else None
        if not isinstance(text, str) or not text.strip():
            raise AnswerRefused("the host's model answered nothing")
        return text
