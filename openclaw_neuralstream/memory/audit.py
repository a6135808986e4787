"""The junk meter: which of the stored gems are no good, and what mends each."""

from __future__ import annotations

import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from openclaw_neuralstream.extract.learned import worth
from openclaw_neuralstream.extract.rules.dates import names_single_day, recurs
from openclaw_neuralstream.judgement.reading import read
from openclaw_neuralstream.judgement.relation import REPLACES, Side, relation
from openclaw_neuralstream.model import Gem, Kind, Origin, Turn
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.secrets import redact
from openclaw_neuralstream.text.lexicon import INJECTION, content_terms
from openclaw_neuralstream.text.lines import instant, one_line

SORTS = {
    "junk": "small talk, tool noise, boilerplate, questions, planted orders, what does not stand by itself",
    "duplicate": "an older live gem of the same person says the same, or nearly",
    "stale": "still live although its time is over, or a later gem says otherwise",
    "unsupported": "the turns it names do not say it",
    "wrong-speaker": "told as somebody's who did not say it",
    "secret": "holds what looks like a password, key or card number",
}
"""Sorts of faults, in the order in which they are reported. A gem may have several."""

_Z = 1.959964


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault of one gem. why: in a few words. other: the gem it is compared with, "" where there is none."""

    sort: str
    gem_id: str
    batch: str
    quote: str
    why: str
    other: str = ""
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Rate:
    """How many of the gems looked at have a fault of this sort, and the 95 % interval of the share in the whole store."""

    count: int
    of: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """The share of those looked at; 0 of nothing."""
        return self.count / self.of if self.of else 0.0


@dataclass(frozen=True, slots=True)
class Audit:
    """The result: how many live gems there are, how many were looked at, the rate of each sort and of any, the findings.

    unverifiable: gems whose turns are gone (forgotten, imported, said by hand): nobody can say whether these support them.
    """

    population: int
    looked_at: int
    rates: dict[str, Rate]
    findings: tuple[Finding, ...]
    unverifiable: int = 0


def wilson(hits: int, of: int, population: int = 0) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson, 1927); of a sample that is the whole population, the share itself.

    (0, 1) of nothing. A finite population narrows it (correction of the sample size, Cochran, 1977, 2.6).
    """
    if not of:
        return 0.0, 1.0
    share = hits / of
    if population and of >= population:
        return share, share
    size = of * (population - 1) / (population - of) if population > of else of
    z2 = _Z * _Z
    middle = (share + z2 / (2 * size)) / (1 + z2 / size)
    half = _Z * math.sqrt(share * (1 - share) / size + z2 / (4 * size * size)) / (1 + z2 / size)
    return max(0.0, middle - half), min(1.0, middle + half)


SUPPORTED = 0.5
"""Share of a gem's terms that its turns must hold."""

_DAY = lazy(r"\(\d{4}(?:-\d\d){0,2}[^)]*\)|\d{4}-\d\d(?:-\d\d)?")
_NUMBER = lazy(r"\d{3,}")
_GROUPED = lazy(r"(?<=\d)[., \u00a0](?=\d{3}(?!\d))")
_SPEAKERS = ("owner", "third-party", "agent", "tool", "system")
_ORIGINS = {"owner": Origin.OWNER, "agent": Origin.AGENT, "third-party": Origin.UNTRUSTED}


def unsupported(gem: Gem, turns: Sequence[Turn]) -> str:
    """Why its turns do not hold it; "" when they do, or when it is in no language of theirs (a translation)."""
    wanted = _terms(gem.content)
    said = "\n".join(utterance.text for turn in turns for utterance in turn.utterances)
    known = frozenset(content_terms(said))
    if wanted and len(wanted & known) / len(wanted) < SUPPORTED:
        return f"{len(wanted & known)} of its {len(wanted)} words stand in its turns"
    plain = _GROUPED.sub("", said)
    years = {str(turn.at.year + shift) for turn in turns for shift in range(-2, 3)}
    alien = [
        n for n in _NUMBER.findall(_GROUPED.sub("", _DAY.sub(" ", gem.content))) if n not in plain and n not in years
    ]
    return f"nobody said {alien[0]}" if alien else ""


def wrong_speaker(gem: Gem, turns: Sequence[Turn]) -> str:
    """Whose words they rather are; "" when they are the speaker's."""
    if {"answer", "confirmed"} & set(gem.tags):  # a question of the agent with the owner's answer
        return ""
    if gem.origin is Origin.OWNER and gem.speaker != "owner":
        return f"told by {gem.speaker}, kept as the owner's"
    wanted = _terms(gem.content)
    said = {speaker: len(wanted & _said(turns, speaker)) for speaker in _SPEAKERS}
    best = max(said, key=lambda speaker: said[speaker])
    if not said[best] or gem.speaker not in said or 2 * said[gem.speaker] > said[best]:
        return ""
    return f"the words are of {best}, kept as {gem.speaker}"


def _terms(content: str) -> frozenset[str]:
    return frozenset(content_terms(_DAY.sub(" ", content)))


def _said(turns: Sequence[Turn], speaker: str) -> frozenset[str]:
    return frozenset(content_terms("\n".join(turn.text_of(speaker) for turn in turns)))


_NOISE = lazy(
    r"^\s*(?:Traceback \(most recent|\S*(?:Error|Exception)\b[:\[(]|at \S+ ?\(|File \"|\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|"
    r"(?:INFO|WARN(?:ING)?|ERROR|DEBUG|TRACE)\b\s*[:\]\[|-]|[\[{(<][\s\"'{\[<]*[\w-]+[\"']?\s*[:=>]|\$ \w|drwx|-rw-|diff --git|@@ -\d|index [0-9a-f]{7})|"
    r"\b\d+ passed\b|\b\d+ (?:failed|errors?|warnings?) in \d|\bexit(?:ed with)? code \d|\b(?:GET|POST|PUT|DELETE) /\S* HTTP/|\bstdout\b|\bstderr\b|"
    r"\b0x[0-9a-f]{6,}|\b[0-9a-f]{32,}\b|(?:[A-Za-z]:)?/(?:tmp|var/log|proc)/\S+:\d+|HTTP/\d(?:\.\d)? \d{3}|npm (?:WARN|ERR!)",
    re.IGNORECASE,
)
_PROTOCOL = lazy(r"HEARTBEAT_OK|NO_REPLY|<system|\[system\]")
_BRACKET_DAY = lazy(r" ?\(?\d{4}(?:-\d\d){0,2}(?: – [\d-]+)?\)?")
_LETTERS = 0.45  # least share of letters, digits aside
_LEAST_TERMS = 2
_WORTHLESS = -1.0
"""Margin of the head below which a gem is worth nothing; above it the head may err."""


def junk(gem: Gem) -> str:
    """Why it is junk, in a few words; "" when it is not. Gems kept by hand are judged for planted orders only."""
    by_hand = gem.edited or gem.extractor.name == "hand"
    return next((why for why, fits in (_LADDER[:1] if by_hand else _LADDER) if fits(gem)), "")


def _answered(gem: Gem) -> bool:
    """A question of the agent stored with the owner's answer."""
    return bool({"answer", "confirmed"} & set(gem.tags)) or "? — " in gem.content or "？ — " in gem.content


def _is_noise(gem: Gem) -> bool:
    solid = [char for char in gem.content if not char.isspace()]
    letters = sum(char.isalnum() for char in solid) / len(solid) if solid else 0.0
    return bool(_NOISE.search(gem.content) or _PROTOCOL.search(gem.content)) or letters < _LETTERS


def _is_worthless(gem: Gem) -> bool:
    text = _BRACKET_DAY.sub("", gem.content)
    return len(set(content_terms(text))) < _LEAST_TERMS or worth(text) < _WORTHLESS


def _undated(gem: Gem) -> bool:
    text = gem.content
    return names_single_day(text) and not (_BRACKET_DAY.search(text) or recurs(text) or gem.valid_to)


_LADDER: tuple[tuple[str, Callable[[Gem], bool]], ...] = (
    ("a planted order", lambda gem: bool(INJECTION.search(gem.content))),
    ("tool noise", _is_noise),
    ("a question", lambda gem: gem.content.rstrip().endswith(("?", "？")) and not _answered(gem)),
    ("nothing worth keeping", _is_worthless),
    ("a day without its date", _undated),
)


ALIKE = 0.8
"""Share of terms that two gems have in common when one repeats the other."""

SUBJECT = 0.6
"""Share of terms, the changed values aside, that two gems have in common when they tell of the same."""

_OTHERS_DAY = lazy(r"\s*\(\d{4}(?:-\d\d){0,2}[^)]*\)")
_VALUE = lazy(
    r"\d+(?:[.,:]\d+)*|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b|"
    r"(?:周|星期|礼拜)[一二三四五六日天]|[一二两三四五六七八九十]+(?=[点个月天位人])|\b(?:понедельник|вторник|сред|четверг|пятниц|суббот|воскресень|январ|феврал|март|апрел|июн|июл|август|сентябр|октябр|ноябр|декабр)\w*",
    re.IGNORECASE,
)
_SHORT = 3  # terms of a subject that is told apart
_LASTING = frozenset({Kind.FACT, Kind.PREFERENCE, Kind.INSTRUCTION, Kind.DECISION, Kind.EVENT, Kind.TODO})


@dataclass(frozen=True, slots=True)
class _Sketch:
    gem: Gem
    terms: frozenset[str]
    values: frozenset[str]
    same: str
    order: tuple[str, str]
    side: Side


class Others:
    """All live gems of one person's memory, found again by their rarest terms."""

    def __init__(self, gems: Iterable[Gem]) -> None:
        self._sketches = {gem.gem_id: _sketch(gem) for gem in gems}
        self._by_term: dict[str, list[str]] = defaultdict(list)
        for gem_id, sketch in self._sketches.items():
            for term in (sketch.terms or {sketch.same}) | sketch.side.said.attributes:
                self._by_term[term].append(gem_id)

    def repeats(self, gem: Gem) -> tuple[str, str]:
        """The older gem that says the same and why it is one; ("", "") when there is none."""
        mine = self._sketches[gem.gem_id]
        for other in self._near(mine):
            if other.order < mine.order and other.gem.speaker == gem.speaker:
                if other.same == mine.same:
                    return other.gem.gem_id, "word by word"
                if mine.values == other.values and _one_sign(mine, other) and _share(mine.terms, other.terms) >= ALIKE:
                    return other.gem.gem_id, "nearly word by word"
        return "", ""

    def overtaken(self, gem: Gem) -> tuple[str, str]:
        """The later gem that gives the same thing another value, and why; ("", "") when there is none."""
        mine = self._sketches[gem.gem_id]
        if gem.kind not in _LASTING:
            return "", ""
        for other in self._near(mine):
            if other.order < mine.order or other.gem.speaker != gem.speaker:
                continue
            if _contradicts(mine, other):
                return other.gem.gem_id, f"later: {', '.join(sorted(other.values - mine.values)) or 'corrected'}"
            found = relation(mine.side, other.side)  # no number and no day: as it would be judged today
            if found.kind == REPLACES:
                return other.gem.gem_id, f"later: {found.why}"
        return "", ""

    def _near(self, mine: _Sketch) -> Iterator[_Sketch]:
        """Gems that share one of its five rarest terms or an attribute, in a fixed order; what is everywhere helps nobody."""
        rarest = sorted(mine.terms or {mine.same}, key=lambda term: (len(self._by_term[term]), term))[:5]
        found = {gem_id for term in (*rarest, *mine.side.said.attributes) for gem_id in self._by_term[term][:500]} - {
            mine.gem.gem_id
        }
        yield from sorted((self._sketches[gem_id] for gem_id in found), key=lambda sketch: sketch.order)


def _sketch(gem: Gem) -> _Sketch:
    text = _OTHERS_DAY.sub("", gem.content)
    values = frozenset(match.casefold() for match in _VALUE.findall(text))
    bare = _VALUE.sub(" ", text)
    side = Side(read(gem.content), gem.kind, "correction" in gem.tags)
    same = re.sub(r"[\W_]+", " ", gem.content.casefold()).strip()
    return _Sketch(gem, frozenset(content_terms(bare)), values, same, (instant(gem.created_at), gem.gem_id), side)


def _contradicts(mine: _Sketch, later: _Sketch) -> bool:
    """The same subject with other values of the same sort, or the later one says that it corrects."""
    if len(mine.terms & later.terms) < _SHORT - 1 or _share(mine.terms, later.terms) < SUBJECT:
        return False
    changed = bool(mine.values) and bool(later.values) and not mine.values <= later.values
    corrects = "correction" in later.gem.tags and mine.gem.entities and set(mine.gem.entities) & set(later.gem.entities)
    several = recurs(mine.gem.content)
    return bool(changed and len(mine.values) == len(later.values) and not several) or bool(corrects)


def _one_sign(one: _Sketch, other: _Sketch) -> bool:
    """Whether both state it, or both deny it: "I don't like it any more" repeats nothing."""
    return (one.side.said.negated, one.side.said.liking) == (other.side.said.negated, other.side.said.liking)


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 0.0


_QUOTE = 100
_BAD_BATCH = 3  # findings of one batch from which all of it is doubted
_MAKERS = frozenset({"unsupported", "wrong-speaker", "junk"})


def audit(
    gems: Sequence[Gem],
    turns_of: Callable[[Sequence[str]], list[Turn]],
    *,
    now: datetime,
    sample: int = 0,
    seed: int = 0,
) -> Audit:
    """Judge a sample (0 = all) of the gems that are not superseded; the same seed picks the same gems.

    turns_of: the stored turns of these ids; forgotten ones are left out.
    """
    live = [gem for gem in gems if not gem.superseded_by]
    chosen = _sample(live, sample, seed)
    others = _others(live)
    found: list[Finding] = []
    unverifiable = 0
    for gem in chosen:
        turns = turns_of(gem.evidence)
        unverifiable += not turns
        found += _findings(gem, turns, others[_whose(gem)], now)
    return Audit(len(live), len(chosen), _rates(found, len(chosen), len(live)), _with_fixes(found), unverifiable)


def _sample(live: Sequence[Gem], size: int, seed: int) -> list[Gem]:
    ordered = sorted(live, key=lambda gem: gem.gem_id)
    if not size or size >= len(ordered):
        return ordered
    return random.Random(seed).sample(ordered, size)  # noqa: S311 - a sample, no secret


def _whose(gem: Gem) -> tuple[str, str, str]:
    return gem.scope.agent, gem.scope.user, gem.scope.project


def _others(live: Sequence[Gem]) -> dict[tuple[str, str, str], Others]:
    by_scope: dict[tuple[str, str, str], list[Gem]] = defaultdict(list)
    for gem in live:
        by_scope[_whose(gem)].append(gem)
    return {scope: Others(mine) for scope, mine in by_scope.items()}


def _findings(gem: Gem, turns: Sequence[Turn], others: Others, now: datetime) -> Iterator[Finding]:
    if why := junk(gem):
        yield _finding("junk", gem, why)
    twin, why = others.repeats(gem)
    if twin:
        yield _finding("duplicate", gem, why, twin)
    if gem.valid_to and gem.valid_to < now:
        yield _finding("stale", gem, f"valid until {gem.valid_to:%Y-%m-%d}")
    else:
        later, why = others.overtaken(gem)
        if later:
            yield _finding("stale", gem, why, later)
    if turns and (why := unsupported(gem, turns)):
        yield _finding("unsupported", gem, why)
    elif turns and (why := wrong_speaker(gem, turns)):
        yield _finding("wrong-speaker", gem, why)
    if secrets := sorted({name for text in (gem.content, gem.summary, *gem.entities) for name in redact(text).found}):
        yield _finding("secret", gem, ", ".join(secrets))


def _finding(sort: str, gem: Gem, why: str, other: str = "") -> Finding:
    """A finding; what it quotes is redacted, so that an audit never shows a secret."""
    short = one_line(redact(gem.content).text, _QUOTE)
    return Finding(sort, gem.gem_id, gem.batch, short, why, other)


def _with_fixes(found: Sequence[Finding]) -> tuple[Finding, ...]:
    """Each with the command that mends it: a batch that went wrong as a whole is undone as a whole."""
    spoilt = Counter(batch for batch in (f.batch for f in found if f.sort in _MAKERS) if batch)
    order = {sort: place for place, sort in enumerate(SORTS)}
    mended = (replace(one, fix=_fix(one, spoilt[one.batch])) for one in found)
    return tuple(sorted(mended, key=lambda one: (order[one.sort], one.gem_id)))


def _fix(one: Finding, of_batch: int) -> str:
    if one.sort == "secret":
        return "neuralstream admin scrub"
    if one.batch and one.sort in _MAKERS and of_batch >= _BAD_BATCH:
        return f"neuralstream admin batches undo {one.batch}"
    return f"neuralstream gems forget {one.gem_id[:8]}"


def _rates(found: Sequence[Finding], looked_at: int, population: int) -> dict[str, Rate]:
    faulty = {sort: {one.gem_id for one in found if one.sort == sort} for sort in SORTS}
    faulty["any"] = {one.gem_id for one in found}
    return {sort: Rate(len(ids), looked_at, *wilson(len(ids), looked_at, population)) for sort, ids in faulty.items()}
