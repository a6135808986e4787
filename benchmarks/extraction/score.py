"""What an extractor's drafts are worth against the labels. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from benchmarks.extraction.conversations import Conversation, reading
from openclaw_neuralstream.lexicon import content_terms
from openclaw_neuralstream.model import Draft

_SUPPORTED = 0.6
_DAYS = re.compile(r"\(\d{4}-\d\d-\d\d[^)]*\)|\d{4}-\d\d-\d\d")


@dataclass
class Score:
    """Counts over conversations; the rates are their quotients."""

    conversations: int = 0
    expected: int = 0
    found: int = 0
    right_kind: int = 0
    gems: int = 0
    correct: int = 0
    allowed: int = 0
    duplicates: int = 0
    forbidden: int = 0
    unsupported: int = 0
    wrong_speaker: int = 0
    wrong_language: int = 0
    secrets: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def recall(self) -> float:
        """Share of the expected gems that were made."""
        return self.found / self.expected if self.expected else 1.0

    @property
    def precision(self) -> float:
        """Share of the gems that were expected, those that are merely allowed left out."""
        judged = self.gems - self.allowed
        return self.correct / judged if judged else 1.0

    @property
    def f1(self) -> float:
        """The harmonic mean of both."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0

    def __add__(self, other: Score) -> Score:
        mine, theirs = asdict(self), asdict(other)
        return Score(**{name: mine[name] + theirs[name] for name in mine})

    def as_json(self) -> dict[str, object]:
        """Counts and rates, without the notes."""
        counts = {name: value for name, value in asdict(self).items() if name != "notes"}
        rates = {"recall": self.recall, "precision": self.precision, "f1": self.f1}
        return {**{name: round(value, 3) for name, value in rates.items()}, **counts}


def score(conversation: Conversation, drafts: Sequence[Draft]) -> Score:
    """The score of one conversation; the notes say what went wrong."""
    result = Score(conversations=1, expected=len(conversation.expected), gems=len(drafts))
    hits: dict[int, list[Draft]] = {number: [] for number in range(len(conversation.expected))}
    for draft in drafts:
        _judge(draft, conversation, result, hits)
    for number, expected in enumerate(conversation.expected):
        found = hits[number]
        result.found += bool(found)
        result.right_kind += any(draft.kind.value in expected.kinds for draft in found)
        result.duplicates += max(0, len(found) - 1)
        if not found:
            result.notes.append(f"{conversation.name}: missed {' | '.join(expected.words)}")
    return result


def _judge(draft: Draft, conversation: Conversation, result: Score, hits: dict[int, list[Draft]]) -> None:
    content = draft.content.casefold()
    matches = [n for n, expected in enumerate(conversation.expected) if _holds(content, expected.words)]
    for number in matches:
        hits[number].append(draft)
    if matches:
        result.correct += 1
    elif any(_holds(content, words) for words in conversation.allowed):
        result.allowed += 1
    else:
        result.notes.append(f"{conversation.name}: needless {draft.kind.value} {draft.importance} {draft.content}")
    if any(_holds(content, words) for words in conversation.forbidden):
        result.forbidden += 1
        result.notes.append(f"{conversation.name}: forbidden {draft.content}")
    result.secrets += any(secret in draft.content for secret in conversation.secrets)
    result.wrong_language += draft.language not in ("", conversation.language)
    _judge_support(draft, conversation, result)


def _judge_support(draft: Draft, conversation: Conversation, result: Score) -> None:
    """Whether the words were said at all, and by the one whose they are said to be."""
    wanted = set(content_terms(_DAYS.sub(" ", draft.content)))
    turns = reading(conversation).batch.turns
    said = {speaker: set(content_terms("\n".join(t.text_of(speaker) for t in turns))) for speaker in _SPEAKERS}
    if wanted and len(wanted & set().union(*said.values())) / len(wanted) < _SUPPORTED:
        result.unsupported += 1
        result.notes.append(f"{conversation.name}: unsupported {draft.content}")
        return
    merged = {"answer", "confirmed"} & set(draft.tags)  # a question of the agent with the owner's answer
    own = len(wanted & (said["agent"] | said["owner"] if merged else said.get(draft.speaker, set())))
    best = max(len(wanted & terms) for terms in said.values())
    if own < best * 0.5:
        result.wrong_speaker += 1
        result.notes.append(f"{conversation.name}: not said by {draft.speaker}: {draft.content}")


_SPEAKERS = ("owner", "agent", "third-party")


def _holds(content: str, words: Sequence[str]) -> bool:
    return all(word in content for word in words)
