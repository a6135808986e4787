"""`neuralstream context` and `explain --last`, as they are typed."""

from __future__ import annotations

import json

from tests.cli.conftest import Cli


def test_a_context_is_printed_counted_and_given_as_json(cli: Cli) -> None:
    cli.ok("remember", "The staging database listens on port 5433.")
    text = cli.ok("context", "which port does staging use", "--budget", "500")
    assert text.startswith("## Retrieved Context")
    assert "port 5433" in text
    numbers = cli.ok("context", "which port does staging use", "--stats-only")
    assert "1 match, 0 are new" in numbers
    assert "## Retrieved" not in numbers
    told = json.loads(cli.ok("context", "which port does staging use", "--json"))
    assert (told["message_count"], told["source"]) == (1, "memory")
    assert "context_block" not in json.loads(cli.ok("context", "staging port", "--stats-only", "--json"))


def test_nothing_remembered_is_a_success_that_says_so(cli: Cli) -> None:
    assert "Nothing is remembered" in cli.ok("context", "the boiling point of tungsten")


def test_the_last_turn_is_asked_again_in_words_and_in_json(cli: Cli) -> None:
    cli.tell("Which port does the staging database use?")
    said = cli.ok("explain", "--last")
    assert "Which port does the staging database use?" in said
    assert "What was injected then" in said
    assert (
        json.loads(cli.ok("explain", "--last", "--json"))["turn"]["number"] >= 1
    )  # others may have spoken here before


def test_words_and_a_turn_together_are_refused(cli: Cli) -> None:
    for arguments in (("explain", "--last", "staging port"), ("explain",)):
        refused = cli(*arguments)
        assert refused.exit_code == 2
        assert "one of the two" in refused.output
