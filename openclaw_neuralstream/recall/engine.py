"""Recall, the story in one function: understand → ask → fuse → rank → sift → diversify → fit."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import structlog

from openclaw_neuralstream.errors import NeuralStreamError, VendorAway
from openclaw_neuralstream.model import Dropped, Query, Recall, Record
from openclaw_neuralstream.ports import TokenCounter, Vocabulary
from openclaw_neuralstream.recall import days
from openclaw_neuralstream.recall.asking import Asker
from openclaw_neuralstream.recall.days import time_signals
from openclaw_neuralstream.recall.fit import ROOM, Fitted, fit, sifted
from openclaw_neuralstream.recall.intent import Intent
from openclaw_neuralstream.recall.query import Book, happened, respelled, told, understand
from openclaw_neuralstream.recall.rank import SEQUENCE, Deepened, Depth, diverse, fuse, likeliest, ranked, weights
from openclaw_neuralstream.recall.source import Candidate, Found, Shape, Shelf, Source, Understood
from openclaw_neuralstream.settings import Settings
from openclaw_neuralstream.text.lexicon import content_terms, script_of
from openclaw_neuralstream.text.lines import clean_record
from openclaw_neuralstream.text.questions import only_points

LEXICAL_WEIGHT = 0.4
"""Share of words in the relevance; the rest is meaning."""

log = structlog.get_logger(__name__)

CANDIDATES = 40
"""How many candidates each source is asked for; at least four times the records wanted."""

JUDGED, SPARE = 48, 16
"""How many of the fused candidates are looked at closely, at least twice the records wanted; and how many more are read,
since what a turn gains from its gem shows only then."""

JUDGED_OF_A_WHOLE = 160
"""How many are for an order or a summary, of which many are shown."""

_OF_THE_TRUTH = frozenset({"gems", "turns", "sequences"})
"""Shelves of which every text went through the rules of secrets on its way in."""


def recall(
    query: Query,
    *,
    sources: Sequence[Source],
    settings: Settings,
    counter: TokenCounter,
    vocabulary: Vocabulary | None = None,
    depth: Depth | None = None,
    patience: float = 0.0,
    asker: Asker | None = None,
    seconds: float = 0.0,
    looked_through: bool = False,
    wordbooks: Sequence[Book] = (),
    intent: Intent | None = None,
    gated: bool = False,
) -> Recall:
    """The records that matter for the question, best first, in at most the limit and the token budget.

    `Recall.dropped` says for each other candidate why not: "not-needed", "off-record", "below-threshold", "in-window", "far-worse", "over-limit",
    "over-budget", "duplicate", "superseded", "expired" or "rejected". intent: who says whether the dialogue counts, and, where
    it is `gated` (nobody asked for a search), whether the message needs memory at all. depth: a second look at what is kept, as far as it fits into
    `patience` seconds since the question came. A source that fails is left out and named, and so is one that does not
    answer within the `seconds` that all of them have (0 = any time; `asker` knows which one hangs), and what comes behind it. Nothing relevant: no records.
    wordbooks: what knows which words are stored, so that a slip in one is seen. looked_through: whether nothing that was ever said or made is older than the rules of secrets in force; else, and
    what notes and plugins hold always, it is looked at again before it is shown.
    """
    clock = _Stages()
    query, read_as = respelled(query, wordbooks, counter)
    budget = query.token_budget or settings.recall_token_budget
    left_out: dict[str, str] = {}
    understood = _understood(query, settings.recall_dialogue_turns, vocabulary, intent, left_out)
    understood = replace(understood, looked_through=looked_through)
    limit = days.most(understood, settings)
    clock.ended("understand")
    candidates: list[Candidate] = []
    ranks: dict[str, dict[str, int]] = {}
    if understood.said:
        wanted = [source for source in sources if not query.sources or source.kind in query.sources]
        for answer in (asker or Asker()).ask(wanted, understood, max(CANDIDATES, 4 * limit), seconds):
            candidates.extend(answer.candidates)
            _note_ranks(ranks, answer.source, answer.candidates)
            if answer.why:
                left_out[answer.source] = answer.why
            if answer.ms or not answer.why:  # what was never asked took no time
                clock.took(answer.source, answer.ms)
        clock.begins()
    weighed = weights(LEXICAL_WEIGHT)
    judged = max(JUDGED if understood.shape is Shape.PLAIN else JUDGED_OF_A_WHOLE, 2 * limit)
    if _is_plain(understood):
        candidates = likeliest(candidates, weights=weighed, script=understood.script, most=judged + SPARE)
    found = _fetched(candidates, understood, left_out)
    clock.ended("fetch")
    scripts = {id_: script_of(item.record.text) for id_, item in found.items()}
    present = [candidate for candidate in candidates if candidate.id in found]
    present += time_signals(present, found, understood)
    fused = fuse(present, weights=weighed, script=scripts.__getitem__)
    records = ranked(fused, found, understood, judged)
    threshold = settings.recall_threshold if _asks(query) else 0.0
    needed = not gated or _needed(intent, understood, records)
    silent = [Dropped(record, "not-needed") for record in records]
    kept, dropped = (
        sifted(records, found, understood, threshold=threshold, enough=2 * limit) if needed else ([], silent)
    )
    kept = days.shortened(diverse(kept, found, understood), understood)
    clock.ended("rank")
    deepened = Deepened(kept, [], "")
    if depth is not None:
        deepened = depth(query.text, kept, threshold=threshold, seconds=patience - clock.spent())
        clock.ended("depth")
    kept, dropped = deepened.records, [*deepened.dropped, *dropped]
    seen = [item.record for item in dropped if item.why == "in-window"]
    fitted = _fitted(kept, seen, understood, limit=limit, budget=budget, counter=counter)
    clock.ended("fit")
    arranged = days.arranged(fitted.records, found, understood)
    clean = {one.id for one in present if looked_through and one.shelf.name in _OF_THE_TRUTH}
    shown = tuple(record if record.id in clean else clean_record(record) for record in arranged)
    clock.ended("clean")
    return Recall(
        shown,
        (*fitted.dropped, *dropped),
        left_out,
        clock.stages,
        shape=understood.shape.value,
        dated=understood.dated,
        understood=told(understood) | ({"read_as": read_as} if read_as else {}),
        ranks=ranks,
        depth=deepened.what,
        evidence={record.id: found[record.id].evidence for record in shown},
        needed=needed,
    )


def _understood(
    query: Query, turns: int, vocabulary: Vocabulary | None, intent: Intent | None, left_out: dict[str, str]
) -> Understood:
    """The question, without tags and entities where the memory cannot say which it knows."""
    coherence = intent.coherence if intent else None
    try:
        return understand(query, dialogue_turns=turns, vocabulary=vocabulary, coherence=coherence)
    except NeuralStreamError as error:
        log.warning("recall.vocabulary_left_out", code=error.code)
        left_out["vocabulary"] = error.what
        return understand(query, dialogue_turns=turns, coherence=coherence)


def _needed(intent: Intent | None, understood: Understood, records: Sequence[Record]) -> bool:
    """Whether the message needs memory; one that only points back, with no dialogue before it, asks for what was said last."""
    query = understood.query
    if intent is None or understood.only:
        return True
    if not query.dialogue and only_points(query.text) and any(record.kind == SEQUENCE for record in records):
        return True
    try:
        return intent.wants(_message(understood), records)
    except VendorAway:  # the encoder is still loading: questions are answered by their words
        return understood.question


def _fitted(
    kept: Sequence[Record],
    seen: Sequence[Record],
    understood: Understood,
    *,
    limit: int,
    budget: int,
    counter: TokenCounter,
) -> Fitted:
    """What goes in. seen: what the window shows already; it says how good the best is."""
    query = understood.query
    whole = query.everything or understood.only is not None
    room = ROOM if understood.shape is Shape.PLAIN and not query.token_budget else budget
    best = max((record.score for record in (*kept, *seen)), default=0.0)
    return fit(kept, limit=limit, budget=budget, counter=counter, best=best, room=room, whole=whole)


def _message(understood: Understood) -> str:
    """The last message, without the label of who speaks."""
    plain = understood.shape is Shape.PLAIN and understood.said
    return understood.said[0].text if plain else understood.query.text


def _asks(query: Query) -> bool:
    """Whether something is asked beside what a person narrowed it to: "what happened?" of some days wants all of them."""
    return not query.everything or any(term not in happened() for term in content_terms(query.text))


def _is_plain(understood: Understood) -> bool:
    """Whether the signals alone say what is likely: no day and nothing that a person narrowed it to, which records tell."""
    return understood.shape is Shape.PLAIN and understood.period is None and understood.query.wanted is None


def _note_ranks(ranks: dict[str, dict[str, int]], source: str, answer: Sequence[Candidate]) -> None:
    """Add the place of each record in this source's answer, 1 = best; the first signal that names it counts."""
    for place, id_ in enumerate(dict.fromkeys(candidate.id for candidate in answer), start=1):
        ranks.setdefault(id_, {})[source] = place


def _fetched(candidates: Sequence[Candidate], understood: Understood, left_out: dict[str, str]) -> Mapping[str, Found]:
    """All candidates' records, one call per shelf; a shelf that fails is left out and named."""
    wanted: dict[Shelf, dict[str, None]] = {}
    for candidate in candidates:
        wanted.setdefault(candidate.shelf, {})[candidate.id] = None
    found: dict[str, Found] = {}
    for shelf, ids in wanted.items():
        try:
            found.update(shelf.fetch(list(ids), understood))
        except NeuralStreamError as error:
            log.warning("recall.shelf_left_out", shelf=shelf.name, code=error.code)
            left_out[shelf.name] = error.what
    return found


class _Stages:
    """How long each stage took, in milliseconds."""

    def __init__(self) -> None:
        self.stages: dict[str, float] = {}
        self._last = self._began = time.perf_counter()

    def spent(self) -> float:
        """Seconds since the question came."""
        return time.perf_counter() - self._began

    def took(self, stage: str, ms: float) -> None:
        """A stage that was timed elsewhere."""
        self.stages[stage] = ms

    def begins(self) -> None:
        """The next stage begins now."""
        self._last = time.perf_counter()

    def ended(self, stage: str) -> None:
        now = time.perf_counter()
        self.stages[stage] = round(1_000 * (now - self._last), 3)
        self._last = now
