"""What a memory is made of: `wiring` builds it from settings, the engine and its helpers use it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from openclaw_neuralstream.clock import Clock, utc_now
from openclaw_neuralstream.memory.vocabulary import KnownNames
from openclaw_neuralstream.plugins.manager import Hooks
from openclaw_neuralstream.plugins.templates import Templates
from openclaw_neuralstream.ports import Choice, Embedder, ExtractorChooser, GemIndex, Reranker, TokenCounter, TurnBuffer
from openclaw_neuralstream.recall import Source
from openclaw_neuralstream.sequences.index import PairIndex
from openclaw_neuralstream.settings import Settings
from openclaw_neuralstream.state import StateDir
from openclaw_neuralstream.store.passages import PassageIndex
from openclaw_neuralstream.store.truth import Truth
from openclaw_neuralstream.workspace.book import Workspaces


@dataclass(frozen=True, slots=True)
class Parts:
    """Everything that a memory needs, chosen and connected."""

    settings: Settings
    truth: Truth
    buffers: tuple[TurnBuffer, ...]  # the first takes new turns; the truth, last, when the others are away
    embedder: Embedder
    index: GemIndex
    choose_extractor: ExtractorChooser
    sources: tuple[Source, ...]
    hooks: Hooks
    templates: Templates
    counter: TokenCounter
    state: StateDir
    workspaces: Workspaces
    vocabulary: KnownNames
    passages: PassageIndex | None  # the verbatim turns made searchable; None = they are not recalled
    choices: Mapping[str, Choice]  # "buffer", "embedder", "index"
    setting_sources: Mapping[str, str]  # setting → where its value came from, where that is not the default
    pairs: PairIndex | None = None  # questions in their order; None when the setting sequences is false
    clock: Clock = utc_now
    reranker: Reranker | None = None  # a second look at hard questions, where the settings want one
    warm: Callable[[], None] = lambda: None
