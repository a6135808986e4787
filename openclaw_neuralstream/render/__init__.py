"""Records to text for a prompt: the one place where remembered words meet a model."""

from openclaw_neuralstream.render.inert import framed, inert
from openclaw_neuralstream.render.templates import Templates

__all__ = ["Templates", "framed", "inert"]
