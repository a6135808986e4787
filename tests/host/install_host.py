"""Install the OpenClaw and the pi that the host tests drive: python tests/host/install_host.py"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from openclaw_host import node

if __name__ == "__main__":
    print(node.install())
    print(node.install_pi())
