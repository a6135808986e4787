"""Daily logs without a Retain section: which they are, how an extractor reads them, and the bullets proposed for them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta

from openclaw_neuralstream.fences import generated_lines, is_generated
from openclaw_neuralstream.lexicon import content_terms, sentences
from openclaw_neuralstream.model import (
    Batch,
    Draft,
    Fact,
    FactKind,
    Kind,
    Origin,
    Scope,
    Session,
    Turn,
    Utterance,
    digest,
)
from openclaw_neuralstream.patterns import WHOLE, lazy
from openclaw_neuralstream.ports import Reading
from openclaw_neuralstream.reflect.pages import plain
from openclaw_neuralstream.reflect.stance import likes

LEAST, MOST = 2, 5
"""A Retain section has two to five bullets."""

_DAILY = lazy(r"memory/(?:daily/)?(\d{4})-(\d{2})-(\d{2})[^/]*\.(?:md|markdown)", re.IGNORECASE)
_BREAK = lazy("\r\n|\n|\r")  # as lines are counted everywhere
_ITEM = lazy(r"^\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_FRONT = lazy(r"\A\ufeff?---\r?\n.*?^---[ \t]*$", re.DOTALL | re.MULTILINE, window=WHOLE)
_CODE = lazy(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_MOST_NAMES = 4
_ENOUGH = 3  # bullets from which the extractor's word is enough
_SHORTEST, _LONGEST = 3, 300  # content terms, characters
_ALIKE = 0.6
_NUMBER = lazy(r"\d")

Names = Callable[[str], tuple[str, ...]]
Guess = Callable[[str], FactKind]
_READ = 200_000  # characters of a log


def day_of(path: str) -> date | None:
    """The day of a daily log, None for any other file."""
    match = _DAILY.fullmatch(path)
    try:
        return date(*map(int, match.groups())) if match else None
    except ValueError:
        return None


def reading(path: str, data: bytes, day: date, agent: str) -> Reading:
    """The log as an extractor reads it: each paragraph or bullet outside of code and fences is a turn."""
    session = Session(agent, f"log:{path}", path)
    at = datetime.combine(day, time(12), UTC)
    turns = tuple(
        Turn(
            digest(path, str(number), text),
            Scope(agent),
            session,
            at + timedelta(seconds=number),
            (Utterance("owner", Origin.OWNER, text, at),),
            index=number,
        )
        for number, text in enumerate(paragraphs(data), 1)
    )
    return Reading(Batch(digest(path, "retain"), session, turns, "", at))


def paragraphs(data: bytes) -> list[str]:
    """What a log says in words: its bullets and paragraphs, without headings, code, frontmatter and generated parts."""
    ranges = generated_lines(data)
    lines = _BREAK.split(data.decode("utf-8", "replace")[:_READ])
    own = "\n".join("" if is_generated(number, ranges) else line for number, line in enumerate(lines, 1))
    text = _CODE.sub("\n", _FRONT.sub("", own))
    found: list[list[str]] = [[]]
    for line in text.splitlines():
        if not line.strip() or line.lstrip().startswith(("#", "|", ">", "<!--")):
            found.append([])
        elif _ITEM.match(line):
            found.append([_ITEM.sub("", line).strip()])
        else:
            found[-1].append(line.strip())
    return [" ".join(parts) for parts in found if parts]


def retain_section(drafts: Sequence[Draft], path: str, render: Callable[[Fact], str], guessed: Guess) -> str:
    """The section proposed: the two to five weightiest, in the order of the log; "" when there are fewer than two.

    render: a fact as its bullet. guessed: what a sentence is: a fact of the world, the agent's own deed, a judgement.
    """
    unlike = list({" ".join(draft.content.casefold().split()): draft for draft in drafts}.values())
    best = sorted(unlike, key=lambda draft: -draft.importance)[:MOST]
    kept = [draft for draft in unlike if draft in best]
    return (
        "\n".join(["## Retain", *(render(fact_of(draft, path, guessed)) for draft in kept)])
        if len(kept) >= LEAST
        else ""
    )


def complemented(drafts: Sequence[Draft], path: str, data: bytes, names: Names) -> list[Draft]:
    """The drafts, and where they are few the most telling sentences of the log beside them: somebody will look at them.

    names: whom and what a sentence names. A sentence needs a name, a number or a word of liking, and some length.
    """
    found = [replace(one, entities=one.entities or names(one.content)) for one in drafts]
    said = [sentence for text in paragraphs(data) for sentence in sentences(text)]
    for sentence in sorted(said, key=lambda one: -_telling(one, names)):
        if len(found) >= _ENOUGH or _telling(sentence, names) == 0:
            break
        if not any(_same(sentence, draft.content) for draft in found):
            kind = Kind.PREFERENCE if likes(sentence) else Kind.EVENT
            found.append(Draft(sentence, "", kind, (path,), importance=0.3, confidence=0.7, entities=names(sentence)))
    return sorted(found, key=lambda draft: _place(draft.content, said))


def _telling(sentence: str, names: Names) -> int:
    length = len(set(content_terms(sentence)))
    if length < _SHORTEST or len(sentence) > _LONGEST or sentence.rstrip().endswith(("?", "？")):
        return 0
    return 2 * len(names(sentence)) + 2 * likes(sentence) + bool(_NUMBER.search(sentence))


def _same(one: str, other: str) -> bool:
    ours, theirs = set(content_terms(one)), set(content_terms(other))
    return bool(ours & theirs) and len(ours & theirs) / min(len(ours), len(theirs)) > _ALIKE


def _place(content: str, said: Sequence[str]) -> int:
    return next((number for number, sentence in enumerate(said) if _same(content, sentence)), len(said))


def fact_of(draft: Draft, path: str, guessed: Guess) -> Fact:
    """A draft as the fact that its bullet will be."""
    kind = FactKind.OPINION if draft.kind is Kind.PREFERENCE else guessed(draft.content)
    sure = round(draft.confidence, 2) if kind is FactKind.OPINION else None
    names = tuple(
        dict.fromkeys(name for entity in draft.entities if (name := plain(entity).replace('"', "").strip("@ ")))
    )
    return Fact("", kind, plain(draft.content), names[:_MOST_NAMES], path, 0, 0, confidence=sure)
