"""A text on one line, or cut to some length: what does not fit ends with "…"."""

from __future__ import annotations


def one_line(text: str, most: int) -> str:
    """The text with single spaces instead of all white space, cut to `most` characters."""
    return shortened(" ".join(text.split()), most)


def shortened(text: str, most: int) -> str:
    """The text, or its beginning and "…": at most `most` characters (1 or more)."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
