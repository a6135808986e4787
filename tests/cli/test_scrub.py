"""`neuralstream admin scrub` as people run it: due after a rule was added, done once, nothing of it left."""

from __future__ import annotations

import json

from tests.cli.conftest import Cli

BADGE = "B-774193-QXZJ"


def test_a_rule_that_is_added_makes_a_scrub_due_and_the_scrub_takes_out_what_it_knows(cli: Cli) -> None:
    cli.tell(f"We decided that Anna uses the badge {BADGE} for the data centre.", "Спасибо.")
    assert "scrub due" not in cli.ok("status")
    cli.ok("config", "set", "secret_patterns", r"badge: B-\d{6}-[A-Z]{4}")
    assert "neuralstream admin scrub" in cli.ok("status")
    assert "neuralstream admin scrub" in cli("doctor").output
    assert "badge" in cli.ok("admin", "scrub", "--dry-run")
    receipt = json.loads(cli.ok("admin", "scrub", "--json"))
    assert receipt["found"]["turns"] == {"badge": 1}
    assert "scrub due" not in cli.ok("status")
    assert json.loads(cli.ok("admin", "scrub", "--json"))["changed"] == {}
    cli.ok("admin", "stop")
    held = [path for path in cli.state.path.rglob("*") if path.is_file() and b"774193" in path.read_bytes()]
    assert held == []


def test_a_bad_rule_is_refused_with_the_reason(cli: Cli) -> None:
    result = cli("config", "set", "secret_patterns", r"all: \w+")
    assert result.exit_code == 1
    assert "ordinary words" in result.output
