"""A gem as JSON, exactly as the specification gives it, with further fields under names of their own."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.model import (
    OWNER,
    ExtractorIdentity,
    Gem,
    GemSource,
    Kind,
    Origin,
    Scope,
)

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
