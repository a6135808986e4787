"""`reflect` and `proposals` as people type them."""

import json
from pathlib import Path

from tests.cli.conftest import Cli

LOG = "## Retain\n- W @Peter: Keeps the key of the boathouse under the red bucket.\n- O(c=0.9) @Peter: Prefers tea.\n"


def placed(cli: Cli, tmp_path: Path) -> Path:
    """A workspace with one log, named by the settings."""
    folder = tmp_path / "ws"
    (folder / "memory").mkdir(parents=True)
    (folder / "memory" / "2026-11-18.md").write_text(LOG, encoding="utf-8")
    cli.ok("config", "set", "workspace", str(folder))
    return folder


def test_reflecting_writes_pages_and_a_proposal_is_decided_on(cold: Cli, tmp_path: Path) -> None:
    folder = placed(cold, tmp_path)
    dry = cold.ok("reflect", "--since", "ever", "--dry-run")
    assert "+- Keeps the key of the boathouse" in dry
    assert not (folder / "bank").exists()
    told = cold.ok("reflect", "--since", "ever")
    assert "bank/entities/Peter.md" in told
    assert "Keeps the key" in (folder / "bank" / "entities" / "Peter.md").read_text(encoding="utf-8")
    (waiting,) = json.loads(cold.ok("proposals", "list", "--json"))
    assert waiting["path"] == "MEMORY.md"
    assert "+- Peter: bank/entities/Peter.md" in cold.ok("proposals", "show", waiting["id"][:5])
    cold.ok("proposals", "accept", waiting["id"][:5])
    assert "- Peter: bank/entities/Peter.md" in (folder / "MEMORY.md").read_text(encoding="utf-8")
    assert json.loads(cold.ok("proposals", "list", "--json")) == []


def test_what_is_not_there_is_said_with_the_command_that_helps(cold: Cli, tmp_path: Path) -> None:
    placed(cold, tmp_path)
    result = cold("proposals", "show", "0000")
    assert result.exit_code == 1
    assert "neuralstream proposals list" in result.output
    assert "7d, 12h" in cold("reflect", "--since", "sometimes").output
    assert json.loads(cold.ok("reflect", "--dry-run", "--json"))[0]["dry_run"] is True
