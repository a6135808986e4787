"""Parts that can be taken away and brought back while turns arrive: they fail exactly as the real ones do when away."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from openclaw_neuralstream.errors import VendorAway
from openclaw_neuralstream.model import Draft, Scope
from openclaw_neuralstream.ports import Choice, Extractor, GemIndex, Hit, IndexEntry, Reading, Spent, Vector


class Switch:
    """On while its file is absent; shared by processes."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def off(self) -> None:
        self._path.touch()

    def on(self) -> None:
        self._path.unlink(missing_ok=True)

    @property
    def thrown(self) -> bool:
        return self._path.exists()

    def check(self, name: str) -> None:
        if self._path.exists():
            raise VendorAway(f"{name} is away for the drill")


class SwitchedExtractor:
    """An extractor that goes away with its switch, before or after its answer: the turn of fate is the batch's id."""

    def __init__(self, inner: Extractor, switch: Switch) -> None:
        self.identity = inner.identity
        self._inner = inner
        self._switch = switch

    def extract(self, reading: Reading) -> list[Draft]:
        self._switch.check("the model")
        drafts = self._inner.extract(reading)
        if int(reading.batch.batch_id[:2], 16) % 2:
            self._switch.check("the model")
        return drafts


class SwitchedChooser:
    """Chooses the switched extractor."""

    def __init__(self, inner: Extractor, switch: Switch) -> None:
        self._extractor = SwitchedExtractor(inner, switch)
        self.choice = Choice("drill", "switched")

    def __call__(self) -> Extractor:
        return self._extractor

    def spent(self) -> Spent:
        return Spent("", 0, 0)


class SwitchedIndex:
    """A gem index that goes away with its switch."""

    def __init__(self, inner: GemIndex, switch: Switch) -> None:
        self.identity = inner.identity
        self._inner = inner
        self._switch = switch

    def upsert(self, entries: Sequence[IndexEntry]) -> None:
        self._switch.check("the index")
        self._inner.upsert(entries)

    def delete(self, gem_ids: Sequence[str]) -> None:
        self._switch.check("the index")
        self._inner.delete(gem_ids)

    def search(self, vector: Vector, scope: Scope, **more: Any) -> list[Hit]:
        self._switch.check("the index")
        return self._inner.search(vector, scope, **more)

    def count(self) -> int:
        self._switch.check("the index")
        return self._inner.count()

    def position(self) -> int:
        self._switch.check("the index")
        return self._inner.position()

    def advance(self, position: int) -> None:
        self._switch.check("the index")
        self._inner.advance(position)

    def clear(self) -> None:
        self._switch.check("the index")
        self._inner.clear()

    def close(self) -> None:
        self._inner.close()
