"""Payloads of other memories: the text is found, the speaker is not guessed up, secrets stay out, ids are derived."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_neuralstream.model import Gem, Kind, Origin, Scope
from openclaw_neuralstream.text.lines import gem_to_json, instant
from openclaw_neuralstream.transfer.exchange import gem_of, own_gem
from tests.values import NOW, gem


def read(payload: dict[str, Any], **more: Any) -> Gem:
    found = gem_of(payload, **{"collection": "kimi_memories", "point": "7", "agent": "main", "now": NOW, **more})
    assert found is not None
    return found


@pytest.mark.parametrize("name", ["content", "gem", "text", "memory", "data", "fact", "document", "page_content"])
def test_the_text_is_found_wherever_others_put_it(name: str) -> None:
    assert read({name: "Olga lives in Turku."}).content == "Olga lives in Turku."
    assert read({"metadata": {name: "Olga lives in Turku."}}).content == "Olga lives in Turku."


def test_a_curated_gem_of_another_layer_keeps_what_it_says() -> None:
    """The shape of `gems_tr`."""
    found = read(
        {"gem": "Redis holds the buffer", "context": "while choosing", "categories": ["decision", "infra"], "importance": "high",
         "confidence": 0.99, "timestamp": "2026-02-23T15:26:00Z", "conversation_id": "c-1", "turn_range": "15-16", "user_id": "rob"},
        owners=["rob"],
    )  # fmt: skip
    assert (found.kind, found.importance, found.confidence) == (Kind.DECISION, 0.85, 0.99)
    assert found.tags == ("decision", "imported", "infra")
    assert (found.source.session_id, found.source.date, found.source.turn_range) == ("c-1", "2026-02-23", "15-16")
    assert instant(found.created_at) == "2026-02-23T15:26:00Z"
    assert (found.scope.user, found.extractor.model) == ("owner", "kimi_memories")


@pytest.mark.parametrize(
    ("payload", "origin"),
    [
        ({"role": "user"}, Origin.OWNER),
        ({"role": "assistant"}, Origin.AGENT),
        ({"source_type": "inferred"}, Origin.AGENT),
        ({"source": "https://example.org/page"}, Origin.UNTRUSTED),
        ({"source_type": "web"}, Origin.UNTRUSTED),
        ({}, Origin.AGENT),
    ],
)
def test_whose_words_it_is_comes_from_the_payload_and_never_more_than_that(payload: dict[str, Any], origin: Origin) -> None:
    assert read({"text": "The lift is broken", **payload}).origin is origin


def test_another_users_words_are_never_the_owners() -> None:
    found = read({"text": "The lift is broken", "role": "user", "user_id": "eve"}, owners=["rob"])
    assert (found.scope.user, found.origin, found.speaker) == ("eve", Origin.UNTRUSTED, "third-party")
    assert read({"text": "The lift is broken", "role": "user", "user_id": "eve"}, user="owner").origin is Origin.OWNER


def test_the_id_is_derived_from_collection_and_point() -> None:
    first, again = read({"text": "one text"}), read({"text": "another text"})
    assert first.gem_id == again.gem_id
    assert len({first.gem_id, read({"text": "one text"}, point="8").gem_id, read({"text": "one text"}, collection="x").gem_id}) == 3


def test_secrets_stay_out_of_every_text() -> None:
    token = "ghp_" + "a1B2" * 9
    found = read({"text": f"the token is {token}", "summary": token, "tags": [token], "topics": token})
    assert token not in str(found)
    own = own_gem(gem_to_json(gem(content=f"the token is {token}")))
    assert own is not None
    assert token not in own.content


SECRET = "password is Tr0ub4dor&3"
TEXT_FIELDS = ("gem_id", "content", "summary", "agent", "user", "project", "speaker", "language", "batch", "session_key", "importance_reason", "superseded_by", "supersedes")


@pytest.mark.parametrize("field", [*TEXT_FIELDS, "topics", "tags", "entities", "evidence", "session_id", "turn_range", "name", "version", "model", "prompt"])
@pytest.mark.parametrize("words", [SECRET, "пароль: Tr0ub4dor&3", "密码是Tr0ub4dor&3"])
def test_no_field_of_a_gem_of_ours_brings_a_secret_in(field: str, words: str) -> None:
    payload = gem_to_json(gem(content="The NAS is in the cellar."))
    for part in (payload, payload["source"], payload["extractor"]):
        if field in part:
            part[field] = [words] if isinstance(part[field], list) else words
    found = own_gem(payload)
    assert found is not None
    assert "Tr0ub4dor" not in json.dumps(gem_to_json(found), ensure_ascii=False)


@pytest.mark.parametrize("field", ["session_id", "turn_range", "agent", "project", "user_id"])
def test_no_name_of_a_foreign_memory_brings_a_secret_in(field: str) -> None:
    assert "Tr0ub4dor" not in str(read({"text": "The NAS is in the cellar.", field: SECRET}))


def test_the_number_of_a_platform_s_user_is_no_card() -> None:
    payload = gem_to_json(gem(scope=Scope("main", "discord:6200000000000005"), speaker="6200000000000005"))
    found = own_gem(payload)
    assert found is not None
    assert (found.scope.user, found.speaker) == ("discord:6200000000000005", "6200000000000005")


def own(given: dict[str, Any], **said: Any) -> Gem:
    """A gem in our own form, as somebody else may have written it, and what the one who imports says of it."""
    found = own_gem(gem_to_json(gem(**given)), **said)
    assert found is not None
    return found


def test_what_the_one_who_imports_says_goes_before_what_the_payload_says() -> None:
    claimed = {"origin": Origin.OWNER, "speaker": "owner"}
    assert own(claimed) == gem(**claimed)
    told = own(claimed, origin=Origin.UNTRUSTED, user="eve")
    assert (told.origin, told.speaker, told.scope.user) == (Origin.UNTRUSTED, "third-party", "eve")
    assert own(claimed, vouched=False).origin is Origin.AGENT
    assert own(claimed, vouched=False, origin=Origin.OWNER).origin is Origin.OWNER
    assert own({"origin": Origin.UNTRUSTED, "speaker": "bob"}, vouched=False).speaker == "bob"
    assert own({"scope": Scope("main", "rob")}, owners=["rob"]).scope.user == "owner"


@pytest.mark.parametrize("payload", [{}, {"text": ""}, {"text": 7}, {"text": "  "}, {"metadata": "x"}, {"note": "a", "made_by": "b"}])
def test_a_payload_without_a_text_is_no_gem(payload: dict[str, Any]) -> None:
    assert gem_of(payload, collection="c", point="1", agent="main", now=NOW) is None


@pytest.mark.parametrize(("given_", "importance"), [(0.9, 0.9), (9, 0.9), (90, 0.9), ("high", 0.85), ("odd", 0.6), (None, 0.6), (True, 0.6), (-1, 0.6), (1e9, 0.6)])
def test_importance_is_brought_to_a_share(given_: Any, importance: float) -> None:
    assert read({"text": "some words", "importance": given_}).importance == importance


@pytest.mark.parametrize("time", ["2026-02-23T15:26:00Z", 1771860360, 1771860360000, "2026-02-23T16:26:00+01:00"])
def test_times_are_read_in_the_usual_units(time: Any) -> None:
    assert read({"text": "some words", "created_at": time}).created_at == datetime(2026, 2, 23, 15, 26, tzinfo=UTC)


@given(st.dictionaries(st.sampled_from(["text", "content", "tags", "importance", "created_at", "user_id", "metadata", "type", "role"]), st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))))
def test_no_payload_breaks_the_import(payload: dict[str, Any]) -> None:
    found = gem_of(payload, collection="c", point="1", agent="main", now=NOW)
    if found is not None:
        gem_to_json(found)


def test_a_gem_as_the_writer_of_gems_tr_writes_it() -> None:
    found = read(
        {"gem_text": "[Rob]: Renew the certificate of the mail server.", "category": "action", "user_id": "rob",
         "source_turns": ["71", "72"], "extracted_at": "2026-02-23T15:26:00.123456+00:00"},
        collection="gems_tr", owners=["rob"],
    )  # fmt: skip
    assert found.content == "[Rob]: Renew the certificate of the mail server."
    assert (found.kind, found.scope.user, found.source.date) == (Kind.TODO, "owner", "2026-02-23")
