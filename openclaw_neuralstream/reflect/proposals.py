"""Proposals: changes to a person's file that wait for a yes; kept in the state directory, shown as a unified diff."""

from __future__ import annotations

import base64
import difflib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import structlog

from openclaw_neuralstream.errors import NotFound
from openclaw_neuralstream.model import digest
from openclaw_neuralstream.state import write_private

log = structlog.get_logger(__name__)

_REJECTED, _ACCEPTED = "rejected", "accepted"


@dataclass(frozen=True, slots=True)
class Proposal:
    """One change to one file.

    proposal_id: from path, part and text, so that the same proposal is one. part: the fence, or "retain".
    text: what is proposed for this part. before, after: the file's bytes; before is None where there is no file.
    """

    proposal_id: str
    path: str
    part: str
    text: str
    reason: str
    before: bytes | None
    after: bytes
    made: datetime

    @property
    def diff(self) -> str:
        """The change as a unified diff; bytes that are no UTF-8 are shown as �."""
        before = (self.before or b"").decode("utf-8", "replace").splitlines()
        after = self.after.decode("utf-8", "replace").splitlines()
        old = f"a/{self.path}" if self.before is not None else "/dev/null"
        return "\n".join(difflib.unified_diff(before, after, old, f"b/{self.path}", lineterm="", n=2))


def proposal(
    path: str, part: str, text: str, reason: str, *, before: bytes | None, after: bytes, made: datetime
) -> Proposal:
    """A proposal with the id that its path, part and text give."""
    return Proposal(digest(path, part, text, size=6), path, part, text, reason, before, after, made)


class Book:
    """The proposals of one workspace, one owner-only file each; those decided on are kept apart and never made again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def waiting(self) -> list[Proposal]:
        """Those that wait for a decision, by path; one that does not read back is left out and logged."""
        return sorted(self._read(self._folder), key=lambda one: (one.path, one.part))

    def find(self, prefix: str) -> Proposal:
        """The proposal whose id begins so. Raises NotFound."""
        found = [one for one in self.waiting() if prefix and one.proposal_id.startswith(prefix)]
        if len(found) != 1:
            what = f"{len(found)} proposals begin with {prefix!r}" if found else f"no proposal {prefix!r}"
            raise NotFound(what, fix="neuralstream proposals list shows the ids")
        return found[0]

    def put(self, one: Proposal) -> bool:
        """Keep it in place of an older one for the same part. False when it was refused once, or waits as it is."""
        if (self._folder / _REJECTED / f"{one.proposal_id}.json").exists():
            return False
        before = [known for known in self._read(self._folder) if (known.path, known.part) == (one.path, one.part)]
        if any(known.proposal_id == one.proposal_id and known.before == one.before for known in before):
            return False
        self._write(self._folder, one)
        for known in before:
            if known.proposal_id != one.proposal_id:
                self._file(known).unlink(missing_ok=True)
        return True

    def refused(self, path: str, part: str) -> bool:
        """Whether a proposal for this part was refused once, whatever it said."""
        return any((one.path, one.part) == (path, part) for one in self._read(self._folder / _REJECTED))

    def drop(self, path: str, part: str) -> None:
        """It has become needless: the file says so already."""
        for known in self._read(self._folder):
            if (known.path, known.part) == (path, part):
                self._file(known).unlink(missing_ok=True)

    def reject(self, one: Proposal) -> None:
        """Put it away; the same text is not proposed for this part again."""
        self._decide(one, _REJECTED)

    def accept(self, one: Proposal) -> None:
        """Put it away as done; what the file said before stays readable there."""
        self._decide(one, _ACCEPTED)

    def _decide(self, one: Proposal, how: str) -> None:
        self._write(self._folder / how, one)
        self._file(one).unlink(missing_ok=True)

    def _file(self, one: Proposal) -> Path:
        return self._folder / f"{one.proposal_id}.json"

    def _write(self, folder: Path, one: Proposal) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private(folder / f"{one.proposal_id}.json", json.dumps(_to_json(one), ensure_ascii=False) + "\n")

    def _read(self, folder: Path) -> Iterator[Proposal]:
        for file in sorted(folder.glob("*.json")) if folder.is_dir() else ():
            try:
                yield _from_json(json.loads(file.read_text(encoding="utf-8")))
            except (OSError, ValueError, KeyError, TypeError) as error:
                log.warning("proposal.unreadable", error=type(error).__name__)


def _to_json(one: Proposal) -> dict[str, Any]:
    return {
        "proposal_id": one.proposal_id,
        "path": one.path,
        "part": one.part,
        "text": one.text,
        "reason": one.reason,
        "before": None if one.before is None else base64.b64encode(one.before).decode(),
        "after": base64.b64encode(one.after).decode(),
        "made": one.made.isoformat(),
    }


def _from_json(raw: dict[str, Any]) -> Proposal:
    before = raw["before"]
    return Proposal(
        str(raw["proposal_id"]),
        str(raw["path"]),
        str(raw["part"]),
        str(raw["text"]),
        str(raw["reason"]),
        None if before is None else base64.b64decode(before),
        base64.b64decode(raw["after"]),
        datetime.fromisoformat(raw["made"]),
    )
