"""What of a model's answer is believed: its words must have been said, by whom it says, in the turns it names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from openclaw_neuralstream.extract.answer import Answer, AnsweredGem, Voice
from openclaw_neuralstream.extract.rules.cues import INJECTION
from openclaw_neuralstream.extract.rules.judge import cues_of, is_question
from openclaw_neuralstream.extract.rules.reader import own_words
from openclaw_neuralstream.extract.rules.words import normal
from openclaw_neuralstream.lexicon import content_terms, language_of
from openclaw_neuralstream.model import Draft, Kind, Origin, Turn, Utterance

SUPPORT = 0.34
"""Share of a gem's content terms that the turns it names must hold."""

_AGENT_CAP = 0.45
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


def check(answer: Answer, turns: Sequence[Turn]) -> Checked:
    """Drafts whose words the turns of the batch support; `turns` are numbered from 1 in the prompt."""
    kept = [draft for gem in answer.gems if (draft := _draft(gem, turns)) is not None]
    unique = {(draft.content.casefold(), draft.speaker): draft for draft in kept}
    return Checked(tuple(unique.values()), len(answer.gems) - len(kept))


def _draft(gem: AnsweredGem, turns: Sequence[Turn]) -> Draft | None:
    content = " ".join(gem.content.split())
    evidence = _evidence(gem, content, turns)
    if not evidence or _says_nothing(content) or not _numbers_hold(content, evidence):
        return None
    speaker = _speaker(gem, content, evidence)
    if speaker is None or (speaker is not Voice.OWNER and gem.kind is Kind.INSTRUCTION):
        return None
    importance = gem.importance / 10
    return Draft(
        content=content,
        summary=" ".join(gem.summary.split())[:200],
        kind=gem.kind,
        evidence=tuple(turn.turn_id for turn in evidence),
        speaker=speaker.value,
        origin={Voice.OWNER: Origin.OWNER, Voice.AGENT: Origin.AGENT}.get(speaker, Origin.UNTRUSTED),
        importance=min(importance, _AGENT_CAP) if speaker is Voice.AGENT else importance,
        confidence=gem.confidence / 10,
        topics=_words(gem.topics),
        entities=_words(gem.entities),
        valid_from=_utc(gem.valid_from),
        valid_to=_end(gem.valid_to, evidence),
        language=language_of(content),
    )


def _says_nothing(content: str) -> bool:
    """Whether it is an injected order, a redacted secret, a question, or "Exciting!"."""
    cues = cues_of(content)
    chatter = cues.chatter.search(normal(content)) or is_question(content, cues) or len(content_terms(content)) < 2
    return bool(chatter or INJECTION.search(content) or "[redacted:" in content)


def _evidence(gem: AnsweredGem, content: str, turns: Sequence[Turn]) -> list[Turn]:
    """The turns it names that have to do with it, those of one person's memory only: gems never mix scopes."""
    named = [turns[number - 1] for number in dict.fromkeys(gem.turns) if 0 < number <= len(turns)]
    supporting = [turn for turn in named if _support(content, [turn], *_PEOPLE, *_MACHINES) >= SUPPORT / 2]
    return [turn for turn in supporting if turn.scope == supporting[0].scope]


def _speaker(gem: AnsweredGem, content: str, evidence: Sequence[Turn]) -> Voice | None:
    """Who really said it, whatever the model thinks; None when nobody did.

    What a person said stays theirs when the agent repeated it; what only the agent said is not the owner's.
    """
    person, machine = _support(content, evidence, *_PEOPLE), _support(content, evidence, *_MACHINES)
    if _support(content, evidence, *_PEOPLE, *_MACHINES) < SUPPORT:
        return None
    theirs = person >= (SUPPORT / 2 if gem.speaker is not Voice.AGENT else max(SUPPORT, machine))
    if not theirs and machine > 0:
        return Voice.AGENT
    speakers = {u.speaker for turn in evidence for u in turn.utterances}
    return Voice.OWNER if "owner" in speakers else Voice.THIRD_PARTY


def _support(content: str, evidence: Iterable[Turn], *speakers: str) -> float:
    """Which share of the content's terms these speakers used, from 0 to 1; what people only pasted does not count."""
    wanted = set(content_terms(_ISO_DAY.sub(" ", content)))
    said = {term for turn in evidence for u in turn.utterances if u.speaker in speakers for term in _terms_of(u)}
    return len(wanted & said) / len(wanted) if wanted else 0.0


def _terms_of(utterance: Utterance) -> list[str]:
    text = utterance.text
    return content_terms("\n".join(own_words(text)) if utterance.speaker in _PEOPLE else text)


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
