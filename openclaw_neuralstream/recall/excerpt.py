"""What of a verbatim turn is shown, and what it is worth: the sentences that answer; a bare question answers nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping

from openclaw_neuralstream.lexicon import content_terms, sentences, terms
from openclaw_neuralstream.patterns import lazy

QUESTION_WORTH = 0.5
"""What a turn that only asks counts beside one that states something."""

GAP = " … "
_LONGEST = 40_000  # characters that are looked through for sentences
_MARK = lazy("[?？]")
_ASKED = lazy(r"[?？][\s\"'”’»)\]]*$")
_OPENS = lazy(
    r"^(?:and |but |so |also |ok(?:ay)?,? |hey,? |hi,? )*"
    r"(?:(?:what|who|whom|whose|where|when|why|which|how)(?:'s|'re|\s+(?:is|are|was|were|do|does|did|can|could|will|would|should|has|have|had|many|much|long|often|old|far))\b"
    r"|(?:is|are|was|were|do|does|did|can|could|would|will|should|have|has|had)\s+(?:i|you|we|he|she|it|they|there|my|your|our|his|her|their|the|this|that|any)\b"
    r"|(?:do you )?remember (?:what|who|where|when|why|which|how)\b"
    r"|(?:что|кто|кого|кому|чей|чья|чьё|где|куда|откуда|когда|почему|зачем|как|какой|какая|какое|какие|сколько|помнишь)\b"
    r"|(?:什么|谁|哪|几时|何时|为什么|怎么|多少))",
    re.IGNORECASE,
)
_ENDS = lazy(r"(?:吗|呢|什么|谁|哪里|哪儿|多少|几点|怎么样|没有)[。.!！\s]*$")
_SHORT_WORDS = 14  # a longer sentence that begins like a question and has no mark tells something as well
_CLAUSES = lazy(r"[,;:，；：—–]\s*")
_STATED = 4  # words, and
_STATED_CJK = 6  # characters, from which a clause beside the question says something
_CJK = lazy(r"[\u3040-\u30ff\u3400-\u9fff]")
_CHATTER = 1  # content terms up to which a sentence beside a question is a greeting


def worth(text: str) -> float:
    """1 for a text that states something, less for one that only asks; 1 for an empty one."""
    if not (_MARK.search(text) or _OPENS.match(text) or _ENDS.search(text)):
        return 1.0
    said = sentences(text[:_LONGEST])
    asks = [sentence for sentence in said if _is_question(sentence)]
    if not asks or any(_states(sentence) for sentence in said):
        return 1.0
    return QUESTION_WORTH


def excerpt(text: str, weights: Mapping[str, float], most: int) -> str:
    """The text, or of one longer than `most` characters the sentences that hold most of these terms, in their order."""
    if len(text) <= most:
        return text
    said = sentences(text[:_LONGEST])
    scores = [sum(weights.get(term, 0.0) for term in set(terms(sentence))) for sentence in said]
    order = sorted(range(len(said)), key=lambda at: (-scores[at], at))
    kept: set[int] = set()
    left = most
    for at in order:
        if kept and not scores[at]:
            break
        cost = len(said[at]) + len(GAP)
        if cost <= left:
            kept.add(at)
            left -= cost
        elif not kept:
            return _cut(said[at], weights, most)
    for at in sorted({place + 1 for place in kept} - kept):  # what follows an answer often goes on with it
        if at < len(said) and len(said[at]) + len(GAP) <= left:
            kept.add(at)
            left -= len(said[at]) + len(GAP)
    return _joined(said, kept)


def _joined(said: list[str], kept: set[int]) -> str:
    shown = ""
    for at in sorted(kept):
        shown += (" " if at - 1 in kept else GAP.lstrip() if not shown and at else GAP if shown else "") + said[at]
    return shown + ("" if len(said) - 1 in kept else GAP.rstrip())


def _cut(sentence: str, weights: Mapping[str, float], most: int) -> str:
    """A sentence that alone is too long: the part of it around the terms."""
    room = max(most - 2 * len(GAP), 1)
    step = max(room // 2, 1)
    starts = range(0, max(len(sentence) - room, 0) + step, step)
    best = max(starts, key=lambda at: (sum(weights.get(t, 0.0) for t in set(terms(sentence[at : at + room]))), -at))
    shown = sentence[best : best + room].strip()
    return (GAP.lstrip() if best else "") + shown + (GAP.rstrip() if best + room < len(sentence) else "")


def _is_question(sentence: str) -> bool:
    if _ASKED.search(sentence) or _ENDS.search(sentence):
        return True
    return len(sentence.split()) <= _SHORT_WORDS and bool(_OPENS.match(sentence)) and not _CLAUSES.search(sentence)


def _states(sentence: str) -> bool:
    """Whether it says something: a sentence that does not ask and is no greeting, or a clause beside the question."""
    if not _is_question(sentence):
        return len(content_terms(sentence)) > _CHATTER
    *beside, _ = _CLAUSES.split(sentence)
    return any(_long(clause) and not _OPENS.match(clause) for clause in beside)


def _long(clause: str) -> bool:
    return len(clause.split()) >= _STATED or len(_CJK.findall(clause)) >= _STATED_CJK
