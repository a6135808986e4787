"""The Redis buffer beside its contract: away, weak durability, numbers of the truth, bounded memory."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from datetime import timedelta
from functools import partial

import pytest
import redis

from openclaw_neuralstream.errors import SettingsError, VendorAway
from openclaw_neuralstream.model import Trigger
from openclaw_neuralstream.store import redis_buffer
from openclaw_neuralstream.store.redis_buffer import RedisBuffer
from tests.valkey import ValkeyServer
from tests.values import NOW, SESSION, turn
from tests.waiting import until

pytestmark = pytest.mark.server
LEASE = timedelta(seconds=60)
patient = partial(RedisBuffer, timeout=30.0)
"""For what a server is expected to answer, however slow the disk of a busy machine is."""


@pytest.fixture
def server() -> Iterator[ValkeyServer]:
    started = ValkeyServer().start()
    yield started
    started.stop()


def test_a_server_that_is_away_is_named_without_its_password() -> None:
    buffer = RedisBuffer("redis://user:secret@127.0.0.1:1/0", "ns", timeout=0.5)
    with pytest.raises(VendorAway) as away:
        buffer.append(turn(1))
    assert "127.0.0.1:1" in str(away.value)
    assert "secret" not in str(away.value)


@pytest.mark.parametrize("url", ["", "http://localhost", "redis://host:notaport"])
def test_an_address_that_cannot_be_one_is_a_settings_error(url: str) -> None:
    with pytest.raises(SettingsError, match="redis_url"):
        RedisBuffer(url, "ns")


def test_every_verb_says_that_the_server_went_away_and_works_when_it_is_back(server: ValkeyServer) -> None:
    buffer = patient(server.url, "ns")
    buffer.append(turn(1))
    batch = buffer.claim(SESSION, limit=5, lease=LEASE, now=NOW, trigger=Trigger.BATCH)
    assert batch
    server.kill()
    for verb in (
        lambda: buffer.append(turn(2)),
        lambda: buffer.claim(SESSION, limit=5, lease=LEASE, now=NOW, trigger=Trigger.BATCH),
        lambda: buffer.commit(batch),
        lambda: buffer.release(batch),
        lambda: buffer.stats(NOW),
        buffer.durability,
    ):
        with pytest.raises(VendorAway):
            verb()
    server.start()
    assert buffer.append(turn(2)) is True
    assert buffer.commit(batch) is True
    assert [b.waiting for b in buffer.stats(NOW)] == [1]
    buffer.close()


def test_a_server_that_accepts_and_stays_silent_is_away() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        buffer = RedisBuffer(f"redis://127.0.0.1:{silent.getsockname()[1]}/0", "ns", timeout=0.2)
        with pytest.raises(VendorAway):
            buffer.append(turn(1))


def test_a_server_that_refuses_is_away(server: ValkeyServer) -> None:
    buffer = patient(server.url, "ns")
    redis.Redis.from_url(server.url).config_set("maxmemory", "1")
    with pytest.raises(VendorAway, match="maxmemory"):
        buffer.append(turn(1))


@pytest.mark.parametrize(
    ("options", "words", "mend"),
    [
        ({"appendfsync": "everysec"}, "appendfsync is everysec", "config set appendfsync always"),
        ({"appendonly": "no"}, "in memory only", "config set appendonly yes appendfsync always"),
        ({"maxmemory": "100mb", "maxmemory_policy": "allkeys-lru"}, "throws away turns", "config set maxmemory-policy noeviction"),
    ],
)
def test_weak_durability_is_told_with_the_command_that_mends_it(options: dict[str, str], words: str, mend: str) -> None:
    server = ValkeyServer(**options).start()
    buffer = patient(server.url, "ns")
    (risk,) = buffer.risks()
    assert words in risk.what
    assert words in buffer.durability()
    assert mend in risk.mend
    with redis.Redis.from_url(server.url) as admin:  # the command's own words, sent to the server
        admin.config_set(*mend.removeprefix("config set ").split())
        until(lambda: admin.info("persistence")["aof_rewrite_in_progress"] == 0)  # it refuses to end meanwhile
    assert buffer.risks() == []
    buffer.close()
    server.stop()


@pytest.mark.parametrize("options", [{}, {"maxmemory": "100mb"}, {"maxmemory_policy": "allkeys-lru"}])
def test_a_server_that_keeps_what_it_accepts_is_no_risk(options: dict[str, str]) -> None:
    server = ValkeyServer(**options).start()
    buffer = patient(server.url, "ns")
    assert (buffer.risks(), buffer.durability()) == ([], "")
    buffer.close()
    server.stop()


def test_turns_that_are_handed_over_may_come_back(server: ValkeyServer) -> None:
    buffer, raw = patient(server.url, "ns"), redis.Redis.from_url(server.url)
    buffer.append(turn(1))
    batch = buffer.claim(SESSION, limit=5, lease=LEASE, now=NOW, trigger=Trigger.BATCH)
    assert batch
    assert buffer.hand_over(batch) is True
    assert buffer.hand_over(batch) is False
    assert buffer.stats(NOW) == []
    assert not raw.exists("ns:buffer:seen")
    assert buffer.append(turn(1)) is True


def test_numbers_go_on_where_the_truth_is(server: ValkeyServer) -> None:
    buffer = patient(server.url, "ns", last_index=lambda agent, key: 41 if (agent, key) == ("main", SESSION.key) else 0)
    buffer.append(turn(1))
    buffer.append(turn(2))
    batch = buffer.claim(SESSION, limit=5, lease=LEASE, now=NOW, trigger=Trigger.BATCH)
    assert batch
    assert [t.index for t in batch.turns] == [42, 43]


def test_a_turn_that_does_not_read_back_is_set_aside(server: ValkeyServer) -> None:
    buffer, raw = patient(server.url, "ns"), redis.Redis.from_url(server.url)
    for number in (1, 2, 3):
        buffer.append(turn(number))
    (bodies,) = raw.keys("ns:buffer:bodies:*")
    raw.hset(bodies, turn(2).turn_id, b"\xff\x00")
    batch = buffer.claim(SESSION, limit=2, lease=LEASE, now=NOW, trigger=Trigger.BATCH)
    assert batch
    assert [t.index for t in batch.turns] == [1]
    assert buffer.commit(batch) is True
    raw.hset(bodies, turn(3).turn_id, b"")
    assert buffer.claim(SESSION, limit=2, lease=LEASE, now=NOW, trigger=Trigger.BATCH) is None
    assert buffer.stats(NOW) == []
    assert len(raw.hgetall("ns:buffer:damaged")) == 2


def test_what_is_kept_of_old_turns_is_bounded(server: ValkeyServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_buffer, "_SEEN_COUNT", 10)
    buffer, raw = patient(server.url, "ns", clock=lambda: NOW), redis.Redis.from_url(server.url)
    for number in range(30):
        buffer.append(turn(number))
        batch = buffer.claim(SESSION, limit=9, lease=LEASE, now=NOW, trigger=Trigger.BATCH)
        assert batch
        assert buffer.commit(batch)
    assert (raw.zcard("ns:buffer:seen"), raw.zcard("ns:buffer:done")) == (10, 10)
    later = patient(server.url, "ns", clock=lambda: NOW + timedelta(days=31))
    later.append(turn(99))
    assert raw.zcard("ns:buffer:seen") == 1


def test_after_all_is_committed_almost_nothing_is_left(server: ValkeyServer) -> None:
    buffer, raw = patient(server.url, "ns"), redis.Redis.from_url(server.url)
    buffer.append(turn(1))
    batch = buffer.claim(SESSION, limit=9, lease=LEASE, now=NOW, trigger=Trigger.BATCH)
    assert batch
    buffer.commit(batch)
    kinds = {key.decode().split(":")[2] for key in raw.keys("*")}
    assert kinds == {"seen", "done", "number"}


def test_two_prefixes_are_strangers(server: ValkeyServer) -> None:
    one, two = patient(server.url, "one"), patient(server.url, "two")
    assert (one.append(turn(1)), two.append(turn(1))) == (True, True)
    assert len(one.stats(NOW)) == len(two.stats(NOW)) == 1


def test_a_connection_that_breaks_in_the_middle_appends_once(server: ValkeyServer) -> None:
    """A proxy passes the command on and cuts the line before the answer: the client asks again, the turn is there once."""
    answers = iter([False, True, True, True])
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_relay, args=(listener, f"{server.folder}/v.sock", answers), daemon=True).start()
        buffer = RedisBuffer(f"redis://127.0.0.1:{listener.getsockname()[1]}/0?protocol=2", "ns", timeout=30)
        buffer.append(turn(1))
        buffer.close()
    direct = patient(server.url, "ns")
    assert [b.waiting for b in direct.stats(NOW)] == [1]


def _relay(listener: socket.socket, path: str, answers: Iterator[bool]) -> None:
    """Pass connections on; of one whose turn it is to fail, cut the line when the answer to a script comes."""
    for answered in answers:
        try:
            client, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=_pass_on, args=(client, path, answered), daemon=True).start()


def _pass_on(client: socket.socket, path: str, answered: bool) -> None:
    with client, socket.socket(socket.AF_UNIX) as server:
        server.connect(path)
        while asked := client.recv(65_536):
            server.sendall(asked)
            answer = server.recv(65_536)
            if b"EVAL" in asked and not answered and not answer.startswith(b"-NOSCRIPT"):
                return
            client.sendall(answer)
