"""The way to one Qdrant server, cloud or cluster, the home of qdrant-client, which is imported when it is first needed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from openclaw_neuralstream.errors import VendorAway

if TYPE_CHECKING:
    from qdrant_client import QdrantClient


@dataclass(frozen=True, slots=True)
class CollectionShape:
    """How a collection is made, and how it is searched. What exists already keeps the shape it was made with.

    quantization: "none", "scalar" (int8) or "binary"; quantized search looks at `oversampling` times as many
    candidates and rescores them with the full vectors. hnsw_ef: 0 = the server's own.
    """

    shards: int = 1
    replicas: int = 1
    write_consistency: int = 1
    on_disk_payload: bool = True
    on_disk_vectors: bool = False
    quantization: str = "none"
    oversampling: float = 2.0
    hnsw_m: int = 16
    hnsw_ef_construct: int = 100
    hnsw_ef: int = 0


def creation(models: Any, dimensions: int, shape: CollectionShape) -> dict[str, Any]:
    """The arguments of `create_collection`. models: qdrant_client.models."""
    return {
        "vectors_config": models.VectorParams(
            size=dimensions, distance=models.Distance.COSINE, on_disk=shape.on_disk_vectors
        ),
        "shard_number": shape.shards,
        "replication_factor": shape.replicas,
        "write_consistency_factor": shape.write_consistency,
        "on_disk_payload": shape.on_disk_payload,
        "hnsw_config": models.HnswConfigDiff(m=shape.hnsw_m, ef_construct=shape.hnsw_ef_construct),
        "quantization_config": _quantization(models, shape.quantization),
    }


def search_params(models: Any, shape: CollectionShape) -> Any:
    """How a search looks: as wide as asked for, quantized candidates rescored; None = as the server does by itself."""
    quantized = None
    if shape.quantization != "none":
        quantized = models.QuantizationSearchParams(rescore=True, oversampling=shape.oversampling)
    if quantized is None and not shape.hnsw_ef:
        return None
    return models.SearchParams(hnsw_ef=shape.hnsw_ef or None, quantization=quantized)


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
        except (ApiException, QdrantException, httpx.HTTPError, grpc.RpcError, OSError) as error:
            raise self._away(str(error).strip() or type(error).__name__) from error
        except ValueError as error:  # the client's own word for a collection that is not there, and for bad addresses
            raise self._away(str(error)) from error

    def _away(self, why: str) -> VendorAway:
        return VendorAway(f"Qdrant does not serve: {why.splitlines()[0][:300]}", where=self.where, fix=_remedy(why))


def _remedy(why: str) -> str:
    if any(word in why for word in ("401", "403", "Unauthorized", "Forbidden", "UNAUTHENTICATED", "PERMISSION_DENIED")):
        return "set qdrant_api_key_env to the name of the environment variable that holds the API key"
    return "start the server or mend qdrant_url; gems wait in the memory file and follow when it answers"


def _shown(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _without_proxy(url: str) -> dict[str, Any]:
    """A server on this machine is never asked through a proxy of the environment."""
    local = urlsplit(url).hostname in {"127.0.0.1", "::1", "localhost"}
    return {"trust_env": False} if local else {}
