"""Pack the best records into a token budget: in order, the summary where the text is too long, shorter ones after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from openclaw_neuralstream.model import Dropped, Origin, Record
from openclaw_neuralstream.ports import TokenCounter

FRAME_TOKENS = 45
"""What the block's first and last lines cost in the shipped template."""

LINE_TOKENS = 15
"""What a record's line costs beside its text: date, citation, brackets."""

ROOM = 490
"""Tokens of a block up to which what the owner said goes in with `FAR_WORSE` of the best one's score; all else needs `WORSE`."""

FAR_WORSE, WORSE = 0.1, 0.75
"""Shares of the best score, chosen on the development parts of LoCoMo and MADial for told recall at less than 500 tokens."""

_LONGEST = 16
"""Characters of a token beyond which no text goes on average: one that is longer is too long without being counted."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """What goes into the block, in the given order, and what does not fit."""

    records: tuple[Record, ...]
    dropped: tuple[Dropped, ...]


def fit(
    records: Sequence[Record],
    *,
    limit: int,
    budget: int,
    counter: TokenCounter,
    best: float = 0.0,
    room: int = ROOM,
    whole: bool = False,
) -> Fitted:
    """At most `limit` records in at most `budget` tokens, frame included; `Record.tokens` is what each costs.

    best: the score of the best one, where something shows that already. What is far worse is cut off ("far-worse"): what the owner
    did not say and what lies beyond `room` tokens sooner; whole: nothing is, for a person who searches, or for all of some days.
    A record that does not fit is tried with its summary as its text, then left out; shorter ones after it still go in.
    """
    kept: list[Record] = []
    dropped: list[Dropped] = []
    left = budget - FRAME_TOKENS
    best = 0.0 if whole else max(best, max((record.score for record in records), default=0.0))
    for record in records:
        if len(kept) >= limit:
            dropped.append(Dropped(record, "over-limit"))
            continue
        if record.score < FAR_WORSE * best:
            dropped.append(Dropped(record, "far-worse"))
            continue
        fitting = _fitting(record, left, counter)
        if fitting is None:
            dropped.append(Dropped(record, "over-budget"))
            continue
        spent = budget - left + fitting.tokens
        near = record.origin is Origin.OWNER and spent <= room
        if record.score < (FAR_WORSE if near else WORSE) * best:
            dropped.append(Dropped(record, "far-worse"))
            continue
        kept.append(fitting)
        left -= fitting.tokens
    return Fitted(tuple(kept), tuple(dropped))


def _fitting(record: Record, left: int, counter: TokenCounter) -> Record | None:
    texts = [text for text in dict.fromkeys((record.text, record.summary)) if text and len(text) <= _LONGEST * left]
    if not texts or left <= LINE_TOKENS:
        return None
    for text in texts:
        tokens = LINE_TOKENS + counter.count(text)
        if tokens <= left:
            return replace(record, text=text, tokens=tokens)
    return None
