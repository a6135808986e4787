"""What a detector is: cheap anchors that say whether to look at all, a linear pattern, a check of what it caught."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from openclaw_neuralstream.patterns import lazy

_SEEN = 32_768
_NEXT = 512  # characters behind a marker in which the next secret of a list begins
_STOPS = ",;:.…)"
_PLAIN = lazy(r"[^\W\d_]+")
_END = lazy(r"[^\S\n]*(?:[^\w\s(]|\n|\Z|(?:and|but|or|и|а|но)\b)")
MARKER = lazy(r"\[redacted:[a-z0-9-]{1,32}\]")

_PLACEHOLDER = lazy(
    r"[*•x.…_\-#?]+|\.{3}.*|<[^>]*>?|\[[^\]]*\]?|(?-i:\$(?:[A-Z_][A-Z0-9_]*|[a-z_]+|\{.*|\(.*))|%\(?\w*\)?s?|\{\{?.*|"
    r"(?:your|my|the|some|example|dummy|test|fake|sample|insert|enter)[-_ ].*|"
    r"(?-i:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)|[a-z]{2,}(?:\.[a-z]{2,})+|[a-z_-]*(?:x{3,}|y{3,})[a-z_-]*|\S*\*{3,}\S*|"
    r"(?:none|null|nil|undefined|true|false|todo|tbd|n/a)",
    re.IGNORECASE,
)
_CODE = lazy(
    r"[\w.\]\[]+\(.*|(?:os|process|self|config|settings|env|request|this|args|options)\.[\w.\[\]'\"]+|[\w.]+\[.*"
)


def detector(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """A pattern of a secret: no half of one stays behind, so it sees thousands of characters at once, and is linear."""
    return lazy(pattern, flags, window=_SEEN)


@dataclass(frozen=True, slots=True)
class Span:
    """A secret at text[start:end], found by the detector `name`."""

    start: int
    end: int
    name: str


@dataclass(frozen=True, slots=True)
class Rule:
    """Find secrets of one sort.

    anchors: lower-case substrings, one of which a lower-cased text must hold; () = always look.
    pattern: must be linear in the text. group: which group is the secret; 0 = the whole match.
    accept: a last look at the caught text; None = always. prose: the text around it is a sentence: a closing comma
    or stop is not the secret's, and a plain word is a secret only where the sentence ends with it.
    behind_marker: the pattern begins with the marker of such a secret, so that one found may lead to the next.
    """

    name: str
    pattern: re.Pattern[str]
    anchors: tuple[str, ...] = ()
    group: int = 0
    accept: Callable[[str], bool] | None = None
    prose: bool = False
    behind_marker: bool = False

    def applies(self, lowered: str) -> bool:
        """Whether the text can hold such a secret at all; `lowered` is the text in lower case."""
        return not self.anchors or any(anchor in lowered for anchor in self.anchors)

    def find(self, text: str) -> Iterator[Span]:
        """Every secret of this sort."""
        for match in self.pattern.finditer(text):
            span, before = self._caught(match), 0
            while span:
                end = before + span.end
                yield Span(before + span.start, end, self.name)
                marker = f"[redacted:{self.name}]"
                following = self.pattern.match(marker + text[end : end + _NEXT]) if self.behind_marker else None
                span, before = self._caught(following) if following else None, end - len(marker)

    def _caught(self, match: re.Match[str]) -> Span | None:
        """The secret in the match; None where it is none."""
        caught = match[self.group].rstrip(_STOPS) if self.prose else match[self.group]
        start = match.start(self.group)
        end = start + len(caught)
        if self.prose and _PLAIN.fullmatch(caught) and not _END.match(match.string, end):
            return None
        return Span(start, end, self.name) if caught and (self.accept is None or self.accept(caught)) else None


def entropy(value: str) -> float:
    """Shannon entropy in bits per character; 0 for ""."""
    counts = Counter(value)
    return -sum(n / len(value) * math.log2(n / len(value)) for n in counts.values()) if value else 0.0


def is_placeholder(value: str) -> bool:
    """Whether it stands for a secret instead of being one: `***`, `<token>`, `$TOKEN`, `os.environ["X"]`."""
    return bool(_PLACEHOLDER.fullmatch(value) or _CODE.fullmatch(value))


def looks_random(value: str) -> bool:
    """Whether it reads like a generated key: letters and digits mixed, many different characters, no placeholder."""
    if len(value) < 12 or is_placeholder(value):
        return False
    letters, digits = any(c.isalpha() for c in value), sum(c.isdigit() for c in value)
    words = re.findall(r"[a-z]{4,}|[A-Z][a-z]{3,}", value)
    in_words = sum(map(len, words)) / len(value)
    return letters and digits >= 2 and entropy(value) >= 2.9 and in_words < 0.6
