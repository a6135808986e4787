"""Any endpoint that speaks OpenAI's protocol, through the `openai` package: its client, and its failures as ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from openclaw_neuralstream.errors import (
    UNTRUSTED,
    AnswerRefused,
    NeuralStreamError,
    VendorAway,
    VendorBusy,
    VendorRefused,
    VendorSlow,
    line_failure,
)

NO_KEY = "none"
"""Sent where no key is configured: local servers want none, and OPENAI_API_KEY is never sent to a server by accident."""

_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_DENIED = frozenset({401, 403})
_NOT_FOUND = 404
_TOO_MANY = 429
_BUSY = frozenset({408, 409, 429, 502, 503, 504})
_SAID = 300  # characters of a server's own words in a message


def client(url: str, api_key: str, timeout: float) -> Any:
    """A client that asks each request once. Loopback is asked directly, whatever proxy the environment names."""
    from openai import DefaultHttpxClient, OpenAI

    direct = (urlsplit(url).hostname or "") in _LOOPBACK
    http = DefaultHttpxClient(trust_env=not direct, timeout=timeout)
    return OpenAI(base_url=url, api_key=api_key or NO_KEY, timeout=timeout, max_retries=0, http_client=http)


@contextmanager
def translated(url: str, model: str) -> Iterator[None]:
    """Turn whatever the package raises into ours: VendorBusy, VendorAway, or AnswerRefused for a refused request."""
    import httpx2
    from openai import APIConnectionError, APIStatusError, APITimeoutError, OpenAIError

    slow = "neuralstream config set model_timeout 10m"
    try:
        yield
    except APIStatusError as error:
        raise _refused(error.status_code, error, url, model) from error
    except httpx2.ConnectTimeout as error:
        raise _unreached(error, url) from error
    except (APITimeoutError, httpx2.TimeoutException) as error:
        raise VendorSlow("the endpoint is too slow", where=url, fix=slow) from error
    except (httpx2.RemoteProtocolError, httpx2.ReadError) as error:
        raise VendorBusy("the endpoint hung up in the middle of an answer", where=url) from error
    except (APIConnectionError, httpx2.HTTPError, httpx2.InvalidURL) as error:
        if isinstance(error.__cause__, httpx2.RemoteProtocolError | httpx2.ReadError):
            raise VendorBusy("the endpoint hung up", where=url, fix=_start(url)) from error
        raise _unreached(error, url) from error
    except OpenAIError as error:
        raise VendorAway(f"the endpoint failed: {_short(error)}", where=url) from error
    except (ValueError, TypeError, AttributeError, LookupError) as error:  # another JSON than the protocol's, or none
        raise VendorAway(f"this is not how an OpenAI endpoint answers: {type(error).__name__}", where=url) from error


def _refused(status: int, error: Any, url: str, model: str) -> NeuralStreamError:
    said = f"the endpoint refused: {_short(error)}"
    if status in _DENIED:
        fix = "put the key into an environment variable and name it: neuralstream config set openai_api_key_env NAME"
        return VendorRefused(said, where=url, fix=fix)
    if status == _NOT_FOUND:
        return VendorRefused(said, where=url, fix=f"load {model} there, or: neuralstream config set openai_model NAME")
    if status == _TOO_MANY and getattr(error, "code", "") == "insufficient_quota":
        return VendorRefused(
            said, where=url, fix="neuralstream config set extractor rules, until the account is filled"
        )
    if status in _BUSY:
        return VendorBusy(said, where=url)
    if status >= 500:
        return VendorAway(said, where=url, fix="look at the log of the model's server")
    return AnswerRefused(said, where=url)


def _unreached(error: Exception, url: str) -> VendorAway:
    why, fix = line_failure(error), _start(url)
    if why.startswith(UNTRUSTED):
        fix = "set SSL_CERT_FILE, where OpenClaw starts, to the PEM file of the authority that signed it"
    return VendorAway(f"the endpoint does not answer: {why or _name(error)}", where=url, fix=fix)


def _start(url: str) -> str:
    return f"start the server at {url}, or: neuralstream config set openai_url http://HOST:PORT/v1"


def _name(error: Exception) -> str:
    return type(error.__cause__ or error).__name__


def _short(error: Any) -> str:
    text = " ".join(str(getattr(error, "message", "") or error).split())
    return text[:_SAID]
