"""A model's answer as drafts: parsed, checked against the schema, and against what was really said in the batch."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from openclaw_neuralstream.errors import AnswerRefused
from openclaw_neuralstream.extract.rules.cues import INJECTION
from openclaw_neuralstream.lexicon import content_terms, language_of
from openclaw_neuralstream.model import Draft, Kind, Origin, Turn

SUPPORT = 0.34
"""Share of a gem's content terms that the turns it names must hold."""

_AGENT_CAP = 0.45
_THOUGHTS = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
_NUMBER = re.compile(r"(?<![\w.:-])\d{2,}(?:[.,:]\d+)*(?![\w-])")
_GROUPING = re.compile(r"(?<=\d)[., ](?=\d{3}(?!\d))")
_ISO_DAY = re.compile(r"\d{4}-\d{2}(?:-\d{2})?(?:[T ]\d{2}:\d{2})?")


class Voice(StrEnum):
    """Whose statement a gem is."""

    OWNER = "owner"
    AGENT = "agent"
    THIRD_PARTY = "third-party"


def _day(value: object) -> object:
    """A model writes "" and "null" for no day."""
    if isinstance(value, str) and value.strip().lower() in ("", "null", "none", "unknown", "n/a"):
        return None
    return value[:10] if isinstance(value, str) else value


Day = Annotated[datetime | None, BeforeValidator(_day)]
Word = Annotated[str, Field(max_length=80)]


class AnsweredGem(BaseModel):
    """One gem as the model gives it. Importance and confidence are whole numbers: bounds on others are not kept."""

    model_config = ConfigDict(extra="ignore")

    content: str = Field(min_length=3, max_length=1_000)
    summary: str = Field("", max_length=400)
    kind: Kind
    speaker: Voice
    turns: list[int] = Field(min_length=1, max_length=100)
    importance: int = Field(ge=1, le=10)
    confidence: int = Field(8, ge=1, le=10)
    topics: list[Word] = Field(default_factory=list, max_length=12)
    entities: list[Word] = Field(default_factory=list, max_length=20)
    valid_from: Day = None
    valid_to: Day = None


class Answer(BaseModel):
    """The whole answer."""

    gems: list[AnsweredGem] = Field(max_length=60)


@dataclass(frozen=True, slots=True)
class Checked:
    """The drafts that hold, and how many were dropped for having no support in the batch."""

    drafts: tuple[Draft, ...]
    unsupported: int


def schema() -> dict[str, object]:
    """The JSON schema sent to the model: flat, all fields required, integers and enums for what must be bounded."""
    text = {"type": "string"}
    words = {"type": "array", "items": text, "maxItems": 8}
    day = {"type": ["string", "null"], "description": "YYYY-MM-DD or null"}
    fields: dict[str, object] = {
        "content": text,
        "summary": text,
        "kind": {"type": "string", "enum": [kind.value for kind in Kind]},
        "speaker": {"type": "string", "enum": [voice.value for voice in Voice]},
        "turns": {"type": "array", "items": {"type": "integer"}, "minItems": 1},
        "importance": {"type": "integer", "enum": list(range(1, 11))},
        "confidence": {"type": "integer", "enum": list(range(1, 11))},
        "topics": words,
        "entities": words,
        "valid_from": day,
        "valid_to": day,
    }
    gem = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
    return {
        "type": "object",
        "properties": {"gems": {"type": "array", "items": gem, "maxItems": 40}},
        "required": ["gems"],
        "additionalProperties": False,
    }


def parse(text: str) -> Answer:
    """The answer, found in whatever the model wrote around it. Raises AnswerRefused that lists what is wrong."""
    raw = _json_in(_THOUGHTS.sub("", text))
    if isinstance(raw, list):
        raw = {"gems": raw}
    try:
        return Answer.model_validate(raw)
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()[:8])
        raise AnswerRefused(f"the model's answer does not fit: {problems}") from None


def check(answer: Answer, turns: Sequence[Turn]) -> Checked:
    """Drafts whose words the turns of the batch support; `turns` are numbered from 1 in the prompt."""
    kept = [draft for gem in answer.gems if (draft := _draft(gem, turns)) is not None]
    unique = {(draft.content.casefold(), draft.speaker): draft for draft in kept}
    return Checked(tuple(unique.values()), len(answer.gems) - len(kept))


def _json_in(text: str) -> Any:
    start = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=-1)
    if start < 0:
        raise AnswerRefused("the model's answer holds no JSON")
    try:
        return json.JSONDecoder().raw_decode(text[start:])[0]
    except (json.JSONDecodeError, RecursionError) as error:
        raise AnswerRefused(f"the model's answer is no JSON: {error}") from None


def _draft(gem: AnsweredGem, turns: Sequence[Turn]) -> Draft | None:
    evidence = _evidence(gem, turns)
    content = " ".join(gem.content.split())
    if not evidence or INJECTION.search(content):
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
        valid_to=_utc(gem.valid_to, end=True),
        language=language_of(content),
    )


def _evidence(gem: AnsweredGem, turns: Sequence[Turn]) -> list[Turn]:
    """The turns it names, those of one person's memory only: gems never mix scopes."""
    named = [turns[number - 1] for number in dict.fromkeys(gem.turns) if 0 < number <= len(turns)]
    return [turn for turn in named if turn.scope == named[0].scope]


def _speaker(gem: AnsweredGem, content: str, evidence: Sequence[Turn]) -> Voice | None:
    """Who really said it; None when nobody did. What only the agent said is not the owner's, whatever the model thinks."""
    people = {u.speaker for turn in evidence for u in turn.utterances} & {"owner", "third-party"}
    if not _numbers_hold(content, evidence):
        return None
    person = _support(content, evidence, "owner", "third-party")
    agent = _support(content, evidence, "agent", "system")
    together = _support(content, evidence, "owner", "third-party", "agent", "system")
    if together < SUPPORT:
        return None
    if gem.speaker is Voice.AGENT or (person < SUPPORT / 2 and agent >= SUPPORT) or not people:
        return Voice.AGENT
    return Voice.THIRD_PARTY if people == {"third-party"} else Voice.OWNER


def _support(content: str, evidence: Sequence[Turn], *speakers: str) -> float:
    """Which share of the content's terms these speakers used, from 0 to 1."""
    wanted = set(content_terms(_ISO_DAY.sub(" ", content)))
    said = {term for turn in evidence for term in content_terms(turn.text_of(*speakers))}
    return len(wanted & said) / len(wanted) if wanted else 0.0


def _numbers_hold(content: str, evidence: Sequence[Turn]) -> bool:
    """Every number of two digits and more was said, however it was grouped; a day or year worked out is none."""
    said = _GROUPING.sub("", "\n".join(u.text for turn in evidence for u in turn.utterances))
    years = {str(turn.at.year + shift) for turn in evidence for shift in (-1, 0, 1)}
    numbers = _NUMBER.findall(_ISO_DAY.sub(" ", content))
    return all(_bare(number) in said or number.split(":")[0] in said or number in years for number in numbers)


def _bare(number: str) -> str:
    return _GROUPING.sub("", number)


def _words(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(clean for word in words if (clean := " ".join(word.split()))))[:8]


def _utc(day: datetime | None, *, end: bool = False) -> datetime | None:
    if day is None:
        return None
    aware = day if day.tzinfo else day.replace(tzinfo=UTC)
    return aware.replace(hour=23, minute=59, second=59) if end else aware
