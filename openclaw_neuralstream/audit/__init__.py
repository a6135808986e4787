"""The junk meter: which of the stored gems are no good, by rules that anybody can read, and what mends each."""

from __future__ import annotations

from openclaw_neuralstream.audit.meter import audit
from openclaw_neuralstream.audit.values import SORTS, Audit, Finding, Rate, wilson

__all__ = ["SORTS", "Audit", "Finding", "Rate", "audit", "wilson"]
