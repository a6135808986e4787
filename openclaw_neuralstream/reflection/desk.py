"""Where a planned page meets its file: written, proposed or left alone, and told as one line of the report."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from openclaw_neuralstream.fences import named
from openclaw_neuralstream.reflect.pages import Page
from openclaw_neuralstream.reflect.proposals import Book, Proposal, proposal
from openclaw_neuralstream.reflect.report import Change
from openclaw_neuralstream.reflect.rewrite import Rewrite, Verdict, removed, rewrite
from openclaw_neuralstream.reflect.writing import FileChanged, FileRefused, Place, read, remove, write


class Desk:
    """The files of one workspace during one run."""

    def __init__(self, root: Path, book: Book, now: datetime, *, dry_run: bool) -> None:
        self.root = root
        self.book = book
        self.dry_run = dry_run
        self._now = now

    def lay(self, page: Page) -> Change:
        """Bring the page into its file."""
        return self.attempt(
            page, lambda place: self.apply(page, rewrite(read(place), page.fence, page.body, head=page.head))
        )

    def holds(self, path: str, fence: str) -> bool:
        """Whether this file has this part of ours."""
        try:
            return bool(named(read(Place(self.root, path)) or b"", fence))
        except FileRefused:
            return False

    def pages(self, folder: str) -> set[str]:
        """The Markdown files of a folder, relative to the workspace."""
        try:
            return {f"{folder}/{file.name}" for file in (self.root / folder).iterdir() if file.suffix == ".md"}
        except OSError:
            return set()

    def clear(self, page: Page) -> Change:
        """Take our part out of the file, for nothing is known any more that it could say."""
        return self.attempt(page, lambda place: self.apply(page, removed(read(place), page.fence)))

    def attempt(self, page: Page, do: Callable[[Place], Change]) -> Change:
        """What `do` says, or why the file could not be written; the other files go on."""
        try:
            return do(Place(self.root, page.path))
        except FileChanged as error:
            return Change(page.path, page.fence, "waits", error.what)
        except FileRefused as error:
            return Change(page.path, page.fence, "failed", error.what)

    def apply(self, page: Page, made: Rewrite) -> Change:
        """Write what was planned; propose it where a hand has changed our part."""
        if made.verdict is Verdict.BY_HAND:
            return self.propose(page.path, page.fence, page.body, "the generated part was changed by hand", made)
        if made.verdict in (Verdict.OFF, Verdict.UNCLEAR):
            return Change(page.path, page.fence, "left alone", made.verdict.value)
        if made.verdict is Verdict.UNCHANGED:
            return Change(page.path, page.fence, "unchanged")
        if not self.dry_run:
            self._put(Place(self.root, page.path), made)
            self.book.drop(page.path, page.fence)
        shown = self._proposal(page.path, page.fence, "", "", made).diff
        return Change(page.path, page.fence, made.verdict.value, diff=shown)

    def _put(self, place: Place, made: Rewrite) -> None:
        if made.gone and made.before is not None:
            remove(place, read_as=made.before)
        else:
            write(place, made.after, read_as=made.before)

    def propose(self, path: str, part: str, text: str, why: str, made: Rewrite) -> Change:
        """Let the change wait for a yes, unless it was refused once."""
        one = self._proposal(path, part, text, why, made)
        if self.dry_run or self.book.put(one):
            return Change(path, part, "proposed", why, one.diff, one.proposal_id)
        return Change(path, part, "unchanged", "proposed before")

    def _proposal(self, path: str, part: str, text: str, why: str, made: Rewrite) -> Proposal:
        return proposal(path, part, text, why, before=made.before, after=made.after, made=self._now)
