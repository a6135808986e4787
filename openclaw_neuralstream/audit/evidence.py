"""Whether the turns that a gem names say it, and whose words they are. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from openclaw_neuralstream.lexicon import content_terms
from openclaw_neuralstream.model import Gem, Origin, Turn
from openclaw_neuralstream.patterns import lazy

SUPPORTED = 0.5
"""Share of a gem's terms that its turns must hold."""

_DAY = lazy(r"\(\d{4}(?:-\d\d){0,2}[^)]*\)|\d{4}-\d\d(?:-\d\d)?")
_NUMBER = lazy(r"\d{3,}")
_GROUPED = lazy(r"(?<=\d)[., \u00a0](?=\d{3}(?!\d))")
_SPEAKERS = ("owner", "third-party", "agent", "tool", "system")
_ORIGINS = {"owner": Origin.OWNER, "agent": Origin.AGENT, "third-party": Origin.UNTRUSTED}


def unsupported(gem: Gem, turns: Sequence[Turn]) -> str:
    """Why its turns do not hold it; "" when they do, or when it is in no language of theirs (a translation)."""
    wanted = _terms(gem.content)
    said = "\n".join(utterance.text for turn in turns for utterance in turn.utterances)
    known = frozenset(content_terms(said))
    if wanted and len(wanted & known) / len(wanted) < SUPPORTED:
        return f"{len(wanted & known)} of its {len(wanted)} words stand in its turns"
    plain = _GROUPED.sub("", said)
    years = {str(turn.at.year + shift) for turn in turns for shift in range(-2, 3)}
    alien = [
        n for n in _NUMBER.findall(_GROUPED.sub("", _DAY.sub(" ", gem.content))) if n not in plain and n not in years
    ]
    return f"nobody said {alien[0]}" if alien else ""


def wrong_speaker(gem: Gem, turns: Sequence[Turn]) -> str:
    """Whose words they rather are; "" when they are the speaker's."""
    if {"answer", "confirmed"} & set(gem.tags):  # a question of the agent with the owner's answer
        return ""
    if gem.origin is Origin.OWNER and gem.speaker != "owner":
        return f"told by {gem.speaker}, kept as the owner's"
    wanted = _terms(gem.content)
    said = {speaker: len(wanted & _said(turns, speaker)) for speaker in _SPEAKERS}
    best = max(said, key=lambda speaker: said[speaker])
    if not said[best] or gem.speaker not in said or 2 * said[gem.speaker] > said[best]:
        return ""
    return f"the words are of {best}, kept as {gem.speaker}"


def _terms(content: str) -> frozenset[str]:
    return frozenset(content_terms(_DAY.sub(" ", content)))


def _said(turns: Sequence[Turn], speaker: str) -> frozenset[str]:
    return frozenset(content_terms("\n".join(turn.text_of(speaker) for turn in turns)))
