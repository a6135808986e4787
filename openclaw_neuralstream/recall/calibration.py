"""From which relevance on a record is shown: measured once for an embedder, with what and when; cautious for others."""

from __future__ import annotations

from dataclasses import dataclass

from openclaw_neuralstream.model import EmbedderIdentity

CONSERVATIVE = 0.35
"""For an embedder that nothing was measured for: its cosines may say more or less than those of the measured ones."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """The least threshold at which, on this data, at most one unanswerable question in ten got something injected."""

    embedder: str
    threshold: float
    data: str
    day: str


CALIBRATED = (
    Calibration(
        embedder="use-multilingual-v3/512",
        threshold=0.26,
        data="LoCoMo (development part): questions about the wrong person, questions of another conversation, with and "
        "without gems; our own set in English, Chinese and Russian",
        day="2026-11-21",
    ),
)
"""What `python -m benchmarks.recall.calibrate` found."""


def calibration_of(identity: EmbedderIdentity) -> Calibration | None:
    """What was measured for this embedder; None when nothing was."""
    return next((item for item in CALIBRATED if item.embedder == str(identity)), None)


def threshold_of(identity: EmbedderIdentity) -> float:
    """The threshold for this embedder where the user has set none."""
    known = calibration_of(identity)
    return known.threshold if known else CONSERVATIVE


def told(identity: EmbedderIdentity, threshold: float) -> str:
    """Where this threshold comes from, for people."""
    known = calibration_of(identity)
    if known and threshold == known.threshold:
        return f"measured to be best for the embedder {identity} on {known.day}: {known.data}"
    if known:
        return f"set by hand; measured to be best for {identity}: {known.threshold}, which neuralstream config unset recall_threshold takes"
    if threshold == CONSERVATIVE:
        return "a conservative default, nothing was measured for this embedder: raise it where too much is recalled, lower it where too little"
    return "set by hand; nothing was measured for this embedder"
