"""The host's manifests are generated: they say what `plugin.toml` and the settings say, or the check fails."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from pydantic import ValidationError

from openclaw_neuralstream import manifests
from openclaw_neuralstream.root import manifest, project_root
from openclaw_neuralstream.settings import RETIRED, Settings

PROJECT = Path(__file__).resolve().parents[2]


def schema(name: str) -> dict:
    return manifests.config_schema()["properties"][name]


def test_the_manifests_in_the_repository_are_up_to_date() -> None:
    assert manifests.drift(PROJECT) == []


def test_drift_is_found_and_mended(tmp_path: Path) -> None:
    assert manifests.drift(tmp_path) == ["package.json", "openclaw.plugin.json"]
    manifests.write(tmp_path)
    assert manifests.drift(tmp_path) == []
    (tmp_path / "package.json").write_text("{}")
    assert manifests.drift(tmp_path) == ["package.json"]


def test_the_check_says_what_to_type(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(manifests, "project_root", lambda: tmp_path)
    assert manifests.main(["--check"]) == 1
    assert "run python -m openclaw_neuralstream.manifests" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())
    assert manifests.main([]) == 0
    assert manifests.main(["--check"]) == 0


def test_every_setting_and_only_settings_may_stand_in_the_hosts_config() -> None:
    allowed = manifests.config_schema()
    assert set(allowed["properties"]) == {*Settings.model_fields, *RETIRED, manifests.PYTHON_KEY}
    assert allowed["additionalProperties"] is False


def test_no_default_is_filled_in_by_the_host() -> None:
    assert all("default" not in schema(name) for name in Settings.model_fields)
    assert "(default: 5)" in schema("batch_size")["description"]


@pytest.mark.parametrize("name", sorted(Settings.model_fields))
def test_the_ranges_are_those_of_the_settings(name: str) -> None:
    for bound, step in (("minimum", -1), ("maximum", 1)):
        if bound in schema(name):
            at = schema(name)[bound]
            Settings.model_validate({name: at})
            with pytest.raises(ValidationError):
                Settings.model_validate({name: at + step})


def test_durations_and_percentages_may_be_written_with_their_unit() -> None:
    assert schema("idle_timeout")["type"] == ["number", "string"]
    assert schema("context_threshold")["type"] == ["number", "string"]
    assert schema("batch_size")["type"] == "integer"


def test_the_host_is_promised_our_tools_under_every_useful_profile() -> None:
    host = json.loads(manifests.build()["openclaw.plugin.json"])
    assert host["contracts"]["tools"] == list(manifest()["tools"].values())
    assert all(host["toolMetadata"][tool]["profiles"] == ["coding", "messaging", "full"] for tool in host["contracts"]["tools"])


def test_identity_and_version_are_the_same_everywhere() -> None:
    ours = tomllib.loads((project_root() / "plugin.toml").read_text())["plugin"]
    npm, host = (json.loads(manifests.build()[name]) for name in ("package.json", "openclaw.plugin.json"))
    assert (npm["name"], npm["version"]) == (ours["package"], ours["version"])
    assert (host["id"], host["version"]) == (ours["id"], ours["version"])


def test_what_the_archive_ships_exists() -> None:
    missing = [name for name in manifests.SHIPPED if not name.startswith("!") and not (PROJECT / name).exists()]
    assert [name for name in missing if name != "CHANGELOG.md"] == []


def test_the_manifest_names_every_event_of_the_host_that_the_bridge_listens_to() -> None:
    listened = set(re.findall(r'\bon\("(\w+)"', (PROJECT / "bridge" / "hooks.js").read_text()))
    hooks = manifest()["hooks"]
    assert listened == {*hooks["events"], *hooks["support"]}
    assert set(hooks["events"].values()) <= set(hooks["order"])
