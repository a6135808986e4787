"""An example: birthdays out of a file of your own, brought to the questions that ask for them, and a command to list them.

Copy it into the hooks folder (`neuralstream admin plugins` says where that is) and write `birthdays.txt` beside it, a line each:

    1979-03-18 Anna
    1985-11-02 Борис
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from openclaw_neuralstream import Origin, Query, Record, hookimpl

FILE = Path(__file__).with_name("birthdays.txt")
ASKS = ("birthday", "born", "день рождения", "дня рождения", "родил", "生日", "出生")


def birthdays() -> list[tuple[str, str]]:
    """Day and name of each line that has both."""
    lines = FILE.read_text(encoding="utf-8").splitlines() if FILE.is_file() else []
    return [(parts[0], parts[1]) for line in lines if len(parts := line.split(maxsplit=1)) == 2]


@hookimpl
def find_records(query: Query, limit: int) -> list[Record]:
    """The birthdays of those whom the question names; all of them when it names nobody."""
    asked = query.text.casefold()
    if not any(word in asked for word in ASKS):
        return []
    named = [(day, name) for day, name in birthdays() if name.casefold() in asked]
    return [_record(day, name, query.scope.agent) for day, name in (named or birthdays())[:limit]]


@hookimpl
def commands() -> list[click.Command]:
    """`neuralstream birthdays`."""

    @click.command("birthdays")
    def listed() -> None:
        """The birthdays in birthdays.txt, by the day of the year."""
        for day, name in sorted(birthdays(), key=lambda item: item[0][5:]):
            click.echo(f"{day}  {name}")

    return [listed]


def _record(day: str, name: str, agent: str) -> Record:
    text = f"{name}: {day}"
    return Record(
        id=f"birthday-{name}",
        kind="fact",
        text=f"Birthday of {text}",
        summary=text,
        score=0.9,
        at=datetime.now(UTC),
        citation=FILE.name,
        origin=Origin.OWNER,
        speaker="owner",
        agent=agent,
        session_id="",
    )
