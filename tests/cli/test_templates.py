"""One's own words in place of the shipped ones, tried before they are used."""

from __future__ import annotations

import json

from tests.cli.conftest import Cli


def test_a_template_becomes_ones_own_and_goes_back(cold: Cli) -> None:
    own = cold.state.templates / "gem_block.md.j2"
    assert "copied to" in cold.ok("admin", "templates", "edit", "gem_block")
    assert own.stat().st_mode & 0o777 == 0o600
    listed = {row["name"]: row["in_use"] for row in json.loads(cold.ok("admin", "templates", "list", "--json"))}
    assert (listed["gem_block"], listed["session_start"]) == ("yours", "shipped")
    own.write_text("MINE {{ records | length }}")
    assert cold.ok("admin", "templates", "show", "gem_block") == "MINE {{ records | length }}\n"
    assert cold.ok("admin", "templates", "show", "gem_block", "--rendered").startswith("MINE ")
    assert "<neuralstream-memory>" in cold.ok("admin", "templates", "show", "gem_block", "--shipped", "--rendered")
    cold.ok("admin", "templates", "reset", "gem_block")
    assert (own.exists(), own.with_name("gem_block.md.j2.old").read_text()) == (False, "MINE {{ records | length }}")


def test_a_fault_is_named_with_its_line_and_the_exit_code_says_so(cold: Cli) -> None:
    cold.state.templates.mkdir(parents=True)
    (cold.state.templates / "gem_block.md.j2").write_text("one\n{% for %}")
    result = cold("admin", "templates", "check")
    assert result.exit_code == 1
    assert "line 2" in result.stdout
    assert "templates reset NAME" in result.stderr
    (cold.state.templates / "gem_block.md.j2").write_text("{{ recrods }}")
    assert "'recrods' is undefined" in cold("admin", "templates", "check", "gem_block").stdout


def test_an_unknown_name_is_refused_with_those_there_are(cold: Cli) -> None:
    result = cold("admin", "templates", "show", "gemblock")
    assert (result.exit_code, "gem_block" in result.stderr) == (1, True)


def test_plugins_tells_from_where_and_how_long(cli: Cli) -> None:
    listed = json.loads(cli.ok("admin", "plugins", "--json"))
    assert {"name", "place", "file", "implements", "calls", "failures", "slow", "ms"} <= set(listed["plugins"][0])
    assert "turn_end" in cli.ok("admin", "plugins")
