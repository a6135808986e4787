"""One client on a socket: its requests in, answers out, and questions the other way."""

from __future__ import annotations

import itertools
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import nullcontext
from typing import Any

import structlog

from openclaw_neuralstream.errors import BadRequest, NeuralStreamError, VendorAway
from openclaw_neuralstream.foreground import FOREGROUND
from openclaw_neuralstream.serve.methods import INLINE, URGENT
from openclaw_neuralstream.serve.outbox import WRITE_SECONDS, Outbox
from openclaw_neuralstream.serve.protocol import MAX_LINE, MAX_UNGREETED, RemoteError, decode, encode, failure

log = structlog.get_logger(__name__)

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
