"""A question made ready: the running dialogue as messages with weights, their content terms, the text to embed."""

from __future__ import annotations

from openclaw_neuralstream.lexicon import content_terms, script_of, terms
from openclaw_neuralstream.model import Query
from openclaw_neuralstream.recall.source import Said, Understood

FADE = 0.6
"""How much less each earlier message counts than the one after it."""

LONGEST_MESSAGE = 4_000
"""Characters of a message that are read, from its end: pasted logs should not drown the question."""

MOST_TERMS = 64
"""Content terms of a message that are searched for."""


def understand(query: Query, *, dialogue_turns: int) -> Understood:
    """Split the question into messages, the last one first; `dialogue_turns` earlier ones are part of it.

    A message of stop words keeps all its terms when nothing else was said at all, so that "who am I?" asks something.
    """
    earlier = query.dialogue[-dialogue_turns:] if dialogue_turns else ()
    if earlier and earlier[-1].strip() == query.text.strip():
        earlier = earlier[:-1]
    texts = [query.text, *reversed(earlier)]
    said = tuple(_said(text, FADE**back) for back, text in enumerate(texts) if text.strip())
    if said and not any(message.terms for message in said):
        said = (Said(said[0].text, tuple(dict.fromkeys(terms(said[0].text)))[:MOST_TERMS], 1.0),)
    joined = "\n".join(message.text for message in reversed(said))
    return Understood(query=query, said=said, text=joined, script=script_of(query.text or joined))


def _said(text: str, weight: float) -> Said:
    short = text[-LONGEST_MESSAGE:]
    return Said(short, tuple(dict.fromkeys(content_terms(short)))[:MOST_TERMS], weight)
