"""Items of other capture layers: the forms that are known, the ones that are not, and how messages become turns."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_neuralstream import capture
from openclaw_neuralstream.capture.foreign import Piece, event_of, read_piece, turns_of
from openclaw_neuralstream.settings import Settings

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
NINE = round(NOW.timestamp() * 1000)


def piece(ref: str = "1", **item: Any) -> Piece | None:
    return read_piece(ref, json.dumps(item).encode())


def said(item: dict[str, Any] | bytes) -> list[tuple[str, str]]:
    read = read_piece("1", item if isinstance(item, bytes) else json.dumps(item).encode())
    return [(m["role"], m["content"]) for m in read.messages] if read else []


TURN = [("user", "Where is it?"), ("assistant", "In the cellar.")]


@pytest.mark.parametrize(
    "item",
    [
        {"user": "Where is it?", "assistant": "In the cellar."},
        {"user_message": "Where is it?", "ai_response": "In the cellar.", "turn": 3},
        {"prompt": "Where is it?", "response": "In the cellar.", "user_id": "rob"},
        {"messages": [{"role": "human", "content": "Where is it?"}, {"role": "ai", "text": "In the cellar."}]},
        {"conversation": [{"speaker": "user", "text": "Where is it?"}, {"speaker": "bot", "message": "In the cellar."}]},
    ],
)
def test_a_turn_in_one_item_is_read_in_many_forms(item: dict[str, Any]) -> None:
    assert said(item) == TURN
    assert read_piece("1", json.dumps(item).encode()).whole  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"role": "user", "content": "你好"}, ("user", "你好")),
        ({"role": "Assistant", "text": "Привет"}, ("assistant", "Привет")),
        ({"speaker": "human", "message": "Hello"}, ("user", "Hello")),
        ({"type": "ai", "body": "Hello"}, ("assistant", "Hello")),
        ({"role": "tool", "content": "12 files", "name": "ls"}, ("toolResult", "12 files")),
    ],
)
def test_a_message_in_one_item_is_read_in_many_forms(item: dict[str, Any], expected: tuple[str, str]) -> None:
    assert said(item) == [expected]


@pytest.mark.parametrize(
    "data",
    [b"", b"plain words", b"[1, 2]", b"42", b"null", b"\xff\xfe", b'{"a": 1}', b'{"role": "user"}', b'{"role": "alien", "content": "x"}',
     b'{"role": "user", "content": "  "}', b'{"messages": [{"role": "user"}]}', b'{"role": "user", "content": 7}', b"[" * 100_000],
)  # fmt: skip
def test_what_is_of_no_known_shape_is_nothing(data: bytes) -> None:
    assert read_piece("1", data) is None


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["role", "content", "user", "assistant", "messages", "timestamp", "session", "data"]) | st.text(), inner)))
def test_nothing_that_stands_in_a_list_breaks_the_reader(value: Any) -> None:
    read = read_piece("1", json.dumps(value).encode())
    if read is not None:
        event = event_of(turns_of([read])[0], source="mem:rob", agent="main", owners=(), now=NOW)
        capture.read_turn(event, now=NOW, settings=Settings())
    if isinstance(value, dict):
        read_piece("1", value)


@pytest.mark.parametrize(
    "time", ["2026-11-21T09:00:00Z", "2026-11-21T10:00:00+01:00", NINE, NINE / 1000, NINE * 1000, str(NINE // 1000)]
)
def test_times_are_read_in_the_usual_units(time: Any) -> None:
    assert piece(role="user", content="x", timestamp=time).at == NINE  # type: ignore[union-attr]


@pytest.mark.parametrize("time", [None, "", "yesterday", True, -5, 1e30, [], {}])
def test_a_time_that_is_none_is_left_out(time: Any) -> None:
    assert piece(role="user", content="x", timestamp=time).at == 0  # type: ignore[union-attr]


def messages(*words: str, session: str = "s", times: bool = True) -> list[Piece]:
    roles = {"u": "user", "a": "assistant", "t": "tool"}
    made = [
        piece(str(n), role=roles[word[0]], content=word, session=session, **({"timestamp": NINE + 1000 * n} if times else {}))
        for n, word in enumerate(words)
    ]
    return [one for one in made if one is not None]


def grouped(pieces: list[Piece]) -> list[tuple[list[str], bool]]:
    return [([m["content"] for p in heard.pieces for m in p.messages], heard.complete) for heard in turns_of(pieces)]


def test_messages_become_turns_and_the_last_may_still_grow() -> None:
    assert grouped(messages("u1", "a1", "u2", "t2", "a2", "u3")) == [
        (["u1", "a1"], True),
        (["u2", "t2", "a2"], True),
        (["u3"], False),
    ]


def test_a_list_written_newest_first_is_turned_round() -> None:
    assert grouped(list(reversed(messages("u1", "a1", "u2", "a2")))) == [(["u1", "a1"], True), (["u2", "a2"], False)]


def test_two_sessions_that_alternate_are_two_conversations() -> None:
    one, two = messages("u1", "a1", session="one"), messages("u2", "a2", session="two")
    assert [words for words, _ in grouped([one[0], two[0], one[1], two[1]])] == [["u1", "a1"], ["u2", "a2"]]


def spoken(*lines: tuple[str, str, str]) -> list[Piece]:
    made = [
        piece(str(n), role=role, content=words, session="team", timestamp=NINE + 1000 * n, **({"user_id": user} if user else {}))
        for n, (role, user, words) in enumerate(lines)
    ]
    return [one for one in made if one is not None]


def kept(pieces: list[Piece]) -> list[tuple[str, str, list[str]]]:
    """Whose memory each turn goes to, whose words they are, and the words."""
    turns = [
        capture.read_turn(event_of(heard, source="mem:rob", agent="main", owners=(), now=NOW), now=NOW, settings=Settings())
        for heard in turns_of(pieces)
    ]
    return [
        (turn.scope.user, turn.utterances[0].speaker, [u.text for u in turn.utterances])
        for turn in turns
        if not isinstance(turn, capture.Skipped)
    ]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("Can we move lunch?", "My salary account is at Sparkasse and I am allergic to penicillin."),
        ("Можем перенести обед?", "Зарплата у меня в Сбербанке, и у меня аллергия на пенициллин."),
        ("午饭可以改时间吗？", "我的工资卡在招商银行，我对青霉素过敏。"),
    ],
)
def test_two_people_in_one_session_are_two_turns_each_in_its_own_memory(asked: str, told: str) -> None:
    heard = spoken(("user", "rob", asked), ("user", "mallory", told), ("assistant", "", "Noted."))
    assert kept(heard) == [("owner", "owner", [asked]), ("capture:mallory", "third-party", [told, "Noted."])]


def test_who_is_not_named_is_not_the_stranger_who_spoke_before() -> None:
    heard = spoken(("user", "mallory", "I pay with cash."), ("user", "", "I pay by card."), ("assistant", "", "Noted."))
    assert [(whose, words) for whose, _, words in kept(heard)] == [
        ("capture:mallory", ["I pay with cash."]),
        ("owner", ["I pay by card.", "Noted."]),
    ]


def test_an_answer_goes_to_whom_it_names() -> None:
    heard = spoken(
        ("user", "rob", "Where is my contract?"), ("user", "mallory", "Hello."), ("assistant", "rob", "In the blue folder."), ("assistant", "mallory", "Hi.")
    )
    assert [words for _, _, words in kept(heard)] == [["Where is my contract?", "In the blue folder."], ["Hello.", "Hi."]]


def test_the_turns_of_two_people_may_both_still_grow() -> None:
    heard = turns_of(spoken(("user", "rob", "Where is it?"), ("user", "mallory", "Hello.")))
    assert [one.complete for one in heard] == [False, False]


def test_the_same_item_has_the_same_identity_whenever_it_is_read() -> None:
    first, again, other = piece("1", role="user", content="x", turn=1), piece("9", role="user", content="x", turn=1), piece(role="user", content="x", turn=2)
    assert (first and first.identity) == (again and again.identity)
    assert (first and first.identity) != (other and other.identity)


@pytest.mark.parametrize(
    ("user", "owners", "speaker", "whose"),
    [("", (), "owner", "owner"), ("rob", (), "owner", "owner"), ("eve", (), "third-party", "capture:eve"), ("eve", ("eve",), "owner", "owner")],
)
def test_the_owner_is_whom_the_list_is_named_after_or_who_is_named(user: str, owners: tuple[str, ...], speaker: str, whose: str) -> None:
    read = piece(role="user", content="The key is under the mat", user_id=user)
    assert read
    event = event_of(turns_of([read])[0], source="mem:rob", agent="main", owners=owners, now=NOW)
    turn = capture.read_turn(event, now=NOW, settings=Settings())
    assert not isinstance(turn, capture.Skipped)
    assert (turn.utterances[0].speaker, turn.scope.user, turn.scope.agent) == (speaker, whose, "main")


def test_secrets_of_an_item_do_not_reach_the_turn() -> None:
    token = "ghp_" + "a1B2" * 9
    read = piece(user=f"my token is {token}", assistant="noted")
    assert read
    turn = capture.read_turn(event_of(turns_of([read])[0], source="k", agent="main", owners=(), now=NOW), now=NOW, settings=Settings())
    assert not isinstance(turn, capture.Skipped)
    assert token not in turn.utterances[0].text
