"""Turns, gems and records without secrets: the same object where there was none, and a count of what was taken out."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import lru_cache

from openclaw_neuralstream.model import ExtractorIdentity, Gem, GemSource, Record, Scope, Turn, content_uuid
from openclaw_neuralstream.secrets import redact, rules_version

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
