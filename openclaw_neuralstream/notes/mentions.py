"""Names and tags inside a text: `@Peter`, `@"Peter Müller"`, `#trading`, pointers to files and lines."""

from __future__ import annotations

import re
from collections.abc import Iterable

from openclaw_neuralstream.model import slug_of
from openclaw_neuralstream.patterns import lazy

_NAME = r'(?:["“\[](?P<q>[^"”\]\n@]{1,80})["”\]]|(?P<n>[^\W_](?:[\w\-’]|[.·/](?=\w)){0,79}))'
ENTITY = lazy(rf"(?<![\w.@＠/+\-])[@＠]{_NAME}")
_CODE = lazy(r"(`+)[^`](?:.*?[^`])?\1(?!`)", re.DOTALL)
_TAG = lazy(r"(?<![\w#&/@\"'(\[=])#(?P<tag>[^\W\d_][\w\-/]{1,49})(?![\w#]|\()")
_POINTER = lazy(r"(?<![\w/.\-@])((?:[\w.\-]+/){0,8}[\w.\-]{1,120}\.md(?:#L\d{1,7}(?:-L?\d{1,7})?)?)(?![\w/])")


def without_code(text: str) -> str:
    """The text with its inline code blanked, its length kept."""
    return _CODE.sub(lambda match: " " * len(match[0]), text) if "`" in text else text


def entities_in(text: str) -> tuple[str, ...]:
    """Names written with "@", once each, in order; not e-mail addresses, not code."""
    if "@" not in text and "＠" not in text:
        return ()
    return unique(named(match) for match in ENTITY.finditer(without_code(text)))


def named(match: re.Match[str]) -> str:
    """The name that a match of ENTITY stands for."""
    return " ".join((match["q"] or match["n"]).split())


def unique(names: Iterable[str]) -> tuple[str, ...]:
    """Names once each by their slug, the first spelling kept; what has no letters is left out."""
    kept: dict[str, str] = {}
    for name in names:
        slug = slug_of(name)
        if slug:
            kept.setdefault(slug, name)
    return tuple(kept.values())


def written(name: str) -> str:
    """A name as it is written in a bullet: `@Peter`, or `@"Peter Müller"` where it has blanks or signs."""
    plain = ENTITY.fullmatch(f"@{name}")
    return f"@{name}" if plain and plain["n"] == name else f'@"{name}"'


def tags_in(text: str) -> tuple[str, ...]:
    """Hashtags in the text, in order, once each; no headings, colours or links."""
    if "#" not in text:
        return ()
    return tuple(
        dict.fromkeys(match["tag"] for match in _TAG.finditer(without_code(text)) if not _is_colour(match["tag"]))
    )


def _is_colour(word: str) -> bool:
    return bool(re.fullmatch(r"[0-9a-fA-F]{6}|[0-9a-fA-F]{3}", word))


def pointers_in(text: str) -> tuple[str, ...]:
    """Files of the workspace that the text points to, with their lines where it names them."""
    return tuple(dict.fromkeys(_POINTER.findall(text))) if ".md" in text else ()


def plain(title: str) -> str:
    """A heading without its marks: code, stress, links."""
    bare = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", title)
    bare = re.sub(r"(`+|\*\*|__|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w))", "", bare)
    return " ".join(bare.split())
