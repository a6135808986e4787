"""An Ollama server, through the `ollama` package: its client, its failures as ours, and whether it has a model."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from openclaw_neuralstream.errors import AnswerRefused, VendorAway, VendorBusy, VendorSlow

_BAD_REQUEST = 400
_NOT_FOUND = 404
_BUSY = frozenset({429, 502, 503, 504})


def client(url: str, timeout: float) -> Any:
    """A client that asks the server directly, whatever proxy the environment names."""
    from ollama import Client

    return Client(host=url, timeout=timeout, trust_env=False)


def missing(url: str, model: str, timeout: float = 2.0) -> str:
    """Say why the model cannot be asked: "" when the server answers and has it, else the reason in words."""
    try:
        _knock(url, timeout)
        with translated(url, model):
            names = {str(entry.model) for entry in client(url, timeout).list().models}
    except (VendorAway, AnswerRefused) as error:
        return error.what
    wanted = model if ":" in model else f"{model}:latest"
    return "" if wanted in names or model in names else f"Ollama has no model {model}: ollama pull {model}"


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
        raise VendorAway(f"Ollama does not answer: {_plainly(error)}", where=url, fix="ollama serve") from error


def _plainly(error: Exception) -> str:
    """What went wrong on the line, in words for people; the name of the error where there are none."""
    if isinstance(error, ConnectionRefusedError) or "refused" in str(error).lower():
        return "nothing listens at its address; it is not running, or not installed"
    if isinstance(error, TimeoutError):
        return "its address does not react"
    if isinstance(error, socket.gaierror):
        return "there is no machine of this name"
    return type(error).__name__


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
        raise VendorAway("Ollama does not answer: its address does not react", where=url, fix="ollama serve") from error
    except httpx.TimeoutException as error:
        raise VendorSlow("Ollama is too slow", where=url, fix="neuralstream config set model_timeout 10m") from error
    except (httpx.RemoteProtocolError, httpx.ReadError) as error:
        raise VendorBusy(f"Ollama does not answer: {type(error).__name__}", where=url, fix="ollama serve") from error
    except (ConnectionError, httpx.HTTPError, httpx.InvalidURL, RequestError) as error:
        raise VendorAway(f"Ollama does not answer: {_plainly(error)}", where=url, fix="ollama serve") from error
    except (ValueError, LookupError) as error:  # no JSON, no such fields, no address, no answer in it
        raise VendorAway(f"this is not how Ollama answers: {type(error).__name__}", where=url) from error


def _refused(error: Any, url: str, model: str) -> VendorAway | AnswerRefused:
    if error.status_code == _BAD_REQUEST:
        return AnswerRefused(f"Ollama refused the request: {error.error}", where=url)
    if error.status_code in _BUSY:
        return VendorBusy(f"Ollama refused: {error.error}", where=url, fix="ollama ps")
    if error.status_code == _NOT_FOUND:
        return VendorAway(f"Ollama refused: {error.error}", where=url, fix=f"ollama pull {model}")
    if "memory" in str(error.error):
        fix = "neuralstream config set gem_context 8192, or set gem_model to a smaller model"
        return VendorAway(f"Ollama refused: {error.error}", where=url, fix=fix)
    return VendorAway(f"Ollama refused: {error.error}", where=url, fix="ollama ps")
