"""The process `neuralstream serve`: one per state directory, found by its lock, ended when idle or replaced."""

from __future__ import annotations

import hmac
import json
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import structlog
from filelock import FileLock, Timeout

from openclaw_neuralstream import foreground, logs, root, settings, wiring
from openclaw_neuralstream.engine import Memory
from openclaw_neuralstream.errors import BadRequest, NeuralStreamError, SettingsError, StateBusy, StateDamaged
from openclaw_neuralstream.serve import endpoint, given, methods
from openclaw_neuralstream.serve.capture_list import CaptureList
from openclaw_neuralstream.serve.connection import Connection
from openclaw_neuralstream.serve.endpoint import Endpoint
from openclaw_neuralstream.serve.host_forgotten import HostForgotten
from openclaw_neuralstream.serve.host_model import HostModel
from openclaw_neuralstream.serve.protocol import PROTOCOL
from openclaw_neuralstream.state import StateDir, host_config, write_private

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]

log = structlog.get_logger(__name__)

HOST_CONFIG = "NEURALSTREAM_HOST_CONFIG"
"""Environment: the plugin's settings as JSON, from the bridge that starts the process."""

_THREADS = 8
_DIGITS = 9  # of one part of a version
_POLL = 0.5  # seconds between looks at idleness
_GOODBYE = 2.0  # seconds at the end in which clients get the answers that they wait for
_FILES = 16_384  # open files that are asked of the system: each client is one, and macOS gives 256


class VersionRetired(NeuralStreamError):
    """This process is older than its client, or has other settings, and ends: start your own and connect again."""

    code = "version"


class Server:
    """Owns a memory and answers its clients until it is idle, replaced or told to stop."""

    def __init__(self, state: StateDir, memory: Memory, host_model: HostModel) -> None:
        self._state = state
        self._memory = memory
        self._host_model = host_model
        self._version = str(root.manifest()["plugin"]["version"])
        self._stopping = threading.Event()
        self._connections: set[Connection] = set()
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="neuralstream-request")
        self._urgent = ThreadPoolExecutor(_THREADS, thread_name_prefix="neuralstream-reply")
        self._last_busy = time.monotonic()
        self._capture_list = CaptureList(memory) if memory.settings.capture_list else None
        self._host_forgotten = HostForgotten(memory)
        memory.employ(self._host_forgotten.worker())
        if self._capture_list:
            memory.employ(self._capture_list.worker())

    def run(self, ready: Callable[[Endpoint], None] = lambda _: None) -> None:
        """Listen, tell where, and serve until it is time to end."""
        server, where = endpoint.listen(self._state, self._version)
        threading.Thread(target=self._accept, args=(server, where), name="neuralstream-accept", daemon=True).start()
        self._memory.start()
        self._pool.submit(self._drain)
        log.info("serve.ready", pid=where.pid, version=self._version)
        ready(where)
        try:
            warming = True
            while not self._stopping.wait(_POLL) and not self._memory.damaged:
                self._end_when_idle()
                if warming and not self._memory.warming:
                    warming = False
                    foreground.settled()
        finally:
            endpoint.remove(self._state, where)
            server.close()
            self._end()

    def stop(self) -> None:
        """End soon, cleanly; may be called from a signal handler."""
        self._stopping.set()

    # --- clients ----------------------------------------------------------------------------------------------------

    def _accept(self, server: socket.socket, where: Endpoint) -> None:
        while not self._stopping.is_set():
            try:
                client, _ = server.accept()
            except OSError as error:
                if server.fileno() < 0:
                    return
                log.warning("client.not_accepted", error=os.strerror(error.errno or 0))
                self._stopping.wait(_POLL)  # no file is free for it now: it waits in the queue of the socket
                continue
            client.settimeout(None)
            connection = Connection(
                client,
                lambda c, method, params: self._answer(c, method, params, where),
                self._pool,
                urgent=self._urgent,
            )
            with self._lock:
                self._connections.add(connection)
            try:
                threading.Thread(
                    target=self._serve, args=(connection,), name="neuralstream-client", daemon=True
                ).start()
            except RuntimeError:  # no thread to be had: this one tries again, the others are served
                log.warning("client.not_served")
                with self._lock:
                    self._connections.discard(connection)
                client.close()

    def _serve(self, connection: Connection) -> None:
        try:
            connection.run()
        finally:
            self._host_model.remove(connection)
            with self._lock:
                self._connections.discard(connection)
                self._last_busy = time.monotonic()

    def _answer(self, connection: Connection, method: str, params: Any, where: Endpoint) -> Any:
        if method == "hello":
            return self._hello(connection, params, where)
        if not connection.greeted:
            raise BadRequest("say hello first", where=method)
        if method == "shutdown":
            self.stop()
            return {"pid": where.pid}
        try:
            return methods.call(self._memory, method, params)
        except StateDamaged:
            self.stop()  # the next start moves the damaged file aside and keeps what reads
            raise

    def _hello(self, connection: Connection, params: Any, where: Endpoint) -> dict[str, Any]:
        if params.get("protocol") != PROTOCOL:
            raise BadRequest(
                f"this process speaks protocol {PROTOCOL}", fix="update the plugin and the package together"
            )
        if not hmac.compare_digest(given.text(params, "token", "").encode(), where.token.encode()):
            raise BadRequest("wrong token", where=str(self._state.endpoint))
        capabilities = given.texts(params, "capabilities", [])
        if _newer(given.text(params, "version", ""), self._version):
            self.stop()
            raise VersionRetired(f"version {self._version} retires for {params['version']}")
        problems = self._take_host_config(params.get("host_config"), params.get("pid"))
        self._host_forgotten.told(given.text(params, "host_state", ""))
        for agent, folder in _workspaces(params):
            self._memory.parts.workspaces.seen(agent, folder)
        connection.greeted = True
        connection.gateway = params.get("pid") if isinstance(params.get("host_config"), dict) else None
        if "complete" in capabilities:
            self._host_model.add(connection)
        return {
            "version": self._version,
            "protocol": PROTOCOL,
            "pid": where.pid,
            "state_dir": str(self._state.path),
            "problems": problems,
            "recall_deadline_ms": self._memory.settings.recall_deadline_ms,
        }

    def _take_host_config(self, config: Any, gateway: Any) -> list[str]:
        """Changed settings of the host need a new process; refused ones leave the present settings in force.

        So do those of a second gateway: two with different settings would end each other's process for ever.
        """
        if not isinstance(config, dict) or config == host_config(self._state):
            return []
        with self._lock:
            others = [known.gateway for known in self._connections if known.gateway not in (None, gateway)]
        if others:
            return [f"another gateway (process {others[0]}) uses this memory with other settings, which stay in force"]
        try:
            settings.load(self._state.path, host=config)
        except SettingsError as error:
            log.warning("settings.refused", problems=len(error.problems))
            return error.problems
        write_private(self._state.host_config, json.dumps(config, indent=1) + "\n")
        self.stop()
        raise VersionRetired("the host's settings have changed")

    # --- life -------------------------------------------------------------------------------------------------------

    def _drain(self) -> None:
        try:
            methods.drain(self._memory, {})
        except (NeuralStreamError, OSError) as error:
            log.warning("spool.waits", error=type(error).__name__)

    def _end_when_idle(self) -> None:
        with self._lock:
            clients = bool(self._connections)
        now = time.monotonic()
        if clients:
            self._last_busy = now
        elif now - self._last_busy > self._memory.settings.idle_exit:
            if self._memory.busy:
                self._last_busy = now
            else:
                log.info("serve.idle")
                self.stop()

    def _end(self) -> None:
        with self._lock:
            connections = list(self._connections)
        until = time.monotonic() + _GOODBYE
        for connection in connections:
            connection.close(max(0.0, until - time.monotonic()))
        self._urgent.shutdown(wait=False, cancel_futures=True)
        self._pool.shutdown(wait=False, cancel_futures=True)  # a flush that waits for a model must not hold the lock
        self._memory.close()
        if self._capture_list:
            self._capture_list.close()
        log.info("serve.ended")


def serve(state: StateDir, ready: Callable[[Endpoint], None] = lambda _: None) -> None:
    """Own the state directory and serve it. Raises StateBusy when another process does, SettingsError, StateError."""
    foreground.prefer_answers()
    _allow_files()
    state.prepare()
    brought = os.environ.pop(HOST_CONFIG, "")
    lock = FileLock(state.lock, mode=0o600)
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise StateBusy("another process serves this state directory", where=str(state.path)) from error
    with lock:
        _adopt(state, brought)
        loaded = wiring.load_settings(state)
        knobs = loaded.settings
        logs.configure(knobs.log_level, state.logs, stderr=False)
        for told in loaded.warnings:
            log.warning("settings.retired", told=told)
        host_model = HostModel(knobs.model_timeout)
        memory = wiring.open_memory(state, host_completion=host_model, start=False)
        memory.hurried = True
        server = Server(state, memory, host_model)
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, lambda *_: server.stop())
        server.run(ready)


def _allow_files() -> None:
    """Raise the limit of open files as far as may be."""
    if resource is None:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):  # the system allows less
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _workspaces(params: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Agent and folder, as the bridge's hello names them; whatever else stands there is left out."""
    named = params.get("workspaces")
    pairs = named.items() if isinstance(named, dict) else ()
    return [(agent, folder) for agent, folder in pairs if isinstance(agent, str) and isinstance(folder, str)]


def _adopt(state: StateDir, brought: str) -> None:
    """Take over the settings we were started with: the bridge's hello then finds them in force, or has them refused."""
    try:
        config = json.loads(brought or "null")
        if isinstance(config, dict) and config != host_config(state):
            settings.load(state.path, host=config)
            write_private(state.host_config, json.dumps(config, indent=1) + "\n")
    except (ValueError, SettingsError):
        log.warning("settings.refused", source="start")


def _newer(theirs: str, ours: str) -> bool:
    return _numbers(theirs) > _numbers(ours)


def _numbers(version: str) -> tuple[int, ...]:
    parts = version.split("+", maxsplit=1)[0].split(".")
    return tuple(int(part) for part in parts if part.isdecimal() and len(part) <= _DIGITS)
