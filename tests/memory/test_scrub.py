"""After a new rule nothing of what it knows is left anywhere: found by a search over the bytes of the state directory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from openclaw_neuralstream import secrets
from openclaw_neuralstream.memory import scrub, wiring
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.model import GemSource, Scope, Session, Trigger
from openclaw_neuralstream.server import moments
from openclaw_neuralstream.state import StateDir
from openclaw_neuralstream.text.lines import gem_to_json
from tests import values
from tests.valkey import ValkeyServer
from tests.worlds import turn_event

PATTERN = r"badge: B-\d{6}-[A-Z]{4}"
BADGE = "B-774193-QXZJ"
FACTS = (
    f"We decided that Anna uses the badge {BADGE} for the data centre in Graz.",
    f"Мы решили, что пропуск Анны в дата-центр — {BADGE}, это важно.",
    f"我决定把安娜的门禁卡 {BADGE} 放在格拉茨机房。",
    "We decided to keep the backups of the photo archive on the NAS in the cellar.",
)
RULES = {"NEURALSTREAM_EXTRACTOR": "rules", "NEURALSTREAM_EMBEDDER": "embedded"}
NEWER = {**RULES, "NEURALSTREAM_SECRET_PATTERNS": PATTERN}


@pytest.fixture(autouse=True)
def _rules_of_this_test_only() -> Iterator[None]:
    yield
    secrets.learn(())


@pytest.fixture
def state(tmp_path: Path) -> StateDir:
    return StateDir(tmp_path / "state")


def opened(state: StateDir, environ: dict[str, str] = RULES) -> Memory:
    memory = wiring.open_memory(state, environ=environ, start=False)
    memory.parts.warm()
    return memory


def filled(state: StateDir, environ: dict[str, str] = RULES) -> None:
    """Turns distilled and waiting, gems, a dead letter, a spool file, a log: all with a badge that no rule knew."""
    memory = opened(state, environ)
    for fact in FACTS:
        moments.turn_end(memory, turn_event(fact))
    memory.flush()
    session = Session("main", "agent:main:main", "s")
    memory.remember(f"The badge of the guard is {BADGE}.", Scope("main"), session)
    moments.turn_end(memory, turn_event(f"The spare one is {BADGE} as well.", key="agent:main:waiting"))
    moments.turn_end(memory, turn_event(f"The dead one is {BADGE}.", key="agent:main:dead"))
    batch = memory.parts.buffers[-1].claim(
        Session("main", "agent:main:dead", ""), limit=5, lease=memory.distiller._lease(), now=memory.now(), trigger=Trigger.MANUAL
    )
    if batch:
        memory.truth.bury(batch, f"the answer quoted {BADGE}", memory.now())
    memory.close()
    (state.spool / "000000000000001-000001-1-abc.jsonl").write_text(
        json.dumps({"method": "turn_end", "params": turn_event(f"Spooled: {BADGE}", key="agent:main:spooled")}) + "\n"
    )
    (state.spool / "refused.jsonl.bad").write_text(f"not an event {BADGE}\n")
    (state.logs / "neuralstream.log").write_text(f"level=error event=extractor.failed error={BADGE}\nlevel=info event=ok\n")
    assert len(places_with(state, BADGE)) >= 4


def places_with(state: StateDir, secret: str) -> list[str]:
    """The files that hold it, in any letter case (the word index lowers it), or its telling part."""
    needles = {secret.lower().encode(), secret.split("-")[1].encode()}
    return [
        str(path.relative_to(state.path))
        for path in sorted(state.path.rglob("*"))
        if path.is_file() and any(needle in path.read_bytes().lower() for needle in needles)
    ]


def test_after_a_new_rule_no_byte_of_what_it_knows_is_left(state: StateDir) -> None:
    filled(state)
    memory = opened(state, NEWER)
    assert scrub.due(memory.truth)
    receipt = scrub.run(memory)
    assert not scrub.due(memory.truth)
    # the writing process still has the files open: the log and the pages are clean all the same
    assert places_with(state, BADGE) == []
    memory.close()
    assert places_with(state, BADGE) == []
    assert set(receipt["found"]) == {"turns", "gems", "rows", "files"}
    assert receipt["found"]["turns"] == {"badge": receipt["found"]["turns"]["badge"]}
    assert receipt["left"] == []
    assert BADGE not in json.dumps(receipt)


def test_gems_are_found_by_what_is_left_of_them_with_new_vectors(state: StateDir) -> None:
    filled(state)
    memory = opened(state, NEWER)
    before = {gem.gem_id for gem in memory.truth.gems(superseded=True)}
    scrub.run(memory)
    assert {gem.gem_id for gem in memory.truth.gems(superseded=True)} == before
    assert memory.truth.embedded_count(memory.parts.embedder.identity) == len(before)
    assert memory.projection.behind == 0
    assert [gem.content for gem in memory.truth.gems(text="guard")] == ["The badge of the guard is [redacted:badge]."]
    assert memory.truth.search_words(["guard"], Scope("main"), 5)
    assert not memory.truth.search_words(["774193"], Scope("main"), 5)
    memory.close()


def test_every_text_of_an_imported_gem_is_clean_in_lists_exports_and_bytes(state: StateDir) -> None:
    from openclaw_neuralstream.server.methods import METHODS

    memory = opened(state)
    said = f"told with {BADGE}"
    gem = gem_to_json(values.gem("id-1", "The guard sits in the hall.", importance_reason=said, speaker=said, entities=(said,), source=GemSource(said, "2026-11-21", said)))
    older = {**gem, "gem_id": "id-0", "tags": [said], "language": said, "extractor": {"name": said}}
    METHODS["gems.import"](memory, {"gems": [older]})
    assert BADGE in json.dumps(METHODS["gems.list"](memory, {}))
    memory.close()
    memory = opened(state, NEWER)
    METHODS["gems.import"](memory, {"gems": [gem]})
    assert BADGE not in json.dumps(METHODS["gems.list"](memory, {}))
    assert BADGE not in json.dumps(METHODS["gems.show"](memory, {"id": "id-0"}))
    scrub.run(memory)
    memory.close()
    assert places_with(state, BADGE) == []


def test_a_dry_run_says_the_same_and_changes_nothing(state: StateDir) -> None:
    filled(state)
    memory = opened(state, NEWER)
    held = places_with(state, BADGE)
    told = scrub.run(memory, dry_run=True)
    assert places_with(state, BADGE) == held
    assert scrub.due(memory.truth)
    done = scrub.run(memory)
    assert (told["found"], told["changed"]) == (done["found"], done["changed"])
    assert scrub.run(memory)["changed"] == {}
    memory.close()


def test_what_is_not_scrubbed_yet_is_clean_when_it_is_recalled(state: StateDir) -> None:
    filled(state)
    memory = opened(state, NEWER)
    from openclaw_neuralstream.server.methods import METHODS

    told = [METHODS["recall"](memory, {"query": "badge of the guard"}), METHODS["explain"](memory, {"query": "badge of Anna"}), METHODS["gems.list"](memory, {})]
    assert told[0]["records"]
    assert BADGE not in json.dumps(told)
    assert "774193" not in json.dumps(told)
    memory.close()


def test_a_memory_that_holds_nothing_is_not_due(state: StateDir) -> None:
    for environ in (RULES, NEWER):
        memory = opened(state, environ)
        assert not scrub.due(memory.truth)
        memory.close()


@pytest.mark.parametrize("after", [1, 3])
def test_killed_between_two_steps_the_next_run_finishes(state: StateDir, after: int) -> None:
    filled(state)
    program = (
        "import os, sys; from pathlib import Path\n"
        "from openclaw_neuralstream.memory import scrub, wiring\n"
        "from openclaw_neuralstream.state import StateDir\n"
        "scrub._ROWS = 2; left = [int(sys.argv[2])]\n"
        "memory = wiring.open_memory(StateDir(Path(sys.argv[1])), start=False)\n"
        "note = scrub._note\n"
        "def dying(*args):\n"
        "    left[0] -= 1\n"
        "    os._exit(9) if not left[0] else note(*args)\n"
        "scrub._note = dying\n"
        "scrub.run(memory)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(state.path), str(after)], env={**os.environ, **NEWER}, check=False)
    assert done.returncode == 9
    memory = opened(state, NEWER)
    assert scrub.due(memory.truth)
    scrub.run(memory)
    memory.close()
    assert places_with(state, BADGE) == []


@pytest.mark.server
def test_turns_that_wait_in_redis_are_scrubbed_where_they_are(state: StateDir) -> None:
    server = ValkeyServer().start()
    try:
        redis = {"NEURALSTREAM_REDIS_URL": server.url, "NEURALSTREAM_REDIS": '{"socket_timeout": 30}'}
        filled(state, {**RULES, **redis})
        memory = opened(state, {**NEWER, **redis})
        receipt = scrub.run(memory)
        assert receipt["found"]["buffers"]["badge"] >= 1
        client = memory.parts.buffers[0]._client
        assert not [key for key in client.keys("*:bodies:*") for body in client.hvals(key) if BADGE.encode() in body]
        assert memory.flush().turns >= 1
        memory.close()
        assert places_with(state, BADGE) == []
    finally:
        server.stop()


def test_a_buffer_that_is_away_keeps_the_scrubbing_due(state: StateDir) -> None:
    filled(state)
    memory = opened(state, {**NEWER, "NEURALSTREAM_REDIS_URL": "redis://127.0.0.1:1/0"})
    receipt = scrub.run(memory)
    assert len(receipt["left"]) == 1
    assert scrub.due(memory.truth)
    memory.close()
