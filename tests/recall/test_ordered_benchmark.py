"""The benchmark of timelines, summaries and standing instructions measures what it says."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.ordered.conversations import (
    HALVES,
    KINDS,
    LANGUAGES,
    ConversationError,
    Question,
    asked,
    load,
    parse,
    shown_at,
)
from benchmarks.ordered.run import MEASURES, OURS, PLAIN, SYSTEMS, Row, measured, report, run

_SMALL = """half: dev
language: en

== 2026-03-02 09:00
> Please [s1:always answer in short sentences].
< Yes.
> We [e1:bought the boat in Kiel].
< Congratulations.

== 2026-03-09 09:00
Pia> [s2:Always answer in capital letters].
< Hello.
> We [e2:painted the hull green] this week.
< A good colour.

ask: 2026-03-20 09:00
? order | e1 e2 | In what order did we paint the hull and buy the boat?
? standing | s1 !s2 | Why is the sky blue?
"""


def test_every_language_and_half_asks_as_many_questions_of_each_kind() -> None:
    counted = Counter((c.language, c.half, q.kind) for c, q in asked(load()))
    assert counted == {(language, half, kind): 4 for language in LANGUAGES for half in HALVES for kind in KINDS}


def test_conversations_are_long_and_their_turns_in_order() -> None:
    for conversation in load():
        moments = [turn.at for turn in conversation.turns]
        assert len(moments) >= 36
        assert moments == sorted(set(moments))
        assert (conversation.asked_at - moments[0]).days >= 50


def test_each_piece_of_evidence_was_said_in_one_turn_alone_and_no_question_gives_it_away() -> None:
    for conversation in load():
        for name, words in conversation.evidence.items():
            said_in = [turn for turn in conversation.turns if shown_at(f"{turn.text} {turn.answer}", words) >= 0]
            assert len(said_in) == 1, f"{conversation.name} {name}"
            assert all(shown_at(question.text, words) < 0 for question in conversation.questions)


def test_questions_need_as_many_pieces_as_they_say_and_what_a_guest_says_must_never_stand() -> None:
    for conversation, question in asked(load()):
        least, most = {"order": (3, 6), "summary": (4, 12), "standing": (1, 1)}[question.kind]
        assert least <= len(question.needed) <= most
        if question.kind == "standing":
            guests = [turn.text for turn in conversation.turns if turn.guest]
            assert any(shown_at(guests[0], conversation.evidence[name]) >= 0 for name in question.forbidden)


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        ("? order | e1 e9 | What?", "no such kind or evidence"),
        ("? riddle | e1 | What?", "no such kind or evidence"),
        ("< To whom?", "an answer to nothing"),
        ("Whatever this is", "unknown line"),
        ("> Once more [e1:the same mark].\n< Yes.", "marked twice"),
        ("> Nobody answers.", "not whole"),
    ],
)
def test_a_file_that_is_not_of_the_form_is_refused_with_its_name_and_line(broken: str, why: str) -> None:
    with pytest.raises(ConversationError, match=f"boat:.*{why}"):
        parse("boat", f"{_SMALL}{broken}\n")


def test_words_are_found_whatever_their_case_and_the_day_put_behind_them() -> None:
    assert shown_at("Work may be done on Friday (2026-03-20), but\n before noon", "on friday, but before noon") == 17
    assert shown_at("on Friday", "on Saturday") == -1


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ({"a": 1, "b": 2, "c": 3}, (1.0, 1.0, 1.0)),
        ({"a": 3, "b": 2, "c": 1}, (1.0, 0.0, 0.0)),
        ({"a": 1, "b": -1, "c": 3}, (2 / 3, 1.0, 1 / 3)),
        ({"a": 2, "b": 1, "c": 3}, (1.0, 2 / 3, 2 / 3)),
    ],
)
def test_order_is_the_share_of_pairs_that_stand_as_they_happened(
    places: dict[str, int], expected: tuple[float, ...]
) -> None:
    found = measured(Question("order", "?", ("a", "b", "c")), places, ())
    assert tuple(found[measure] for measure in MEASURES["order"]) == pytest.approx(expected)


def test_of_one_event_alone_no_order_is_told() -> None:
    found = measured(Question("order", "?", ("a", "b")), {"a": 5, "b": -1}, ())
    assert found == {"evidence in the block": 0.5, "pairs in order, of all": 0.0}


def test_what_must_not_stand_counts_against_the_block() -> None:
    question = Question("standing", "?", ("s1",), ("s2", "s3"))
    assert measured(question, {"s1": 7}, ("s3",)) == {"stands": 1.0, "falsely there": 0.5}


def test_the_report_tells_measures_by_half_kind_language_and_system_with_intervals() -> None:
    rows = [
        Row(system, "boat", half, "en", "summary", "?", {"evidence in the block": share}, (), (), (), 10, "")
        for half, shares in (("dev", (1.0, 0.5)), ("heldout", (0.5, 0.5)))
        for system, share in zip(SYSTEMS, shares, strict=True)
    ]
    rows += [
        Row(system, "boat", "dev", "en", kind, "?", {}, (), (), (), 0, "")
        for kind in ("order", "standing")
        for system in SYSTEMS
    ]
    found = report(rows, {})["percent"]["dev"]["summary"]["evidence in the block"]["en"]
    assert found[OURS] == {"mean": 100.0, "low": 100.0, "high": 100.0, "n": 1}
    assert found[f"difference to: {PLAIN}"]["mean"] == 50.0


def test_the_whole_pipeline_answers_and_each_system_lacks_what_its_name_says() -> None:
    rows, settings = run([parse("boat", _SMALL)], lambda _: None)
    by = {(row.kind, row.system): row for row in rows}
    assert settings["extractor"] == "rules"
    assert by["order", OURS].measures["pairs in order, of all"] == 1.0
    assert "Timeline" in by["order", OURS].block
    assert "Timeline" not in by["order", PLAIN].block
    assert by["standing", OURS].measures == {"stands": 1.0, "falsely there": 0.0}
