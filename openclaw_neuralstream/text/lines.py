"""Lines and texts made plain: one line, cut, formatted, without what is no text."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.model import (
    OWNER,
    ExtractorIdentity,
    Gem,
    GemSource,
    Kind,
    Origin,
    Record,
    Scope,
    Turn,
    content_uuid,
)
from openclaw_neuralstream.secrets import redact, rules_version


def one_line(text: str, most: int) -> str:
    """The text with single spaces instead of all white space, cut to `most` characters."""
    return shortened(" ".join(text.split()), most)


def shortened(text: str, most: int) -> str:
    """The text, or its beginning and "…": at most `most` characters (1 or more)."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


SPEC_FIELDS = ("gem_id", "content", "summary", "topics", "importance", "source", "tags", "created_at")


def instant(value: datetime) -> str:
    """RFC 3339 in UTC with seconds ("2026-02-23T15:26:00Z"); a value without a zone is taken as UTC."""
    aware = value if value.tzinfo else value.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def moment(text: str) -> datetime:
    """The inverse of `instant`; also takes offsets, fractions and a bare day. Raises BadRequest."""
    try:
        value = datetime.fromisoformat(text)
    except (ValueError, TypeError) as error:
        raise BadRequest(f"not a date and time: {text!r}") from error
    return value if value.tzinfo else value.replace(tzinfo=UTC)


def gem_to_json(gem: Gem) -> dict[str, Any]:
    """The spec's eight fields first, then ours. Values are plain JSON."""
    return {
        "gem_id": gem.gem_id,
        "content": gem.content,
        "summary": gem.summary,
        "topics": list(gem.topics),
        "importance": gem.importance,
        "source": {
            "session_id": gem.source.session_id,
            "date": gem.source.date,
            "turn_range": gem.source.turn_range,
        },
        "tags": list(gem.tags),
        "created_at": instant(gem.created_at),
        "agent": gem.scope.agent,
        "user": gem.scope.user,
        "project": gem.scope.project,
        "kind": gem.kind.value,
        "origin": gem.origin.value,
        "speaker": gem.speaker,
        "entities": list(gem.entities),
        "evidence": list(gem.evidence),
        "confidence": gem.confidence,
        "language": gem.language,
        "valid_from": instant(gem.valid_from) if gem.valid_from else None,
        "valid_to": instant(gem.valid_to) if gem.valid_to else None,
        "superseded_by": gem.superseded_by or None,
        "supersedes": gem.supersedes or None,
        "extractor": {
            "name": gem.extractor.name,
            "version": gem.extractor.version,
            "model": gem.extractor.model,
            "prompt": gem.extractor.prompt,
        },
        "batch": gem.batch,
        "session_key": gem.session_key,
        "epoch": gem.epoch,
        "edited": gem.edited,
        "importance_reason": gem.importance_reason,
    }


def gem_from_json(data: dict[str, Any]) -> Gem:
    """The inverse of `gem_to_json`; only the spec's fields are required. Raises BadRequest that names the field."""
    missing = [name for name in SPEC_FIELDS if name not in data]
    if missing:
        raise BadRequest(f"a gem lacks {', '.join(missing)}")
    try:
        source, extractor = data["source"], data.get("extractor") or {}
        return Gem(
            gem_id=str(data["gem_id"]),
            content=str(data["content"]),
            summary=str(data["summary"]),
            topics=tuple(map(str, data["topics"])),
            importance=_share(data["importance"], "importance"),
            source=GemSource(str(source["session_id"]), _day(source["date"]), str(source["turn_range"])),
            tags=tuple(map(str, data["tags"])),
            created_at=moment(data["created_at"]),
            scope=Scope(
                str(data.get("agent") or "main"), str(data.get("user") or OWNER), str(data.get("project") or "")
            ),
            kind=Kind(data.get("kind") or Kind.FACT),
            origin=Origin(data.get("origin") or Origin.OWNER),
            speaker=str(data.get("speaker") or OWNER),
            entities=tuple(map(str, data.get("entities") or ())),
            evidence=tuple(map(str, data.get("evidence") or ())),
            confidence=_share(data.get("confidence", 0.8), "confidence"),
            language=str(data.get("language") or ""),
            valid_from=moment(data["valid_from"]) if data.get("valid_from") else None,
            valid_to=moment(data["valid_to"]) if data.get("valid_to") else None,
            superseded_by=str(data.get("superseded_by") or ""),
            supersedes=str(data.get("supersedes") or ""),
            extractor=ExtractorIdentity(
                str(extractor.get("name", "unknown")),
                str(extractor.get("version", "0")),
                str(extractor.get("model", "")),
                str(extractor.get("prompt", "")),
            ),
            batch=str(data.get("batch") or ""),
            session_key=str(data.get("session_key") or ""),
            epoch=int(data.get("epoch") or 0),
            edited=bool(data.get("edited", False)),
            importance_reason=str(data.get("importance_reason") or ""),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadRequest(f"a gem is not of the documented form: {error}") from error


def _share(value: Any, name: str) -> float:
    number = float(value)
    if not 0 <= number <= 1:  # also false for NaN
        raise ValueError(f"{name} must be 0 to 1, got {value!r}")
    return number


def _day(value: Any) -> str:
    return f"{moment(str(value)):%Y-%m-%d}" if value else ""


Found = Counter[str]
"""Name of the detector → how many secrets it took out."""

_NUMBERS = frozenset({"card-number", "identity-number"})


def clean_text(text: str, found: Found | None = None) -> str:
    """The text without secrets; what was found is added to `found`."""
    redaction = redact(text)
    if found is not None:
        found.update(redaction.found)
    return redaction.text


def clean_turn(turn: Turn, found: Found | None = None) -> Turn:
    """The turn without secrets in what was said and in the names of who said it; ids and times stay."""
    said = tuple(
        replace(u, text=clean_text(u.text, found), name=clean_text(u.name, found) if u.name else "")
        for u in turn.utterances
    )
    return turn if said == turn.utterances else replace(turn, utterances=said)


def clean_gem(gem: Gem, found: Found | None = None) -> Gem:
    """The gem without secrets in anything that was written; what other rows know it by stays: its id, scope and session."""
    made = gem.extractor
    cleaned = replace(
        gem,
        content=clean_text(gem.content, found),
        summary=clean_text(gem.summary, found),
        topics=_all(gem.topics, found),
        tags=_all(gem.tags, found),
        entities=_all(gem.entities, found),
        importance_reason=clean_text(gem.importance_reason, found),
        source=GemSource(
            _name(gem.source.session_id, found), gem.source.date, clean_text(gem.source.turn_range, found)
        ),
        speaker=_name(gem.speaker, found),
        language=clean_text(gem.language, found),
        extractor=ExtractorIdentity(
            *(clean_text(text, found) for text in (made.name, made.version, made.model, made.prompt))
        ),
    )
    return gem if cleaned == gem else cleaned


def clean_foreign_gem(gem: Gem, found: Found | None = None) -> Gem:
    """The gem of a file or a collection without secrets in its names and ids, too: nothing here knows it by them yet."""
    cleaned, plain = clean_gem(gem, found), clean_text(gem.gem_id, found)
    scope = gem.scope
    cleaned = replace(
        cleaned,
        gem_id=gem.gem_id if plain == gem.gem_id else content_uuid("import", plain, cleaned.content),
        scope=Scope(_name(scope.agent, found), _name(scope.user, found), _name(scope.project, found)),
        session_key=_name(gem.session_key, found),
        batch=_name(gem.batch, found),
        evidence=_all(gem.evidence, found),
        superseded_by=_link(gem.superseded_by),
        supersedes=_link(gem.supersedes),
    )
    return gem if cleaned == gem else cleaned


def clean_record(record: Record) -> Record:
    """The record without secrets in what is shown of it; of one that was shown lately this is known."""
    rules = rules_version()
    cleaned = replace(
        record,
        text=_looked_at(record.text, rules),
        summary=_looked_at(record.summary, rules),
        tags=tuple(_looked_at(tag, rules) for tag in record.tags),
        entities=tuple(_looked_at(entity, rules) for entity in record.entities),
    )
    return record if cleaned == record else cleaned


@lru_cache(maxsize=8_192)
def _looked_at(text: str, _rules: str) -> str:
    """The same few records are recalled again and again, a quarter of a millisecond for each text of one."""
    return redact(text).text


def _name(text: str, found: Found | None) -> str:
    """A name of a person, a session or an agent: a platform's number may pass for a card's and stays."""
    redaction = redact(text)
    if set(redaction.found) <= _NUMBERS:
        return text
    if found is not None:
        found.update(redaction.found)
    return redaction.text


def _link(gem_id: str) -> str:
    return gem_id if clean_text(gem_id) == gem_id else ""


def _all(texts: tuple[str, ...], found: Found | None) -> tuple[str, ...]:
    return tuple(clean_text(text, found) for text in texts)
