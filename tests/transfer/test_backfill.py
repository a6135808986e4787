"""What was said before there was a memory: each source read, each turn kept once, nothing of live capture disturbed."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import zstandard
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from openclaw_neuralstream.cli import main
from openclaw_neuralstream.cli.backfill import _Count, _tell
from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.memory import wiring
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.server import client, moments
from openclaw_neuralstream.state import StateDir
from openclaw_neuralstream.transfer import files, host
from openclaw_neuralstream.transfer.files import Told, Unread
from tests.valkey import ValkeyServer
from tests.waiting import until
from tests.worlds import answered, said, turn_event

RULES = {"NEURALSTREAM_EXTRACTOR": "rules", "NEURALSTREAM_EMBEDDER": "embedded"}
T0 = 1_760_000_000_000
SAID = ("We decided to use PostgreSQL 17 for billing.", "Моя сестра Анна переехала в Казань.", "我决定把服务器部署在东京机房。")
TOKEN = "gh" + "p_" + "a1B2" * 9


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    memory = wiring.open_memory(StateDir(tmp_path / "state"), environ=RULES, start=False)
    yield memory
    memory.close()


def items(told: list[Told]) -> list[dict[str, Any]]:
    return [{"event": one.event, "stretch": one.stretch} for one in told]


def texts(told: list[Told]) -> list[list[tuple[str, str]]]:
    return [[(m["role"], m["content"]) for m in one.event["messages"]] for one in told]


# --- the host's own store ---------------------------------------------------------------------------------------------


def store(folder: Path, sessions: dict[str, list[dict[str, Any]]], *, packed: bool = False) -> Path:
    """A session store with the tables and columns that OpenClaw 2026.9.6 has, as far as they are read."""
    path = folder / "agents" / "main" / "agent" / "openclaw-agent.sqlite"
    path.parent.mkdir(parents=True)
    with sqlite3.connect(path) as connection:
        connection.executescript("""
            PRAGMA journal_mode = WAL;
            CREATE TABLE session_nodes(session_key TEXT PRIMARY KEY, created_via TEXT);
            CREATE TABLE session_windows(session_id TEXT PRIMARY KEY, session_key TEXT, channel TEXT, chat_type TEXT, created_at INTEGER);
            CREATE TABLE transcript_events(session_id TEXT, seq INTEGER, event_json TEXT, event_zstd BLOB, PRIMARY KEY(session_id, seq));
            CREATE TABLE session_transcript_active_events(session_id TEXT, active_position INTEGER, event_seq INTEGER);
            CREATE TABLE session_transcript_archives(session_id TEXT);
            CREATE TABLE session_transcript_cold_archives(session_id TEXT);
        """)
        for number, (key, events) in enumerate(sessions.items()):
            connection.execute("INSERT INTO session_nodes VALUES (?, 'operator')", (key,))
            connection.execute("INSERT INTO session_windows VALUES (?, ?, NULL, 'direct', ?)", (f"id-of-{key}", key, number))
            for seq, event in enumerate(events):
                text = json.dumps(event, ensure_ascii=False)
                row = (None, zstandard.compress(text.encode())) if packed else (text, None)
                connection.execute("INSERT INTO transcript_events VALUES (?, ?, ?, ?)", (f"id-of-{key}", seq, *row))
                if not event.get("abandoned"):
                    connection.execute("INSERT INTO session_transcript_active_events VALUES (?, ?, ?)", (f"id-of-{key}", seq, seq))
    connection.close()
    return folder


def spoken(run: str, text: str, answer: str = "Noted.", at: int = T0, **more: Any) -> list[dict[str, Any]]:
    """A turn as the host writes it: the user's message with its run, the answer with the same."""
    user = {**said(text, timestamp=at, idempotencyKey=f"{run}:user"), "__openclaw": {"senderIsOwner": True}}
    reply = {**answered(answer, timestamp=at + 900), "__openclaw": {"runId": run}, **more}
    return [{"type": "message", "message": user}, {"type": "message", "message": reply}]


def test_a_turn_captured_live_and_read_from_the_host_is_one_turn(memory: Memory, tmp_path: Path) -> None:
    key = "agent:main:main"
    moments.turn_end(memory, turn_event(SAID[0], run="r1", key=key))
    told = list(host.sessions(store(tmp_path, {key: [*spoken("r1", SAID[0]), *spoken("r2", SAID[1], at=T0 + 60_000)]}), "main", Unread()))
    assert [files.take(memory, items(told), dry_run=dry)["new"] for dry in (True, False, False)] == [1, 1, 0]
    assert sum(b.waiting for b in memory.truth.stats(memory.now())) == 2


def test_what_was_said_before_a_reset_is_read_as_a_window_of_its_own_and_commands_are_not(tmp_path: Path) -> None:
    command = spoken("r2", "/new", "✅ New session started.", model="gateway-injected")
    events = [*spoken("r1", SAID[0]), {"type": "reset"}, *command, *spoken("r3", SAID[2])]
    unread = Unread()
    told = list(host.sessions(store(tmp_path, {"agent:main:main": events}), "main", unread))
    assert [(one.event["run_id"], one.stretch) for one in told] == [("r1", 1), ("r3", 0)]
    assert unread.reasons == {"command": 1}


def test_packed_events_and_a_message_put_in_while_a_tool_was_at_work(tmp_path: Path) -> None:
    events = spoken("r1", "Look it up.", at=T0)
    events[1]["message"]["stopReason"] = "toolUse"
    events.append({"type": "message", "message": {"role": "toolResult", "toolName": "web", "content": "42"}})
    events += spoken("r1b", "And in Kazan, please.", "Both are 42.")
    told = list(host.sessions(store(tmp_path, {"agent:main:main": events}, packed=True), "main", Unread()))
    assert [len(one.event["messages"]) for one in told] == [5]


def test_a_missing_store_is_told_with_an_option_that_there_is(tmp_path: Path) -> None:
    result = CliRunner(env=RULES).invoke(main, ["--state-dir", str(tmp_path / "ns"), "backfill", "host", "--agent", "x", "--host-state", str(tmp_path)])
    assert (result.exit_code, "--host-state names" in result.output) == (1, True)


def test_branches_that_were_left_are_not_read(tmp_path: Path) -> None:
    left = [{**event, "abandoned": True} for event in spoken("r1", "We use MySQL.")]
    told = list(host.sessions(store(tmp_path, {"agent:main:main": [*left, *spoken("r2", SAID[0])]}), "main", Unread()))
    assert [one.event["run_id"] for one in told] == ["r2"]


def test_the_host_s_store_is_not_changed_by_a_byte(tmp_path: Path) -> None:
    folder = store(tmp_path, {"agent:main:main": spoken("r1", SAID[0])})
    def digests() -> dict[str, str]:
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.rglob("*")) if path.is_file()}
    before = digests()
    assert list(host.sessions(folder, "main", Unread()))
    assert digests() == before


def test_a_run_that_the_host_did_not_mark_is_known_by_session_time_and_words(memory: Memory, tmp_path: Path) -> None:
    at = int(datetime.now(UTC).timestamp() * 1000)
    moments.turn_end(memory, {**turn_event(SAID[1], run="live"), "at": at})
    events = spoken("x", SAID[1], at=at - 11_000)
    for event in events:
        event["message"].pop("idempotencyKey", None)
        event["message"].pop("__openclaw", None)
    told = list(host.sessions(store(tmp_path, {"agent:main:main": events}), "main", Unread()))
    assert files.take(memory, items(told), dry_run=False)["known"] == 1


# --- exports ----------------------------------------------------------------------------------------------------------


def chatgpt(*turns: str) -> list[dict[str, Any]]:
    nodes: dict[str, Any] = {"root": {"parent": None, "children": [], "message": None}}
    last = "root"
    for number, text in enumerate(turns):
        role = ("user", "assistant")[number % 2]
        message = {"id": f"m{number}", "author": {"role": role}, "create_time": T0 / 1000 + number, "content": {"content_type": "text", "parts": [text]}, "metadata": {}}
        nodes[f"n{number}"] = {"parent": last, "children": [], "message": message}
        nodes[last]["children"].append(f"n{number}")
        last = f"n{number}"
    nodes["edited"] = {"parent": "root", "children": [], "message": {"id": "e", "author": {"role": "user"}, "content": {"content_type": "text", "parts": ["left"]}}}
    hidden = {"id": "h", "author": {"role": "user"}, "content": {"content_type": "text", "parts": ["about me"]}, "metadata": {"is_visually_hidden_from_conversation": True}}
    nodes["root"]["message"] = hidden
    return [{"conversation_id": "c1", "title": "t", "create_time": T0 / 1000, "mapping": nodes, "current_node": last}]


CLAUDE = [{"uuid": "u1", "name": "t", "created_at": "2025-10-09T08:53:20Z", "chat_messages": [
    {"uuid": "a", "sender": "human", "text": SAID[1], "content": [{"type": "text", "text": SAID[1]}], "created_at": "2025-10-09T08:53:20.000000Z"},
    {"uuid": "b", "sender": "assistant", "text": "Хорошо.", "content": [], "created_at": "2025-10-09T08:53:25Z"}]}]  # fmt: skip
CODE = [
    {"type": "summary", "summary": "x"},
    {"type": "user", "sessionId": "s1", "uuid": "a", "timestamp": "2025-10-09T08:53:20Z", "message": {"role": "user", "content": SAID[2]}},
    {"type": "assistant", "sessionId": "s1", "uuid": "b", "timestamp": "2025-10-09T08:53:21Z", "message": {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}, {"type": "tool_use", "name": "Bash", "input": {}}, {"type": "text", "text": "好"}]}},
    {"type": "user", "sessionId": "s1", "uuid": "c", "timestamp": "2025-10-09T08:53:22Z", "message": {"role": "user", "content": [{"type": "tool_result", "content": "ok"}]}},
    {"type": "user", "sessionId": "s1", "uuid": "d", "isMeta": True, "message": {"role": "user", "content": "Caveat"}},
    {"type": "user", "sessionId": "s1", "uuid": "e", "isSidechain": True, "message": {"role": "user", "content": "a sub-agent's task"}},
    {"type": "user", "sessionId": "s1", "uuid": "f", "message": {"role": "user", "content": "<command-name>/clear</command-name>"}},
]  # fmt: skip
PLAIN = [{"session": "a", "at": "2025-10-09T08:53:20Z", "role": "user", "text": SAID[0]}, {"session": "a", "at": T0 + 1, "role": "assistant", "text": "Noted."}]
OPENCLAW = [{"type": "session", "id": "s"}, *spoken("r1", SAID[0]), {"type": "reset"}, *spoken("r2", SAID[1])]

EXPORTS = {
    "chatgpt": (chatgpt(SAID[0], "Noted."), False, [[("user", SAID[0]), ("assistant", "Noted.")]]),
    "claude": (CLAUDE, False, [[("user", SAID[1]), ("assistant", "Хорошо.")]]),
    "claude-code": (CODE, True, [[("user", SAID[2]), ("assistant", "好"), ("toolResult", "ok")]]),
    "jsonl": (PLAIN, True, [[("user", SAID[0]), ("assistant", "Noted.")]]),
}


def written(path: Path, data: list[dict[str, Any]], *, lines: bool) -> Path:
    path.write_text("\n".join(json.dumps(one, ensure_ascii=False) for one in data) if lines else json.dumps(data), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_is_recognised_and_read(name: str, tmp_path: Path, memory: Memory) -> None:
    data, lines, expected = EXPORTS[name]
    found, told = files.turns(written(tmp_path / "export.json", data, lines=lines), "main")
    assert (found, texts(told)) == (name, expected)
    assert told[0].at == T0 / 1000
    answers = [files.take(memory, items(told), dry_run=False) for _ in range(2)]
    assert [(a["new"], a["known"]) for a in answers] == [(1, 0), (0, 1)]


def answered_yes(folder: Path, *, ids: bool = True, word: str = "yes", times: bool = True) -> Path:
    """Three questions, each answered with the same word, two minutes apart."""
    spoken = [words for n in range(3) for words in (("assistant", f"Shall we take option {n}?"), ("user", word))]
    lines = [
        {"session": "s", "role": role, "text": text, **({"id": f"m{n}"} if ids else {}), **({"at": T0 + 60_000 * n} if times else {})}
        for n, (role, text) in enumerate(spoken)
    ]
    folder.mkdir(exist_ok=True)
    return written(folder / "chat.jsonl", lines, lines=True)


@pytest.mark.parametrize("word", ["yes", "да", "好的"])
@pytest.mark.parametrize(("ids", "times"), [(True, True), (False, True), (True, False), (False, False)])
def test_the_same_answer_to_three_questions_is_three_turns(memory: Memory, tmp_path: Path, word: str, ids: bool, times: bool) -> None:
    _, told = files.turns(answered_yes(tmp_path / "a", ids=ids, word=word, times=times), "main")
    assert [files.take(memory, items(told), dry_run=dry)["new"] for dry in (True, False, False)] == [3, 3, 0]


def test_two_files_of_one_name_without_ids_are_two_conversations(memory: Memory, tmp_path: Path) -> None:
    kept = []
    for folder, words in (("a", "We use Redis for the queue."), ("b", "We use Caddy as the proxy.")):
        (tmp_path / folder).mkdir()
        path = written(tmp_path / folder / "chat.jsonl", [{"role": "user", "text": words}], lines=True)
        kept.append(files.take(memory, items(files.turns(path, "main")[1]), dry_run=False)["new"])
    assert kept == [1, 1]


def test_a_file_without_ids_that_grew_gives_only_what_is_new(memory: Memory, tmp_path: Path) -> None:
    lines = [{"role": "user", "text": words} for words in (*SAID, "yes", "yes")]
    grown = [{"role": "user", "text": "The first line was not there before."}, *lines, {"role": "user", "text": "yes"}]
    new = [
        files.take(memory, items(files.turns(written(tmp_path / "chat.jsonl", some, lines=True), "main")[1]), dry_run=False)["new"]
        for some in (lines, grown)
    ]
    assert new == [len(lines), 3]  # the line before, what stood behind it without a time, and the line after


@pytest.mark.parametrize("name", ["chatgpt", "claude"])
def test_a_conversation_that_does_not_read_costs_the_others_nothing(name: str, tmp_path: Path) -> None:
    data = EXPORTS[name][0]
    broken: list[Any] = [{**data[0], "mapping": 7, "chat_messages": [3]}, *data, None]
    unread = Unread()
    _, told = files.turns(written(tmp_path / "conversations.json", broken, lines=False), "main", name, unread)
    assert texts(told) == EXPORTS[name][2]
    assert unread.reasons == {"malformed conversation": 2}


@pytest.mark.parametrize("name", ["claude-code", "jsonl"])
def test_a_line_that_does_not_read_costs_the_others_nothing(name: str, tmp_path: Path) -> None:
    data = EXPORTS[name][0]
    broken = {"claude-code": {**CODE[1], "uuid": "z", "message": {"role": "user", "content": 7}}, "jsonl": {"session": "a", "role": "user"}}[name]
    unread = Unread()
    _, told = files.turns(written(tmp_path / "x.jsonl", [*data, broken], lines=True), "main", name, unread)
    assert (texts(told), unread.reasons) == (EXPORTS[name][2], {"malformed line": 1})


def test_a_line_that_is_no_json_is_counted_and_a_file_of_nothing_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps({"role": "user", "text": SAID[0]}) + "\n\ngarbage{\n", encoding="utf-8")
    unread = Unread()
    _, told = files.turns(path, "main", "auto", unread)
    assert (len(told), unread.reasons) == (1, {"malformed line": 1})
    path.write_text("garbage{\n", encoding="utf-8")
    with pytest.raises(BadRequest, match="nothing in it reads"):
        files.turns(path, "main", "jsonl")
    with pytest.raises(BadRequest, match="a folder"):
        files.turns(tmp_path, "main")


def test_messages_of_an_export_without_ids_are_turns_of_their_own(tmp_path: Path, memory: Memory) -> None:
    data = chatgpt(SAID[0], "Noted.", SAID[1], "Хорошо.", SAID[2])
    for node in data[0]["mapping"].values():
        if node["message"]:
            node["message"].pop("id")
    _, told = files.turns(written(tmp_path / "conversations.json", data, lines=False), "main")
    assert [files.take(memory, items(told), dry_run=False)[what] for what in ("new", "known")] == [3, 3]


def test_a_dry_run_counts_as_the_real_one_does_and_says_what_does_not_read(tmp_path: Path) -> None:
    state = StateDir(tmp_path / "ns").prepare()
    lines = [{"session": "s", "id": f"m{n % 210}", "role": "user", "text": f"We named server {n % 210} Helios."} for n in range(230)]
    path = written(tmp_path / "chat.jsonl", [*lines, {"session": "s"}], lines=True)
    asked = ["--state-dir", str(state.path), "backfill", "file", str(path), "--json"]
    dry = json.loads(CliRunner(env=RULES).invoke(main, [*asked, "--dry-run"], catch_exceptions=False).stdout)
    client.stop(state)
    memory = wiring.open_memory(state, environ=RULES, start=False)
    real = files.take(memory, items(files.turns(path, "main")[1]), dry_run=False)
    memory.close()
    assert [dry[name] for name in ("new", "known", "tokens")] == [real[name] for name in ("new", "known", "tokens")]
    assert (dry["new"], dry["known"], dry["skipped"]) == (210, 20, {"malformed line": 1})


@pytest.mark.parametrize("wanted", ["auto", "chatgpt"])
def test_a_file_of_which_nothing_is_read_is_refused_by_name(tmp_path: Path, wanted: str) -> None:
    talk = chatgpt(SAID[0], "Noted.")[0]
    for node in talk["mapping"].values():
        if node["message"]:
            node["message"]["author"]["role"] = "narrator"
    with pytest.raises(BadRequest, match="chatgpt: nothing in it reads; none of its 1 entries"):
        files.turns(written(tmp_path / "conversations.json", [talk], lines=False), "main", wanted)


def test_turns_none_of_which_is_read_are_a_failure() -> None:
    with pytest.raises(BadRequest, match="2 × unreadable"):
        _tell(_Count("openclaw", turns=2, skipped=Counter(unreadable=2)), dry_run=False, as_json=True)


def test_openclaw_s_own_transcripts_and_the_zip_of_an_export(tmp_path: Path) -> None:
    _, told = files.turns(written(tmp_path / "s.jsonl", OPENCLAW, lines=True), "main")
    assert [(one.event["run_id"], one.stretch) for one in told] == [("r1", 1), ("r2", 0)]
    with zipfile.ZipFile(tmp_path / "e.zip", "w") as archive:
        archive.writestr("x/conversations.json", json.dumps(chatgpt(SAID[0], "Noted.")))
    assert files.turns(tmp_path / "e.zip", "main")[0] == "chatgpt"


@given(st.recursive(st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=8), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["mapping", "chat_messages", "message", "sessionId", "role", "text", "uuid", "type", "content", "at"]), inner, max_size=4), max_leaves=12), st.sampled_from(files.FORMATS))
def test_any_document_is_read_or_refused_in_words(tmp_path_factory: pytest.TempPathFactory, document: Any, wanted: str) -> None:
    path = tmp_path_factory.mktemp("any") / "x.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    with suppress(BadRequest):  # a refusal is fine, any other error is not
        files.turns(path, "main", wanted)


# --- what becomes of them ---------------------------------------------------------------------------------------------


def plain(tmp_path: Path, *said_: str, at: int = T0, step: int = 3_600_000) -> Path:
    lines = [line for n, text in enumerate(said_) for line in ({"session": "s", "at": at + n * step, "role": "user", "text": text}, {"session": "s", "at": at + n * step + 1, "role": "assistant", "text": "Noted."})]
    return written(tmp_path / "plain.jsonl", lines, lines=True)


def test_gems_of_the_past_are_dated_when_it_was_said(memory: Memory, tmp_path: Path) -> None:
    _, told = files.turns(plain(tmp_path, *SAID), "main")
    files.take(memory, items(told), dry_run=False)
    memory.flush()
    gems = memory.truth.gems()
    assert {gem.source.date for gem in gems} == {"2025-10-09"}
    assert len(gems) == 3
    assert all(gem.valid_from and gem.valid_from.year == 2025 for gem in gems)
    assert memory.truth.last_turn() is None  # nobody has talked to the agent


@pytest.mark.parametrize("past_first", [True, False])
def test_an_old_statement_does_not_replace_a_newer_one(memory: Memory, tmp_path: Path, past_first: bool) -> None:
    older, newer = "We use MySQL for the billing service.", "We switched the billing service from MySQL to PostgreSQL."
    later = T0 + 90 * 86_400_000
    event = {**turn_event(newer), "at": later}
    _, told = files.turns(plain(tmp_path, older), "main")
    steps = [lambda: files.take(memory, items(told), dry_run=False), lambda: moments.turn_end(memory, event)]
    for step in steps if past_first else reversed(steps):
        step()
        memory.flush()
    assert {gem.content: bool(gem.superseded_by) for gem in memory.truth.gems(superseded=True)} == {older: True, newer: False}


def test_secrets_and_our_own_blocks_of_the_past_are_not_kept(memory: Memory, tmp_path: Path) -> None:
    block = "<neuralstream-memory>\n- an old gem\n</neuralstream-memory>\n"
    _, told = files.turns(plain(tmp_path, f"{block}We decided to rotate {TOKEN} on Tuesdays."), "main")
    files.take(memory, items(told), dry_run=False)
    memory.flush()
    memory.truth._database.checkpoint()
    held = b"".join(path.read_bytes() for path in memory.parts.state.path.rglob("*") if path.is_file())
    assert TOKEN.encode() not in held
    assert b"an old gem" not in held


def test_turns_of_the_past_and_live_ones_never_share_a_batch(memory: Memory, tmp_path: Path) -> None:
    key = "agent:main:main"
    folder = store(tmp_path, {key: [*spoken("r1", SAID[0]), *spoken("r2", SAID[1])]})
    moments.turn_end(memory, turn_event("I like tea.", run="live", key=key))
    files.take(memory, items(list(host.sessions(folder, "main", Unread()))), dry_run=False)
    memory.flush()
    assert sorted(row.turns for row in memory.truth.batches()) == [1, 2]


def kept(state: StateDir) -> int:
    """How many turns are on the disk by now."""
    try:
        with sqlite3.connect(f"{state.database.as_uri()}?mode=ro", uri=True) as connection:
            return int(connection.execute("SELECT count(*) FROM turns").fetchone()[0])
    except sqlite3.Error:
        return 0


def test_killed_at_any_point_and_run_again_nothing_is_lost_and_nothing_twice(tmp_path: Path) -> None:
    state, source = StateDir(tmp_path / "ns"), plain(tmp_path, *(f"We decided to name server number {n} Helios-{n}." for n in range(100)))
    command = [sys.executable, "-m", "openclaw_neuralstream", "--state-dir", str(state.path), "backfill", "file", str(source), "--json"]
    env = {**os.environ, **RULES}
    for turns, the_memory_too in ((5, True), (15, False), (30, True)):
        process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(lambda most=turns, it=process: it.poll() is not None or kept(state) >= most, 120)
        assert process.poll() is None, "it was through before it could be killed"
        if the_memory_too:
            os.kill(json.loads(state.endpoint.read_text())["pid"], signal.SIGKILL)
        process.kill()
        process.wait()
    done = json.loads(subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout)
    assert (done["new"] + done["known"], done["finished"]) == (100, True)
    runner = CliRunner(env=RULES)
    assert runner.invoke(main, ["--state-dir", str(state.path), "admin", "flush"]).exit_code == 0
    with sqlite3.connect(state.database) as connection:
        assert connection.execute("SELECT count(*), count(DISTINCT turn_id) FROM turns").fetchone() == (100, 100)
    client.stop(state)


def test_a_dry_run_counts_and_estimates_and_keeps_nothing(tmp_path: Path) -> None:
    state = StateDir(tmp_path / "ns").prepare()
    runner = CliRunner(env=RULES)
    asked = ["--state-dir", str(state.path), "backfill", "file", str(plain(tmp_path, *SAID)), "--dry-run", "--price", "2", "--since", "2025-10-09T09:00:00Z", "--json"]
    found = json.loads(runner.invoke(main, asked, catch_exceptions=False).stdout)
    assert (found["sessions"], found["turns"], found["new"], found["skipped"]) == (1, 3, 2, {"before --since": 1})
    assert found["estimate"]["extractor"] == "rules"
    assert found["estimate"]["cost_at_least"] == round(2 * found["tokens"] / 1e6, 4)
    with sqlite3.connect(state.database) as connection:
        assert connection.execute("SELECT count(*) FROM turns").fetchone() == (0,)
    client.stop(state)


class Busy:
    """A memory with so many turns waiting at each look."""

    def __init__(self, *waiting: int, away: tuple[str, ...] = ()) -> None:
        self.waiting = list(waiting)
        self.away = list(away)
        self.given: list[int] = []

    def call(self, method: str, params: dict[str, Any], *, timeout: float = 0) -> dict[str, Any]:
        self.given.append(len(params["turns"]))
        waiting = self.waiting.pop(0) if len(self.waiting) > 1 else self.waiting[0]
        return {"new": 0, "known": 0, "tokens": 0, "skipped": {}, "waiting": waiting, "away": self.away}

    def close(self) -> None:
        pass


def handed_over(busy: Busy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    from openclaw_neuralstream.cli import backfill

    monkeypatch.setattr(backfill, "_POLL", 0.0)
    monkeypatch.setattr(backfill, "opened", lambda _, **__: nullcontext(busy))
    asked = ["--state-dir", str(tmp_path / "ns"), "backfill", "file", str(plain(tmp_path, *SAID * 15)), "--json"]
    return json.loads(CliRunner(env=RULES).invoke(main, asked, catch_exceptions=False).stdout)


def test_no_more_is_handed_over_while_many_turns_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    busy = Busy(80, 80, 60, 10)
    assert handed_over(busy, tmp_path, monkeypatch)["finished"]
    assert busy.given == [20, 0, 0, 0, 20, 5]


def test_it_stops_and_says_so_when_nobody_distils(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    busy = Busy(80, away=("extractor",))
    found = handed_over(busy, tmp_path, monkeypatch)
    assert (found["finished"], found["away"], busy.given) == (False, ["extractor"], [20])


@pytest.mark.server
def test_turns_of_the_past_go_through_redis_in_batches_of_their_own(tmp_path: Path) -> None:
    server = ValkeyServer().start()
    try:
        memory = wiring.open_memory(StateDir(tmp_path / "state"), environ={**RULES, "NEURALSTREAM_REDIS_URL": server.url, "NEURALSTREAM_REDIS": '{"socket_timeout": 30}'}, start=False)
        key = "agent:main:main"
        moments.turn_end(memory, turn_event("I like green tea in the morning.", run="live", key=key))
        told = items(list(host.sessions(store(tmp_path, {key: [*spoken("r1", SAID[0]), {"type": "reset"}, *spoken("r2", SAID[1])]}), "main", Unread())))
        assert files.take(memory, told, dry_run=False)["new"] == 2
        assert files.take(memory, told, dry_run=False)["known"] == 2
        memory.flush()
        assert sorted(row.turns for row in memory.truth.batches()) == [1, 1, 1]
        assert files.take(memory, told, dry_run=True)["known"] == 2
        memory.close()
    finally:
        server.stop()
