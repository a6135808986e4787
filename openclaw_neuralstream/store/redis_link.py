"""The connection to Redis: its reasons in plain words, and the scripts that run there."""

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

from openclaw_neuralstream.errors import (
    UNTRUSTED,
    SettingsError,
    VendorAway,
    VendorBusy,
    VendorRefused,
    VendorSlow,
    line_failure,
)

_MEANWHILE = "new turns wait in the embedded buffer meanwhile"
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
        self._timeout = timeout
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
            raise self._told(error) from error

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

    def _told(self, error: Exception) -> VendorAway:
        """A failure of the library or of the line as ours, by its type."""
        for kinds, what, fix in _REFUSALS:
            if isinstance(error, kinds):
                return VendorRefused(f"{what}: {error}", where=self.where, fix=fix)
        if isinstance(error, redis.exceptions.BusyLoadingError):
            fix = "wait; a big file takes minutes"
            return VendorBusy("Redis is loading its file", where=self.where, fix=fix)
        if isinstance(error, redis.exceptions.ResponseError):
            return self._answered_with_an_error(error)
        if isinstance(error, redis.exceptions.TimeoutError | TimeoutError):
            fix = f"look what holds it up (redis-cli slowlog get), or: {_more('redis.socket_timeout', self._timeout)}"
            return VendorSlow(f"Redis did not answer within {self._timeout:g} s", where=self.where, fix=fix)
        why = line_failure(error)
        fix = f"start the server or mend redis_url; {_MEANWHILE}"
        if why.startswith(UNTRUSTED):
            fix = "set redis.ssl_ca_certs to the PEM file of the authority that signed it, and redis_url to the name it is made out to"
        return VendorAway(f"Redis does not answer: {why or error}", where=self.where, fix=fix)

    def _answered_with_an_error(self, error: redis.exceptions.ResponseError) -> VendorRefused:
        """One for which the library has no type; its first word is the server's own code."""
        what, fix = _CODES.get(str(error).partition(" ")[0], ("Redis refuses", _RIGHTS))
        return VendorRefused(f"{what}: {error}", where=self.where, fix=fix)

    def _command(self, *words: str) -> str:
        """The command line that sets these on this server, now and for its next start."""
        parts = urlsplit(self.where)
        to = f"-s {shlex.quote(parts.path)}" if parts.scheme == "unix" else f"-u {shlex.quote(self.where)}"
        return f"redis-cli {to} config set {' '.join(words)} && redis-cli {to} config rewrite"


_RIGHTS = "look at the server's log; the user redis.username needs the commands and keys that docs/servers.md names"
_REFUSALS: tuple[tuple[tuple[type[Exception], ...], str, str], ...] = (
    # exceptions of the library, what they mean, what mends it
    (
        (redis.exceptions.AuthenticationError, redis.exceptions.AuthenticationWrongNumberOfArgsError),
        "Redis refuses our user or password",
        "set redis.username, and redis_password_env to the name of the variable that holds the password",
    ),
    ((redis.exceptions.NoPermissionError,), "Redis does not allow its user this", _RIGHTS),
    (
        (redis.exceptions.OutOfMemoryError,),
        "Redis is full (maxmemory) and takes no turns",
        f"raise maxmemory on the server, or make room there; {_MEANWHILE}",
    ),
    (
        (redis.exceptions.ReadOnlyError,),
        "Redis is a read-only replica and takes no turns",
        f"set redis_url to the primary; {_MEANWHILE}",
    ),
    (
        (redis.exceptions.ClusterError, redis.exceptions.MovedError, redis.exceptions.ClusterCrossSlotError),
        "this is a Redis Cluster, which is not supported",
        "set redis_url to a single server, or a primary with replicas (docs/servers.md)",
    ),
)
_CODES = {
    # error codes of the server without an exception of their own
    "MISCONF": (
        "Redis cannot save its file and takes no turns",
        f"make room on the server's disk and look at its log; {_MEANWHILE}",
    ),
    "NOREPLICAS": ("Redis takes no turns without its replicas", f"start its replicas; {_MEANWHILE}"),
}


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
        problem = "redis.ssl_ca_certs and redis.ssl_certfile are for a rediss:// address: this one sends everything in the clear"
        raise SettingsError([problem], where=without_password(url), fix="set redis_url to rediss://host:port/0")
    return {}


def _more(setting: str, seconds: float) -> str:
    return f"neuralstream config set {setting} {max(5, 2 * seconds):g}s"


def _words(found: Mapping[Any, Any]) -> dict[str, str]:
    return {_word(name): _word(value) for name, value in found.items()}


def _word(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


_TRIM = """
local function remember(key, member, now, keep_seconds, keep_count)
    redis.call('ZADD', key, now, member)
    redis.call('ZREMRANGEBYSCORE', key, '-inf', now - keep_seconds)
    redis.call('ZREMRANGEBYRANK', key, 0, -1 - keep_count)
end
"""

_GIVE_BACK = """
local function give_back(p, q, ids)
    for _, id in ipairs(ids) do
        local head = redis.call('HGET', p .. ':heads:' .. q, id)
        if head then redis.call('ZADD', p .. ':waiting:' .. q, string.match(head, '(%S+)$'), id) end
    end
end
"""

_FORGET_EMPTY = """
local function forget_empty(p, q)
    if redis.call('HLEN', p .. ':heads:' .. q) == 0 then
        redis.call('HDEL', p .. ':sessions', q)
        redis.call('DEL', p .. ':tries:' .. q, p .. ':claims:' .. q)
    end
end
"""

APPEND = (
    _TRIM
    + """
local p, q, session, id, epoch, at, number, floor, body = unpack(ARGV, 1, 9)
local now, keep_seconds, keep_count = tonumber(ARGV[10]), tonumber(ARGV[11]), tonumber(ARGV[12])
if redis.call('ZSCORE', p .. ':seen', id) or redis.call('HEXISTS', p .. ':heads:' .. q, id) == 1 then return 0 end
local last = math.max(tonumber(redis.call('GET', p .. ':number:' .. q) or '0'), tonumber(floor))
local n = tonumber(number)
if n == 0 then n = last + 1 end
if n > last then redis.call('SET', p .. ':number:' .. q, string.format('%d', n)) end
redis.call('HSET', p .. ':bodies:' .. q, id, body)
redis.call('HSET', p .. ':heads:' .. q, id, epoch .. ' ' .. at .. ' ' .. string.format('%d', n))
redis.call('ZADD', p .. ':waiting:' .. q, n, id)
redis.call('HSET', p .. ':sessions', q, session)
remember(p .. ':seen', id, now, keep_seconds, keep_count)
return n
"""
)

CLAIM = (
    _GIVE_BACK
    + """
local p, q, token = ARGV[1], ARGV[2], ARGV[3]
local limit, now, lease_until = tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]
local claims = redis.call('HGETALL', p .. ':claims:' .. q)
for i = 1, #claims, 2 do
    local claim = cjson.decode(claims[i + 1])
    if claims[i] == token then redis.call('HDEL', p .. ':claims:' .. q, token) give_back(p, q, claim.ids)
    elseif tonumber(claim.lease_until) <= now then
        redis.call('HDEL', p .. ':claims:' .. q, claims[i])
        give_back(p, q, claim.ids)
    end
end
local ids, epoch, found = {}, nil, {}
for _, id in ipairs(redis.call('ZRANGE', p .. ':waiting:' .. q, 0, limit - 1)) do
    local head = redis.call('HGET', p .. ':heads:' .. q, id)
    local own = string.match(head, '^%S+')
    if epoch and own ~= epoch then break end
    epoch = own
    ids[#ids + 1] = id
    found[#found + 1] = { id, string.match(head, '(%S+)$'), redis.call('HGET', p .. ':bodies:' .. q, id) }
end
if #ids == 0 then return { 0, {} } end
for _, id in ipairs(ids) do redis.call('ZREM', p .. ':waiting:' .. q, id) end
redis.call('HSET', p .. ':claims:' .. q, token, cjson.encode({ lease_until = lease_until, ids = ids }))
return { redis.call('HINCRBY', p .. ':tries:' .. q, ids[1], 1), found }
"""
)

COMMIT = (
    _TRIM
    + _FORGET_EMPTY
    + """
local p, q, token = ARGV[1], ARGV[2], ARGV[3]
local now, keep_seconds, keep_count = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local claim = redis.call('HGET', p .. ':claims:' .. q, token)
if not claim then
    if redis.call('ZSCORE', p .. ':done', token) then return 1 end
    return 0
end
for _, id in ipairs(cjson.decode(claim).ids) do
    redis.call('HDEL', p .. ':bodies:' .. q, id)
    redis.call('HDEL', p .. ':heads:' .. q, id)
    redis.call('HDEL', p .. ':tries:' .. q, id)
end
redis.call('HDEL', p .. ':claims:' .. q, token)
remember(p .. ':done', token, now, keep_seconds, keep_count)
forget_empty(p, q)
return 1
"""
)

HAND_OVER = (
    _FORGET_EMPTY
    + """
local p, q, token = ARGV[1], ARGV[2], ARGV[3]
local claim = redis.call('HGET', p .. ':claims:' .. q, token)
if not claim then return 0 end
for _, id in ipairs(cjson.decode(claim).ids) do
    redis.call('HDEL', p .. ':bodies:' .. q, id)
    redis.call('HDEL', p .. ':heads:' .. q, id)
    redis.call('HDEL', p .. ':tries:' .. q, id)
    redis.call('ZREM', p .. ':seen', id)
end
redis.call('HDEL', p .. ':claims:' .. q, token)
forget_empty(p, q)
return 1
"""
)

RELEASE = (
    _GIVE_BACK
    + """
local p, q, token = ARGV[1], ARGV[2], ARGV[3]
local claim = redis.call('HGET', p .. ':claims:' .. q, token)
if not claim then return 0 end
redis.call('HDEL', p .. ':claims:' .. q, token)
give_back(p, q, cjson.decode(claim).ids)
return 1
"""
)

RELEASE_ALL = (
    _GIVE_BACK
    + """
local p, released = ARGV[1], 0
for _, q in ipairs(redis.call('HKEYS', p .. ':sessions')) do
    local claims = redis.call('HGETALL', p .. ':claims:' .. q)
    for i = 1, #claims, 2 do
        redis.call('HDEL', p .. ':claims:' .. q, claims[i])
        give_back(p, q, cjson.decode(claims[i + 1]).ids)
        released = released + 1
    end
end
return released
"""
)

SET_ASIDE = (
    _FORGET_EMPTY
    + """
local p, q, token = ARGV[1], ARGV[2], ARGV[3]
local claim = redis.call('HGET', p .. ':claims:' .. q, token)
if not claim then return 0 end
claim = cjson.decode(claim)
local damaged, kept = {}, {}
for i = 4, #ARGV do damaged[ARGV[i]] = true end
for _, id in ipairs(claim.ids) do
    if damaged[id] then
        redis.call('HSET', p .. ':damaged', id, redis.call('HGET', p .. ':bodies:' .. q, id) or '')
        redis.call('HDEL', p .. ':bodies:' .. q, id)
        redis.call('HDEL', p .. ':heads:' .. q, id)
    else
        kept[#kept + 1] = id
    end
end
if #kept == 0 then redis.call('HDEL', p .. ':claims:' .. q, token)
else
    claim.ids = kept
    redis.call('HSET', p .. ':claims:' .. q, token, cjson.encode(claim))
end
forget_empty(p, q)
return 1
"""
)

STATS = """
local p, now = ARGV[1], tonumber(ARGV[2])
local found = {}
local sessions = redis.call('HGETALL', p .. ':sessions')
for i = 1, #sessions, 2 do
    local q = sessions[i]
    local claimed = 0
    for _, claim in ipairs(redis.call('HVALS', p .. ':claims:' .. q)) do
        claim = cjson.decode(claim)
        if tonumber(claim.lease_until) > now then claimed = claimed + #claim.ids end
    end
    local heads = redis.call('HVALS', p .. ':heads:' .. q)
    local epoch, oldest, newest
    for _, head in ipairs(heads) do
        local e, at = string.match(head, '^(%S+) (%S+)')
        e, at = tonumber(e), tonumber(at)
        if not epoch or e < epoch then epoch = e end
        if not oldest or at < oldest then oldest = at end
        if not newest or at > newest then newest = at end
    end
    if epoch then
        found[#found + 1] = { sessions[i + 1], #heads - claimed, claimed, epoch,
            string.format('%.6f', oldest), string.format('%.6f', newest) }
    end
end
return found
"""
