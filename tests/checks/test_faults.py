"""Every fault of a server is told as what it is, in `doctor` and in `status`, with what mends it.

One row a fault: the stand-ins answer as the real servers do. Where `NEURALSTREAM_TEST_QDRANT_URL` or
`NEURALSTREAM_TEST_OLLAMA_URL` names a real server, the rows that need no misbehaviour of it run there.
"""

from __future__ import annotations

import socket
import ssl
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
import redis
import trustme
from qdrant_client import QdrantClient, models

from openclaw_neuralstream.cli import status as status_command
from openclaw_neuralstream.cli.checks.finding import Finding, Grade
from openclaw_neuralstream.cli.checks.process import process
from openclaw_neuralstream.memory import wiring
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.server import moments
from openclaw_neuralstream.server.status import status
from openclaw_neuralstream.state import StateDir
from tests.ollama_server import ollama_server
from tests.openai_server import openai_server
from tests.qdrant_server import QdrantServer
from tests.real_servers import OLLAMA_EMBEDDING, OLLAMA_URL, QDRANT_API_KEY, QDRANT_URL
from tests.valkey import ValkeyServer
from tests.waiting import until
from tests.worlds import turn_event

FACT = "We decided to keep the backups of the photo archive on the NAS in the cellar."
SIZE = 512  # of the carried encoder

Servers = Callable[[Path], AbstractContextManager[dict[str, str]]]
"""Settings that lead to a server with a fault, which ends with the block."""

pytestmark = pytest.mark.filterwarnings("ignore:Api key is used")


# --- the servers, each with its fault -----------------------------------------------------------------------------------


def nobody(setting: str, scheme: str = "http", **more: str) -> Servers:
    @contextmanager
    def at(_: Path) -> Iterator[dict[str, str]]:
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = probe.getsockname()[1]
        yield {setting: f"{scheme}://127.0.0.1:{port}", **more}

    return at


def silent(setting: str, scheme: str, **more: str) -> Servers:
    """It takes connections and never answers."""

    @contextmanager
    def at(_: Path) -> Iterator[dict[str, str]]:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            yield {setting: f"{scheme}://127.0.0.1:{listening.getsockname()[1]}", **more}

    return at


def certified(folder: Path) -> ssl.SSLContext:
    """A server's own context, by an authority that nobody knows."""
    authority, context = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.cert_pem.write_to_path(str(folder / "authority.pem"))
    authority.issue_cert("127.0.0.1", "localhost").configure_cert(context)
    return context


def faulty_qdrant(*, tls: bool = False, **fields: Any) -> Servers:
    @contextmanager
    def at(folder: Path) -> Iterator[dict[str, str]]:
        server = QdrantServer(tls=certified(folder) if tls else None, **fields).start()
        try:
            yield {"QDRANT_URL": server.url, "QDRANT": '{"timeout": 1}'}
        finally:
            server.stop()

    return at


def collection(vectors: Any, *, theirs: bool = False) -> Servers:
    """A collection that is there already. theirs: with a point of somebody else in it."""

    @contextmanager
    def at(_: Path) -> Iterator[dict[str, str]]:
        with ExitStack() as ends:
            url, name = QDRANT_URL, f"test-{uuid.uuid4().hex}"
            if not url:
                stand_in = QdrantServer().start()
                ends.callback(stand_in.stop)
                url = stand_in.url
            client = ends.enter_context(closing(QdrantClient(url, api_key=QDRANT_API_KEY or None, check_compatibility=False)))
            ends.callback(client.delete_collection, name)
            client.create_collection(name, vectors)
            if theirs:
                client.upsert(name, [models.PointStruct(id=1, vector=[1.0] * vectors.size, payload={"theirs": True})])
            key = {"QDRANT_API_KEY_ENV": "THE_KEY", "THE_KEY": QDRANT_API_KEY} if QDRANT_API_KEY else {}
            yield {"QDRANT_URL": url, "COLLECTION": name, **key}

    return at


def valkey(*commands: str, options: dict[str, str] | None = None, broken_file: bool = False, **more: str) -> Servers:
    """commands: what an administrator has typed. broken_file: its snapshot cannot be written."""

    @contextmanager
    def at(_: Path) -> Iterator[dict[str, str]]:
        server = ValkeyServer(**(options or {})).start()
        try:
            with redis.Redis.from_url(server.url) as admin:
                if broken_file:
                    (server.folder / "dump.rdb").mkdir()
                    admin.bgsave()
                    until(lambda: admin.info("persistence")["rdb_last_bgsave_status"] == "err")
                for command in commands:
                    admin.execute_command(command)
            yield {"REDIS_URL": server.url, **more}
        finally:
            server.kill()  # one that cannot save does not end by itself
            server.stop()

    return at


def faulty_ollama(*, tls: bool = False, role: str = "EXTRACTOR", **fields: Any) -> Servers:
    @contextmanager
    def at(folder: Path) -> Iterator[dict[str, str]]:
        with ollama_server(tls=certified(folder) if tls else None, **fields) as server:
            yield {"OLLAMA_URL": server.url, role: "ollama", "MODEL_TIMEOUT": "1", "EXTRACTOR": "rules" if role == "EMBEDDER" else "ollama"}
            server.released.set()

    return at


@contextmanager
def ollama_of_another_size(_: Path) -> Iterator[dict[str, str]]:
    given = {"EMBEDDER": "ollama", "EXTRACTOR": "rules", "EMBEDDING_DIMENSIONS": "77"}
    if OLLAMA_URL:
        yield {**given, "OLLAMA_URL": OLLAMA_URL, "EMBEDDING": OLLAMA_EMBEDDING}
        return
    with ollama_server() as server:
        yield {**given, "OLLAMA_URL": server.url}


@contextmanager
def ollama_without_the_model(_: Path) -> Iterator[dict[str, str]]:
    given = {"EXTRACTOR": "ollama", "GEM_MODEL": "nobody-has-this"}
    if OLLAMA_URL:
        yield {**given, "OLLAMA_URL": OLLAMA_URL}
        return
    with ollama_server() as server:
        yield {**given, "OLLAMA_URL": server.url}


def faulty_openai(**fields: Any) -> Servers:
    @contextmanager
    def at(_: Path) -> Iterator[dict[str, str]]:
        with openai_server(**fields) as server:
            yield {
                "OPENAI_EMBEDDING_URL": server.url, "EMBEDDING": "qwen3", "EMBEDDER": "openai", "EXTRACTOR": "rules",
                "EMBEDDING_DIMENSIONS": "64", "MODEL_TIMEOUT": "1",
            }  # fmt: skip
            server.released.set()

    return at


# --- the table ----------------------------------------------------------------------------------------------------------

COSINE, DOT = models.Distance.COSINE, models.Distance.DOT
NAMED = {"text": models.VectorParams(size=SIZE, distance=COSINE), "image": models.VectorParams(size=64, distance=COSINE)}
OURS = models.VectorParams(size=SIZE, distance=DOT)
PASSWORD = {"REDIS_PASSWORD_ENV": "THE_PASSWORD", "THE_PASSWORD": "wrong"}
server = pytest.mark.server

FAULTS = [
    # where it is, which check tells it, what is said, what mends it
    ("qdrant: nobody listens", nobody("QDRANT_URL"), "index", "nothing listens", "start the server"),
    ("qdrant: no such machine", lambda _: _settings(QDRANT_URL="http://nobody.invalid:6333"), "index", "no machine of this name", "qdrant_url"),
    ("qdrant: slow", faulty_qdrant(failure="slow"), "index", "did not answer within 1 s", "qdrant.timeout"),
    ("qdrant: busy", faulty_qdrant(failure="busy"), "index", "Service is overloaded", "how busy"),
    ("qdrant: without a key", faulty_qdrant(api_key="key"), "index", "Must provide an API key", "qdrant_api_key_env"),
    ("qdrant: a key that may only read", faulty_qdrant(failure="read-only"), "index", "Write access", "right to write"),
    ("qdrant: its disk is full", faulty_qdrant(failure="full"), "index", "No space left on device", "server's log"),
    ("qdrant: an unknown certificate", faulty_qdrant(tls=True), "index", "certificate is not trusted", "SSL_CERT_FILE"),
    ("qdrant: something else answers", faulty_qdrant(failure="html"), "index", "does not answer", "qdrant_url"),
    ("qdrant: too old", faulty_qdrant(version="1.8.4"), "index", "1.8.4, 1.10 is the least", "upgrade"),
    ("qdrant: another size", collection(models.VectorParams(size=64, distance=COSINE)), "index", f"vectors of 64 numbers, the embedder use-multilingual-v3/512 gives vectors of {SIZE}", "neuralstream admin reembed"),
    ("qdrant: another distance", collection(OURS), "index", "distance Dot, Cosine is needed", "neuralstream admin reembed"),
    ("qdrant: named vectors", collection(NAMED), "index", "named vectors (image, text)", "neuralstream admin reembed"),
    ("qdrant: another's collection", collection(OURS, theirs=True), "index", "distance Dot", "config set collection"),
    ("redis: nobody listens", nobody("REDIS_URL", "redis"), "services", "nothing listens", "start the server"),
    ("redis: no such socket", lambda _: _settings(REDIS_URL="unix:///nowhere/at/all.sock"), "services", "no socket at its path", "redis_url"),
    ("redis: slow", silent("REDIS_URL", "redis", REDIS='{"socket_timeout": 0.3}'), "services", "did not answer within 0.3 s", "redis.socket_timeout"),
    pytest.param("redis: a wrong password", valkey("CONFIG SET requirepass right", **PASSWORD), "services", "refuses our user or password", "redis_password_env", marks=server),
    pytest.param("redis: no password", valkey("CONFIG SET requirepass right"), "services", "refuses our user or password", "redis_password_env", marks=server),
    pytest.param("redis: no rights", valkey("ACL SETUSER default -@write"), "services", "permissions", "docs/servers.md", marks=server),
    pytest.param("redis: full", valkey("CONFIG SET maxmemory 1"), "services", "Redis is full (maxmemory)", "raise maxmemory", marks=server),
    pytest.param("redis: a replica", valkey("REPLICAOF 127.0.0.1 1"), "services", "read-only replica", "the primary", marks=server),
    pytest.param("redis: no replicas", valkey("CONFIG SET min-replicas-to-write 1"), "services", "without its replicas", "start its replicas", marks=server),
    pytest.param("redis: it cannot save", valkey(options={"save": "3600 1"}, broken_file=True), "services", "cannot save its file", "the server's disk", marks=server),
    ("ollama: nobody listens", nobody("OLLAMA_URL", EXTRACTOR="ollama"), "services", "nothing listens", "ollama serve"),
    ("ollama: no such model", ollama_without_the_model, "services", "no model nobody-has-this", "ollama pull nobody-has-this"),
    ("ollama: no rights", faulty_ollama(failure="denied"), "services", "unauthorized (HTTP 401)", "what stands before it"),
    ("ollama: slow to answer", faulty_ollama(failure="slow", role="EMBEDDER"), "services", "too slow", "model_timeout"),
    ("ollama: busy", faulty_ollama(failure="busy", role="EMBEDDER"), "services", "server busy", "ollama ps"),
    ("ollama: an unknown certificate", faulty_ollama(tls=True), "services", "certificate is not trusted", "SSL_CERT_FILE"),
    ("ollama: another size", ollama_of_another_size, "services", "the index holds 77", "embedding_dimensions"),
    ("endpoint: nobody listens", nobody("OPENAI_EMBEDDING_URL", EMBEDDER="openai", EXTRACTOR="rules"), "services", "nothing listens", "start the server"),
    ("endpoint: a wrong key", faulty_openai(failure="denied"), "services", "Incorrect API key", "openai_api_key_env"),
    ("endpoint: the account is empty", faulty_openai(failure="quota"), "services", "exceeded your current quota", "account"),
    ("endpoint: slow", faulty_openai(failure="slow"), "services", "too slow", "model_timeout"),
    ("endpoint: another size", faulty_openai(dimensions=32), "services", "vectors of 32 numbers, the index holds 64", "embedding_dimensions 32"),
]  # fmt: skip


@contextmanager
def _settings(**given: str) -> Iterator[dict[str, str]]:
    yield given


@contextmanager
def opened(given: dict[str, str], folder: Path, patch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """A memory with these settings; a name that is no setting is a variable of the environment."""
    for name, value in {"EMBEDDER": "embedded", "EXTRACTOR": "rules", "RETRY_DELAY": "0.1", **given}.items():
        patch.setenv(name if name.startswith("THE_") else f"NEURALSTREAM_{name}", value)
    memory = wiring.open_memory(StateDir(folder / "state"), start=False)
    try:
        yield memory
    finally:
        memory.close()


def worked(memory: Memory) -> dict[str, Any]:
    """What the process says of itself after a turn was kept and distilled."""
    moments.turn_end(memory, turn_event(FACT))
    memory.flush()
    return status(memory)


def broken(now: dict[str, Any], memory: Memory) -> list[Finding]:
    return [f for f in process(now, version=now["version"], today=memory.now()) if f.grade is Grade.BROKEN]


@pytest.mark.parametrize(("name", "at", "check", "says", "fix"), FAULTS, ids=lambda value: value if isinstance(value, str) and ": " in value else "")
def test_a_fault_is_told_as_what_it_is(
    *, name: str, at: Servers, check: str, says: str, fix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with at(tmp_path) as given, opened(given, tmp_path, monkeypatch) as memory:
        now = worked(memory)
        found = [f for f in broken(now, memory) if f.check in ("services", "index")]
        assert [f.check for f in found] == [check], found
        assert says in found[0].what
        assert fix in found[0].fix
        assert any(says in words for _, words in status_command._lines(now))
        gems, waiting = memory.truth.gem_count(), now["buffer"]["waiting"]
        assert gems + waiting == 1, "the turn is neither a gem nor waiting"


# --- until it is mended -------------------------------------------------------------------------------------------------


@pytest.mark.server
def test_a_full_redis_stays_named_until_it_takes_a_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with valkey("CONFIG SET maxmemory 1")(tmp_path) as given, opened(given, tmp_path, monkeypatch) as memory:
        worked(memory)
        memory.away._until.clear()
        assert "Redis is full" in status(memory)["failures"]["RedisBuffer"]["what"]
        with redis.Redis.from_url(given["REDIS_URL"]) as admin:
            admin.config_set("maxmemory", "0")
        memory.away._until.clear()
        assert worked(memory)["failures"] == {}


@pytest.mark.server
def test_turns_in_a_buffer_that_cannot_be_reached_are_said_to_be_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    valkey_server = ValkeyServer().start()
    with ExitStack() as ends:
        ends.callback(valkey_server.stop)
        memory = ends.enter_context(opened({"REDIS_URL": valkey_server.url}, tmp_path, monkeypatch))
        moments.turn_end(memory, turn_event(FACT))
        assert (status(memory)["buffer"]["waiting"], status(memory)["buffer"]["unreached"]) == (1, [])
        valkey_server.kill()
        now = status(memory)
        assert now["buffer"]["unreached"] == ["RedisBuffer"]
        assert any("cannot be reached" in words for _, words in status_command._lines(now))
        found = process(now, version=now["version"], today=memory.now())
        assert any("how many turns wait in the turn buffer is not known" in f.what for f in found)
        valkey_server.start()
        assert (status(memory)["buffer"]["waiting"], status(memory)["failures"]) == (1, {})


@pytest.mark.parametrize("vectors", [models.VectorParams(size=64, distance=COSINE), OURS, NAMED], ids=["size", "distance", "named"])
def test_reembed_mends_a_collection_that_does_not_fit(vectors: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with collection(vectors)(tmp_path) as given, opened(given, tmp_path, monkeypatch) as memory:
        assert broken(worked(memory), memory)
        memory._reembed()
        assert broken(status(memory), memory) == []
        assert memory.parts.index.count() == 1


def test_reembed_leaves_what_others_put_into_a_collection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with collection(OURS, theirs=True)(tmp_path) as given, opened(given, tmp_path, monkeypatch) as memory:
        worked(memory)
        memory._reembed()
        assert broken(status(memory), memory)
        with closing(QdrantClient(given["QDRANT_URL"], api_key=QDRANT_API_KEY or None)) as client:
            assert client.count(given["COLLECTION"]).count == 1


@pytest.mark.parametrize("at", [faulty_qdrant(tls=True), faulty_ollama(tls=True, role="EMBEDDER")], ids=["qdrant", "ollama"])
def test_the_authority_that_is_named_is_trusted(at: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    with at(tmp_path) as given, opened(given, tmp_path, monkeypatch) as memory:
        assert broken(worked(memory), memory) == []
