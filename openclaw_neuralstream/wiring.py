"""The only place that builds vendors from settings: a state directory in, a memory out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import structlog

from openclaw_neuralstream import logs, plugins, root, secrets, servers, settings, tokens
from openclaw_neuralstream.clock import Clock, utc_now
from openclaw_neuralstream.embed import ollama as ollama_embedder
from openclaw_neuralstream.embed.embedded import EmbeddedEmbedder
from openclaw_neuralstream.engine import EMBEDDER_META, Memory
from openclaw_neuralstream.errors import VendorAway
from openclaw_neuralstream.extract.rules import RulesExtractor
from openclaw_neuralstream.model import EmbedderIdentity
from openclaw_neuralstream.parts import Parts
from openclaw_neuralstream.ports import Choice, Completion, Embedder, Extractor, GemIndex, TokenCounter, TurnBuffer
from openclaw_neuralstream.recall import gem_sources
from openclaw_neuralstream.render import Templates
from openclaw_neuralstream.settings import Loaded, Settings
from openclaw_neuralstream.state import StateDir, host_config, state_dir
from openclaw_neuralstream.store.truth import Truth

log = structlog.get_logger(__name__)

_PROBE_SECONDS = 1.5  # how long `auto` waits for a service to show itself


def open_memory(
    state: StateDir | Path | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    host_completion: Completion | None = None,
    clock: Clock = utc_now,
    start: bool = True,
) -> Memory:
    """A memory over a state directory, its workers running unless `start` is False.

    Raises SettingsError, StateError and its kin. Only one process may have a state directory open: see `serve`.
    """
    state = (StateDir(Path(state)) if isinstance(state, Path) else state) or state_dir(environ)
    logs.quiet()
    loaded = load_settings(state, environ)
    secrets.learn(loaded.settings.secret_patterns)
    state.prepare()
    truth = Truth.open(state.database)
    try:
        memory = Memory(_parts(state, loaded, truth, host_completion, clock))
    except BaseException:
        truth.close()
        raise
    return memory.start() if start else memory


def load_settings(state: StateDir, environ: Mapping[str, str] | None = None) -> Loaded:
    """Defaults < settings.toml < environment < what the host last gave. Raises SettingsError."""
    return settings.load(state.path, environ=environ, host=host_config(state))


def _parts(state: StateDir, loaded: Loaded, truth: Truth, host_completion: Completion | None, clock: Clock) -> Parts:
    knobs = loaded.settings
    counter = tokens.best_counter()
    shipped = root.project_root()
    templates = Templates(shipped / "templates", Path(knobs.templates_dir) if knobs.templates_dir else state.templates)
    hooks = plugins.load(
        shipped / "hooks",
        root.manifest()["hooks"]["order"],
        Path(knobs.hooks_dir) if knobs.hooks_dir else state.hooks,
        patience=lambda hook: _patience(knobs, hook),
    )
    embedder, embedder_choice, warm = _embedder(knobs, truth)
    buffers, buffer_choice = _buffers(knobs, truth)
    index, index_choice = _index(knobs, state, embedder.identity, truth.store_id)
    sources = gem_sources(truth, embedder, index)

    def warm_up() -> None:
        secrets.warm()
        warm()
        sources[1].warm()

    return Parts(
        settings=knobs,
        truth=truth,
        buffers=buffers,
        embedder=embedder,
        index=index,
        choose_extractor=ChooseExtractor(knobs, templates, counter, host_completion),
        sources=sources,
        hooks=hooks,
        templates=templates,
        counter=counter,
        state=state,
        choices={"buffer": buffer_choice, "embedder": embedder_choice, "index": index_choice},
        setting_sources=loaded.sources,
        clock=clock,
        warm=warm_up,
    )


def _patience(knobs: Settings, hook: str) -> float:
    """Seconds for a hook of others: half of the deadline where a reply waits, a model's time where one may be asked."""
    if hook in ("session_start", "prompt_build"):
        return knobs.recall_deadline_ms / 2000
    return knobs.model_timeout if hook == "extract" else knobs.hook_timeout


# --- who embeds ---------------------------------------------------------------------------------------------------------


def _embedder(knobs: Settings, truth: Truth) -> tuple[Embedder, Choice, Callable[[], None]]:
    wanted, why = _which_embedder(knobs, truth.meta(EMBEDDER_META))
    if wanted == "embedded":
        embedded = EmbeddedEmbedder()
        chosen: tuple[Embedder, Callable[[], None]] = embedded, embedded.warm
    else:
        served = ollama_embedder.OllamaEmbedder(
            knobs.ollama_url, knobs.embedding, knobs.embedding_dimensions, timeout=knobs.model_timeout
        )
        chosen = served, lambda: None
    embedder, warm = chosen
    if not truth.meta(EMBEDDER_META):
        truth.set_meta(EMBEDDER_META, str(embedder.identity))
    return embedder, Choice(str(embedder.identity), why), warm


def _which_embedder(knobs: Settings, made_by: str) -> tuple[str, str]:
    if knobs.embedder != "auto":
        return knobs.embedder, f"the setting embedder is {knobs.embedder}"
    if made_by:
        kind = "ollama" if made_by.startswith("ollama:") else "embedded"
        return kind, f"auto: it made this store ({made_by})"
    missing = ollama_embedder.available(knobs.ollama_url, knobs.embedding, _PROBE_SECONDS)
    return ("embedded", f"auto: {missing}") if missing else ("ollama", f"auto: Ollama has {knobs.embedding}")


# --- where turns wait, where vectors are searched -------------------------------------------------------------------------


def _buffers(knobs: Settings, truth: Truth) -> tuple[tuple[TurnBuffer, ...], Choice]:
    if not knobs.redis_url:
        return (truth,), Choice("embedded", "no redis_url is set")
    buffer = servers.redis_buffer(knobs, truth)
    return (buffer, truth), Choice("redis", "redis_url is set; the embedded buffer takes turns while it is away")


def _index(knobs: Settings, state: StateDir, identity: EmbedderIdentity, store_id: str) -> tuple[GemIndex, Choice]:
    if not knobs.qdrant_url:
        return servers.flat_index(state, identity), Choice("embedded", "no qdrant_url is set")
    return servers.qdrant_index(knobs, identity, store_id), Choice("qdrant", "qdrant_url is set")


# --- who distils --------------------------------------------------------------------------------------------------------


class ChooseExtractor:
    """`auto`: Ollama while it answers and has the model, else rules. A named extractor is never replaced by another."""

    def __init__(
        self, knobs: Settings, templates: Templates, counter: TokenCounter, host_completion: Completion | None
    ) -> None:
        self._knobs = knobs
        self._templates = templates
        self._counter = counter
        self._host = host_completion
        self._rules = RulesExtractor()
        self.choice = Choice(knobs.extractor, "not needed yet")

    def __call__(self) -> Extractor:
        """The extractor for the next batch."""
        extractor, self.choice = self._choose()
        return extractor

    def _choose(self) -> tuple[Extractor, Choice]:
        wanted = self._knobs.extractor
        if wanted == "rules":
            return self._rules, Choice("rules", "the setting extractor is rules")
        if wanted == "host":
            if self._host is None:
                raise VendorAway("the host's model is not connected", fix="start the OpenClaw gateway")
            return self._model(self._host, "host"), Choice("host", "the setting extractor is host")
        from openclaw_neuralstream.extract import ollama

        missing = ollama.available(self._knobs.ollama_url, self._knobs.gem_model, _PROBE_SECONDS)
        if missing and wanted == "ollama":
            raise VendorAway(missing, where=self._knobs.ollama_url, fix=f"ollama pull {self._knobs.gem_model}")
        if missing:
            return self._rules, Choice("rules", f"auto: {missing}")
        completion = ollama.OllamaCompletion(
            self._knobs.ollama_url,
            self._knobs.gem_model,
            context=self._knobs.gem_context,
            timeout=self._knobs.model_timeout,
        )
        return self._model(completion, "ollama"), Choice("ollama", f"Ollama has {self._knobs.gem_model}")

    def _model(self, completion: Completion, name: str) -> Extractor:
        from openclaw_neuralstream.extract.model import ModelExtractor

        return ModelExtractor(
            completion,
            name=name,
            templates=self._templates,
            counter=self._counter,
            context=self._knobs.gem_context,
            history_tokens=self._knobs.history_tokens,
        )
