"""Sequences of questions follow the truth, and their files follow them: all of it in the background."""

from openclaw_neuralstream.sequencing.desk import Desk
from openclaw_neuralstream.sequencing.sequencer import Sequencer

__all__ = ["Desk", "Sequencer"]
