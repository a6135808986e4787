"""The way to one Qdrant server, cloud or cluster, the home of qdrant-client, which is imported when it is first needed."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from openclaw_neuralstream.errors import UNTRUSTED, VendorAway, VendorBusy, VendorRefused, VendorSlow, line_failure
from openclaw_neuralstream.settings import QdrantOptions

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

LEAST_VERSION = "1.10"
"""The first server that knows `POST /collections/{name}/points/query`, which every search is."""

_SAID = 300  # characters of the server's own words in a message
_BUSY = frozenset({429, 502, 503, 504})
_KEY = "set qdrant_api_key_env to the name of the environment variable that holds the API key"
_GRPC = {  # the codes of gRPC that have a status of HTTP of the same meaning
    "UNAUTHENTICATED": 401, "PERMISSION_DENIED": 403, "NOT_FOUND": 404, "INVALID_ARGUMENT": 400, "UNIMPLEMENTED": 404,
    "RESOURCE_EXHAUSTED": 429, "INTERNAL": 500, "UNKNOWN": 500,
}  # fmt: skip


def creation(models: Any, dimensions: int, options: QdrantOptions) -> dict[str, Any]:
    """The arguments of `create_collection`. models: qdrant_client.models."""
    return {
        "vectors_config": models.VectorParams(
            size=dimensions, distance=models.Distance.COSINE, on_disk=options.on_disk
        ),
        "shard_number": options.shard_number,
        "replication_factor": options.replication_factor,
        "write_consistency_factor": options.write_consistency_factor,
        "on_disk_payload": options.on_disk_payload,
        "hnsw_config": models.HnswConfigDiff(m=options.hnsw_m, ef_construct=options.hnsw_ef_construct),
        "quantization_config": _quantization(models, options.quantization),
    }


def search_params(models: Any, options: QdrantOptions) -> Any:
    """How a search looks: as wide as asked for, quantized candidates rescored; None = as the server does by itself."""
    quantized = None
    if options.quantization != "none":
        quantized = models.QuantizationSearchParams(rescore=True, oversampling=options.oversampling)
    if quantized is None and not options.hnsw_ef:
        return None
    return models.SearchParams(hnsw_ef=options.hnsw_ef or None, quantization=quantized)


def _quantization(models: Any, kind: str) -> Any:
    if kind == "scalar":
        return models.ScalarQuantization(
            scalar=models.ScalarQuantizationConfig(type=models.ScalarType.INT8, quantile=0.99, always_ram=True)
        )
    if kind == "binary":
        return models.BinaryQuantization(binary=models.BinaryQuantizationConfig(always_ram=True))
    return None


class QdrantLink:
    """One server, connected at the first use. Its errors leave as VendorAway."""

    def __init__(
        self, url: str, *, api_key: str = "", timeout: float = 5.0, grpc: bool = False, location: str | None = None
    ) -> None:
        """location: ":memory:" or a folder, in place of a server (for tests)."""
        self.where = location or _shown(url)
        self.stand_in = location is not None
        self._url = url
        self._api_key = api_key
        self._timeout = timeout
        self._grpc = grpc
        self._location = location
        self._client: QdrantClient | None = None

    def connected(self) -> tuple[QdrantClient, Any]:
        """The client and its models."""
        from qdrant_client import QdrantClient, models

        if self._client is None:
            if self._location == ":memory:":
                self._client = QdrantClient(":memory:")
            elif self._location is not None:
                self._client = QdrantClient(path=self._location)
            else:
                self._client = QdrantClient(
                    url=self._url,
                    api_key=self._api_key or None,
                    timeout=math.ceil(self._timeout),
                    prefer_grpc=self._grpc,
                    check_compatibility=False,
                    **_without_proxy(self._url),
                )
        return self._client, models

    def close(self) -> None:
        """Release the connections."""
        if self._client is not None:
            self._client.close()
        self._client = None

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Whatever the client raises inside is VendorAway."""
        import grpc
        import httpx
        from qdrant_client.common.client_exceptions import QdrantException
        from qdrant_client.http.exceptions import ApiException

        try:
            yield
        except (ApiException, QdrantException, httpx.HTTPError, grpc.RpcError, OSError, ValueError) as error:
            raise self._told(error) from error

    def _told(self, error: Exception) -> VendorAway:
        """A failure of the client, of the server or of the line as ours, by its type and its status."""
        import grpc
        import httpx
        from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
        from qdrant_client.http.exceptions import UnexpectedResponse

        source = getattr(error, "source", error)  # what the client has wrapped
        if isinstance(error, UnexpectedResponse):
            return self._refused(error.status_code or 0, _said(error.content, error.reason_phrase))
        if isinstance(error, ResourceExhaustedResponse):
            return self._refused(429, str(error))
        call: Any = error if isinstance(error, grpc.Call) else None
        if call is not None and call.code().name in _GRPC:
            return self._refused(_GRPC[call.code().name], str(call.details()))
        if call is not None and call.code() is not grpc.StatusCode.DEADLINE_EXCEEDED:
            return self._unreached(error, str(call.details()))
        if call is None and not isinstance(source, httpx.ReadTimeout | httpx.WriteTimeout | httpx.PoolTimeout):
            return self._unreached(source, str(source))
        what, more = f"Qdrant did not answer within {self._timeout:g} s", max(10, 2 * self._timeout)
        fix = f"look how busy the server is, or: neuralstream config set qdrant.timeout {more:g}s"
        return VendorSlow(what, where=self.where, fix=fix)

    def _refused(self, status: int, said: str) -> VendorAway:
        """The server answered with an error: its own words, and what mends it."""
        if status in _BUSY:
            return VendorBusy(f"Qdrant is busy: {said}", where=self.where, fix="look how busy the server is")
        means, fix = {
            401: ("refuses our API key", _KEY),
            403: ("does not allow this with our API key", f"{_KEY} with the right to write to the collection"),
            404: ("does not know what we ask for", "mend qdrant_url: is it a Qdrant server, and its root?"),
        }.get(status, ("refuses", "look at the server's log: a full disk, a damaged or a changed collection"))
        return VendorRefused(f"Qdrant {means}: {said} (HTTP {status})", where=self.where, fix=fix)

    def _unreached(self, error: Exception, said: str) -> VendorAway:
        why = line_failure(error)
        fix = "start the server or mend qdrant_url; gems wait in the memory file and follow when it answers"
        if why.startswith(UNTRUSTED):
            fix = "set SSL_CERT_FILE, where OpenClaw starts, to the PEM file of the authority that signed it, and qdrant_url to the name it is made out to"
        words = why or (said.strip() or type(error).__name__).splitlines()[0][:_SAID]
        return VendorAway(f"Qdrant does not answer: {words}", where=self.where, fix=fix)

    def check_version(self) -> None:
        """Raise VendorRefused for a server that is too old; one that does not tell its version is let be."""
        from qdrant_client.http.exceptions import UnexpectedResponse

        try:
            version = self.connected()[0].info().version
        except UnexpectedResponse:  # a gateway before it hides its root
            return
        if _numbers(version) and _numbers(version) < _numbers(LEAST_VERSION):
            what = f"Qdrant is version {version}, {LEAST_VERSION} is the least: it does not know points/query"
            raise VendorRefused(what, where=self.where, fix=f"upgrade the server to {LEAST_VERSION} or newer")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:2])


def _said(content: bytes, otherwise: str) -> str:
    """The server's own words: it answers {"status": {"error": …}}, a gateway before it {"error": …} or plain text."""
    text = content.decode("utf-8", "replace").strip()
    try:
        told = json.loads(text)
        told = told.get("status") if isinstance(told.get("status"), dict) else told
        text = str(told.get("error") or text)
    except (ValueError, AttributeError):
        pass
    return " ".join(text.split())[:_SAID] or otherwise


def _shown(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _without_proxy(url: str) -> dict[str, Any]:
    """A server on this machine is never asked through a proxy of the environment; SSL_CERT_FILE counts all the same."""
    parts = urlsplit(url)
    if parts.hostname not in {"127.0.0.1", "::1", "localhost"}:
        return {}
    import httpx

    return {"trust_env": False, **({"verify": httpx.create_ssl_context()} if parts.scheme == "https" else {})}
