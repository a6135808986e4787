"""What a source of records is, and how all of them are asked within the time that is left."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time
from enum import StrEnum
from typing import Protocol

import numpy as np

from openclaw_neuralstream.errors import VendorAway
from openclaw_neuralstream.model import Gem, Kind, Period, Query, Record, Wanted, slug_of
from openclaw_neuralstream.ports import Embedder, Vector, Vectors
from openclaw_neuralstream.store.tags import key_of
from openclaw_neuralstream.text.traces import mentions

WORDS = "words"
MEANING = "meaning"
COVERAGE = "coverage"
STRETCH = "stretch"
TIME = "time"
TAGS = "tags"
ENTITY = "entity"
DAY = "day"
"""The signals there are, each on a scale where 0 is unrelated and 1 is all that was asked:

words: BM25 over what all terms of the question could give (`relevance.share`). meaning: cosine above the background.
coverage: the share of the question's rare terms that a record holds. stretch: the same for the conversation around it.
time: how well a record's days meet those that the question names.
day: how much a record matters among those of the days, where nothing else is asked.
tags: how well a gem's tags are those that are asked for. entity: the share of the named that it names.
A new signal needs a weight in `fuse` and nothing else.
"""


ASKS = 2
"""Content terms from which a message can be a question of its own; "go on" is not."""

NEW_SUBJECT = 0.2
"""The cosine between a follow-up with its messages and the dialogue before these, under which that is about something else."""

NEAR = 2
"""How many messages before a follow-up are what it is about: the question before it, and its answer."""

LAST_SHARE = 0.2
"""What the last message counts in the vector of a dialogue that it goes on with."""


@dataclass(frozen=True, slots=True)
class Said:
    """One message of the question: its text, its content terms, and how much it counts (the last one 1).

    by: whose label stood before it ("Anna: …"), where the messages of a dialogue have such labels.
    """

    text: str
    terms: tuple[str, ...]
    weight: float
    by: str = ""


class Shape(StrEnum):
    """What an answer has to look like: the best records, events in their order, or much in few words."""

    PLAIN = "plain"
    TIMELINE = "timeline"
    SUMMARY = "summary"


@dataclass(frozen=True, slots=True)
class Understood:
    """A question made ready to be asked.

    said: the last message first, then the dialogue backwards. text: what stands for all of it in a vector search.
    script: the dominant script of the last message. names: terms of the persons and things it calls by name.
    question: whether it asks at all. shape: what the answer has to look like. period: the days that it names.
    entities, tags: canonical names, of those that the memory knows. question_hash: the same for near-identical
    questions; "" where nothing is asked. as_of: what held in these days is asked, not what happened in them.
    only: the days, where nothing else is asked ("what happened in March?"): all that is of them is an answer, nothing else is.
    outdated, quoted: what was read of turns on the way, so that it is read once: why each holds no more ("" = it does), and
    the beginnings of answers that only the turn has. gems, rarities: the same, gems by id and how much each term of the question says among them.
    beside: terms of a question that names days, without those days. dated: when, or how long ago, is asked. leans: only what was said just before tells what it is about ("that one").
    looked_through: whether no text of the memory is older than the rules of secrets in force.
    """

    query: Query
    said: tuple[Said, ...]
    text: str
    script: str
    names: frozenset[str] = frozenset()
    question: bool = False
    shape: Shape = Shape.PLAIN
    period: Period | None = None
    entities: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    question_hash: str = ""
    as_of: Period | None = None
    dated: bool = False
    leans: bool = False
    goes_on: float = 1.0
    only: Period | None = None
    beside: frozenset[str] = frozenset()
    looked_through: bool = False
    outdated: dict[str, str] = field(default_factory=dict)
    quoted: dict[str, str] = field(default_factory=dict)
    gems: dict[str, Gem] = field(default_factory=dict)
    rarities: dict[str, float] = field(default_factory=dict)
    _vectors: dict[str, Vector] = field(default_factory=dict)
    _away: dict[str, VendorAway] = field(default_factory=dict)
    _embedding: threading.Lock = field(default_factory=threading.Lock, compare=False, repr=False)

    def vector(self, embedder: Embedder) -> Vector:
        """The question in this embedder's space; embedded once, however many sources ask. Raises VendorAway.

        The dialogue counts as far as the last message goes on with it.
        """
        name = str(embedder.identity)
        with self._embedding:  # who asks beside another waits for its vector
            if name in self._away:  # each source would wait as long again
                raise VendorAway(self._away[name].what, where=self._away[name].where) from self._away[name]
            if name not in self._vectors:
                try:
                    self._vectors[name] = self._embedded(embedder)
                except VendorAway as error:
                    self._away[name] = error
                    raise
            return self._vectors[name]

    def _embedded(self, embedder: Embedder) -> Vector:
        if len(self.said) > 1 and self.leans:
            return self._in_context(embedder)
        if len(self.said) <= 1 or len(self.said[0].terms) < ASKS:
            return embedder.embed_query(self.text)
        last = embedder.embed_query(self.said[0].text)
        earlier = embedder.embed_query(_joined(self.said[1:]))
        share = 1 - (1 - LAST_SHARE) * self.goes_on
        mixed: Vector = (1 - share) * earlier + share * last
        return mixed / float(np.linalg.norm(mixed))

    def _in_context(self, embedder: Embedder) -> Vector:
        """A follow-up with the messages just before it, and with those before these while they speak of the same."""
        near = embedder.embed_query(_joined(self.said[: 1 + NEAR]))
        before = self.said[1 + NEAR :]
        if not before or float(near @ embedder.embed_query(_joined(before))) < NEW_SUBJECT:
            return near
        return embedder.embed_query(self.text)

    @property
    def past(self) -> Period | None:
        """The days that the question names, where they are over."""
        over = self.period is not None and self.period.end is not None and self.period.end < self.query.now.date()
        return self.period if over else None

    def weights(self) -> dict[str, float]:
        """Each content term and how much it counts: the sum over the messages that hold it, the greatest of them 1.

        What a dialogue comes back to is what it is about.
        """
        found: dict[str, float] = {}
        for message in self.said:
            for term in message.terms:
                found[term] = found.get(term, 0.0) + message.weight
        most = max(found.values(), default=1.0)
        return {term: weight / most for term, weight in found.items()}


def _joined(said: Sequence[Said]) -> str:
    return "\n".join(message.text for message in reversed(said))


@dataclass(frozen=True, slots=True)
class Found:
    """A record and what recall must know about it beside.

    evidence: ids of the turns it was made from. outdated: "superseded", "expired" or "" (it holds).
    who: terms of those whose words it is and whom it is about. verbatim: it is a turn itself, not made from one.
    trust: what its score is multiplied with; worth: its score and its relevance (a bare question answers little).
    held: from when to when it holds or happened, as far as that is known. hit: of several turns, the id and the words of the
    one that was found; the others are there because they stand around it.
    """

    record: Record
    evidence: frozenset[str] = frozenset()
    outdated: str = ""
    who: frozenset[str] = frozenset()
    verbatim: bool = False
    trust: float = 1.0
    held: tuple[date | None, date | None] = (None, None)
    worth: float = 1.0
    hit: tuple[str, str] = ("", "")


class Lasting(Protocol):
    """What became of what was said."""

    def outdated_turns(self, turn_ids: Sequence[str], at: datetime, *, then: bool = False) -> Mapping[str, str]:
        """Those of the turns that say what holds no more: turn id → "superseded" or "expired".

        then: as of that moment; what was replaced later held still.
        """


class Shelf(Protocol):
    """Where the records of one kind are kept; all candidates of a shelf are fetched in one call.

    knows_days: its source knows the days of its records better than their texts tell, and counts them itself.
    """

    name: str
    knows_days: bool

    def fetch(self, ids: Sequence[str], understood: Understood) -> Mapping[str, Found]:
        """The records by id; unknown ids are left out. Raises NeuralStreamError."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A record that a source proposes, not yet fetched.

    signal: what kind of likeness the score measures, higher is better.
    zero: what an unrelated text scores, by its script (see `lexicon.script_of`); {} = 0.
    cut: whether there was no room for others that have this signal too, less of it.
    """

    id: str
    shelf: Shelf
    signal: str
    score: float
    zero: Mapping[str, float] = field(default_factory=dict)
    cut: bool = False


class Source(Protocol):
    """Something recall asks. Scope is applied inside, before anything is ranked.

    kind: the kind of memory it asks: "gems", "turns", "notes", "sequences" or "plugins".
    """

    name: str
    kind: str

    def find(self, understood: Understood, limit: int) -> list[Candidate]:
        """At most `limit` records, best first; [] when nothing is like it. Raises VendorAway when it has no answer."""


SENTENCES = {
    "latin": (
        "The train was late again this morning.",
        "She bought apples and bread at the market.",
        "The server returned an error after the update.",
        "We painted the kitchen walls last weekend.",
        "He is afraid of heights but loves the mountains.",
        "The contract ends in three months.",
        "My sister plays the violin in an orchestra.",
        "Please keep the answers short.",
        "The meeting has been moved to Thursday.",
        "They adopted a dog from the shelter.",
        "I prefer tea without sugar.",
        "The film was long but beautiful.",
    ),
    "cyrillic": (
        "Поезд сегодня утром опять опоздал.",
        "Она купила на рынке яблоки и хлеб.",
        "После обновления сервер вернул ошибку.",
        "В прошлые выходные мы красили стены на кухне.",
        "Он боится высоты, но любит горы.",
        "Договор заканчивается через три месяца.",
        "Моя сестра играет на скрипке в оркестре.",
        "Пожалуйста, отвечай коротко.",
        "Встречу перенесли на четверг.",
        "Они взяли собаку из приюта.",
        "Я люблю чай без сахара.",
        "Фильм был длинный, но красивый.",
    ),
    "cjk": (
        "今天早上的火车又晚点了。",
        "她在市场上买了苹果和面包。",
        "更新之后服务器返回了一个错误。",
        "上个周末我们粉刷了厨房的墙。",
        "他恐高，但是很喜欢爬山。",
        "合同还有三个月到期。",
        "我妹妹在乐团里拉小提琴。",
        "请回答得简短一点。",
        "会议改到了星期四。",
        "他们从收容所领养了一只狗。",
        "我喜欢喝不加糖的茶。",
        "这部电影很长，但是很美。",
    ),
}


class Background:
    """The background of one embedder; embedded at first use, once."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._making = threading.Lock()
        self._vectors: dict[str, Vectors] = {}

    def vectors(self) -> Mapping[str, Vectors]:
        """The vectors by script. Raises VendorAway when the embedder does not answer."""
        with self._making:
            if not self._vectors:
                embedded = self._embedder.embed_documents([text for texts in SENTENCES.values() for text in texts])
                starts = np.cumsum([len(texts) for texts in SENTENCES.values()])[:-1]
                self._vectors = dict(zip(SENTENCES, np.split(embedded, starts), strict=True))
        return self._vectors

    def zero(self, vector: Vector) -> dict[str, float]:
        """The mean cosine of a question's vector to unrelated texts of each script; "other" is the mean of them."""
        means = {script: float((rows @ vector).mean()) for script, rows in self.vectors().items()}
        return {**means, "other": float(np.mean(list(means.values())))}


KINDS = {
    "world": frozenset({Kind.FACT, Kind.DECISION, Kind.CODE}),
    "experience": frozenset({Kind.EVENT}),
    "opinion": frozenset({Kind.PREFERENCE}),
    "observation": frozenset[Kind](),
}
"""The kinds of gems that a kind of facts stands for; gems also answer to their own kinds."""


def earlier_too(understood: Understood) -> bool:
    """Whether also what was replaced is looked for: a person wants it, or the question is about days that are over."""
    wanted = understood.query.wanted
    return bool(wanted and wanted.superseded) or understood.as_of is not None or understood.past is not None


def outdated(lasting: Lasting | None, turn_ids: Sequence[str], understood: Understood) -> Mapping[str, str]:
    """Those of the turns that say what does not hold at the time that is asked about; none where earlier things are wanted."""
    wanted = understood.query.wanted
    if lasting is None or (wanted and wanted.superseded):
        return {}
    if wanted and wanted.as_of:
        return lasting.outdated_turns(turn_ids, datetime.combine(_last_day(wanted), time.max, UTC), then=True)
    return {} if earlier_too(understood) else lasting.outdated_turns(turn_ids, understood.query.now)


def said_by_then(at: datetime, query: Query) -> bool:
    """Whether something was said already: by now, and by the days as of which a person asks."""
    return at <= query.now and (query.wanted is None or at.date() <= _last_day(query.wanted))


def _last_day(wanted: Wanted) -> date:
    return wanted.as_of.end or date.max if wanted.as_of else date.max


def admits(record: Record, wanted: Wanted) -> bool:
    """Whether a record is of the days, kinds, entities and tags that are wanted."""
    day = record.at.date()
    if wanted.period and not wanted.period.meets(day, day):
        return False
    if wanted.kinds and not any(_is(record.kind, kind) for kind in wanted.kinds):
        return False
    if wanted.entities and not _is_about(record, wanted.entities):
        return False
    keys = set(wanted.tag_keys) or {key_of(tag) for tag in wanted.tags}
    return not wanted.tags or any(_levels(tag) & keys for tag in (*record.tags, *record.inferred_tags))


def _is_about(record: Record, entities: Sequence[str]) -> bool:
    """Whether it was labelled with one of them, or said by them, or names them in its words, whatever their endings."""
    slugs = {slug_of(name) for name in (*record.entities, record.speaker)}
    return any(slug_of(name) in slugs or mentions(record.text, name) for name in entities)


def _levels(tag: str) -> set[str]:
    """The keys of a tag and of the levels above it in its name: "a/b" is also "a"."""
    levels = tag.split("/")
    return {key_of("/".join(levels[:n])) for n in range(1, len(levels) + 1)}


def _is(kind: str, wanted: str) -> bool:
    return kind == wanted or kind in KINDS.get(wanted, frozenset())


_MOST = 20
"""Records of one plugin that are looked at for one question."""

Ask = Callable[[Query, int], Mapping[str, Sequence[Record]]]


@dataclass(slots=True, eq=False)
class _Answers:
    """A shelf for one question: what the plugins answered."""

    records: Mapping[str, Record]
    name: str = "plugins"
    knows_days: bool = False

    def fetch(self, ids: Sequence[str], understood: Understood) -> Mapping[str, Found]:  # noqa: ARG002  the port's
        """The records by id."""
        return {id_: Found(self.records[id_]) for id_ in ids if id_ in self.records}


class PluggedSource:
    """Records that hooks find. Their score, from 0 to 1, is their relevance; what is no record is left out."""

    name = "plugins"
    kind = "plugins"

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def find(self, understood: Understood, limit: int) -> list[Candidate]:
        """At most `limit` records of all plugins, best first."""
        answered = self._ask(understood.query, min(limit, _MOST))
        records: dict[str, Record] = {}
        for plugin, found in answered.items():
            for record in list(found)[:_MOST]:
                if isinstance(record, Record) and record.agent == understood.query.scope.agent and record.text.strip():
                    id_ = f"{plugin}:{record.id}"
                    records[id_] = replace(record, id=id_, when=_days(record.when))
        shelf = _Answers(records)
        best = sorted(records.items(), key=lambda item: -item[1].score)[:limit]
        return [
            Candidate(id_, shelf, signal, min(max(float(record.score), 0.0), 1.0))
            for id_, record in best
            for signal in (WORDS, MEANING, COVERAGE)
        ]


def _days(when: str) -> str:
    """A day, or the first and last of several; "" for what is none: it stands before the text, as it is."""
    first, slash, last = when.partition("/")
    try:
        return "/".join(date.fromisoformat(day).isoformat() if day else "" for day in (first, last)[: 1 + len(slash)])
    except ValueError:
        return ""
