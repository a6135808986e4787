"""Stores built from settings: Redis and Qdrant where they are configured, the embedded ones, whoever needs one of them."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

from openclaw_neuralstream.model import EmbedderIdentity
from openclaw_neuralstream.settings import Settings
from openclaw_neuralstream.state import StateDir
from openclaw_neuralstream.store.truth import Truth

if TYPE_CHECKING:
    from openclaw_neuralstream.store.flat_index import FlatIndex
    from openclaw_neuralstream.store.passages import PassageIndex
    from openclaw_neuralstream.store.qdrant_index import QdrantIndex
    from openclaw_neuralstream.store.qdrant_link import QdrantLink
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
    from openclaw_neuralstream.store.qdrant_link import QdrantLink

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
