"""Records as the command line and the tools show them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from openclaw_neuralstream.formats import instant
from openclaw_neuralstream.model import Record


def record_to_json(record: Record) -> dict[str, Any]:
    """A record as the CLI and the tools show it; kind, timestamp, entities, content and source are the spec's form."""
    return {
        **asdict(record),
        "at": instant(record.at),
        "origin": record.origin.value,
        "score": round(record.score, 4),
        "timestamp": record.when or ("" if "#L" in record.citation else f"{record.at:%Y-%m-%d}"),
        "content": record.text,
        "source": record.citation,
    }
