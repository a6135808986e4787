"""The one way for a text of the host into a turn or a query: blocks stripped, secrets redacted, then shortened."""

from __future__ import annotations

from openclaw_neuralstream.capture.parts import shorten
from openclaw_neuralstream.capture.strip import strip_injected
from openclaw_neuralstream.secrets import redact

_SHORTEN_FIRST = 32_000
"""Above this a text that is shortened anyway loses its middle before the redaction, which costs time per character."""


def safe(text: str, limit: int = 0) -> str:
    """What may be kept of a text; at most about `limit` characters, 0 = all. "" when nothing is left.

    Secrets go before the text is cut, so that no half of one is left over.
    """
    if not limit:
        return redact(strip_injected(text)).text.strip()
    whole = shorten(text, max(limit, _SHORTEN_FIRST))
    return shorten(redact(strip_injected(whole)).text.strip(), limit)
