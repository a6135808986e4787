"""The OpenClaw command line: found, asked, configured; its plugin, slot and gateway."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from openclaw_neuralstream.errors import HostError, StateError
from openclaw_neuralstream.root import manifest, project_root
from openclaw_neuralstream.state import write_private

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


_TURN_SECONDS = 300.0


def turn(host: Host, text: str, *, agent: str, session_key: str, local: bool, timeout: float = _TURN_SECONDS) -> str:
    """The agent's answer. Without a gateway the turn runs in the command itself (`--local`). Raises HostError."""
    where = ("--local",) if local else ()
    whom = ("--agent", agent, "--session-key", session_key)
    limit = ("--timeout", str(int(timeout)))
    fix = f"openclaw agent {' '.join(where)} --agent {agent} --message hello shows why".replace("  ", " ")
    try:
        answer = host.ask("agent", *where, *whom, *limit, "--message", text, "--json", timeout=timeout + 60)
    except HostError as error:
        raise HostError(error.what, where="openclaw agent", fix=fix) from error
    if failure := _failure(answer):
        raise HostError(failure, where="openclaw agent", fix=fix)
    return _reply(answer)


def _failure(answer: Any) -> str:
    if not isinstance(answer, dict):
        return "its answer is not of the documented form"
    meta = (answer.get("result") or answer).get("meta") or {}
    error = meta.get("error") or answer.get("error")
    return str(error.get("message") if isinstance(error, dict) else error) if error else ""


def _reply(answer: dict[str, Any]) -> str:
    payloads = (answer.get("result") or answer).get("payloads") or ()
    return "\n".join(str(payload.get("text") or "") for payload in payloads if isinstance(payload, dict)).strip()


def get(host: Host, path: str) -> Any:
    """The value at this path; None when nothing is set there."""
    try:
        return host.ask("config", "get", path, "--json")
    except HostError:
        return None


def set_all(host: Host, values: Mapping[str, Any]) -> None:
    """Set these paths in one write, so that a running gateway reloads once. Raises HostError."""
    batch = [{"path": path, "value": value} for path, value in values.items()]
    host.run("config", "set", "--batch-json", json.dumps(batch))


def unset(host: Host, path: str) -> None:
    """Take this path out; one that is not there is fine."""
    with suppress(HostError):
        host.run("config", "unset", path)


def file_of(host: Host) -> Path:
    """Where the host's config file is, or would be. Raises HostError."""
    return Path(str(host.ask("config", "file", "--json")["path"]))


@dataclass(slots=True)
class Kept:
    """The config file as it was before we touched it, and as we last left it."""

    path: Path
    before: bytes | None
    ours: bytes | None

    def note(self) -> None:
        """What stands there now is our own doing."""
        self.ours = _read(self.path)

    @property
    def touched_by_others(self) -> bool:
        """True when it is not as we last left it."""
        return _read(self.path) != self.ours

    def restore(self) -> bool:
        """Put it back byte for byte. False, and nothing changed, when somebody else has written it meanwhile."""
        if self.touched_by_others:
            return False
        if self.before is None:
            self.path.unlink(missing_ok=True)
            return True
        mode = self.path.stat().st_mode if self.path.exists() else 0o600
        beside = self.path.with_name(f".{self.path.name}.neuralstream")
        beside.write_bytes(self.before)
        beside.chmod(mode & 0o777)
        beside.replace(self.path)
        return True


def keep(host: Host) -> Kept:
    """Remember the config file as it is now. Raises HostError."""
    path = file_of(host)
    content = _read(path)
    return Kept(path, content, content)


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        fix = "make it readable for you, then: openclaw doctor"
        raise HostError(f"cannot be read: {error.strerror}", where=str(path), fix=fix) from error


PATH = "plugins.slots.memory"
KIND = "memory"
DEFAULT = "memory-core"
"""Whose the slot is where the host's config names nobody."""

_CORE = f"plugins.entries.{DEFAULT}.enabled"
"""The host runs its own memory plugin beside whoever holds the slot, for dreaming, and its tools win over the holder's."""

COMMAND = f"openclaw config set {PATH} neuralstream; openclaw config set {_CORE} false --strict-json"
"""What taking it comes to, as a person would type it."""


def as_memory(host_manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The host's manifest of a plugin that holds the slot: its kind, and the tools that come with it."""
    slot = list(manifest()["slot"]["tools"].values())
    tools = [*host_manifest["contracts"]["tools"], *slot]
    return {**host_manifest, "kind": KIND, "contracts": {**host_manifest["contracts"], "tools": tools}}


def owner(plugins: Any) -> str:
    """The plugin to which the host's `plugins` config gives the slot; "" where it names none: the host's own."""
    return str(_at(plugins, "slots", "memory") or "")


@dataclass(frozen=True, slots=True)
class Slot:
    """The slot of one host, and the note of whom it was taken from. While we hold it, the host's own plugin rests."""

    host: Host
    note: Path

    def take(self, plugins: Any) -> str:
        """Have it, and note whose it was. plugins: the host's config before. Returns whose it was."""
        before = owner(plugins)
        if before != us() or not self.note.exists():
            core = _at(plugins, "entries", DEFAULT, "enabled")
            known = {"before": "" if before == us() else before, "core": core}
            write_private(self.note, json.dumps(known) + "\n")
        set_all(self.host, {PATH: us(), _CORE: False})
        return before or DEFAULT

    def give_back(self) -> str:
        """Give it to whom it was taken from, unless somebody else has it by now. Returns whose it is now."""
        known, plugins = self._known(), get(self.host, "plugins")
        now = owner(plugins)
        if known is not None and _at(plugins, "entries", DEFAULT, "enabled") is False:
            self._enable_core(known.get("core"), alone=_at(plugins, "entries", DEFAULT) == {"enabled": False})
        before = str((known or {}).get("before") or "")
        if now == us() or (not now and before not in ("", DEFAULT)):
            if before in ("", DEFAULT):
                unset(self.host, PATH)
            else:
                set_all(self.host, {PATH: before})
            now = before
        self.note.unlink(missing_ok=True)
        return now or DEFAULT

    def _enable_core(self, as_it_was: Any, *, alone: bool) -> None:
        if as_it_was is not None:
            set_all(self.host, {_CORE: as_it_was})
        else:
            unset(self.host, _CORE.removesuffix(".enabled") if alone else _CORE)

    def _known(self) -> dict[str, Any] | None:
        try:
            found = json.loads(self.note.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None


def us() -> str:
    """The id under which the host knows us."""
    return str(manifest()["plugin"]["id"])


def _at(value: Any, *path: str) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


_PORT = 18789
_GATEWAY_SECONDS = 2.0


def port(host: Host) -> int:
    """Where its gateway listens: OPENCLAW_GATEWAY_PORT, else its config, else 18789."""
    for wanted in (host.environ.get("OPENCLAW_GATEWAY_PORT", ""), get(host, "gateway.port")):
        with suppress(ValueError):
            return int(str(wanted))
    return _PORT


def runs(host: Host) -> bool:
    """True when a gateway answers on this machine."""
    connection = http.client.HTTPConnection("127.0.0.1", port(host), timeout=_GATEWAY_SECONDS)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


MANIFEST = "openclaw.plugin.json"
STAGED = ("package.json", MANIFEST, "bridge")
"""What the host needs of us; it copies the whole folder at each load, so nothing else goes there."""

CONVERSATIONS = "hooks.allowConversationAccess"
INJECTION = "hooks.allowPromptInjection"
PYTHON = "config.python"
INSTALL = "neuralstream install"


@dataclass(frozen=True, slots=True)
class Inspection:
    """What the host says of our plugin once it has loaded it."""

    enabled: bool
    status: str
    version: str
    folder: str
    hooks: frozenset[str]
    diagnostics: tuple[str, ...]
    policy: Mapping[str, Any] = field(default_factory=dict)


def plugin_id() -> str:
    """The id under which the host knows us."""
    return str(manifest()["plugin"]["id"])


def entry(name: str = "") -> str:
    """The path of our entry in the host's config, or of something in it."""
    return ".".join(part for part in ("plugins.entries", plugin_id(), name) if part)


def expected_hooks() -> frozenset[str]:
    """The host's events that plugin.toml names; each must be registered."""
    hooks = manifest()["hooks"]
    return frozenset(hooks["events"]) | frozenset(hooks["support"])


def stage(folder: Path, *, memory_slot: bool = False) -> Path:
    """Copy what the host needs into this folder. memory_slot: as the plugin that holds the host's memory slot.

    Raises StateError when the installation is incomplete.
    """
    root = project_root()
    for name in STAGED:
        source = root / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.is_file():
            shutil.copy2(source, folder / name)
        else:
            raise StateError(f"{name} is missing", where=str(root), fix="reinstall openclaw-neuralstream")
    if memory_slot:
        told = folder / MANIFEST
        told.write_text(json.dumps(as_memory(json.loads(told.read_text(encoding="utf-8"))), indent=2), encoding="utf-8")
    return folder


def install(host: Host, folder: Path) -> None:
    """Have the host copy and enable it. Raises HostError."""
    host.run("plugins", "install", str(folder), "--force", "--accept-capabilities")


def uninstall(host: Host) -> None:
    """Have the host remove its copy. Raises HostError."""
    host.run("plugins", "uninstall", plugin_id(), "--force")


def inspect(host: Host) -> Inspection | None:
    """What the host sees when it loads us; None when it does not know us. Raises HostError."""
    try:
        found = host.ask("plugins", "inspect", plugin_id(), "--runtime", "--json")
    except HostError as error:
        if "not found" in error.what.lower():
            return None
        raise
    return read(found)


def read(found: Mapping[str, Any]) -> Inspection:
    """An inspection from the host's JSON; what it does not say is empty."""
    known = found.get("plugin") or {}
    install_record = found.get("install") or {}
    return Inspection(
        enabled=bool(known.get("enabled")),
        status=str(known.get("status", "")),
        version=str(known.get("version", "")),
        folder=str(install_record.get("installPath") or known.get("rootDir") or ""),
        hooks=frozenset(str(hook.get("name")) for hook in found.get("typedHooks") or ()),
        diagnostics=tuple(_words(item) for item in found.get("diagnostics") or ()),
        policy=found.get("policy") or {},
    )


@dataclass(frozen=True, slots=True)
class Problem:
    """Why the plugin does not work in the host: what, what that means, what to type."""

    what: str
    why: str
    fix: str


def problems(found: Inspection | None) -> list[Problem]:
    """What keeps it from working, worst first; [] when all of our hooks are registered and allowed."""
    if found is None:
        return [Problem("the plugin is not installed in OpenClaw", "nothing is captured or recalled", INSTALL)]
    if not found.enabled:
        fix = f"openclaw plugins enable {plugin_id()}"
        return [Problem("the plugin is disabled in OpenClaw", "nothing is captured or recalled", fix)]
    why = "the host complains about the plugin"
    said = [Problem(f"OpenClaw says: {words}", why, INSTALL) for words in found.diagnostics]
    return [*_refused(found.policy), *_unregistered(found), *said]


def _refused(policy: Mapping[str, Any]) -> list[Problem]:
    found = []
    if policy.get("allowConversationAccess") is not True:
        what = "OpenClaw does not let the plugin see conversations (allowConversationAccess)"
        fix = f"openclaw config set {entry(CONVERSATIONS)} true --strict-json"
        found.append(Problem(what, "nothing is captured or recalled, and the host only warns in its log", fix))
    if policy.get("allowPromptInjection") is False:
        what = "OpenClaw does not let the plugin add to the prompt (allowPromptInjection is false)"
        fix = f"openclaw config set {entry(INJECTION)} true --strict-json"
        found.append(Problem(what, "turns are remembered, but nothing is recalled", fix))
    return found


def _unregistered(found: Inspection) -> list[Problem]:
    missing = sorted(expected_hooks() - found.hooks)
    if not missing:
        return []
    what = f"hooks are not registered: {', '.join(missing)} (plugin status: {found.status or 'unknown'})"
    return [Problem(what, "what these hooks do does not happen", INSTALL)]


def _words(diagnostic: Any) -> str:
    if isinstance(diagnostic, Mapping):
        return str(diagnostic.get("message") or diagnostic)
    return str(diagnostic)
