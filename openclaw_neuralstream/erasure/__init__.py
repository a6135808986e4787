"""Forgetting wherever it lies: what is meant, what goes, what cannot go; finished after a kill."""

from openclaw_neuralstream.erasure.eraser import Eraser, last_receipts
from openclaw_neuralstream.erasure.values import HOST, Left, Receipt, What

__all__ = ["HOST", "Eraser", "Left", "Receipt", "What", "last_receipts"]
