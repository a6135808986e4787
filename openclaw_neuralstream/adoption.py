"""Payloads of other memories to gems: where the text stands, who said it and when, in the forms met in the field. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from openclaw_neuralstream.clean import clean_foreign_gem
from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.formats import SPEC_FIELDS, gem_from_json, moment
from openclaw_neuralstream.gemcraft import one_line
from openclaw_neuralstream.lexicon import language_of
from openclaw_neuralstream.model import OWNER, ExtractorIdentity, Gem, GemSource, Kind, Origin, Scope, content_uuid
from openclaw_neuralstream.secrets import redact

TEXT_FIELDS = (
    "content", "gem", "gem_text", "text", "memory", "data", "fact", "document", "page_content", "body", "message", "snippet"
)  # fmt: skip
_SUMMARY = ("summary", "title", "snippet")
_AT = ("created_at", "createdAt", "timestamp", "date", "time", "updated_at", "extracted_at")
USER_FIELDS = ("user_id", "userId", "user", "owner")
_TAGS = ("tags", "categories", "category", "labels")
_TOPICS = ("topics", "keywords", "entities_topics")
_SESSION = ("session_id", "conversation_id", "session", "thread_id", "run_id", "source_session")
_WHO = ("role", "speaker", "source_type", "author_type", "actor")
_SOURCE = ("source", "origin", "url")
_KINDS = {**{kind.value: kind for kind in Kind}, "action": Kind.TODO}
_WORDS = {"critical": 0.95, "high": 0.85, "medium": 0.6, "normal": 0.6, "low": 0.4}
_SAID_BY = {
    **dict.fromkeys(("user", "human", "owner"), Origin.OWNER),
    **dict.fromkeys(("assistant", "ai", "agent", "bot", "model", "inferred"), Origin.AGENT),
    **dict.fromkeys(("tool", "web", "external", "document", "system", "other"), Origin.UNTRUSTED),
}
_SPEAKER = {Origin.OWNER: OWNER, Origin.AGENT: "agent", Origin.UNTRUSTED: "third-party", Origin.SYSTEM: "system"}
_MOST = 20_000  # characters of a text that are taken; a longer one is a document, not a memory
_LEAST = 3

ADOPTED = "import"
"""Name of the extractor of gems that were made elsewhere; its model is the collection they come from."""


def gem_of(
    payload: Mapping[str, Any],
    *,
    collection: str,
    point: str,
    agent: str,
    now: datetime,
    user: str = "",
    origin: Origin | None = None,
    owners: Iterable[str] = (),
) -> Gem | None:
    """The payload as a gem, without secrets; None when it holds no text that we find.

    user: whose memory all of it is; "" = as the payload says, where no name and those in `owners` are the owner.
    origin: whose words all of it is; None = as the payload says, the agent's where it does not. The id is derived from
    collection and point: the same point again is the same gem.
    """
    flat = _flattened(payload)
    content = redact(_text(flat, TEXT_FIELDS)).text.strip()[:_MOST]
    if len(content) < _LEAST:
        return None
    at = _moment(_first(flat, _AT)) or now
    words = origin or _origin(flat)
    whose = user or _whose(_text(flat, USER_FIELDS), owners)
    vouched = words if whose == OWNER or words is not Origin.OWNER else Origin.UNTRUSTED
    kind, tags = _kind(flat), _words(flat, _TAGS)
    gem = Gem(
        gem_id=content_uuid("import", collection, point),
        content=content,
        summary=redact(_text(flat, _SUMMARY)).text.strip()[:200] or one_line(content),
        topics=_words(flat, _TOPICS),
        importance=_share(_first(flat, ("importance", "score", "weight")), 0.6),
        source=GemSource(_text(flat, _SESSION) or collection, f"{at:%Y-%m-%d}", _text(flat, ("turn_range",))),
        tags=tuple(dict.fromkeys((kind.value, "imported", *tags))),
        created_at=at,
        scope=Scope(
            _text(flat, ("agent", "agent_id", "source_agent")) or agent, whose, _text(flat, ("project", "project_id"))
        ),
        kind=kind,
        origin=vouched,
        speaker=_SPEAKER[vouched],
        entities=_words(flat, ("entities",)),
        confidence=_share(flat.get("confidence"), 0.7),
        language=language_of(content),
        valid_from=at,
        extractor=ExtractorIdentity(ADOPTED, "1", collection),
        session_key=f"import:{collection}",
    )
    return clean_foreign_gem(gem)


def unread(entries: Iterable[Mapping[str, Any]], what: str, where: str) -> BadRequest:
    """The error for an import none of whose entries holds a text that we find: what they hold, and what is looked for."""
    names = sorted({redact(str(name)).text[:40] for entry in entries for name in _flattened(entry)})
    held = f"they have the fields {', '.join(names[:20])}" if names else "they have no fields"
    fix = f"the text is looked for in {', '.join(TEXT_FIELDS)}; give one of these names to the field that holds it"
    return BadRequest(f"no text was found in {what}: {held}", where=where, fix=fix)


def own_gem(
    payload: Mapping[str, Any],
    *,
    user: str = "",
    origin: Origin | None = None,
    owners: Iterable[str] = (),
    vouched: bool = True,
) -> Gem | None:
    """A gem of another NeuralStream as it stands, without secrets; None for any other payload.

    user, origin: what the one who imports says of all of it; it goes before what the payload says. vouched: whether the
    payload's word that the owner said it is taken; else those are the agent's.
    """
    if any(name not in payload for name in SPEC_FIELDS):
        return None
    try:
        gem = clean_foreign_gem(gem_from_json(dict(payload)))
    except BadRequest:
        return None
    whose = user or _whose(gem.scope.user, owners)
    words = origin or (Origin.AGENT if gem.origin is Origin.OWNER and not vouched else gem.origin)
    if words is Origin.OWNER and origin and whose != OWNER:
        words = Origin.UNTRUSTED
    speaker = gem.speaker if words is gem.origin else _SPEAKER[words]
    return replace(gem, scope=replace(gem.scope, user=whose), origin=words, speaker=speaker)


def _flattened(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The payload with what stands in its `metadata` beside it, where it has no such field itself."""
    inner = payload.get("metadata")
    return {**inner, **payload} if isinstance(inner, Mapping) else dict(payload)


def _first(flat: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((flat[name] for name in names if flat.get(name) not in (None, "", [])), None)


def _text(flat: Mapping[str, Any], names: Sequence[str]) -> str:
    return next((v.strip() for name in names if isinstance(v := flat.get(name), str) and v.strip()), "")


def _words(flat: Mapping[str, Any], names: Sequence[str]) -> tuple[str, ...]:
    found = _first(flat, names)
    listed = found.split(",") if isinstance(found, str) else found if isinstance(found, list) else []
    words = (redact(word).text.strip()[:80] for word in listed if isinstance(word, str))
    return tuple(dict.fromkeys(word for word in words if word))[:20]


def _kind(flat: Mapping[str, Any]) -> Kind:
    named = [_text(flat, ("kind", "type", "memory_type")), *_words(flat, _TAGS)]
    return next((_KINDS[word.lower()] for word in named if word.lower() in _KINDS), Kind.FACT)


def _origin(flat: Mapping[str, Any]) -> Origin:
    """Whose words: as the payload says. What came from an address is nobody's."""
    if _text(flat, _SOURCE).startswith(("http://", "https://")):
        return Origin.UNTRUSTED
    told = [_text(flat, (name,)).lower() for name in (*_WHO, "source")]
    return next((_SAID_BY[word] for word in told if word in _SAID_BY), Origin.AGENT)


def _whose(user: str, owners: Iterable[str]) -> str:
    return OWNER if not user or user in {OWNER, *owners} else user


def _share(value: Any, default: float) -> float:
    """A number in [0, 1], a number up to 10 or 100, or a word."""
    if isinstance(value, str):
        value = _WORDS.get(value.strip().lower())
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 100:
        return default
    return round(value if value <= 1 else value / 10 if value <= 10 else value / 100, 3)


def _moment(value: Any) -> datetime | None:
    if isinstance(value, str):
        try:
            return moment(value.strip()).astimezone(UTC)
        except (BadRequest, OverflowError):
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e14:
        return None
    return datetime.fromtimestamp(value if value < 1e11 else value / 1000, UTC)
