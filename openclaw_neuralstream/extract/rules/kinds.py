"""Which kind a sentence is of: a ladder of cues, from the strongest to the weakest; the first rung that fits decides."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from openclaw_neuralstream.extract.rules.cues import Cues
from openclaw_neuralstream.extract.rules.words import size
from openclaw_neuralstream.lexicon import harms_the_house
from openclaw_neuralstream.model import Kind
from openclaw_neuralstream.patterns import lazy

CODE_LIKE = lazy(
    r"`[^`]+`|--[a-z][\w-]+|\w+\(\)|"
    r"\b(?:npm|pip|git|docker|cargo|kubectl|ssh|curl|uv|pytest|apt|brew) (?!is\b|was\b|for\b|and\b|to\b|or\b|in\b)[a-z-]+"
)
_POINT = lazy(
    r"\b(?:the (?:main|important|one) (?:thing|point|news)|the point is)\b|\bглавное\b|(?:重点|关键|最重要的|要紧的)是",
    re.IGNORECASE,
)
_ENOUGH = 4  # words of a sentence about others that has no verb we know
_PASSING = lazy(
    r"\b(?:rn|atm|right now|at the moment|just now|today|tonight|this (?:morning|evening|afternoon))\b|"
    r"\b(?:щас|прямо сейчас|в данный момент|сегодня)\b|此刻|这会儿|我现在(?:只|就|好|很|真)|今天",
    re.IGNORECASE,
)
_DAY_ONLY = lazy(r"\btoday|\btonight|\bthis |сегодня|今", re.IGNORECASE)
_OUTCRY = 5  # words of an exclamation that says only how somebody feels


@dataclass(frozen=True, slots=True)
class Seen:
    """A sentence as the ladder sees it.

    text: normalised. concrete: how many names, numbers and days it has. asked: its author wants it remembered.
    short: it stands in a short message; in a long one, which may be pasted, only what concerns its author counts.
    """

    text: str
    cues: Cues
    concrete: int
    asked: bool = False
    short: bool = True

    def has(self, *names: str) -> bool:
        """Whether any of these cues is in it."""
        return any(getattr(self.cues, name).search(self.text) for name in names)

    @property
    def own(self) -> bool:
        """Whether it is about its author, their people or things."""
        return self.has("own")

    @property
    def changes(self) -> bool:
        """Whether it says what changed, in a short message and in enough words to tell what."""
        return self.short and size(self.text) >= _ENOUGH and self.has("change")

    @property
    def timed(self) -> bool:
        """Whether it tells, in short words without a verb, what is on which day: "yoga wednesday evenings at 7"."""
        return self.short and size(self.text) >= _ENOUGH and self.concrete > 0 and self.has("timed")

    @property
    def placed(self) -> bool:
        """Whether it tells, in a short message, where something belongs."""
        return self.short and size(self.text) >= _ENOUGH and self.has("placed")

    @property
    def harmful(self) -> bool:
        """Whether it tells what can harm its author, or an allergy of somebody they speak of."""
        return harms_the_house(self.text)

    @property
    def passes(self) -> bool:
        """Whether it tells only how its author feels or fares at this moment: no name, number or other day in it."""
        outcry = self.text.endswith(("!", "！")) and size(self.text) <= _OUTCRY
        return self.concrete <= bool(_DAY_ONLY.search(self.text)) and (outcry or bool(_PASSING.search(self.text)))

    @property
    def grounded(self) -> bool:
        """Whether it is about somebody or something in particular."""
        return self.concrete > 0 or self.own or (self.short and bool(_POINT.search(self.text)))


Rung = tuple[Callable[[Seen], bool], Kind | None]

_LADDER: tuple[Rung, ...] = (
    (lambda s: s.has("question", "chatter"), None),
    (lambda s: s.has("instruction") and not s.has("habit"), Kind.INSTRUCTION),
    (lambda s: s.has("norm") and s.short and not s.harmful, Kind.INSTRUCTION),
    (lambda s: s.has("hypothetical"), None),
    (lambda s: s.has("reminder"), Kind.TODO),
    (lambda s: s.has("decision"), Kind.DECISION),
    (lambda s: s.has("request"), None),
    (lambda s: not s.own and not s.short, None),
    (lambda s: s.has("address") and not s.asked, None),
    (lambda s: s.has("empty_fact") and not s.asked and not s.has("preference") and not s.changes, None),
    (lambda s: s.harmful and (s.grounded or s.asked or (s.has("norm") and s.short)), Kind.PREFERENCE),
    (lambda s: not s.has("clause") and not s.timed, None),
    (lambda s: s.has("preference") and (s.grounded or (s.changes and not s.has("hedge"))), Kind.PREFERENCE),
    (lambda s: bool(CODE_LIKE.search(s.text)) and s.has("states"), Kind.CODE),
    (lambda s: s.has("todo") and (s.grounded or s.asked), Kind.TODO),
    (lambda s: s.has("event") and s.grounded, Kind.EVENT),
    (lambda s: s.changes and not s.has("hedge"), Kind.FACT),
    (lambda s: s.passes and not s.asked, None),
    (lambda s: s.asked or (s.own and (s.concrete > 0 or not s.has("pronoun"))), Kind.FACT),
    (lambda s: s.placed and not s.has("hedge"), Kind.FACT),
    (lambda s: s.concrete > 0 and (s.has("states") or size(s.text) >= _ENOUGH), Kind.FACT),
)


def kind_of(seen: Seen) -> Kind | None:
    """The kind; None when it is not worth remembering."""
    return next((kind for fits, kind in _LADDER if fits(seen)), None)
