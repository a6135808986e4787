"""A model's summary of what is known of an entity: each sentence names its sources, or it is dropped."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from openclaw_neuralstream.errors import AnswerRefused
from openclaw_neuralstream.lexicon import content_terms
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.ports import Completion
from openclaw_neuralstream.reflect.evidence import Evidence
from openclaw_neuralstream.reflect.pages import About, Renders, Sentence, plain

SUPPORT = 0.4
"""Share of a sentence's content terms that its sources (or the name) must hold."""

_MOST_SHOWN, _MOST_SENTENCES, _LONGEST = 60, 6, 400
_THOUGHTS = lazy(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
_NUMBER = lazy(r"\d+(?:[.,:]\d+)*")


class _Said(BaseModel):
    model_config = ConfigDict(extra="ignore")

    text: str = Field(min_length=3, max_length=2_000)
    sources: list[int] = Field(min_length=1, max_length=20)


class _Answer(BaseModel):
    sentences: list[_Said] = Field(max_length=40)


def schema() -> dict[str, object]:
    """The JSON schema sent to the model."""
    sentence = {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "sources": {"type": "array", "items": {"type": "integer"}, "minItems": 1},
        },
        "required": ["text", "sources"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"sentences": {"type": "array", "items": sentence, "maxItems": _MOST_SENTENCES}},
        "required": ["sentences"],
        "additionalProperties": False,
    }


def ask(one: About, completion: Completion, templates: Renders) -> list[tuple[str, tuple[int, ...]]]:
    """What a model says of an entity, not yet believed: sentences and the numbers of their sources.

    Raises VendorAway, or AnswerRefused when the answer is none.
    """
    prompt = templates.render("reflect_prompt", entity=one.name, items=one.sources[:_MOST_SHOWN], plain=plain)
    return parse(completion.complete(templates.render("reflect_system"), prompt, schema=schema()))


def parse(answer: str) -> list[tuple[str, tuple[int, ...]]]:
    """Sentences and the numbers of their sources. Raises AnswerRefused."""
    text = _THOUGHTS.sub("", answer)
    start = text.find("{")
    try:
        raw = json.JSONDecoder().raw_decode(text[start:])[0] if start >= 0 else None
        return [(said.text, tuple(said.sources)) for said in _Answer.model_validate(raw).sentences]
    except (ValueError, RecursionError, ValidationError) as error:
        raise AnswerRefused(f"the summary is not of the form asked for ({type(error).__name__})") from None


def checked(said: Sequence[tuple[str, tuple[int, ...]]], name: str, shown: Sequence[Evidence]) -> list[Sentence]:
    """The sentences that their sources bear out; sources are numbered from 1 in the prompt."""
    kept, shown = [], shown[:_MOST_SHOWN]
    for text, numbers in said[:_MOST_SENTENCES]:
        line = plain(text)
        sources = [shown[number - 1] for number in dict.fromkeys(numbers) if 0 < number <= len(shown)]
        if sources and len(line) <= _LONGEST and _borne_out(line, name, sources):
            kept.append(Sentence(line, tuple(dict.fromkeys(item.source for item in sources))))
    return kept


def _borne_out(line: str, name: str, sources: Sequence[Evidence]) -> bool:
    told = "\n".join(f"{item.text} {item.day or ''} {item.since or ''} {item.until or ''}" for item in sources)
    words, known = set(content_terms(line)) - set(content_terms(name)), set(content_terms(told))
    if not words or len(words & known) / len(words) < SUPPORT:
        return False
    return set(_NUMBER.findall(line)) <= set(_NUMBER.findall(told)) | set(_NUMBER.findall(name))
