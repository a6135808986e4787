"""A model's answer: the schema it is asked for, and the parsing of what comes back."""

from __future__ import annotations

import json
import re
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from openclaw_neuralstream.errors import AnswerRefused
from openclaw_neuralstream.model import Kind

_THOUGHTS = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)


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


def _json_in(text: str) -> Any:
    start = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=-1)
    if start < 0:
        raise AnswerRefused("the model's answer holds no JSON")
    try:
        return json.JSONDecoder().raw_decode(text[start:])[0]
    except (json.JSONDecodeError, RecursionError) as error:
        raise AnswerRefused(f"the model's answer is no JSON: {error}") from None
