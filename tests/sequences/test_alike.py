"""A question is found again by its hash, whatever stands in the pair's texts."""

from __future__ import annotations

from pathlib import Path

from openclaw_neuralstream.sequences.index import PairIndex, Policy
from openclaw_neuralstream.text.questions import question_hash
from tests.values import turn

ASKED = 'Why does the cache write "hash": "0000000000000000" beside "hash\\": \\"1" for the bicycle?'


def test_a_text_that_looks_like_a_stored_hash_is_not_taken_for_one(tmp_path: Path) -> None:
    index = PairIndex(tmp_path)
    said = turn(1, ASKED)
    index.add([said, turn(2, "What does the violin cost?")], Policy(0.5, lambda _: (), lambda _: ""))
    (place,) = index.alike(question_hash(ASKED), said.scope, 5)
    assert [pair.question for pair in index.pairs(place.sequence)][place.seq - 1] == ASKED
    index.close()
