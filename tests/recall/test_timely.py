"""Days of records beside the days of a question."""

from __future__ import annotations

import pytest

from openclaw_neuralstream.model import Query
from openclaw_neuralstream.recall.days import time_signals
from openclaw_neuralstream.recall.query import understand
from openclaw_neuralstream.recall.source import MEANING, Candidate, Found
from tests.recall.worlds import ShelfOf, record
from tests.values import MAIN, NOW


@pytest.mark.parametrize(("knows_days", "proposed"), [(False, ["told"]), (True, [])])
def test_a_record_is_held_against_the_days_asked_for_unless_its_source_has_done_so(
    knows_days: bool, proposed: list[str]
) -> None:
    found = Found(record("told", "The roof was mended on 12 May 2026."))
    candidate = Candidate("told", ShelfOf(found, knows_days=knows_days), MEANING, 0.5)
    understood = understand(Query("What was mended in May 2026?", MAIN, NOW), dialogue_turns=0)
    assert [item.id for item in time_signals([candidate], {"told": found}, understood)] == proposed
