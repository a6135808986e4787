"""The host's config file: read and set through the host's own commands, and put back as it was."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openclaw_neuralstream.errors import HostError
from openclaw_neuralstream.host.executable import Host


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
