"""The words of passages: counted from their rows of codes exactly as reading their texts counts them."""

from __future__ import annotations

import itertools
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from openclaw_neuralstream.model import EmbedderIdentity, Scope
from openclaw_neuralstream.store import passage_rows
from openclaw_neuralstream.store.passages import PassageIndex
from openclaw_neuralstream.text.lexicon import terms
from tests import passages
from tests.values import SESSION, turn

SCOPE = Scope(SESSION.agent)
SAID = [
    "Anna repaired the bicycle; the bicycle is red. Anna is glad.",
    "Анна починила велосипед в Казани",
    "安娜修好了自行车,自行车是红色的",
    "nothing of it",
]
ASKED = [*dict.fromkeys(terms("Anna bicycle велосипед 自行车 violin"))]


@pytest.fixture(name="index")
def _index(tmp_path: Path) -> PassageIndex:
    index = PassageIndex(tmp_path / "turns", EmbedderIdentity("small", 4))
    turns = [turn(number, text) for number, text in enumerate(SAID)]
    passages.add(index, turns, lambda texts: np.eye(4, dtype=np.float32)[np.zeros(len(texts), int)])
    return index


def test_each_term_is_counted_as_often_as_reading_the_passage_counts_it(index: PassageIndex) -> None:
    places = index.match(index.frequencies(terms(" ".join(SAID)), SCOPE), SCOPE, 20)
    read = index.counts(places, ASKED, SCOPE, 3)
    texts = [passage.text for id_ in read.ids for passage in index.passages([id_], SCOPE)]
    assert set(SAID) <= set(texts)
    for text, counted in zip(texts, read.counts.tolist(), strict=True):
        assert counted == [terms(text).count(term) for term in ASKED]


def test_the_beginning_of_a_passage_counts_no_more_than_its_first_terms(index: PassageIndex) -> None:
    places = index.match(index.frequencies(ASKED, SCOPE), SCOPE, 20)
    whole = index.counts(places, ASKED, SCOPE, 1_000)
    assert whole.begun.tolist() == whole.counts.tolist()
    assert not index.counts(places, ASKED, SCOPE, 0).begun.any()


def test_the_passage_that_holds_most_of_the_rare_terms_comes_first(index: PassageIndex) -> None:
    best = index.match(index.frequencies(terms("bicycle Anna repaired"), SCOPE), SCOPE, 1)
    (id_,) = index.counts(best, [], SCOPE, 0).ids
    assert index.passages([id_], SCOPE)[0].text == SAID[0]


def test_an_index_that_knows_words_as_they_are_written_learns_their_words_and_keeps_its_vectors(tmp_path: Path) -> None:
    identity = EmbedderIdentity("small", 4)
    index = PassageIndex(tmp_path / "turns", identity)
    passages.add(index, [turn(1, "I met Peter and met Anna"), turn(2, "nothing")], lambda texts: np.ones((len(texts), 4), np.float32))
    index.close()
    with sqlite3.connect(tmp_path / "turns" / "passages.sqlite") as connection:
        (before,) = connection.execute("SELECT terms FROM passages WHERE instr(body, 'Peter')").fetchone()
        old = before.replace(passage_rows.coded(["meet"]).tobytes(), passage_rows.coded(["met"]).tobytes())
        connection.execute("UPDATE passages SET terms = ? WHERE terms = ?", (old, before))
        connection.execute("UPDATE words SET tokens = replace(tokens, '/meet', '/met')")
        connection.execute("UPDATE meta SET value = '3' WHERE key = 'form'")
    connection.close()
    assert old != before
    index = PassageIndex(tmp_path / "turns", identity)
    frequency = index.frequencies(["meet", "met"], SCOPE)
    assert frequency == {"meet": 1, "met": 0}
    assert index.counts(index.match(frequency, SCOPE, 9), ["meet", "met"], SCOPE, 9).counts.tolist() == [[2, 0]]
    assert index.bare_count() == 0
    index.close()


def test_another_agents_places_hold_nothing(index: PassageIndex) -> None:
    places = index.match(index.frequencies(ASKED, SCOPE), SCOPE, 20)
    assert places
    assert index.counts(places, ASKED, Scope("other"), 0).ids == ()
    assert index.match(index.frequencies(ASKED, Scope("other")), Scope("other"), 20) == []


def test_what_a_passage_costs_to_read_does_not_grow_with_how_many_there_are(tmp_path: Path) -> None:
    def steps(turns: int) -> tuple[int, int]:
        made = PassageIndex(tmp_path / str(turns), EmbedderIdentity("small", 4))
        passages.add(
            made,
            [turn(number, f"the bicycle number {number} is red") for number in range(turns)],
            lambda texts: np.ones((len(texts), 4), np.float32),
        )
        made.close()
        with sqlite3.connect(tmp_path / str(turns) / "passages.sqlite") as connection:
            rows = connection.execute("SELECT place, id FROM passages ORDER BY place LIMIT 20").fetchall()
            counter = itertools.count()
            connection.set_progress_handler(lambda: next(counter) < 0, 10)
            assert len(passage_rows.fetch(connection, [id_ for _, id_ in rows], SCOPE)) == len(rows)
            fetching = next(counter)
            assert len(passage_rows.counts(connection, [place for place, _ in rows], ["red"], 1, "").ids) == len(rows)
            return fetching, next(counter) - fetching

    few, many = steps(60), steps(960)
    assert many[0] < 2 * few[0]
    assert many[1] < 2 * few[1]
