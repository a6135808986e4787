"""What the user cares about, as `memory/topics.txt` says it: one topic a line; the file is the user's own."""

from __future__ import annotations

from dataclasses import dataclass

from openclaw_neuralstream.lexicon import content_terms, terms
from openclaw_neuralstream.model import Pair

PATH = "memory/topics.txt"
BLANK = """\
# Your interests, one topic a line, in any language: answers about them are kept whatever they score.
# The file is yours: it is read as it stands, and only `neuralstream qa topics add|remove` ever changes it.
"""
_MOST, _LONGEST = 500, 200


@dataclass(frozen=True, slots=True)
class Interest:
    """A topic as the user wrote it, and the terms that must all be named."""

    name: str
    terms: frozenset[str]

    def named_in(self, pair: Pair) -> bool:
        """Whether a question is about it: all its terms stand there, or in the names of its topics."""
        return self.terms <= _said(pair)


def interests_of(text: str) -> tuple[Interest, ...]:
    """The topics of the file; blank lines, comments (#) and lines that name nothing are left out."""
    found: dict[frozenset[str], Interest] = {}
    for line in text.splitlines():
        name = line.partition("#")[0].strip().removeprefix("- ").strip()[:_LONGEST]
        wanted = frozenset(content_terms(name.replace("_", " ")) or terms(name))
        if wanted:
            found.setdefault(wanted, Interest(name, wanted))
    return tuple(found.values())[:_MOST]


def with_interest(text: str, name: str) -> str:
    """The file with this topic at its end; as it is when it names it already."""
    (wanted,) = interests_of(name)[:1] or (None,)
    if wanted is None or any(known.terms == wanted.terms for known in interests_of(text)):
        return text
    return f"{text}{'' if not text or text.endswith(chr(10)) else chr(10)}{wanted.name}\n"


def without_interest(text: str, name: str) -> str:
    """The file without the lines that name this topic; all other lines stay as they are."""
    wanted = {known.terms for known in interests_of(name)}
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if not wanted & {known.terms for known in interests_of(line)})


def _said(pair: Pair) -> frozenset[str]:
    about = " ".join(topic.replace("_", " ") for topic in pair.topics)
    return frozenset(terms(f"{pair.question}\n{about}\n{' '.join(pair.tokens)}"))
