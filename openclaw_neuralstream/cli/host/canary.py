"""The canary: a marked sentence through the real hook into memory, and back into the prompt of a new session."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from openclaw_neuralstream.cli.host import plugin
from openclaw_neuralstream.cli.host.install import Steps
from openclaw_neuralstream.cli.host.plugin import Host
from openclaw_neuralstream.errors import HostError, NeuralStreamError
from openclaw_neuralstream.server import client
from openclaw_neuralstream.state import StateDir

PREFIX = "neuralstream-canary-"
"""What the bridge looks for in the model's input."""

SENTENCE = "Please remember: our NeuralStream canary bird is called {marker} and sings in the kitchen."
QUESTION = "What did I tell you our NeuralStream canary bird is called?"  # general knowledge would need no memory
_LETTERS = "bcdfghjkmnpqrstvwxz"
_POLL = 0.1
_CAPTURE_SECONDS = 20.0
_DISTIL_SECONDS = 240.0
_LATE_SECONDS = 5.0


class CanaryError(NeuralStreamError):
    """A step of the canary broke; `fix` is the command that mends it."""

    code = "canary"


@dataclass(slots=True)
class Canary:
    """One flight. local: None = through the gateway when one runs."""

    host: Host
    state: StateDir
    steps: Steps
    agent: str = "main"
    local: bool | None = None
    marker: str = field(default_factory=lambda: PREFIX + _random())
    flight: str = field(default_factory=lambda: f"neuralstream-check-{_random()}")  # not the marker: prompts show keys

    @property
    def keys(self) -> tuple[str, str]:
        """The host's sessions that it uses: one to tell, one to ask in."""
        return f"agent:{self.agent}:{self.flight}-told", f"agent:{self.agent}:{self.flight}-asked"

    def fly(self) -> None:
        """All steps; what was stored is forgotten again, also after a failure. Raises CanaryError or HostError."""
        told, asked = self.keys
        run = self.steps.run
        run("process", "The memory process answers", self._process, str, waits="the memory process to load")
        local = run("host", "OpenClaw answers", self._host, lambda alone: "in the command" if alone else "gateway")
        try:
            answer = "the agent's model to answer"
            say = lambda: self._turn(SENTENCE, told, local=local)  # noqa: E731
            run("write", "A marked sentence is said to the agent", say, waits=answer)
            run(
                "capture",
                "The hook has captured it",
                lambda: self._captured(told),
                str,
                waits="the plugin to tell of it",
            )
            run("distil", "It is distilled and stored", lambda: self._distilled(told), str, waits="the extractor")
            run("recall", "A question recalls it", self._recalled, str, waits="the memory process")
            self._ask("canary.arm", {"marker": self.marker, "agent": self.agent, "session_key": asked})
            ask = lambda: self._turn(QUESTION, asked, local=local)  # noqa: E731
            run("ask", "A new session of the agent is asked", ask, waits=answer)
            run("seen", "The model's prompt contains it", self._seen, waits="the plugin to tell of it")
        finally:
            run("forget", "All of it is forgotten again", lambda: self._forget(local=local), str)

    # --- steps ------------------------------------------------------------------------------------------------------

    def _process(self) -> str:
        now = self._ask("status")
        for name, means in (("capture", "new turns are not kept"), ("inject", "nothing is put into the prompt")):
            if not now["settings"][name]["value"]:
                raise CanaryError(f"the setting {name} is false: {means}", fix=f"neuralstream config set {name} true")
        return f"version {now['version']}, extractor {now['extractor']['name']}, embedder {now['embedder']['name']}"

    def _host(self) -> bool:
        return not plugin.runs(self.host) if self.local is None else self.local

    def _turn(self, text: str, key: str, *, local: bool) -> None:
        said = text.format(marker=self.marker)
        plugin.turn(self.host, said, agent=self.agent, session_key=key, local=local)

    def _captured(self, key: str) -> str:
        if not self._until(lambda: self._turns(key) > 0, _CAPTURE_SECONDS):
            raise self._broken("the turn ended, and the hook delivered nothing to this state directory")
        return str(self.state.path)

    def _distilled(self, key: str) -> str:
        self._ask("session_end", {"agent": self.agent, "session_key": key, "reason": "canary"})
        self._until(lambda: self._waiting(key) == 0 or "extractor" in self._ask("status")["failures"], _DISTIL_SECONDS)
        gems = [gem for gem in self._ask("gems.list", {"text": self.marker})["gems"] if gem["agent"] == self.agent]
        if gems:
            return str(gems[0]["content"])
        now = self._ask("status")
        if failure := now["failures"].get("extractor"):
            what = f"the turn waits, extraction fails: {failure['what']}"
            raise CanaryError(what, fix=failure["fix"] or "neuralstream doctor")
        if self._waiting(key):
            raise CanaryError("the extractor has not finished in time", fix="neuralstream admin logs --level warning")
        made_by = now["extractor"]["name"]
        fix = "neuralstream admin dead list" if made_by != "rules" else "neuralstream config list --changed"
        raise CanaryError(f"the extractor ({made_by}) made no gem of the sentence", fix=fix)

    def _recalled(self) -> str:
        found = self._ask("recall", {"query": QUESTION, "agent": self.agent})["records"]
        hit = next((record for record in found if self.marker in record["text"]), None)
        if hit is None:
            fix = f'neuralstream explain "{QUESTION}"'
            raise CanaryError("it is stored, and the question does not find it", fix=fix)
        return f"score {hit['score']:.2f}"

    def _seen(self) -> None:
        if self._until(lambda: bool(self._ask("canary.seen", {"marker": self.marker})["seen"]), _LATE_SECONDS):
            return
        late = self._ask("status")["counters"].get("recall.deadline", 0)
        if late:
            what = f"the prompt was built without it; {late} recalls have missed the deadline so far"
            raise CanaryError(what, fix="neuralstream config set recall_deadline_ms 1000")
        raise self._broken("the model's prompt did not contain it")

    def _forget(self, *, local: bool) -> str:
        told, asked = self.keys
        self._until(lambda: self._turns(asked) > 0 or self._turns(told) == 0, _LATE_SECONDS)
        if not local:
            with suppress(HostError):  # the host's own transcript; memory's part is what we answer for
                self.host.run("sessions", "delete", told, asked, "--yes", timeout=60)
        gone = [self._ask("sessions.forget", {"agent": self.agent, "session_key": key}) for key in self.keys]
        return f"{sum(g['gems'] for g in gone)} gems, {sum(g['turns'] for g in gone)} turns"

    # --- asking -----------------------------------------------------------------------------------------------------

    def _ask(self, method: str, params: dict[str, Any] | None = None) -> Any:
        door = client.connect(self.state)  # anew each time: the bridge's settings may have replaced the process
        try:
            return door.call(method, params)
        finally:
            door.close()

    def _turns(self, key: str) -> int:
        return int(self._ask("canary.captured", {"agent": self.agent, "session_key": key})["turns"])

    def _waiting(self, key: str) -> int:
        return int(self._ask("canary.captured", {"agent": self.agent, "session_key": key})["waiting"])

    def _broken(self, what: str) -> CanaryError:
        """What the host says about our hooks explains most of it."""
        problems = plugin.problems(plugin.inspect(self.host))
        if problems:
            return CanaryError(f"{what}: {problems[0].what}", fix=problems[0].fix)
        fix = "look for 'neuralstream' in `openclaw logs`; NEURALSTREAM_STATE_DIR must be the same for both"
        return CanaryError(what, where=str(self.state.path), fix=fix)

    @staticmethod
    def _until(true: Callable[[], bool], seconds: float) -> bool:
        pause, end = threading.Event(), time.monotonic() + seconds
        while not true():
            if time.monotonic() > end:
                return False
            pause.wait(_POLL)
        return True


def _random() -> str:
    return "".join(secrets.choice(_LETTERS) for _ in range(8))
