"""The command `neuralstream`: arguments in, text and exit codes out."""

from openclaw_neuralstream.cli.app import main

__all__ = ["main"]
