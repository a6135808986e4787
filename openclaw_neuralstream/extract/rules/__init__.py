"""The extractor that needs no model: sentences worth keeping, found by rules, in English, Chinese and Russian."""

from __future__ import annotations

from openclaw_neuralstream.extract.rules.entities import entities_of
from openclaw_neuralstream.extract.rules.extractor import RulesExtractor
from openclaw_neuralstream.extract.rules.judge import asked_kind

__all__ = ["RulesExtractor", "asked_kind", "entities_of"]
