"""A slip in the rare word of a short question: what is stored is found all the same, and right words stay as they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_neuralstream.model import Query, Scope
from openclaw_neuralstream.recall.query import edits, respelled
from openclaw_neuralstream.text.tokens import QwenCounter
from tests.recall.worlds import World, world
from tests.values import MAIN, NOW, gem, turn

STORED = (
    gem("dentist", "I see the dentist on 3 December at nine."),
    gem("plumber", "The plumber is called Marek."),
    gem("surgery", "The surgery of the cat costs 400."),
    gem("plane", "The plane to Porto leaves at noon."),
    gem("flight", "My flight lands at ten."),
    gem("passport", "Паспорт лежит в верхнем ящике."),
    gem("flat", "Квартира на Лесной, 12."),
)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world(Path(tmp_path_factory.mktemp("spelling"))) as made:
        made.counter = QwenCounter()
        made.learn(*STORED)
        yield made


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("when is my dentsit appointment?", "dentist"),
        ("when do I see the dentst?", "dentist"),
        ("what is the plubmer called?", "plumber"),
        ("what does the surgrey cost?", "surgery"),
        ("где лежит паспрот?", "passport"),
        ("где квратира?", "flat"),
    ],
)
def test_what_a_misspelt_word_means_is_found(memory: World, question: str, found: str) -> None:
    answer = memory.ask(question)
    assert [record.id for record in answer.records][:1] == [found]
    assert answer.understood["read_as"]


@pytest.mark.parametrize(
    "question",
    [
        "which planet is the biggest?", "when did I fight with Tom?", "what is the dentist called?", "Where is Planck buried?",
        "where is dentsit.example.org?", "我的牙医是谁？", "who am I?", "", "где гараж?",
    ],
)  # fmt: skip
def test_a_word_that_is_right_or_no_word_stays_as_it_is(memory: World, question: str) -> None:
    assert "read_as" not in memory.ask(question).understood


def test_nothing_of_another_scope_tells_how_a_word_is_spelt(memory: World) -> None:
    assert "read_as" not in memory.ask("when is my dentsit appointment?", scope=Scope("other")).understood


def test_a_question_that_was_asked_before_with_the_same_slip_teaches_no_word(tmp_path: Path) -> None:
    with world(tmp_path) as made:
        made.counter = QwenCounter()
        made.hear(turn(1, "I see the dentist on 3 December at nine."), turn(2, "when is my dentsit appointment?"))
        answer = made.ask("when is my dentsit appointment?", turns=True)
        assert answer.understood["read_as"] == {"dentsit": "dentist"}


class Book:
    """Knows some terms, and counts what it is asked."""

    def __init__(self, *known: str) -> None:
        self.known, self.looked = known, 0

    def frequencies(self, terms: Sequence[str], scope: Scope) -> Mapping[str, int]:
        return {term: int(term in self.known) for term in terms}

    def beginning(self, starts: Sequence[str], scope: Scope) -> Sequence[str]:
        self.looked += 1
        return [term for term in self.known if term.startswith(tuple(starts))]


def test_where_all_words_are_known_nothing_is_looked_through() -> None:
    book = Book("dentist", "appoint")
    query = Query("when is my dentist appointment?", MAIN, NOW)
    assert respelled(query, [(book, 1)], QwenCounter()) == (query, {})
    assert book.looked == 0


@given(st.text(st.characters(codec=None), max_size=80))
def test_any_question_is_taken_and_without_books_left_alone(text: str) -> None:
    query = Query(text, MAIN, NOW)
    assert respelled(query, [], QwenCounter()) == (query, {})
    read, slips = respelled(query, [(Book("dentist", "паспорт"), 1)], QwenCounter())
    assert (read == query) == (not slips)


WORD = st.text("abc", max_size=6)


@given(WORD, WORD)
def test_edits_are_the_same_both_ways_and_none_between_a_word_and_itself(left: str, right: str) -> None:
    assert edits(left, right, 9) == edits(right, left, 9)
    assert (edits(left, right, 9) == 0) == (left == right)
    assert edits(left, right, 1) == edits(left, right, 9) or edits(left, right, 1) > 1


@given(st.text("abcd", min_size=2, max_size=8), st.data())
def test_one_slip_is_one_edit(word: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(word) - 2))
    for slip in (word[:at] + word[at + 1 :], word[:at] + word[at + 1] + word[at] + word[at + 2 :], f"{word[:at]}x{word[at:]}"):
        assert edits(word, slip, 9) == (slip != word)
