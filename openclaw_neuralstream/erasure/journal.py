"""What a forgetting still has to do, as the memory file keeps it until all of it is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any

from openclaw_neuralstream.erasure.files import Trace
from openclaw_neuralstream.erasure.values import Receipt, What
from openclaw_neuralstream.formats import moment
from openclaw_neuralstream.store.forgetting import Said
from openclaw_neuralstream.traces import worth


@dataclass(eq=False, slots=True)
class Journal:
    """One forgetting after its transaction. entities: whom the gems named. done: the steps that need no second try.

    reached: how far a long step has come that was interrupted, by its name.
    """

    what: What
    said: Said
    receipt: Receipt
    entities: Sequence[str] = ()
    done: list[str] = field(default_factory=list)
    reached: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, kept: Mapping[str, Any]) -> Journal:
        """As the memory file keeps it."""
        said = Said(**{**kept["said"], "agents": set(kept["said"]["agents"])})
        receipt = Receipt.from_json(kept["receipt"])
        done, reached = list(kept.get("done", ())), dict(kept.get("reached", {}))
        return cls(What.from_json(kept["what"]), said, receipt, kept["entities"], done, reached)

    def to_json(self) -> dict[str, Any]:
        """The inverse."""
        return {
            "what": self.what.to_json(),
            "said": {**asdict(self.said), "agents": sorted(self.said.agents)},
            "entities": list(self.entities),
            "receipt": self.receipt.to_json(),
            "done": self.done,
            "reached": self.reached,
        }

    @property
    def until(self) -> datetime:
        """What was said later is not meant: it may wait in the spool when a process comes back that was killed in between."""
        return moment(self.receipt.at) + timedelta(seconds=1)

    def trace(self) -> Trace:
        """What to look for in files."""
        pieces = tuple(worth(self.said.pieces))
        return Trace(pieces, tuple(self.said.contents), tuple(self.said.gem_ids), tuple(self.entities))
