"""Which of the ranked records may be shown, and the first reason why each other one may not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import cache

from openclaw_neuralstream.lexicon import content_terms, off_record
from openclaw_neuralstream.model import Dropped, Origin, Record
from openclaw_neuralstream.questions import points_back
from openclaw_neuralstream.recall.diverse import SHARE
from openclaw_neuralstream.recall.source import Found, Shape, Understood
from openclaw_neuralstream.recall.twins import MADE, SEQUENCE, TURN, Saying, cut_out_of, same, saying
from openclaw_neuralstream.recall.window import Window

_WHOLE = 400  # characters of a turn that is told whole, in the place of the gems that were cut out of it


def sifted(
    records: Sequence[Record],
    found: Mapping[str, Found],
    understood: Understood,
    *,
    threshold: float,
    enough: int,
) -> tuple[list[Record], list[Dropped]]:
    """The records that may be shown, in their order, and the others with the first reason that holds.

    What says the same as a better one is a duplicate of it, whichever source each came from; of what the window shows,
    it is in the window too. A gem takes the place of the turn it came from, a sequence that of those of its turns whose words it shows.
    What stands around an answer is no part of it: where a gem says of the question what the turn that was found says, its sequence goes,
    unless the question leans on what was said before it or asks for an order or a summary.
    threshold: the relevance below which a record is left out; 0 = none is for that. enough: how many are wanted at most; what scores so
    much less than these that no new order brings it among them is "over-limit" without being compared.
    """
    seen = _Seen(frozenset(understood.weights()))
    says = cache(lambda record_id: saying(by_id[record_id], found[record_id]))
    by_id = {record.id: record for record in records}
    dropped: list[Dropped] = []
    window = Window(understood.query)
    whys: dict[str, str] = {}
    for record in records:  # what the window shows first: nothing that ranks above it may say it again
        item = found[record.id]
        value = record.factors["relevance"]
        relevant = value >= threshold and (understood.only is None or value > 0)
        barred = item.verbatim and off_record(record.text)
        whys[record.id] = item.outdated or ("off-record" if barred else "" if relevant else "below-threshold")
        looked_at = not item.outdated and (relevant or record.id in understood.query.exclude)
        whole = (
            understood.shape is not Shape.PLAIN and record.id in understood.query.exclude
        )  # the brief shows a part of it
        if looked_at and not whole and window.shows(record, item.evidence):
            whys[record.id] = whys[record.id] or "in-window"
            seen.shown(record, says(record.id))
    if understood.shape is Shape.PLAIN and understood.only is None:
        records, cut_out = _in_their_words(records, says, whys)
        dropped += cut_out
    told_whole = {item.of for item in dropped}
    answers = _answers(records, says, whys, told_whole) if _plain(understood) else {}
    least = 0.0
    for record in records:
        if why := whys[record.id] or ("over-limit" if record.score < least else ""):
            dropped.append(Dropped(record, why))
            continue
        said = says(record.id)
        if answer := _answered(record, found[record.id], answers, understood):
            dropped.append(Dropped(record, "duplicate", answer))
        elif behind := seen.turns_behind(said):
            dropped += seen.put(record, said, behind)
        elif twin := seen.twin(said):
            dropped.append(Dropped(record, "in-window" if twin in seen.in_window else "duplicate", twin))
        else:
            seen.put(record, said, ())
            if len(seen.kept()) == enough:
                least = (1 - SHARE) * record.score
    return seen.kept(), dropped


def _in_their_words(
    records: Sequence[Record], says: Callable[[str], Saying], whys: Mapping[str, str]
) -> tuple[list[Record], list[Dropped]]:
    """The records, with each turn in the place of the gems that are cut out of it word for word: the whole message tells more.

    A long turn is told by its gems, and so is what somebody has written anew, a person or a model.
    """
    turns = [
        record
        for record in reversed(records)  # the best of a turn's messages counts
        if not whys[record.id] and says(record.id).source == TURN and record.origin is Origin.OWNER
    ]
    of = {turn: record for record in turns if len(record.text) <= _WHOLE for turn in says(record.id).evidence}
    best = {record.id: record.score for record in turns}
    dropped: list[Dropped] = []
    kept: list[Record] = []
    for record in records:
        said = says(record.id)
        turn = next((of[id_] for id_ in sorted(said.evidence) if id_ in of), None) if said.source == MADE else None
        tagged = bool(set(record.tags) - {record.kind})  # hooks and people know it by its tags
        if turn is not None and not tagged and not whys[record.id] and cut_out_of(record.text, turn.text):
            best[turn.id] = max(best[turn.id], record.score)
            dropped.append(Dropped(record, "duplicate", turn.id))
        else:
            kept.append(record)
    raised = [
        replace(record, score=best[record.id]) if best.get(record.id, record.score) > record.score else record
        for record in kept
    ]
    return sorted(raised, key=lambda record: -record.score), dropped


def _plain(understood: Understood) -> bool:
    """Whether a question asks for one thing, and the dialogue is not needed to tell for which."""
    return understood.only is not None or (understood.shape is Shape.PLAIN and not understood.leans)


def _answers(
    records: Sequence[Record], says: Callable[[str], Saying], whys: Mapping[str, str], whole: AbstractSet[str]
) -> dict[str, Saying]:
    """What the records that are made from turns say, and the turns told whole in their place, of those that may be shown: by id, best first."""
    told = {record.id: says(record.id) for record in records if whys[record.id] in ("", "in-window")}
    return {id_: said for id_, said in told.items() if said.evidence and (said.source == MADE or id_ in whole)}


def _answered(record: Record, item: Found, answers: Mapping[str, Saying], understood: Understood) -> str:
    """The id of what answers as well as the one turn for which a sequence was found; "" when nothing does."""
    turn, words = item.hit
    if record.kind != SEQUENCE or not turn:
        return ""
    asked = understood.weights().keys() & set(content_terms(words))
    if points_back(
        understood.query.text
    ):  # "when is it?", or "when is the call with Irina?", which names all it asks for
        asked |= set(understood.said[0].terms)
    told = ((id_, said) for id_, said in answers.items() if turn in said.evidence)
    return next((id_ for id_, said in told if said.source == TURN or asked <= said.terms), "")


class _Seen:
    """What is kept so far, and what the window shows; ids in the order of the ranking."""

    def __init__(self, asked: frozenset[str]) -> None:
        self.in_window: set[str] = set()
        self._asked = asked
        self._records: dict[str, Record] = {}
        self._said: dict[str, Saying] = {}

    def kept(self) -> list[Record]:
        """The records that may be shown."""
        return list(self._records.values())

    def twin(self, said: Saying) -> str:
        """The id of the first that this adds nothing to; "" when it says something new."""
        all_said = self._said.items()
        return next((id_ for id_, other in all_said if same(other, said, self._asked, shown=id_ in self.in_window)), "")

    def turns_behind(self, said: Saying) -> list[str]:
        """Ids of the kept turns that this says as well: with nothing more that is asked, of a sequence word for word."""
        if said.source == TURN:
            return []
        turns = [(id_, self._said[id_]) for id_ in self._records if self._said[id_].source == TURN]
        return [id_ for id_, turn in turns if turn.evidence & said.evidence and same(said, turn, self._asked)]

    def shown(self, record: Record, said: Saying) -> None:
        """The window shows it: nothing that says the same is news."""
        self.in_window.add(record.id)
        self._said[record.id] = said

    def put(self, record: Record, said: Saying, behind: Sequence[str]) -> list[Dropped]:
        """Keep it, in the place and with the score of the best of the turns behind it; returns these, which go."""
        self._said[record.id] = said
        if not behind:
            self._records[record.id] = record
            return []
        replaced = [Dropped(self._records[id_], "duplicate", record.id) for id_ in behind]
        order = [record.id if id_ in behind else id_ for id_ in self._records]
        best = max(self._records[id_].score for id_ in behind)
        self._records[record.id] = replace(record, score=max(best, record.score))
        self._records = {id_: self._records[id_] for id_ in dict.fromkeys((*order, record.id))}
        for id_ in behind:
            del self._said[id_]
        return replaced
