"""What all models behind a server have in common: how long to wait, what to ask again, how much room an answer has."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import structlog

from openclaw_neuralstream.errors import AnswerRefused, VendorBusy

log = structlog.get_logger(__name__)

WAITS = (0.5, 2.0)
"""Seconds before a server that is busy or hung up is asked a second and a third time."""

_MOST_ANSWER = 4_096  # a small model may repeat itself until the limit: complete gems of a cut answer are kept
_ANSWER_SHARE = 4
_LEAST_WINDOW = 8_192
_MARGIN = 1.1  # a model's own vocabulary may cut a text into more tokens than ours

T = TypeVar("T")


class AnswerCut(AnswerRefused):
    """The answer ended at its length limit; `text` is what came until then."""

    def __init__(self, text: str, *, where: str = "") -> None:
        self.text = text
        super().__init__("the model's answer was cut at its length limit", where=where)


def answer_room(context: int) -> int:
    """Tokens of a window that are left for the answer: a quarter, at most 4,096."""
    return min(context // _ANSWER_SHARE, _MOST_ANSWER)


def patiently(
    ask: Callable[[], T], *, waits: Sequence[float], timeout: float, sleep: Callable[[float], None] = time.sleep
) -> T:
    """What `ask` returns; asked again after each wait while it raises VendorBusy and half of `timeout` is left."""
    started = time.monotonic()
    for wait in waits:
        try:
            return ask()
        except VendorBusy as error:
            if time.monotonic() - started + wait > timeout / 2:
                raise
            log.info("model.again", reason=error.what, wait=wait)
            sleep(wait)
    return ask()


@dataclass(slots=True)
class Window:
    """The context asked of a server: grows by doubling to what is sent, and never shrinks, for a change reloads the model.

    most: tokens it may grow to.
    """

    most: int
    size: int = 0

    def holding(self, tokens: int) -> int:
        """A size that holds a prompt of so many tokens and its answer."""
        wanted = max(_LEAST_WINDOW, self.size)
        while wanted - answer_room(wanted) < tokens * _MARGIN and wanted < self.most:
            wanted *= 2
        self.size = min(wanted, self.most)
        return self.size


def more_time(timeout: float) -> str:
    """What to type so that a model may take twice as long."""
    return f"neuralstream config set model_timeout {min(3_600, round(2 * timeout) or 1)}s"


def sendable(text: str) -> str:
    """Without lone surrogates, which no request can carry."""
    return text.encode("utf-8", "replace").decode("utf-8")
