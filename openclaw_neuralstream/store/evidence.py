"""Verbatim turns as evidence: those that were taken in, and the changes of them, for who follows the truth."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from openclaw_neuralstream.database import Database
from openclaw_neuralstream.model import Turn
from openclaw_neuralstream.store import kept_turns


class Evidence:
    """The kept turns of one memory file. Any thread may ask; a verb is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def kept(self, turn_ids: Sequence[str]) -> list[tuple[str, Turn | None, int]]:
        """(id, turn, bytes) of those of the turns that were taken in, and whose text is here.

        In the order of a conversation. A turn that does not read back is None; those of a batch that was taken back are left out.
        """
        with self._database.read() as connection:
            return kept_turns.read(connection, turn_ids)

    def sizes(self) -> dict[str, int]:
        """The ids of all such turns and how many bytes each has, in the order of a conversation."""
        with self._database.read() as connection:
            return kept_turns.sizes(connection)

    def count(self) -> int:
        """How many such turns there are."""
        with self._database.read() as connection:
            return kept_turns.count(connection)

    def outdated_turns(self, turn_ids: Sequence[str], at: datetime, *, then: bool = False) -> dict[str, str]:
        """Those of the turns that say what holds no more: turn id → "superseded" or "expired".

        then: as of that moment; what was replaced later held still.
        """
        with self._database.read() as connection:
            return kept_turns.outdated(connection, turn_ids, at, then=then)

    def events(self, after: int, limit: int = 500) -> list[tuple[int, str]]:
        """(number, turn id) of the changes of such turns numbered above `after`, in order."""
        with self._database.read() as connection:
            return kept_turns.events(connection, after, limit)

    def last_event(self) -> int:
        """The number that the last event had, of whatever kind; 0 = none yet."""
        with self._database.read() as connection:
            return kept_turns.last_event(connection)

    def trim(self, upto: int) -> None:
        """Remove the changes of turns up to this number: who follows them has applied them."""
        with self._database.write() as connection:
            kept_turns.trim(connection, upto)

    def trimmed(self) -> int:
        """The number up to which changes of turns were removed."""
        with self._database.read() as connection:
            return kept_turns.trimmed(connection)
