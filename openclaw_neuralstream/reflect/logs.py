"""Daily logs without a Retain section: which they are, how an extractor reads them, and the bullets proposed for them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, time, timedelta

from openclaw_neuralstream.fences import generated_lines, is_generated
from openclaw_neuralstream.model import Batch, Draft, Kind, Origin, Scope, Session, Turn, Utterance, digest
from openclaw_neuralstream.ports import Reading
from openclaw_neuralstream.reflect.evidence import EXPERIENCE, OPINION, WORLD
from openclaw_neuralstream.reflect.pages import plain

LEAST, MOST = 2, 5
"""A Retain section has two to five bullets."""

_DAILY = re.compile(r"memory/(?:daily/)?(\d{4})-(\d{2})-(\d{2})[^/]*\.(?:md|markdown)", re.IGNORECASE)
_RETAIN = re.compile(r"^#{1,6}[ \t]+retain\b", re.IGNORECASE | re.MULTILINE)
_ITEM = re.compile(r"^\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_FRONT = re.compile(r"\A\ufeff?---\r?\n.*?^---[ \t]*$", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_LETTERS = {WORLD: "W", EXPERIENCE: "B", OPINION: "O"}
_KINDS = {Kind.PREFERENCE: OPINION, Kind.EVENT: EXPERIENCE}
_READ = 200_000  # characters of a log


def day_of(path: str) -> date | None:
    """The day of a daily log, None for any other file."""
    match = _DAILY.fullmatch(path)
    try:
        return date(*map(int, match.groups())) if match else None
    except ValueError:
        return None


def lacks_retain(data: bytes) -> bool:
    """Whether nobody has written a Retain section into it."""
    return not _RETAIN.search(data.decode("utf-8", "replace"))


def reading(path: str, data: bytes, day: date, agent: str) -> Reading:
    """The log as an extractor reads it: each paragraph or bullet outside of code and fences is a turn."""
    session = Session(agent, f"log:{path}", path)
    at = datetime.combine(day, time(12), UTC)
    turns = tuple(
        Turn(
            digest(path, str(number), text),
            Scope(agent),
            session,
            at + timedelta(seconds=number),
            (Utterance("owner", Origin.OWNER, text, at),),
            index=number,
        )
        for number, text in enumerate(paragraphs(data), 1)
    )
    return Reading(Batch(digest(path, "retain"), session, turns, "", at))


def paragraphs(data: bytes) -> list[str]:
    """What a log says in words: its bullets and paragraphs, without headings, code, frontmatter and generated parts."""
    ranges = generated_lines(data)
    lines = data.decode("utf-8", "replace")[:_READ].splitlines()
    own = "\n".join("" if is_generated(number, ranges) else line for number, line in enumerate(lines, 1))
    text = _CODE.sub("\n", _FRONT.sub("", own))
    found: list[list[str]] = [[]]
    for line in text.splitlines():
        if not line.strip() or line.lstrip().startswith(("#", "|", ">", "<!--")):
            found.append([])
        elif _ITEM.match(line):
            found.append([_ITEM.sub("", line).strip()])
        else:
            found[-1].append(line.strip())
    return [" ".join(parts) for parts in found if parts]


def retain_section(drafts: Sequence[Draft]) -> str:
    """The section proposed: the two to five weightiest, in the order of the log; "" when there are fewer than two."""
    unlike = list({" ".join(draft.content.casefold().split()): draft for draft in drafts}.values())
    best = sorted(unlike, key=lambda draft: -draft.importance)[:MOST]
    kept = [draft for draft in unlike if draft in best]
    return "\n".join(["## Retain", *map(bullet, kept)]) if len(kept) >= LEAST else ""


def bullet(draft: Draft) -> str:
    """A draft in the form of a Retain bullet: `- O(c=0.80) @Peter: Prefers concise replies`."""
    kind = _KINDS.get(draft.kind, WORLD)
    sure = f"(c={draft.confidence:.2f})" if kind == OPINION else ""
    names = "".join(f" @{name}" for name in _handles(draft.entities))
    return f"- {_LETTERS[kind]}{sure}{names}: {plain(draft.content)}"


def _handles(names: Iterable[str]) -> list[str]:
    clean = (re.sub(r"[^\w.+#-]+", "_", name.lstrip("@")).strip("_.-") for name in names)
    return list(dict.fromkeys(name for name in clean if name))[:4]
