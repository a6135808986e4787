"""Bytes of a file to text: UTF-8, UTF-16, or a guess that is reported; never an exception."""

from __future__ import annotations

import codecs

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE = 65_536
_FEW = 0.002
"""Share of bytes that may be wrong in a text that is taken as UTF-8 all the same."""


def decoded(data: bytes) -> tuple[str | None, str]:
    r"""The text without its byte order mark, and what is to be said about it ("" = plain UTF-8).

    None for data that is no text. NUL characters and lone surrogates become "\\ufffd".
    """
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            text = data[len(mark) :].decode(encoding, "replace")
            return _clean(text), "" if encoding == "utf-8" else f"read as {encoding.upper()}"
    try:
        return _clean(data.decode("utf-8")) if b"\0" not in data[:_SAMPLE] else _with_nul(data), _nul_note(data)
    except UnicodeDecodeError:
        return _other(data)


def _clean(text: str) -> str:
    return text.replace("\0", "\ufffd") if "\0" in text else text


def _nul_note(data: bytes) -> str:
    if b"\0" not in data[:_SAMPLE]:
        return ""
    return "read as UTF-16 without a byte order mark" if _utf16(data) else "not a text file: nothing of it is indexed"


def _with_nul(data: bytes) -> str | None:
    encoding = _utf16(data)
    return _clean(data.decode(encoding, "replace")) if encoding else None


def _utf16(data: bytes) -> str:
    """UTF-16 without a mark: nearly all NULs on one side of the pairs, few other control characters."""
    sample = data[:_SAMPLE]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if max(even, odd) < len(sample) * 0.2 or min(even, odd) > max(even, odd) * 0.1:
        return ""
    return "utf-16-be" if even > odd else "utf-16-le"


def _other(data: bytes) -> tuple[str | None, str]:
    if b"\0" in data[:_SAMPLE]:
        return _with_nul(data), _nul_note(data)
    lenient = data.decode("utf-8", "replace")
    wrong = lenient.count("\ufffd")
    high = sum(1 for byte in data[:_SAMPLE] if byte >= 0x80)
    if wrong <= max(1, len(data) * _FEW) and wrong * 8 < max(high, 1):
        return _clean(lenient), f"{wrong} bytes are not UTF-8 and are shown as \ufffd"
    encoding = _guessed(data[:_SAMPLE])
    return _clean(data.decode(encoding, "replace")), f"not UTF-8: read as {encoding}; save the file as UTF-8 to be sure"


def _guessed(sample: bytes) -> str:
    from charset_normalizer import from_bytes

    best = from_bytes(
        sample, cp_isolation=["cp1251", "koi8_r", "gb18030", "big5", "shift_jis", "euc_jp", "cp1252"]
    ).best()
    return best.encoding if best else "cp1252"
