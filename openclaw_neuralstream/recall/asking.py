"""Sources asked one after the other in the time that there is: what it does not suffice for is left out, and named."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import structlog

from openclaw_neuralstream.errors import NeuralStreamError
from openclaw_neuralstream.recall.source import Candidate, Source, Understood

log = structlog.get_logger(__name__)

NO_TIME = "no time was left (recall_deadline_ms gives more)"
HANGS = "it has not answered an earlier question yet"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a source proposes, and how long it took. why: why it is left out, "" where it answered."""

    source: str
    candidates: Sequence[Candidate] = ()
    ms: float = 0.0
    why: str = ""


@dataclass(slots=True)
class _Question:
    """What a thread of its own asks; who waits for it may have gone on."""

    sources: Sequence[Source]
    understood: Understood
    limit: int
    told: queue.SimpleQueue[Answer | BaseException] = field(default_factory=queue.SimpleQueue)
    asked: str = ""  # the source that is being asked
    given_up: bool = False


class Asker:
    """Asks sources in their order, the worthiest first. May be used from any thread.

    Where the time is limited, a thread asks and who waits goes on without it: a source that hangs costs its question the
    sources behind it, and the questions after it nothing but that source, until it answers.
    """

    def __init__(self) -> None:
        self._hanging: set[str] = set()
        self._state = threading.Lock()

    def ask(self, sources: Sequence[Source], understood: Understood, limit: int, seconds: float = 0.0) -> list[Answer]:
        """What each source answers, in their order; in at most so many seconds, 0 = whatever it takes."""
        if not seconds:
            return [_answer(source, understood, limit) for source in sources]
        until = time.monotonic() + seconds
        hang = [source.name for source in sources if source.name in self._hanging]
        question = _Question([source for source in sources if source.name not in hang], understood, limit)
        threading.Thread(target=self._run, args=(question,), name="neuralstream-sources", daemon=True).start()
        answers = [Answer(name, why=HANGS) for name in hang]
        for number in range(len(question.sources)):
            try:
                told = question.told.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                self._give_up(question)
                late = [one.name for one in question.sources[number:]]
                log.warning("recall.no_time", sources=late)
                return [*answers, *(Answer(name, why=NO_TIME) for name in late)]
            if isinstance(told, BaseException):
                raise told
            answers.append(told)
        return answers

    def _give_up(self, question: _Question) -> None:
        with self._state:
            question.given_up = True
            self._hanging |= {question.asked} - {""}

    def _run(self, question: _Question) -> None:
        try:
            for source in question.sources:
                if not self._goes_on(question, source.name):
                    return
                question.told.put(_answer(source, question.understood, question.limit))
        except BaseException as error:  # noqa: BLE001  handed to whoever waits
            question.told.put(error)
        finally:
            self._goes_on(question, "")

    def _goes_on(self, question: _Question, source: str) -> bool:
        """Whether somebody waits still; who does not is told that the last source hangs no more."""
        with self._state:
            if question.given_up:
                self._hanging.discard(question.asked)
            question.asked = source
            return not question.given_up


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
