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

_QUEUED = 256
"""Requests of one client that may wait for the pool."""

_BESIDE = 4
"""Requests of one client that are worked on at once: half of the pool, so that the others find a thread."""

Answer = Callable[["Connection", str, dict[str, Any]], Any]


class Internal(NeuralStreamError):
    """A fault of ours: no request may bring it about."""

    code = "internal"


class Connection:
    """Reads lines until the client goes. Capture is answered in order; the rest runs in the pool, beside each other.

    What a client sends beyond `_QUEUED` requests, or while it does not read its answers, is not read before there is room
    again; what waits for a client that is gone is dropped. So a client that is stopped costs the others nothing.
    """

    def __init__(
        self, client: socket.socket, answer: Answer, pool: Executor, *, patience: float = WRITE_SECONDS
    ) -> None:
        self.greeted = False
        self.gateway: int | None = None  # the process of the host whose settings it brought
        self._client = client
        self._answer = answer
        self._pool = pool
        self._numbers = itertools.count(1)
        self._asked: dict[str, Future[Any]] = {}
        self._waiting: deque[tuple[Any, str, Any]] = deque()  # requests for the pool
        self._working = 0  # of them in the pool
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
            raise VendorAway("the host's model is silent", fix="neuralstream logs") from error
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
        with self._quiet:
            self._open += 1
        if method in INLINE or not self.greeted:
            self._serve(number, method, params)
        else:
            with self._quiet:
                self._waiting.append((number, method, params))
            self._advance()

    def _has_room(self) -> bool:
        """Wait until another request may be taken; False when the client is gone."""
        with self._quiet:
            self._quiet.wait_for(lambda: self._outbox.gone or not (self._outbox.full or len(self._waiting) >= _QUEUED))
            return not self._outbox.gone

    def _advance(self) -> None:
        """Give the pool what it may work on for this client now; drop it all when the client is gone."""
        with self._quiet:
            if self._outbox.gone:
                self._open -= len(self._waiting)
                self._waiting.clear()
            while self._waiting and self._working < _BESIDE and not self._outbox.full:
                try:
                    self._pool.submit(self._work, *self._waiting.popleft())
                    self._working += 1
                except RuntimeError:  # the process ends
                    self._open -= 1
            self._quiet.notify_all()

    def _work(self, number: Any, method: str, params: Any) -> None:
        try:
            if self._outbox.gone:
                self._done()
            else:
                self._serve(number, method, params)
        finally:
            with self._quiet:
                self._working -= 1
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
            self._reply(number, error=Internal(f"{type(error).__name__} in {method}", fix="neuralstream logs"))
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
