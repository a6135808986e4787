"""Installing into a real OpenClaw: it works afterwards, or nothing has changed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "host"))

from openclaw_host import node
from openclaw_host.gateway import Host
from openclaw_host.model import Reply

pytestmark = [
    pytest.mark.host,
    pytest.mark.timeout(900),
    pytest.mark.skipif(node.node() is None or node.openclaw() is None, reason="needs Node and OpenClaw: make host"),
]
NEURALSTREAM = [sys.executable, "-m", "openclaw_neuralstream"]


@pytest.fixture
def host() -> Iterator[Host]:
    """A host that has never heard of us, and nothing that helps it to find our Python."""
    yield from stranger()


@pytest.fixture(scope="module")
def served() -> Iterator[Host]:
    """A host into which we were installed; each test leaves it as it found it."""
    for fresh in stranger():
        run(fresh, "install", "--no-canary")
        yield fresh


def stranger() -> Iterator[Host]:
    with Host(plugin=False) as fresh:
        fresh.env.pop("NEURALSTREAM_PYTHON", None)
        fresh.env["OPENCLAW_BIN"] = fresh.command()[1]
        yield fresh


def run(host: Host, *arguments: str, code: int = 0, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    environ = {**host.env, "NEURALSTREAM_OLLAMA_URL": "http://127.0.0.1:9", **(env or {})}
    done = subprocess.run([*NEURALSTREAM, *arguments], env=environ, cwd=host.folder, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def config(host: Host) -> dict[str, Any]:
    return dict(json.loads((host.state / "openclaw.json").read_text()))


def steps(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    return {step["step"]: step["state"] for step in json.loads(done.stdout)["steps"]}


def break_bridge(folder: Path) -> dict[str, str]:
    """An installation of ours whose bridge does not load: what a bad release would be."""
    package = Path(__file__).resolve().parents[2]
    for name in ("openclaw_neuralstream", "hooks", "templates", "bridge", "plugin.toml", "package.json", "openclaw.plugin.json"):
        (folder / name).symlink_to(package / name)
    (folder / "bridge").unlink()
    (folder / "bridge").mkdir()
    (folder / "bridge" / "index.js").write_text("export default { id: 'neuralstream', register(api) { throw new Error('as scripted'); } };\n")
    copied = folder / "openclaw_neuralstream"
    copied.unlink()
    subprocess.run(["cp", "-r", str(package / "openclaw_neuralstream"), str(copied)], check=True)
    return {"PYTHONPATH": str(folder)}


def test_one_command_installs_verifies_and_proves_it_and_another_takes_it_out_again(host: Host) -> None:
    before = config(host)
    installed = run(host, "install", "--json")
    assert set(steps(installed).values()) == {"done"}
    assert {"verify", "seen", "forget"} <= set(steps(installed))
    entry = config(host)["plugins"]["entries"]["neuralstream"]
    assert entry["hooks"]["allowConversationAccess"] is True
    assert entry["config"]["python"] == sys.executable
    staged = {path.name for path in (host.state / "extensions" / "neuralstream").iterdir()}
    assert staged == {"package.json", "openclaw.plugin.json", "bridge"}
    assert json.loads(run(host, "gems", "list", "--json").stdout) == []  # the canary left nothing
    assert any("neuralstream-canary" in str(request) for request in host.model.requests)

    run(host, "remember", "The staging database listens on port 5433.")
    taken = run(host, "uninstall", "--json")
    assert json.loads(taken.stdout)["removed"] is True
    after = config(host)
    assert "neuralstream" not in json.dumps(after)
    assert {name: after.get(name) for name in before if name != "plugins"} == {name: before[name] for name in before if name != "plugins"}
    assert not (host.state / "extensions" / "neuralstream").exists()
    assert len(json.loads(run(host, "gems", "list", "--json").stdout)) == 1  # the memory is kept
    assert json.loads(run(host, "uninstall", "--json", "--purge", "--yes").stdout)["purged"] is True
    assert not host.memory_dir.path.exists()


def test_the_doctor_finds_what_is_missing_and_its_own_command_mends_it(served: Host) -> None:
    host = served
    changed = config(host)
    changed["plugins"]["entries"]["neuralstream"]["hooks"]["allowConversationAccess"] = False
    (host.state / "openclaw.json").write_text(json.dumps(changed))

    found = [f for f in json.loads(run(host, "doctor", "--json", code=1).stdout)["findings"] if f["grade"] == "broken"]
    assert "allowConversationAccess" in found[0]["what"]
    command = found[0]["fix"].split()
    assert command[0] == "openclaw"
    assert host.run(*command[1:]).returncode == 0
    assert [f for f in json.loads(run(host, "doctor", "--json").stdout)["findings"] if f["grade"] == "broken"] == []


def test_a_bridge_that_does_not_load_is_rolled_back_to_the_last_byte(host: Host, tmp_path: Path) -> None:
    before = (host.state / "openclaw.json").read_bytes()
    assert "plugins install" in run(host, "install", "--dry-run").stdout
    assert [path.name for path in host.state.iterdir()] == ["openclaw.json"]
    failed = run(host, "install", "--json", code=1, env=break_bridge(tmp_path))
    assert steps(failed)["undo-config"] == "done"
    assert (host.state / "openclaw.json").read_bytes() == before
    assert not (host.state / "extensions" / "neuralstream").exists()
    assert "mend it:" in failed.stderr


def test_a_failed_update_brings_the_working_version_back(served: Host, tmp_path: Path) -> None:
    host = served
    index = host.state / "extensions" / "neuralstream" / "bridge" / "index.js"
    working, before = index.read_text(), config(host)["plugins"]["entries"]
    failed = run(host, "install", "--no-canary", "--json", code=1, env=break_bridge(tmp_path))
    assert steps(failed)["undo-plugin"] == "done"
    assert index.read_text() == working
    assert config(host)["plugins"]["entries"] == before


def test_through_a_running_gateway_all_of_it_is_live_at_once(host: Host) -> None:
    host.start()
    installed = run(host, "install", "--json")
    assert set(steps(installed).values()) == {"done"}
    assert {step["detail"] for step in json.loads(installed.stdout)["steps"] if step["step"] == "host"} == {"gateway"}
    host.turn("agent:main:telegram:direct:42", "We decided to host the blog at Hetzner.")
    run(host, "admin", "flush")
    assert "Hetzner" in run(host, "recall", "where do we host the blog").stdout
    run(host, "uninstall")
    host.say("agent:main:telegram:direct:42", "And now?")
    assert "neuralstream-memory" not in str(host.model.requests[-1])


def test_a_model_that_fails_breaks_the_canary_at_its_turn(served: Host) -> None:
    served.model.answer = lambda _: Reply(status=401)
    failed = run(served, "admin", "canary", "--local", "--json", code=1)
    served.model.reset()
    assert steps(failed)["write"] == "failed"
    assert steps(failed)["forget"] == "done"


def test_the_host_s_own_command_line_reaches_ours(served: Host) -> None:
    host = served
    assert json.loads(host.run("neuralstream", "status", "--json").stdout)["state_dir"] == str(host.memory_dir.path)
