"""What is kept of a turn: its pair, judged beside the earlier ones, with the answer or without."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from openclaw_neuralstream.database import storable
from openclaw_neuralstream.lexicon import content_terms
from openclaw_neuralstream.model import Pair
from openclaw_neuralstream.questions import question_hash
from openclaw_neuralstream.sequences import pairing, rows
from openclaw_neuralstream.sequences.interests import Interest

_LIKE = 8  # earlier questions that a new one is held against
_MOST_ASKED = 24  # its terms that are looked up for that


@dataclass(frozen=True, slots=True)
class Policy:
    """What decides whether an answer is kept. interests: of an agent's owner. mark: what a person said of a turn, or ""."""

    threshold: float = 0.6
    interests: Callable[[str], Sequence[Interest]] = lambda _: ()
    mark: Callable[[str], str] = lambda _: ""


def take_in(connection: sqlite3.Connection, said: pairing.Spoken, policy: Policy) -> None:
    """A new pair, and the one before it, now that is known what was said next."""
    turn = said.turn
    scope = rows.scope_of(connection, turn.scope)
    at = turn.at.timestamp()
    sequence = rows.sequence_at(connection, scope, turn.session, at)
    seq = rows.seq_at(connection, sequence, at)
    name = connection.execute("SELECT name FROM sequences WHERE sequence = ?", (sequence,)).fetchone()[0]
    pair = pairing.paired(said, sequence=name, seq=seq, others=_like(connection, said, scope))
    pair = replace(pair, mark=policy.mark(turn.turn_id))
    rows.insert(connection, kept(pair, said.answer, policy), sequence, scope)
    _follow(connection, sequence, seq, said.question, policy)


def _follow(connection: sqlite3.Connection, sequence: int, seq: int, next_said: str, policy: Policy) -> None:
    """The pair before it, now that is known what the user said next."""
    for before in rows.fetch(connection, "p.sequence = ? AND p.seq < ? ORDER BY p.seq DESC LIMIT 1", (sequence, seq)):
        after = pairing.followed(before, next_said)
        if after == before:
            continue
        rows.change(connection, after)
        if not after.kept and pairing.reason(after, threshold=policy.threshold, interests=_interests(after, policy)):
            connection.execute("UPDATE pairs SET wanted = '1' WHERE turn_id = ?", (storable(after.turn_id),))


def _like(connection: sqlite3.Connection, said: pairing.Spoken, scope: int) -> list[frozenset[str]]:
    """The content terms of the earlier questions that are most like it: by its rarest terms, and by its hash."""
    asked = list(dict.fromkeys(content_terms(said.question)))[:_MOST_ASKED]
    stored = connection.execute("SELECT pairs FROM scopes WHERE scope = ?", (scope,)).fetchone()[0]
    best = rows.match(connection, rows.frequencies(connection, asked, scope), scope, stored, _LIKE)
    hash_ = question_hash(said.question)
    best += list(rows.alike(connection, hash_, scope))[:_LIKE] if hash_ else []
    found = rows.fetch(connection, "p.pair IN (SELECT value FROM json_each(?))", (json.dumps(best),))
    return [frozenset(content_terms(pair.question)) for pair in found]


def kept(pair: Pair, answer: str, policy: Policy) -> Pair:
    """The pair with its answer where that is to be kept, without it where not."""
    why = pairing.reason(pair, threshold=policy.threshold, interests=_interests(pair, policy)) if answer else ""
    return replace(pair, kept=why, answer=answer if why else "")


def _interests(pair: Pair, policy: Policy) -> Sequence[Interest]:
    """Interests are the owner's: what others ask is not kept because of them."""
    return policy.interests(pair.scope.agent) if pair.scope.user == "owner" else ()
