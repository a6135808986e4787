"""What a detector is: cheap anchors that say whether to look at all, a linear pattern, a check of what it caught."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from openclaw_neuralstream.patterns import lazy

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
    """

    name: str
    pattern: re.Pattern[str]
    anchors: tuple[str, ...] = ()
    group: int = 0
    accept: Callable[[str], bool] | None = None
    prose: bool = False

    def applies(self, lowered: str) -> bool:
        """Whether the text can hold such a secret at all; `lowered` is the text in lower case."""
        return not self.anchors or any(anchor in lowered for anchor in self.anchors)

    def find(self, text: str) -> Iterator[Span]:
        """Every secret of this sort."""
        for match in self.pattern.finditer(text):
            caught = match[self.group].rstrip(_STOPS) if self.prose else match[self.group]
            start = match.start(self.group)
            end = start + len(caught)
            if self.prose and _PLAIN.fullmatch(caught) and not _END.match(text, end):
                continue
            if caught and (self.accept is None or self.accept(caught)):
                yield Span(start, end, self.name)


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
