"""Every way in, every way out: a planted secret is in no file of the state directory and in no answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog

from openclaw_neuralstream import logs
from openclaw_neuralstream.errors import NeuralStreamError
from openclaw_neuralstream.memory import wiring
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.server import methods
from openclaw_neuralstream.state import StateDir
from tests.values import turn
from tests.worlds import prompt_event, turn_event

TOKEN = "gh" + "p_" + "Zq7Xw3Kd" * 4 + "9aBc"
TELLING = TOKEN[4:20]
RULES = {"NEURALSTREAM_EXTRACTOR": "rules", "NEURALSTREAM_EMBEDDER": "embedded"}
SENTENCES = (
    f"We decided that the deploy job of the billing service uses {TOKEN} from now on.",
    f"Мы решили, что сервис оплаты использует {TOKEN} с понедельника.",
    f"我决定让支付服务使用 {TOKEN} 部署。",
)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    state = StateDir(tmp_path / "state")
    memory = wiring.open_memory(state, environ=RULES, start=False)
    yield memory
    memory.close()
    assert files_with(state) == []


def files_with(state: StateDir) -> list[str]:
    return [str(path) for path in state.path.rglob("*") if path.is_file() and TELLING.lower().encode() in path.read_bytes().lower()]


def call(memory: Memory, method: str, **params: Any) -> str:
    """The answer as the client gets it; a refusal in its own words."""
    try:
        return json.dumps(methods.call(memory, method, params), ensure_ascii=False)
    except NeuralStreamError as error:
        return str(error)


def test_a_turn_with_a_secret_leaves_it_nowhere(memory: Memory) -> None:
    for sentence in SENTENCES:
        tool = {"role": "toolResult", "toolName": "env", "content": [{"type": "text", "text": f"TOKEN={TOKEN}"}]}
        event = turn_event(sentence, f"I will use {TOKEN}.")
        event["messages"].append(tool)
        methods.call(memory, "turn_end", event)
    memory.flush()
    assert memory.truth.gem_count() or memory.truth.batches()
    assert TELLING not in call(memory, "prompt_build", **prompt_event(f"What is {TOKEN} for? billing service"))
    assert files_with(memory.parts.state) == []  # with the log of the database not yet written back


def test_a_turn_that_a_program_gives_the_library_leaves_none_either(memory: Memory) -> None:
    given = turn(1, SENTENCES[0])
    assert memory.retain(given)
    memory.flush()
    (kept,) = memory.truth.turns([given.turn_id])
    assert "[redacted:" in kept.text_of("owner")
    assert files_with(memory.parts.state) == []


@pytest.mark.parametrize("sentence", SENTENCES)
def test_what_is_remembered_by_hand_and_edited_is_clean(memory: Memory, sentence: str) -> None:
    told = [call(memory, "remember", text=sentence), call(memory, "tool.remember", text=sentence, session_key="x")]
    gem = memory.truth.gems()[0]
    told += [
        call(memory, "gems.edit", id=gem.gem_id, content=sentence, summary=sentence, tags=[TOKEN], topics=[f"key {TOKEN}"]),
        call(memory, "gems.list"),
        call(memory, "gems.show", id=gem.gem_id),
        call(memory, "recall", query=f"billing {TOKEN}", dialogue=[sentence]),
        call(memory, "explain", query=f"billing {TOKEN}"),
        call(memory, "command", args=f"recall {TOKEN}"),
        call(memory, "tool.forget", what=f"{TOKEN} of billing"),
    ]
    assert [one for one in told if TELLING in one] == []
    assert files_with(memory.parts.state) == []


def test_an_import_is_clean_in_every_field(memory: Memory) -> None:
    memory.remember("We keep the photos on the NAS.", *_here(memory))
    gem = json.loads(call(memory, "gems.list"))["gems"][0]
    gem |= {"id": "", "content": SENTENCES[0], "summary": SENTENCES[1], "entities": [TOKEN], "topics": [TOKEN], "tags": ["fact", TOKEN]}
    call(memory, "gems.import", gems=[{name: value for name, value in gem.items() if value != ""}])
    assert TELLING not in call(memory, "gems.list")
    assert files_with(memory.parts.state) == []


def test_what_the_bridge_spooled_is_gone_when_it_has_been_taken_in(memory: Memory) -> None:
    spool = memory.parts.state.spool
    lines = [
        {"method": "turn_end", "params": turn_event(SENTENCES[0])},
        {"method": "turn_end", "params": {"agent": 5, "messages": [SENTENCES[1]]}},
        {"method": "shutdown", "params": {"text": SENTENCES[2]}},
    ]
    path = spool / "000000000000001-000001-1-aa.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines) + f"\nnot JSON {TOKEN}\n")
    (spool / "000000000000001-000002-1-bb.jsonl").write_bytes(b"\0" * 100)  # a process was killed while it erased this
    call(memory, "drain")
    assert sorted(path.name for path in spool.iterdir()) == ["refused.jsonl.bad"]
    assert (spool / "refused.jsonl.bad").stat().st_mode & 0o077 == 0
    assert len(memory.truth.stats(memory.now())) == 1
    assert files_with(memory.parts.state) == []


def test_an_error_that_quotes_a_secret_is_logged_without_it(memory: Memory) -> None:
    logs.configure("info", memory.parts.state.logs, stderr=False)
    log = structlog.get_logger("openclaw_neuralstream.test")
    try:
        int(SENTENCES[0])  # its error quotes what it was given
    except ValueError:
        log.exception("test.failed", error=SENTENCES[1])
    finally:
        logs.configure("warning")
    written = (memory.parts.state.logs / logs.FILE_NAME).read_text()
    assert "test.failed" in written
    assert "[redacted:github-token]" in written
    assert TELLING not in written


def _here(memory: Memory) -> tuple[Any, Any]:
    from openclaw_neuralstream.model import Scope

    return Scope("main"), memory.session("main", "agent:main:main")
