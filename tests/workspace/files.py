"""Small worlds of files: an index that is a dictionary, a notifier that the test plays, waiting for a condition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from openclaw_neuralstream.model import Document, Known
from openclaw_neuralstream.workspace.harvest import Choice, Harvester, Rules, content_digest
from openclaw_neuralstream.workspace.watch import Doubt, Tell


class Shelf:
    """What an index promises to a harvest, kept in dictionaries."""

    def __init__(self) -> None:
        self.files: dict[str, Known] = {}
        self.texts: dict[str, str] = {}
        self.transactions = 0

    def known(self) -> dict[str, Known]:
        return dict(self.files)

    def replace(self, documents: Iterable[Document], known: Mapping[str, Known]) -> None:
        self.transactions += 1
        for document in documents:
            self.texts[document.path] = document.title
        self.files.update(known)

    def touch(self, known: Mapping[str, Known]) -> None:
        self.files.update(known)

    def remove(self, paths: Iterable[str]) -> None:
        for path in paths:
            self.files.pop(path, None)
            self.texts.pop(path, None)

    def close(self) -> None:
        """Nothing to release."""


def plain(path: str, data: bytes) -> Document:
    """A parser whose title is the whole text."""
    return Document(path=path, digest=content_digest(data), title=data.decode("utf-8", "replace"))


def harvester(root: Path, shelf: Shelf, choice: Choice | None = None, *, most_bytes: int = 1_000_000) -> Harvester:
    return Harvester(root, Rules(root, choice or Choice()), shelf, plain, most_bytes=most_bytes)


def write(root: Path, path: str, text: str | bytes = "words") -> Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def on_disk(root: Path, rules: Rules) -> dict[str, str]:
    """What a fresh index of this folder would hold."""
    shelf = Shelf()
    Harvester(root, rules, shelf, plain, most_bytes=1_000_000).harvest()
    return shelf.texts


class Played:
    """A notifier whose news the test tells; `room` is how many folders the system has watches for."""

    def __init__(self, room: int = 10_000) -> None:
        self.room = room
        self.followed: list[str] = []
        self.closed = False
        self.blind = 0
        self.tell: Tell = lambda _: None
        self.doubt: Doubt = lambda: None

    def __call__(self, root: Path, tell: Tell, doubt: Doubt) -> Played:
        self.tell, self.doubt, self.closed = tell, doubt, False
        return self

    def follow(self, folders: Iterable[str]) -> list[str]:
        new = [folder for folder in folders if folder not in self.followed]
        taken = new[: max(0, self.room - len(self.followed))]
        self.followed += taken
        self.blind = len(new) - len(taken)
        return taken

    def close(self) -> None:
        self.closed = True
