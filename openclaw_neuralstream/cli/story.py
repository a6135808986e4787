"""The demo's conversation, played to the real process as the bridge would play it."""

from __future__ import annotations

import json
import secrets
import string
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openclaw_neuralstream.errors import NotFound, ProcessAway
from openclaw_neuralstream.root import project_root
from openclaw_neuralstream.server.client import Door

FILE = Path("examples") / "demo.json"
_SECONDS = 60.0
_POLL = 0.02


@dataclass(frozen=True, slots=True)
class Story:
    """Turns of one conversation, and the questions of the next."""

    agent: str
    session_key: str
    turns: tuple[tuple[str, str], ...]
    questions: tuple[str, ...]
    secret: str


def load() -> Story:
    """The shipped story, with a secret made up on the spot. Raises NotFound when the installation is incomplete."""
    path = project_root() / FILE
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise NotFound("the demo's conversation is missing", where=str(path), fix="reinstall the package") from error
    secret = "ghp_" + "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(36))
    turns = tuple((turn["user"].replace("{token}", secret), turn["assistant"]) for turn in told["turns"])
    return Story(told["agent"], told["session_key"], turns, tuple(told["questions"]), secret)


class Stage:
    """Plays to one process and sees which gems appear."""

    def __init__(self, door: Door, story: Story) -> None:
        self._door = door
        self._story = story
        self._runs = 0
        self._shown: set[str] = set()
        self._pause = threading.Event()

    def turn(self, user: str, assistant: str) -> None:
        """One turn has ended."""
        self._runs += 1
        run = f"demo-{self._runs}"
        messages = [
            {"role": "user", "content": [{"type": "text", "text": user}], "idempotencyKey": f"{run}:user"},
            {"role": "assistant", "content": [{"type": "text", "text": assistant}], "stopReason": "stop"},
        ]
        usage = {"tokens": 2_000 * self._runs, "context_window": 128_000}
        self._door.call("turn_end", self._event(run_id=run, messages=messages, usage=usage, success=True))

    def end_session(self) -> None:
        """The user typed /new."""
        self._door.call("session_end", self._event(reason="new"))

    def ask(self, question: str) -> dict[str, Any]:
        """What would be put into the prompt of this question: {"text", "records", "tokens"}."""
        self._runs += 1
        event = self._event(run_id=f"demo-{self._runs}", prompt=question)
        answer: dict[str, Any] = self._door.call("prompt_build", event)
        return answer

    def new_gems(self) -> Iterator[dict[str, Any]]:
        """The gems that have appeared since the last look, oldest first."""
        gems = self._door.call("gems.list", {"limit": 1000})["gems"]
        for gem in reversed(gems):
            if gem["gem_id"] not in self._shown:
                self._shown.add(gem["gem_id"])
                yield gem

    def until_distilled(self, left: int = 0) -> None:
        """Wait until at most so many turns wait. Raises ProcessAway when that takes too long."""
        end = time.monotonic() + _SECONDS
        while self._waiting() > left:
            if time.monotonic() > end:
                raise ProcessAway("the turns are not distilled", fix="neuralstream doctor")
            self._pause.wait(_POLL)

    def _waiting(self) -> int:
        buffer = self._door.call("status")["buffer"]
        return int(buffer["waiting"]) + int(buffer["claimed"])

    def _event(self, **more: Any) -> dict[str, Any]:
        return {
            "agent": self._story.agent,
            "session_key": self._story.session_key,
            "session_id": "demo",
            "trigger": "user",
            "sender": {"id": "42", "owner": True},
            "channel": "telegram",
            **more,
        }


def holds(folder: Path, secret: str) -> bool:
    """True when a file under the folder holds these bytes."""
    wanted = secret.encode()
    return any(wanted in path.read_bytes() for path in folder.rglob("*") if path.is_file())
