"""The short form of the file drill; the long one: python -m tests.drill.files --rounds 300."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.drill.files import drill


@pytest.mark.drill
def test_killed_at_random_points_the_files_stay_and_the_index_is_sound(tmp_path: Path) -> None:
    report = drill(tmp_path, rounds=12, files=60, seed=7)
    assert report.kills == 12
    assert report.retained > 0
    assert (report.damaged_files, report.lost_bullets, report.unlike) == (0, 0, 0)
