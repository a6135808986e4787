"""What the judge says of a gem beside its neighbours: dropped, the same, in the place of another, or new."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from openclaw_neuralstream.judgement import GemJudge
from openclaw_neuralstream.model import Gem, Origin, Scope, Turn, Utterance
from openclaw_neuralstream.ports import Neighbour
from tests.values import NOW, SESSION, gem

PORT = "The staging database listens on port 5433."
OTHER_PORT = "The staging database listens on port 5544."
LATER = NOW + timedelta(hours=1)


def near(stored: Gem, *, cosine: float | None = None) -> Neighbour:
    return Neighbour(stored, NOW, NOW, cosine)


def others(name: str, content: str) -> Gem:
    return gem(name, content, origin=Origin.UNTRUSTED, speaker="third-party")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("ok thanks", "small talk"),
        ("Спасибо большое!", "small talk"),
        ("好的", "small talk"),
        ('{"status": 200, "ok": true}', "the output of a tool"),
    ],
)
def test_what_says_nothing_is_dropped_with_its_reason(content: str, why: str) -> None:
    assert GemJudge()(gem("g", content), NOW, []).why == why


def test_a_guess_of_the_agent_is_not_the_owners_word_unless_the_owner_says_yes() -> None:
    def judged(answer: str) -> str:
        said = (
            Utterance("agent", Origin.AGENT, "You probably host the blog on Netlify with Hugo.", NOW),
            Utterance("owner", Origin.OWNER, answer, NOW),
        )
        turn = Turn("t", Scope("main"), SESSION, NOW, said)
        return GemJudge({"t": turn})(
            gem("g", "The blog is hosted on Netlify with Hugo.", evidence=("t",)), NOW, []
        ).outcome

    assert (judged("What is the weather?"), judged("Yes, exactly.")) == ("dropped", "new")


def test_the_owner_replaces_anybody_and_nobody_replaces_the_owner() -> None:
    mine, theirs = gem("mine", PORT), others("theirs", PORT)
    assert GemJudge()(gem("g", OTHER_PORT), LATER, [near(mine), near(theirs)]).replaces == (
        ("mine", "another port"), ("theirs", "another port"),
    )  # fmt: skip
    assert GemJudge()(others("g", OTHER_PORT), LATER, [near(mine)]).replaces == ()


def test_hearsay_and_guesses_replace_nothing() -> None:
    for content in (
        "Bob says that the staging database listens on port 5555.",
        "Говорят, порт 5555.",
        "Maybe the staging database listens on port 5555.",
    ):
        assert GemJudge()(gem("g", content), LATER, [near(gem("old", PORT))]).replaces == ()


def test_an_echo_is_dropped_and_the_owners_own_word_confirms() -> None:
    echo = gem("g", PORT, origin=Origin.AGENT, speaker="agent")
    assert GemJudge()(echo, LATER, [near(gem("old", PORT))]).outcome == "dropped"
    confirmed = GemJudge()(gem("g", PORT), LATER, [near(others("old", PORT))])
    assert (confirmed.outcome, confirmed.replaces) == ("new", (("old", "the owner's own word"),))


def test_what_was_said_earlier_never_wins_whenever_it_arrives() -> None:
    late = GemJudge()(gem("g", OTHER_PORT), NOW - timedelta(days=1), [near(gem("newer", PORT))])
    assert (late.replaces, late.replaced_by) == ((), (("newer", "another port"),))


def test_a_model_may_name_what_is_replaced_only_about_the_same_matter() -> None:
    old, far = gem("old", "Anna leads the design team."), gem("far", "The cat is called Tofu.")
    judge = GemJudge(named={"g": ("old", "far")})
    judged = judge(gem("g", "Boris is head of design."), LATER, [near(old, cosine=0.7), near(far, cosine=0.1)])
    assert judged.replaces == (("old", "the model says so"),)


def test_other_scopes_are_never_met() -> None:
    for scope in (Scope("other"), Scope("main", "guest"), Scope("main", project="red")):
        stored = replace(gem("old", PORT), scope=scope)
        assert GemJudge()(gem("g", OTHER_PORT), LATER, [near(stored)]).outcome == "new"
        assert GemJudge()(gem("g", PORT), LATER, [near(stored)]).same_as == ""
