"""An HTTP server of a test's own: on one port over all its lives, and a handler that answers JSON and streams."""

from __future__ import annotations

import json
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Answering(BaseHTTPRequestHandler):
    """One request; `state` is what the server was given: what it answers, and `released`, set where a client hangs up."""

    state: Any
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        """Quiet."""

    def do_GET(self) -> None:
        self.got()

    def do_POST(self) -> None:
        self.posted(self.body())

    def got(self) -> None:
        """A GET."""

    def posted(self, body: dict[str, Any]) -> None:
        """A POST of this."""

    def body(self) -> dict[str, Any]:
        """The JSON that was sent; {} where there is none."""
        sent: dict[str, Any] = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        return sent

    def answer(self, value: Any, status: int = 200) -> None:
        """With JSON."""
        self.answer_raw(json.dumps(value).encode(), status, "application/json")

    def answer_raw(self, data: bytes, status: int, kind: str) -> None:
        """With these bytes, of this content type."""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def begin_stream(self, kind: str) -> None:
        """Pieces follow."""
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def stream(self, data: bytes) -> None:
        """One piece."""
        try:
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            self.wfile.flush()
        except OSError:  # the client hung up, which is what some tests want
            self.state.released.set()

    def end_stream(self) -> None:
        """No more pieces."""
        self.wfile.write(b"0\r\n\r\n")


class Listening:
    """Starts, goes away, comes back on the same port."""

    def __init__(self, handler: type[BaseHTTPRequestHandler], state: object, tls: ssl.SSLContext | None = None) -> None:
        self.port = 0
        self.scheme = "https" if tls else "http"
        self._tls = tls
        self._handler = type("Handler", (handler,), {"state": state})
        self._server: ThreadingHTTPServer | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> int:
        """Listen; returns the port."""
        self._server = server = ThreadingHTTPServer(("127.0.0.1", self.port), self._handler)
        server.daemon_threads = True
        if self._tls:
            server.socket = self._tls.wrap_socket(server.socket, server_side=True)
        self.port = server.server_port
        self._thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        return self.port

    def stop(self) -> None:
        """Gone: connections are refused."""
        if self._server and self._thread:
            self._server.shutdown()
            self._server.server_close()
            self._thread.join(5)
            self._server = self._thread = None
