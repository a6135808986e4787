"""Looks at a sample of the live gems and says what is wrong with how many. Pure: the caller reads and shows."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from openclaw_neuralstream.audit.evidence import unsupported, wrong_speaker
from openclaw_neuralstream.audit.junk import junk
from openclaw_neuralstream.audit.others import Others
from openclaw_neuralstream.audit.values import SORTS, Audit, Finding, Rate, wilson
from openclaw_neuralstream.lines import one_line
from openclaw_neuralstream.model import Gem, Turn
from openclaw_neuralstream.secrets import redact

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
