"""Sources asked in the time that there is, past those that are slow: what has not answered is left out, and named."""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from openclaw_neuralstream.errors import NeuralStreamError
from openclaw_neuralstream.recall.source import Candidate, Source, Understood

log = structlog.get_logger(__name__)

NO_TIME = "no time was left (recall_deadline_ms gives more)"
HANGS = "it has not answered an earlier question yet"

_PATIENCE = 0.03
"""Seconds after which a source that answers still is waited for no more by those behind it: another thread asks them. No sooner: two
threads that speak with SQLite in this process take the interpreter from each other, and are slower than one."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a source proposes, and how long it took. why: why it is left out, "" where it answered."""

    source: str
    candidates: Sequence[Candidate] = ()
    ms: float = 0.0
    why: str = ""


class _Question:
    """What is asked of whom, and who has answered; who waits for it may have gone on."""

    def __init__(self, sources: Sequence[Source], understood: Understood, limit: int) -> None:
        self.sources = sources
        self.understood = understood
        self.limit = limit
        self.told: queue.SimpleQueue[tuple[int, Answer | BaseException]] = queue.SimpleQueue()
        self.asked: set[str] = set()  # the sources that are being asked
        self.waiting = deque(enumerate(sources))
        self.given_up = False


class Asker:
    """Asks sources in their order, the worthiest first. May be used from any thread.

    Where the time is limited, threads ask and who waits goes on without what has not answered: a source that is slow is
    answered for beside the others, one that hangs costs its question nothing but itself, and the questions after it the same, until it answers.
    """

    def __init__(self) -> None:
        self._hanging: set[str] = set()
        self._state = threading.Lock()

    def ask(self, sources: Sequence[Source], understood: Understood, limit: int, seconds: float = 0.0) -> list[Answer]:
        """What each source answers, in their order; in at most so many seconds, 0 = whatever it takes."""
        hang = [source.name for source in sources if seconds and source.name in self._hanging]
        question = _Question([source for source in sources if source.name not in hang], understood, limit)
        told = self._told_within(question, seconds) if seconds else self._told_here(question)
        late = [source.name for at, source in enumerate(question.sources) if at not in told]
        if late:
            log.warning("recall.no_time", sources=late)
        answers = {name: Answer(name, why=HANGS) for name in hang} | {name: Answer(name, why=NO_TIME) for name in late}
        answers |= {answer.source: answer for answer in told.values()}
        return [answers[source.name] for source in sources]

    def _told_here(self, question: _Question) -> dict[int, Answer]:
        """Answers by the place of their source, asked in this thread."""
        self._run(question)
        return dict(self._answer(question) for _ in question.sources)

    def _told_within(self, question: _Question, seconds: float) -> dict[int, Answer]:
        """The same, asked by a thread, and by one more whenever a source keeps those behind it waiting; in time."""
        until = time.monotonic() + seconds
        told: dict[int, Answer] = {}
        self._start(question)
        while len(told) < len(question.sources):
            try:
                at, answer = self._answer(question, min(_PATIENCE, max(0.0, until - time.monotonic())))
                told[at] = answer
            except queue.Empty:
                if time.monotonic() >= until:
                    self._give_up(question)
                    break
                if question.waiting:
                    self._start(question)
        return told

    def _start(self, question: _Question) -> None:
        threading.Thread(target=self._run, args=(question,), name="neuralstream-sources", daemon=True).start()

    def _answer(self, question: _Question, seconds: float | None = None) -> tuple[int, Answer]:
        """The next one. Raises queue.Empty, and what a source raised that is a mistake of ours."""
        at, answer = question.told.get(timeout=seconds)
        if isinstance(answer, BaseException):
            with self._state:
                question.waiting.clear()
            raise answer
        return at, answer

    def _give_up(self, question: _Question) -> None:
        with self._state:
            question.given_up = True
            question.waiting.clear()
            self._hanging |= question.asked

    def _run(self, question: _Question) -> None:
        while (one := self._next(question)) is not None:
            at, source = one
            try:
                question.told.put((at, _answer(source, question.understood, question.limit)))
            except BaseException as error:  # noqa: BLE001  handed to whoever waits
                question.told.put((at, error))
            finally:
                self._answered(question, source.name)

    def _next(self, question: _Question) -> tuple[int, Source] | None:
        with self._state:
            if not question.waiting:
                return None
            at, source = question.waiting.popleft()
            question.asked.add(source.name)
            return at, source

    def _answered(self, question: _Question, source: str) -> None:
        """Who has gone on is told that the source hangs no more."""
        with self._state:
            question.asked.discard(source)
            if question.given_up:
                self._hanging.discard(source)


def _answer(source: Source, understood: Understood, limit: int) -> Answer:
    begun = time.perf_counter()
    try:
        found = source.find(understood, limit)
    except NeuralStreamError as error:
        log.warning("recall.source_left_out", source=source.name, code=error.code)
        return Answer(source.name, ms=_ms(begun), why=error.what)
    return Answer(source.name, found, _ms(begun))


def _ms(begun: float) -> float:
    return round(1_000 * (time.perf_counter() - begun), 3)
