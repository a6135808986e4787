"""Words of others inside a message, found by their form: quotation marks, quoted lines, chat logs, forwarded mails.

What stands in them is nobody's statement about the owner; a sentence that frames them ("Anna wrote: “…”") reports them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_PAIRS = ("“”", "„“", "„”", "«»", "»«", "「」", "『』", "‹›", "‘’", '""', "《》")
_LONGEST = 4_000  # characters of a quotation; a mark that is not closed within them quotes nothing
_LEAST = 12  # letters at its beginning by which a quotation is found in a sentence
_LEAST_CJK = 6
_FEWEST = 4  # words from which words in marks are a quotation; a name or a title in marks is none
_FEWEST_CJK = 7  # characters
_LOG = re.compile(r"^\s*(?:\[[^\]\n]{1,40}\]|\(?\d{1,2}[:.]\d{2}\)?)?\s*[^\s:：\[\]][^:：\n]{0,30}[:：]\s*\S")
_ADDRESS = re.compile(r"^[^\s:：][^:：\n]{0,20}[:：][^\n]{0,200}@[\w-]+\.\w")
_DASHES = re.compile(r"^\s*-{3,}[^\n]*-{3,}\s*$")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


def quoted(message: str) -> tuple[str, ...]:
    """The letters of each stretch of a message that is another's words, as `letters` gives them; () for none."""
    found = [part for part in (*_in_marks(message), *_in_lines(message)) if _long_enough(part)]
    return tuple(letters(part) for part in found)


def inside(sentence: str, stretches: tuple[str, ...]) -> bool:
    """Whether a sentence lies in one of them."""
    own = letters(sentence)
    return bool(own) and any(own in stretch for stretch in stretches)


def frames(sentence: str, stretches: tuple[str, ...]) -> bool:
    """Whether a sentence holds the beginning of one of them: it reports what another said."""
    own = letters(sentence)
    return any(stretch[: _LEAST_CJK if _CJK.search(stretch) else _LEAST] in own for stretch in stretches)


def letters(text: str) -> str:
    """A text without anything but its letters and digits, so that marks, blanks and days put in do not matter."""
    return "".join(char for char in text.casefold() if char.isalnum())


def _long_enough(part: str) -> bool:
    characters = len(_CJK.findall(part))
    return characters >= _FEWEST_CJK or (not characters and len(part.split()) >= _FEWEST)


def _in_marks(message: str) -> Iterator[str]:
    for pair in _PAIRS:
        opening, closing = pair[0], pair[1]
        at = message.find(opening)
        while at >= 0:
            if opening == closing and message[max(0, at - 1) : at].isalnum():  # inches, an apostrophe
                at = message.find(opening, at + 1)
                continue
            end = message.find(closing, at + 1)
            if end < 0 or end - at > _LONGEST:
                break
            yield message[at + 1 : end]
            at = message.find(opening, end + 1)


def _in_lines(message: str) -> Iterator[str]:
    """Lines that begin with ">", lines "name: words" in which a name comes back or that have a time, and what stands under the head of a forwarded mail."""
    lines = message.splitlines()
    yield "\n".join(line.lstrip()[1:] for line in lines if line.lstrip().startswith((">", "》")))
    log = [line for line in lines if _LOG.match(line)]
    speakers = [re.split("[:：]", line.split("]", 1)[-1], maxsplit=1)[0].strip() for line in log]
    if len(log) > 1 and (len(set(speakers)) < len(speakers) or all(line.lstrip()[0] in "[(0123456789" for line in log)):
        yield from (re.split("[:：]", line.split("]", 1)[-1], maxsplit=1)[-1] for line in log)
    head = next((n for n, line in enumerate(lines) if _DASHES.match(line) or _ADDRESS.match(line)), None)
    if head is not None:
        yield "\n".join(lines[head + 1 :])
