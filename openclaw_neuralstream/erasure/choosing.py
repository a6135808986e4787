"""Which gems and turns are meant: pure, so that the dry run and the deed choose the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial

from openclaw_neuralstream.erasure.values import HOST, Chosen, What
from openclaw_neuralstream.lexicon import sentences
from openclaw_neuralstream.model import Gem, Turn, slug_of
from openclaw_neuralstream.store.turns import TurnRow
from openclaw_neuralstream.traces import mentions, names

Place = tuple[str, str]
"""Agent and session key."""


def choose(
    what: What,
    gems: Sequence[Gem],
    rows: Sequence[TurnRow],
    places: set[Place],
    read: Callable[[Sequence[str]], Iterable[Turn]],
) -> Chosen:
    """places: the sessions that `what.session` names. read: the texts of turns by id."""
    here = [
        row
        for row in rows
        if in_place(what, (row.agent, row.key), row.epoch, row.at, places)
        and (not what.turns or row.turn_id in what.turns)
    ]
    ids = {row.turn_id for row in here}
    if what.whole:
        known = {row.turn_id for row in rows}
        meant = [gem for gem in gems if _stands_there(what, gem, ids, known, places)]
        return Chosen(tuple(meant), tuple(row.turn_id for row in here))
    meant = [gem for gem in gems if _is_meant(what, gem, ids, places)]
    if what.words or what.person or what.entity:
        meant += _repeating(gems, meant)
    return Chosen(tuple(meant), (), {} if what.gems else _cuts(what, read([row.turn_id for row in here])))


def in_place(what: What, place: Place, epoch: int, at: datetime, places: set[Place]) -> bool:
    """Whether something said here and then is inside of the criteria of place and time."""
    agent, _ = place
    return (
        what.agent in ("", agent)
        and (not what.session or place in places)
        and (what.epoch is None or epoch <= what.epoch)
        and (what.since is None or at >= what.since)
        and (what.until is None or at < what.until)
    )


def asked(what: What, *, own: bool = False) -> list[Callable[[str], bool]]:
    """What a sentence must hold: the words just as they are, and names with any ending. own: the person said it; [] = anything."""
    said = [partial(_exactly, what.words)] if what.words else []
    people = [what.entity] if own else [what.person, what.entity]
    return [*said, *(partial(_with_endings, name) for name in people if name)]


def _exactly(words: str, text: str) -> bool:
    return names(text, words)


def _with_endings(name: str, text: str) -> bool:
    return mentions(text, name)


def pieces_of(what: What, turn: Turn) -> tuple[str, ...]:
    """The sentences of a turn that say the words, or that the person said or is named in."""
    if what.user not in ("", turn.scope.user):
        return ()
    found: dict[str, None] = {}
    for said in turn.utterances:
        own = bool(what.person) and slug_of(said.name) == slug_of(what.person)
        wanted = asked(what, own=own)
        for sentence in sentences(said.text) if wanted else [said.text]:
            if all(holds(sentence) for holds in wanted):
                found[sentence] = None
    return tuple(found)


def _cuts(what: What, turns: Iterable[Turn]) -> dict[str, tuple[str, ...]]:
    if not (what.words or what.person or what.entity):
        return {}
    return {turn.turn_id: pieces for turn in turns if (pieces := pieces_of(what, turn))}


def _stands_there(what: What, gem: Gem, ids: set[str], known: set[str], places: set[Place]) -> bool:
    """Nothing else supports it. What is written by hand, or whose turns are gone, goes by its own session and time."""
    evidence = set(gem.evidence) & known
    if evidence:
        return evidence <= ids
    if what.turns:
        return False
    if what.by == HOST:
        return False  # a person asked for it outright: that it was in this session is not why it is kept
    return in_place(what, (gem.scope.agent, gem.session_key), gem.epoch, gem.created_at, places)


def _is_meant(what: What, gem: Gem, ids: set[str], places: set[Place]) -> bool:
    said = f"{gem.content}\n{gem.summary}"
    meant = (
        (not what.gems or gem.gem_id in what.gems)
        and what.agent in ("", gem.scope.agent)
        and what.user in ("", gem.scope.user)
        and (not what.words or names(said, what.words))
        and (not what.person or slug_of(gem.speaker) == slug_of(what.person) or _names(gem, what.person))
        and (not what.entity or _names(gem, what.entity))
    )
    if not meant or not (what.session or what.since or what.until or what.turns):
        return meant
    if what.turns or set(gem.evidence) & ids:
        return bool(set(gem.evidence) & ids)
    return in_place(what, (gem.scope.agent, gem.session_key), gem.epoch, gem.created_at, places)


def _names(gem: Gem, name: str) -> bool:
    slug = slug_of(name)
    return any(slug_of(entity) == slug for entity in gem.entities) or mentions(f"{gem.content}\n{gem.summary}", name)


def _repeating(gems: Sequence[Gem], meant: Sequence[Gem]) -> list[Gem]:
    """Gems of the same agent that repeat one of them word for word inside of more words."""
    ids = {gem.gem_id for gem in meant}
    return [
        gem
        for gem in gems
        if gem.gem_id not in ids
        and any(one.scope == gem.scope and one.content.casefold() in gem.content.casefold() for one in meant)
    ]
