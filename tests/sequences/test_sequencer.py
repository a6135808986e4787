"""Questions in their order through the engine: taken in, found again, written, archived, marked, forgotten; killed and restarted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from openclaw_neuralstream.memory import wiring
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.memory.forget_files import What
from openclaw_neuralstream.model import Origin, Query, Scope, Session, Turn, Utterance
from openclaw_neuralstream.recall import SequenceSource, recall
from openclaw_neuralstream.sequences.index import PairIndex
from openclaw_neuralstream.sequences.rows import Policy
from openclaw_neuralstream.server import methods, moments
from openclaw_neuralstream.settings import Settings
from openclaw_neuralstream.state import StateDir
from openclaw_neuralstream.text.tokens import FormulaCounter
from tests.values import NOW
from tests.waiting import until
from tests.worlds import end_event, prompt_event, turn_event

HOTELS = (
    (
        "Which hotels in Lisbon are near the river?",
        "1. Hotel Santos at 120 euros. 2. Casa do Tejo at 95 euros, breakfast included.",
    ),
    ("does the second one take dogs?", "Yes, Casa do Tejo takes dogs up to 10 kg for 15 euros a night."),
    ("great, book it please", "Booked for 3 May under LX-4471."),
)
SAID = {
    "en": ("We keep the word zanzibarine for the safe, please remember it!", "zanzibarine", "and the second one?"),
    "zh": ("保险柜的密码是桂林山水甲天下，千万记住！", "桂林山水甲天下", "那第二个呢"),
    "ru": ("Ключ от сейфа за картиной «Прошлогодний снег», запомни, это важно!", "Прошлогодний", "а второй?"),
}
LANGUAGES = pytest.mark.parametrize("language", SAID)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "workspace"
    root.mkdir()
    return root


@pytest.fixture
def memory(tmp_path: Path, folder: Path):
    memory = wiring.open_memory(StateDir(tmp_path / "state"), start=False)
    memory.parts.workspaces.seen("main", str(folder))
    yield memory
    memory.close()


def say(memory: Memory, *pairs: tuple[str, str], key: str = "") -> None:
    for question, answer in pairs:
        moments.turn_end(memory, turn_event(question, answer, key=key))
    memory.sequencer.catch_up()


def name_of(memory: Memory) -> str:
    return memory.sequencer.index.sequences(Scope("main"), archived=None)[0].name


def asked(memory: Memory, text: str, **fields: object):
    query = Query(**{"text": text, "scope": Scope("main"), "now": memory.now(), "limit": 5, **fields})
    source = SequenceSource(memory.sequencer.index)
    return recall(query, sources=(source,), settings=Settings(), counter=FormulaCounter()).records


def turn(
    number: int, text: str, *, key: str = "agent:main:main", agent: str = "main", user: str = "owner", at: int = 0
) -> Turn:
    when = NOW + timedelta(minutes=at or number)
    said = (
        Utterance("owner", Origin.OWNER, text, when),
        Utterance("agent", Origin.AGENT, f"The answer to {text}", when),
    )
    return Turn(f"turn-{number}", Scope(agent, user), Session(agent, key, "host"), when, said)


# --- finding ------------------------------------------------------------------------------------------------------------


@LANGUAGES
def test_a_message_that_only_points_back_finds_the_last_pairs_of_its_conversation(memory: Memory, language: str):
    say(memory, *HOTELS)
    moments.session_end(memory, end_event())
    (found,) = asked(memory, SAID[language][2], session_key="agent:main:main")
    assert found.kind == "sequence"
    places = [
        found.text.index(part)
        for part in ("Q1: Which hotels", "Casa do Tejo at 95", "Q2: does the second", "Q3: great")
    ]
    assert places == sorted(places)


def test_it_does_not_when_it_only_thanks_or_asks_something_else(memory: Memory):
    say(memory, *HOTELS)
    assert not asked(memory, "ok thanks", session_key="agent:main:main")
    assert not asked(memory, "How do I cook rice?", session_key="agent:main:main")


@pytest.mark.parametrize(
    "text",
    [
        "who is the president of France?", "who wrote Hamlet?", "why is the sky blue?", "who is the pope?", "where is my umbrella?",
        "кто написал Гамлета?", "почему небо синее?", "где мой зонт?", "为什么天空是蓝的？", "法国总统是谁？",
    ],
)  # fmt: skip
def test_a_short_question_about_what_nobody_spoke_of_finds_nothing(memory: Memory, text: str):
    say(memory, *HOTELS)
    moments.session_end(memory, end_event())
    assert not asked(memory, text)
    assert not asked(memory, text, session_key="agent:main:main")
    assert not methods.recall(memory, {"query": text})["records"]
    query = Query(text=text, scope=Scope("main"), now=memory.now(), session_key="agent:main:main")
    assert not memory.remind(query).text


@pytest.mark.parametrize("text", ["tell me more", "why?", "а почему?", "расскажи подробнее", "那个呢？", "再说说"])
def test_what_only_points_back_goes_on_with_no_other_conversation(memory: Memory, text: str):
    say(memory, *HOTELS)
    moments.session_end(memory, end_event())
    assert asked(memory, text, session_key="agent:main:main")
    assert not asked(memory, text)
    assert not asked(memory, text, session_key="agent:main:another")


def test_the_whole_way_from_a_prompt_to_the_block(memory: Memory):
    say(memory, *HOTELS)
    moments.session_end(memory, end_event())
    text = moments.prompt_build(memory, prompt_event("and the second one?"))["text"]
    assert "Q1: Which hotels in Lisbon" in text
    assert "Casa do Tejo at 95 euros" in text


def test_a_hit_brings_its_neighbours_in_order_and_nothing_of_the_window(memory: Memory):
    say(
        memory,
        *(
            (f"What is said about topic{n} and otters{n}?", f"Otters{n} are told in chapter {n}0 of Book_{n}.")
            for n in range(1, 10)
        ),
    )
    (found,) = asked(memory, "what about otters5 and topic5?")[:1]
    assert [f"Q{n}:" in found.text for n in range(1, 10)] == [False, False, True, True, True, True, True, False, False]
    window = frozenset(pair.turn_id for pair in memory.sequencer.index.last(Scope("main"), "", 4))
    (found,) = asked(memory, "what about otters5 and topic5?", window_turns=window)[:1]
    assert "Q5:" in found.text
    assert "Q6:" not in found.text


def test_scope_holds_inside_the_source(tmp_path: Path):
    index = PairIndex(tmp_path)
    index.add(
        [
            turn(1, "the otter of the owner"),
            turn(2, "the otter of another", agent="work"),
            turn(3, "otter of a guest", user="guest"),
        ],
        Policy(),
    )
    source = SequenceSource(index)
    for scope, word in ((Scope("main"), "owner"), (Scope("work"), "another"), (Scope("main", "guest"), "guest")):
        query = Query("where is the otter?", scope, NOW + timedelta(days=1), everything=True)
        found = recall(query, sources=(source,), settings=Settings(), counter=FormulaCounter()).records
        assert [word in record.text for record in found] == [True]
        assert all(pair.scope.user == scope.user for pair in index.last(scope, "", 5))
    index.close()


def test_a_pair_that_comes_late_takes_its_place_in_time(tmp_path: Path):
    index = PairIndex(tmp_path)
    index.add([turn(1, "first"), turn(3, "third")], Policy())
    index.add([turn(2, "second")], Policy())
    assert [pair.question for pair in index.last(Scope("main"), "agent:main:main", 5)] == ["first", "second", "third"]
    assert [pair.seq for pair in index.pairs(1)] == [1, 2, 3]
    index.close()


# --- restart and kill ---------------------------------------------------------------------------------------------------


def test_a_restart_has_the_index_and_the_last_five_pairs(tmp_path: Path, folder: Path):
    first = wiring.open_memory(StateDir(tmp_path / "state"), start=False)
    say(first, *((f"question number {n}", "yes") for n in range(1, 8)))
    first.close()
    second = wiring.open_memory(StateDir(tmp_path / "state"), start=False)
    last = second.sequencer.index.last(Scope("main"), "agent:main:main", 5)
    assert [pair.question for pair in last] == [f"question number {n}" for n in range(3, 8)]
    assert second.sequencer.status()["current"]["pairs"] == 5
    assert second.sequencer.catch_up() == 0
    second.close()


def test_what_was_not_taken_in_before_a_kill_comes_from_the_truth_once(tmp_path: Path):
    memory = wiring.open_memory(StateDir(tmp_path / "state"), start=False)
    for question, answer in HOTELS:
        moments.turn_end(memory, turn_event(question, answer))
    memory.sequencer._waiting.clear()  # as a kill does
    assert memory.sequencer.catch_up() == 3
    assert memory.sequencer.catch_up() == 0
    (memory.parts.state.index / "sequences.sqlite").write_bytes(b"not a database")
    memory.close()
    again = wiring.open_memory(StateDir(tmp_path / "state"), start=False)
    assert again.sequencer.catch_up() == 3
    again.close()


_ADDS = """
import sys
from pathlib import Path
from openclaw_neuralstream.sequences.index import PairIndex
from openclaw_neuralstream.sequences.rows import Policy
from tests.sequences.test_sequencer import turn
index = PairIndex(Path(sys.argv[1]))
for number in range(1, 60):
    index.add([turn(number, f"question {number} about otter{number % 7}", key=f"agent:main:{number % 5}")], Policy())
    print(number, flush=True)
"""


def test_a_kill_in_the_middle_of_writing_leaves_whole_pairs_and_no_double(tmp_path: Path):
    with subprocess.Popen([sys.executable, "-c", _ADDS, str(tmp_path)], stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            if int(line) >= 25:
                os.kill(process.pid, signal.SIGKILL)
                break
    index = PairIndex(tmp_path)
    kept = index.totals().pairs
    assert kept >= 25
    every = [turn(n, f"question {n} about otter{n % 7}", key=f"agent:main:{n % 5}") for n in range(1, 60)]
    assert index.add(every, Policy()) == 59 - kept
    whole = PairIndex(tmp_path / "whole")
    whole.add(every, Policy())
    assert index.totals() == whole.totals()
    assert index.frequencies(["otter3"], Scope("main")) == whole.frequencies(["otter3"], Scope("main"))
    index.close()
    whole.close()


# --- files --------------------------------------------------------------------------------------------------------------


def test_the_files_have_the_form_of_the_specification_and_one_reader(memory: Memory, folder: Path):
    say(memory, ("hi", "Hello!"), *HOTELS)
    memory.sequencer.files()
    told = json.loads((folder / "memory/qa-index.json").read_text())
    assert (told["version"], told["structure"]) == (1, "sequence-indexed-qa")
    (session,) = told["sessions"]
    assert [pair["seq"] for pair in session["qa_sequence"]] == [1, 2, 3, 4]
    first, second, *_ = session["qa_sequence"]
    assert (first["q"], first["q_tokens"], first["a"]) == ("hi", ["hi"], None)
    assert "Casa do Tejo" in second["a"]
    assert second["a_significance"] > 0.6
    place = {"session": session["session_id"], "seq": 2}
    assert place in told["index"]["by_topic"]["travel"]
    assert told["index"]["by_semantic_hash"][second["q_hash"]] == place
    assert told["index"]["by_recency"][0]["seq"] == 4
    meta = told["metadata"]
    assert meta["total_qa_pairs"] == 4
    assert meta["compression_ratio"] == meta["stored_answers"] / 4
    assert "view" in told["note"]
    modes = {path.stat().st_mode & 0o077 for path in (folder / "memory").rglob("*")}
    assert modes == {0}


def test_what_is_edited_or_deleted_in_a_view_comes_back(memory: Memory, folder: Path):
    say(memory, *HOTELS)
    memory.sequencer.files()
    index = folder / "memory/qa-index.json"
    before = json.loads(index.read_text())["sessions"]
    index.write_text("mine now")
    memory.sequencer.files()
    assert json.loads(index.read_text())["sessions"] == before
    index.unlink()
    memory.sequencer.files()
    assert json.loads(index.read_text())["sessions"] == before


def test_a_large_session_has_a_file_of_its_own_and_an_old_one_lies_in_the_archive_and_is_found(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("openclaw_neuralstream.memory.sequencer.LARGE_SESSION", 5)
    memory = wiring.open_memory(StateDir(tmp_path / "state"), start=False)
    memory.parts.workspaces.seen("main", str(folder))
    say(memory, *((f"question {n} about the otter", "yes") for n in range(7)))
    memory.sequencer.files()
    name = name_of(memory)
    own = json.loads((folder / f"memory/sessions/{name}.json").read_text())
    (listed,) = json.loads((folder / "memory/qa-index.json").read_text())["sessions"]
    assert len(own["qa_sequence"]) == 7
    assert (len(listed["qa_sequence"]), listed["file"]) == (5, f"memory/sessions/{name}.json")
    assert memory.sequencer.archive(memory.now() + timedelta(days=1)) == [name]
    memory.sequencer.files()
    assert not (folder / f"memory/sessions/{name}.json").exists()
    assert json.loads((folder / f"memory/archive/{name}.json").read_text())["archived"]
    assert not json.loads((folder / "memory/qa-index.json").read_text())["sessions"]
    assert asked(memory, "the otter of question 3")
    memory.close()


def test_what_a_dry_run_of_the_archive_tells_is_what_is_put_away_a_guests_questions_included(memory: Memory):
    memory.sequencer.index.add([turn(1, "Where is the otter?"), turn(2, "And mine?", user="guest", at=1)], Policy())
    told = methods.call(memory, "qa.archive", {"days": 0, "dry_run": True})
    assert (told["archived"], len(told["sessions"])) == (0, 2)
    done = methods.call(memory, "qa.archive", {"days": 0})
    assert (done["archived"], done["sessions"]) == (2, told["sessions"])
    assert methods.call(memory, "qa.archive", {"days": 0})["sessions"] == []


def test_among_two_thousand_sessions_the_one_that_is_asked_for_is_found(tmp_path: Path):
    index = PairIndex(tmp_path)
    index.add([turn(n, f"otter{n} of session {n}?", key=f"agent:main:s{n}", at=n) for n in range(1, 2_001)], Policy())
    assert index.totals().sequences == 2_000
    query = Query("what was otter17 of session 17?", Scope("main"), NOW + timedelta(days=365))
    (found, *_) = recall(query, sources=(SequenceSource(index),), settings=Settings(), counter=FormulaCounter()).records
    assert "otter17 " in found.text
    index.close()


def test_the_index_file_lists_within_bounds_and_no_session_is_without_a_file(memory: Memory, folder: Path):
    index = memory.sequencer.index
    index.add([turn(n, f"otter{n} of session {n}?", key=f"agent:main:s{n}", at=n) for n in range(1, 261)], Policy())
    memory.sequencer.files()
    listed = json.loads((folder / "memory/qa-index.json").read_text())
    names = {session["session_id"] for session in listed["sessions"]}
    own = {path.stem for path in (folder / "memory/sessions").glob("*.json")}
    assert len(names) == 200
    assert len(names | own) == 260
    assert listed["metadata"]["total_sessions"] == 260


def test_the_files_are_no_notes_and_make_no_work_for_the_watcher(memory: Memory, folder: Path):
    (folder / "memory").mkdir()
    (folder / "memory/2026-11-21.md").write_text("# Today\n\n- W: the otter sleeps\n")
    (workspace,) = memory.parts.workspaces.all()
    workspace.harvest()
    say(memory, *HOTELS)
    memory.sequencer.files()
    done = workspace.harvest()
    assert not done.changed
    assert set(workspace.index.known()) == {"memory/2026-11-21.md"}


def test_no_file_is_written_where_the_setting_says_so_or_nothing_was_asked(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, memory: Memory
):
    memory.sequencer.files()
    assert list(folder.iterdir()) == []
    monkeypatch.setenv("NEURALSTREAM_QA_FILES", "false")
    quiet = wiring.open_memory(StateDir(tmp_path / "quiet"), start=False)
    quiet.parts.workspaces.seen("main", str(folder))
    say(quiet, *HOTELS)
    quiet.sequencer.files()
    assert list(folder.iterdir()) == []
    quiet.close()


def test_a_running_memory_writes_by_itself_and_answers_before(tmp_path: Path, folder: Path):
    memory = wiring.open_memory(StateDir(tmp_path / "state"))
    memory.parts.workspaces.seen("main", str(folder))
    moments.turn_end(memory, turn_event(*HOTELS[0]))
    until((folder / "memory/qa-index.json").exists)
    assert "Lisbon" in (folder / "memory/qa-index.json").read_text()
    memory.close()


# --- by hand ------------------------------------------------------------------------------------------------------------


def test_a_mark_keeps_an_answer_a_drop_never_and_a_rebuild_loses_neither(memory: Memory):
    say(memory, ("what is the otter called", "It is called Ondine."), *HOTELS)
    name = name_of(memory)
    assert methods.call(memory, "qa.mark", {"pair": f"{name}#1"})["pair"]["a"] == "It is called Ondine."
    assert methods.call(memory, "qa.mark", {"pair": f"{name}#2", "drop": True})["pair"]["a"] is None
    memory.sequencer.rebuild()
    answers = [pair["a"] for pair in methods.call(memory, "qa.show", {"session": name})["pairs"]]
    assert answers[:2] == ["It is called Ondine.", None]
    assert methods.call(memory, "qa.unmark", {"pair": f"{name}#1"})["pair"]["a"] is None
    assert "Casa do Tejo" in methods.call(memory, "qa.unmark", {"pair": f"{name}#2"})["pair"]["a"]


def test_a_topic_of_the_user_keeps_new_answers_and_earlier_ones(memory: Memory, folder: Path):
    say(memory, ("what eats an otter", "Fish."))
    name = name_of(memory)
    memory.sequencer._round()
    assert memory.sequencer.find(f"{name}#1").answer == ""
    methods.call(memory, "qa.topics", {"add": ["otter"]})
    memory.sequencer._round()
    say(memory, ("where lives the otter", "By the river."))
    assert [memory.sequencer.find(f"{name}#{n}").answer for n in (1, 2)] == ["Fish.", "By the river."]
    assert memory.sequencer.find(f"{name}#2").kept == "interest"
    (folder / "memory/topics.txt").write_text("# nothing any more\n")
    say(memory, ("who paints the otter", "Nobody."))
    assert memory.sequencer.find(f"{name}#3").answer == ""
    assert (folder / "memory/topics.txt").read_text() == "# nothing any more\n"


# --- forgetting ---------------------------------------------------------------------------------------------------------


@LANGUAGES
@pytest.mark.parametrize("by", ["words", "session", "time"])
def test_after_a_forgetting_no_byte_of_it_is_left_in_index_and_files(
    memory: Memory, tmp_path: Path, folder: Path, language: str, by: str
):
    fact, word, _ = SAID[language]
    say(memory, *HOTELS, key="agent:main:one")
    say(memory, (fact, f"Kept: {word}."), ("and that is all", "yes"), key="agent:main:two")
    memory.sequencer.files()
    assert traces(tmp_path, word)
    rows = [row for row in memory.truth.turn_rows() if row.key == "agent:main:two"]
    what = {
        "words": What(words=word),
        "session": What(session="agent:main:two"),
        "time": What(since=rows[0].at, until=rows[-1].at + timedelta(seconds=1)),
    }[by]
    memory.eraser.forget(what)
    assert traces(tmp_path, word) == []
    assert "Casa do Tejo" in (folder / "memory/qa-index.json").read_text()
    memory.close()
    assert traces(tmp_path, word) == []


def traces(folder: Path, word: str) -> list[str]:
    marks = (word.encode(), json.dumps(word)[1:-1].encode(), word.lower().encode())
    return [file.name for file in folder.rglob("*") if file.is_file() and any(m in file.read_bytes() for m in marks)]


def test_a_topic_of_ones_own_is_cited_and_left(memory: Memory, folder: Path):
    say(memory, ("tell me about zanzibarine and its word", "Yes."))
    methods.call(memory, "qa.topics", {"add": ["zanzibarine"]})
    receipt = memory.eraser.forget(What(words="zanzibarine"))
    assert any(left.where.startswith("memory/topics.txt#L") for left in receipt.left)
    assert "zanzibarine" in (folder / "memory/topics.txt").read_text()
