"""Ranked records to a block: the same thing once, excerpts, the budget."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, cached_property

from openclaw_neuralstream.model import Dropped, Origin, Query, Record
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.ports import TokenCounter
from openclaw_neuralstream.recall.rank import (
    MADE,
    SEQUENCE,
    SHARE,
    TURN,
    TWIN_DAYS,
    Saying,
    cut_out_of,
    same,
    saying,
    telling,
)
from openclaw_neuralstream.recall.source import Found, Shape, Understood
from openclaw_neuralstream.text.lexicon import content_terms, off_record, sentences, signs, terms
from openclaw_neuralstream.text.questions import points_back

_SHOWN = (
    0.9  # share of a record's words that a passage must have; none that it lacks may carry meaning: a name, a number
)
_FEWEST = 4  # words below which a record must stand there literally
_LONGEST = 65_536
_WORD = lazy("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]|[^\\W_]+")


class Window:
    """The window of one question; its words are read only when somebody asks."""

    def __init__(self, query: Query) -> None:
        self._turns = query.window_turns
        self._records = query.exclude
        self._text = query.window_text[-_LONGEST:]

    def shows(self, record: Record, evidence: frozenset[str]) -> bool:
        """Whether this request shows the record already: itself, its turns, or its words."""
        if record.id in self._records or evidence & self._turns:
            return True
        parts = telling(record)
        return bool(self._text and parts) and all(map(self._says, parts))

    def _says(self, text: str) -> bool:
        text = TWIN_DAYS.sub("", text)
        words = _words(text)
        if not words:
            return False
        if len(words) < _FEWEST:
            return " ".join(text.casefold().split()) in self._flat
        counts: Counter[int] = Counter()
        for word in words:
            counts.update(self._passages.get(word, ()))
        near = [line for line, count in counts.items() if count >= _SHOWN * len(words)]
        return any(_no_news(text, self._lines[line]) for line in near)

    @cached_property
    def _flat(self) -> str:
        return " ".join(self._text.casefold().split())

    @cached_property
    def _lines(self) -> list[str]:
        return self._text.splitlines()

    @cached_property
    def _passages(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        for number, line in enumerate(self._lines):
            for word in _words(line):
                found[word].append(number)
        return found


def _no_news(text: str, line: str) -> bool:
    """Whether no word of meaning is missing in the line, and neither denies what the other says."""
    return set(content_terms(text)) <= set(content_terms(line)) and signs(text) == signs(line)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))


_WHOLE = 400  # characters of a turn that is told whole, in the place of the gems that were cut out of it


def sifted(
    records: Sequence[Record],
    found: Mapping[str, Found],
    understood: Understood,
    *,
    threshold: float,
    enough: int,
) -> tuple[list[Record], list[Dropped]]:
    """The records that may be shown, in their order, and the others with the first reason that holds.

    What says the same as a better one is a duplicate of it, whichever source each came from; of what the window shows,
    it is in the window too. A gem takes the place of the turn it came from, a sequence that of those of its turns whose words it shows.
    What stands around an answer is no part of it: where a gem says of the question what the turn that was found says, its sequence goes,
    unless the question leans on what was said before it or asks for an order or a summary.
    threshold: the relevance below which a record is left out; 0 = none is for that. enough: how many are wanted at most; what scores so
    much less than these that no new order brings it among them is "over-limit" without being compared.
    """
    seen = _Seen(frozenset(understood.weights()))
    says = cache(lambda record_id: saying(by_id[record_id], found[record_id]))
    by_id = {record.id: record for record in records}
    dropped: list[Dropped] = []
    window = Window(understood.query)
    whys: dict[str, str] = {}
    for record in records:  # what the window shows first: nothing that ranks above it may say it again
        item = found[record.id]
        value = record.factors["relevance"]
        relevant = value >= threshold and (understood.only is None or value > 0)
        barred = item.verbatim and off_record(record.text)
        whys[record.id] = item.outdated or ("off-record" if barred else "" if relevant else "below-threshold")
        looked_at = not item.outdated and (relevant or record.id in understood.query.exclude)
        whole = (
            understood.shape is not Shape.PLAIN and record.id in understood.query.exclude
        )  # the brief shows a part of it
        if looked_at and not whole and window.shows(record, item.evidence):
            whys[record.id] = whys[record.id] or "in-window"
            seen.shown(record, says(record.id))
    if understood.shape is Shape.PLAIN and understood.only is None:
        records, cut_out = _in_their_words(records, says, whys)
        dropped += cut_out
    told_whole = {item.of for item in dropped}
    answers = _answers(records, says, whys, told_whole) if _plain(understood) else {}
    least = 0.0
    for record in records:
        if why := whys[record.id] or ("over-limit" if record.score < least else ""):
            dropped.append(Dropped(record, why))
            continue
        said = says(record.id)
        if answer := _answered(record, found[record.id], answers, understood):
            dropped.append(Dropped(record, "duplicate", answer))
        elif behind := seen.turns_behind(said):
            dropped += seen.put(record, said, behind)
        elif twin := seen.twin(said):
            dropped.append(Dropped(record, "in-window" if twin in seen.in_window else "duplicate", twin))
        else:
            seen.put(record, said, ())
            if len(seen.kept()) == enough:
                least = (1 - SHARE) * record.score
    return seen.kept(), dropped


def _in_their_words(
    records: Sequence[Record], says: Callable[[str], Saying], whys: Mapping[str, str]
) -> tuple[list[Record], list[Dropped]]:
    """The records, with each turn in the place of the gems that are cut out of it word for word: the whole message tells more.

    A long turn is told by its gems, and so is what somebody has written anew, a person or a model.
    """
    turns = [
        record
        for record in reversed(records)  # the best of a turn's messages counts
        if not whys[record.id] and says(record.id).source == TURN and record.origin is Origin.OWNER
    ]
    of = {turn: record for record in turns if len(record.text) <= _WHOLE for turn in says(record.id).evidence}
    best = {record.id: record.score for record in turns}
    dropped: list[Dropped] = []
    kept: list[Record] = []
    for record in records:
        said = says(record.id)
        turn = next((of[id_] for id_ in sorted(said.evidence) if id_ in of), None) if said.source == MADE else None
        tagged = bool(set(record.tags) - {record.kind})  # hooks and people know it by its tags
        if turn is not None and not tagged and not whys[record.id] and cut_out_of(record.text, turn.text):
            best[turn.id] = max(best[turn.id], record.score)
            dropped.append(Dropped(record, "duplicate", turn.id))
        else:
            kept.append(record)
    raised = [
        replace(record, score=best[record.id]) if best.get(record.id, record.score) > record.score else record
        for record in kept
    ]
    return sorted(raised, key=lambda record: -record.score), dropped


def _plain(understood: Understood) -> bool:
    """Whether a question asks for one thing, and the dialogue is not needed to tell for which."""
    return understood.only is not None or (understood.shape is Shape.PLAIN and not understood.leans)


def _answers(
    records: Sequence[Record], says: Callable[[str], Saying], whys: Mapping[str, str], whole: AbstractSet[str]
) -> dict[str, Saying]:
    """What the records that are made from turns say, and the turns told whole in their place, of those that may be shown: by id, best first."""
    told = {record.id: says(record.id) for record in records if whys[record.id] in ("", "in-window")}
    return {id_: said for id_, said in told.items() if said.evidence and (said.source == MADE or id_ in whole)}


def _answered(record: Record, item: Found, answers: Mapping[str, Saying], understood: Understood) -> str:
    """The id of what answers as well as the one turn for which a sequence was found; "" when nothing does."""
    turn, words = item.hit
    if record.kind != SEQUENCE or not turn:
        return ""
    asked = understood.weights().keys() & set(content_terms(words))
    if points_back(
        understood.query.text
    ):  # "when is it?", or "when is the call with Irina?", which names all it asks for
        asked |= set(understood.said[0].terms)
    told = ((id_, said) for id_, said in answers.items() if turn in said.evidence)
    return next((id_ for id_, said in told if said.source == TURN or asked <= said.terms), "")


class _Seen:
    """What is kept so far, and what the window shows; ids in the order of the ranking."""

    def __init__(self, asked: frozenset[str]) -> None:
        self.in_window: set[str] = set()
        self._asked = asked
        self._records: dict[str, Record] = {}
        self._said: dict[str, Saying] = {}

    def kept(self) -> list[Record]:
        """The records that may be shown."""
        return list(self._records.values())

    def twin(self, said: Saying) -> str:
        """The id of the first that this adds nothing to; "" when it says something new."""
        all_said = self._said.items()
        return next((id_ for id_, other in all_said if same(other, said, self._asked, shown=id_ in self.in_window)), "")

    def turns_behind(self, said: Saying) -> list[str]:
        """Ids of the kept turns that this says as well: with nothing more that is asked, of a sequence word for word."""
        if said.source == TURN:
            return []
        turns = [(id_, self._said[id_]) for id_ in self._records if self._said[id_].source == TURN]
        return [id_ for id_, turn in turns if turn.evidence & said.evidence and same(said, turn, self._asked)]

    def shown(self, record: Record, said: Saying) -> None:
        """The window shows it: nothing that says the same is news."""
        self.in_window.add(record.id)
        self._said[record.id] = said

    def put(self, record: Record, said: Saying, behind: Sequence[str]) -> list[Dropped]:
        """Keep it, in the place and with the score of the best of the turns behind it; returns these, which go."""
        self._said[record.id] = said
        if not behind:
            self._records[record.id] = record
            return []
        replaced = [Dropped(self._records[id_], "duplicate", record.id) for id_ in behind]
        order = [record.id if id_ in behind else id_ for id_ in self._records]
        best = max(self._records[id_].score for id_ in behind)
        self._records[record.id] = replace(record, score=max(best, record.score))
        self._records = {id_: self._records[id_] for id_ in dict.fromkeys((*order, record.id))}
        for id_ in behind:
            del self._said[id_]
        return replaced


QUESTION_WORTH = 0.5
"""What a turn that only asks counts beside one that states something."""

GAP = " … "
_EXCERPT_LONGEST = 40_000  # characters that are looked through for sentences
_MARK = lazy("[?？]")
_ASKED = lazy(r"[?？][\s\"'”’»)\]]*$")
_OPENS = lazy(
    r"^(?:and |but |so |also |ok(?:ay)?,? |hey,? |hi,? )*"
    r"(?:(?:what|who|whom|whose|where|when|why|which|how)(?:'s|'re|\s+(?:is|are|was|were|do|does|did|can|could|will|would|should|has|have|had|many|much|long|often|old|far))\b"
    r"|(?:is|are|was|were|do|does|did|can|could|would|will|should|have|has|had)\s+(?:i|you|we|he|she|it|they|there|my|your|our|his|her|their|the|this|that|any)\b"
    r"|(?:do you )?remember (?:what|who|where|when|why|which|how)\b"
    r"|(?:что|кто|кого|кому|чей|чья|чьё|где|куда|откуда|когда|почему|зачем|как|какой|какая|какое|какие|сколько|помнишь)\b"
    r"|(?:什么|谁|哪|几时|何时|为什么|怎么|多少))",
    re.IGNORECASE,
)
_ENDS = lazy(r"(?:吗|呢|什么|谁|哪里|哪儿|多少|几点|怎么样|没有)[。.!！\s]*$")
_SHORT_WORDS = 14  # a longer sentence that begins like a question and has no mark tells something as well
_CLAUSES = lazy(r"[,;:，；：—–]\s*")
_STATED = 4  # words, and
_STATED_CJK = 6  # characters, from which a clause beside the question says something
_CJK = lazy(r"[\u3040-\u30ff\u3400-\u9fff]")
_CHATTER = 1  # content terms up to which a sentence beside a question is a greeting


def worth(text: str) -> float:
    """1 for a text that states something, less for one that only asks; 1 for an empty one."""
    if not (_MARK.search(text) or _OPENS.match(text) or _ENDS.search(text)):
        return 1.0
    said = sentences(text[:_EXCERPT_LONGEST])
    asks = [sentence for sentence in said if _is_question(sentence)]
    if not asks or any(_states(sentence) for sentence in said):
        return 1.0
    return QUESTION_WORTH


def excerpt(text: str, weights: Mapping[str, float], most: int) -> str:
    """The text, or of one longer than `most` characters the sentences that hold most of these terms, in their order."""
    if len(text) <= most:
        return text
    said = sentences(text[:_EXCERPT_LONGEST])
    scores = [sum(weights.get(term, 0.0) for term in set(terms(sentence))) for sentence in said]
    order = sorted(range(len(said)), key=lambda at: (-scores[at], at))
    kept: set[int] = set()
    left = most
    for at in order:
        if kept and not scores[at]:
            break
        cost = len(said[at]) + len(GAP)
        if cost <= left:
            kept.add(at)
            left -= cost
        elif not kept:
            return _cut(said[at], weights, most)
    for at in sorted({place + 1 for place in kept} - kept):  # what follows an answer often goes on with it
        if at < len(said) and len(said[at]) + len(GAP) <= left:
            kept.add(at)
            left -= len(said[at]) + len(GAP)
    return _joined(said, kept)


def _joined(said: list[str], kept: set[int]) -> str:
    shown = ""
    for at in sorted(kept):
        shown += (" " if at - 1 in kept else GAP.lstrip() if not shown and at else GAP if shown else "") + said[at]
    return shown + ("" if len(said) - 1 in kept else GAP.rstrip())


def _cut(sentence: str, weights: Mapping[str, float], most: int) -> str:
    """A sentence that alone is too long: the part of it around the terms."""
    room = max(most - 2 * len(GAP), 1)
    step = max(room // 2, 1)
    starts = range(0, max(len(sentence) - room, 0) + step, step)
    best = max(starts, key=lambda at: (sum(weights.get(t, 0.0) for t in set(terms(sentence[at : at + room]))), -at))
    shown = sentence[best : best + room].strip()
    return (GAP.lstrip() if best else "") + shown + (GAP.rstrip() if best + room < len(sentence) else "")


def _is_question(sentence: str) -> bool:
    if _ASKED.search(sentence) or _ENDS.search(sentence):
        return True
    return len(sentence.split()) <= _SHORT_WORDS and bool(_OPENS.match(sentence)) and not _CLAUSES.search(sentence)


def _states(sentence: str) -> bool:
    """Whether it says something: a sentence that does not ask and is no greeting, or a clause beside the question."""
    if not _is_question(sentence):
        return len(content_terms(sentence)) > _CHATTER
    *beside, _ = _CLAUSES.split(sentence)
    return any(_long(clause) and not _OPENS.match(clause) for clause in beside)


def _long(clause: str) -> bool:
    return len(clause.split()) >= _STATED or len(_CJK.findall(clause)) >= _STATED_CJK


_LEAST_SALIENCE = 0.5
"""What a record of no importance counts beside the most important one of the same age."""


@dataclass(frozen=True, slots=True)
class Layers:
    """What goes in, of each layer in its order, and what does not."""

    topic: tuple[Record, ...]
    recent: tuple[Record, ...]
    dropped: tuple[Dropped, ...]


def salience(record: Record, now: datetime, half_life: float) -> float:
    """What a recent record counts, in [0, 1]: importance, halved for each `half_life` seconds of its age."""
    age = max(0.0, now.timestamp() - record.at.timestamp())
    importance = _LEAST_SALIENCE + (1 - _LEAST_SALIENCE) * record.importance
    return importance * math.exp2(-age / half_life)


def newest(records: Iterable[Record], now: datetime, half_life: float) -> list[Record]:
    """Records of all sources by their salience, the most salient first; ties: the newer, then by id."""
    return sorted(records, key=lambda item: (-salience(item, now, half_life), -item.at.timestamp(), item.id))


def layered(
    topic: Sequence[Found],
    recent: Sequence[Found],
    *,
    budget: int,
    share: float,
    cost: Callable[[Record], int],
    limit: int = 0,
) -> Layers:
    """Fill the topic layer with its part of the budget, the recency layer with its `share`; each may use what is left over.

    A recent record that says what stands in the topic layer is left out there. cost: tokens of a record as rendered.
    limit: records in all at most, 0 = any number.
    """
    packing = _Packing(cost, limit)
    first, waiting = packing.filled(topic, budget - int(share * budget))
    new, left = packing.filled(recent, budget - packing.spent)
    rest, over = packing.filled(waiting, budget - packing.spent)
    kept = {record.id: record for record in (*first, *rest)}
    return Layers(
        tuple(kept[item.record.id] for item in topic if item.record.id in kept),
        tuple(new),
        (*packing.repeats, *(Dropped(item.record, packing.why) for item in (*over, *left))),
    )


class _Packing:
    """What is packed so far: tokens spent, what was said, and which records repeated it."""

    def __init__(self, cost: Callable[[Record], int], limit: int) -> None:
        self.spent = 0
        self.repeats: list[Dropped] = []
        self._cost = cost
        self._limit = limit
        self._said: dict[str, Saying] = {}

    @property
    def why(self) -> str:
        """Why what is left out now is left out."""
        return "over-limit" if self._full else "over-budget"

    @property
    def _full(self) -> bool:
        return bool(self._limit) and len(self._said) >= self._limit

    def filled(self, items: Sequence[Found], room: int) -> tuple[list[Record], list[Found]]:
        """Those that fit into so many tokens, in their order, shortened to their summary where that helps; and the others."""
        kept: list[Record] = []
        left: list[Found] = []
        for item in items:
            said = saying(item.record, item)
            twin = next((id_ for id_, other in self._said.items() if same(other, said, frozenset())), "")
            if item.record.id in self._said or twin:
                self.repeats.append(Dropped(item.record, "duplicate", twin or item.record.id))
            elif not self._full and (fitting := self._fitting(item.record, room)):
                kept.append(fitting)
                self._said[item.record.id] = said
                self.spent += fitting.tokens
                room -= fitting.tokens
            else:
                left.append(item)
        return kept, left

    def _fitting(self, record: Record, room: int) -> Record | None:
        for text in dict.fromkeys((record.text, record.summary)):
            fitting = replace(record, text=text)
            if text and (tokens := self._cost(fitting)) <= room:
                return replace(fitting, tokens=tokens)
        return None


FRAME_TOKENS = 45
"""What the block's first and last lines cost in the shipped template."""

LINE_TOKENS = 15
"""What a record's line costs beside its text: date, citation, brackets."""

ROOM = 490
"""Tokens of a block up to which what the owner said goes in with `FAR_WORSE` of the best one's score; all else needs `WORSE`."""

FAR_WORSE, WORSE = 0.1, 0.75
"""Shares of the best score, chosen on the development parts of LoCoMo and MADial for told recall at less than 500 tokens."""

_FIT_LONGEST = 16
"""Characters of a token beyond which no text goes on average: one that is longer is too long without being counted."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """What goes into the block, in the given order, and what does not fit."""

    records: tuple[Record, ...]
    dropped: tuple[Dropped, ...]


def fit(
    records: Sequence[Record],
    *,
    limit: int,
    budget: int,
    counter: TokenCounter,
    best: float = 0.0,
    room: int = ROOM,
    whole: bool = False,
) -> Fitted:
    """At most `limit` records in at most `budget` tokens, frame included; `Record.tokens` is what each costs.

    best: the score of the best one, where something shows that already. What is far worse is cut off ("far-worse"): what the owner
    did not say and what lies beyond `room` tokens sooner; whole: nothing is, for a person who searches, or for all of some days.
    A record that does not fit is tried with its summary as its text, then left out; shorter ones after it still go in.
    """
    kept: list[Record] = []
    dropped: list[Dropped] = []
    left = budget - FRAME_TOKENS
    best = 0.0 if whole else max(best, max((record.score for record in records), default=0.0))
    for record in records:
        if len(kept) >= limit:
            dropped.append(Dropped(record, "over-limit"))
            continue
        if record.score < FAR_WORSE * best:
            dropped.append(Dropped(record, "far-worse"))
            continue
        fitting = _fitting(record, left, counter)
        if fitting is None:
            dropped.append(Dropped(record, "over-budget"))
            continue
        spent = budget - left + fitting.tokens
        near = record.origin is Origin.OWNER and spent <= room
        if record.score < (FAR_WORSE if near else WORSE) * best:
            dropped.append(Dropped(record, "far-worse"))
            continue
        kept.append(fitting)
        left -= fitting.tokens
    return Fitted(tuple(kept), tuple(dropped))


def _fitting(record: Record, left: int, counter: TokenCounter) -> Record | None:
    texts = [text for text in dict.fromkeys((record.text, record.summary)) if text and len(text) <= _FIT_LONGEST * left]
    if not texts or left <= LINE_TOKENS:
        return None
    for text in texts:
        tokens = LINE_TOKENS + counter.count(text)
        if tokens <= left:
            return replace(record, text=text, tokens=tokens)
    return None
