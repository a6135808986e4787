"""A stand-in for `openclaw` whose agent turn does what the bridge does, over the real socket; FAKE_FAULT breaks a step."""

from __future__ import annotations

import json
import os
import re
import sys
import uuid
from pathlib import Path

from openclaw_neuralstream.cli.host import plugin
from openclaw_neuralstream.server import client
from openclaw_neuralstream.state import StateDir, state_dir

FAULT = os.environ.get("FAKE_FAULT", "")
MARKER = re.compile(r"neuralstream-canary-[0-9a-z-]+")


def option(name: str) -> str:
    return sys.argv[sys.argv.index(name) + 1]


def say(value: object) -> None:
    print(json.dumps(value))


def refuse(message: str) -> None:
    print(f"Error: {message}", file=sys.stderr)
    sys.exit(1)


def agent(state: StateDir) -> None:
    if FAULT == "model":
        refuse("401 no such key")
    said, key = option("--message"), option("--session-key")
    event = {"run_id": uuid.uuid4().hex, "agent": option("--agent"), "session_key": key, "session_id": "s", "trigger": "user"}
    door = client.connect(state, client="bridge")
    told = door.call("prompt_build", {**event, "prompt": said}) if FAULT != "inject" else {"text": "", "brief": ""}
    with Path(os.environ["FAKE_CONFIG"]).with_name("turns.jsonl").open("a") as turns:
        turns.write(json.dumps({"said": said, **told}) + "\n")
    for marker in MARKER.findall(f"{said}\n{told['text']}\n{told['brief']}"):
        door.call("seen", {"text": marker})
    if FAULT != "capture":
        messages = [{"role": "user", "content": said}, {"role": "assistant", "content": [{"type": "text", "text": "Noted."}]}]
        door.call("turn_end", {**event, "messages": messages, "success": True})
    door.close()
    say({"payloads": [{"text": "Noted."}], "meta": {}})


def inspect() -> None:
    if FAULT == "missing":
        say({"ok": False, "error": {"message": "Plugin not found: neuralstream."}})
        sys.exit(1)
    hooks = plugin.expected_hooks() - ({"agent_end"} if FAULT == "capture" else frozenset())
    say({
        "plugin": {"enabled": True, "status": "loaded", "version": "0.1.0"},
        "typedHooks": [{"name": name} for name in hooks],
        "policy": {"allowConversationAccess": FAULT != "capture"},
    })


def main() -> None:
    match sys.argv[1:3]:
        case ["--version"]:
            print("OpenClaw 2026.9.6 (fake)")
        case ["agent", *_]:
            agent(state_dir())
        case ["plugins", "inspect"]:
            inspect()
        case ["plugins", "uninstall"]:
            print("Uninstalled")
        case ["config", "unset"]:
            Path(os.environ["FAKE_CONFIG"]).unlink(missing_ok=True)
        case ["config", "get"] if Path(os.environ["FAKE_CONFIG"]).exists() and sys.argv[3].startswith("plugins.entries"):
            say({"enabled": False})
        case ["config", "file"]:
            say({"path": str(Path(os.environ["FAKE_CONFIG"]))})
        case _:
            refuse(f"not here: {sys.argv[1:]}")


if __name__ == "__main__":
    main()
