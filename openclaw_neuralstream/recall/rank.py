"""What the sources found, put in order: fused, weighted, made diverse."""

from __future__ import annotations

import math
import queue
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache

import numpy as np
import structlog
from numpy.typing import NDArray

from openclaw_neuralstream.errors import NeuralStreamError
from openclaw_neuralstream.model import Dropped, Origin, Record
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.ports import Reranker
from openclaw_neuralstream.recall.days import tells_of_others
from openclaw_neuralstream.recall.source import (
    COVERAGE,
    DAY,
    ENTITY,
    MEANING,
    STRETCH,
    TAGS,
    TIME,
    WORDS,
    Candidate,
    Found,
    Understood,
)
from openclaw_neuralstream.text.lexicon import content_terms, script_of, signs, speaks_of, terms

STRETCH_WEIGHT = 0.15
"""What it adds when the conversation around a passage is about the question, beside the two that sum to 1."""

TAGS_WEIGHT, ENTITY_WEIGHT = 0.15, 0.1
"""What it adds to carry a tag of the question (less where many do), and to name whom it names, whatever the words."""
TIME_WEIGHT = 0.2
"""What it adds when a record is of the days that the question names."""

UNSEEN = 0.8
"""What a record without words counts of the least that was found, where there was no room for all that share words."""


@dataclass(frozen=True, slots=True)
class Fused:
    """A candidate after fusion: its signals and their weighted sum."""

    id: str
    signals: Mapping[str, float]
    score: float


def weights(weight_lexical: float) -> dict[str, float]:
    """What each signal counts; a signal without a weight is carried along and does not rank."""
    return {
        WORDS: weight_lexical,
        MEANING: 1 - weight_lexical,
        STRETCH: STRETCH_WEIGHT,
        TAGS: TAGS_WEIGHT,
        ENTITY: ENTITY_WEIGHT,
        TIME: TIME_WEIGHT,
        DAY: weight_lexical,  # it stands where words would: the question has none
    }


def fuse(candidates: Sequence[Candidate], *, weights: Mapping[str, float], script: Callable[[str], str]) -> list[Fused]:
    """Merge candidates of the same id, best first; ties by id.

    A score c with a zero becomes (c - zero) / (1 - zero), at least 0, where zero is what unrelated texts of the
    record's script score. A candidate without a meaning gets the least that was seen on its shelf. One without words gets 0,
    and `UNSEEN` of the least that was seen of its script where the search for words was cut off: it may well have some.
    script: the script of the record with this id.
    """
    signals: dict[str, dict[str, float]] = {}
    shelves: dict[str, str] = {}
    for candidate in candidates:
        id_, signal, value = candidate.id, candidate.signal, _lifted(candidate, script)
        own = signals.get(id_)
        if own is None:
            signals[id_], shelves[id_] = {signal: value}, candidate.shelf.name
        elif value >= own.get(signal, 0.0):
            own[signal] = value
    least: dict[str, float] = {}
    for id_, own in signals.items():
        if MEANING in own:
            least[shelves[id_]] = min(least.get(shelves[id_], own[MEANING]), own[MEANING])
    unseen = _unseen(candidates, script)
    for id_, own in signals.items():
        own.setdefault(MEANING, least.get(shelves[id_], 0.0))
        if unseen and WORDS not in own and (words := unseen.get((shelves[id_], script(id_)))):
            own[WORDS] = words
    fused = [
        Fused(id_, own, sum([weights[name] * value for name, value in own.items() if name in weights]))
        for id_, own in signals.items()
    ]
    return sorted(fused, key=lambda item: (-item.score, item.id))


def _unseen(candidates: Iterable[Candidate], script: Callable[[str], str]) -> dict[tuple[str, str], float]:
    """What those that were not found by their words may have, by shelf and script: of searches that were cut off."""
    found: dict[tuple[str, str], float] = {}
    for candidate in candidates:
        if candidate.cut and candidate.signal == WORDS:
            of = candidate.shelf.name, script(candidate.id)
            found[of] = min(found.get(of, math.inf), UNSEEN * candidate.score)
    return found


def likeliest(
    candidates: Sequence[Candidate], *, weights: Mapping[str, float], script: str, most: int
) -> list[Candidate]:
    """The candidates of the `most` ids that score best as long as no record was read: all taken to be in this script."""
    fused = fuse(candidates, weights=weights, script=lambda _: script)
    if len(fused) <= most:
        return list(candidates)
    best = {item.id for item in fused[:most]}
    return [candidate for candidate in candidates if candidate.id in best]


def _lifted(candidate: Candidate, script: Callable[[str], str]) -> float:
    if not candidate.zero:
        return max(candidate.score, 0.0)
    zero = candidate.zero.get(script(candidate.id), candidate.zero.get("other", 0.0))
    return max((candidate.score - zero) / max(1 - zero, 1e-6), 0.0)


FULL = 0.7
"""The share of the greatest BM25 that counts as a full match: no real passage repeats all terms of a question."""

FULL_GEM = 0.875
"""The same of a gem, whose summary is searched with it and says its words again."""

ENOUGH = {"cjk": 12}
ENOUGH_WORDS = 8
"""How many terms of a question are enough to cover it, by script: a long dialogue has more than any record can hold,
and a Chinese word gives more terms than an English one."""


ALONE = 0.7
"""What meaning is worth where no words are shared."""

DAYS = 0.25
"""The share of a question that its days are: what is of these days covers it without naming them."""

_SOME = 0.2  # meaning from which a record is about the question at all


def rarity(weights: Mapping[str, float], frequencies: Mapping[str, int], stored: int) -> dict[str, float]:
    """How much each term of the question says: its weight times its idf, log(1 + (N - n + 1/2) / (n + 1/2)).

    A term that nothing stored has says the most: it is what an unanswerable question is about.
    """
    return {
        term: weight * math.log(1 + max(stored - frequencies.get(term, 0), 0.5) / (frequencies.get(term, 0) + 0.5))
        for term, weight in weights.items()
    }


def share(bm25: float, rarities: Mapping[str, float], full: float = FULL) -> float:
    """A BM25 score as a share of what the question's terms could give, about 1 for a passage that has them all."""
    total = sum(rarities.values())
    return bm25 / (full * total) if total else 0.0


class Coverage:
    """The share of what a question says that terms say too."""

    def __init__(self, rarities: Mapping[str, float], script: str = "latin") -> None:
        """rarities: how much each term of the question says."""
        self.rarities = rarities
        self._enough = needed(rarities, script)

    def __call__(self, held: Collection[str]) -> float:
        """In [0, 1]; 0 for a question without terms."""
        rarities = self.rarities
        said = math.fsum([rarities[term] for term in held if term in rarities])  # whatever the order of a set
        return min(1.0, said / self._enough) if self._enough else 0.0


def needed(rarities: Mapping[str, float], script: str = "latin") -> float:
    """How much of what the question says covers it; 0 for a question without terms."""
    if not rarities:
        return 0.0
    return sum(rarities.values()) * min(1.0, ENOUGH.get(script, ENOUGH_WORDS) / len(rarities))


def relevance(signals: Mapping[str, float], *, same_script: bool = True) -> float:
    """The mean of two hints that a record is about the question: its words are covered, its meaning is near.

    What is of the days asked for covers the question's days, which are its heaviest part, where it is about the question
    at all. Meaning alone is worth 0.7 of itself; all of itself for a record in another script, which cannot share words.
    """
    meaning, covered = signals.get(MEANING, 0.0), _covered(signals)
    if not same_script and not covered:
        return meaning
    return max(0.5 * (covered + meaning), ALONE * meaning)


def of_days(signals: Mapping[str, float]) -> float:
    """The relevance of a record for a question that asks for days and nothing else: 1 for what is of them, else 0."""
    return 1.0 if signals.get(TIME, 0.0) >= 1 else 0.0


def _covered(signals: Mapping[str, float]) -> float:
    covered = signals.get(COVERAGE, 0.0)
    if covered or signals.get(MEANING, 0.0) >= _SOME:
        return min(1.0, covered + DAYS * signals.get(TIME, 0.0))
    return covered


_ORIGINS = {Origin.OWNER: 1.0, Origin.AGENT: 0.95, Origin.SYSTEM: 0.9, Origin.UNTRUSTED: 0.85}
_SUREST = 0.99  # nothing is certain: a threshold of 1 keeps everything back
_IMPORTANCE = 0.1  # how much the least important loses against the most important
_CONFIDENCE = 0.1
_RECENCY = 0.005  # a tie-breaker: never more than this
_HALF_LIFE_DAYS = 90.0
_LIFT = 0.2
_MENTIONED, _UNNAMED = 0.75, 0.5  # a record that may be about who is named, or hardly
_OTHERS = 0.2  # one that tells of others: nobody's own words, neither "I" nor "you" in it, and not who is named
_VERBATIM = 0.8  # how relevant a turn counts beside a gem: what was merely said must answer more clearly
_ROLE_NAMES = frozenset(
    {"owner", "agent", "user", "assist", "tool", "system", "someon", "third-party", "third", "parti"}
)


def ranked(fused: Sequence[Fused], found: Mapping[str, Found], understood: Understood, most: int) -> list[Record]:
    """The records with score and factors, best first; ties by the newer one, then by id. At most so many of them."""
    lifts = _lifts(fused, found)
    best = sorted(fused, key=lambda item: (-item.score - lifts.get(item.id, 0.0), item.id))[:most]
    named = _named(understood.names, [found[item.id] for item in best])
    judged = [_judged(item, found[item.id], understood, lift=lifts.get(item.id, 0.0), named=named) for item in best]
    records = [_record(found[item.id], *scored) for item, scored in zip(best, judged, strict=True)]
    return sorted(records, key=lambda record: (-record.score, -_seconds(record.at), record.id))


def _judged(
    item: Fused, found: Found, understood: Understood, *, lift: float, named: frozenset[str]
) -> tuple[float, dict[str, float]]:
    """The score of a record and what it is made of; `relevance` is how much of the question it answers, on an absolute scale."""
    record = found.record
    factors = {
        "importance": 1 - _IMPORTANCE * (1 - record.importance),
        "confidence": 1 - _CONFIDENCE * (1 - record.confidence),
        "origin": _ORIGINS[record.origin],
        "named": _about(named, found),
        "trust": found.trust,
        "worth": found.worth,
    }
    age_days = max(0.0, _seconds(understood.query.now) - _seconds(record.at)) / 86_400
    recency = _RECENCY * math.exp2(-age_days / _HALF_LIFE_DAYS)
    same_script = script_of(record.text) == understood.script
    signals = _beside_its_days(item, found, understood)
    likely = of_days(signals) if understood.only else relevance(signals, same_script=same_script)
    relevant = likely * factors["named"] * (_VERBATIM if found.verbatim else 1.0) * found.worth
    score = (item.score + lift) * math.prod(factors.values()) + recency
    told = {**item.signals, "lift": lift, **factors, "recency": recency, "relevance": min(_SUREST, relevant)}
    return score, told


def _beside_its_days(item: Fused, found: Found, understood: Understood) -> Mapping[str, float]:
    """The signals, with what a record holds of a question beside the days that it names, which the signal `time` says already.

    What is of these very days and says all the rest covers the question, in whatever words it names its day ("today"); not what
    was only said in them, of other days. What holds nothing but the names of the days covers nothing.
    """
    signals = item.signals
    if not understood.beside or not signals.get(COVERAGE):
        return signals
    held = _terms(found.record.text) | found.who
    days = understood.period
    of_them = signals.get(TIME, 0.0) >= 1 and not (days and tells_of_others(found.record, days))
    if of_them and understood.beside <= held:
        return {**signals, COVERAGE: 1.0}
    if {TAGS, ENTITY} & signals.keys():
        return signals
    asked = held & understood.weights().keys()
    return {**signals, COVERAGE: 0.0} if asked and not asked & understood.beside else signals


def _record(found: Found, score: float, factors: Mapping[str, float]) -> Record:
    return replace(found.record, score=score, factors={name: round(value, 4) for name, value in factors.items()})


def _lifts(fused: Sequence[Fused], found: Mapping[str, Found]) -> dict[str, float]:
    """What a turn gains from the best gem that was made from it: the gem says what it was about."""
    best: dict[str, float] = {}
    for item in fused:
        if not found[item.id].verbatim:
            for turn in found[item.id].evidence:
                best[turn] = max(best.get(turn, 0.0), item.score)
    return {
        item.id: _LIFT * max((best.get(turn, 0.0) for turn in found[item.id].evidence), default=0.0)
        for item in fused
        if found[item.id].verbatim
    }


def _named(names: frozenset[str], found: Iterable[Found]) -> frozenset[str]:
    """Those of the question's names that somebody among the candidates bears or mentions."""
    if not names:
        return names
    known: set[str] = set()
    for item in found:
        known |= names & item.who
        known |= names & _terms(item.record.text)
    return frozenset(known)


def _about(named: frozenset[str], found: Found) -> float:
    """1 when the record is about who is named (or nobody is), less when somebody else may be meant.

    A gem is about whom it names first. A verbatim "I …" is about its speaker, a "you …" about the other one.
    """
    if not named:
        return 1.0
    mentioned = _mentions(found, named)
    if not {term for term in found.who - _ROLE_NAMES if not term.isdigit()}:
        if mentioned or named & found.who:
            return 1.0
        return _UNNAMED if any(speaks_of(found.record.text)) else _OTHERS
    of_self, of_other = speaks_of(found.record.text) if found.verbatim else (True, False)
    if named & found.who:
        return 1.0 if of_self or not of_other else _MENTIONED
    return _MENTIONED if mentioned or of_other else _UNNAMED


def _mentions(found: Found, named: frozenset[str]) -> bool:
    return bool(named & _terms(found.record.text))


@lru_cache(maxsize=4_096)
def _terms(text: str) -> frozenset[str]:
    return frozenset(terms(text))


def _seconds(at: datetime) -> float:
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()


SEQUENCE = "sequence"
"""The kind of a record that is several turns in their order."""

TURN = "turn"
"""The source of a record that is one contribution to a turn, word for word."""

MADE = "made"
"""The source of a record that was made from turns or stands in a file."""

_ALIKE = 0.8  # share of common terms at which two texts say the same
_FEW = 3  # terms below which they do so only when all are common
_HELD = 0.9  # share of the shorter one's terms that the longer one holds
_AS_LONG = 0.5  # how long the shorter one must be beside the longer one
_LIKE_ITS_TURN = 0.4  # share of a gem's terms that come back in the turn it was made from
_TOLD = 0.8  # share of a sequence's terms that one record holds when the sequence adds nothing
_TELLING = 3  # content terms below which a question or an answer of a sequence is small talk, unless it has a number
LABEL = lazy(r"\b[QA]\d+(?: \([^)]*\))?:")  # what a sequence puts before what was said
_DIGITS = lazy(r"\d")
TWIN_DAYS = lazy(r" ?\(\d{4}-\d\d(?:-\d\d)?(?: – \d{4}-\d\d(?:-\d\d)?)?\)")


@dataclass(frozen=True, slots=True)
class Saying:
    """What a record says, as far as terms can tell.

    text: what its terms are of. numbers: its terms with a digit. source: what kind of
    memory it is of, so that only different kinds are held against each other by their turns. who: of a verbatim turn,
    whose words it is; the same words of two people are two things.
    """

    text: str
    terms: frozenset[str]
    numbers: frozenset[str]
    script: str
    evidence: frozenset[str]
    source: str
    who: frozenset[str]


def telling(record: Record) -> list[str]:
    """What a record tells: its text; of a sequence each question and answer that is no small talk, without its label."""
    if record.kind != SEQUENCE:
        return [record.text]
    parts = [part.strip(" →\n") for part in LABEL.split(record.text)]
    return [part for part in parts if len(content_terms(part)) >= _TELLING or _DIGITS.search(part)]


def saying(record: Record, found: Found) -> Saying:
    """What this record says."""
    text = "\n".join(telling(record)) or record.text
    terms, numbers, script = _read(text)
    source = SEQUENCE if record.kind == SEQUENCE else TURN if found.verbatim else MADE
    who = found.who if source == TURN else frozenset[str]()
    return Saying(text, terms, numbers, script, found.evidence, source, who)


def same(one: Saying, other: Saying, asked: frozenset[str], *, shown: bool = False) -> bool:
    """Whether `other` adds nothing to `one`: nothing of what is asked, no number, no opposite.

    By their turns first (a gem and the turn it was made from, in whatever language), then by their terms. shown: the model sees `one`
    already, and nothing else of its turn comes with it: a turn that says more than such a gem is news.
    """
    if not other.terms.isdisjoint(asked - one.terms):
        return False
    if SEQUENCE in (one.source, other.source):  # it shows some answers and not others, so only words tell what it says
        return _holds(one.terms, other.terms) and _agree(one, other)
    if one.source != other.source and not one.evidence.isdisjoint(other.evidence):
        if shown and one.source == MADE and other.source == TURN and one.script == other.script:
            return _holds(one.terms, other.terms)
        return one.script != other.script or _overlap(one.terms, other.terms) >= _LIKE_ITS_TURN
    return _alike(one.terms, other.terms) and _agree(one, other)


def cut_out_of(gem: str, turn: str) -> bool:
    """Whether a gem is a stretch of the turn, letter by letter, beside the days that were put in brackets behind its own.

    What a person edited or a model wrote is none.
    """
    cut = _letters(TWIN_DAYS.sub(" ", gem))
    return bool(cut) and cut in _letters(turn)


@lru_cache(maxsize=4_096)
def _letters(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def likenesses(texts: Sequence[frozenset[str]]) -> NDArray[np.float32]:
    """How much of what two texts say is common, in [0, 1], for each pair of them: the Jaccard index of their terms; 0 where one says nothing."""
    columns: dict[str, int] = {}
    cells = [(row, columns.setdefault(term, len(columns))) for row, terms in enumerate(texts) for term in terms]
    held = np.zeros((len(texts), len(columns)), np.float32)
    if cells:
        rows, at = zip(*cells, strict=True)
        held[rows, at] = 1
    common, sizes = held @ held.T, held.sum(axis=1)
    found: NDArray[np.float32] = common / np.maximum(sizes[:, None] + sizes - common, 1)
    return found


def _agree(one: Saying, other: Saying) -> bool:
    """Whether neither contradicts the other: 5433 is not 5544, "likes" not "does not like", Anna's words not Ben's."""
    numbers = one.numbers <= other.numbers or other.numbers <= one.numbers
    persons = not one.who or not other.who or bool(one.who & other.who)
    return numbers and persons and _signs(one.text) == _signs(other.text)


def _alike(left: frozenset[str], right: frozenset[str]) -> bool:
    shorter, longer = sorted((len(left), len(right)))
    if shorter < _FEW or shorter < _AS_LONG * longer:
        return left == right
    common = len(left & right)
    if common >= _HELD * shorter:
        return True
    return shorter > _FEW and common >= _ALIKE * (shorter + longer - common)


def _holds(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= _TOLD * len(other)


def _overlap(left: frozenset[str], right: frozenset[str]) -> float:
    least = min(len(left), len(right))
    return len(left & right) / least if least else 0.0


@lru_cache(maxsize=4_096)
def _read(text: str) -> tuple[frozenset[str], frozenset[str], str]:
    terms = frozenset(content_terms(text)) or frozenset({text})
    numbers = frozenset(term for term in terms if not term.isalpha() and _DIGITS.search(term))
    return terms, numbers, script_of(text)


@lru_cache(maxsize=4_096)
def _signs(text: str) -> tuple[bool, int]:
    """Whether a text denies, and whether it likes or hates: read of the few that agree in all else."""
    return signs(text)


SHARE = 0.2
"""What a record loses that says again, word for word, all that a better one says beside the question."""

_LOOKED_AT = 40
"""Records that are put in a new order; what comes after them is far from any block."""


def diverse(
    records: Sequence[Record], found: Mapping[str, Found], understood: Understood, *, share: float = SHARE
) -> list[Record]:
    """The same records, those that repeat what stands before them further down, with the factor "alike" (1 = new)."""
    asked = frozenset(understood.weights())
    left = list(records[:_LOOKED_AT])
    if not left:
        return []
    alike = likenesses([saying(record, found[record.id]).terms - asked for record in left])
    scores = np.array([record.score for record in left])
    nearest = np.zeros(len(left))
    waiting = np.ones(len(left), np.bool_)
    chosen: list[Record] = []
    while waiting.any():
        at = int(np.argmax(np.where(waiting, scores * (1 - share * nearest), -np.inf)))
        waiting[at] = False
        best, factor = left[at], 1 - share * float(nearest[at])
        factors = {**best.factors, "alike": round(factor, 4)}
        chosen.append(replace(best, score=best.score * factor, factors=factors) if factor < 1 else best)
        np.maximum(nearest, alike[at], out=nearest)
    return [*chosen, *records[_LOOKED_AT:]]


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
