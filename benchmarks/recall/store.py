"""A memory of any size for measurements of speed: made-up gems and turns, everything that is derived from them by the product.

Written straight into the memory file, as a year of use would have left it: to take in 100,000 turns one by one takes hours.
Vectors: those of 2,000 texts are real, the others lie near one of them (embedding all would take an hour).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from openclaw_neuralstream.embed.embedded import EmbeddedEmbedder
from openclaw_neuralstream.memory import scrub, wiring
from openclaw_neuralstream.memory.engine import EMBEDDER_META, Memory
from openclaw_neuralstream.model import Gem, GemSource, Origin, Scope, Session, Turn, Utterance, content_uuid
from openclaw_neuralstream.ports import Vectors
from openclaw_neuralstream.state import StateDir
from openclaw_neuralstream.store import schema, turns
from openclaw_neuralstream.store.truth import Truth

NOW = datetime(2026, 11, 1, tzinfo=UTC)
SCOPE = Scope("main")
_CHUNK = 2_000
_REAL = 2_000
_WHOLE = "filled"  # a file that stands in a memory which was filled to the end
_WHO = "Anna Boris Chen Diego Elif Farid Greta Hiro Igor Jana".split()  # noqa: SIM905
_DID = "bought repaired moved painted sold deployed reviewed planned cancelled measured".split()  # noqa: SIM905
_WHAT = "bicycle server kitchen contract violin database garden invoice passport report camera queue".split()  # noqa: SIM905
_WHERE = "Lisbon Tbilisi Oslo Shanghai Kazan Bonn Nairobi Lima Quebec Split".split()  # noqa: SIM905
_RARE = [
    f"{a}{b}{c}" for a in ("ka", "mo", "ti", "su") for b in ("re", "lo", "ni", "va") for c in ("x", "nd", "lm", "st")
]


def filled(folder: Path, *, gems: int, turns: int, per_session: int, embedder: EmbeddedEmbedder) -> Memory:
    """An open memory, no worker running, in which nothing is left to be derived; one that was filled before is only opened.

    per_session: turns of one conversation.
    """
    state = StateDir(folder).prepare()
    if (folder / _WHOLE).exists():
        return wiring.open_memory(state, start=False)
    rng = random.Random(gems + turns)
    made = [gem_of(rng, number) for number in range(gems)]
    vectors = vectors_of([gem.content for gem in made], embedder)
    truth = Truth.open(state.database)
    scrub.begin(truth)  # as of a memory that is made today
    for start in range(0, gems, _CHUNK):
        pairs = list(zip(made[start : start + _CHUNK], vectors[start : start + _CHUNK], strict=True))
        truth.import_gems(pairs, embedder.identity, NOW)
    for start in range(0, turns, _CHUNK):
        _keep(truth, [turn_of(rng, number, per_session) for number in range(start, min(turns, start + _CHUNK))])
    truth.set_meta(EMBEDDER_META, str(embedder.identity))
    truth.close()
    memory = wiring.open_memory(state, start=False)
    _derive(memory, vectors[:_REAL])
    (folder / _WHOLE).touch()
    return memory


def gem_of(rng: random.Random, number: int) -> Gem:
    """One of 480,000 sentences, with one person and one thing as its labels."""
    rare = rng.choice(_RARE) + str(number % 997)
    who, what = rng.choice(_WHO), rng.choice(_WHAT)
    content = f"{who} {rng.choice(_DID)} the {what} {rare} in {rng.choice(_WHERE)} in {2000 + number % 26}."
    at = NOW - timedelta(hours=number % 9_000)
    return Gem(
        gem_id=content_uuid("latency", str(number)),
        content=content,
        summary=content,
        topics=(what,),
        importance=0.3 + 0.6 * rng.random(),
        source=GemSource(f"session-{number // 50}", at.date().isoformat(), "1-5"),
        tags=("fact", what),
        created_at=at,
        scope=SCOPE,
        entities=(who,),
    )


def turn_of(rng: random.Random, number: int, per_session: int) -> Turn:
    """A person says two sentences, the assistant answers with eight."""
    at = NOW - timedelta(minutes=7 * number)
    of = number // per_session
    words = f"{gem_of(rng, number).content} I was told that {gem_of(rng, number + 1).content}"
    answer = " ".join(gem_of(rng, number + step).content for step in range(8))
    said = (Utterance("owner", Origin.OWNER, words, at), Utterance("agent", Origin.AGENT, answer, at))
    return Turn(f"turn-{number}", SCOPE, Session("main", f"agent:main:{of}", f"host-{of}"), at, said, number)


def question(rng: random.Random) -> str:
    """Names a thing, a person, a place and a rare word that some gems hold."""
    rare = f"{rng.choice(_RARE)}{rng.randrange(997)}"
    return f"When was the {rng.choice(_WHAT)} {rare} {rng.choice(_DID)} by {rng.choice(_WHO)} in {rng.choice(_WHERE)}?"


def vectors_of(texts: Sequence[str], embedder: EmbeddedEmbedder) -> Vectors:
    """A unit row for each text: the model's own of the first 2,000, near one of them for the others."""
    real = embedder.embed_documents(list(texts[:_REAL]))
    rows = _near(real, len(texts))
    rows[: len(real)] = real
    return rows


def _near(real: Vectors, count: int) -> Vectors:
    rng = np.random.default_rng(7)
    rows = real[rng.integers(0, len(real), count)]
    rows = rows + rng.normal(0, 0.02, rows.shape).astype(np.float32)
    unit: Vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit


def _keep(truth: Truth, told: Sequence[Turn]) -> None:
    with truth._database.write() as connection:  # noqa: SLF001  no door of the product takes in years at once
        for turn in told:
            turns.insert(connection, turn, schema.EXTRACTED, "batch")


def _derive(memory: Memory, real: Vectors) -> None:
    """What the workers would: gem index, verbatim turns, sequences, inferred tags."""
    memory.projection.check()
    memory.turn_projection.catch_up()
    passages = memory.parts.passages
    while passages is not None and (bare := passages.without_vector(20_000)):
        passages.embed(bare, _near(real, len(bare)))
    if memory.sequencer is not None:
        memory.sequencer.catch_up()
    while memory.truth.tags.infer_some():
        pass
