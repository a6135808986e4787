"""The process: its socket, its connections and their queues."""

from __future__ import annotations

import hmac
import itertools
import json
import os
import selectors
import signal
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import nullcontext, suppress
from typing import Any

import structlog
from filelock import FileLock, Timeout

from openclaw_neuralstream import foreground, logs, root, settings
from openclaw_neuralstream.errors import (
    BadRequest,
    NeuralStreamError,
    ProcessAway,
    SettingsError,
    StateBusy,
    StateDamaged,
    VendorAway,
)
from openclaw_neuralstream.foreground import FOREGROUND
from openclaw_neuralstream.memory import wiring
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.server import given, methods, protocol
from openclaw_neuralstream.server.capture_list import CaptureList
from openclaw_neuralstream.server.host_model import HostModel
from openclaw_neuralstream.server.methods import INLINE, URGENT
from openclaw_neuralstream.server.moments import HostForgotten
from openclaw_neuralstream.server.protocol import (
    MAX_LINE,
    MAX_UNGREETED,
    PROTOCOL,
    Endpoint,
    RemoteError,
    decode,
    encode,
    failure,
)
from openclaw_neuralstream.state import StateDir, host_config, write_private

WRITE_SECONDS = 30.0
"""A client that takes no byte for so long is given up: a host that is busy for a while is not."""

MOST_UNREAD = 1024 * 1024
"""Bytes that may wait for a client; while more do, no work is begun for it."""

_AT_ONCE = getattr(socket, "MSG_DONTWAIT", 0)
"""0 where the system has no such flag (Windows): there a send may wait, and only the thread that sends does it."""

_PIECE = 4096
"""Bytes of one send that may wait: a socket that is ready takes so many."""


class Outbox:
    """Writes to one socket and never makes its callers wait. May be used from any thread.

    What the socket does not take at once is sent by a thread that lives as long as something waits.
    """

    def __init__(
        self,
        client: socket.socket,
        changed: Callable[[], None],
        *,
        patience: float = WRITE_SECONDS,
        most: int = MOST_UNREAD,
    ) -> None:
        """changed: called, from the thread that sends, when the client has read enough again, or is given up."""
        self._client = client
        self._changed = changed
        self._patience = patience
        self._most = most
        self._waiting: deque[memoryview] = deque()
        self._bytes = 0
        self._sending = False
        self._empty = threading.Condition()
        self.gone = False

    @property
    def full(self) -> bool:
        """Whether more waits than may."""
        return self._bytes > self._most

    def put(self, line: bytes) -> bool:
        """Send it now or later; False when the client is gone."""
        with self._empty:
            if self.gone:
                return False
            left = memoryview(line)
            if not self._waiting and _AT_ONCE:
                left = left[self._sent(left) :]
            if not left or self.gone:
                return not self.gone
            self._waiting.append(left)
            self._bytes += len(left)
            begun, self._sending = self._sending, True
        if not begun:
            try:
                threading.Thread(target=self._send_all, name="neuralstream-writer", daemon=True).start()
            except RuntimeError:  # no thread to be had: this client connects again, the others are served
                log.warning("client.not_served")
                self._end()
        return not self.gone

    def settle(self, patience: float) -> None:
        """Wait until the client has been sent everything, `patience` seconds at most."""
        with self._empty:
            self._empty.wait_for(lambda: self.gone or not self._waiting, patience)

    def give_up(self) -> None:
        """The client is gone: nothing more is sent to it, nor read from it."""
        with self._empty:
            self.gone = True
            self._waiting.clear()
            self._bytes = 0
            self._empty.notify_all()
        try:
            self._client.shutdown(socket.SHUT_RDWR)
        except OSError:
            return  # the other side was faster

    def _end(self) -> None:
        self.give_up()
        self._changed()

    def _send_all(self) -> None:
        try:
            with selectors.DefaultSelector() as ready:
                ready.register(self._client, selectors.EVENT_WRITE)
                while first := self._first():
                    if not ready.select(self._patience) and not self.gone:
                        log.warning("client.does_not_read", waiting=self._bytes)
                        break
                    self._took(self._sent(first))
                else:
                    return
        except (OSError, ValueError):  # closed meanwhile
            log.debug("client.gone")
        self._end()

    def _first(self) -> memoryview | None:
        """What is sent next; None, and this thread ends, when nothing waits."""
        with self._empty:
            self._sending = bool(self._waiting) and not self.gone
            self._empty.notify_all()
            return (self._waiting[0] if _AT_ONCE else self._waiting[0][:_PIECE]) if self._sending else None

    def _took(self, sent: int) -> None:
        """Take from the front what the socket took. Nobody else does while the thread that sends lives."""
        with self._empty:
            was_full = self.full
            if self._waiting:  # not given up meanwhile
                self._bytes -= sent
                self._waiting[0] = self._waiting[0][sent:]
                if not self._waiting[0]:
                    self._waiting.popleft()
        if was_full and not self.full:
            self._changed()

    def _sent(self, data: memoryview) -> int:
        try:
            return self._client.send(data, _AT_ONCE)
        except BlockingIOError:
            return 0
        except OSError:
            self.gone = True
            return 0


_QUEUED = 1024
"""Requests of one client that may wait for a lane; more are refused."""

_BESIDE = 4
"""Requests of one client that are worked on at once in a lane: half of a pool, so that the others find a thread."""

Answer = Callable[["Connection", str, dict[str, Any]], Any]


class Internal(NeuralStreamError):
    """A fault of ours: no request may bring it about."""

    code = "internal"


class Busy(NeuralStreamError):
    """Too many requests of this client wait."""

    code = "busy"


class _Lane:
    """The requests of one client for one pool. Guarded by the connection's lock."""

    def __init__(self, pool: Executor) -> None:
        self.pool = pool
        self.waiting: deque[tuple[Any, str, Any]] = deque()
        self.working = 0


class Connection:
    """Reads lines until the client goes. Capture is answered in order; the rest runs in the pools, beside each other.

    What a reply waits for has a lane of its own, so that no slow request delays it. Beyond `_QUEUED` requests that wait in a
    lane a request is refused, and the client is read on: it may be answering one of ours. While it does not read its answers
    nothing is read from it; what waits for a client that is gone is dropped. So one that is stopped costs the others nothing.
    """

    def __init__(
        self,
        client: socket.socket,
        answer: Answer,
        pool: Executor,
        *,
        urgent: Executor | None = None,
        patience: float = WRITE_SECONDS,
    ) -> None:
        """urgent: the pool for what a reply waits for; without it, `pool`."""
        self.greeted = False
        self.gateway: int | None = None  # the process of the host whose settings it brought
        self._client = client
        self._answer = answer
        self._urgent, self._other = _Lane(urgent or pool), _Lane(pool)
        self._numbers = itertools.count(1)
        self._asked: dict[str, Future[Any]] = {}
        self._open = 0  # requests taken and not answered yet
        self._quiet = threading.Condition()
        self._outbox = Outbox(client, self._advance, patience=patience)

    def run(self) -> None:
        """Serve until the other side closes."""
        with self._client, self._client.makefile("rb") as lines:
            while self._has_room() and (line := self._read(lines)):
                self._take(line)
            self._outbox.give_up()
        self._advance()
        for future in list(self._asked.values()):
            future.cancel()

    def ask(self, method: str, params: dict[str, Any], timeout: float) -> Any:
        """Ask the client; raises VendorAway when it goes or is silent for `timeout` seconds."""
        number = f"s{next(self._numbers)}"
        future: Future[Any] = Future()
        self._asked[number] = future
        try:
            if not self._send({"id": number, "method": method, "params": params}):
                future.cancel()
            return future.result(timeout)
        except (CancelledError, FutureTimeoutError) as error:
            raise VendorAway("the host's model is silent", fix="neuralstream admin logs") from error
        except RemoteError as error:
            raise VendorAway(f"the host's model failed: {error.what}") from error
        finally:
            self._asked.pop(number, None)

    def close(self, patience: float = 2.0) -> None:
        """End it from this side, once what it asked is answered; after `patience` seconds in any case."""
        until = time.monotonic() + patience
        with self._quiet:
            self._quiet.wait_for(lambda: not self._open, patience)
        self._outbox.settle(max(0.0, until - time.monotonic()))
        self._outbox.give_up()
        self._advance()

    def _read(self, lines: Any) -> bytes:
        most = MAX_LINE if self.greeted else MAX_UNGREETED
        try:
            line: bytes = lines.readline(most)
        except OSError:
            return b""
        if line.endswith(b"\n"):
            return line
        if len(line) >= most:
            self._reply(
                None, error=BadRequest(f"a line has at most {most:,} bytes{'' if self.greeted else ' before hello'}")
            )
        return b""

    def _take(self, line: bytes) -> None:
        try:
            message = decode(line)
        except BadRequest as error:
            self._reply(None, error=error)
            return
        if "method" not in message:
            self._settle(message)
            return
        number, method, params = message.get("id"), message["method"], message.get("params", {})
        inline = method in INLINE or not self.greeted
        lane = self._urgent if method in URGENT else self._other
        with self._quiet:
            taken = inline or len(lane.waiting) < _QUEUED
            self._open += taken
            if taken and not inline:
                lane.waiting.append((number, method, params))
        if inline:
            self._serve(number, method, params)
        elif taken:
            self._advance()
        else:
            self._reply(number, error=Busy(f"{_QUEUED:,} requests wait", where=method, fix="ask again in a moment"))

    def _has_room(self) -> bool:
        """Wait until the client has read its answers; False when it is gone."""
        with self._quiet:
            self._quiet.wait_for(lambda: self._outbox.gone or not self._outbox.full)
            return not self._outbox.gone

    def _advance(self) -> None:
        """Give the pools what they may work on for this client now; drop it all when the client is gone."""
        with self._quiet:
            for lane in (self._urgent, self._other):
                if self._outbox.gone:
                    self._open -= len(lane.waiting)
                    lane.waiting.clear()
                while lane.waiting and lane.working < _BESIDE and not self._outbox.full:
                    try:
                        lane.pool.submit(self._work, lane, *lane.waiting.popleft())
                        lane.working += 1
                    except RuntimeError:  # the process ends
                        self._open -= 1
            self._quiet.notify_all()

    def _work(self, lane: _Lane, number: Any, method: str, params: Any) -> None:
        try:
            if self._outbox.gone:
                self._done()
            else:
                self._serve(number, method, params)
        finally:
            with self._quiet:
                lane.working -= 1
            self._advance()

    def _serve(self, number: Any, method: str, params: Any) -> None:
        try:
            with FOREGROUND.answering() if method in URGENT else nullcontext():
                self._reply(number, self._answer(self, method, params))
        except NeuralStreamError as error:
            log.info("request.refused", method=method, code=error.code)
            self._reply(number, error=error)
        except Exception as error:  # process border: one bad request never ends the process
            log.exception("request.failed", method=method)
            self._reply(number, error=Internal(f"{type(error).__name__} in {method}", fix="neuralstream admin logs"))
        finally:
            self._done()

    def _done(self) -> None:
        with self._quiet:
            self._open -= 1
            self._quiet.notify_all()

    def _reply(self, number: Any, result: Any = None, *, error: NeuralStreamError | None = None) -> None:
        body = {"error": failure(error)} if error else {"result": result}
        if not self._send({"id": number, **body}):
            log.debug("client.gone")

    def _send(self, message: dict[str, Any]) -> bool:
        return self._outbox.put(encode(message))

    def _settle(self, message: dict[str, Any]) -> None:
        future = self._asked.pop(str(message.get("id")), None)
        if future is None or not future.set_running_or_notify_cancel():
            return
        if "error" in message:
            future.set_exception(RemoteError(message["error"]))
        else:
            future.set_result(message.get("result"))


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
        server, where = protocol.listen(self._state, self._version)
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
            protocol.remove(self._state, where)
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


_WAIT_SECONDS = 25.0

Run = Callable[[StateDir, Callable[[protocol.Endpoint], None]], None]
"""Serves a state directory and says when it is ready."""


def start(state: StateDir, run: Run) -> int:
    """Fork, let the child serve, print its endpoint as one JSON line when it answers. Returns an exit code.

    When another process serves the state directory already, its endpoint is printed; when that one is about to end,
    the start is tried again. `run` imports the heavy parts itself, so that the starter stays light.
    """
    until = time.monotonic() + _WAIT_SECONDS
    message = _fork(state, run)
    while _busy(message) and time.monotonic() < until:
        where = _answering(state)
        if where:
            message = where.to_json()
        elif not _held(state):  # while it starts, or ends, a fork would cost it the processor and come to nothing
            message = _fork(state, run)
    print(json.dumps(message), flush=True)  # noqa: T201  this line is the protocol
    return 1 if "error" in message else 0


def _fork(state: StateDir, run: Run) -> dict[str, Any]:
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.close(reader)
        _child(state, run, writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as said:
        line = said.readline()
    died = {"error": failure(ProcessAway("the memory process died at its start", fix="neuralstream serve shows why"))}
    message: dict[str, Any] = json.loads(line) if line else died
    return message


def _child(state: StateDir, run: Run, writer: int) -> None:
    os.setsid()
    _let_go_of_terminal()

    said = False

    def say(message: dict[str, Any]) -> None:
        nonlocal said
        if not said:  # once: afterwards the pipe's number may belong to another file
            said = True
            os.write(writer, json.dumps(message).encode() + b"\n")
            os.close(writer)

    try:
        run(state, lambda where: say(where.to_json()))
    except NeuralStreamError as error:
        say({"error": failure(error)})
    except Exception as error:  # noqa: BLE001  process border: whatever it is, the starter can tell it
        say({"error": failure(ProcessAway(f"{type(error).__name__}: {error}", fix="neuralstream serve shows why"))})
    finally:
        os._exit(0)


def _let_go_of_terminal() -> None:
    sys.stdout.flush()
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)


def _busy(message: dict[str, Any]) -> bool:
    return bool(message.get("error", {}).get("code") == StateBusy.code)


def _held(state: StateDir) -> bool:
    """Whether a process has the state directory to itself just now."""
    try:
        with FileLock(state.lock, mode=0o600, timeout=0):
            return False
    except Timeout:
        return True


def _answering(state: StateDir) -> protocol.Endpoint | None:
    """Where the faster process answers; None when it still starts, or ends."""
    where = protocol.load(state)
    if where is None:
        time.sleep(0.05)
        return None
    try:
        protocol.connect(where, 0.5).close()
    except ProcessAway:
        time.sleep(0.05)
        return None
    return where
