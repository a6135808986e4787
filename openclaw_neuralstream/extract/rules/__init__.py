"""The extractor that needs no model: sentences worth keeping, found by rules, in English, Chinese and Russian."""

from __future__ import annotations

from openclaw_neuralstream.extract.rules.extractor import RulesExtractor

__all__ = ["RulesExtractor"]
