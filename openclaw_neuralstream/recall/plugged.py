"""What plugins know of: their records beside ours, under the same threshold and budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from openclaw_neuralstream.model import Query, Record
from openclaw_neuralstream.recall.source import COVERAGE, MEANING, WORDS, Candidate, Found, Understood

_MOST = 20
"""Records of one plugin that are looked at for one question."""

Ask = Callable[[Query, int], Mapping[str, Sequence[Record]]]


@dataclass(slots=True, eq=False)
class _Answers:
    """A shelf for one question: what the plugins answered."""

    records: Mapping[str, Record]
    name: str = "plugins"
    knows_days: bool = False

    def fetch(self, ids: Sequence[str], understood: Understood) -> Mapping[str, Found]:  # noqa: ARG002  the port's
        """The records by id."""
        return {id_: Found(self.records[id_]) for id_ in ids if id_ in self.records}


class PluggedSource:
    """Records that hooks find. Their score, from 0 to 1, is their relevance; what is no record is left out."""

    name = "plugins"
    kind = "plugins"

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def find(self, understood: Understood, limit: int) -> list[Candidate]:
        """At most `limit` records of all plugins, best first."""
        answered = self._ask(understood.query, min(limit, _MOST))
        records: dict[str, Record] = {}
        for plugin, found in answered.items():
            for record in list(found)[:_MOST]:
                if isinstance(record, Record) and record.agent == understood.query.scope.agent and record.text.strip():
                    id_ = f"{plugin}:{record.id}"
                    records[id_] = replace(record, id=id_, when=_days(record.when))
        shelf = _Answers(records)
        best = sorted(records.items(), key=lambda item: -item[1].score)[:limit]
        return [
            Candidate(id_, shelf, signal, min(max(float(record.score), 0.0), 1.0))
            for id_, record in best
            for signal in (WORDS, MEANING, COVERAGE)
        ]


def _days(when: str) -> str:
    """A day, or the first and last of several; "" for what is none: it stands before the text, as it is."""
    first, slash, last = when.partition("/")
    try:
        return "/".join(date.fromisoformat(day).isoformat() if day else "" for day in (first, last)[: 1 + len(slash)])
    except ValueError:
        return ""
