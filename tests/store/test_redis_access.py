"""Credentials and TLS against a real Valkey. Its packaged binary has no TLS, so a proxy in this process ends the TLS
before it, with certificates of an authority made here: the client side is the real one."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
import redis
import trustme

from openclaw_neuralstream.errors import SettingsError, VendorAway
from openclaw_neuralstream.memory import wiring
from openclaw_neuralstream.server.status import status
from openclaw_neuralstream.settings import Settings, load, shown
from openclaw_neuralstream.state import StateDir
from openclaw_neuralstream.store.redis_buffer import RedisBuffer
from openclaw_neuralstream.store.redis_link import Access
from tests.valkey import ValkeyServer
from tests.values import NOW, turn

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def server() -> Iterator[ValkeyServer]:
    started = ValkeyServer().start()
    with redis.Redis.from_url(started.url) as admin:
        admin.execute_command("ACL", "SETUSER", "memory", "on", ">pass word", "~ns:*", "+@all", "-@dangerous")
    yield started
    started.stop()


def appended(url: str, prefix: str, access: Access) -> bool:
    buffer = RedisBuffer(url, prefix, timeout=30, access=access)
    try:
        return buffer.append(turn(1))
    finally:
        buffer.close()


# --- who we are ---------------------------------------------------------------------------------------------------------


def test_a_user_with_a_password_works_under_the_prefix_it_may_use(server: ValkeyServer) -> None:
    access = Access("memory", "pass word")
    assert appended(server.url, "ns:mine", access) is True
    with pytest.raises(VendorAway) as refused:
        appended(server.url, "elsewhere", access)
    assert "redis.username" in refused.value.fix


def test_a_wrong_password_is_told_without_it(server: ValkeyServer) -> None:
    with pytest.raises(VendorAway) as refused:
        appended(server.url, "ns:x", Access("memory", "wrong-one"))
    assert "redis_password_env" in refused.value.fix
    assert "wrong-one" not in str(refused.value)


def test_a_server_that_hides_its_settings_is_told_as_a_risk(server: ValkeyServer) -> None:
    buffer = RedisBuffer(server.url, "ns", timeout=30, access=Access("memory", "pass word"))
    (risk,) = buffer.risks()
    buffer.close()
    assert "does not tell" in risk.what


def test_the_database_number_of_the_address_is_used(server: ValkeyServer) -> None:
    appended(f"{server.url}?db=3", "numbered", Access())
    with redis.Redis.from_url(f"{server.url}?db=3") as three, redis.Redis.from_url(server.url) as zero:
        assert three.keys("numbered:*")
        assert not zero.keys("numbered:*")


def test_the_password_comes_from_the_environment_and_stands_in_no_setting(
    server: ValkeyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_REDIS", "pass word")
    environ = {
        "NEURALSTREAM_REDIS_URL": server.url,
        "NEURALSTREAM_REDIS": '{"socket_timeout": 30, "prefix": "ns:env"}',
        "NEURALSTREAM_REDIS_USERNAME": "memory",
        "NEURALSTREAM_REDIS_PASSWORD_ENV": "MY_REDIS",
        "NEURALSTREAM_EMBEDDER": "embedded",
    }
    memory = wiring.open_memory(StateDir(tmp_path / "state"), environ=environ, start=False)
    assert memory.distiller.append(turn(1)) is True
    assert [b.waiting for b in memory.parts.buffers[0].stats(NOW)] == [1]
    now = status(memory)
    memory.close()
    assert now["missing_secrets"] == {}
    assert now["settings"]["redis_password_env"]["value"] == "MY_REDIS"
    assert "pass word" not in str(now)


def test_a_variable_that_is_not_there_is_told(tmp_path: Path) -> None:
    knobs = load(tmp_path, environ={"NEURALSTREAM_REDIS_PASSWORD_ENV": "NOBODY_SET_THIS"}).settings
    assert wiring.missing_secrets(knobs) == {"redis_password_env": "NOBODY_SET_THIS"}


@pytest.mark.parametrize(
    "url", ["redis://me:hunter2@host/0", "redis://:hunter2@host", "redis://host/0?password=hunter2", "unix:///s?db=1&password=hunter2"]
)
def test_a_password_in_an_address_is_never_shown(url: str) -> None:
    assert "hunter2" not in shown(Settings(redis_url=url).redis_url)
    with pytest.raises(VendorAway) as away:
        RedisBuffer(url.replace("host", "127.0.0.1:1"), "ns", timeout=0.5).append(turn(1))
    assert "hunter2" not in str(away.value)


# --- TLS ----------------------------------------------------------------------------------------------------------------


@dataclass
class Tls:
    """A proxy that speaks TLS to us and passes on to the server's socket."""

    port: int
    ca: str
    other_ca: str
    client: str


@pytest.fixture(scope="module")
def tls(server: ValkeyServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tls]:
    folder, ours, foreign = tmp_path_factory.mktemp("tls"), trustme.CA(), trustme.CA()
    ours.cert_pem.write_to_path(str(folder / "ca.pem"))
    foreign.cert_pem.write_to_path(str(folder / "other.pem"))
    ours.issue_cert("client@test").private_key_and_cert_chain_pem.write_to_path(str(folder / "client.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ours.issue_cert("localhost").configure_cert(context)
    ours.configure_trust(context)
    context.verify_mode = ssl.CERT_REQUIRED  # it wants to know us, too
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=_proxy, args=(listener, context, f"{server.folder}/v.sock"), daemon=True).start()
    yield Tls(listener.getsockname()[1], str(folder / "ca.pem"), str(folder / "other.pem"), str(folder / "client.pem"))
    listener.close()


def _proxy(listener: socket.socket, context: ssl.SSLContext, path: str) -> None:
    while True:
        try:
            client, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=_pass, args=(client, context, path), daemon=True).start()


def _pass(client: socket.socket, context: ssl.SSLContext, path: str) -> None:
    with suppress(OSError, ssl.SSLError), context.wrap_socket(client, server_side=True) as near, socket.socket(socket.AF_UNIX) as far:
        far.connect(path)
        while asked := near.recv(65_536):
            far.sendall(asked)
            near.sendall(far.recv(65_536))


def test_a_server_of_a_trusted_authority_that_asks_for_our_certificate_is_used(tls: Tls) -> None:
    assert appended(f"rediss://localhost:{tls.port}/0", "tls", Access(ca_file=tls.ca, client_cert=tls.client)) is True


@pytest.mark.parametrize("trusted", ["other", "system"])
def test_a_server_that_nobody_vouches_for_is_refused(tls: Tls, trusted: str) -> None:
    access = Access(ca_file=tls.other_ca if trusted == "other" else "", client_cert=tls.client)
    with pytest.raises(VendorAway, match="certificate is not trusted") as refused:
        appended(f"rediss://localhost:{tls.port}/0", "tls2", access)
    assert "redis.ssl_ca_certs" in refused.value.fix


def test_a_certificate_made_out_to_another_name_is_refused_unless_told_otherwise(tls: Tls) -> None:
    url = f"rediss://127.0.0.1:{tls.port}/0"
    with pytest.raises(VendorAway, match=r"127\.0\.0\.1"):
        appended(url, "tls3", Access(ca_file=tls.ca, client_cert=tls.client))
    assert appended(url, "tls3", Access(ca_file=tls.ca, client_cert=tls.client, check_hostname=False)) is True


def test_without_our_certificate_the_server_does_not_serve_us(tls: Tls) -> None:
    with pytest.raises(VendorAway):
        appended(f"rediss://localhost:{tls.port}/0", "tls4", Access(ca_file=tls.ca))


def test_tls_files_beside_an_address_without_tls_are_refused(tls: Tls) -> None:
    with pytest.raises(SettingsError, match="in the clear"):
        RedisBuffer("redis://localhost:6379/0", "ns", access=Access(ca_file=tls.ca))
