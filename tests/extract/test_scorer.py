"""The scorer of the labelled conversations counts what it says it counts."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.extraction.conversations import Conversation, Expected, load, reading
from benchmarks.extraction.score import score
from openclaw_neuralstream.model import Draft, Kind, Origin

TALK = Conversation(
    name="en-talk",
    language="en",
    part="dev",
    turns=[
        [("owner", "I moved to Graz in May, the locker code is 4711", ""), ("agent", "Graz is sunny.", "")],
        [("third-party", "The hall holds sixty people", "Dana")],
    ],
    expected=[Expected(("fact", "event"), ("moved", "graz")), Expected(("fact",), ("hall",))],
    allowed=[("sunny",)],
    forbidden=[("locker",)],
    secrets=["4711"],
)


def draft(content: str, **changes: object) -> Draft:
    made = Draft(content, content, Kind.FACT, ("en-talk-1",), language="en")
    return replace(made, **changes)


def test_what_was_expected_counts_for_recall_and_precision():
    result = score(
        TALK,
        [
            draft("I moved to Graz in May"),
            draft("The hall holds sixty people", speaker="third-party", origin=Origin.UNTRUSTED),
        ],
    )
    assert (result.recall, result.precision, result.wrong_speaker, result.unsupported) == (1.0, 1.0, 0, 0)


def test_nothing_found_is_no_recall_and_nothing_needless():
    result = score(TALK, [])
    assert (result.recall, result.precision) == (0.0, 1.0)
    assert result.notes == ["en-talk: missed moved | graz", "en-talk: missed hall"]


def test_each_fault_is_counted_under_its_name():
    result = score(
        TALK,
        [
            draft("I moved to Graz in May"),
            draft("I moved to Graz"),
            draft("Graz is sunny", speaker="agent"),
            draft("the locker code is 4711"),
            draft("My uncle breeds llamas in Peru"),
            draft("The hall holds sixty people"),
            draft("I moved to Graz in May", language="de"),
        ],
    )
    assert result.duplicates == 2
    assert result.allowed == 1
    assert (result.forbidden, result.secrets) == (1, 1)
    assert result.unsupported == 1
    assert result.wrong_speaker == 1
    assert result.wrong_language == 1


def test_scores_add_up():
    one = score(TALK, [draft("I moved to Graz in May")])
    both = one + one
    assert (both.expected, both.found, both.conversations, both.recall) == (4, 2, 2, one.recall)


def test_every_labelled_conversation_can_be_read_and_no_label_is_impossible():
    conversations = load("all")
    assert len(conversations) >= 60
    assert len({c.name for c in conversations}) == len(conversations)
    for conversation in conversations:
        said = "\n".join(text for turn in conversation.turns for _, text, _ in turn).casefold()
        assert reading(conversation).batch.turns
        assert conversation.turns
        for secret in conversation.secrets:
            assert secret.casefold() in said
        for words in conversation.forbidden:
            assert any(word in said for word in words)
