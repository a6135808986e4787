"""What is built holds all it needs: the wheel, a wheel from the source archive, and one from the npm tarball."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from openclaw_neuralstream import root
from openclaw_neuralstream.settings import Settings

PROJECT = root.project_root()


def wheel_of(source: Path, out: Path) -> Path:
    """A wheel built from a folder, with the build tools that are here."""
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(source)]
    subprocess.run(command, check=True, capture_output=True)
    return next(out.glob("*.whl"))


def unpacked(archive: Path, folder: Path) -> Path:
    """The single folder inside a .tgz or .tar.gz."""
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    return next(folder.iterdir())


def works(wheel: Path, folder: Path) -> dict:
    """Unpack a wheel beside nothing else of ours and let it say what it found."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    program = (
        "import json, openclaw_neuralstream as n; from openclaw_neuralstream import root; from openclaw_neuralstream.plugins import manager as plugins;"
        "from openclaw_neuralstream.plugins.templates import Templates; p = root.project_root(); m = root.manifest();"
        "hooks = plugins.load(p / 'hooks', m['hooks']['order']);"
        "print(json.dumps({'home': str(p), 'hooks': list(hooks.plugins), 'templates': sorted(x.name for x in (p / 'templates').iterdir()),"
        "'bridge': (p / 'bridge' / 'index.js').is_file(), 'plugin': (p / 'openclaw.plugin.json').is_file(),"
        "'npm': (p / 'package.json').is_file(), 'typed': (p.parent / 'py.typed').is_file(),"
        " 'example': (p / 'examples' / 'demo.json').is_file()}))"
    )
    environ = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, env=environ, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert found.pop("home") == str(folder / "openclaw_neuralstream" / "_bundled")
    return found


COMPLETE = {
    "typed": True,
    "hooks": root.manifest()["hooks"]["order"],
    "templates": sorted(root.manifest()["templates"].values()),
    "bridge": True,
    "plugin": True,
    "npm": True,
    "example": True,
}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tracked files alone: what a clone has."""
    folder = tmp_path_factory.mktemp("checkout")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=PROJECT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (PROJECT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes((PROJECT / name).read_bytes())
    return folder


def test_the_wheel_of_a_checkout_is_complete(checkout: Path, tmp_path: Path):
    assert works(wheel_of(checkout, tmp_path / "out"), tmp_path / "site") == COMPLETE


def test_the_source_archive_builds_a_complete_wheel(checkout: Path, tmp_path: Path):
    command = [sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", str(tmp_path / "sdist"), str(checkout)]
    subprocess.run(command, check=True, capture_output=True)
    source = unpacked(next((tmp_path / "sdist").glob("*.tar.gz")), tmp_path / "source")
    assert works(wheel_of(source, tmp_path / "out"), tmp_path / "site") == COMPLETE


@pytest.mark.host
def test_the_npm_tarball_holds_the_plugin_and_builds_a_complete_wheel(checkout: Path, tmp_path: Path):
    from tests.host.openclaw_host import node

    environ = {**node.environment(), "npm_config_cache": str(tmp_path / "npm")}
    command = [*(node.npm() or ()), "pack", "--json", "--pack-destination", str(tmp_path)]
    packed = subprocess.run(command, cwd=checkout, env=environ, capture_output=True, text=True, check=True)
    answer = json.loads(packed.stdout)
    entry = answer[0] if isinstance(answer, list) else next(iter(answer.values()))
    source = unpacked(tmp_path / entry["filename"], tmp_path / "source")
    assert not [path for path in source.rglob("*") if "__pycache__" in path.parts or path.name in ("tests", ".git")]
    assert works(wheel_of(source, tmp_path / "out"), tmp_path / "site") == COMPLETE


def test_the_versions_agree():
    plugin = json.loads((PROJECT / "openclaw.plugin.json").read_text())
    npm = json.loads((PROJECT / "package.json").read_text())
    assert plugin["version"] == npm["version"] == root.manifest()["plugin"]["version"]
    assert set(Settings.model_fields) <= set(plugin["configSchema"]["properties"])
