"""Turns as bytes: exact both ways, and an error for everything else."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.model import Origin, Scope, Session, Turn, Utterance
from openclaw_neuralstream.store.database import storable
from openclaw_neuralstream.store.schema import from_seconds, seconds, turn_from_bytes, turn_to_bytes
from tests.values import turn

anything = st.text(st.characters(codec=None), max_size=40)
moments = st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1), timezones=st.sampled_from([UTC, timezone(timedelta(hours=8))]))  # noqa: DTZ001
utterances = st.builds(Utterance, anything, st.sampled_from(Origin), anything, moments, anything)
turns = st.builds(
    Turn,
    anything,
    st.builds(Scope, anything, anything, anything),
    st.builds(Session, anything, anything, anything, st.integers(0, 99)),
    moments,
    st.lists(utterances, max_size=4).map(tuple),
    st.integers(0, 10**6),
    anything,
)


@given(turns)
def test_every_turn_comes_back_exactly(said: Turn) -> None:
    assert turn_from_bytes(turn_to_bytes(said)) == said


@given(st.binary(max_size=80))
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(BadRequest):
        turn_from_bytes(data)


@pytest.mark.parametrize("cut", [1, 10, 100])
def test_cut_bytes_are_refused(cut: int) -> None:
    with pytest.raises(BadRequest):
        turn_from_bytes(turn_to_bytes(turn(1))[:-cut])


@given(moments)
def test_moments_keep_their_microseconds(moment: datetime) -> None:
    assert abs(from_seconds(seconds(moment)) - moment) < timedelta(microseconds=2)


def test_a_moment_without_a_zone_is_utc() -> None:
    assert seconds(datetime(2026, 1, 1)) == seconds(datetime(2026, 1, 1, tzinfo=UTC))  # noqa: DTZ001


@given(anything)
def test_storable_text_is_utf_8(text: str) -> None:
    assert storable(text).encode() is not None
