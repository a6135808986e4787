"""One OpenClaw with a state, a workspace and a home of its own, driven as its owner drives it."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Self

from openclaw_host import node
from openclaw_host.model import NAME, PROVIDER, FakeModel
from openclaw_host.rpc import Rpc, RpcError
from openclaw_neuralstream.server import client
from openclaw_neuralstream.state import StateDir
from tests.waiting import until as _until

PLUGIN = "neuralstream"
TOKEN = "test-token"
START_SECONDS = 180

PATIENT = {"extractor": "rules", "embedder": "embedded", "recall_deadline_ms": 8000, "batch_size": 2}
"""Settings of the plugin in the tests: nothing but our own parts, and no deadline that a busy machine misses."""

until = partial(_until, step=0.1)
"""A look at the host is a call of it: not a hundred a second."""


def staged_plugin(folder: Path) -> Path:
    """The plugin as the host needs it and nothing else: the host copies the whole folder at each load."""
    for name in ("package.json", "openclaw.plugin.json"):
        shutil.copy2(node.PROJECT / name, folder / name)
    shutil.copytree(node.PROJECT / "bridge", folder / "bridge", dirs_exist_ok=True)
    return folder


class Host:
    """An isolated OpenClaw. Use as a context manager; `start` and `stop` run the gateway, `local` a one-shot."""

    def __init__(self, *, config: dict[str, Any] | None = None, env: dict[str, str] | None = None, agents: tuple[str, ...] = (), plugin: bool = True) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="nsh-"))
        self.state = self._made("state")
        self.workspace = self._made("workspace")
        self.model = FakeModel()
        self.port = _free_port()
        self.plugin = staged_plugin(self._made("plugin"))
        self.memory_dir = StateDir(self.state / PLUGIN)
        self.log = self.folder / "gateway.log"
        self.env = {
            **node.environment(),
            "HOME": str(self._made("home")),
            "TMPDIR": str(self._made("tmp")),
            "OPENCLAW_STATE_DIR": str(self.state),
            "OPENCLAW_CONFIG_PATH": str(self.state / "openclaw.json"),
            "NEURALSTREAM_PYTHON": sys.executable,
            "PYTHONPATH": str(node.PROJECT),
            "NO_COLOR": "1",
            **(env or {}),
        }
        self.env.pop("NEURALSTREAM_STATE_DIR", None)
        self.process: subprocess.Popen[bytes] | None = None
        self._rpc: Rpc | None = None
        self._door: client.SocketDoor | None = None
        self.configure(lambda _: _config(self, config or {}, agents, plugin=plugin))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop(signal.SIGKILL)
        self.end_memory()
        self.model.close()
        if not os.environ.get("KEEP_HOST"):
            shutil.rmtree(self.folder, ignore_errors=True)

    # --- the host's life ---

    def configure(self, change: Callable[[dict[str, Any]], dict[str, Any] | None]) -> None:
        """Change the host's configuration; a running gateway takes it up by itself."""
        path = self.state / "openclaw.json"
        config = json.loads(path.read_text()) if path.exists() else {}
        config = change(config) or config
        beside = path.with_suffix(".new")
        beside.write_text(json.dumps(config, indent=1))
        beside.replace(path)

    def start(self) -> float:
        """Run the gateway and wait until it answers. Returns the seconds that took."""
        began = time.monotonic()
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(self.command("gateway", "run"), env=self.env, cwd=self.folder, stdout=log, stderr=log, start_new_session=True)
        until(self._answers, START_SECONDS, lambda: f"the gateway does not answer:\n{self.log_text()[-3000:]}")
        return time.monotonic() - began

    def stop(self, how: signal.Signals = signal.SIGTERM, timeout: float = 60) -> float:
        """End the gateway and wait. Returns the seconds that took."""
        began = time.monotonic()
        self._hang_up()
        if self.process is not None:
            if self.process.poll() is None:
                self.process.send_signal(how)
            self.process.wait(timeout)
            self.process = None
        return time.monotonic() - began

    def run(self, *arguments: str, timeout: float = 180) -> subprocess.CompletedProcess[str]:
        """One `openclaw …` command to its end."""
        return subprocess.run(self.command(*arguments), env=self.env, cwd=self.folder, capture_output=True, text=True, timeout=timeout, check=False, stdin=subprocess.DEVNULL)

    def neuralstream(self, *arguments: str, timeout: float = 300) -> subprocess.CompletedProcess[str]:
        """One `neuralstream …` command to its end, as the owner of this host would type it."""
        openclaw = self.folder / "openclaw"
        openclaw.write_text(f'#!/bin/sh\nexec {shlex.join(self.command())} "$@"\n')
        openclaw.chmod(0o755)
        command = [sys.executable, "-m", "openclaw_neuralstream", *arguments]
        env = {**self.env, "OPENCLAW_BIN": str(openclaw)}
        return subprocess.run(command, env=env, cwd=self.folder, capture_output=True, text=True, timeout=timeout, check=False, stdin=subprocess.DEVNULL)

    def command(self, *arguments: str) -> list[str]:
        package = node.openclaw()
        assert package is not None
        return [str(node.node()), str(package / "openclaw.mjs"), *arguments]

    def log_text(self) -> str:
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    # --- talking to it ---

    def rpc(self, method: str, params: dict[str, Any] | None = None, timeout: float = 60) -> Any:
        """Ask as the owner; what the gateway calls retryable is asked again. Raises RpcError."""
        end = time.monotonic() + timeout
        while True:
            if self._rpc is None:
                self._rpc = Rpc(self.port, TOKEN)
            try:
                return self._rpc.call(method, params, timeout)
            except RpcError as error:
                if not error.retryable or time.monotonic() > end:
                    raise
                time.sleep(0.25)

    def send(self, session: str, message: str) -> str:
        """Send a message as the owner, without waiting. Returns the run's id."""
        run = f"run-{uuid.uuid4().hex[:12]}"
        self.rpc("chat.send", {"sessionKey": session, "message": message, "idempotencyKey": run})
        return run

    def wait(self, run: str, timeout: float = 90) -> dict[str, Any]:
        """Wait until a run has ended. Returns what the gateway says of it."""
        answer: dict[str, Any] = self.rpc("agent.wait", {"runId": run, "timeoutMs": int(timeout * 1000)}, timeout + 10)
        assert answer.get("status") in ("ok", "error"), answer
        return answer

    def turn(self, session: str, message: str) -> str:
        """One whole turn, until memory has taken it in. Returns the run's id."""
        before = self.turns()
        run = self.send(session, message)
        self.wait(run)
        until(lambda: self.turns() > before, 90, "memory has not taken the turn in")
        return run

    def say(self, session: str, message: str) -> str:
        """One whole turn of which memory takes no notice (or is away). Returns the run's id."""
        run = self.send(session, message)
        self.wait(run)
        return run

    def clear_window(self, session: str, command: str) -> None:
        """The owner types /new or /reset; wait until the host shows the cut."""
        self.send(session, command)
        until(lambda: '"kind": "reset"' in self.history(session), 90, lambda: self.history(session))

    def history(self, session: str) -> str:
        """What the conversation shows to its owner, as JSON."""
        return json.dumps(self.rpc("chat.history", {"sessionKey": session})["messages"], ensure_ascii=False)

    # --- its memory ---

    def memory(self, method: str, params: dict[str, Any] | None = None) -> Any:
        """Ask the memory process that the bridge has started (it is never started here)."""
        for attempt in (1, 2):
            if self._door is None:
                self._door = client.find(self.memory_dir, client="cli")
            if self._door is None:
                raise AssertionError("no memory process answers")
            try:
                return self._door.call(method, params or {}, timeout=30)
            except Exception:
                self._door.close()
                self._door = None
                if attempt == 2:
                    raise
        raise AssertionError

    def counters(self) -> dict[str, int]:
        try:
            return dict(self.memory("status")["counters"])
        except AssertionError:
            return {}

    def turns(self) -> int:
        """How many turns memory has accepted so far."""
        return self.counters().get("turns.new", 0)

    def gems(self, **params: Any) -> list[dict[str, Any]]:
        return list(self.memory("gems.list", {"limit": 1000, **params})["gems"])

    def memory_pid(self) -> int | None:
        try:
            return int(json.loads(self.memory_dir.endpoint.read_text())["pid"])
        except (OSError, ValueError, KeyError):
            return None

    def kill_memory(self) -> None:
        """As if the machine had run out of memory: no goodbye."""
        pid = self.memory_pid()
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        if self._door:
            self._door.close()
            self._door = None
        until(lambda: not _alive(pid), 90, "the memory process is still there")

    def end_memory(self) -> None:
        if self._door:
            self._door.close()
            self._door = None
        pid = self.memory_pid()
        if pid and _alive(pid):
            os.kill(pid, signal.SIGTERM)
            try:
                until(lambda: not _alive(pid), 15, "")
            except AssertionError:
                os.kill(pid, signal.SIGKILL)

    def _made(self, name: str) -> Path:
        path = self.folder / name
        path.mkdir(mode=0o700)
        return path

    def _answers(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, f"the gateway died:\n{self.log_text()[-3000:]}"
        try:
            self.rpc("health", timeout=1)
        except RpcError:
            self._hang_up()
            return False
        return True

    def _hang_up(self) -> None:
        if self._rpc:
            self._rpc.close()
            self._rpc = None


def _config(host: Host, plugin_config: dict[str, Any], agents: tuple[str, ...], *, plugin: bool) -> dict[str, Any]:
    cost = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
    model = {"id": NAME, "name": "Fake 1", "reasoning": False, "input": ["text"], "cost": cost, "contextWindow": 128_000, "maxTokens": 2048}
    provider = {"baseUrl": host.model.url, "apiKey": "fake-key", "api": "openai-completions", "models": [model]}
    who: dict[str, Any] = {"defaults": {"model": {"primary": f"{PROVIDER}/{NAME}"}, "workspace": str(host.workspace), "skipBootstrap": True}}
    if agents:
        who |= {"ownership": "explicit", "entries": {agent: {"workspace": str(host.workspace / agent)} for agent in ("main", *agents)}}
    entry = {"enabled": True, "hooks": {"allowConversationAccess": True}, "config": {**PATIENT, **plugin_config}}
    return {
        "models": {"mode": "replace", "providers": {PROVIDER: provider}},
        "agents": who,
        "gateway": {"mode": "local", "bind": "loopback", "port": host.port, "auth": {"mode": "token", "token": TOKEN}},
        "plugins": {"load": {"paths": [str(host.plugin)]}, "entries": {PLUGIN: entry}} if plugin else {},
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        pass
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return not Path("/proc").is_dir()
