"""Turns that wait in Redis, rewritten in place: each only if nobody took or changed it meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

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
