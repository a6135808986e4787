"""Opening the memory file: one process at a time, versions checked, damage moved aside."""

from __future__ import annotations

from pathlib import Path

from openclaw_neuralstream.store import gems
from openclaw_neuralstream.store.database import Database, translated
from openclaw_neuralstream.store.schema import migrate


def opened(path: Path) -> Database:
    """The file at the present version."""
    database = Database(path, prepare=lambda connection: connection.create_function("contains", -1, gems.contains))
    try:
        with database.exclusive() as connection, translated(path):
            migrate(connection, path)
    except BaseException:
        database.close()
        raise
    return database
