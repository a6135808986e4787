"""Forgetting in a memory file alone, as the eraser does it: out of the tables in one transaction, then out of the bytes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from openclaw_neuralstream.store.truth import Truth
from tests.values import NOW


def forget(truth: Truth, gem_ids: Sequence[str], at: datetime = NOW) -> int:
    """Remove these gems and what only they stand on; returns how many were here."""
    said = truth.erasing.erase(gem_ids, [], {}, at)
    truth.erasing.wipe()
    return len(said.gem_ids)
