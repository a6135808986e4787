"""The same as `neuralstream bench extraction`: `python -m benchmarks.extraction --part heldout`."""

from __future__ import annotations

from openclaw_neuralstream.cli import main

if __name__ == "__main__":
    import sys

    main(["bench", "extraction", *sys.argv[1:]])
