"""The real Ollama server, built once from its Go module into .cache, with a model from packages, on loopback.

0.6.5 is the newest version whose module holds all of its sources: later ones keep C++ headers in folders named
`vendor`, which a Go module archive leaves out. Built for this machine's processor: without that it is ten times slower.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.llama_server import ROOT, Packaged, model_file

VERSION = "v0.6.5"
CACHE = ROOT / ".cache" / "ollama" / VERSION
_BUILD_SECONDS = 1_500
_TEMPLATE = "{{ range .Messages }}<|im_start|>{{ .Role }}\n{{ .Content }}<|im_end|>\n{{ end }}<|im_start|>assistant\n"


class _Built:
    """The executable; asked for once in a run."""

    def __init__(self) -> None:
        self._tried: Path | bool | None = False

    def possible(self) -> bool:
        """Whether it is there already, or the tools to build it are."""
        if self.file().is_file():
            return True
        return all(map(shutil.which, ("go", "g++", "gcc")))

    def file(self) -> Path:
        """Where it is, or would be."""
        return CACHE / "ollama"

    def make(self) -> Path | None:
        """The executable, built when it is not there; None when it cannot be."""
        if not self.file().is_file():
            flags = "-O3 -march=native"
            environ = {**os.environ, "GOBIN": str(CACHE), "CGO_ENABLED": "1", "CGO_CFLAGS": flags, "CGO_CXXFLAGS": flags}
            CACHE.mkdir(parents=True, exist_ok=True)
            command = ["go", "install", f"github.com/ollama/ollama@{VERSION}"]
            done = subprocess.run(command, env=environ, cwd=CACHE, timeout=_BUILD_SECONDS, check=False, capture_output=True, text=True)
            (CACHE / "build.log").write_text(done.stdout + done.stderr)
        return self.file() if self.file().is_file() else None


built_ollama = _Built()


@contextmanager
def real_ollama(model: Packaged) -> Iterator[tuple[str, str]]:
    """The address of a running server and the name of the model in it; all of it ends with the block."""
    executable, file = built_ollama.make(), model_file(model)
    assert executable is not None, f"the build failed: see {CACHE / 'build.log'}"
    assert file is not None
    with tempfile.TemporaryDirectory(prefix="ns-ollama-") as home, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
        probe.close()
        environ = {**os.environ, "HOME": home, "OLLAMA_HOST": address, "OLLAMA_MODELS": f"{home}/models", "OLLAMA_NUM_PARALLEL": "1"}
        _link(file, Path(home))
        with subprocess.Popen([executable, "serve"], env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
            try:
                _wait(f"http://{address}/api/version")
                recipe = Path(home) / "Modelfile"
                recipe.write_text(f'FROM {file}\nTEMPLATE """{_TEMPLATE}"""\nPARAMETER stop <|im_end|>\nPARAMETER num_thread 1\n')
                subprocess.run([executable, "create", model.name, "-f", recipe], env=environ, check=True, capture_output=True, timeout=300)
                yield f"http://{address}", model.name
            finally:
                server.terminate()
                try:
                    server.wait(15)
                except subprocess.TimeoutExpired:
                    server.kill()


def _link(file: Path, home: Path) -> None:
    """The model's file as the blob it would be copied to: half a gigabyte less on the disk."""
    sum_file = file.with_suffix(".sha256")
    if not sum_file.is_file():
        sum_file.write_text(hashlib.sha256(file.read_bytes()).hexdigest())
    blobs = home / "models" / "blobs"
    blobs.mkdir(parents=True)
    (blobs / f"sha256-{sum_file.read_text()}").symlink_to(file)


def _wait(url: str) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            urllib.request.urlopen(url, timeout=1).close()
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
        else:
            return
    raise AssertionError(f"{url} does not answer")
