"""How two statements stand to each other: they say the same, the newer one makes the older untrue, or neither. Pure.

Careful on purpose: what is not plain is "apart", and both stay. Likeness of vectors alone decides nothing: measured with
the embedded multilingual model, "… on Tuesday at 10" and "… on Thursday at 10" are nearer (0.98) than most paraphrases
(0.73 to 0.90). A vector can only speak against two statements being the same.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from openclaw_neuralstream.judgement import words
from openclaw_neuralstream.judgement.change import again, in_line, swapped
from openclaw_neuralstream.judgement.moves import another_value, revoked_part
from openclaw_neuralstream.judgement.reading import Clause, Said, is_value, read, slots, years
from openclaw_neuralstream.model import Kind

SAME, REPLACES, APART = "same", "replaces", "apart"

ALIKE = 0.85
"""Share of common terms from which two statements, with equal numbers, say the same."""

UNLIKE = 0.35
"""Cosine below which two statements do not say the same, whatever words they share (paraphrases: 0.73 and more)."""

COVERED = 0.6
"""Share of the older statement's terms that a change must repeat, so that it is about the same matter."""

DENIED = 0.75
"""The same where nothing says that something changed: "tabs, not spaces" need not be about the same code."""

_MOST_LEFT = 3  # terms of the older statement that a change may leave unsaid; Chinese counts characters
_MOST_LEFT_CHINESE = 6
_COUNT = 2  # digits of a number that counts something
_PLANS = frozenset({Kind.DECISION, Kind.PREFERENCE, Kind.TODO, Kind.INSTRUCTION})
_MOMENTS = frozenset({Kind.EVENT, Kind.TODO, Kind.CODE})


@dataclass(frozen=True, slots=True)
class Relation:
    """kind: same, replaces or apart. why: in words. likeness: share of common terms."""

    kind: str
    why: str = ""
    likeness: float = 0.0


_NEITHER = Relation(APART)


@dataclass(frozen=True, slots=True)
class Side:
    """A statement, its kind, and whether it was marked as a correction when it was extracted."""

    said: Said
    kind: Kind
    corrects: bool = False


def likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """Share of common terms (Jaccard); 0 for two empty ones."""
    return len(one & other) / len(one | other) if one or other else 0.0


def relation(older: Side, newer: Side, cosine: float | None = None) -> Relation:
    """How the newer statement of one person stands to an older one of the same person."""
    old, new = older.said, newer.said
    alike = likeness(old.all, new.all)
    if old.text == new.text:
        return Relation(SAME, "word for word", 1.0)
    if _same(old, new, alike, cosine):
        return Relation(SAME, f"{round(100 * alike)} % of the words", alike)
    if old.past or (new.past and not new.changed) or _doubtful(new, old):
        return _NEITHER
    changed = (new.changed or (newer.corrects and not _another_thing(old, new))) and not (words.ADDED.search(new.text) and not new.rejected)
    for why in (
        _rejects(old, new, changed=changed),
        _turns(older, newer, alike),
        _other_value(old, new, changed=changed),
        _changes(old, new) if changed else "",
        _changes_in_part(old, new),
        another_value(old, new) if changed else "",
        revoked_part(old, new) if changed else "",
        _in_its_place(older, newer) if changed else "",
        in_line(old, new) if changed and older.kind is not Kind.EVENT else "",
        swapped(old, new),
        again(old, new),
        _other_number(older, newer),
        _takes_back(older, newer),
    ):
        if why:
            return Relation(REPLACES, why, alike)
    return _NEITHER


def _another_thing(old: Said, new: Said) -> bool:
    """Whether they differ in two values or more: a correction changes one, another thing has others throughout."""
    gone, come = ({term for term in one.all - other.all if is_value(term)} for one, other in ((old, new), (new, old)))
    return min(len(gone), len(come)) > 1


def _same(old: Said, new: Said, alike: float, cosine: float | None) -> bool:
    if not old.all or not new.all or alike < ALIKE or (cosine is not None and cosine < UNLIKE):
        return False
    if (old.negated, old.liking, old.hearsay, old.guessed, old.past) != (
        new.negated,
        new.liking,
        new.hearsay,
        new.guessed,
        new.past,
    ):
        return False
    if old.rejected != new.rejected and (old.rejected or new.rejected):
        return False
    odd = old.all ^ new.all
    if any(is_value(term) for term in odd) or (odd and old.chinese):
        return False
    if not old.all - new.all or not new.all - old.all:
        return _order(old) == _order(new) and (len(old.all) > 1 or cosine is None or cosine >= 0.6)
    return False


def _order(said: Said) -> tuple[str, ...]:
    """The order of its values: "from 10 to 12" is not "from 12 to 10"."""
    return tuple(term for term in said.terms if is_value(term))


def _doubtful(new: Said, old: Said) -> bool:
    """Hearsay and guesses make nothing untrue that was said for certain."""
    return (new.hearsay and not old.hearsay) or (new.guessed and not old.guessed)


def _rejects(old: Said, new: Said, *, changed: bool) -> str:
    """What it denies ("not 5433"): the newer one denies a value that the older one states, about the same matter, and names another."""
    for denied in new.rejected:
        if not denied <= old.kept or not (new.kept - old.all):
            continue
        if _renames(old, new, denied):
            continue
        shared = (old.all & new.all) - denied
        if changed and old.own == new.own and not [term for term in old.all - denied if term[0] != "@"]:
            return f"it denies “{' '.join(sorted(denied))}”, all that was said"
        about = bool(shared) or bool(old.attributes & new.attributes)
        covered = len(old.all & new.all) / len(old.all)
        if about and (changed or old.attributes & new.attributes or covered >= DENIED):
            return f"it denies “{' '.join(sorted(denied))}”"
    return ""


def _renames(old: Said, new: Said, denied: frozenset[str]) -> bool:
    """Whether it corrects a name alone, and the older one uses that name to say something else: "Oscar weighs 5 kg"."""
    return "@name" in new.attributes and "@name" not in old.attributes and bool(old.kept - denied - new.all)


def _turns(older: Side, newer: Side, alike: float) -> str:
    """The same with the opposite sign: negated, hated instead of liked, revoked."""
    old, new = older.said, newer.said
    opposite = old.negated != new.negated or old.liking * new.liking < 0
    if not opposite or not old.all or not new.all:
        return ""
    if alike >= DENIED and not any(is_value(term) for term in (old.all ^ new.all) - _counts(old)):
        return "it says the opposite"
    small, large = sorted((old.all, new.all), key=len)
    within = small <= large and len(large) <= 2 * len(small) + 1
    if new.revoked and within and (older.kind in _PLANS or old.liking):
        return "it revokes it"
    return ""


def _counts(said: Said) -> frozenset[str]:
    """Small numbers that count a thing: who takes no sugar does not take two."""
    pairs = itertools.pairwise(said.terms)
    return frozenset(n for n, thing in pairs if n.isdigit() and len(n) <= _COUNT and not is_value(thing))


def _other_value(old: Said, new: Said, *, changed: bool) -> str:
    """An attribute that has one value at a time, of the same subject, with another value."""
    for clause in new.clauses:
        for other in old.clauses:
            if (
                not clause.attribute
                or clause.attribute != other.attribute
                or _several(old, other, new, clause, changed=changed)
            ):
                continue
            theirs = changed and other.own and words.THEIRS_TO_CHANGE.search(new.text)
            if _differ(other, clause, changed=changed and (other.own == clause.own or bool(theirs))):
                return f"another {clause.attribute[1:]}"
    return ""


def _several(old: Said, then: Clause, new: Said, now: Clause, *, changed: bool) -> bool:
    """Whether two things are told apart, as "a dog named Rex" and "a dog named Bo", "version 2 uses …" and "version 3 uses …"."""
    if now.attribute == "@name":
        several = words.INTRODUCED.search(old.text) or words.INTRODUCED.search(new.text) or words.ANEW.search(new.text)
        return not changed and bool(several)
    return now.attribute == "@version" and any(_is_subject(one, changed=changed) for one in (then, now))


def _is_subject(version: Clause, *, changed: bool) -> bool:
    """Whether something is said of this very version: its number comes first, and more after it."""
    told = len(version.after) > 1 and is_value(version.after[0])
    return told and not (changed and version.before)


def _differ(old: Clause, new: Clause, *, changed: bool) -> bool:
    (subject, value), (other, now) = slots(old), slots(new)
    if not value or not now or not _apart(value, now):
        return False
    if changed:
        subject, other = subject - words.CHANGING, other - words.CHANGING
    if years(value | subject) and years(now | other) and years(value | subject) != years(now | other) and not changed:
        return False
    if subject == other:
        return bool(subject) or old.own == new.own
    shared = subject & other
    return changed and bool(shared) and shared in (subject, other)


def _apart(value: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two values differ: of two days in May the numbers count."""
    numbers, others = (frozenset(t for t in one if t[0].isdigit()) for one in (value, other))
    return not numbers & others if numbers and others else not value & other


def _changes(old: Said, new: Said) -> str:
    """Something "now", "instead", "moved to …": most of the older statement, with another value in one place."""
    shared = old.kept & new.kept
    gone, come = old.kept - new.all, new.kept - old.all
    gone = gone - _unsaid(old, new) or gone
    chinese = old.chinese and new.chinese
    if len(shared) < (3 if chinese else 2) or not gone or not come or old.terms[0] not in new.all:
        return ""
    if old.own and not new.own and not all(is_value(t) or t in words.CHANGING for t in _ahead(old.terms[0], new)):
        return ""  # "my rent", "Anna's rent"
    values = all(map(is_value, gone))
    if len(gone) > (_MOST_LEFT_CHINESE if chinese else _MOST_LEFT):
        return ""
    if not values and len(shared) < COVERED * len(old.kept):
        return ""
    return "it says what changed" if _one_place(old, gone, come, chinese=chinese) else ""


def _ahead(term: str, new: Said) -> tuple[str, ...]:
    return new.terms[: new.terms.index(term)]


def _unsaid(old: Said, new: Said) -> frozenset[str]:
    """What the older statement gives besides, as the port of a database that moves: the newer one does not speak of it."""
    other = (one for one in old.clauses if one.attribute and one.attribute not in new.attributes)
    return frozenset(t for one in other for t in (one.attribute, *one.after[:1]) if t[0] == "@" or is_value(t))


def _changes_in_part(old: Said, new: Said) -> str:
    """The same between two commas, where a day or a number changes: the rest may speak of something else."""
    if len(old.parts) < 2 and len(new.parts) < 2:
        return ""
    olds, news = [read(part) for part in old.parts], [read(part) for part in new.parts]
    for then in olds:
        for now in news:
            if now.changed and all(map(is_value, then.kept - now.all)) and (why := _changes(then, now)):
                return why
    return ""


def _one_place(old: Said, gone: frozenset[str], come: frozenset[str], *, chinese: bool) -> bool:
    """Whether one thing differs: not "production" beside "staging", and the port as well."""
    kinds = {is_value(term) for term in gone}
    if len(kinds) > 1 and not chinese:
        return False
    if kinds == {True}:
        return any(map(is_value, come))
    return kinds != {False} or all(_together(old, gone))


def _in_its_place(older: Side, newer: Side) -> str:
    """As in "we use Redis for the queue", "we now use RabbitMQ for the queue": one thing in the middle is another one."""
    if Kind.EVENT in (older.kind, newer.kind):
        return ""
    old, new = older.said.frame, newer.said.frame
    most = min(len(old), len(new)) - 1
    start = next((n for n in range(most) if old[n] != new[n]), most)
    end = next((n for n in range(most - start) if old[-1 - n] != new[-1 - n]), most - start)
    gone, come = old[start : len(old) - end], new[start : len(new) - end]
    if start < 1 or end < 2 or not 1 <= len(gone) <= _MOST_LEFT or not 1 <= len(come) <= _MOST_LEFT:
        return ""
    return "another one in its place"


def _takes_back(older: Side, newer: Side) -> str:
    """Whether a rule says that an older one on the same matter holds no more: "forget what I said about matt paint"."""
    if not (older.kind is newer.kind is Kind.INSTRUCTION and words.RULE_OFF.search(newer.said.text)):
        return ""
    shared = (older.said.all & newer.said.all) - words.TOLD
    return "it takes back what was asked for" if len(shared) >= (2 if older.said.chinese else 1) else ""


def _together(old: Said, gone: frozenset[str]) -> list[bool]:
    """Whether the terms stand beside each other."""
    places = [place for place, term in enumerate(old.terms) if term in gone]
    return [later - place <= 1 for place, later in itertools.pairwise(places)]


def _other_number(older: Side, newer: Side) -> str:
    """The same statement word for word, but for one number; not of things that happen again and again, or of one of many."""
    old, new = older.said, newer.said
    if any(words.INTRODUCED.search(one.text) or words.ONE_OF_MANY.search(one.text) for one in (old, new)):
        return ""
    if not (new.changed or newer.corrects or words.DEFINITE.search(old.text)):
        return ""
    gone, come = old.all - new.all, new.all - old.all
    if {older.kind, newer.kind} & _MOMENTS or len(gone) != 1 or len(come) != 1 or len(old.terms) != len(new.terms):
        return ""
    (before,), (now,) = gone, come
    if not (before[:1].isdigit() and now[:1].isdigit()) or years(gone | come) or len(old.all & new.all) < 2:
        return ""
    place = old.terms.index(before)
    return "the same with another number" if place >= 2 and place == new.terms.index(now) else ""
