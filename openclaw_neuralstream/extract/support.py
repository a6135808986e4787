"""What of a model's answer is believed: its words must have been said, by whom it says, in the turns it names.

Each gem is judged by itself: one that is refused costs the others nothing, and is counted under the reason.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from openclaw_neuralstream.extract.answer import Answer, AnsweredGem, Voice
from openclaw_neuralstream.extract.rules.cues import INJECTION
from openclaw_neuralstream.extract.rules.judge import cues_of, is_question
from openclaw_neuralstream.extract.rules.reader import own_words
from openclaw_neuralstream.extract.rules.words import normal
from openclaw_neuralstream.lexicon import content_terms, language_of, script_of, sentences
from openclaw_neuralstream.model import Draft, Gem, Kind, Origin, Turn
from openclaw_neuralstream.secrets import redact

SUPPORT = 0.34
"""Share of a gem's content terms that the turns it names must hold."""

_AGENT_CAP = 0.45
_READ = 100_000  # characters of a turn in which support is looked for
_PEOPLE = ("owner", "third-party")
_MACHINES = ("agent", "system")
_ISO_DAY = re.compile(r"\d{4}-\d{2}(?:-\d{2})?(?:[T ]\d{2}:\d{2})?")
_NUMBER = re.compile(r"(?<![\w.:-])\d{2,}(?:[.,:]\d+)*(?![\w-])")
_GROUPING = re.compile(r"(?<=\d)[., ](?=\d{3}(?!\d))")


REASONS = {
    "form": "fields are missing or out of range",
    "evidence": "the turns it names are not of the batch, or have nothing to do with it",
    "support": "its words were not said",
    "number": "it holds a number that nobody said",
    "chatter": "small talk, a question, or nothing at all",
    "injection": "an order that stands in the conversation",
    "secret": "it holds a secret, or the marker of one",
    "language": "written in another language than the one it was said in",
    "speaker": "an instruction that the owner did not give",
}
"""Why a gem is refused; the counters are named "drafts.refused." and one of these."""


@dataclass(frozen=True, slots=True)
class Checked:
    """The drafts that hold, how many gems were refused for which reason, and how many labels named nothing known."""

    drafts: tuple[Draft, ...]
    refused: Mapping[str, int] = field(default_factory=dict)
    labels: int = 0


@dataclass(frozen=True, slots=True)
class _Heard:
    """A turn and the terms that were said in it, by people in their own words and by machines."""

    turn: Turn
    people: frozenset[str]
    machines: frozenset[str]


class _Refused(Exception):
    """A gem is not believed; the argument is one of REASONS."""


def check(answer: Answer, turns: Sequence[Turn], known: Mapping[str, Gem] | None = None) -> Checked:
    """Drafts whose words the turns of the batch support; `turns` are numbered from 1 in the prompt.

    known: the gems that the model was shown, by the labels it was shown them under.
    """
    heard = [_hear(turn) for turn in turns]
    refused = Counter({"form": len(answer.problems)} if answer.problems else {})
    unique: dict[tuple[str, str], Draft] = {}
    labels = 0
    for gem in answer.gems:
        try:
            draft = _draft(gem, heard, known or {})
        except _Refused as reason:
            refused[str(reason)] += 1
            continue
        labels += sum(label not in (known or {}) for label in gem.supersedes)
        unique.setdefault((draft.content.casefold(), draft.speaker), draft)
    return Checked(tuple(unique.values()), dict(refused), labels)


def _hear(turn: Turn) -> _Heard:
    """What people only pasted does not count as said, and neither does a sentence that gives orders to the reader."""
    people = "\n".join("\n".join(own_words(u.text[:_READ])) for u in turn.utterances if u.speaker in _PEOPLE)
    machines = turn.text_of(*_MACHINES)
    return _Heard(turn, _terms(people[:_READ]), _terms(machines[:_READ]))


def _terms(text: str) -> frozenset[str]:
    if INJECTION.search(text):
        text = "\n".join(one for one in sentences(text) if not INJECTION.search(one))
    return frozenset(content_terms(text))


def _draft(gem: AnsweredGem, heard: Sequence[_Heard], known: Mapping[str, Gem]) -> Draft:
    content = " ".join(gem.content.split())
    _refuse_worthless(content, gem)
    evidence = _evidence(gem, content, heard)
    if not evidence:
        raise _Refused("evidence")
    turns = [one.turn for one in evidence]
    speaker = _speaker(gem, content, evidence)
    if speaker is None:
        raise _Refused("support")
    if not _numbers_hold(content, turns):
        raise _Refused("number")
    if speaker is not Voice.OWNER and gem.kind is Kind.INSTRUCTION:
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
        origin={Voice.OWNER: Origin.OWNER, Voice.AGENT: Origin.AGENT}.get(speaker, Origin.UNTRUSTED),
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
    cues = cues_of(content)
    if cues.chatter.search(normal(content)) or is_question(content, cues) or len(content_terms(content)) < 2:
        raise _Refused("chatter")


def _in_its_language(content: str, evidence: Sequence[Turn]) -> bool:
    """Whether somebody wrote in its script in the turns it stands on; names and numbers alone have no language."""
    script = script_of(content)
    if script == "other":
        return True
    said = {script_of(line) for turn in evidence for u in turn.utterances for line in u.text[:_READ].splitlines()}
    people = {script_of(u.text) for turn in evidence for u in turn.utterances if u.speaker in _PEOPLE}
    return script in (people - {"other"} or said)


def _evidence(gem: AnsweredGem, content: str, heard: Sequence[_Heard]) -> list[_Heard]:
    """The turns it names that have to do with it, those of one person's memory only: gems never mix scopes."""
    named = [heard[number - 1] for number in dict.fromkeys(gem.turns) if 0 < number <= len(heard)]
    supporting = [one for one in named if _support(content, one.people | one.machines) >= SUPPORT / 2]
    return [one for one in supporting if one.turn.scope == supporting[0].turn.scope]


def _speaker(gem: AnsweredGem, content: str, evidence: Sequence[_Heard]) -> Voice | None:
    """Who really said it, whatever the model thinks; None when nobody did.

    What a person said stays theirs when the agent repeated it; what only the agent said is not the owner's.
    """
    people = frozenset[str]().union(*(one.people for one in evidence))
    machines = frozenset[str]().union(*(one.machines for one in evidence))
    person, machine = _support(content, people), _support(content, machines)
    if _support(content, people | machines) < SUPPORT:
        return None
    theirs = person >= (SUPPORT / 2 if gem.speaker is not Voice.AGENT else max(SUPPORT, machine))
    if not theirs and machine > 0:
        return Voice.AGENT
    speakers = {u.speaker for one in evidence for u in one.turn.utterances}
    return Voice.OWNER if "owner" in speakers else Voice.THIRD_PARTY


def _support(content: str, said: frozenset[str]) -> float:
    """Which share of the content's terms was said, from 0 to 1."""
    wanted = set(content_terms(_ISO_DAY.sub(" ", content)))
    return len(wanted & said) / len(wanted) if wanted else 0.0


def _numbers_hold(content: str, evidence: Sequence[Turn]) -> bool:
    """Every number of two digits and more was said, however it was grouped; a day or year worked out is none."""
    said = _GROUPING.sub("", "\n".join(u.text for turn in evidence for u in turn.utterances))
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
