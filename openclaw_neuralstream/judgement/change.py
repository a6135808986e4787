"""What a statement that says that something changed leaves of an older one: compared in order, word for word. Pure."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from openclaw_neuralstream.judgement import words
from openclaw_neuralstream.judgement.reading import Said, is_value, terms_of
from openclaw_neuralstream.text.lexicon import NEGATED

_LONGEST_PLACE = 3  # terms that stand in the place of others; Chinese counts characters
_LONGEST_PLACE_CHINESE = 6
_UNSAID = 2  # terms of the older statement that the newer one may leave out
_HALF = 0.5


def in_line(old: Said, new: Said) -> str:
    """Whether both run alike but for one place: "the client wants the report as a PDF", "… as a Word file"."""
    then, now = _in_order(old), _in_order(new)
    chinese = old.chinese and new.chinese
    longest = _LONGEST_PLACE_CHINESE if chinese else _LONGEST_PLACE
    if not then or then[0] not in now or not all(map(is_value, now[: now.index(then[0])])):
        return ""  # another subject stands before it
    steps = SequenceMatcher(None, then, now, autojunk=False).get_opcodes()
    places = [(then[a:b], now[c:d]) for kind, a, b, c, d in steps if kind == "replace"]
    unsaid = sum(b - a for kind, a, b, _, _ in steps if kind == "delete")
    shared = sum(b - a for kind, a, b, _, _ in steps if kind == "equal")
    if len(places) != 1 or unsaid > _UNSAID or shared < max(3 if chinese else 2, _HALF * len(then)):
        return ""
    gone, come = places[0]
    fits = len(gone) <= longest and len(come) <= longest and any(map(is_value, gone)) <= any(map(is_value, come))
    return "another one in the same place" if fits else ""


def _in_order(said: Said) -> list[str]:
    denied = {term for one in said.rejected for term in one}
    return [term for term in said.terms if term not in words.CHANGING and (term not in denied or not said.changed)]


def swapped(old: Said, new: Said) -> str:
    """Whether somebody has another one of what the older statement speaks of: "she changed schools"."""
    if old.liking or old.negated or words.ADDED.search(new.text):
        return ""
    for pattern in words.SWAPPED:
        for match in pattern.finditer(new.text):
            who = frozenset(terms_of(match["who"])) - words.CHANGING
            what = frozenset(terms_of(match["what"]))
            about = what and what <= old.all and old.own == new.own
            if about and who <= old.all and (who or old.own) and len(old.all - who - what) > 0:
                return f"another {match['what'].strip()}"
    return ""


def again(old: Said, new: Said) -> str:
    """Whether a part of the newer one says the opposite once more: "I eat meat again"."""
    for part in new.parts:
        if words.AGAIN.search(part):
            rest = words.AGAIN.sub(" ", part)
            terms = frozenset(terms_of(re.sub(r"\s+", " ", rest)))
            if terms and terms == old.all and _denies(rest) != old.negated:
                return "it says the opposite again"
    return ""


def _denies(part: str) -> bool:
    return bool(NEGATED.search(part))
