"""The host's real session store: what was said without the plugin is taken in, what was captured live is known."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from openclaw_host.gateway import Host


def stores(host: Host) -> dict[str, str]:
    folder = host.state / "agents"
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.rglob("*.sqlite"))}


def told(host: Host, *arguments: str) -> dict[str, object]:
    done = host.neuralstream("--state-dir", str(host.memory_dir.path), "backfill", "host", "--host-state", str(host.state), *arguments, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_live_turns_and_turns_of_the_store_are_the_same_turns() -> None:
    with Host() as host:
        host.start()
        host.turn("agent:main:live", "We decided to use PostgreSQL 17 for the billing service.")
        host.turn("agent:main:live", "Моя сестра Анна переехала в Казань.")
        host.clear_window("agent:main:live", "/new")
        host.turn("agent:main:live", "我决定把服务器部署在东京机房。")
        assert (told(host)["new"], told(host)["known"]) == (0, 3)  # the gateway still runs
        host.configure(lambda config: {**config, "plugins": {"entries": {"neuralstream": {"enabled": False}}}})
        host.stop()
        before = stores(host)
        fresh = Path(host.folder) / "fresh"
        done = host.neuralstream("--state-dir", str(fresh), "backfill", "host", "--host-state", str(host.state), "--json")
        found = json.loads(done.stdout)
        assert (found["sessions"], found["new"], found["known"], found["skipped"]) == (1, 3, 0, {"command": 1})
        assert stores(host) == before
        host.neuralstream("--state-dir", str(fresh), "admin", "stop")
