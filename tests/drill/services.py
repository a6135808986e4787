"""What a long run takes away and brings back: Redis, Qdrant, the model, the process, its file, its disk."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openclaw_neuralstream.errors import NeuralStreamError
from openclaw_neuralstream.server import client
from openclaw_neuralstream.state import StateDir
from tests.listening import Listening
from tests.ollama_server import Ollama, OllamaServer
from tests.qdrant_server import QdrantServer
from tests.valkey import ValkeyServer

_TURN = re.compile(r"\[turn (\d+)[^\]]*\]\n(.*?)(?=\n\[turn |\n</turns>)", re.DOTALL)
FACT = re.compile(r"In box \d+ of the archive .*? wrote it down\.")


class ReadingModel(OllamaServer):
    """A model that distils what the drill's facts say: one gem for each, from the turn in which it stands."""

    def next_answer(self) -> str:
        asked = self.requests[-1][1]
        self.requests.clear()
        prompt = asked["messages"][-1]["content"].rpartition("<turns>")[2]
        gems = [
            {"content": fact, "summary": fact, "kind": "fact", "speaker": "owner", "turns": [int(number)], "importance": 8,
             "importance_reason": "asked to keep it", "confidence": 9, "topics": [], "entities": []}
            for number, said in _TURN.findall(prompt)
            for fact in FACT.findall(said)
        ]  # fmt: skip
        return json.dumps({"gems": gems})


class Model:
    """A server that speaks Ollama's protocol, on one port over all its lives."""

    def __init__(self) -> None:
        self._listening = Listening(Ollama, ReadingModel())

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listening.port}"

    def start(self) -> Model:
        self._listening.start()
        return self

    def stop(self) -> None:
        self._listening.stop()


class QdrantProcess:
    """The stand-in Qdrant in a process of its own, for drills that fork: they may have no threads."""

    _MAIN = """
import sys
from tests.qdrant_server import QdrantServer
server = QdrantServer().start()
print(server.url, flush=True)
for line in sys.stdin:
    server.stop() if line == "stop\\n" else server.start()
    print("done", flush=True)
"""

    def __init__(self) -> None:
        self._process = subprocess.Popen([sys.executable, "-c", self._MAIN], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdin
        assert self._process.stdout
        self._orders, self._said = self._process.stdin, self._process.stdout
        self.url = self._said.readline().strip()

    def kill(self) -> None:
        """Take it away; its data stay."""
        self._order("stop")

    def start(self) -> None:
        self._order("start")

    def stop(self) -> None:
        """End the process."""
        self._orders.close()
        self._process.wait(30)
        self._said.close()

    def _order(self, word: str) -> None:
        self._orders.write(f"{word}\n")
        self._orders.flush()
        self._said.readline()


class Bridge:
    """Delivers turns as the bridge does: to the process, or into the spool when that does not take them."""

    def __init__(self, state: StateDir) -> None:
        self.state = state
        self.spooled = 0
        self._door: client.SocketDoor | None = None
        self._files = 0

    def pid(self) -> int:
        return int(self.door().hello["pid"])

    def door(self) -> client.SocketDoor:
        if self._door is None:
            self._door = client.connect(self.state)
        return self._door

    def tell(self, method: str, params: dict[str, Any]) -> bool:
        """True when the process took it. False: it lies in the spool."""
        try:
            self.door().call(method, params, timeout=20)
        except NeuralStreamError:
            self.forget()
            self._spool(method, params)
            return False
        return True

    def drain(self) -> None:
        """What the bridge does when it reaches the process again."""
        if any(self.state.spool.glob("*.jsonl*")):
            try:
                self.door().call("drain", timeout=120)
            except NeuralStreamError:
                self.forget()

    def forget(self) -> None:
        if self._door is not None:
            with suppress(OSError):
                self._door.close()
        self._door = None

    def _spool(self, method: str, params: dict[str, Any]) -> None:
        self.spooled += 1
        self._files += 1
        path = self.state.spool / f"{self._files:021d}-drill.jsonl"
        hidden = path.with_name(f".{path.name}.part")
        hidden.write_text(json.dumps({"method": method, "params": params}) + "\n", encoding="utf-8")
        hidden.rename(path)


@dataclass
class Outage:
    """Something that can be taken away. back: brings it back."""

    name: str
    off: Callable[[], None]
    back: Callable[[], None]


def outages(redis: ValkeyServer, qdrant: QdrantServer, model: Model, bridge: Bridge, *, kills: bool) -> list[Outage]:
    """Everything that the drill takes away; with `kills` also the process itself and its file."""
    disk, file = Disk(bridge), File(bridge)
    services = [
        Outage("redis", redis.kill, lambda: (redis.start(), None)[1]),
        Outage("qdrant", qdrant.stop, lambda: (qdrant.start(), None)[1]),
        Outage("model", model.stop, lambda: (model.start(), None)[1]),
        Outage("disk", disk.fill, disk.free),
    ]
    if kills:
        services += [Outage("process", lambda: kill(bridge), lambda: None), Outage("file", file.take, file.give_back)]
    return services


def kill(bridge: Bridge) -> None:
    """SIGKILL; the next turn finds nobody and starts another."""
    with suppress(ProcessLookupError, NeuralStreamError):
        os.kill(bridge.pid(), signal.SIGKILL)


class Disk:
    """Full for the process: no file of it may grow beyond a few bytes (what a full disk does to SQLite and to logs)."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge

    def fill(self) -> None:
        self._limit(4_096)

    def free(self) -> None:
        self._limit(resource.RLIM_INFINITY)

    def _limit(self, most: int) -> None:
        with suppress(ProcessLookupError, NeuralStreamError):
            resource.prlimit(self._bridge.pid(), resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))


class File:
    """The memory file, moved elsewhere while it is open, with the files that belong to it."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge
        self._here = bridge.state.database
        self._there = bridge.state.path / "elsewhere"

    def take(self) -> None:
        self._bridge.forget()
        self._bridge.pid()  # while it is open: where nobody has it open, the next process would begin a new memory
        self._there.mkdir(exist_ok=True)
        for path in self._files(self._here):
            path.rename(self._there / path.name)

    def give_back(self) -> None:
        for stray in self._files(self._here):
            stray.unlink()  # what a careless process would have made in its place
        for path in self._files(self._there / self._here.name):
            path.rename(self._here.with_name(path.name))

    @staticmethod
    def _files(database: Path) -> list[Path]:
        return [path for end in ("-wal", "-shm", "") if (path := database.with_name(database.name + end)).exists()]
