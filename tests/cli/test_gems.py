"""See, mend, forget and carry away what is remembered."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from openclaw_neuralstream.text.lines import SPEC_FIELDS
from tests.cli.conftest import Cli

PORT = "The staging database listens on port 5433."
HOST = "Мы решили переехать на хостинг Hetzner."
# said in one test each: what the memory between two tests forgets must not come back by itself
BILLING = "Мы решили перенести биллинг на Postgres 16."
INVOICES = "We decided to send the invoices on Mondays."


def listed(cli: Cli, *arguments: str) -> list[dict[str, Any]]:
    gems: list[dict[str, Any]] = json.loads(cli.ok("gems", "list", "--json", *arguments))
    return gems


def contents(cli: Cli, *arguments: str) -> set[str]:
    return {gem["content"] for gem in listed(cli, *arguments)}


def test_what_is_remembered_by_hand_is_listed_and_recalled_at_once(cli: Cli) -> None:
    assert "Remembered as" in cli.ok("remember", "The staging database", "listens on port 5433.")
    assert contents(cli) == {PORT}
    assert PORT in cli.ok("recall", "which port does the staging database use")


def test_remembering_the_same_twice_is_one_gem(cli: Cli) -> None:
    for _ in range(2):
        cli.ok("remember", PORT)
    assert len(listed(cli)) == 1


def test_a_correction_says_what_it_replaced_what_stays_and_how_to_take_it_back(cli: Cli) -> None:
    cli.ok("remember", "The staging database is PostgreSQL 16 on port 5544.")
    told = cli.ok("remember", "The staging database is now on port 6000, not 5544.")
    (old,) = (gem for gem in listed(cli, "--superseded") if gem["superseded_by"])
    assert f"It replaces {old['gem_id'][:8]}: The staging database is PostgreSQL 16 on port 5544." in told
    assert "The staging database is PostgreSQL 16 on port 6000." in told
    again = json.loads(cli.ok("remember", "The staging database is now on port 6000, not 5544.", "--json"))
    assert [item["gem_id"] for item in again["replaced"]] == [old["gem_id"]]
    assert again["replaced"][0]["kept"]["content"] == "The staging database is PostgreSQL 16 on port 6000."
    undo = again["undo"].split()[1:]
    assert f"{old['gem_id'][:8]} holds again" in cli.ok(*undo)
    assert contents(cli) == {"The staging database is PostgreSQL 16 on port 5544."}


def test_a_correction_says_what_it_did_not_keep(cli: Cli) -> None:
    cli.ok("remember", "Собаку зовут Бублик, телефон +7 900 123-45-67.")
    told = json.loads(cli.ok("remember", "Собаку теперь зовут Рекс.", "--json"))
    assert [(item["kept"], item["not_kept"]) for item in told["replaced"]] == [(None, ["телефон +7 900 123-45-67"])]
    cli.ok("remember", "My vet is called Kim, phone 5551234.")
    said = cli.ok("remember", "My vet is called Lee now.")
    assert "Not kept, as it may not hold any more: phone 5551234" in said


def test_undo_takes_an_id_or_words_are_kept_but_not_both(cli: Cli) -> None:
    assert cli("remember").exit_code == 2
    assert cli("remember", "--undo", "1f3a9c20", "words").exit_code == 2


def test_importance_can_be_said_when_remembering(cli: Cli) -> None:
    cli.ok("remember", "--importance", "0.35", PORT)
    assert listed(cli)[0]["importance"] == 0.35


def test_a_secret_said_by_hand_is_redacted(cli: Cli) -> None:
    cli.ok("remember", "The deploy bot signs in to GitHub with ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5")
    assert "ghp_" not in listed(cli)[0]["content"]


def test_what_is_nothing_but_a_secret_is_not_kept_and_says_so(cli: Cli) -> None:
    refused = cli("remember", "The token is ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5")
    assert refused.exit_code != 0
    assert "it holds nothing but a secret" in refused.output
    assert "ghp_" not in refused.output
    assert listed(cli) == []


def test_an_exported_gem_has_exactly_the_fields_of_the_specification_first(cli: Cli) -> None:
    cli.ok("remember", PORT)
    assert tuple(json.loads(cli.ok("gems", "export")))[: len(SPEC_FIELDS)] == SPEC_FIELDS


def test_filters_pick_by_text_tag_session_user_and_time(cli: Cli) -> None:
    cli.tell(BILLING, key="agent:main:telegram:42")
    cli.ok("remember", PORT)
    assert contents(cli, "--text", "staging") == {PORT}
    assert contents(cli, "--tag", "by-hand") == {PORT}
    assert contents(cli, "--session", "agent:main:telegram:42") == {BILLING}
    assert contents(cli, "--user", "somebody-else") == set()
    assert contents(cli, "--since", "2001-01-01") == {PORT, BILLING}
    assert contents(cli, "--until", "2001-01-01") == set()
    assert len(listed(cli, "-n", "1")) == 1


def test_gems_are_picked_by_whom_they_name(cli: Cli) -> None:
    for text in ("We met Anna in Annapolis.", "Annapolis is far away.", "Подарок для Анны лежит в шкафу."):
        cli.ok("remember", text)
    assert contents(cli, "--entity", "Anna") == {"We met Anna in Annapolis."}
    assert contents(cli, "--entity", "Анна") == {"Подарок для Анны лежит в шкафу."}


def test_show_tells_the_words_it_was_made_from(cli: Cli) -> None:
    cli.tell(INVOICES)
    shown = cli.ok("gems", "show", listed(cli)[0]["gem_id"][:8])
    assert f"owner: {INVOICES}" in shown
    assert "agent: Noted." in shown
    assert "session agent:main:telegram:42" in shown


def test_an_edit_is_found_by_its_new_words(cli: Cli) -> None:
    cli.ok("remember", PORT)
    gem = listed(cli)[0]["gem_id"]
    cli.ok("gems", "edit", gem[:8], "--content", "The kitchen radio is tuned to Jazz FM.", "--tag", "home")
    assert contents(cli) == {"The kitchen radio is tuned to Jazz FM."}
    assert listed(cli)[0]["tags"] == ["code", "by-hand", "home"]
    assert "Jazz FM" in cli.ok("recall", "what is the kitchen radio tuned to")


def test_tags_are_added_and_removed_and_what_there_is_then_is_said(cli: Cli) -> None:
    cli.ok("remember", PORT)
    gem = listed(cli)[0]["gem_id"]
    assert "tags now: code, by-hand, home" in cli("gems", "edit", gem, "--tag", "home", "--tag", "Home").output
    assert "tags now: code, by-hand, infra" in cli("gems", "edit", gem, "--tag", "infra", "--untag", "HOME").output
    refused = cli("gems", "edit", gem, "--untag", "garden")
    assert refused.exit_code != 0
    assert "its tags: code, by-hand, infra" in refused.output
    assert listed(cli)[0]["tags"] == ["code", "by-hand", "infra"]


def test_where_gems_have_nothing_but_marks_the_tree_shows_them_and_says_what_they_are(cli: Cli) -> None:
    cli.ok("remember", PORT)
    shown = cli("tags", "list", "--tree").output
    assert "by-hand\t1" in shown
    assert "what kind of gem it is" in shown
    cli.ok("gems", "edit", listed(cli)[0]["gem_id"], "--tag", "infra/db")
    shown = cli("tags", "list", "--tree").output
    assert "infra/db\t1" in shown
    assert "by-hand" not in shown
    assert "--all shows them" not in shown  # a program gets the tags alone
    assert "2 more say what kind of gem it is; --all shows them" in cli.on_terminal(
        "tags", "list", env={"NO_COLOR": "1"}
    )


def test_forget_asks_and_a_no_changes_nothing(cli: Cli) -> None:
    cli.ok("remember", PORT)
    result = cli("gems", "forget", listed(cli)[0]["gem_id"][:8], stdin="n\n")
    assert result.exit_code == 1
    assert contents(cli) == {PORT}


def test_a_dry_run_shows_what_would_go_and_keeps_it(cli: Cli) -> None:
    cli.ok("remember", PORT)
    shown = cli.ok("gems", "forget", "--text", "staging", "--dry-run")
    assert PORT in shown
    assert "nothing was changed" in shown
    assert contents(cli) == {PORT}


def test_forgetting_by_filter_takes_only_what_was_picked(cli: Cli) -> None:
    cli.ok("remember", PORT)
    cli.ok("remember", HOST)
    cli.ok("gems", "forget", "--text", "staging", "--yes")
    assert contents(cli) == {HOST}


def test_forgetting_a_session_takes_its_turns_along_that_became_no_gem(cli: Cli) -> None:
    cli.tell("We chose the colour vermilion for the shed.", "hm", "ok xylophone", key="agent:main:signal:7")
    assert json.loads(cli.ok("gems", "forget", "--session", "agent:main:signal:7", "--yes", "--json"))["turns"] >= 1
    assert not any(b"xylophone" in path.read_bytes() for path in cli.state.path.rglob("memory.sqlite*"))


def test_forgetting_all_needs_that_word(cli: Cli) -> None:
    cli.ok("remember", PORT)
    assert cli("gems", "forget", "--yes").exit_code == 2
    assert cli("gems", "forget", "abcdefgh", "--all", "--yes").exit_code == 2
    cli.ok("gems", "forget", "--all", "--yes")
    assert contents(cli) == set()


def test_an_export_comes_back_as_it_was_in_a_memory_that_lost_it(cli: Cli, cold: Cli, tmp_path: Path) -> None:
    for text in (PORT, HOST, "我对花生过敏。"):
        cli.ok("remember", text)
    file = tmp_path / "backup.jsonl"
    cli.ok("gems", "export", str(file))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "3 gems stored" in cold.ok("gems", "import", str(file))
    before = {gem["gem_id"]: gem for gem in listed(cli)}
    assert {gem["gem_id"]: gem for gem in listed(cold)} == before
    assert "0 gems stored, 3 known" in cold.ok("gems", "import", str(file))


def test_a_json_array_is_imported_from_stdin(cli: Cli, cold: Cli) -> None:
    cli.ok("remember", PORT)
    assert json.loads(cold.ok("gems", "import", "-", "--json", stdin=cli.ok("gems", "export", "--json"))) == {
        "stored": 1,
        "known": 0,
    }


def test_a_forgotten_gem_does_not_come_back_by_import(cli: Cli, tmp_path: Path) -> None:
    cli.ok("remember", "The forgotten word is zanzibar.")
    cli.ok("gems", "export", str(tmp_path / "all.jsonl"))
    cli.ok("gems", "forget", "--all", "--yes")
    assert "0 gems stored" in cli.ok("gems", "import", str(tmp_path / "all.jsonl"))
    assert contents(cli) == set()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("not json\n", "line 1"),
        ('{"gem_id": "x"}\n', "no text was found"),
        ("[1, 2]", "not a list of memories"),
        ('{"a": 1}\n\n{"b"', "line 3"),
    ],
)
def test_a_file_that_does_not_read_is_refused_with_the_place(
    cli: Cli, tmp_path: Path, text: str, complaint: str
) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text(text)
    result = cli("gems", "import", str(file))
    assert result.exit_code == 1
    assert complaint in result.stderr


def test_an_unknown_id_is_an_error_that_says_how_to_find_ids(cli: Cli) -> None:
    result = cli("gems", "show", "deadbeef")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "neuralstream gems list" in result.stderr


def test_what_is_kept_by_hand_has_its_kind_and_an_edit_its_summary(cli: Cli) -> None:
    for text in (
        "Always answer in British English.",
        "Я предпочитаю чай с лимоном.",
        "以后请一直用中文回答。",
        "The NAS is in the cellar.",
    ):
        cli.ok("remember", text)
    kinds = {gem["content"]: gem["kind"] for gem in json.loads(cli.ok("gems", "list", "--json"))}
    assert kinds["Always answer in British English."] == "instruction"
    assert kinds["Я предпочитаю чай с лимоном."] == "preference"
    assert kinds["以后请一直用中文回答。"] == "instruction"
    assert kinds["The NAS is in the cellar."] == "fact"
    gem_id = next(gem["gem_id"] for gem in json.loads(cli.ok("gems", "list", "--json")) if "NAS" in gem["content"])
    edited = json.loads(cli.ok("gems", "edit", gem_id, "--content", "The NAS is in the attic.", "--json"))
    assert edited["summary"] == "The NAS is in the attic."
    assert "say what to change" in cli("gems", "edit", gem_id).stderr


def test_days_may_be_said_as_durations_and_are_those_of_the_list(cli: Cli) -> None:
    cli.ok("remember", "The NAS is in the cellar.")
    assert len(json.loads(cli.ok("gems", "list", "--since", "7d", "--json"))) == 1
    assert json.loads(cli.ok("gems", "list", "--until", "2020-01-01", "--json")) == []
    assert "is no day" in cli("gems", "list", "--since", "soonish").stderr


@pytest.mark.parametrize("option", ["--entity", "--text", "--tag", "--session"])
def test_an_empty_option_does_not_mean_all_gems(cold: Cli, option: str) -> None:
    result = cold("gems", "list", option, "")
    assert (result.exit_code, "it is empty" in result.stderr) == (2, True)
