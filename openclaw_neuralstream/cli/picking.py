"""The filters by which gems are picked: one set of options for list, export and forget."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import wraps
from typing import Any

import click

from openclaw_neuralstream.server.client import Door

_PAGE = 1_000
_SUPPORTED_BY_PROCESS = ("text", "tag")


@dataclass(frozen=True, slots=True)
class Pick:
    """Which gems are meant; empty = all of them."""

    agent: str = ""
    user: str = ""
    text: str = ""
    tag: str = ""
    entity: str = ""
    session: str = ""
    batch: str = ""
    since: str = ""
    until: str = ""
    superseded: bool = False

    def with_superseded(self) -> Pick:
        """The same, replaced gems included."""
        return replace(self, superseded=True)

    def takes(self, gem: dict[str, Any]) -> bool:
        """Is this gem meant? Text, tag and replacement are judged by the process."""
        return (
            self.agent in ("", gem["agent"])
            and self.user in ("", gem["user"])
            and (not self.entity or _about(gem, self.entity))
            and self.session in ("", gem["session_key"], gem["source"]["session_id"])
            and self.batch in ("", gem["batch"])
            and (not self.since or _said(gem) >= self.since)
            and (not self.until or _said(gem) < self.until)
        )


def _about(gem: dict[str, Any], entity: str) -> bool:
    """Whether it was labelled with this person or thing, or names it in its words, whatever the endings."""
    from openclaw_neuralstream.model import slug_of
    from openclaw_neuralstream.text.traces import mentions

    slug = slug_of(entity)
    return any(slug_of(name) == slug for name in gem["entities"]) or mentions(gem["content"], entity)


def _said(gem: dict[str, Any]) -> str:
    """The day it was said, as the list shows it."""
    return str(gem["source"].get("date") or gem["created_at"][:10])


class Day(click.ParamType):  # type: ignore[type-arg]  # older click is not generic
    """A day as ISO text, from a date, a duration back from today, or words; "" stays empty."""

    name = "when"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The first day that is meant."""
        from openclaw_neuralstream.text import when

        found = (
            when.option(str(value)[:10] if str(value)[10:11] == "T" else str(value), datetime.now().astimezone().date())
            if value
            else None
        )
        if value and (found is None or found.start is None):
            self.fail(f'{value!r} is no day; write 2026-11-20, 7d, 2w, 3m, 1y or "last week"', param, ctx)
        return found.start.isoformat() if found and found.start else ""


class Moment(Day):
    """A day as `Day` takes it, or a moment of one (2026-11-20T15:00:00), as RFC 3339 in UTC; "" stays empty."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The first moment that is meant."""
        text = str(value)
        if text[10:11] != "T":
            day = super().convert(value, param, ctx)
            return f"{day}T00:00:00+00:00" if day else ""
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            self.fail(f"{value!r} is no moment; write 2026-11-20T15:00:00", param, ctx)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC).isoformat(timespec="seconds")


def _words(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """The words; none are refused: an empty variable of a script would mean all gems."""
    given = ctx.get_parameter_source(param.name or "") is click.core.ParameterSource.COMMANDLINE
    if given and not value.strip():
        raise click.BadParameter("it is empty; leave the option out to mean all of them", ctx=ctx, param=param)
    return value


def picking(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the filters; it receives `pick`."""

    @wraps(command)
    def with_pick(*args: Any, **kwargs: Any) -> None:
        pick = Pick(**{name: kwargs.pop(name) for name in Pick.__slots__})
        command(*args, pick=pick, **kwargs)

    when = Day()
    for option in (
        click.option("--superseded", is_flag=True, help="Also those that a newer one replaced."),
        click.option(
            "--until", type=when, default="", help="Said before this day: 2026-11-20, 7d, 2w, 3m, 1y, or words."
        ),
        click.option("--since", type=when, default="", help="Said on this day or later; the same forms."),
        click.option("--batch", default="", callback=_words, help="Made by this batch."),
        click.option("--session", default="", callback=_words, help="Made in this session (the host's key or id)."),
        click.option("--tag", default="", callback=_words, help="With this tag, e.g. decision."),
        click.option(
            "--entity", default="", callback=_words, help="About this person or thing: labelled with it, or naming it."
        ),
        click.option("--text", default="", callback=_words, help="Whose text contains this."),
        click.option("--user", default="", callback=_words, help="Of this user."),
        click.option("--agent", default="", callback=_words, help="Of this agent."),
    ):
        with_pick = option(with_pick)
    return with_pick


def picked(door: Door, pick: Pick, *, limit: int = 0) -> list[dict[str, Any]]:
    """The gems that are meant, newest first; `limit` 0 = all of them."""
    found: list[dict[str, Any]] = []
    for gem in _pages(door, pick):
        if pick.takes(gem):
            found.append(gem)
        if limit and len(found) >= limit:
            break
    return found


def _pages(door: Door, pick: Pick) -> Iterator[dict[str, Any]]:
    offset = 0
    asked = {name: getattr(pick, name) for name in _SUPPORTED_BY_PROCESS} | {"superseded": pick.superseded}
    while True:
        page = door.call("gems.list", {**asked, "limit": _PAGE, "offset": offset})["gems"]
        yield from page
        if len(page) < _PAGE:
            return
        offset += _PAGE
