"""The host's gateway: where it listens, and whether one runs here."""

from __future__ import annotations

import http.client
from contextlib import suppress

from openclaw_neuralstream.host import config
from openclaw_neuralstream.host.executable import Host

_PORT = 18789
_SECONDS = 2.0


def port(host: Host) -> int:
    """Where its gateway listens: OPENCLAW_GATEWAY_PORT, else its config, else 18789."""
    for wanted in (host.environ.get("OPENCLAW_GATEWAY_PORT", ""), config.get(host, "gateway.port")):
        with suppress(ValueError):
            return int(str(wanted))
    return _PORT


def runs(host: Host) -> bool:
    """True when a gateway answers on this machine."""
    connection = http.client.HTTPConnection("127.0.0.1", port(host), timeout=_SECONDS)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
