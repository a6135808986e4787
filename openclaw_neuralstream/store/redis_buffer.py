"""Turns that wait in Redis, and lists that other layers fill."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import structlog

from openclaw_neuralstream.clock import Clock, utc_now
from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.model import Backlog, Batch, Session, Trigger, Turn, digest
from openclaw_neuralstream.store import redis_link
from openclaw_neuralstream.store.redis_link import Access, RedisLink, Risk
from openclaw_neuralstream.store.schema import batch_id_of, from_seconds, seconds, turn_from_bytes, turn_to_bytes

if TYPE_CHECKING:
    import redis


_REPLACE = """
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
"""


def revise(client: redis.Redis, prefix: str, change: Callable[[bytes], bytes]) -> int:
    """Every turn of the queues under the prefix, and of those set aside as damaged; returns how many changed."""
    replace: Any = client.register_script(_REPLACE)
    queues: Any = client.hkeys(f"{prefix}:sessions")
    keys = [f"{prefix}:bodies:{queue.decode()}" for queue in queues]
    changed = 0
    for key in (*keys, f"{prefix}:damaged"):
        for turn_id, body in client.hscan_iter(key, count=100):
            revised = change(body)
            if revised != body:
                changed += int(replace(keys=[key], args=[turn_id, body, revised]))
    return changed


log = structlog.get_logger(__name__)

_SEEN_SECONDS = 30 * 86_400
_SEEN_COUNT = 200_000
"""How long, and how many, accepted turn ids are kept to refuse a second delivery (about 20 MB at most).

An older turn delivered again is accepted here and refused by the truth, which knows every turn it ever extracted.
"""


class RedisBuffer:
    """Turns in one Redis or Valkey server (a primary with replicas is fine; a sharded cluster is not).

    Every verb is one script, sent again once when the connection broke: append knows the ids it accepted, a commit the
    leases it ended. Raises VendorAway whenever the server does not answer, or answers with an error.
    """

    def __init__(
        self,
        url: str,
        prefix: str,
        *,
        timeout: float = 2.0,
        access: Access = Access(),  # noqa: B008  frozen
        store: str = "",
        last_index: Callable[[str, str], int] | None = None,
        clock: Clock = utc_now,
    ) -> None:
        """Connects at the first verb, not here. Raises SettingsError for an address that cannot be one.

        prefix: of every key, ":buffer" is added, and `store`, so that two memories on one server never meet.
        last_index(agent, key): the number to go on counting from.
        """
        self._link = RedisLink(url, timeout=timeout, access=access)
        self._client, self._answering = self._link.client, self._link.answering
        self._prefix = f"{prefix}:buffer:{store}" if store else f"{prefix}:buffer"
        self._last_index = last_index or (lambda _agent, _key: 0)
        self._now = clock
        self._append = self._client.register_script(redis_link.APPEND)
        self._claim = self._client.register_script(redis_link.CLAIM)
        self._commit = self._client.register_script(redis_link.COMMIT)
        self._release = self._client.register_script(redis_link.RELEASE)
        self._hand_over = self._client.register_script(redis_link.HAND_OVER)
        self._release_all = self._client.register_script(redis_link.RELEASE_ALL)
        self._set_aside = self._client.register_script(redis_link.SET_ASIDE)
        self._stats = self._client.register_script(redis_link.STATS)

    def append(self, turn: Turn) -> bool:
        """Keep a turn, numbered when it has no number. False when its id was accepted before."""
        session = turn.session
        arguments: list[str | bytes | int] = [
            json.dumps([session.agent, session.key, session.host_id]),
            _bytes(turn.turn_id),
            session.epoch,
            f"{seconds(turn.at):.6f}",
            turn.index,
            0 if turn.index else self._last_index(session.agent, session.key),
            turn_to_bytes(turn),
            *self._memory(),
        ]
        with self._answering():
            return bool(self._append(args=[self._prefix, _queue(session), *arguments]))

    def claim(self, session: Session, *, limit: int, lease: timedelta, now: datetime, trigger: Trigger) -> Batch | None:
        """The oldest waiting turns of one epoch, at most `limit`, as a batch under a lease. None when nothing waits.

        A turn that does not read back is set aside on the server, so that it blocks nobody.
        """
        token, queue, until = secrets.token_hex(8), _queue(session), now + lease
        while True:
            with self._answering():
                attempt, rows = self._claim(
                    args=[self._prefix, queue, token, limit, f"{seconds(now):.6f}", f"{seconds(until):.6f}"]
                )
            if not rows:
                return None
            read = {row[0]: _turn(row[2], int(row[1])) for row in rows}
            self._quarantine(queue, token, [turn_id for turn_id, turn in read.items() if turn is None])
            turns = tuple(turn for turn in read.values() if turn is not None)
            if turns:
                ids = [turn.turn_id for turn in turns]
                return Batch(batch_id_of(ids), turns[0].session, turns, token, until, int(attempt), trigger)

    def commit(self, batch: Batch) -> bool:
        """Remove the batch's turns. False when the claim was lost meanwhile; True again when it is repeated."""
        with self._answering():
            return bool(self._commit(args=[self._prefix, _queue(batch.session), batch.token, *self._memory()]))

    def release(self, batch: Batch) -> bool:
        """Give the turns back, in their old order. False when the claim was lost meanwhile."""
        with self._answering():
            return bool(self._release(args=[self._prefix, _queue(batch.session), batch.token]))

    def release_claims(self) -> int:
        """Give back every claim, whatever its lease; returns how many. Only for the one owner of the store's queues."""
        with self._answering():
            return int(self._release_all(args=[self._prefix]))

    def stats(self, now: datetime) -> list[Backlog]:
        """What waits for each session, oldest first."""
        with self._answering():
            rows = self._stats(args=[self._prefix, f"{seconds(now):.6f}"])
        return sorted(map(_backlog, rows), key=lambda backlog: backlog.oldest)

    def hand_over(self, batch: Batch) -> bool:
        """Let the batch's turns go to another buffer, forgotten here: they may come back. False: the claim was lost."""
        with self._answering():
            return bool(self._hand_over(args=[self._prefix, _queue(batch.session), batch.token]))

    def risks(self) -> list[Risk]:
        """What the server's settings put at risk; [] when every accepted turn is on its disk."""
        return self._link.risks()

    def durability(self) -> str:
        """The same in words; "" when nothing is at risk."""
        return "; ".join(risk.what for risk in self.risks())

    def revise(self, change: Callable[[bytes], bytes]) -> int:
        """Rewrite every turn that waits here as `change` says; returns how many changed. What moved on meanwhile stays."""
        with self._answering():
            return revise(self._client, self._prefix, change)

    def close(self) -> None:
        """Release the connections; the turns stay."""
        self._link.close()

    def _quarantine(self, queue: str, token: str, turn_ids: list[bytes]) -> None:
        if turn_ids:
            log.error("turns.quarantined", count=len(turn_ids))
            with self._answering():
                self._set_aside(args=[self._prefix, queue, token, *turn_ids])

    def _memory(self) -> tuple[str, int, int]:
        return f"{seconds(self._now()):.6f}", _SEEN_SECONDS, _SEEN_COUNT


def _queue(session: Session) -> str:
    return digest("queue", session.agent, session.key)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _turn(body: bytes | None, number: int) -> Turn | None:
    try:
        return replace(turn_from_bytes(body or b""), index=number)
    except BadRequest:
        return None


def _backlog(row: list[Any]) -> Backlog:
    agent, key, host_id = json.loads(row[0])
    session = Session(agent, key, host_id, int(row[3]))
    return Backlog(session, int(row[1]), int(row[2]), from_seconds(float(row[4])), from_seconds(float(row[5])))
