"""Every knob, once: type, range, default, meaning. Merged from defaults < user file < environment < host config."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping
from functools import cache, reduce
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from openclaw_neuralstream.errors import SettingsError

ENV_PREFIX = "NEURALSTREAM_"
ENV_RESERVED = frozenset({"STATE_DIR", "PYTHON", "HOST_CONFIG"})
"""Environment names with the prefix that are not settings: where the state is, what the bridge starts, and with what."""

FILE_NAME = "settings.toml"
_UNITS = {"s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}


def _seconds(value: object) -> object:
    """'15m', '90 s', '1h' or a number of seconds."""
    if isinstance(value, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", value.lower())
        if match and (match[2] or "s") in _UNITS:
            return float(match[1]) * _UNITS[match[2] or "s"]
    return value


def _percent(value: object) -> object:
    """'50%', '50 %' or 50."""
    if isinstance(value, str):
        return value.strip().removesuffix("%").strip()
    return value


def _lines(value: object) -> object:
    """Lines as a list; as one text (environment, command line) a JSON list, or a line each."""
    if not isinstance(value, str):
        return value
    if value.strip().startswith("["):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return [line for line in value.splitlines() if line.strip()]


def _patterns(lines: tuple[str, ...]) -> tuple[str, ...]:
    if lines:
        from openclaw_neuralstream.secrets import yours

        yours.rules_of(lines)
    return lines


Lines = Annotated[tuple[str, ...], BeforeValidator(_lines)]
Patterns = Annotated[tuple[str, ...], BeforeValidator(_lines), AfterValidator(_patterns)]


def _listed(value: object) -> object:
    """A list of texts, or one text with commas."""
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else value


def _paired(value: object) -> object:
    """A table of names and folders, or "name=folder; name=folder"."""
    return "; ".join(f"{name}={folder}" for name, folder in value.items()) if isinstance(value, dict) else value


def _known_zone(value: str) -> str:
    if value:
        from zoneinfo import ZoneInfo

        try:
            ZoneInfo(value)
        except (KeyError, ValueError, OSError) as error:
            raise ValueError("no such time zone") from error
    return value


Listed = Annotated[str, BeforeValidator(_listed)]
Paired = Annotated[str, BeforeValidator(_paired)]
Zone = Annotated[str, AfterValidator(_known_zone)]

_FORMS = {
    "redis_url": "an address like redis://host:6379/0",
    "capture_list_url": "an address like redis://host:6379/0",
    "openai_url": "an address like http://host:8080/v1",
    "openai_embedding_url": "an address like http://host:8080/v1",
    "workspaces": "agent=/folder; agent=/folder",
}

Seconds = Annotated[float, BeforeValidator(_seconds)]
Percent = Annotated[float, BeforeValidator(_percent)]


def table(value: object) -> object:
    """A table; one text (environment, command line) is JSON of it."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value or "{}")
    except ValueError:
        return value


class Options(BaseModel):
    """A table of a client's own options; what is not set stays as the default says."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)

    def __str__(self) -> str:
        """What is set, as JSON."""
        return json.dumps(self.model_dump(exclude_unset=True), ensure_ascii=False) if self.model_fields_set else ""


class RedisOptions(Options):
    """How Redis is spoken to; all names but `prefix` are those of redis-py."""

    prefix: str = Field("neuralstream", min_length=1, max_length=200, description="prefix of every key of ours")
    username: str = Field("", max_length=200, description="user name (ACL); empty = the default user")
    ssl_ca_certs: str = Field(
        "", description="PEM file of the authority that signed the server of a rediss:// address; empty = the system's"
    )
    ssl_certfile: str = Field("", description="PEM file of our own certificate, where the server asks for it")
    ssl_keyfile: str = Field("", description="PEM file of the key to that certificate; empty = in the same file")
    ssl_check_hostname: bool = Field(True, description="the certificate must be made out to the server's host name")
    socket_timeout: Seconds = Field(2.0, gt=0, le=60, description="seconds a call may take")


class QdrantOptions(Options):
    """How Qdrant is spoken to, how a collection is made and searched; what exists already keeps its shape.

    The names are those of qdrant-client. Quantized search looks at `oversampling` times as many candidates and rescores
    them with the full vectors.
    """

    timeout: Seconds = Field(5.0, gt=0, le=120, description="seconds a call may take")
    prefer_grpc: bool = Field(False, description="talk gRPC (port 6334) where a call has it")
    shard_number: int = Field(1, ge=1, le=100, description="shards of a collection that is made")
    replication_factor: int = Field(1, ge=1, le=20, description="replicas of a collection that is made")
    write_consistency_factor: int = Field(
        1, ge=1, le=20, description="replicas that must confirm a write to a collection that is made"
    )
    on_disk_payload: bool = Field(True, description="payload of a collection that is made stays on disk")
    on_disk: bool = Field(False, description="vectors of a collection that is made stay on disk")
    quantization: Literal["none", "scalar", "binary"] = Field(
        "none",
        description="compressed vectors of a collection that is made, rescored with the full ones; binary loses "
        "neighbours on real text",
    )
    oversampling: float = Field(
        2.0, ge=1, le=20, description="candidates per result that quantized search rescores with the full vectors"
    )
    hnsw_m: int = Field(16, ge=4, le=128, description="edges per node of the HNSW graph of a collection that is made")
    hnsw_ef_construct: int = Field(100, ge=4, le=2_000, description="neighbours looked at while that graph is built")
    hnsw_ef: int = Field(
        0, ge=0, le=10_000, description="neighbours looked at in a search; 0 = as the server does by itself"
    )


RETIRED: dict[str, str] = {
    # a setting that is none any more → where its value is now; "" = a constant beside its use
    "redis_username": "redis.username",
    "redis_ca_file": "redis.ssl_ca_certs",
    "redis_client_cert": "redis.ssl_certfile",
    "redis_client_key": "redis.ssl_keyfile",
    "redis_check_hostname": "redis.ssl_check_hostname",
    "redis_timeout": "redis.socket_timeout",
    "qdrant_timeout": "qdrant.timeout",
    "qdrant_grpc": "qdrant.prefer_grpc",
    "qdrant_shards": "qdrant.shard_number",
    "qdrant_replicas": "qdrant.replication_factor",
    "qdrant_write_consistency": "qdrant.write_consistency_factor",
    "qdrant_on_disk_payload": "qdrant.on_disk_payload",
    "qdrant_on_disk_vectors": "qdrant.on_disk",
    "qdrant_quantization": "qdrant.quantization",
    "qdrant_oversampling": "qdrant.oversampling",
    "qdrant_hnsw_m": "qdrant.hnsw_m",
    "qdrant_hnsw_ef_construct": "qdrant.hnsw_ef_construct",
    "qdrant_hnsw_ef": "qdrant.hnsw_ef",
    "redis_prefix": "redis.prefix",
    "max_turn_chars": "",
    "importance_opinion": "",
    "history_tokens": "",
    "breadth_gems": "",
    "question_timeout_ms": "",
    "recall_turn_chars": "",
    "rerank_records": "",
    "rerank_timeout": "",
    "session_gems": "",
    "session_memory_md": "",
    "qa_neighbours": "",
    "qa_threshold": "",
    "qa_large_session": "",
    "context_records": "",
    "recency_half_life": "",
    "workspace_hidden": "",
    "workspace_vectors": "",
    "workspace_max_bytes": "",
    "subagent_gems": "",
    "subagent_light": "",
    "inferred_tags": "",
    "capture_list_agent": "",
    "standing_gems": "",
    "weight_lexical": "",
}


class Settings(BaseModel):
    """All settings with their defaults. Field descriptions are the documentation (`neuralstream config list`)."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)

    # capture and triggers
    batch_size: int = Field(5, ge=1, le=100, description="turns per extraction")
    context_threshold: Percent = Field(
        50.0, ge=40, le=80, description="percent of the context window that triggers extraction"
    )
    idle_timeout: Seconds = Field(
        900.0, ge=10, le=86_400, description="seconds without a turn after which the rest is extracted (also '15m')"
    )
    capture: bool = Field(True, description="remember new turns at all")
    capture_third_parties: bool = Field(
        True, description="remember what people other than the owner say (kept apart, never as the owner's words)"
    )
    secret_patterns: Patterns = Field(
        (), max_length=100, description='further secrets to take out, each "name: regular expression"'
    )

    # buffer
    redis_url: str = Field(
        "",
        pattern=r"^$|^(rediss?://\S+|unix://\S(.*\S)?)$",
        description="redis://, rediss:// or unix:// of the turn buffer; empty = the embedded buffer",
    )
    redis_password_env: str = Field("", description="name of the environment variable that holds the Redis password")
    redis: Annotated[RedisOptions, BeforeValidator(table)] = Field(
        RedisOptions.model_validate({}), description="options of the Redis client: a table, or JSON of one"
    )
    lease: Seconds = Field(300.0, ge=5, le=86_400, description="seconds a claimed batch stays claimed")

    # capture list: turns that another layer keeps
    capture_list: str = Field(
        "", description="Redis list or stream of turns that another layer fills (several: with commas); empty = none"
    )
    capture_list_url: str = Field(
        "",
        pattern=r"^$|^(rediss?://\S+|unix://\S(.*\S)?)$",
        description="redis://, rediss:// or unix:// of that list; empty = the server of redis_url",
    )
    capture_list_mode: Literal["read", "take"] = Field(
        "read", description="read leaves the list as it is; take removes what was kept"
    )
    capture_list_owner: str = Field(
        "", description="user ids in that list that are the owner (with commas); others are third parties"
    )

    # extraction
    extractor: Literal["auto", "rules", "ollama", "openai", "host"] = Field(
        "auto",
        description="who distils gems: auto = the endpoint of openai_url, else ollama, each when it answers and has the "
        "model, else rules",
    )
    gem_model: str = Field("qwen3", min_length=1, description="extraction model in Ollama")
    gem_context: int = Field(
        32_768,
        ge=2_048,
        le=262_144,
        description="context window in tokens asked of the extraction model at most; Ollama's "
        "num_ctx grows to it with what is sent",
    )
    model_keep_alive: Seconds = Field(
        600.0, ge=-1, le=604_800, description="seconds Ollama keeps the extraction model loaded; -1 = for good"
    )
    model_daily_tokens: int = Field(
        0,
        ge=0,
        le=10_000_000_000,
        description="tokens a model may cost per UTC day; beyond it rules distil; 0 = no cap",
    )
    model_timeout: Seconds = Field(180.0, gt=0, le=3_600, description="seconds one model answer may take")
    model_attempts: int = Field(3, ge=1, le=20, description="answers refused before a batch goes to the dead letters")
    retry_delay: Seconds = Field(
        30.0, ge=0.1, le=3_600, description="seconds before a service that is away is asked again"
    )
    model_grace: Seconds = Field(
        600.0,
        ge=0,
        le=86_400,
        description="seconds that auto waits for a model that has served this memory before rules distil; 0 = none",
    )
    min_importance: float = Field(0.3, ge=0, le=1, description="gems below this importance are not stored")
    ollama_url: str = Field("http://127.0.0.1:11434", min_length=1, description="where Ollama answers")
    openai_url: str = Field(
        "",
        pattern=r"^$|^https?://\S+$",
        description="address of an OpenAI-compatible endpoint (llama.cpp, vLLM, LM Studio, OpenAI), with its /v1; empty = none",
    )
    openai_model: str = Field("", description="extraction model there; empty = the only one that it serves")
    openai_api_key_env: str = Field(
        "", description="name of the environment variable that holds the endpoint's API key"
    )

    # embedding and index
    embedder: Literal["auto", "embedded", "e5", "ollama", "openai"] = Field(
        "auto",
        description="auto = the one that made the store; for a new store ollama when it has the model, else e5 (multilingual-e5-small "
        "beside the carried encoder) when its package is installed, else embedded",
    )
    embedding: str = Field(
        "snowflake-arctic-embed2",
        min_length=1,
        description="embedding model in Ollama or at the OpenAI-compatible endpoint",
    )
    openai_embedding_url: str = Field(
        "", pattern=r"^$|^https?://\S+$", description="endpoint of the embedding model; empty = openai_url"
    )
    embedding_dimensions: int = Field(1024, ge=8, le=8_192, description="length of the vectors of that model")
    qdrant_url: str = Field(
        "", pattern=r"^$|^https?://\S+$", description="http(s) address of a Qdrant server; empty = the embedded index"
    )
    qdrant_api_key_env: str = Field("", description="name of the environment variable that holds the Qdrant API key")
    qdrant: Annotated[QdrantOptions, BeforeValidator(table)] = Field(
        QdrantOptions.model_validate({}),
        description="options of the Qdrant client and of a collection that is made: a table, or JSON of one",
    )
    collection: str = Field("neuralstream", min_length=1, max_length=200, description="Qdrant collection")

    # recall and injection
    inject: bool = Field(True, description="put remembered records into the prompt at all")
    max_gems_injected: int = Field(10, ge=0, le=100, description="most records injected per turn; 0 = none")
    recall_token_budget: int = Field(1_500, ge=50, le=50_000, description="tokens of one injected block at most")
    recall_threshold: float = Field(
        0.0,
        ge=0,
        le=1,
        description="relevance below which a record is not injected, for who wants silence; 0 = only what is far worse than the best is left out",
    )
    recall_deadline_ms: int = Field(
        300, ge=20, le=10_000, description="milliseconds after which a turn goes on without memory"
    )
    recall_dialogue_turns: int = Field(
        12, ge=0, le=50, description="how many of the last messages of the window are part of the question"
    )
    inject_unconfirmed: bool = Field(
        True,
        description="show what other people, web pages and tools said, labelled as unconfirmed; false = only once confirmed",
    )
    recall_turns: bool = Field(
        True, description="recall also what was said word for word, beside the gems; false = gems and files alone"
    )
    rerank: Literal["off", "auto", "model"] = Field(
        "off",
        description="a second look by the model that distils: auto = at hard questions, model = at every one; what takes "
        "longer than the reply may wait is left out",
    )

    # the start of a session
    session_block: bool = Field(
        True, description="brief the model for a session: who the person is, rules, what is open, the next days"
    )
    session_token_budget: int = Field(300, ge=50, le=20_000, description="tokens of the session block at most")

    # sequences: questions in their order
    sequences: bool = Field(
        True, description="keep questions in their order, with the answers that matter, and find them"
    )
    qa_archive_days: int = Field(30, ge=1, le=3_650, description="days after which a session moves to memory/archive/")
    qa_files: bool = Field(
        True,
        description="write the sequences into the workspace: memory/qa-index.json, memory/sessions/, memory/archive/",
    )

    # assembled contexts
    context_token_budget: int = Field(2_000, ge=100, le=100_000, description="tokens of an assembled context at most")
    context_recency: Percent = Field(
        25.0,
        ge=0,
        le=100,
        description="percent of an assembled context for the newest records, whatever they are about; the rest is what "
        "matches, and what one of the two does not need the other may use",
    )

    # workspaces: the user's Markdown
    workspace: str = Field("", description="folder with the Markdown of the agent main; empty = the one OpenClaw names")
    workspaces: Paired = Field(
        "",
        pattern=r"^\s*$|^[^=;]+=[^=;]+(;[^=;]+=[^=;]+)*;?\s*$",
        description="folders of other agents: agent=/folder; agent=/folder (in settings.toml also a table)",
    )
    workspace_include: Listed = Field(
        "MEMORY.md, memory.md, memory/, notes/, bank/",
        description="which Markdown of a workspace is memory: patterns as in .gitignore, with commas; . = all of it",
    )
    workspace_exclude: Listed = Field("", description="which of it is not: patterns as in .gitignore, with commas")
    workspace_gitignore: bool = Field(True, description="leave out what .gitignore leaves out")
    watch: Literal["auto", "events", "poll", "off"] = Field(
        "auto",
        description="how changes are noticed: auto = the system tells, on network folders they are looked at; off = only harvest",
    )
    watch_poll: Seconds = Field(
        5.0, ge=0.05, le=3_600, description="seconds between looks where the system does not tell"
    )
    watch_sweep: Seconds = Field(
        300.0, ge=0.1, le=86_400, description="seconds between looks at everything all the same"
    )
    timezone: Zone = Field("", description="whose day it is in daily logs, e.g. Europe/Berlin; empty = this machine's")

    # together with OpenClaw
    forget_with_host: bool = Field(
        True, description="when a session is deleted in OpenClaw, what was derived from it is forgotten, too"
    )
    memory_slot: bool = Field(
        False,
        description="hold OpenClaw's memory slot, in the place of its own memory plugin; neuralstream install takes it or gives it back",
    )

    # reflection
    reflect_every: Seconds = Field(
        86_400.0,
        ge=0,
        le=31_536_000,
        description="seconds between reflections over a workspace (also '12h'); 0 = only when asked for",
    )
    memory_md: Literal["off", "augment", "replace"] = Field(
        "off",
        description="the slim part of MEMORY.md: off = only proposed; augment = kept up to date beside what stands there; "
        "replace = as augment, and what stands there is proposed to give way",
    )
    memory_md_budget: int = Field(
        4_000, ge=500, le=18_000, description="characters of that part at most; the host cuts the file at 20,000"
    )
    memory_md_every: Seconds = Field(
        21_600.0,
        ge=0,
        le=31_536_000,
        description="least seconds between two changes of it: each costs the prompt cache",
    )

    # process
    idle_exit: Seconds = Field(
        600.0, ge=5, le=86_400, description="seconds without client and work after which the process ends itself"
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="least severity that is logged")

    # sub-agents
    subagent_brief: bool = Field(True, description="brief a sub-agent for its task at its first request")
    subagent_token_budget: int = Field(1_000, ge=50, le=50_000, description="tokens of a sub-agent's brief at most")
    subagent_findings: bool = Field(True, description="keep what a sub-agent found, in its parent's memory")

    # hooks and templates
    hooks_dir: str = Field("", description="folder with hooks of your own; empty = hooks/ in the state directory")
    hook_timeout: Seconds = Field(
        2.0, gt=0, le=600, description="seconds a hook of your own may take; half of the deadline on the reply path"
    )
    templates_dir: str = Field(
        "", description="folder with templates of your own; empty = templates/ in the state directory"
    )


class Loaded(BaseModel):
    """Settings and where each value that is not a default came from (setting → source)."""

    model_config = ConfigDict(frozen=True)

    settings: Settings
    sources: dict[str, str]
    warnings: tuple[str, ...] = ()


def retired(name: str) -> str:
    """Where a retired setting is now, in words."""
    now = RETIRED[name]
    return f"{name} is now {now}" if now else f"{name} is no setting any more, its value is fixed"


def current(layer: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a layer without the retired ones; what has only a new name is taken over."""
    kept = {name: value for name, value in layer.items() if name not in RETIRED}
    for name in layer.keys() & RETIRED.keys():
        whole, _, option = RETIRED[name].partition(".")
        given = table(kept.get(whole, {}))
        if option and isinstance(given, dict):
            kept[whole] = {option: layer[name], **given}
    return kept


def load(
    state_dir: Path,
    *,
    environ: Mapping[str, str] | None = None,
    host: Mapping[str, Any] | None = None,
) -> Loaded:
    """Merge defaults < `settings.toml` < environment < host config and validate all of it at once.

    Raises SettingsError that names every refused setting with its value, its range and the source it came from.
    """
    path = state_dir / FILE_NAME
    layers = (
        (str(path), _read_file(path)),
        ("environment", _read_environment(os.environ if environ is None else environ)),
        ("host config", dict(host or {})),
    )
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    warnings: list[str] = []
    for source, found in layers:
        warnings += (f"{retired(name)} [{source}]" for name in found if name in RETIRED)
        for name, value in current(found).items():
            before, now = table(values.get(name)), table(value)
            values[name] = {**before, **now} if isinstance(before, dict) and isinstance(now, dict) else value
            sources[name] = source
    settings = validate(values, sources, where=str(path))
    return Loaded(settings=settings, sources=sources, warnings=tuple(warnings))


def validate(values: Mapping[str, Any], sources: Mapping[str, str] | None = None, *, where: str = "") -> Settings:
    """Settings from plain values. Raises SettingsError with one line per problem."""
    try:
        return Settings.model_validate(dict(values))
    except ValidationError as error:
        problems = [_problem(item, dict(values), sources or {}) for item in error.errors()]
        raise SettingsError(
            problems, where=where, fix="neuralstream config list shows every setting and its range"
        ) from None


def shown(value: Any) -> Any:
    """A value as it may be shown: the user and password of an address are cut out."""
    if not isinstance(value, str):
        return value
    return re.sub(r"(?<=[?&]password=)[^&\s]+", "…", re.sub(r"(?<=://)[^/@\s]+@", "…@", value))


def allowed(name: str) -> str:
    """The range or choices of a setting in words, e.g. '40 to 80' or 'auto, rules, ollama, host'."""
    schema = schemas()[name]
    if "enum" in schema:
        return ", ".join(map(str, schema["enum"]))
    if schema.get("type") == "boolean":
        return "true or false"
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    high = schema.get("maximum", schema.get("exclusiveMaximum"))
    if low is not None and high is not None:
        above = "above " if "exclusiveMinimum" in schema else ""
        return f"{above}{_plain(low)} to {_plain(high)}"
    if schema.get("pattern"):
        example = "an address like http://host:6333"
        return f"{_FORMS.get(name, example)}, or empty"
    return {
        "array": 'a list of texts like ["name: regular expression"]',
        "object": f"a table of the options {name}.…",
    }.get(schema.get("type", ""), "text")


def value_of(settings: Settings, name: str) -> Any:
    """The value of a setting, or of an option of a table: `redis.username`."""
    return reduce(getattr, name.split("."), settings)


@cache
def schemas() -> dict[str, dict[str, Any]]:
    """JSON schema of every setting, and of each option of a table behind it: `redis.username`."""
    whole = Settings.model_json_schema()
    found: dict[str, dict[str, Any]] = {}
    for name, schema in whole["properties"].items():
        found[name] = schema
        if "$ref" in schema:
            found[name] = {"type": "object", "description": schema["description"], "default": ""}
            options = whole["$defs"][schema["$ref"].rpartition("/")[2]]["properties"]
            found |= {f"{name}.{option}": one for option, one in options.items()}
    return found


def _plain(number: float) -> str:
    return f"{number:g}" if abs(number) < 1e6 else f"{int(number)}"


def _problem(item: Any, values: Mapping[str, Any], sources: Mapping[str, str]) -> str:
    path = [part for part in item["loc"] if isinstance(part, str)]
    name = ".".join(path[:2]) or "settings"
    source = f" [{sources[path[0]]}]" if path and path[0] in sources else ""
    if item["type"] == "extra_forbidden":
        return f"{name}: unknown setting{nearest(name)}{source}"
    if item["type"] == "value_error":
        return f"{name}: {item['ctx']['error']}{source}"
    return (
        f"{name}: must be {allowed(name)} (got {shown(item['input'] if len(path) > 1 else values.get(name))!r}){source}"
    )


def nearest(name: str) -> str:
    """A guess which setting was meant, or ""."""
    import difflib

    close = difflib.get_close_matches(name, schemas(), n=1)
    return f", did you mean {close[0]}?" if close else ""


def _read_file(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError([f"cannot be read: {error}"], where=str(path)) from error
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError([f"not valid TOML: {error}"], where=str(path)) from error


def _read_environment(environ: Mapping[str, str]) -> dict[str, str]:
    found = {name.removeprefix(ENV_PREFIX): value for name, value in environ.items() if name.startswith(ENV_PREFIX)}
    return {name.lower(): value for name, value in found.items() if name not in ENV_RESERVED}
