"""The labelled set is valid: what its labels name was said, in the language it claims, in its three parts at par."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.extraction.labels import EVERY, LANGUAGES, SECRETS, Conversation, Words, load, read
from benchmarks.extraction.matching import holds, script_language
from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.model import Kind
from openclaw_neuralstream.secrets import redact

ALL = load("all")
LONG = [c for c in ALL if c.categories]
NEEDED = {"work", "private", "hearsay", "sarcasm", "hypothetical", "code", "injection", "secret", "tool noise", "agent guess", "third party",
          "dates", "recurring", "correction", "correction-across"}  # fmt: skip


def somewhere(text: str, words: Words) -> bool:
    """Each of the words in one of its forms; a day that was worked out from "next Friday" is not said as such."""
    return all(any(holds(text, ((form,),)) or form.startswith("2026-") for form in forms) for forms in words)


def test_there_are_enough_of_each_language_and_part():
    assert len(LONG) >= 60
    assert len({c.name for c in ALL if c.part == "dev"}) == sum(c.part == "dev" for c in ALL)
    held = Counter(c.language for c in ALL if c.part == "heldout")
    assert sum(held.values()) >= 30
    assert max(held.values()) - min(held.values()) <= 2
    for language in LANGUAGES:
        assert {name for c in LONG if c.language == language for name in c.categories} >= NEEDED


@pytest.mark.parametrize("conversation", ALL, ids=lambda c: f"{c.part}-{c.name}")
def test_every_label_speaks_of_what_was_said(conversation: Conversation):
    said = conversation.said()
    for label in conversation.expected:
        assert set(label.kinds) <= set(Kind)
        assert all(1 <= number <= len(conversation.turns) for number in label.turns)
        assert label.on in ("", EVERY) or label.on.startswith("202")
        if label.turns:
            in_turns = "\n".join(
                s.text for n in label.turns for t in conversation.turns[max(0, n - 2) : n] for s in t.said
            )
            assert somewhere(in_turns, label.words), label
    for forbidden in conversation.forbidden:
        assert somewhere(said, forbidden.words), forbidden
        assert forbidden.why or forbidden.injected or not conversation.categories, forbidden
    for pair in conversation.replaced:
        assert somewhere(said, pair.new), pair
    assert all(secret in said for secret in conversation.secrets)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_owner_speaks_the_language_of_the_file(language: str):
    told = [c.said("owner") for c in ALL if c.language == language and "mixed language" not in c.categories]
    lines = [
        text
        for text in redact("\n".join(told)).text.splitlines()
        if len(text) > 20 and "=" not in text and "[redacted" not in text
    ]
    assert sum(script_language(text) == language for text in lines) >= 0.9 * len(lines)


def test_the_fakes_have_the_shape_of_real_secrets():
    assert all(redact(f"key {fake} end").found for fake in SECRETS.values())


def test_held_out_conversations_are_nobodys_copy():
    dev = {turn.said[0].text for c in ALL if c.part == "dev" for turn in c.turns}
    held = [turn.said[0].text for c in ALL if c.part == "heldout" for turn in c.turns if len(turn.said[0].text) > 20]
    assert not [text for text in held if text in dev]


def test_a_line_of_no_known_form_is_refused():
    with pytest.raises(BadRequest, match="of no known form"):
        read(Conversation("x", "en", "dev"), ["> hello", "? what"])
    with pytest.raises(BadRequest, match="no field"):
        read(Conversation("x", "en", "dev"), ["> hello", "+ fact: a {when 3}"])
