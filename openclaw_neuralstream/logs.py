"""Events, not sentences: one line an event, to stderr and to an owner-only file that turns over. Never remembered text."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator, MutableMapping
from contextlib import ExitStack, contextmanager
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

import structlog

FILE_NAME = "neuralstream.log"
_MAX_BYTES = 2_000_000
_KEPT_FILES = 3
_SHORT = 3  # no secret is that short


class _PrivateFile(RotatingFileHandler):
    """A rotating log file that only its owner can read."""

    def _open(self) -> Any:
        descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        return os.fdopen(descriptor, "a", encoding="utf-8")


def quiet() -> None:
    """Unless somebody has configured logging: warnings to stderr, one line each; never a traceback with its values."""
    if not structlog.is_configured():
        configure("warning")


def configure(level: str, folder: Path | None = None, *, stderr: bool = True) -> None:
    """Send our events to `folder`/neuralstream.log and stderr; called once by an entry point."""
    handlers: list[logging.Handler] = []
    if stderr:
        handlers.append(logging.StreamHandler(sys.stderr))
    if folder is not None:
        handlers.append(_PrivateFile(folder / FILE_NAME, maxBytes=_MAX_BYTES, backupCount=_KEPT_FILES, delay=True))
    formatter = structlog.stdlib.ProcessorFormatter(
        processor=structlog.processors.LogfmtRenderer(key_order=["at", "level", "event"], bool_as_flag=False)
    )
    for handler in handlers:
        handler.setFormatter(formatter)
    logger = logging.getLogger("openclaw_neuralstream")
    logger.handlers[:] = handlers
    logger.setLevel(level.upper())
    logger.propagate = False
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.stdlib.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
            structlog.processors.format_exc_info,
            _without_secrets,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold the handlers that write to this file: what is logged meanwhile comes after."""
    with ExitStack() as holding:
        for handler in list(logging.getLogger("openclaw_neuralstream").handlers):
            if handler.lock is not None and getattr(handler, "baseFilename", "") == str(path):
                holding.enter_context(handler.lock)
        yield


def _without_secrets(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """The last border before the disk: an error's own words may quote what it failed on."""
    from openclaw_neuralstream.secrets import redact

    for name, value in event.items():
        if isinstance(value, str) and len(value) > _SHORT:
            event[name] = redact(value).text
    return event
