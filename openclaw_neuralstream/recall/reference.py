"""Short citations: "#4f2a" for what was said, "memory/2026-11-20.md#L3" for what stands in a file; and back to the record."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from openclaw_neuralstream.model import Gem, Query, Record, Scope
from openclaw_neuralstream.recall.gems import record_of
from openclaw_neuralstream.recall.source import Source, Understood

_SHORT = 4
_REFERENCE = re.compile(r"\W*#([0-9a-f]{4,64})\W*")
_IN_A_FILE = re.compile(r".+#L\d+(?:-L\d+)?")


def reference(record: Record) -> str:
    """How a block cites a record: where it stands in a file, else four digits that `resolved` knows."""
    if _IN_A_FILE.fullmatch(record.citation):
        return record.citation
    return f"#{_digits(record.id)}"


def referred(text: str) -> str:
    """The digits of a text that is nothing but a short citation; "" for any other."""
    found = _REFERENCE.fullmatch(text.casefold())
    return found[1] if found else ""


def resolved(
    digits: str,
    query: Query,
    *,
    shown: Sequence[str],
    gem: Callable[[str], Gem | None],
    passage: Callable[[str, Scope], str],
    sources: Sequence[Source],
) -> list[Record]:
    """The records that a short citation stands for: of what was shown lately, else the one gem or passage whose id begins so.

    shown: ids of records of late, the newest first.
    """
    ids = [id_ for id_ in dict.fromkeys(shown) if _digits(id_).startswith(digits[:_SHORT]) and _fits(id_, digits)]
    found = gem(digits)
    asked = query.scope
    mine = found is not None and (found.scope.agent, found.scope.user) == (asked.agent, asked.user)
    here = mine and found is not None and found.scope.project in ("", asked.project)
    outdated = "superseded" if found is not None and found.superseded_by else ""
    records = [replace(record_of(found), outdated=outdated)] if found is not None and here else []
    ids += [id_ for id_ in [passage(digits, query.scope)] if id_]
    understood = Understood(query, (), query.text, "")
    for shelf in {id(s): s for source in sources if (s := getattr(source, "shelf", None)) is not None}.values():
        missing = [id_ for id_ in ids if all(record.id != id_ for record in records)]
        records += [item.record for item in shelf.fetch(missing, understood).values()] if missing else []
    return list({record.id: record for record in records}.values())


def _digits(id_: str) -> str:
    short = id_.replace("-", "")[:_SHORT]
    return short if re.fullmatch(r"[0-9a-f]{4}", short) else hashlib.sha256(id_.encode()).hexdigest()[:_SHORT]


def _fits(id_: str, digits: str) -> bool:
    return len(digits) == _SHORT or id_.replace("-", "").startswith(digits)
