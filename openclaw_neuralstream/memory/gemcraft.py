"""From drafts to gems: identity, source and the words that stand for it; and which gems open a session. All pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from openclaw_neuralstream.extract.learned import kind_of
from openclaw_neuralstream.extract.names import entities_of
from openclaw_neuralstream.importance import weigh as importance_of
from openclaw_neuralstream.judgement import left_out as not_kept
from openclaw_neuralstream.judgement import still_true
from openclaw_neuralstream.model import (
    OWNER,
    Batch,
    Draft,
    ExtractorIdentity,
    Gem,
    GemSource,
    Origin,
    Scope,
    Session,
    Turn,
    content_uuid,
)
from openclaw_neuralstream.secrets import redact
from openclaw_neuralstream.text import lines
from openclaw_neuralstream.text.lexicon import first_sentence, language_of

BY_HAND = ExtractorIdentity("hand", "1")
BY_HAND_TAG = "by-hand"
HEARSAY = "hearsay"
"""The tag of what a sentence of the owner's reports of another."""

_SUMMARY_CHARS = 120


def gems_of(drafts: Sequence[Draft], batch: Batch, extractor: ExtractorIdentity, *, now: datetime) -> list[Gem]:
    """One gem per draft, with ids derived from scope, evidence and content: the same batch twice gives the same ids.

    A draft whose evidence names no turn of the batch is dropped.
    """
    turns = {turn.turn_id: turn for turn in batch.turns}
    made = [_gem(draft, [turns[i] for i in draft.evidence if i in turns], batch, extractor, now) for draft in drafts]
    return list({gem.gem_id: gem for gem in made if gem is not None}.values())


def _gem(draft: Draft, evidence: list[Turn], batch: Batch, extractor: ExtractorIdentity, now: datetime) -> Gem | None:
    content = redact(draft.content).text.strip()
    if not evidence or not content:
        return None
    first, scope = evidence[0], evidence[0].scope
    return Gem(
        gem_id=content_uuid("gem", scope.agent, scope.user, scope.project, draft.speaker, normal(content)),
        content=content,
        summary=redact(draft.summary).text.strip() or one_line(content),
        topics=_clean(draft.topics),
        importance=round(min(1.0, max(0.0, draft.importance)), 3),
        source=GemSource(first.session.host_id or first.session.key, f"{first.at:%Y-%m-%d}", turn_range(evidence)),
        tags=tuple(dict.fromkeys((draft.kind.value, *_clean(draft.tags)))),
        created_at=now,
        scope=scope,
        kind=draft.kind,
        origin=draft.origin,
        speaker=draft.speaker,
        entities=_clean(draft.entities),
        evidence=tuple(turn.turn_id for turn in evidence),
        confidence=round(min(1.0, max(0.0, draft.confidence)), 3),
        language=draft.language or language_of(content),
        valid_from=draft.valid_from or first.at,
        valid_to=draft.valid_to,
        extractor=extractor,
        batch=batch.batch_id,
        session_key=first.session.key,
        epoch=first.session.epoch,
        importance_reason=redact(draft.importance_reason).text.strip(),
    )


def _clean(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(redact(name).text for name in names)


def named_by(drafts: Sequence[Draft], gems: Sequence[Gem], known: Sequence[Gem]) -> dict[str, tuple[str, ...]]:
    """For each gem the known gems that its draft says it replaces; only what was shown, and only the owner's drafts."""
    shown = {gem.gem_id for gem in known}
    contents = {
        normal(redact(d.content).text.strip()): d for d in drafts if d.supersedes and d.origin is not Origin.UNTRUSTED
    }
    found = {gem.gem_id: contents.get(normal(gem.content)) for gem in gems}
    return {gem_id: tuple(i for i in draft.supersedes if i in shown) for gem_id, draft in found.items() if draft}


def weighed(gem: Gem, *, opinion_weight: float, scored: float | None = None) -> Gem:
    """The gem with its importance and the reason; `scored`: what a hook says instead of the formula."""
    if scored is not None:
        return replace(gem, importance=round(min(1.0, max(0.0, scored)), 3), importance_reason="scored by a hook")
    value = importance_of(gem, opinion_weight=opinion_weight)
    return replace(gem, importance=value.importance, importance_reason=value.reason)


def by_hand(
    text: str, scope: Scope, session: Session, *, importance: float, now: datetime, origin: Origin = Origin.OWNER
) -> Gem:
    """A gem that was asked for outright; its source is the session in which it was said.

    origin: the owner's on the command line; the agent's when its tool was called, for a page that it read may have
    made it call; untrusted when that happened for somebody else.
    """
    speaker = OWNER if origin is Origin.OWNER else "agent" if origin is Origin.AGENT else "third-party"
    content = redact(text).text.strip()
    kind = kind_of(content)
    return Gem(
        gem_id=content_uuid("gem", scope.agent, scope.user, scope.project, speaker, normal(content)),
        content=content,
        summary=one_line(content),
        topics=(),
        entities=_clean(entities_of(content)),
        importance=importance,
        source=GemSource(session.host_id or session.key, f"{now:%Y-%m-%d}", ""),
        tags=(kind.value, BY_HAND_TAG),
        kind=kind,
        created_at=now,
        scope=scope,
        language=language_of(content),
        valid_from=now,
        origin=origin,
        speaker=speaker,
        confidence=1.0 if origin is Origin.OWNER else 0.8,
        extractor=BY_HAND,
        importance_reason="asked to be remembered",
        session_key=session.key,
        epoch=session.epoch,
    )


def remainder(older: Gem, newer: Gem) -> Gem | None:
    """What is still true of a gem that another one corrects, as a gem of its own; None when nothing more was said.

    No turn stands behind it: the words of the old ones hold the old value.
    """
    content = still_true(older, newer)
    if not content:
        return None
    scope, since = older.scope, newer.valid_from or newer.created_at
    return replace(
        older,
        gem_id=content_uuid("gem", scope.agent, scope.user, scope.project, older.speaker, normal(content)),
        content=content,
        summary=one_line(content),
        source=newer.source,
        created_at=newer.created_at,
        valid_from=since,
        evidence=(),
        extractor=BY_HAND,
        batch="",
        session_key=newer.session_key,
        epoch=newer.epoch,
        supersedes="",
        superseded_by="",
        valid_to=None,
        importance_reason="what is still true of one that was corrected",
    )


def left_out(older: Gem, newer: Gem, rest: Gem | None) -> tuple[str, ...]:
    """The words of a corrected gem that neither its correction nor what was kept of it says, for they may hold no more."""
    return not_kept(older, newer, rest.content if rest is not None else "")


def normal(text: str) -> str:
    """What makes two contents the same: letter case, spaces and a closing stop do not."""
    return " ".join(text.casefold().split()).rstrip(".!。！ ")


def one_line(text: str) -> str:
    """The first sentence, cut to a line of at most 120 characters."""
    return lines.one_line(first_sentence(text) or text, _SUMMARY_CHARS)


def turn_range(turns: Iterable[Turn]) -> str:
    """The numbers as "15" or "15-20"; empty when the turns are not numbered."""
    numbers = sorted(turn.index for turn in turns if turn.index)
    if not numbers:
        return ""
    return str(numbers[0]) if numbers[0] == numbers[-1] else f"{numbers[0]}-{numbers[-1]}"


def embedded_text(gem: Gem) -> str:
    """What is embedded for a gem: its content alone; dates, topics and names are for the words."""
    return gem.content
