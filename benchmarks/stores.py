"""The stores by themselves: append, distil, word search, vector search beside what memory can do. `python -m benchmarks.stores`."""

from __future__ import annotations

import argparse
import itertools
import random
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import report
from benchmarks.process import sentence, timed
from openclaw_neuralstream.memory import gemcraft
from openclaw_neuralstream.model import EmbedderIdentity, Gem, Origin, Scope, Session, Trigger, Turn, Utterance
from openclaw_neuralstream.ports import IndexEntry, Vectors
from openclaw_neuralstream.store.flat_index import FlatIndex
from openclaw_neuralstream.store.truth import Truth
from openclaw_neuralstream.text import lexicon

_MADE_BY = EmbedderIdentity("random", 512)
_START = datetime(2026, 1, 1, tzinfo=UTC)
_OWNER, _GUEST = Scope("main"), Scope("main", "guest")
_SESSION = Session("main", "agent:main:bench", "bench")
_GUESTS_SHARE = 20  # every so many gems are of another scope: a search that touches 5 % of the rows


def turns(chance: random.Random) -> Iterator[Turn]:
    """Turns of about 2 KB, for ever."""
    for number in itertools.count(1):
        at = _START + timedelta(minutes=number)
        text = " ".join(sentence(chance, number + n) for n in range(22))
        yield Turn(f"turn-{number}", _OWNER, _SESSION, at, (Utterance("owner", Origin.OWNER, text, at),))


def gems(count: int, chance: random.Random) -> Iterator[Gem]:
    """Made-up gems of two scopes."""
    for number in range(count):
        scope = _OWNER if number % _GUESTS_SHARE else _GUEST
        yield gemcraft.by_hand(sentence(chance, number), scope, _SESSION, importance=0.5, now=_START)


def directions(count: int) -> Vectors:
    """Random unit vectors."""
    vectors = np.random.default_rng(7).standard_normal((count, _MADE_BY.dimensions), dtype=np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def measure(count: int, times: int) -> dict[str, Any]:
    """One size of store. Milliseconds, but for the number of gems."""
    chance = random.Random(count)
    made, vectors = list(gems(count, chance)), directions(count)
    with tempfile.TemporaryDirectory() as folder:
        truth = Truth.open(Path(folder) / "memory.sqlite")
        index = FlatIndex(Path(folder) / "index", _MADE_BY)
        for first in range(0, count, 2_000):
            pairs = list(zip(made[first : first + 2_000], vectors[first : first + 2_000], strict=True))
            truth.import_gems(pairs, _MADE_BY, _START)
            index.upsert([IndexEntry(gem, vector) for gem, vector in pairs])
        measured = {**_truth(truth, chance, made, times), **_index(index, vectors, made[1], times)}
        truth.close()
        index.close()
        opened = timed(lambda: Truth.open(Path(folder) / "memory.sqlite").close(), 5)
        indexed = timed(lambda: FlatIndex(Path(folder) / "index", _MADE_BY).close(), 5)
    return {
        "gems": count,
        **{name: report.percentiles(samples) for name, samples in measured.items()},
        "open_truth": report.percentiles(opened),
        "open_index": report.percentiles(indexed),
    }


def _truth(truth: Truth, chance: random.Random, made: list[Gem], times: int) -> dict[str, list[float]]:
    coming = turns(chance)
    questions = itertools.cycle([lexicon.terms(sentence(chance, chance.randrange(len(made)))) for _ in range(50)])
    numbers = itertools.count()
    ids = [gem.gem_id for gem in chance.sample(made, 50)]

    def distil() -> None:
        batch = truth.claim(_SESSION, limit=5, lease=timedelta(minutes=5), now=_START, trigger=Trigger.BATCH)
        if batch:
            fresh = [replace(made[0], gem_id=f"fresh-{next(numbers)}", batch=batch.batch_id) for _ in range(5)]
            truth.store(batch, [(gem, None) for gem in fresh], embedder=None, at=_START)
            truth.commit(batch)

    return {
        "append_2kb": timed(lambda: truth.append(next(coming)), 5 * times),
        "claim_store_5_gems_commit": timed(distil, times),
        "search_words": timed(lambda: truth.search_words(next(questions), _OWNER, 50), times),
        "gems_by_50_ids": timed(lambda: truth.gems(_OWNER, gem_ids=ids), times),
    }


def _index(index: FlatIndex, vectors: Vectors, one: Gem, times: int) -> dict[str, list[float]]:
    queries = itertools.cycle(directions(50))
    return {
        "product_alone": timed(lambda: vectors @ next(queries), times),
        "search_95_percent": timed(lambda: index.search(next(queries), _OWNER, limit=10), times),
        "search_5_percent": timed(lambda: index.search(next(queries), _GUEST, limit=10), times),
        "upsert_one": timed(lambda: index.upsert([IndexEntry(one, next(queries))]), times),
    }


def main() -> None:
    """Measure and commit to results/stores.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--times", type=int, default=100)
    chosen = report.ready(parser)
    path = report.write("stores", {"unit": "ms", "sizes": [measure(count, chosen.times) for count in chosen.sizes]})
    print(path.read_text())


if __name__ == "__main__":
    main()
