"""Answers on their way to one client: sent at once while it reads, kept and bounded in time while it does not."""

from __future__ import annotations

import selectors
import socket
import threading
from collections import deque
from collections.abc import Callable

import structlog

log = structlog.get_logger(__name__)

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
