"""The way to one Redis or Valkey server, the home of redis-py: address, credentials, TLS, and what its settings risk."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from openclaw_neuralstream.errors import SettingsError, VendorAway

_ADDRESS = "use redis://host:6379/0, rediss://host:6380/0 or unix:///path/to.sock"


@dataclass(frozen=True, slots=True)
class Access:
    """Who we are to the server, and how we know that it is the right one. Files are PEM; "" = none.

    password: from the environment, never from a setting. ca_file: "" trusts what the system trusts.
    """

    username: str = ""
    password: str = ""
    ca_file: str = ""
    client_cert: str = ""
    client_key: str = ""
    check_hostname: bool = True


@dataclass(frozen=True, slots=True)
class Risk:
    """Something of the server's settings that can cost an accepted turn, and the command that mends it."""

    what: str
    mend: str


class RedisLink:
    """One server, connected at the first command. Close it after use."""

    def __init__(self, url: str, *, timeout: float = 2.0, access: Access = Access()) -> None:
        """Raises SettingsError for an address that cannot be one, or TLS files beside an address without TLS."""
        self.where = without_password(url)
        try:
            self.client = redis.Redis.from_url(
                url,
                socket_timeout=timeout,
                socket_connect_timeout=timeout,
                retry=Retry(NoBackoff(), 1, supported_errors=(redis.exceptions.ConnectionError,)),
                **_credentials(access),
                **_tls(url, access),
            )
        except ValueError as error:
            raise SettingsError([f"redis_url: {error}"], where=self.where, fix=_ADDRESS) from error

    def close(self) -> None:
        """Release the connections."""
        self.client.close()

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Whatever goes wrong inside is VendorAway, with what mends it."""
        try:
            yield
        except (redis.exceptions.RedisError, OSError) as error:
            raise VendorAway(f"Redis does not serve: {error}", where=self.where, fix=_remedy(str(error))) from error

    def risks(self) -> list[Risk]:
        """What the server's settings put at risk; [] when every accepted turn is on its disk and stays there."""
        with self.answering():
            try:
                found: dict[Any, Any] = self.client.config_get(
                    "appendonly", "appendfsync", "maxmemory", "maxmemory-policy"
                )
                state: dict[Any, Any] = self.client.info("persistence")
            except redis.exceptions.ResponseError:
                what = "the server does not tell whether it writes to disk (CONFIG or INFO is not allowed)"
                return [Risk(what, "allow it: ACL SETUSER … +config|get +info, or look at its configuration yourself")]
        return list(_risks(_words(found), _words(state), self._command))

    def _command(self, *words: str) -> str:
        """The command line that sets these on this server, now and for its next start."""
        parts = urlsplit(self.where)
        to = f"-s {shlex.quote(parts.path)}" if parts.scheme == "unix" else f"-u {shlex.quote(self.where)}"
        return f"redis-cli {to} config set {' '.join(words)} && redis-cli {to} config rewrite"


def _risks(found: Mapping[str, str], state: Mapping[str, str], command: Any) -> Iterator[Risk]:
    if found.get("appendonly") != "yes":
        what = "the server keeps turns in memory only (appendonly no): a restart loses what waits"
        yield Risk(what, command("appendonly", "yes", "appendfsync", "always"))
    elif found.get("appendfsync") != "always":
        what = f"appendfsync is {found.get('appendfsync')}: a crash of the server may lose its last turns"
        yield Risk(what, command("appendfsync", "always"))
    if found.get("maxmemory", "0") != "0" and found.get("maxmemory-policy", "").startswith("allkeys"):
        what = f"maxmemory-policy is {found['maxmemory-policy']}: a full server throws away turns that wait"
        yield Risk(what, command("maxmemory-policy", "noeviction"))
    if state.get("aof_last_write_status", "ok") != "ok":
        yield Risk(
            "the server could not write its file the last time (aof_last_write_status)", "free space on its disk"
        )


def without_password(url: str) -> str:
    """The address as it may be shown."""
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
    except ValueError:
        return "redis_url"
    return f"{parts.scheme}://{host}{parts.path}"


def _credentials(access: Access) -> dict[str, str]:
    given = {"username": access.username, "password": access.password}
    return {name: value for name, value in given.items() if value}


def _tls(url: str, access: Access) -> dict[str, Any]:
    files = {
        "ssl_ca_certs": access.ca_file,
        "ssl_certfile": access.client_cert,
        "ssl_keyfile": access.client_key or access.client_cert,
    }
    given = {name: value for name, value in files.items() if value}
    if url.startswith("rediss://"):
        return {**given, "ssl_cert_reqs": "required", "ssl_check_hostname": access.check_hostname}
    if given:
        problem = (
            "redis_ca_file and redis_client_cert are for a rediss:// address: this one sends everything in the clear"
        )
        raise SettingsError([problem], where=without_password(url), fix="set redis_url to rediss://host:port/0")
    return {}


def _remedy(said: str) -> str:
    low = said.lower()
    if "certificate" in low or "hostname" in low:
        return "set redis_ca_file to the PEM file of the authority that signed it, and redis_url to the name it is made out to"
    if any(
        word in low for word in ("noauth", "wrongpass", "authentication", "noperm", "permission", "username-password")
    ):
        return "set redis_username, and redis_password_env to the name of the variable that holds the password"
    return "start the server or mend redis_url; new turns wait in the embedded buffer meanwhile"


def _words(found: Mapping[Any, Any]) -> dict[str, str]:
    return {_word(name): _word(value) for name, value in found.items()}


def _word(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
