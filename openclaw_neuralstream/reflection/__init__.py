"""Reflection, the story: gather facts and gems of a workspace, plan its pages, write or propose them."""

from openclaw_neuralstream.reflection.reflector import WEEK, Reflector

__all__ = ["WEEK", "Reflector"]
