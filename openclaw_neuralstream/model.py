"""The values everything else speaks about: turns, batches, gems, records, blocks. Frozen; no I/O, no vendor."""

from __future__ import annotations

import hashlib
import re
import unicodedata
import uuid
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import Any

NAMESPACE = uuid.UUID("6f2f4b0e-52c1-5d0e-9f53-1f1b5a0c9a11")
OWNER = "owner"

FINDINGS = "sub-agent"
"""How the name of a speaker begins whose words are what a sub-agent found."""


class Origin(StrEnum):
    """Whose words a text is; decides how far it is trusted."""

    OWNER = "owner"
    AGENT = "agent"
    UNTRUSTED = "untrusted"
    SYSTEM = "system"


class Trigger(StrEnum):
    """Why a batch was claimed."""

    BATCH = "batch"
    CONTEXT = "context"
    IDLE = "idle"
    COMPACTION = "compaction"
    BOUNDARY = "boundary"
    MANUAL = "manual"


class Kind(StrEnum):
    """What a gem says; also the first of its `tags`."""

    FACT = "fact"
    DECISION = "decision"
    PREFERENCE = "preference"
    INSTRUCTION = "instruction"
    TODO = "todo"
    EVENT = "event"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose memory: agent, user, project. A record is visible only where agent and user are equal.

    `project` narrows when it is not empty: records of the same project, and those of none.
    """

    agent: str
    user: str = OWNER
    project: str = ""


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation as the host names it, and our own epoch, bumped when its context is wiped.

    The host keeps `host_id` over `/new` and `/reset`; (agent, key, epoch) is what is unique.
    """

    agent: str
    key: str
    host_id: str
    epoch: int = 0


@dataclass(frozen=True, slots=True)
class Child:
    """A sub-agent: its own conversation, its parent's, and what it was told to do.

    label: the name the parent gave it, "" when it gave none. light: started with a light context on purpose.
    """

    session: Session
    parent: Session
    task: str = ""
    label: str = ""
    light: bool = False


@dataclass(frozen=True, slots=True)
class Utterance:
    """One contribution to a turn. `name` is the person's or tool's name where the host gave one."""

    speaker: str  # "owner" | "agent" | "tool" | "third-party" | "system"
    origin: Origin
    text: str
    at: datetime
    name: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """A user message and what answered it, already stripped and redacted.

    `turn_id` is derived from the host's run, so that the same event twice is one turn.
    `index` counts the turns of a session from 1, over its epochs; 0 = not yet numbered (the store numbers it).
    """

    turn_id: str
    scope: Scope
    session: Session
    at: datetime
    utterances: tuple[Utterance, ...]
    index: int = 0
    run_id: str = ""

    def text_of(self, *speakers: str) -> str:
        """The texts of these speakers in order, a line each; "" when they said nothing."""
        return "\n".join(u.text for u in self.utterances if u.speaker in speakers)

    def completes(self, known: Turn) -> bool:
        """Whether this is the same turn with the answer, and only what people said in it was known."""
        speakers = {said.speaker for said in known.utterances}
        return known.turn_id == self.turn_id and speakers <= {"owner", "third-party"} and bool(self.text_of("agent"))


@dataclass(frozen=True, slots=True)
class Usage:
    """The context window after a turn: prompt tokens of the last model call, the window, and their share in percent."""

    tokens: int
    context_window: int

    @property
    def percent(self) -> float | None:
        """100 · tokens / context_window; None when either is unknown."""
        if self.tokens <= 0 or self.context_window <= 0:
            return None
        return 100 * self.tokens / self.context_window


@dataclass(frozen=True, slots=True)
class Batch:
    """Turns of one session claimed for extraction, oldest first. The lease token fences a late committer."""

    batch_id: str
    session: Session
    turns: tuple[Turn, ...]
    token: str
    lease_until: datetime
    attempt: int = 1
    trigger: Trigger = Trigger.BATCH


@dataclass(frozen=True, slots=True)
class Backlog:
    """What waits in the buffer for one session."""

    session: Session
    waiting: int
    claimed: int
    oldest: datetime
    newest: datetime


@dataclass(frozen=True, slots=True)
class ExtractorIdentity:
    """Who made a gem. `prompt` is the digest of the prompt template; "" where there is none."""

    name: str
    version: str
    model: str = ""
    prompt: str = ""


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """Which model made a vector; vectors of two identities are never compared."""

    name: str
    dimensions: int

    def __str__(self) -> str:
        return f"{self.name}/{self.dimensions}"


@dataclass(frozen=True, slots=True)
class Draft:
    """What an extractor proposes; becomes a gem when the engine gives it scope, source, ids and judgement.

    evidence: ids of the turns of the batch that support it, at least one.
    importance, confidence: in [0, 1]. importance_reason: in a few words, "" where the extractor gives none.
    supersedes: ids of gems it was shown as known and that this one makes untrue.
    """

    content: str
    summary: str
    kind: Kind
    evidence: tuple[str, ...]
    speaker: str = OWNER
    origin: Origin = Origin.OWNER
    importance: float = 0.5
    confidence: float = 0.8
    topics: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    language: str = ""
    importance_reason: str = ""
    supersedes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GemSource:
    """Where a gem came from: the host's session id, the day of its first turn, and the turn numbers ("15-20")."""

    session_id: str
    date: str
    turn_range: str


@dataclass(frozen=True, slots=True)
class Gem:
    """A distilled insight with its source. The first eight fields are the spec's format, see `formats.gem_to_json`."""

    gem_id: str
    content: str
    summary: str
    topics: tuple[str, ...]
    importance: float
    source: GemSource
    tags: tuple[str, ...]
    created_at: datetime
    # further fields, under names of their own
    scope: Scope
    kind: Kind = Kind.FACT
    origin: Origin = Origin.OWNER
    speaker: str = OWNER
    entities: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    confidence: float = 0.8
    language: str = ""
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    superseded_by: str = ""
    supersedes: str = ""
    extractor: ExtractorIdentity = ExtractorIdentity("unknown", "0")
    batch: str = ""
    session_key: str = ""
    epoch: int = 0
    edited: bool = False
    importance_reason: str = ""


class FactKind(StrEnum):
    """What a fact of a Markdown file is: its letter in a bullet is W, B, O or S."""

    WORLD = "world"
    EXPERIENCE = "experience"
    OPINION = "opinion"
    OBSERVATION = "observation"


RECORD_KINDS = (*(kind.value for kind in FactKind), "note", "turn", *(kind.value for kind in Kind))
"""What a question may be narrowed to: kinds of facts, pieces of files, verbatim turns, kinds of gems."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A typed bullet of a Markdown file, with the lines it stands on (counted from 1, the last one included).

    fact_id: from the path and the words, so that it stays when the bullet moves inside its file or its confidence moves.
    text: the bullet without its kind and its leading entities. entities: names as written, without "@".
    day: of the file, or of the heading. valid_from, valid_to: the day or range that the text itself names.
    attribute: what it tells of whom; a later fact with an equal one replaces it. "" = nothing replaces it.
    evidence, against: sources it points to ("memory/2025-11-27.md#L12"). generated: it stands inside our own fence.
    """

    fact_id: str
    kind: FactKind
    text: str
    entities: tuple[str, ...]
    path: str
    line: int
    end_line: int
    confidence: float | None = None
    day: date | None = None
    valid_from: date | None = None
    valid_to: date | None = None
    tags: tuple[str, ...] = ()
    attribute: str = ""
    evidence: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    generated: bool = False

    @property
    def citation(self) -> str:
        """Where it stands: `memory/2025-11-27.md#L12`."""
        return cited(self.path, self.line, self.end_line)


@dataclass(frozen=True, slots=True)
class Note:
    """A piece of a Markdown file: a section, or a part of a long one, as it is written.

    trail: the headings above it, outermost first. category: the folder it lies in ("daily", "projects", "page" …).
    entities: whom its text names with "@", and whose page it is.
    """

    note_id: str
    path: str
    line: int
    end_line: int
    trail: tuple[str, ...]
    category: str
    title: str
    text: str
    tags: tuple[str, ...] = ()
    day: date | None = None
    entities: tuple[str, ...] = ()
    generated: bool = False

    @property
    def citation(self) -> str:
        """Where it stands: `memory/2025-11-27.md#L12-L20`."""
        return cited(self.path, self.line, self.end_line)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something of a file that could not be taken as it was meant; the rest of the file is indexed all the same."""

    path: str
    line: int
    what: str


@dataclass(frozen=True, slots=True)
class Document:
    """One Markdown file, parsed. path: relative to the workspace, with "/". entity: whose page it is, or ""."""

    path: str
    digest: str
    title: str
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    facts: tuple[Fact, ...] = ()
    problems: tuple[Problem, ...] = ()
    day: date | None = None
    entity: str = ""


@dataclass(frozen=True, slots=True)
class Known:
    """What the index knows of a file, to see without reading whether it changed."""

    digest: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Entity:
    """Somebody or something that facts and notes name. page: the file about it, or ""."""

    slug: str
    name: str
    aliases: tuple[str, ...] = ()
    page: str = ""
    facts: int = 0
    notes: int = 0
    last_day: date | None = None


@dataclass(frozen=True, slots=True)
class Period:
    """Days from `start` to `end`, both included; None = open. rest: the question without the words that named it."""

    start: date | None
    end: date | None
    rest: str = ""

    def meets(self, first: date | None, last: date | None) -> bool:
        """Whether some day of first..last lies in the period; something without a day never does."""
        first, last = first or last, last or first
        if first is None or last is None:
            return False
        return (self.start is None or last >= self.start) and (self.end is None or first <= self.end)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an answer is narrowed to; the default wants everything that holds now.

    period: the day of a record, or the range its text names, must meet it. entities: one of these must be named (any
    spelling or alias). kinds: fact kinds, "note". as_of: what held in that period, whatever came later.
    superseded: also what a later fact replaced. generated: also what stands inside our own fences.
    tag_keys: the keys of all names of those tags and of the tags below them; the engine fills it in.
    """

    period: Period | None = None
    entities: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    as_of: Period | None = None
    superseded: bool = False
    generated: bool = True
    tag_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pair:
    """A question in its sequence, and its answer where that was worth keeping.

    sequence: the name of its conversation ("discord-general-20260130"). seq: its place there, counted from 1.
    answer: "" where it was not kept; kept: why it was ("significance", "interest", "hand"), "" = it was not.
    significance: in [0, 1]; factors: what it is made of. tokens: its words as a person would name them.
    question_hash: near-identical questions have the same, or nearly (`questions.question_hash`).
    mark: "keep" or "drop" where a person said so.
    origin, speaker: of who asked; others: (speaker, text) of what others said in the same turn. answered: AGENT, or UNTRUSTED
    where the assistant had heard another person, or read what a tool gave, in that turn.
    """

    turn_id: str
    scope: Scope
    sequence: str
    seq: int
    question: str
    at: datetime
    answer: str = ""
    kept: str = ""
    significance: float = 0.0
    factors: tuple[tuple[str, float], ...] = ()
    tokens: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    question_hash: str = ""
    origin: Origin = Origin.OWNER
    speaker: str = OWNER
    mark: str = ""
    others: tuple[tuple[str, str], ...] = ()
    answered: Origin = Origin.AGENT


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked of recall.

    text: the message itself. dialogue: the texts said before it in this window, oldest first.
    window_turns: ids of the turns still in the window; window_text: what the window shows, to inject nothing twice.
    exclude: ids of records that this request shows already.
    wanted: what the answer is narrowed to; None = the question alone decides. sources: names of the kinds of memory that
    are asked ("gems", "turns", "notes", "sequences"); empty = all. everything: a person searches, so that what is hardly
    relevant comes last instead of not at all. session_key: the conversation that it is asked in, "" = none.
    """

    text: str
    scope: Scope
    now: datetime
    dialogue: tuple[str, ...] = ()
    window_turns: frozenset[str] = frozenset()
    window_text: str = ""
    exclude: frozenset[str] = frozenset()
    limit: int = 0  # 0 = the settings decide
    token_budget: int = 0  # 0 = the settings decide
    wanted: Wanted | None = None
    sources: frozenset[str] = frozenset()
    everything: bool = False
    session_key: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """What recall returns, whichever source it came from.

    when: the day, or "first/last" where its text names a range; "" = no day is known, or `at` says it all.
    evidence, against: where an opinion of the files has them, the sources for and against it.
    inferred_tags: tags that nobody gave it, inferred from its text because it has none of its own.
    outdated: why it does not hold any more ("superseded", "expired"), where it was asked for all the same; "" = it holds.
    """

    id: str
    kind: str
    text: str
    summary: str
    score: float
    at: datetime
    citation: str
    origin: Origin
    speaker: str
    agent: str
    session_id: str
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    importance: float = 0.5
    confidence: float = 0.8
    tokens: int = 0
    factors: dict[str, float] = field(default_factory=dict)
    when: str = ""
    evidence: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    inferred_tags: tuple[str, ...] = ()
    outdated: str = ""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A candidate that was not returned, and why (one of the words that `explain` documents).

    of: the id of the record that says the same, where that is why.
    """

    record: Record
    why: str
    of: str = ""


@dataclass(frozen=True, slots=True)
class Recall:
    """The answer of recall: records best first, what was dropped, and which sources were left out (name → reason).

    shape: "plain", "timeline" (the records stand in the order in which things happened) or "summary".
    dated: when something was, or how long ago, is asked. understood: what was understood of the question, for `explain`.
    ranks: for each candidate the sources that found it, and at which place (1 = best). evidence: the turns that a
    record was made from. stage_ms: milliseconds of each stage. depth: what a reranker did, "" where none was asked.
    needed: whether the message needs memory at all.
    """

    records: tuple[Record, ...]
    dropped: tuple[Dropped, ...] = ()
    left_out: dict[str, str] = field(default_factory=dict)
    stage_ms: dict[str, float] = field(default_factory=dict)
    shape: str = "plain"
    dated: bool = False
    understood: dict[str, Any] = field(default_factory=dict)
    ranks: dict[str, dict[str, int]] = field(default_factory=dict)
    evidence: dict[str, frozenset[str]] = field(default_factory=dict)
    depth: str = ""
    needed: bool = True


@dataclass(frozen=True, slots=True)
class Assembled:
    """A context made ready for a prompt: the rendered text with what it holds.

    tags: of the question. source: "memory", the name of the file that it fell back to, or "" for nothing.
    recent: ids of the records that are there because they are new. dropped: what found no room, and why.
    """

    text: str
    records: tuple[Record, ...] = ()
    tokens: int = 0
    tags: tuple[str, ...] = ()
    source: str = ""
    recent: frozenset[str] = frozenset()
    dropped: tuple[Dropped, ...] = ()
    stage_ms: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Block:
    """Rendered text for the prompt, "" when there is nothing to say; `records` are the ids of what it shows."""

    text: str
    records: tuple[str, ...] = ()
    tokens: int = 0


def digest(*parts: str, size: int = 16) -> str:
    """A stable hex id of these parts (BLAKE2b, `size` bytes); equal parts give equal ids on every machine.

    Lone surrogates are kept apart rather than refused, so that no text of a user is without an id.
    """
    joined = "\x1f".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(joined, digest_size=size).hexdigest()


def cited(path: str, line: int, end_line: int) -> str:
    """A place in a file as sources are written: `path#L12`, or `path#L12-L20` for several lines."""
    return f"{path}#L{line}" if end_line <= line else f"{path}#L{line}-L{end_line}"


def slug_of(name: str) -> str:
    """An entity's name as what all its spellings share: "Peter Müller", "@peter_müller" → "peter-müller"."""
    folded = unicodedata.normalize("NFKC", name).casefold().removesuffix(".md")
    return re.sub(r"[\W_]+", "-", unicodedata.normalize("NFC", folded)).strip("-")


def content_uuid(*parts: str) -> str:
    """A UUID (version 5 layout) derived from these parts."""
    return str(uuid.uuid5(NAMESPACE, digest(*parts)))
