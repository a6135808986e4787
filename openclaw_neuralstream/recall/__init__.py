"""Recall: every source asked, fused, ranked, and packed into a budget; pure over its sources."""

from __future__ import annotations

from openclaw_neuralstream.recall.days import DaySource, TurnDaySource
from openclaw_neuralstream.recall.engine import recall
from openclaw_neuralstream.recall.fit import Window
from openclaw_neuralstream.recall.gems import GemShelf, VectorSource, WordSource, gem_sources, record_of
from openclaw_neuralstream.recall.notes import NoteShelf, NoteSource
from openclaw_neuralstream.recall.query import HEARD, Book, NoteWords
from openclaw_neuralstream.recall.sequences import SequenceSource
from openclaw_neuralstream.recall.source import Candidate, Found, PluggedSource, Shape, Shelf, Source, Understood
from openclaw_neuralstream.recall.turns import TurnShelf, TurnSource

__all__ = [
    "HEARD",
    "Book",
    "Candidate",
    "DaySource",
    "Found",
    "GemShelf",
    "NoteShelf",
    "NoteSource",
    "NoteWords",
    "PluggedSource",
    "SequenceSource",
    "Shape",
    "Shelf",
    "Source",
    "TurnDaySource",
    "TurnShelf",
    "TurnSource",
    "Understood",
    "VectorSource",
    "Window",
    "WordSource",
    "gem_sources",
    "recall",
    "record_of",
]
