"""How much a gem matters: one formula, the model's opinion being one of its inputs. Pure.

    importance = (1 − w) · signals + w · opinion + repetition

signals = base(kind) + 0.15 asked for ("remember …", by hand) + 0.10 a correction + 0.05 emphasis ("important", "never",
health, promises, deadlines) + 0.05 a commitment (a decision, or a confirmed proposal); for words of another person × 0.8,
of the agent × 0.7. opinion: what the extractor says (the rules weigh names, numbers and hedges; a model judges). w: the
0.6, see memory/distil.py. repetition: 0.04 · log₂(times said), at most 0.12. All between 0 and 1. How old a gem
is plays no part; a value set by hand wins over all of it.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from openclaw_neuralstream.model import Gem, Kind, Origin
from openclaw_neuralstream.patterns import lazy

BASE = {
    Kind.INSTRUCTION: 0.70,
    Kind.DECISION: 0.65,
    Kind.PREFERENCE: 0.60,
    Kind.FACT: 0.50,
    Kind.TODO: 0.50,
    Kind.EVENT: 0.45,
    Kind.CODE: 0.45,
}
_ASKED, _CORRECTION, _EMPHASIS, _COMMITMENT = 0.15, 0.10, 0.05, 0.05
_OTHERS, _AGENTS = 0.8, 0.7
_AGAIN, _MOST_AGAIN = 0.04, 0.12
_TIMES = lazy(r"; said \d+ times$")
_EMPHATIC = lazy(
    r"\b(?:important|critical|crucial|essential|must|never|always|urgent|emergency|allerg\w+|deadline|promised?|legal|medical)\b"
    r"|(?:важно|обязательно|критич|никогда|всегда|срочно|аллерги|дедлайн|обеща|ни в коем случае)"
    r"|(?:重要|必须|务必|千万|一定要|绝不|永远|总是|紧急|过敏|截止|答应|承诺)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Weighed:
    """An importance and the reason for it, in a few words."""

    importance: float
    reason: str


def weigh(gem: Gem, *, opinion_weight: float) -> Weighed:
    """The importance of a gem said once; `gem.importance` is the extractor's opinion."""
    found = [(BASE[gem.kind], gem.kind.value)]
    if {"by-hand", "asked"} & set(gem.tags):
        found.append((_ASKED, "asked to be remembered"))
    if "correction" in gem.tags:
        found.append((_CORRECTION, "a correction"))
    if _EMPHATIC.search(gem.content):
        found.append((_EMPHASIS, "emphasis"))
    if gem.kind is Kind.DECISION or "confirmed" in gem.tags:
        found.append((_COMMITMENT, "a commitment"))
    signals = _share(sum(value for value, _ in found))
    if gem.origin is Origin.UNTRUSTED:
        signals, found = signals * _OTHERS, [*found, (0.0, "another's words")]
    elif gem.speaker == "agent":
        signals, found = signals * _AGENTS, [*found, (0.0, "the agent's words")]
    value = _share((1 - opinion_weight) * signals + opinion_weight * gem.importance)
    reason = ", ".join(name for _, name in found)
    opinion = gem.importance_reason or f"opinion {gem.importance:g}"
    return Weighed(value, f"{reason}; {opinion}")


def repeated(importance: float, reason: str, times: int) -> tuple[float, str]:
    """With what saying it again adds; times: in how many turns it was said."""
    if times < 2:
        return importance, reason
    more = min(_MOST_AGAIN, _AGAIN * math.log2(times))
    said = f"said {times} times"
    return _share(importance + more), f"{_TIMES.sub('', reason)}; {said}" if reason else said


def _share(value: float) -> float:
    return round(min(1.0, max(0.0, value)), 3)
