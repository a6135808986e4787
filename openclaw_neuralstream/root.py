"""Where the bundled hooks, templates and manifest are: in the wheel, the checkout, or the host's plugin folder."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from openclaw_neuralstream.errors import StateError

_PACKAGE = Path(__file__).resolve().parent
MANIFEST = "plugin.toml"


def project_root() -> Path:
    """The folder that holds `plugin.toml`, `hooks/`, `templates/` and `bridge/`.

    Raises StateError when the installation is incomplete.
    """
    for candidate in (_PACKAGE / "_bundled", _PACKAGE.parent):
        if (candidate / MANIFEST).is_file():
            return candidate
    raise StateError(
        f"{MANIFEST} is missing",
        where=str(_PACKAGE),
        fix="reinstall the package: pip install --force-reinstall openclaw-neuralstream",
    )


def manifest() -> dict[str, Any]:
    """The parsed `plugin.toml`."""
    return tomllib.loads((project_root() / MANIFEST).read_text(encoding="utf-8"))
