"""Depth: a second look at hard questions, by whoever can read, within the time that is left; else nothing changes."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import structlog

from openclaw_neuralstream.errors import NeuralStreamError
from openclaw_neuralstream.model import Dropped, Record
from openclaw_neuralstream.ports import Reranker

log = structlog.get_logger(__name__)

CLOSE = 0.1
"""How near the second record's score is to the first one's, as a share of it, when a question is hard."""

DOUBTFUL = 0.12
"""How little above the threshold the best record's relevance is, when a question is hard."""

_LEAST_SECONDS = 0.05  # less time than any model needs


@dataclass(frozen=True, slots=True)
class Deepened:
    """The records in their new order, those rejected, and what was done, in a word for counters and `explain`."""

    records: list[Record]
    dropped: list[Dropped]
    what: str


def is_hard(records: Sequence[Record], threshold: float) -> bool:
    """Whether the ranking leaves it open: the best two are close together, or the best is hardly relevant."""
    if len(records) < 2:
        return False
    first, second = records[0], records[1]
    close = first.score - second.score <= CLOSE * abs(first.score)
    return close or first.factors.get("relevance", 1.0) < threshold + DOUBTFUL


class Depth:
    """Asks a reranker beside the caller, who waits no longer than he can. One question at a time.

    always: also for questions that are not hard. most: candidates it is shown. count: counts what was done, by name.
    """

    def __init__(
        self,
        reranker: Reranker,
        *,
        always: bool,
        most: int,
        count: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._reranker = reranker
        self._always = always
        self._most = most
        self._count = count
        self._asking = threading.Lock()

    def __call__(self, question: str, records: Sequence[Record], *, threshold: float, seconds: float) -> Deepened:
        """The records as the reranker orders them; unchanged when it is not needed, busy, too slow, or fails."""
        if not (len(records) > 1 and (self._always or is_hard(records, threshold))):
            return Deepened(list(records), [], "")
        order, what = self._asked(question, list(records[: self._most]), seconds)
        self._count(f"rerank.{what}")
        if order is None:
            return Deepened(list(records), [], what)
        shown = {record.id: record for record in records[: self._most]}
        kept = [shown[id_] for id_ in dict.fromkeys(order) if id_ in shown]
        rejected = [Dropped(record, "rejected") for id_, record in shown.items() if record not in kept]
        rest = list(records[self._most :])
        if not kept:  # none of the best helps: what ranks below them, and was not looked at, does so even less
            return Deepened([], [*rejected, *(Dropped(record, "rejected") for record in rest)], what)
        return Deepened([*kept, *rest], rejected, what)

    def _asked(self, question: str, records: Sequence[Record], seconds: float) -> tuple[list[str] | None, str]:
        if seconds < _LEAST_SECONDS:
            return None, "no-time"
        if not self._asking.acquire(blocking=False):
            return None, "busy"
        answer: queue.SimpleQueue[tuple[list[str] | None, str]] = queue.SimpleQueue()

        def ask() -> None:
            said: tuple[list[str] | None, str] = (None, "failed")
            try:
                said = self._reranker.order(question, records), "done"
            except NeuralStreamError as error:
                log.info("rerank.failed", code=error.code)
            except Exception as error:  # noqa: BLE001  the border of a thread: a reply is waiting
                log.warning("rerank.broken", error=type(error).__name__)
            finally:
                self._asking.release()  # before the answer is told: the next question may follow at once
            answer.put(said)

        threading.Thread(target=ask, name="neuralstream-rerank", daemon=True).start()
        try:
            return answer.get(timeout=seconds)
        except queue.Empty:
            return None, "too-slow"
