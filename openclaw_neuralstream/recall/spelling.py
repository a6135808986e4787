"""Misspelt words of a short question, read as words that the memory knows: "dentsit" as "dentist".

Asked for only where a word of the question is in nothing that is stored. A word that is right is in fewer pieces for a
tokenizer than one with a slip in it: so "planet" is never read as "plane", although the memory may know only planes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from openclaw_neuralstream.errors import NeuralStreamError
from openclaw_neuralstream.lexicon import content_terms, terms
from openclaw_neuralstream.model import Query, Scope
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.ports import NoteSearch, TokenCounter

LONGEST = 160
"""Characters of a question that is looked at: what is longer says enough without the one word."""

_WORDS, _UNKNOWN = 12, 2
"""Content terms that such a question has at most, and how many words of it are looked up."""

_SHORTEST, _LONG = 5, 10
"""Letters of a word that may be misspelt; from how many on it may have two slips."""

_WORD = lazy(r"(?<![\w'’@#/.:\-])(?:[A-Za-z]+|[А-Яа-яЁё]+)(?![\w'’@/:\-]|\.\w)")


class Wordbook(Protocol):
    """Which terms something that is stored holds."""

    def frequencies(self, terms: Sequence[str], scope: Scope) -> Mapping[str, int]:
        """How many records hold each term; 0 for what none holds."""

    def beginning(self, starts: Sequence[str], scope: Scope) -> Sequence[str]:
        """The terms that begin so."""


Book = tuple[Wordbook, int]
"""A wordbook, and how many of its records must hold a word that is taken for right: a question that was asked before, slip and
all, is a turn itself."""

HEARD = 3


class NoteWords:
    """The words of a workspace's files, as a book in which they are looked up; it is not leafed through."""

    def __init__(self, search_of: Callable[[Scope], NoteSearch | None]) -> None:
        self._search_of = search_of

    def frequencies(self, terms: Sequence[str], scope: Scope) -> Mapping[str, int]:
        """How many notes and facts hold each term; nothing without a workspace."""
        search = self._search_of(scope)
        return search.frequencies(terms) if search else {}

    def beginning(self, _starts: Sequence[str], _scope: Scope) -> Sequence[str]:
        """None."""
        return ()


def respelled(query: Query, books: Sequence[Book], counter: TokenCounter) -> tuple[Query, dict[str, str]]:
    """The question with its misspelt words as they are known, and which those are; a book that does not read is left out."""
    text = query.text
    if not books or len(text) > LONGEST or not (words := _doubtful(text)):
        return query, {}
    reader = _Reader(books, query.scope, counter)
    try:
        read = {word: right for word in reader.unknown(words)[:_UNKNOWN] if (right := reader.right(word))}
    except NeuralStreamError:
        return query, {}
    if not read:
        return query, {}
    text = _WORD.sub(lambda match: read.get(match[0].lower(), match[0]), text)
    return replace(query, text=text), read


def _doubtful(text: str) -> list[str]:
    """The longer words, lower-cased, without names (what stands capitalised inside the sentence) and stop words."""
    found = [match for match in _WORD.finditer(text) if len(match[0]) >= _SHORTEST]
    words = [match[0].lower() for match in found if match.start() == 0 or match[0].islower()]
    if not words or len(content_terms(text)) > _WORDS:
        return []
    return [word for word in dict.fromkeys(words) if content_terms(word)]


class _Reader:
    def __init__(self, books: Sequence[Book], scope: Scope, counter: TokenCounter) -> None:
        self._books, self._scope, self._counter = books, scope, counter

    def unknown(self, words: Sequence[str]) -> list[str]:
        """Those whose term nothing holds often enough."""
        asked = list(dict.fromkeys(term for word in words for term in terms(word)))
        held = {
            term
            for book, least in self._books
            for term, count in book.frequencies(asked, self._scope).items()
            if count >= least
        }
        return [word for word in words if not held & set(terms(word))]

    def right(self, word: str) -> str:
        """The known word, or its stem, that this is a slip of; "" when there is none, or it is a word itself."""
        pieces = self._counter.count(f" {word}")
        if pieces < 2:
            return ""
        slips = {term: slip for slip in _slips(word) for term in terms(slip)}
        known = [slips[term] for term in sorted(self._known(slips) - set(terms(word)))]
        if not known:
            known = self._near(word)
        best = min(known, key=lambda right: (self._counter.count(f" {right}"), right), default="")
        return best if best and self._counter.count(f" {best}") < pieces else ""

    def _near(self, word: str) -> list[str]:
        """Known terms with a letter too few or another letter, or two of these in a long word; the nearest."""
        most = 2 if len(word) >= _LONG else 1
        (own,) = terms(word)[:1]
        starts = [own[:2]]
        found = {
            term
            for book, _ in self._books
            for term in book.beginning(starts, self._scope)
            if abs(len(term) - len(own)) <= most
        }
        apart = {
            term: edits(own, term, most)
            for term in found
            if term != own and len(term) >= _SHORTEST - 1 and term.isalpha()
        }
        least = min(apart.values(), default=most + 1)
        return [term for term, far in apart.items() if far == least and far <= most]

    def _known(self, wanted: Iterable[str]) -> set[str]:
        asked = list(dict.fromkeys(wanted))
        return {
            term for book, _ in self._books for term, count in book.frequencies(asked, self._scope).items() if count
        }


def _slips(word: str) -> list[str]:
    """What it is with two neighbours exchanged, or without one of its letters."""
    exchanged = [word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in range(len(word) - 1)]
    shorter = [word[:at] + word[at + 1 :] for at in range(1, len(word))]
    return [slip for slip in dict.fromkeys((*exchanged, *shorter)) if slip != word]


def edits(left: str, right: str, most: int) -> int:
    """How many letters are to be put in, left out, changed, or exchanged with the next one (optimal string alignment).

    Any number above `most` where there are more. Source: Damerau 1964; as computed by Wagner and Fischer 1974.
    """
    before: list[int] = []
    last = list(range(len(right) + 1))
    for row, letter in enumerate(left, 1):
        here = [row]
        for column, other in enumerate(right, 1):
            cost = min(last[column] + 1, here[column - 1] + 1, last[column - 1] + (letter != other))
            if row > 1 and column > 1 and letter == right[column - 2] and left[row - 2] == other:
                cost = min(cost, before[column - 2] + 1)
            here.append(cost)
        if min(here) > most:
            return most + 1
        before, last = last, here
    return last[-1]
