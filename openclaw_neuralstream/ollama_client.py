"""An Ollama server, through the `ollama` package: its client, its failures as ours, and whether it has a model."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from openclaw_neuralstream.errors import (
    UNTRUSTED,
    AnswerRefused,
    VendorAway,
    VendorBusy,
    VendorRefused,
    VendorSlow,
    line_failure,
)

_BAD_REQUEST = 400
_DENIED = frozenset({401, 403})
_NOT_FOUND = 404
_BUSY = frozenset({429, 502, 503, 504})


def client(url: str, timeout: float) -> Any:
    """A client that asks the server directly, whatever proxy the environment names; SSL_CERT_FILE counts all the same."""
    import httpx
    from ollama import Client

    verify = {"verify": httpx.create_ssl_context()} if url.startswith("https:") else {}
    return Client(host=url, timeout=timeout, trust_env=False, **verify)


def missing(url: str, model: str, timeout: float = 2.0) -> str:
    """Say why the model cannot be asked: "" when the server answers and has it, else the reason in words."""
    try:
        look(url, model, timeout)
    except (VendorAway, AnswerRefused) as error:
        return error.what
    return ""


def look(url: str, model: str, timeout: float = 2.0) -> None:
    """Raise VendorAway or AnswerRefused, with what mends it, unless the server answers and has the model."""
    _knock(url, timeout)
    with translated(url, model):
        names = {str(entry.model) for entry in client(url, timeout).list().models}
    wanted = model if ":" in model else f"{model}:latest"
    if not {wanted, model} & names:
        pull = f"ollama pull {model}"
        raise VendorRefused(f"Ollama has no model {model}: {pull}", where=url, fix=pull)


def _knock(url: str, timeout: float) -> None:
    """Raise VendorAway where nobody listens: told without the package, which takes half a second to import."""
    try:
        where = urlsplit(url)
        host, port = where.hostname, where.port
    except ValueError:
        return  # the package says what is wrong with it
    if not host or not port:
        return
    try:
        socket.create_connection((host, port), timeout).close()
    except OSError as error:
        raise _unreached(error, url) from error


def _unreached(error: Exception, url: str) -> VendorAway:
    why = line_failure(error) or type(error).__name__
    fix = "ollama serve"
    if why.startswith(UNTRUSTED):
        fix = "set SSL_CERT_FILE, where OpenClaw starts, to the PEM file of the authority that signed it, or mend ollama_url"
    return VendorAway(f"Ollama does not answer: {why}", where=url, fix=fix)


@contextmanager
def translated(url: str, model: str) -> Iterator[None]:
    """Turn whatever the client raises (several unrelated families, see its source) into our errors."""
    import httpx
    from ollama import RequestError, ResponseError

    try:
        yield
    except ResponseError as error:
        raise _refused(error, url, model) from error
    except httpx.ConnectTimeout as error:
        raise _unreached(error, url) from error
    except httpx.TimeoutException as error:
        fix = "ollama ps shows what it does; more time: neuralstream config set model_timeout 10m"
        raise VendorSlow("Ollama takes what it is asked and is too slow", where=url, fix=fix) from error
    except (httpx.RemoteProtocolError, httpx.ReadError) as error:
        raise VendorBusy(f"Ollama does not answer: {type(error).__name__}", where=url, fix="ollama serve") from error
    except (ConnectionError, httpx.HTTPError, httpx.InvalidURL, RequestError) as error:
        raise _unreached(error, url) from error
    except (ValueError, LookupError) as error:  # no JSON, no such fields, no address, no answer in it
        raise VendorAway(f"this is not how Ollama answers: {type(error).__name__}", where=url) from error


def _refused(error: Any, url: str, model: str) -> VendorAway | AnswerRefused:
    if error.status_code == _BAD_REQUEST:
        return AnswerRefused(f"Ollama refused the request: {error.error}", where=url)
    if error.status_code in _BUSY:
        return VendorBusy(f"Ollama refused: {error.error}", where=url, fix="ollama ps")
    if error.status_code in _DENIED:
        fix = "set ollama_url to Ollama itself: it wants no key, what stands before it does"
        return VendorRefused(f"Ollama refused: {error.error} (HTTP {error.status_code})", where=url, fix=fix)
    if error.status_code == _NOT_FOUND:
        return VendorRefused(f"Ollama refused: {error.error}", where=url, fix=f"ollama pull {model}")
    if "memory" in str(error.error):
        fix = "neuralstream config set gem_context 8192, or set gem_model to a smaller model"
        return VendorAway(f"Ollama refused: {error.error}", where=url, fix=fix)
    return VendorAway(f"Ollama refused: {error.error}", where=url, fix="ollama ps")
