"""Killed two hundred times, with the model, the index and Redis taken away and brought back: nothing lost, nothing twice."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
import structlog

from openclaw_neuralstream.embed.embedded import EmbeddedEmbedder
from tests.drill.long import long_drill
from tests.drill.run import Report, drill
from tests.valkey import ValkeyServer

ROUNDS = 200


@pytest.fixture(autouse=True)
def _quiet():
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    yield
    structlog.reset_defaults()


@pytest.fixture(scope="module")
def embedder() -> EmbeddedEmbedder:
    return EmbeddedEmbedder()


def well(report: Report) -> bool:
    """The drill was one (turns got through, services were away), and nothing is missing, double or unindexed."""
    assert (report.lost, report.twice, report.unindexed) == (0, 0, 0), report
    assert report.extracted == report.gems >= report.acknowledged > ROUNDS / 4, report
    return report.outages > ROUNDS / 10


@pytest.mark.drill
@pytest.mark.timeout(600)
def test_with_the_embedded_buffer(tmp_path: Path, embedder: EmbeddedEmbedder):
    assert well(drill(tmp_path, rounds=ROUNDS, seed=20261121, embedder=embedder))


@pytest.mark.drill
@pytest.mark.server
@pytest.mark.timeout(600)
def test_with_the_buffer_on_a_real_server(tmp_path: Path, embedder: EmbeddedEmbedder):
    server = ValkeyServer().start()
    try:
        assert well(drill(tmp_path, rounds=ROUNDS, seed=20261122, redis=server, embedder=embedder))
    finally:
        server.stop()


@pytest.mark.drill
@pytest.mark.server
@pytest.mark.timeout(300)
@pytest.mark.parametrize("embedded", [False, True], ids=["redis", "embedded"])
def test_turns_through_the_real_process_are_accounted_for_while_everything_is_taken_away(tmp_path: Path, embedded: bool):
    report = long_drill(tmp_path, turns=60, seed=11, kills=True, every=8, embedded=embedded)
    assert (report.lost, report.twice, report.waiting, report.behind, report.crashes) == (0, 0, 0, 0, 0), report
    assert (report.extracted, report.gems, report.indexed) == (60, report.facts, report.facts), report
    assert sum(report.outages.values()) >= 5, report
