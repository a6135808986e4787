"""A turn of a session asked again: what the window held then, as the stored turns tell, and what recall would be asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from openclaw_neuralstream.errors import NotFound
from openclaw_neuralstream.model import Query, Turn
from openclaw_neuralstream.store.truth import Truth

_SPEAKERS = ("owner", "third-party", "agent")
_ASKING = ("owner", "third-party")
_WINDOW_CHARS = 65_536
_DIALOGUE_CHARS = 8_000
_BEFORE = timedelta(microseconds=1)  # the turn itself was not there yet when it was asked


@dataclass(frozen=True, slots=True)
class Replay:
    """A turn and its question. window: the turns before it in its window. first: whether it opened the window's epoch."""

    turn: Turn
    query: Query
    window: tuple[Turn, ...]
    number: int

    @property
    def first(self) -> bool:
        """Whether nothing was said before it in this epoch: a session's brief was due then."""
        return not self.window


def last_session(truth: Truth, agent: str = "") -> tuple[str, str]:
    """(agent, key) of the session that spoke last. Raises NotFound when nothing was ever said."""
    rows = [row for row in truth.turn_rows() if not agent or row.agent == agent]
    if not rows:
        raise NotFound("no turn is stored", fix="talk to the agent once, then try again")
    newest = max(rows, key=lambda row: row.at)
    return newest.agent, newest.key


def found_session(truth: Truth, name: str, agent: str = "") -> tuple[str, str]:
    """(agent, key) of the session of this key, host's id, or of the only key that holds the name. Raises NotFound."""
    exact = {pair for pair in truth.keys_of(name) if not agent or pair[0] == agent}
    if not exact:
        rows = {(row.agent, row.key) for row in truth.turn_rows()}
        exact = {pair for pair in rows if name in pair[1] and (not agent or pair[0] == agent)}
    if len(exact) != 1:
        said = "no session" if not exact else f"{len(exact)} sessions"
        raise NotFound(f"{said} called {name!r}", fix="neuralstream explain --last shows the key of the last one")
    return next(iter(exact))


def replayed(turns: Sequence[Turn], number: int, *, dialogue_turns: int) -> Replay:
    """The turn of this number (0 = the last one in which somebody asked) with its window rebuilt. Raises NotFound."""
    asking = [turn for turn in turns if turn.text_of(*_ASKING).strip()]
    chosen = next((turn for turn in asking if turn.index == number), None) if number else next(reversed(asking), None)
    if chosen is None:
        known = f"{asking[0].index} to {asking[-1].index}" if asking else "none"
        raise NotFound(
            f"the session has no turn {number or ''} in which somebody asks".replace("  ", " "),
            fix=f"its turns: {known}",
        )
    before = tuple(t for t in turns if t.session.epoch == chosen.session.epoch and t.index < chosen.index)
    said = [u.text[:_DIALOGUE_CHARS] for turn in before for u in turn.utterances if u.speaker in _SPEAKERS]
    query = Query(
        text=chosen.text_of(*_ASKING),
        scope=chosen.scope,
        now=chosen.at - _BEFORE,
        dialogue=tuple(said[-dialogue_turns:]) if dialogue_turns else (),
        window_turns=frozenset(turn.turn_id for turn in before),
        window_text="\n".join(said)[-_WINDOW_CHARS:],
    )
    return Replay(chosen, query, before, chosen.index)


def learnt_later(truth: Truth, replay: Replay, ids: Sequence[str], turns_of: dict[str, str]) -> set[str]:
    """Those of the records that were not there yet: gems made after the turn, and words of the turn itself or later ones."""
    gems = truth.gems(replay.query.scope, gem_ids=list(ids), superseded=True, limit=max(1, len(ids)))
    later = {gem.gem_id for gem in gems if gem.created_at > replay.turn.at}
    spoken = {turn.turn_id: turn.at for turn in truth.turns(list(set(turns_of.values())))}
    return later | {id_ for id_, turn_id in turns_of.items() if spoken.get(turn_id, replay.turn.at) >= replay.turn.at}
