"""What of a model's answer is believed: its words must have been said, by whom it says, in the turns it names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from openclaw_neuralstream.extract.answer import Answer, AnsweredGem, Voice
from openclaw_neuralstream.extract.rules.cues import INJECTION
from openclaw_neuralstream.extract.rules.judge import cues_of, is_question
from openclaw_neuralstream.extract.rules.reader import own_words
from openclaw_neuralstream.extract.rules.words import normal
from openclaw_neuralstream.lexicon import content_terms, language_of
from openclaw_neuralstream.model import Draft, Kind, Origin, Turn

SUPPORT = 0.34
"""Share of a gem's content terms that the turns it names must hold."""

_AGENT_CAP = 0.45
_READ = 100_000  # characters of a turn in which support is looked for
_PEOPLE = ("owner", "third-party")
_MACHINES = ("agent", "system")
_ISO_DAY = re.compile(r"\d{4}-\d{2}(?:-\d{2})?(?:[T ]\d{2}:\d{2})?")
_NUMBER = re.compile(r"(?<![\w.:-])\d{2,}(?:[.,:]\d+)*(?![\w-])")
_GROUPING = re.compile(r"(?<=\d)[., ](?=\d{3}(?!\d))")


@dataclass(frozen=True, slots=True)
class Checked:
    """The drafts that hold, and how many gems were dropped."""

    drafts: tuple[Draft, ...]
    dropped: int


@dataclass(frozen=True, slots=True)
class _Heard:
    """A turn and the terms that were said in it, by people in their own words and by machines."""

    turn: Turn
    people: frozenset[str]
    machines: frozenset[str]


def check(answer: Answer, turns: Sequence[Turn]) -> Checked:
    """Drafts whose words the turns of the batch support; `turns` are numbered from 1 in the prompt."""
    heard = [_hear(turn) for turn in turns]
    kept = [draft for gem in answer.gems if (draft := _draft(gem, heard)) is not None]
    unique = {(draft.content.casefold(), draft.speaker): draft for draft in kept}
    return Checked(tuple(unique.values()), len(answer.gems) - len(kept))


def _hear(turn: Turn) -> _Heard:
    """What people only pasted does not count as said."""
    people = "\n".join("\n".join(own_words(u.text[:_READ])) for u in turn.utterances if u.speaker in _PEOPLE)
    machines = turn.text_of(*_MACHINES)
    return _Heard(turn, frozenset(content_terms(people[:_READ])), frozenset(content_terms(machines[:_READ])))


def _draft(gem: AnsweredGem, heard: Sequence[_Heard]) -> Draft | None:
    content = " ".join(gem.content.split())
    evidence = _evidence(gem, content, heard)
    if not evidence or _says_nothing(content) or not _numbers_hold(content, [one.turn for one in evidence]):
        return None
    speaker = _speaker(gem, content, evidence)
    if speaker is None or (speaker is not Voice.OWNER and gem.kind is Kind.INSTRUCTION):
        return None
    importance = gem.importance / 10
    return Draft(
        content=content,
        summary=" ".join(gem.summary.split())[:200],
        kind=gem.kind,
        evidence=tuple(one.turn.turn_id for one in evidence),
        speaker=speaker.value,
        origin={Voice.OWNER: Origin.OWNER, Voice.AGENT: Origin.AGENT}.get(speaker, Origin.UNTRUSTED),
        importance=min(importance, _AGENT_CAP) if speaker is Voice.AGENT else importance,
        confidence=gem.confidence / 10,
        topics=_words(gem.topics),
        entities=_words(gem.entities),
        valid_from=_utc(gem.valid_from),
        valid_to=_end(gem.valid_to, [one.turn for one in evidence]),
        language=language_of(content),
    )


def _says_nothing(content: str) -> bool:
    """Whether it is an injected order, a redacted secret, a question, or "Exciting!"."""
    cues = cues_of(content)
    chatter = cues.chatter.search(normal(content)) or is_question(content, cues) or len(content_terms(content)) < 2
    return bool(chatter or INJECTION.search(content) or "[redacted:" in content)


def _evidence(gem: AnsweredGem, content: str, heard: Sequence[_Heard]) -> list[_Heard]:
    """The turns it names that have to do with it, those of one person's memory only: gems never mix scopes."""
    named = [heard[number - 1] for number in dict.fromkeys(gem.turns) if 0 < number <= len(heard)]
    supporting = [one for one in named if _support(content, one.people | one.machines) >= SUPPORT / 2]
    return [one for one in supporting if one.turn.scope == supporting[0].turn.scope]


def _speaker(gem: AnsweredGem, content: str, evidence: Sequence[_Heard]) -> Voice | None:
    """Who really said it, whatever the model thinks; None when nobody did.

    What a person said stays theirs when the agent repeated it; what only the agent said is not the owner's.
    """
    people = frozenset[str]().union(*(one.people for one in evidence))
    machines = frozenset[str]().union(*(one.machines for one in evidence))
    person, machine = _support(content, people), _support(content, machines)
    if _support(content, people | machines) < SUPPORT:
        return None
    theirs = person >= (SUPPORT / 2 if gem.speaker is not Voice.AGENT else max(SUPPORT, machine))
    if not theirs and machine > 0:
        return Voice.AGENT
    speakers = {u.speaker for one in evidence for u in one.turn.utterances}
    return Voice.OWNER if "owner" in speakers else Voice.THIRD_PARTY


def _support(content: str, said: frozenset[str]) -> float:
    """Which share of the content's terms was said, from 0 to 1."""
    wanted = set(content_terms(_ISO_DAY.sub(" ", content)))
    return len(wanted & said) / len(wanted) if wanted else 0.0


def _numbers_hold(content: str, evidence: Sequence[Turn]) -> bool:
    """Every number of two digits and more was said, however it was grouped; a day or year worked out is none."""
    said = _GROUPING.sub("", "\n".join(u.text for turn in evidence for u in turn.utterances))
    years = {str(turn.at.year + shift) for turn in evidence for shift in (-1, 0, 1)}
    numbers = _NUMBER.findall(_ISO_DAY.sub(" ", content))
    return all(_GROUPING.sub("", n) in said or n.split(":")[0] in said or n in years for n in numbers)


def _words(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(clean for word in words if (clean := " ".join(word.split()))))[:8]


def _utc(day: datetime | None) -> datetime | None:
    return day.replace(tzinfo=UTC) if day and day.tzinfo is None else day


def _end(day: datetime | None, evidence: Sequence[Turn]) -> datetime | None:
    """The end of that day; None unless it comes after the turns: models like to fill in the day of the conversation."""
    last = _utc(day)
    if last is None or last.date() <= max(turn.at for turn in evidence).date():
        return None
    return last.replace(hour=23, minute=59, second=59)
