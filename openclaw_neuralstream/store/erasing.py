"""What takes words out of the memory file: forgetting with a note of what is still to be done, newer rules of secrets, the bytes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from openclaw_neuralstream.database import Database
from openclaw_neuralstream.model import Turn
from openclaw_neuralstream.secrets import rules_version
from openclaw_neuralstream.store import cutting, forgetting, notes, scrubbing, turns
from openclaw_neuralstream.store.forgetting import Said
from openclaw_neuralstream.store.schema import FORGOTTEN
from openclaw_neuralstream.store.scrubbing import Scrubbed

ERASING = "forget.journal"
"""The note of the forgettings whose last steps are still to be done; each is gone, with all its bytes, when they are."""


class _RehearsedError(Exception):
    """Ends a transaction that was only to show what it would do."""


class Erasing:
    """Forgetting and scrubbing in one memory file. Any thread may ask; a verb is one transaction, `wipe` a few short ones."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # --- forgetting -------------------------------------------------------------------------------------------------

    def erase(
        self,
        gem_ids: Sequence[str],
        turn_ids: Sequence[str],
        cuts: Mapping[str, Sequence[str]],
        at: datetime,
        *,
        journal: Callable[[Said], Mapping[str, Any]] | None = None,
        rehearse: Callable[[Sequence[Turn]], object] | None = None,
    ) -> Said:
        """Remove gems, whole turns and pieces of turns, all in one transaction with a note of what is still to be done.

        journal: that note, behind those of earlier ones that are not done. rehearse: change nothing, and tell it what
        would be left of the turns that lose something. The bytes go with `wipe`.
        """
        done = Said()
        with suppress(_RehearsedError), self._database.write() as connection:
            done = forgetting.erase(connection, gem_ids, turn_ids, cuts, at)
            if rehearse:
                rehearse(turns.read(connection, done.reached))
                raise _RehearsedError
            if journal is not None:
                notes.put(connection, ERASING, json.dumps([*_unfinished(connection), journal(done)]))
        return done

    def begun(self) -> int:
        """How many forgettings there were: what was read of turns before the last one may hold what is forgotten."""
        with self._database.read() as connection:
            return forgetting.begun(connection)

    def unfinished(self) -> list[dict[str, Any]]:
        """What was noted of the forgettings that are not done, oldest first."""
        with self._database.read() as connection:
            return _unfinished(connection)

    def note(self, unfinished: Sequence[Mapping[str, Any]]) -> None:
        """What is still to be done of them."""
        with self._database.write() as connection:
            notes.put(connection, ERASING, json.dumps(unfinished))

    def finish(self, name: str, receipts: str, unfinished: Sequence[Mapping[str, Any]] = ()) -> None:
        """The notes of all but the unfinished ones go, down to their bytes; the receipts stay under this name."""
        with self._database.write() as connection:
            notes.put(connection, name, receipts)
            notes.put(connection, ERASING, json.dumps(unfinished) if unfinished else "")
            notes.put(connection, "forget.pending", "1")
        forgetting.scrub(self._database)

    def refuse(self, turns_: Sequence[Turn], at: datetime) -> None:
        """Never accept these turns, which wait in another buffer: their ids are noted, no text of them."""
        with self._database.write() as connection:
            for turn in turns_:
                if turns.state_of(connection, turn.turn_id) is None:
                    turns.insert(connection, turn, FORGOTTEN)
                cutting.empty(connection, [turn.turn_id], at)

    # --- secrets ----------------------------------------------------------------------------------------------------

    def rules_due(self) -> bool:
        """Whether something stored was never looked through with the rules of secrets that are in force."""
        with self._database.read() as connection:
            return notes.get(connection, scrubbing.RULES) != rules_version()

    def scrub_sizes(self) -> dict[str, int]:
        """How many rows each place of `scrub` has."""
        with self._database.read() as connection:
            return scrubbing.sizes(connection)

    def scrub(self, place: str, after: int, limit: int, at: datetime, *, write: bool = True) -> Scrubbed:
        """Take secrets out of the next rows of a place (`scrubbing.PLACES`); with write=False only look.

        Gems whose content changed lose their vectors. The old bytes go with `wipe`.
        """
        if not write:
            with self._database.read() as connection:
                return scrubbing.step(connection, place, after, limit, at=at, write=False)
        with self._database.write() as connection:
            return scrubbing.step(connection, place, after, limit, at=at)

    # --- bytes ------------------------------------------------------------------------------------------------------

    def wipe(self) -> None:
        """Overwrite what scrubbed and forgotten rows left in the file and its log; resumed at the next start."""
        forgetting.finish(self._database)


def _unfinished(connection: sqlite3.Connection) -> list[dict[str, Any]]:
    found = json.loads(notes.get(connection, ERASING) or "[]")
    return found if isinstance(found, list) else [found]  # earlier versions noted one, and no list
