"""What is to be forgotten, and the receipt of it: counts and places, never words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.model import Gem

HOST, PERSON = "host", "person"


@dataclass(frozen=True, slots=True)
class What:
    """Criteria that hold together; empty ones ask for nothing. Times: since is included, until is not.

    gems, turns: ids; turns go as a whole, with what was said in them alone. words: must be said. person: who said it or is named. session: the host's key or id.
    epoch: of the session, the last one that is meant; None = all. by: who asked, a person or the host.
    """

    gems: tuple[str, ...] = ()
    turns: tuple[str, ...] = ()
    words: str = ""
    person: str = ""
    entity: str = ""
    session: str = ""
    agent: str = ""
    user: str = ""
    since: datetime | None = None
    until: datetime | None = None
    epoch: int | None = None
    by: str = PERSON

    @property
    def asks(self) -> list[str]:
        """The names of the criteria that are given."""
        return [
            name
            for name in ("gems", "turns", "words", "person", "entity", "session", "agent", "user", "since", "until")
            if getattr(self, name)
        ]

    @property
    def whole(self) -> bool:
        """Whether a place or a time is meant, with all that was said there, and not some of what was said."""
        return not (self.gems or self.words or self.person or self.entity or self.user)

    @property
    def named(self) -> tuple[str, ...]:
        """The words and names of which lines of files are cited; none where only some of what was said is meant."""
        narrowed = self.gems or self.turns or self.session or self.agent or self.user or self.since or self.until
        return () if narrowed else tuple(filter(None, (self.words, self.person, self.entity)))

    def to_json(self) -> dict[str, Any]:
        """As the journal keeps it."""
        return {
            **asdict(self),
            "since": self.since.isoformat() if self.since else None,
            "until": self.until.isoformat() if self.until else None,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> What:
        """The inverse. Raises BadRequest."""
        try:
            known = {name: data[name] for name in cls.__dataclass_fields__ if data.get(name) is not None}
            for name in ("since", "until"):
                if name in known:
                    known[name] = datetime.fromisoformat(known[name])
            return cls(**{**known, **{name: tuple(known.get(name, ())) for name in ("gems", "turns")}})
        except (TypeError, ValueError) as error:
            raise BadRequest(f"criteria do not read: {error}", where="forget") from error


@dataclass(frozen=True, slots=True)
class Left:
    """Something that could not be removed: where, why, and what to do."""

    where: str
    what: str
    fix: str = ""


@dataclass(slots=True)
class Receipt:
    """What went where, in counts, and what could not go. finished: nothing is left to be tried again."""

    at: str = ""
    by: str = PERSON
    asked: list[str] = field(default_factory=list)
    removed: dict[str, int] = field(default_factory=dict)
    left: list[Left] = field(default_factory=list)
    finished: bool = False

    def add(self, name: str, count: int) -> None:
        """Count what went."""
        if count:
            self.removed[name] = self.removed.get(name, 0) + count

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Receipt:
        """The inverse."""
        return cls(**{**data, "left": [Left(**item) for item in data.get("left", ())]})


@dataclass(frozen=True, slots=True)
class Reached:
    """A turn, or a line that waits, which loses these texts. where: "memory", "buffer" or "spool". whole: nothing is left of it."""

    where: str
    id: str
    session: str = ""
    at: str = ""
    texts: tuple[str, ...] = ()
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the criteria come to in the memory file: gems, whole turns, and pieces of other turns.

    For a preview also: reached, all that loses something, and forms, how often other endings of the words stand there.
    """

    gems: tuple[Gem, ...] = ()
    turns: tuple[str, ...] = ()
    cuts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    reached: tuple[Reached, ...] = ()
    forms: Mapping[str, int] = field(default_factory=dict)
