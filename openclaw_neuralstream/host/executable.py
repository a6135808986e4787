"""The host's command line: where it is, and one call of it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from openclaw_neuralstream.errors import HostError
from openclaw_neuralstream.root import manifest

ENV = "OPENCLAW_BIN"
NAME = "openclaw"
_SECONDS = 180.0
_SCRIPTS = (".mjs", ".js")
NODE_FIX = "install Node 24 (https://nodejs.org)"
_NO_HOST = "install OpenClaw (https://docs.openclaw.ai/install), or name its executable with --openclaw"


@dataclass(frozen=True, slots=True)
class Host:
    """A command that runs OpenClaw, and the environment it runs in."""

    command: tuple[str, ...]
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))

    def run(self, *arguments: str, timeout: float = _SECONDS) -> str:
        """What it printed. Raises HostError with its last words when it refused, failed or took too long."""
        where = f"{NAME} {' '.join(arguments[:3])}"
        try:
            done = subprocess.run(
                [*self.command, *arguments],
                env={**self.environ, "NO_COLOR": "1"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                encoding="utf-8",
                errors="replace",
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise HostError(f"no answer within {timeout:g} s", where=where, fix="openclaw doctor") from error
        except OSError as error:
            raise HostError(f"cannot be run: {error.strerror}", where=self.command[0], fix=_NO_HOST) from error
        if done.returncode:
            raise HostError(_last_words(done.stdout, done.stderr), where=where, fix="openclaw doctor")
        return done.stdout

    def ask(self, *arguments: str, timeout: float = _SECONDS) -> Any:
        """The JSON it printed. Raises HostError."""
        said = self.run(*arguments, timeout=timeout)
        try:
            return json.loads(said)
        except ValueError as error:
            where = f"{NAME} {' '.join(arguments[:3])}"
            raise HostError("its answer is not JSON", where=where, fix="update OpenClaw") from error

    def version(self) -> str:
        """As in "2026.9.6"; "" when it says something else. Raises HostError, which names a Node that is too old for it."""
        try:
            said = self.run("--version", timeout=30)
        except HostError as error:
            found, wanted = node_version(self), str(manifest()["plugin"]["node"])
            if not found or numbers(found) >= numbers(wanted):
                raise
            what = f"{error.what}; Node {found} is too old: OpenClaw needs {wanted}"
            raise HostError(what, where=" ".join(self.command), fix=NODE_FIX) from error
        return next((word for word in said.split() if word[:1].isdigit()), "")


def find(named: str = "", environ: Mapping[str, str] | None = None) -> Host:
    """The executable that was named, else OPENCLAW_BIN, else `openclaw` on the path. Raises HostError.

    A script (`openclaw.mjs`) is run with the `node` of the path.
    """
    environ = dict(os.environ if environ is None else environ)
    path = environ.get("PATH")
    wanted = named or environ.get(ENV, "") or NAME
    found = shutil.which(wanted, path=path) or (wanted if Path(wanted).suffix in _SCRIPTS else None)
    if found is None:
        raise HostError("OpenClaw was not found", where=wanted, fix=_NO_HOST)
    if Path(found).suffix not in _SCRIPTS:
        return Host((found,), environ)
    if not Path(found).is_file():
        raise HostError("no such file", where=found, fix=_NO_HOST)
    node = shutil.which("node", path=path)
    if node is None:
        raise HostError("Node was not found on the path", where=found, fix=NODE_FIX)
    return Host((node, found), environ)


def node_version(host: Host) -> str:
    """The version of the Node that runs it, as in "24.19.0"; "" when there is none on the path."""
    node = host.command[0] if len(host.command) > 1 else shutil.which("node", path=host.environ.get("PATH"))
    if node is None:
        return ""
    try:
        done = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip().removeprefix("v")


def numbers(version: str) -> tuple[int, ...]:
    """The numbers of a version, to compare; none where it has none."""
    return tuple(int(part) for part in re.findall(r"\d+", version))


def _last_words(stdout: str, stderr: str) -> str:
    """The message of a JSON failure, else the last line that says something."""
    try:
        return str(json.loads(stdout)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        lines = [line.strip() for line in (stderr.strip() or stdout.strip()).splitlines() if line.strip()]
        return lines[-1] if lines else "it failed without a word"
