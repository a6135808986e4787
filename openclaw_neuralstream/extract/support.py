"""What of a model's answer is believed: its words must have been said, by whom it says, in the turns it names.

Each gem is judged by itself: one that is refused costs the others nothing, and is counted under the reason.
"""

from __future__ import annotations

import calendar
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property

from openclaw_neuralstream.extract.answer import Answer, AnsweredGem, Voice
from openclaw_neuralstream.extract.learned import is_material
from openclaw_neuralstream.extract.reading import own_lines
from openclaw_neuralstream.model import Draft, Gem, Kind, Origin, Turn
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.secrets import redact
from openclaw_neuralstream.text.lexicon import (
    CLAUSE,
    HATED,
    INJECTION,
    LIKED,
    NARRATED,
    RELAYED,
    content_terms,
    language_of,
    numbered,
    script_of,
    sentences,
    signs,
)

SUPPORT = 0.6
"""Share of a gem's content terms that the turns it names must hold, and that its speaker must have said."""

LOOSE = 0.4
"""The same for a gem in which a name or a number that was said ties it to what was said: the rest may be paraphrased."""

ALIKE = 0.5
NEAR = 0.6
"""Share from which a gem is believed whose vector is this near (cosine) to what its speaker said."""

OBEYED = 0.8
"""Share of an instruction's terms that must stand in what the owner laid down, no question and no request for once."""

NAMED = 0.2
"""Share of a gem's terms from which a turn that it names has to do with it."""

FOREIGN = 0.3
"""Share of terms that only a tool or a stranger said from which a gem is theirs."""

Likeness = Callable[[str, str], float]

_AGENT_CAP = 0.45
_PEOPLE = ("owner", "third-party")
_TIES = lazy(r"(?<=[^.!?。\s] )[A-ZА-ЯЁ][\w-]+|\d+(?:[.,:]\d+)*|[A-Za-z][\w.-]{2,}(?=[\u3400-\u9fff])")
_ISO_DAY = lazy(r"\d{4}-\d{2}(?:-\d{2})?(?:[T ]\d{2}:\d{2})?")
_NUMBER = lazy(r"(?<![\w.:-])(?<!\d )\d+(?:[.,:]\d+)*(?![\w-])")
_GROUPING = lazy(r"(?<=\d)[., ](?=\d{3}(?!\d))")
_ASKING = ("?", "？")
_READ = 100_000  # characters of a turn in which support is looked for
_SHORT = 6  # terms of a reply that leans on the question before it
_NAME = lazy(r"(?<=[^.!?。:\s] )(?:[A-Z][a-z][\w-]*|[А-ЯЁ][а-яё][\w-]*)")
_CALENDAR = (calendar.day_name, calendar.day_abbr, calendar.month_name, calendar.month_abbr)
_NO_NAMES = frozenset(
    {"english", "owner", "user", "agent", "assistant"} | {word.casefold() for words in _CALENDAR for word in words}
)
"""Words in capitals in the middle of a sentence that name nobody."""

_DIGITS = lazy(r"\d+(?:[.,:/-]\d+)*")
_PARTICULAR = lazy(r"\S*[\d@/_]\S*|\S+[.-]\w\S*|(?<=[^.!?。\s] )[A-ZА-ЯЁ]\S*|[A-Za-z][\w.-]{2,}(?=[\u3400-\u9fff])")


REASONS = {
    "form": "fields are missing or out of range",
    "evidence": "the turns it names are not of the batch, or have nothing to do with it",
    "support": "its words were not said",
    "opposite": "what was said is the opposite of it",
    "number": "it holds a number that nobody said",
    "name": "it holds a name that nobody said",
    "chatter": "a question, or nothing at all",
    "injection": "an order that stands in the conversation",
    "secret": "it holds a secret, or the marker of one",
    "language": "written in another language than the one it was said in",
    "speaker": "an instruction that the owner did not give",
}
"""Why a gem is refused; the counters are named "drafts.refused." and one of these."""


@dataclass(frozen=True, slots=True)
class Checked:
    """The drafts that hold, how many gems were refused for which reason, and how many labels named nothing known.

    told: each refused content with its reason, one of REASONS; what has no form has no content.
    """

    drafts: tuple[Draft, ...]
    refused: Mapping[str, int] = field(default_factory=dict)
    labels: int = 0
    told: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Clause:
    """What was said between two stops or commas: its terms, and whether it denies, likes or hates."""

    text: str
    terms: frozenset[str]
    denied: bool
    liking: int


@dataclass(frozen=True)
class Heard:
    """The statements of each voice in a turn, without questions and planted orders. What people only pasted does not count as said."""

    turn: Turn
    owner: tuple[str, ...]
    third: tuple[str, ...]
    agent: tuple[str, ...]
    tools: tuple[str, ...]

    @cached_property
    def said(self) -> frozenset[str]:
        """The terms that people and the agent said."""
        return said_in((*self.owner, *self.third, *self.agent))


def hear(turns: Sequence[Turn]) -> list[Heard]:
    """Each turn by its voices."""
    return [_hear(turn, _asked_before(turns, number)) for number, turn in enumerate(turns)]


def _hear(turn: Turn, asked: str) -> Heard:
    owner = _stated(turn, "owner")
    if asked and owner and len(content_terms(" ".join(owner))) <= _SHORT:
        owner.append(f"{asked} {' '.join(owner)}")  # an answer says what its question asked
    agent = sentences(turn.text_of("agent", "system")[:_READ])
    tools = sentences(turn.text_of("tool")[:_READ])
    return Heard(turn, *(_harmless(said) for said in (owner, _stated(turn, "third-party"), agent, tools)))


def _stated(turn: Turn, speaker: str) -> list[str]:
    """The sentences of people's own prose."""
    texts = [
        u.text[:_READ]
        for u in turn.utterances
        if u.speaker == speaker and not (speaker == "owner" and is_material(u.text))
    ]
    return [one for text in texts for line in own_lines(text) for one in sentences(line)]


def _asked_before(turns: Sequence[Turn], number: int) -> str:
    """The question with which the agent ended the turn before, in the same memory."""
    if not number or turns[number - 1].scope != turns[number].scope:
        return ""
    said = sentences(turns[number - 1].text_of("agent")[:_READ])
    return said[-1].rstrip("?？ ") if said and said[-1].rstrip().endswith(_ASKING) else ""


def _harmless(said: Iterable[str]) -> tuple[str, ...]:
    return tuple(
        one for one in said if one.strip() and not one.rstrip().endswith(_ASKING) and not INJECTION.search(one)
    )


def terms_in(text: str) -> frozenset[str]:
    """The terms of a gem's content: without the days that were worked out, who is spoken of, and how it is liked."""
    for pattern in (_ISO_DAY, NARRATED, HATED, LIKED):
        text = pattern.sub(", ", text)
    return said_in([text])


def said_in(said: Iterable[str]) -> frozenset[str]:
    """The terms of what was said."""
    return frozenset(content_terms(numbered(_GROUPING.sub("", "\n".join(said)))))


def clauses(said: Iterable[str]) -> list[Clause]:
    """Its clauses; those without a term are left out."""
    found = (part for one in said for part in CLAUSE.split(one) if part and part.strip())
    return [Clause(part, terms, *signs(part)) for part in found if (terms := terms_in(part))]


def _unsaid_names(content: str, said: Iterable[str]) -> list[str]:
    """Names in the content that stand nowhere in what was said; days and months are none."""
    text = "\n".join(said)
    known, folded = terms_in(text), text.casefold()
    found = [name for name in _NAME.findall(content) if name.casefold() not in _NO_NAMES]
    return [name for name in found if name.casefold() not in folded and not _known(name, known)]


def _known(name: str, known: frozenset[str]) -> bool:
    terms = set(content_terms(name))
    return bool(terms) and terms <= known


class _Refused(Exception):
    """A gem is not believed; the argument is one of REASONS."""


def check(
    answer: Answer,
    turns: Sequence[Turn],
    known: Mapping[str, Gem] | None = None,
    *,
    before: Sequence[Turn] = (),
    likeness: Likeness | None = None,
) -> Checked:
    """Drafts whose words the turns of the batch support; `turns` are numbered from 1 in the prompt.

    known: the gems that the model was shown, by the labels it was shown them under. before: earlier turns that it was
    shown, which may name whom a gem is about. likeness: how near two texts are; without it words alone decide.
    """
    heard = hear(turns)
    shown = [*(gem.content for gem in (known or {}).values()), *(u.text for turn in before for u in turn.utterances)]
    refused = Counter({"form": len(answer.problems)} if answer.problems else {})
    unique: dict[tuple[str, str], Draft] = {}
    told: list[tuple[str, str]] = []
    labels = 0
    for gem in answer.gems:
        try:
            draft = _draft(gem, heard, known or {}, shown, likeness)
        except _Refused as reason:
            refused[str(reason)] += 1
            told.append((" ".join(gem.content.split()), str(reason)))
            continue
        labels += sum(label not in (known or {}) for label in gem.supersedes)
        unique.setdefault((draft.content.casefold(), draft.speaker), draft)
    return Checked(tuple(unique.values()), dict(refused), labels, tuple(told))


def _draft(
    gem: AnsweredGem, heard: Sequence[Heard], known: Mapping[str, Gem], shown: Sequence[str], likeness: Likeness | None
) -> Draft:
    content = " ".join(gem.content.split())
    _refuse_worthless(content, gem)
    evidence = _evidence(gem, content, heard)
    if not evidence:
        raise _Refused("evidence")
    turns = [one.turn for one in evidence]
    wanted = terms_in(content)
    credit = _credit(_Claim(wanted, content, likeness), evidence, heard)
    if credit is None:
        raise _Refused("support")
    if _unsaid_names(content, (*_words_of(heard, turns[0]), *shown)):
        raise _Refused("name")
    speaker = credit.speaker
    if _opposes(content, credit.said):
        raise _Refused("opposite")
    if not _numbers_hold(content, turns):
        raise _Refused("number")
    if gem.kind is Kind.INSTRUCTION and not _laid_down(wanted, credit, evidence):
        raise _Refused("speaker")
    if not _in_its_language(content, turns):
        raise _Refused("language")
    importance = gem.importance / 10
    return Draft(
        content=content,
        summary=" ".join(gem.summary.split())[:200],
        kind=gem.kind,
        evidence=tuple(turn.turn_id for turn in turns),
        speaker=speaker.value,
        origin=credit.origin,
        importance=min(importance, _AGENT_CAP) if speaker is Voice.AGENT else importance,
        confidence=gem.confidence / 10,
        topics=_words(gem.topics),
        entities=_words(gem.entities),
        valid_from=_utc(gem.valid_from),
        valid_to=_end(gem.valid_to, turns),
        language=language_of(content),
        importance_reason=" ".join(gem.importance_reason.split())[:200],
        supersedes=_superseded(gem, speaker, turns[0], known),
    )


def _superseded(gem: AnsweredGem, speaker: Voice, turn: Turn, known: Mapping[str, Gem]) -> tuple[str, ...]:
    """The ids of the known gems that its labels name: of the same person's memory, and never the owner's by others."""
    named = [known[label] for label in dict.fromkeys(gem.supersedes) if label in known]
    same = [one for one in named if (one.scope.agent, one.scope.user) == (turn.scope.agent, turn.scope.user)]
    return tuple(one.gem_id for one in same if speaker is Voice.OWNER or one.speaker == speaker.value)


def _refuse_worthless(content: str, gem: AnsweredGem) -> None:
    """Raise _Refused for an injected order, a secret, a question, or "Exciting!"."""
    if INJECTION.search(content):
        raise _Refused("injection")
    if "[redacted:" in content or redact(" ".join((content, gem.summary, *gem.topics, *gem.entities))).found:
        raise _Refused("secret")
    if content.endswith(_ASKING) or len(content_terms(content)) < 2:
        raise _Refused("chatter")


def _in_its_language(content: str, evidence: Sequence[Turn]) -> bool:
    """Whether somebody wrote in its script in the turns it stands on; names and numbers alone have no language."""
    script = script_of(content)
    if script == "other":
        return True
    said = {script_of(line) for turn in evidence for u in turn.utterances for line in u.text[:_READ].splitlines()}
    people = {script_of(u.text) for turn in evidence for u in turn.utterances if u.speaker in _PEOPLE}
    return script in (people - {"other"} or said)


def _evidence(gem: AnsweredGem, content: str, heard: Sequence[Heard]) -> list[Heard]:
    """The turns it names that have to do with it, those of one person's memory only: gems never mix scopes."""
    named = [heard[number - 1] for number in dict.fromkeys(gem.turns) if 0 < number <= len(heard)]
    supporting = [one for one in named if _share(terms_in(content), one.said) >= NAMED]
    return [one for one in supporting if one.turn.scope == supporting[0].turn.scope]


@dataclass(frozen=True, slots=True)
class _Credit:
    """Whose a gem is, how far it is trusted, and what was said that it stands on."""

    speaker: Voice
    origin: Origin
    said: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Claim:
    """What a gem says, as its terms too; likeness: how near two texts are, where that can be told."""

    wanted: frozenset[str]
    content: str
    likeness: Likeness | None

    def is_said(self, said: Sequence[str]) -> bool:
        """Whether this supports it: in most of its words, or in some of them and a name or number, or in its meaning."""
        heard = said_in(said)
        share = _share(self.wanted, heard)
        ties = frozenset(content_terms(" ".join(_TIES.findall(self.content)))) & self.wanted
        if share >= SUPPORT or (share >= LOOSE and ties and ties <= heard and len(self.wanted & heard) > 1):
            return True
        return bool(self.likeness and share >= ALIKE and self.likeness(self.content, "\n".join(said)) >= NEAR)


def _credit(claim: _Claim, evidence: Sequence[Heard], heard: Sequence[Heard]) -> _Credit | None:
    """Who really said it, whatever the model thinks; None when nobody did.

    Each voice is heard by itself, and the owner must have said it at least as fully as any other. What the owner only
    shares in is the other's; what a tool gave or a stranger said is untrusted, whoever repeated it.
    """
    wanted, content = claim.wanted, claim.content
    scope = evidence[0].turn.scope
    owner, third, agent = (tuple(s for one in evidence for s in voice(one)) for voice in (_owner, _third, _agent))
    tools = tuple(s for one in heard if one.turn.scope == scope for s in one.tools)
    mine, others, machine, read = (_share(wanted, said_in(said)) for said in (owner, third, agent, tools))
    foreign = _foreign(wanted, content, said_in(owner), said_in((*tools, *third)))
    if mine >= max(others, machine, read) and not foreign and claim.is_said(owner):
        return _Credit(Voice.OWNER, Origin.OWNER, owner)
    if others and others >= machine and claim.is_said((*owner, *third)):
        return _Credit(Voice.THIRD_PARTY, Origin.UNTRUSTED, (*owner, *third))
    if _share(wanted, said_in((*owner, *third, *agent))) < SUPPORT:
        return None
    untrusted = foreign or others > 0 or _relays(wanted, agent)
    voice = Voice.AGENT if machine else Voice.THIRD_PARTY
    return _Credit(voice, Origin.UNTRUSTED if untrusted else Origin.AGENT, (*owner, *third, *agent))


def _relays(wanted: frozenset[str], said: Sequence[str]) -> bool:
    """Whether the sentence that holds most of it gives somebody else's words."""
    return bool(RELAYED.search(max(said, key=lambda one: len(wanted & said_in([one])), default="")))


def _words_of(heard: Sequence[Heard], turn: Turn) -> list[str]:
    """All that anybody said in the batch, in this memory."""
    turns = (one.turn for one in heard if one.turn.scope == turn.scope)
    return [part for one in turns for u in one.utterances for part in (u.text[:_READ], u.name)]


def _owner(heard: Heard) -> tuple[str, ...]:
    return heard.owner


def _third(heard: Heard) -> tuple[str, ...]:
    return heard.third


def _agent(heard: Heard) -> tuple[str, ...]:
    return heard.agent


def _share(wanted: frozenset[str], said: frozenset[str]) -> float:
    """Which share of the wanted terms was said, from 0 to 1."""
    return len(wanted & said) / len(wanted) if wanted else 0.0


def _foreign(wanted: frozenset[str], content: str, own: frozenset[str], others: frozenset[str]) -> bool:
    """Whether words came from a tool or a stranger: a good part of it, or one that means something particular."""
    theirs = (wanted & others) - own
    names = terms_in(" ".join(_PARTICULAR.findall(content)))
    return bool(theirs & names) or len(theirs) >= FOREIGN * len(wanted) > 0


def _laid_down(wanted: frozenset[str], credit: _Credit, evidence: Sequence[Heard]) -> bool:
    """Whether the owner gave this instruction: in one statement, in nearly all its words."""
    rules = (rule for one in evidence for rule in one.owner)
    return credit.speaker is Voice.OWNER and any(_share(wanted, said_in([rule])) >= OBEYED for rule in rules)


def _opposes(content: str, said: Sequence[str]) -> bool:
    """Whether a clause of it has the opposite sign of the clause that it was made of."""
    heard = clauses(said)
    return any(_opposed(claim, heard) for claim in clauses([content]))


def _opposed(claim: Clause, heard: Sequence[Clause]) -> bool:
    """Against the clauses that share most with it; where they disagree among themselves it is believed."""
    most = max((len(claim.terms & one.terms) for one in heard), default=0)
    if not most:
        return False
    nearest = [one for one in heard if len(claim.terms & one.terms) == most]
    return all(_differs(claim, one) for one in nearest)


def _differs(claim: Clause, said: Clause) -> bool:
    if claim.liking and said.liking:
        return claim.liking != said.liking
    if claim.liking < 0 or said.liking < 0:
        return claim.denied == said.denied  # hates what was only named, names as had what was hated
    alike = len(claim.terms & said.terms) >= SUPPORT * min(len(claim.terms), len(said.terms))
    return alike and claim.denied != said.denied


def _numbers_hold(content: str, evidence: Sequence[Turn]) -> bool:
    """Every number was said whole, however grouped, or spelled out; a day or year worked out is none."""
    text = _GROUPING.sub("", "\n".join(u.text for turn in evidence for u in turn.utterances))
    spelled = terms_in("\n".join(u.text for turn in evidence for u in turn.utterances))
    said = spelled | {part for number in _DIGITS.findall(text) for part in (number, *re.split(r"[:/-]", number))}
    years = {str(turn.at.year + shift) for turn in evidence for shift in (-1, 0, 1)}
    numbers = _NUMBER.findall(_ISO_DAY.sub(" ", content))
    return all(_GROUPING.sub("", n) in said or n.split(":")[0] in said or n in years for n in numbers)


def _words(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(clean for word in words if (clean := " ".join(word.split()))))[:8]


def _utc(day: datetime | None) -> datetime | None:
    return day.replace(tzinfo=UTC) if day and day.tzinfo is None else day


def _end(day: datetime | None, evidence: Sequence[Turn]) -> datetime | None:
    """The end of that day; None unless it comes after the turns: models like to fill in the day of the conversation."""
    last = _utc(day)
    if last is None or last.date() <= max(turn.at for turn in evidence).date():
        return None
    return last.replace(hour=23, minute=59, second=59)
