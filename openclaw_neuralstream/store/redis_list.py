"""A list or stream in Redis that another layer fills: read without losing, and without deleting what is not ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, cast

import redis

from openclaw_neuralstream.clock import Clock, utc_now
from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.model import digest
from openclaw_neuralstream.store.redis_link import RedisLink
from openclaw_neuralstream.store.schema import seconds

_PAGE = 500
_SEEN_COUNT = 200_000
"""How many settled items of a list that is only read are remembered; an older one is read again, and known by its turn."""

_MOVE = """
local from, to, side, most = KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[2])
local moved = redis.call('LLEN', to)
while moved < most do
    if not redis.call('LMOVE', from, to, side, side == 'LEFT' and 'RIGHT' or 'LEFT') then break end
    moved = moved + 1
end
return moved
"""

End = Literal["LEFT", "RIGHT"]


@dataclass(frozen=True, slots=True)
class Item:
    """What stands in the list: bytes, or the fields of a stream's entry. ref: what `settle` wants to hear."""

    ref: str
    data: bytes | dict[str, Any]


class CaptureFeed:
    """One list or stream. An item is given again until it is settled; settled ones are never given again.

    take=False: nothing of it is changed (a stream gets a consumer group); what was settled is remembered under `ours`.
    take=True: items of a list move to a list of ours first and leave it when they are settled; of a stream they are
    deleted then. Items set aside are kept, under `ours` or where they are. All verbs raise VendorAway.
    """

    def __init__(
        self,
        link: RedisLink,
        key: str,
        *,
        ours: str,
        take: bool,
        oldest: Callable[[bytes, bytes], End],
        clock: Clock = utc_now,
    ) -> None:
        """ours: prefix of our own keys. oldest(first, last): at which end of a list the oldest item stands."""
        self.key = key
        self.take = take
        self._client: Any = link.client
        self._answering = link.answering
        self._ours = ours
        self._oldest = oldest
        self._now = clock
        self._move = self._client.register_script(_MOVE)
        self._raw: dict[str, bytes] = {}
        self._scanned = False
        self._ends: tuple[int, bytes | None, bytes | None] = (0, None, None)

    def peek(self, limit: int) -> list[Item]:
        """At most about `limit` items that are not settled, in their order. Raises BadRequest for another kind of key."""
        with self._answering():
            kind = self._kind()
            if kind == "stream":
                return self._stream(limit)
            return self._taken(limit, kind) if self.take else self._unseen(limit)

    def look(self, limit: int) -> tuple[int, list[Item]]:
        """How many items there are and the first of them, whatever is settled; nothing is changed."""
        with self._answering():
            kind = self._kind()
            if kind == "stream":
                rows = self._client.xrange(self.key, count=limit)
                return int(self._client.xlen(self.key)), [Item(_word(ref), _fields(found)) for ref, found in rows]
            raw = cast("list[bytes]", self._client.lrange(self.key, 0, limit - 1))
            return int(self._client.llen(self.key)), [Item(_ref(body), body) for body in raw]

    def settle(self, refs: Sequence[str]) -> None:
        """These are kept: they need not be given again."""
        with self._answering():
            self._settle(refs, aside=False)

    def set_aside(self, refs: Sequence[str]) -> None:
        """These are of no shape that we know: not given again, and kept."""
        with self._answering():
            self._settle(refs, aside=True)

    # --- a list that is only read -------------------------------------------------------------------------------------

    def _unseen(self, limit: int) -> list[Item]:
        """Settled items are remembered by what they say. The whole list is read once, later only from its ends."""
        ends = (int(self._client.llen(self.key)), self._client.lindex(self.key, 0), self._client.lindex(self.key, -1))
        if self._scanned and ends == self._ends and not self._raw:
            return []
        self._scanned = self._scanned and not self._raw  # one that was left may stand anywhere by now
        found: dict[int, bytes] = {}
        done = self._scan(found, range(0, ends[0], _PAGE), limit)
        if self._scanned and not done:
            done = self._scan(found, range(ends[0] - _PAGE, -_PAGE, -_PAGE), limit)
        self._scanned, self._ends = self._scanned or not found, ends
        self._raw = {_ref(found[place]): found[place] for place in sorted(found)}
        return [Item(ref, body) for ref, body in self._raw.items()]

    def _scan(self, found: dict[int, bytes], starts: range, limit: int) -> bool:
        """Unseen items page by page, until there are enough or, after the first whole reading, a page is all known."""
        for start in starts:
            first, last = max(0, start), start + _PAGE - 1
            page = cast("list[bytes]", self._client.lrange(self.key, first, last))
            seen = self._client.zmscore(f"{self._ours}:seen", [_ref(body) for body in page]) if page else []
            new = {first + n: body for n, (body, known) in enumerate(zip(page, seen, strict=True)) if known is None}
            found.update(new)
            if len(found) >= limit:
                return True
            if self._scanned and not new:
                return False
        return not self._scanned

    # --- a list that is taken -----------------------------------------------------------------------------------------

    def _taken(self, limit: int, kind: str) -> list[Item]:
        mine = f"{self._ours}:taken"
        if kind == "list":
            first, last = self._client.lindex(self.key, 0), self._client.lindex(self.key, -1)
            side = self._oldest(first, last) if first and last else "LEFT"
            self._move(keys=[self.key, mine], args=[side, limit])
        found: dict[str, bytes] = {}
        for body in cast("list[bytes]", self._client.lrange(mine, 0, -1)):
            ref, again = _ref(body), 0
            while ref in found:  # the same words twice are two items
                again += 1
                ref = f"{_ref(body)}-{again}"
            found[ref] = body
        self._raw = found
        return [Item(ref, body) for ref, body in found.items()]

    # --- a stream -----------------------------------------------------------------------------------------------------

    def _stream(self, limit: int) -> list[Item]:
        group = self._ours
        with suppress(redis.exceptions.ResponseError):  # it exists
            self._client.xgroup_create(self.key, group, id="0")
        rows = self._entries(group, "0", limit)
        gone = [_word(ref) for ref, found in rows if not found]
        if gone:  # given to us once and deleted by their owner since
            self._client.xack(self.key, group, *gone)
        kept = [(ref, found) for ref, found in rows if found]
        if len(rows) < limit:
            kept += self._entries(group, ">", limit - len(rows))
        return [Item(_word(ref), _fields(found)) for ref, found in kept]

    def _entries(self, group: str, after: str, limit: int) -> list[tuple[Any, Any]]:
        answer = self._client.xreadgroup(group, "neuralstream", {self.key: after}, count=limit)
        streams = list(answer.values()) if isinstance(answer, dict) else [rows for _, rows in answer or ()]
        rows = streams[0] if streams else []
        return list(rows[0]) if rows and isinstance(rows[0], list) else list(rows)

    # --- settled ------------------------------------------------------------------------------------------------------

    def _settle(self, refs: Sequence[str], *, aside: bool) -> None:
        if not refs:
            return
        with self._client.pipeline(transaction=True) as steps:
            if self._kind() == "stream":
                steps.xack(self.key, self._ours, *refs)
                if self.take and not aside:
                    steps.xdel(self.key, *refs)
            elif self.take:
                for body in [self._raw[ref] for ref in refs if ref in self._raw]:
                    steps.lrem(f"{self._ours}:taken", 1, body)
                    if aside:
                        steps.rpush(f"{self._ours}:aside", body)
            else:
                steps.zadd(f"{self._ours}:seen", dict.fromkeys(refs, seconds(self._now())))
                steps.zremrangebyrank(f"{self._ours}:seen", 0, -1 - _SEEN_COUNT)
            steps.execute()
        for ref in refs:
            self._raw.pop(ref, None)

    def _kind(self) -> str:
        kind = _word(self._client.type(self.key))
        if kind not in ("list", "stream", "none"):
            raise BadRequest(
                f"capture_list: {self.key} is a {kind} in Redis, not a list or a stream",
                where="capture_list",
                fix="neuralstream config set capture_list KEY",
            )
        return kind


def _ref(body: bytes) -> str:
    return digest("item", body.decode("utf-8", "surrogateescape"))


def _fields(found: Any) -> dict[str, Any]:
    return {_word(name): _word(value) for name, value in dict(found).items()}


def _word(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
