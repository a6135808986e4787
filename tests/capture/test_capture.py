"""Turns and queries from the host's events: whose words, without what others put in, never an error but BadRequest."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_neuralstream import capture
from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.model import Origin, Query, Turn, Usage
from openclaw_neuralstream.settings import Settings
from tests.worlds import answered, prompt_event, turn_event

CASES = sorted((Path(__file__).parents[1] / "data" / "capture").glob("*.json"))
NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def read(event: Any, **settings: Any) -> Turn | capture.Skipped:
    return capture.read_turn(event, now=NOW, settings=Settings(**settings))


def turn_of(event: Any, **settings: Any) -> Turn:
    turn = read(event, **settings)
    assert isinstance(turn, Turn), turn
    return turn


def query_of(event: Any, **settings: Any) -> Query | capture.Skipped:
    return capture.read_query(event, now=NOW, settings=Settings(**settings))


# --- recorded forms ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_turn_is_read_as_its_people_meant_it(path):
    case = json.loads(path.read_text(encoding="utf-8"))
    turn = read(case["event"])
    expected = case["expected"]
    if isinstance(expected, dict):
        assert turn == capture.Skipped(expected["skipped"])
    else:
        assert isinstance(turn, Turn)
        assert [[u.speaker, u.text] for u in turn.utterances] == expected


# --- identity ------------------------------------------------------------------------------------------------------------


def test_the_same_event_twice_is_one_turn():
    event = turn_event("I moved to Graz", run="run-7")
    later = {**event, "messages": [*event["messages"], answered("and more")]}
    assert turn_of(event).turn_id == turn_of(event).turn_id == turn_of(later).turn_id


def test_turns_of_different_runs_sessions_and_agents_differ():
    events = [
        turn_event("hello there", run="a"),
        turn_event("hello there", run="b"),
        turn_event("hello there", run="a", key="agent:main:other"),
        turn_event("hello there", run="a", agent="work"),
    ]
    assert len({turn_of(event).turn_id for event in events}) == 4


def test_without_a_run_time_and_text_tell_turns_apart():
    def without_run(text: str, at: int) -> dict[str, Any]:
        event = turn_event(text, at=at)
        return {name: value for name, value in event.items() if name != "run_id"}

    first, again, later, other = (
        turn_of(without_run(text, at)).turn_id
        for text, at in [("hello there", 1_000), ("hello there", 1_000), ("hello there", 2_000), ("bye", 1_000)]
    )
    assert first == again
    assert len({first, later, other}) == 3


def test_a_query_knows_the_turns_of_its_window():
    turn = turn_of(turn_event("I moved to Graz", run="run-9"))
    query = query_of(prompt_event("where do I live?", window_runs=["run-9", "run-8"]))
    assert isinstance(query, Query)
    assert turn.turn_id in query.window_turns


# --- scope and trust -----------------------------------------------------------------------------------------------------


def test_another_persons_turn_is_of_their_own_memory_and_not_trusted():
    bob = {"id": "42", "owner": False, "name": "Bob"}
    turn = turn_of(turn_event("the budget is 500 euros", sender=bob, channel="telegram"))
    assert (turn.scope.user, turn.utterances[0].origin, turn.utterances[0].name) == ("telegram:42", Origin.UNTRUSTED, "Bob")


def test_the_same_number_on_two_channels_is_two_people():
    bob = {"id": "42", "owner": False}
    users = {turn_of(turn_event("hello there", sender=bob, channel=name)).scope.user for name in ("telegram", "discord")}
    assert users == {"telegram:42", "discord:42"}


@pytest.mark.parametrize(("channel", "user"), [("telegram", "telegram:42"), ("webchat", "owner"), ("", "owner")])
def test_whom_the_host_does_not_call_the_owner_is_a_stranger_where_others_can_write(channel: str, user: str):
    unknown = {"id": "42", "owner": None}
    query = query_of(prompt_event("what is the alarm code?", sender=unknown, channel=channel))
    assert isinstance(query, Query)
    assert query.scope.user == user


def test_nobody_can_name_themselves_the_owner():
    turn = turn_of(turn_event("hello there", sender={"id": "owner", "owner": False}))
    assert turn.scope.user != "owner"


def test_other_people_can_be_left_out_by_a_setting():
    event = turn_event("the budget is 500 euros", sender={"id": "tg:42", "owner": False})
    assert read(event, capture_third_parties=False) == capture.Skipped("third-party")


def test_capture_and_injection_can_be_switched_off():
    assert read(turn_event("hello there"), capture=False) == capture.Skipped("disabled")
    assert query_of(prompt_event("hello there"), inject=False) == capture.Skipped("disabled")


def test_tool_results_are_kept_in_brief_and_not_trusted():
    event = turn_event("list it")
    event["messages"].insert(1, {"role": "toolResult", "toolName": "exec", "content": "line of output\n" * 1_000})
    tool = next(u for u in turn_of(event).utterances if u.speaker == "tool")
    assert len(tool.text) < 500
    assert (tool.origin, tool.name) == (Origin.UNTRUSTED, "exec")


# --- size, form, time ----------------------------------------------------------------------------------------------------


def test_a_turn_of_a_megabyte_is_kept_whole_under_the_limit():
    text = "слово и дело " * 80_000
    assert turn_of(turn_event(text)).utterances[0].text == text.strip()


def test_a_turn_over_the_limit_loses_the_middle_of_its_longest_words(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("openclaw_neuralstream.capture.turn.MAX_TURN_CHARS", 5_000)
    event = turn_event("short question", "answer " * 10_000)
    turn = turn_of(event)
    assert turn.utterances[0].text == "short question"
    assert 4_000 < len(turn.utterances[1].text) < 5_100
    assert "characters cut" in turn.utterances[1].text


def test_a_secret_at_the_cut_does_not_leave_half_of_itself():
    secret = "gh" + "p_" + "a1B2" * 9
    event = turn_event("run")
    event["messages"].insert(
        1, {"role": "toolResult", "toolName": "exec", "content": "x" * 280 + " " + secret + " " + "y" * 300}
    )
    assert "a1B2" not in "".join(u.text for u in turn_of(event).utterances)


def test_a_thousand_blocks_without_end_are_stripped_in_time():
    text = "<relevant-memories>" * 50_000 + "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>" * 20_000
    assert capture.strip_injected(text) == ""


def test_lone_surrogates_survive():
    assert turn_of(turn_event("half a pair \ud83d here")).utterances[0].text == "half a pair \ud83d here"


@pytest.mark.parametrize("at", [None, "yesterday", -1, 1e300, True, [], float("nan")])
def test_a_time_that_is_none_becomes_now(at):
    event = turn_event("hello there", at=at)
    assert turn_of(event).at == NOW


def test_times_of_messages_are_kept():
    event = turn_event("hello there")
    event["messages"][0]["timestamp"] = 1_795_257_479_201
    assert turn_of(event).at == datetime(2026, 11, 21, 10, 37, 59, 201000, tzinfo=UTC)


# --- queries -------------------------------------------------------------------------------------------------------------


def test_a_query_has_the_message_and_the_dialogue_before_it():
    dialogue = [
        {"role": "user", "text": "I like tea"},
        {"role": "assistant", "text": "Noted."},
        {"role": "user", "text": "and cake"},
    ]
    query = query_of(
        prompt_event("[Sat 2026-11-21 08:51 UTC] what shall I drink?", dialogue=dialogue), recall_dialogue_turns=2
    )
    assert isinstance(query, Query)
    assert (query.text, query.dialogue) == ("what shall I drink?", ("Noted.", "and cake"))


def test_a_query_never_asks_with_what_was_injected_or_secret():
    dialogue = [{"role": "assistant", "text": "<neuralstream-memory>lives in Graz</neuralstream-memory>"}]
    query = query_of(prompt_event("my password is hunter22, where do I live?", dialogue=dialogue))
    assert isinstance(query, Query)
    assert (query.text, query.dialogue) == ("my password is [redacted:password], where do I live?", ())


def test_a_pasted_book_becomes_a_short_question():
    query = query_of(prompt_event("summarise: " + "chapter " * 100_000))
    assert isinstance(query, Query)
    assert len(query.text) < 9_000


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (prompt_event("ping", trigger="heartbeat"), "heartbeat"),
        (prompt_event("[cron:1 x] report", trigger="cron"), "cron"),
        (prompt_event("Pre-compaction memory flush. Store durable memories only in …"), "memory"),
        (prompt_event(""), "empty"),
        (prompt_event("<relevant-memories>x</relevant-memories>"), "empty"),
    ],
)
def test_prompts_that_no_person_wrote_ask_for_nothing(event, reason):
    assert query_of(event) == capture.Skipped(reason)


def test_a_sub_agent_is_asked_by_its_bare_task():
    prompt = "[Subagent Context] You are running as a subagent.\n\n[Subagent Task]\n\nLook up lavender\n\nBegin. Execute the assigned task to completion."
    query = query_of(prompt_event(prompt, key="agent:main:subagent:9c05", sender=None))
    assert isinstance(query, Query)
    assert query.text == "Look up lavender"


# --- usage ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"tokens": 64_000, "context_window": 128_000}, Usage(64_000, 128_000)),
        ({"tokens": None, "context_window": 128_000}, Usage(0, 128_000)),
        ({"tokens": -5, "context_window": 10.7}, Usage(0, 10)),
        (None, None),
        ({}, None),
    ],
)
def test_usage_is_read_where_the_host_tells_it(usage, expected):
    assert capture.read_usage(turn_event("x", usage=usage)) == expected


# --- malformed -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        {"agent": None},
        {"agent": ""},
        {"agent": 7},
        {"session_key": None},
        {"messages": "hello"},
        {"messages": ["hello"]},
        {"messages": {"role": "user"}},
        {"sender": "bob"},
        {"sender": {"id": 7}},
        {"sender": {"id": "x", "owner": "yes"}},
        {"provenance": [1]},
        {"run_id": 7},
        {"project": ["x"]},
    ],
)
def test_what_is_not_of_the_form_is_a_bad_request(change):
    with pytest.raises(BadRequest):
        read({**turn_event("hello there"), **change})


@pytest.mark.parametrize("event", [None, [], "x", 7, {}])
def test_what_is_no_event_is_a_bad_request(event):
    with pytest.raises(BadRequest):
        read(event)
    with pytest.raises(BadRequest):
        query_of(event)
    with pytest.raises(BadRequest):
        capture.read_session(event)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
FIELDS = [
    "run_id",
    "session_id",
    "messages",
    "trigger",
    "provenance",
    "sender",
    "channel",
    "project",
    "usage",
    "at",
    "prompt",
    "dialogue",
    "window_runs",
    "window_text",
    "agent",
    "session_key",
]
MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant", "toolResult", "custom", None])},
        optional={
            "content": JSON | st.lists(st.dictionaries(st.sampled_from(["type", "text", "name"]), JSON)),
            "timestamp": JSON,
            "stopReason": JSON,
            "toolName": JSON,
            "__openclaw": JSON,
        },
    ),
    max_size=4,
)


@given(st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=8), MESSAGES, st.booleans())
def test_any_json_is_a_turn_a_skip_or_a_bad_request(extra, messages, well_formed):
    event: dict[str, Any] = {"agent": "main", "session_key": "k", "messages": messages, **extra}
    if well_formed:
        event = {**event, "agent": "main", "session_key": "k", "messages": messages}
    for reader in (read, query_of, capture.read_session, capture.read_usage):
        try:
            reader(event)
        except BadRequest:
            continue


@given(st.text(), st.text())
def test_any_text_is_captured_without_what_was_injected(before, after):
    text = f"{before}<neuralstream-memory>INJECTED</neuralstream-memory>{after}"
    assert "INJECTED" not in capture.strip_injected(text)


@given(st.text(alphabet="<>/nrelevant-memoris \n·[]", max_size=200))
def test_stripping_twice_changes_nothing_more(text):
    once = capture.strip_injected(text)
    assert capture.strip_injected(once) == once
