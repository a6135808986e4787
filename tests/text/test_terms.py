"""Terms mean the same in the index and in a question, in English, Chinese and Russian."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_neuralstream.text.lexicon import (
    bases,
    content_terms,
    is_stop,
    language_of,
    script_of,
    speaks_of,
    stem,
    terms,
)

ANY_TEXT = st.text(st.characters(codec=None), max_size=300)


@given(ANY_TEXT)
def test_any_string_has_terms_without_blanks_or_quotes(text: str) -> None:
    """An index that splits at blanks gets back exactly these terms; lone surrogates and controls do no harm."""
    found = terms(text)
    assert " ".join(found).split() == found
    assert not [term for term in found if '"' in term]
    assert all(term for term in found)


@given(ANY_TEXT)
def test_terms_can_be_stored_as_utf8(text: str) -> None:
    assert [term.encode("utf-8").decode("utf-8") for term in terms(text)] == terms(text)


@given(ANY_TEXT)
def test_content_terms_are_the_terms_without_the_stop_words(text: str) -> None:
    assert content_terms(text) == [term for term in terms(text) if not is_stop(term)]


@given(st.text(st.characters(max_codepoint=127)))
def test_plain_ascii_reads_the_same_by_the_short_way_as_beside_a_letter_that_needs_the_long_one(text: str) -> None:
    assert terms(f"{text} ж") == [*terms(text), "ж"]


@given(st.lists(ANY_TEXT, max_size=6), st.sampled_from(" \n\t\u3000\u00a0"))
def test_no_term_reaches_over_a_space(texts: list[str], space: str) -> None:
    assert terms(space.join(texts)) == [term for text in texts for term in terms(text)]


@given(st.text(max_size=100), st.text(max_size=100))
def test_the_terms_of_two_lines_are_the_terms_of_each(first: str, second: str) -> None:
    assert terms(f"{first}\n\n{second}") == terms(first) + terms(second)


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("She keeps her paintings in boxes", "painted box"),
        ("Мы переехали в большую квартиру", "квартиры"),
        ("ёлка стоит у окна", "елки"),
        ("Caroline's café", "caroline cafe"),
        ("the setting max_gems_injected", "gems"),
        ("call parseHttpEvent first", "event"),
        ("equity of 3,884.55 dollars", "3884.55"),
        ("released on 2026-03-18", "2026-03-18"),
        ("ＦＵＬＬＷＩＤＴＨ", "fullwidth"),
        ("我有一只黑猫", "猫"),
        ("请在Discord里面配置消息", "discord 配置"),
        ("C++ and node.js", "c++ node.js"),
        ("I met Peter at the fair", "meet Peter"),
        ("She bought a lamp and sold the sofa", "buy sell"),
        ("We flew to Porto, he took the train", "fly take"),
        ("Where do the children keep the mice?", "child kept mouse"),
        ("Anna wore red, drove home, wrote a letter and paid", "wear drive write pay"),
        ("I left my keys", "leave keys"),
        ("turn left at the church", "left"),
        ("Я нашла ключи и пришёл домой", "найти прийти"),
        ("Дети взяли зонт", "ребёнок"),
        ("Я возьму зонт, он поедет сам", "взять поехать"),
    ],
)
def test_what_was_written_is_found_by_what_is_asked(written: str, asked: str) -> None:
    assert set(terms(asked)) <= set(terms(written))


@pytest.mark.parametrize("words", [("range", "ring"), ("food", "feed"), ("rose", "rise"), ("еда", "ехать"), ("село", "сесть"), ("wound", "wind")])
def test_words_of_their_own_are_not_led_to_another(words: tuple[str, str]) -> None:
    assert terms(words[0]) != terms(words[1])


def test_a_form_leads_to_its_word_in_one_step_and_a_word_to_itself() -> None:
    """So an index that knows a form by its stem can be led over to the words term by term."""
    assert bases()
    assert not bases().keys() & set(bases().values())
    assert all(is_stop(base) == is_stop(form) or base in {"go", "know", "mean", "сказа"} for form, base in bases().items())


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("What is the name of my cat?", {"name", "cat"}),
        ("Как зовут мою кошку?", {"зовут", "кошк"}),
        ("我的猫叫什么名字？", {"猫", "名字"}),
        ("When did she go there?", set()),
        ("Что это было?", set()),
        ("这是什么？", set()),
    ],
)
def test_a_question_is_reduced_to_what_it_is_about(question: str, about: set[str]) -> None:
    found = set(content_terms(question))
    assert about <= found
    assert bool(found) == bool(about)


@pytest.mark.parametrize(
    ("text", "language", "script"),
    [
        ("The cat is asleep", "en", "latin"),
        ("Кошка спит", "ru", "cyrillic"),
        ("Кішка спить і їсть", "uk", "cyrillic"),
        ("猫在睡觉", "zh", "cjk"),
        ("ねこは寝ている", "ja", "cjk"),
        ("고양이가 잔다", "ko", "cjk"),
        ("Die Katze schläft und ich nicht", "de", "latin"),
        ("我用 TypeScript 写代码，很喜欢", "zh", "cjk"),
        ("القط نائم", "ar", "other"),
        ("12345 !?", "", "other"),
        ("", "", "other"),
    ],
)
def test_language_and_script_are_told(text: str, language: str, script: str) -> None:
    assert (language_of(text), script_of(text)) == (language, script)


@pytest.mark.parametrize(
    ("text", "of_self", "of_other"),
    [
        ("I painted a sunrise", True, False),
        ("Your painting is great!", False, True),
        ("Я нарисовала закат", True, False),
        ("Твоя картина прекрасна", False, True),
        ("我画了日出，你呢？", True, True),
        ("The train was late", False, False),
    ],
)
def test_whom_a_message_speaks_of_is_told(text: str, of_self: bool, of_other: bool) -> None:
    assert speaks_of(text) == (of_self, of_other)


def test_stems_are_the_same_from_many_threads() -> None:
    """A Snowball stemmer keeps the word it works on in itself: shared without a lock it mixes words up."""
    words = [f"{word}{ending}" for word in ("walk", "paint", "record", "build") for ending in ("ing", "ed", "s", "ers")]
    words += ["квартирами", "переездов", "записывала"] * 4
    expected = [stem(word) for word in words]
    wrong: list[list[str]] = []

    def work() -> None:
        for _ in range(50):
            stem.cache_clear()
            found = [stem(word) for word in words]
            if found != expected:
                wrong.append(found)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert wrong == []
