"""A model's answer: the schema it is asked for, and the parsing of what comes back, gem by gem."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from openclaw_neuralstream.errors import AnswerRefused
from openclaw_neuralstream.model import Kind
from openclaw_neuralstream.patterns import lazy

_THOUGHTS = lazy(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
_MOST_GEMS = 60
_GEMS_A_TURN = 6
_WORTH = tuple(range(1, 11))


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


def _list(value: object) -> object:
    """A model writes null for an empty list."""
    return [] if value is None else value


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
    importance_reason: str = Field("", max_length=400)
    confidence: int = Field(8, ge=1, le=10)
    topics: Annotated[list[Word], BeforeValidator(_list)] = Field(default_factory=list, max_length=12)
    entities: Annotated[list[Word], BeforeValidator(_list)] = Field(default_factory=list, max_length=20)
    valid_from: Day = None
    valid_to: Day = None
    supersedes: Annotated[list[Word], BeforeValidator(_list)] = Field(default_factory=list, max_length=20)


@dataclass(frozen=True, slots=True)
class Answer:
    """The gems that are of the right form, and what is wrong with each of the others, in words."""

    gems: tuple[AnsweredGem, ...]
    problems: tuple[str, ...] = ()


def schema(turns: int = 0, labels: Sequence[str] = ()) -> dict[str, object]:
    """The JSON schema sent to the model: flat, all fields required, integers and enums for what must be bounded.

    turns: how many the batch has, so that no other number can be named; 0 = any. labels: of the known gems.
    """
    text = {"type": "string"}
    words = {"type": "array", "items": text, "maxItems": 8}
    day = {"type": ["string", "null"], "description": "YYYY-MM-DD or null"}
    number: dict[str, object] = {"type": "integer", "enum": list(range(1, turns + 1))} if turns else {"type": "integer"}
    label: dict[str, object] = {"type": "string", "enum": list(labels)} if labels else {"type": "string"}
    fields: dict[str, object] = {
        "content": text,
        "summary": text,
        "kind": {"type": "string", "enum": [kind.value for kind in Kind]},
        "speaker": {"type": "string", "enum": [voice.value for voice in Voice]},
        "turns": {"type": "array", "items": number, "minItems": 1, "maxItems": max(turns, 1) if turns else 100},
        "importance_reason": text,
        "importance": {"type": "integer", "enum": list(_WORTH)},
        "confidence": {"type": "integer", "enum": list(_WORTH)},
        "topics": words,
        "entities": words,
        "valid_from": day,
        "valid_to": day,
        "supersedes": {"type": "array", "items": label, "maxItems": min(len(labels), 4)},
    }
    gem = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
    return {
        "type": "object",
        "properties": {"gems": {"type": "array", "items": gem, "maxItems": _GEMS_A_TURN * (turns or 6) + 2}},
        "required": ["gems"],
        "additionalProperties": False,
    }


def parse(text: str) -> Answer:
    """The answer, found in whatever the model wrote around it. Raises AnswerRefused when it is not a list of gems."""
    raw = _json_in(_THOUGHTS.sub("", text))
    gems = raw.get("gems") if isinstance(raw, dict) else raw
    if not isinstance(gems, list):
        raise AnswerRefused('the model\'s answer is no {"gems": [...]}')
    return _answer(gems[:_MOST_GEMS])


def parse_cut(text: str) -> Answer:
    """What is complete of an answer that ended at its length limit; no gems when nothing is."""
    return _answer(list(_complete(_THOUGHTS.sub("", text)))[:_MOST_GEMS])


def _answer(raw: Sequence[object]) -> Answer:
    gems, problems = [], []
    for number, item in enumerate(raw, 1):
        try:
            gems.append(AnsweredGem.model_validate(item))
        except ValidationError as error:
            wrong = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()[:4])
            problems.append(f"gem {number}: {wrong}")
    return Answer(tuple(gems), tuple(problems))


def _complete(text: str) -> Iterator[object]:
    decoder, at = json.JSONDecoder(), text.find("[")
    while at >= 0 and (at := text.find("{", at)) >= 0:
        try:
            item, at = decoder.raw_decode(text, at)
        except (json.JSONDecodeError, RecursionError):
            return
        yield item


def _json_in(text: str) -> Any:
    start = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=-1)
    if start < 0:
        raise AnswerRefused("the model's answer holds no JSON")
    try:
        return json.JSONDecoder().raw_decode(text[start:])[0]
    except (json.JSONDecodeError, RecursionError) as error:
        raise AnswerRefused(f"the model's answer is no JSON: {error}") from None
