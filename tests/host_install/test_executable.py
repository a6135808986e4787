"""Finding the host, running it, and putting its config back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from openclaw_neuralstream.cli.host import plugin
from openclaw_neuralstream.cli.host.install import Step, Steps
from openclaw_neuralstream.cli.host.plugin import Host, Kept, find
from openclaw_neuralstream.errors import HostError


def script(folder: Path, name: str, body: str) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def test_the_name_given_wins_over_the_environment_and_that_over_the_path(tmp_path: Path) -> None:
    for folder in ("given", "env", "path"):
        (tmp_path / folder).mkdir()
        script(tmp_path / folder, "openclaw", "exit 0")
    environ = {"PATH": str(tmp_path / "path"), "OPENCLAW_BIN": str(tmp_path / "env" / "openclaw")}
    assert find(str(tmp_path / "given" / "openclaw"), environ).command == (str(tmp_path / "given" / "openclaw"),)
    assert find("", environ).command == (environ["OPENCLAW_BIN"],)
    assert find("", {"PATH": environ["PATH"]}).command == (str(tmp_path / "path" / "openclaw"),)


def test_a_script_is_run_with_the_node_of_the_path(tmp_path: Path) -> None:
    module = tmp_path / "openclaw.mjs"
    module.write_text("")
    node = script(tmp_path, "node", "exit 0")
    assert find(str(module), {"PATH": str(tmp_path)}).command == (str(node), str(module))
    with pytest.raises(HostError, match="Node was not found"):
        find(str(module), {"PATH": ""})


def test_a_node_that_is_too_old_is_named_with_the_one_that_is_needed(tmp_path: Path) -> None:
    module = tmp_path / "openclaw.mjs"
    module.write_text("")
    old = '[ "$1" = --version ] && echo v18.20.4 && exit 0; echo "    at node:internal/modules/esm:1" >&2; exit 1'
    script(tmp_path, "node", old)
    with pytest.raises(HostError, match=r"Node 18\.20\.4 is too old: OpenClaw needs >=24\.16") as error:
        find(str(module), {"PATH": str(tmp_path)}).version()
    assert "nodejs.org" in error.value.fix


@pytest.mark.parametrize("named", ["", "/nowhere/openclaw", "/nowhere/openclaw.mjs"])
def test_what_is_not_there_is_an_error_with_a_remedy(named: str) -> None:
    with pytest.raises(HostError) as error:
        find(named, {"PATH": ""})
    assert "--openclaw" in error.value.fix


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("echo noise >&2; echo 'Error: it is full' >&2; exit 1", "Error: it is full"),
        ("""echo '{"ok": false, "error": {"message": "not today"}}'; exit 1""", "not today"),
        ("exit 3", "it failed without a word"),
    ],
)
def test_a_refusal_is_told_in_the_host_s_own_words(tmp_path: Path, body: str, words: str) -> None:
    host = Host((str(script(tmp_path, "openclaw", body)),), {})
    with pytest.raises(HostError) as error:
        host.run("plugins", "install", "x", "y")
    assert (error.value.what, error.value.where) == (words, "openclaw plugins install x")


def test_an_answer_that_is_no_json_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(HostError, match="not JSON"):
        Host((str(script(tmp_path, "openclaw", "echo hello")),), {}).ask("config", "file")


def test_a_host_that_hangs_is_given_up(tmp_path: Path) -> None:
    with pytest.raises(HostError, match=r"no answer within 0\.2 s"):
        Host((str(script(tmp_path, "openclaw", "exec sleep 60")),), {"PATH": "/usr/bin:/bin"}).run("x", timeout=0.2)


def test_several_settings_are_one_write(tmp_path: Path) -> None:
    host = Host((str(script(tmp_path, "openclaw", f'printf "%s" "$4" > {tmp_path}/written')),), {})
    plugin.set_all(host, {"a.b": True, "c": "x"})
    assert json.loads((tmp_path / "written").read_text()) == [{"path": "a.b", "value": True}, {"path": "c", "value": "x"}]


def kept(path: Path) -> Kept:
    content = path.read_bytes() if path.exists() else None
    return Kept(path, content, content)


def test_the_config_comes_back_byte_for_byte_with_its_permissions(tmp_path: Path) -> None:
    file = tmp_path / "openclaw.json"
    file.write_bytes(b"{ // mine\r\n}\n")
    file.chmod(0o600)
    before = kept(file)
    file.write_text("{}")
    before.note()
    assert before.restore() is True
    assert file.read_bytes() == b"{ // mine\r\n}\n"
    assert file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["openclaw.json"]


def test_a_config_that_others_have_written_meanwhile_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "openclaw.json"
    file.write_text("{}")
    before = kept(file)
    file.write_text('{"ours": 1}')
    before.note()
    file.write_text('{"theirs": 1}')
    assert before.restore() is False
    assert file.read_text() == '{"theirs": 1}'


def test_a_config_that_was_not_there_is_gone_again(tmp_path: Path) -> None:
    before = kept(tmp_path / "openclaw.json")
    (tmp_path / "openclaw.json").write_text("{}")
    before.note()
    assert before.restore() is True
    assert not (tmp_path / "openclaw.json").exists()


def test_no_gateway_runs_where_nobody_listens(tmp_path: Path) -> None:
    host = Host((str(script(tmp_path, "openclaw", "exit 1")),), {"OPENCLAW_GATEWAY_PORT": "9"})
    assert plugin.port(host) == 9
    assert plugin.runs(host) is False


@pytest.mark.parametrize(("said", "port"), [("18790", 18790), ("null", 18789), ('"auto"', 18789)])
def test_the_gateway_s_port_is_the_config_s_else_the_usual_one(tmp_path: Path, said: str, port: int) -> None:
    host = Host((str(script(tmp_path, "openclaw", f"echo '{said}'")),), {})
    assert plugin.port(host) == port


def test_steps_are_told_when_they_start_and_how_they_end() -> None:
    told: list[Step] = []
    steps = Steps(told.append)
    steps.run("a", "One", lambda: 7, lambda n: f"{n} things")
    steps.skip("b", "Two", "not wanted")

    def refuse() -> None:
        raise HostError("no", where="there", fix="do this")

    with pytest.raises(HostError):
        steps.run("c", "Three", refuse)
    assert [(step.name, step.state) for step in told] == [("a", "running"), ("a", "done"), ("b", "skipped"), ("c", "running"), ("c", "failed")]
    assert [(step.detail, step.fix) for step in steps.ended] == [("7 things", ""), ("not wanted", ""), ("no · there", "do this")]
