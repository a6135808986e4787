"""Days that a text names, in English, Russian and Chinese: "since last week", "27 Nov – 1 Dec 2025", "上周以来", "30d"."""

from __future__ import annotations

from openclaw_neuralstream.text.when.calendar import nearest_year
from openclaw_neuralstream.text.when.mentions import Mention, mentions
from openclaw_neuralstream.text.when.questions import dates_in, held_in, option, period
from openclaw_neuralstream.text.when.tense import Tense, tells_past, tense_at

__all__ = [
    "Mention",
    "Tense",
    "dates_in",
    "held_in",
    "mentions",
    "nearest_year",
    "option",
    "period",
    "tells_past",
    "tense_at",
]
