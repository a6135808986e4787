"""Steps as a person watches them."""

from __future__ import annotations

import pytest

from openclaw_neuralstream.cli import steps as watched
from openclaw_neuralstream.cli.host.install import Steps
from tests.waiting import until


@pytest.mark.parametrize("quiet", [False, True])
def test_a_step_that_takes_long_says_what_it_waits_for(
    quiet: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(watched, "_LONG", 0.0)
    said: list[str] = []

    def work() -> None:
        until(lambda: said.append(capsys.readouterr().err) or quiet or "waiting" in said[-1], 10, "it says nothing")

    with watched.Watch(quiet=quiet) as watch:
        Steps(watch).run("write", "A sentence is said", work, waits="the agent's model to answer")
    words = "… A sentence is said: waiting for the agent's model to answer"
    assert (words in "".join(said)) is not quiet


def test_a_step_that_ends_soon_says_nothing_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    with watched.Watch() as watch:
        Steps(watch).run("write", "A sentence is said", lambda: None)
    assert capsys.readouterr().err == "✔ A sentence is said\n"
