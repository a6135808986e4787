"""A text as a machine would read it: full-width letters and digits as plain ones, characters that nobody sees left out."""

from __future__ import annotations

from dataclasses import dataclass

from openclaw_neuralstream.patterns import lazy

_ODD = lazy("[０-９Ａ-Ｚａ-ｚ\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")
_UNSEEN = lazy("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")
_PLAIN = {
    0xFF00 + code - 0x20: code for code in range(0x21, 0x7F) if chr(code).isalnum() or chr(code) in "-_.@#$%&*+=/~"
}


@dataclass(frozen=True, slots=True)
class Folded:
    """The text, and where each of its characters stands in the one it was made of."""

    text: str
    places: tuple[int, ...]

    def place(self, start: int, end: int) -> tuple[int, int]:
        """The same stretch, not empty, in the text that was folded."""
        return self.places[start], self.places[end - 1] + 1


def folded(text: str) -> Folded | None:
    """None where there is nothing to fold."""
    if text.isascii() or not _ODD.search(text):
        return None
    places = tuple(place for place, char in enumerate(text) if not _UNSEEN.match(char))
    return Folded("".join(text[place] for place in places).translate(_PLAIN), places)
