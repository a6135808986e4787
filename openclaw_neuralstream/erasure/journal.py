"""What a forgetting still has to do, as the memory file keeps it until all of it is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from openclaw_neuralstream.erasure.files import Trace
from openclaw_neuralstream.erasure.values import Receipt, What
from openclaw_neuralstream.store.forgetting import Said
from openclaw_neuralstream.traces import worth


@dataclass(eq=False, slots=True)
class Journal:
    """One forgetting after its transaction. entities: whom the gems named. done: the steps that need no second try."""

    what: What
    said: Said
    receipt: Receipt
    entities: Sequence[str] = ()
    done: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, kept: Mapping[str, Any]) -> Journal:
        """As the memory file keeps it."""
        said = Said(**{**kept["said"], "agents": set(kept["said"]["agents"])})
        receipt = Receipt.from_json(kept["receipt"])
        return cls(What.from_json(kept["what"]), said, receipt, kept["entities"], list(kept.get("done", ())))

    def to_json(self) -> dict[str, Any]:
        """The inverse."""
        return {
            "what": self.what.to_json(),
            "said": {**asdict(self.said), "agents": sorted(self.said.agents)},
            "entities": list(self.entities),
            "receipt": self.receipt.to_json(),
            "done": self.done,
        }

    def trace(self) -> Trace:
        """What to look for in files."""
        what = self.what
        whole = (lambda params: _spooled_there(what, params)) if what.session and what.whole else None
        pieces = tuple(worth(self.said.pieces))
        return Trace(pieces, tuple(self.said.contents), tuple(self.said.gem_ids), tuple(self.entities), whole)


def _spooled_there(what: What, params: dict[str, Any]) -> bool:
    return what.session in (params.get("session_key"), params.get("session_id")) and what.agent in (
        "",
        params.get("agent", "main"),
    )
