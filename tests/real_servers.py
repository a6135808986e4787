"""Real servers that tests may use in the place of stand-ins; read before a fixture hides our own names. "" = none."""

from __future__ import annotations

import os

QDRANT_URL = os.environ.get("NEURALSTREAM_TEST_QDRANT_URL", "")
QDRANT_API_KEY = os.environ.get("NEURALSTREAM_TEST_QDRANT_API_KEY", "")
OLLAMA_URL = os.environ.get("NEURALSTREAM_TEST_OLLAMA_URL", "")
OLLAMA_EMBEDDING = os.environ.get("NEURALSTREAM_TEST_OLLAMA_EMBEDDING", "snowflake-arctic-embed2")
"""An embedding model that the Ollama server has."""
