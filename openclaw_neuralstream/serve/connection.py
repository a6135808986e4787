"""One client on a socket: its requests in, answers out, and questions the other way."""

from __future__ import annotations

import itertools
import socket
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import nullcontext
from typing import Any

import structlog

from openclaw_neuralstream.errors import BadRequest, NeuralStreamError, VendorAway
from openclaw_neuralstream.foreground import FOREGROUND
from openclaw_neuralstream.serve.methods import INLINE, URGENT
from openclaw_neuralstream.serve.protocol import MAX_LINE, RemoteError, decode, encode, failure

log = structlog.get_logger(__name__)

Answer = Callable[["Connection", str, dict[str, Any]], Any]


class Connection:
    """Reads lines until the client goes. Capture is answered in order; the rest runs in the pool, beside each other."""

    def __init__(self, client: socket.socket, answer: Answer, pool: Executor) -> None:
        self.greeted = False
        self.gateway: int | None = None  # the process of the host whose settings it brought
        self._client = client
        self._answer = answer
        self._pool = pool
        self._writing = threading.Lock()
        self._numbers = itertools.count(1)
        self._asked: dict[str, Future[Any]] = {}
        self._open = 0  # requests taken and not answered yet
        self._quiet = threading.Condition()

    def run(self) -> None:
        """Serve until the other side closes."""
        with self._client, self._client.makefile("rb") as lines:
            while line := self._read(lines):
                self._take(line)
        for future in list(self._asked.values()):
            future.cancel()

    def ask(self, method: str, params: dict[str, Any], timeout: float) -> Any:
        """Ask the client; raises VendorAway when it goes or is silent for `timeout` seconds."""
        number = f"s{next(self._numbers)}"
        future: Future[Any] = Future()
        self._asked[number] = future
        try:
            self._send({"id": number, "method": method, "params": params})
            return future.result(timeout)
        except (OSError, FutureTimeoutError) as error:
            raise VendorAway("the host's model is silent", fix="neuralstream logs") from error
        except RemoteError as error:
            raise VendorAway(f"the host's model failed: {error.what}") from error
        finally:
            self._asked.pop(number, None)

    def close(self, patience: float = 2.0) -> None:
        """End it from this side, once what it asked is answered; after `patience` seconds in any case."""
        with self._quiet:
            self._quiet.wait_for(lambda: not self._open, patience)
        try:
            self._client.shutdown(socket.SHUT_RDWR)
        except OSError:
            return  # the other side was faster

    @staticmethod
    def _read(lines: Any) -> bytes:
        try:
            line: bytes = lines.readline(MAX_LINE)
        except OSError:
            return b""
        return line if line.endswith(b"\n") else b""

    def _take(self, line: bytes) -> None:
        try:
            message = decode(line)
        except BadRequest as error:
            self._reply(None, error=error)
            return
        if "method" not in message:
            self._settle(message)
            return
        method, params = str(message["method"]), message.get("params") or {}
        with self._quiet:
            self._open += 1
        if method in INLINE or not self.greeted:
            self._serve(message.get("id"), method, params)
        else:
            self._pool.submit(self._serve, message.get("id"), method, params)

    def _serve(self, number: Any, method: str, params: Any) -> None:
        try:
            with FOREGROUND.answering() if method in URGENT else nullcontext():
                self._reply(number, self._answer(self, method, params))
        except NeuralStreamError as error:
            log.info("request.refused", method=method, code=error.code)
            self._reply(number, error=error)
        except Exception as error:  # process border: one bad request never ends the process
            log.exception("request.failed", method=method)
            self._reply(number, error=NeuralStreamError(f"{type(error).__name__} in {method}", fix="neuralstream logs"))
        finally:
            with self._quiet:
                self._open -= 1
                self._quiet.notify_all()

    def _reply(self, number: Any, result: Any = None, *, error: NeuralStreamError | None = None) -> None:
        body = {"error": failure(error)} if error else {"result": result}
        try:
            self._send({"id": number, **body})
        except OSError:
            log.debug("client.gone")

    def _send(self, message: dict[str, Any]) -> None:
        line = encode(message)
        with self._writing:
            self._client.sendall(line)

    def _settle(self, message: dict[str, Any]) -> None:
        future = self._asked.get(str(message.get("id")))
        if future is None or future.done():
            return
        if "error" in message:
            future.set_exception(RemoteError(dict(message["error"] or {})))
        else:
            future.set_result(message.get("result"))
