"""The owner's line to a gateway: JSON requests over one WebSocket (RFC 6455, text frames only, no extension)."""

from __future__ import annotations

import base64
import itertools
import json
import os
import socket
import struct
import threading
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

SCOPES = ["operator.admin", "operator.read", "operator.write", "operator.approvals"]
_TEXT, _CLOSE, _PING, _PONG = 1, 8, 9, 10


class RpcError(Exception):
    """The gateway refused a request, or the line is down. retryable: the gateway itself says to ask again."""

    def __init__(self, words: str, *, retryable: bool = False) -> None:
        self.retryable = retryable
        super().__init__(words)


class Rpc:
    """Connects as the owner (token, no device) and asks. Raises RpcError while the gateway is not ready."""

    def __init__(self, port: int, token: str, timeout: float = 10) -> None:
        self._numbers = itertools.count(1)
        self._waiting: dict[str, Future[dict[str, Any]]] = {}
        self._writing = threading.Lock()
        self._challenged = threading.Event()
        try:
            self._socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
            self._upgrade(port)
        except OSError as error:
            raise RpcError(f"no gateway on port {port}: {error}") from error
        self._socket.settimeout(None)
        threading.Thread(target=self._listen, name="gateway-rpc", daemon=True).start()
        if not self._challenged.wait(timeout):
            self.close()
            raise RpcError("the gateway sends no challenge")
        self.hello = self.call("connect", _connect(token), timeout=timeout)

    def call(self, method: str, params: dict[str, Any] | None = None, timeout: float = 60) -> Any:
        """The payload of the answer. Raises RpcError."""
        number = str(next(self._numbers))
        future: Future[dict[str, Any]] = Future()
        self._waiting[number] = future
        self._send(_TEXT, json.dumps({"type": "req", "id": number, "method": method, "params": params or {}}).encode())
        try:
            answer = future.result(timeout)
        except TimeoutError as error:
            raise RpcError(f"{method}: no answer within {timeout:g} s") from error
        if not answer.get("ok"):
            refusal = answer.get("error") or {}
            raise RpcError(f"{method}: {json.dumps(refusal)}", retryable=bool(refusal.get("retryable")))
        return answer.get("payload")

    def close(self) -> None:
        with suppress(OSError):  # the gateway was faster
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _upgrade(self, port: int) -> None:
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [
            "GET / HTTP/1.1",
            f"Host: 127.0.0.1:{port}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            f"Sec-WebSocket-Key: {key}",
            "Sec-WebSocket-Version: 13",
        ]
        self._socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        self._stream = self._socket.makefile("rb")
        status = self._stream.readline()
        while self._stream.readline() not in (b"\r\n", b""):
            pass
        if b" 101 " not in status:
            raise OSError(status.decode(errors="replace").strip() or "hung up")

    def _listen(self) -> None:
        try:
            while (message := self._frame()) is not None:
                self._heard(json.loads(message))
        except (OSError, ValueError, struct.error):
            pass  # closed: whoever waits is told below
        for future in list(self._waiting.values()):
            if not future.done():
                future.set_exception(RpcError("the gateway hung up"))

    def _heard(self, message: dict[str, Any]) -> None:
        if message.get("event") == "connect.challenge":
            self._challenged.set()
        elif message.get("type") == "res" and (future := self._waiting.pop(str(message["id"]), None)):
            future.set_result(message)

    def _frame(self) -> bytes | None:
        """The next text message; None when the line is closed."""
        parts: list[bytes] = []
        while True:
            head = self._stream.read(2)
            if len(head) < 2:
                return None
            size = head[1] & 0x7F
            if size == 126:
                size = struct.unpack(">H", self._stream.read(2))[0]
            elif size == 127:
                size = struct.unpack(">Q", self._stream.read(8))[0]
            data, kind = self._stream.read(size), head[0] & 0x0F
            if kind == _CLOSE:
                return None
            if kind == _PING:
                self._send(_PONG, data)
            elif kind in (0, _TEXT):
                parts.append(data)
                if head[0] & 0x80:
                    return b"".join(parts)

    def _send(self, kind: int, data: bytes) -> None:
        mask = os.urandom(4)
        size = len(data)
        length = bytes([0x80 | size]) if size < 126 else struct.pack(">BH", 0xFE, size) if size < 65_536 else struct.pack(">BQ", 0xFF, size)
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(data))
        try:
            with self._writing:
                self._socket.sendall(bytes([0x80 | kind]) + length + mask + masked)
        except OSError as error:
            raise RpcError(f"the gateway hung up: {error}") from error


def _connect(token: str) -> dict[str, Any]:
    client = {"id": "gateway-client", "version": "0.1.0", "platform": "linux", "mode": "backend"}
    return {
        "minProtocol": 4,
        "maxProtocol": 4,
        "client": client,
        "role": "operator",
        "scopes": SCOPES,
        "caps": [],
        "commands": [],
        "permissions": {},
        "auth": {"token": token},
        "locale": "en-US",
        "userAgent": "neuralstream-tests",
    }
