"""After a forgetting a byte search over everything finds nothing of it, in three languages; all else is where it was."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from openclaw_neuralstream.memory import wiring
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.memory.forget import last_receipts
from openclaw_neuralstream.memory.forget_files import What
from openclaw_neuralstream.model import Trigger
from openclaw_neuralstream.server import methods, moments, upkeep_methods
from openclaw_neuralstream.server.status import status
from openclaw_neuralstream.state import StateDir
from openclaw_neuralstream.store.forgetting import ERASING
from openclaw_neuralstream.text.fences import fenced
from tests.valkey import ValkeyServer
from tests.worlds import end_event, turn_event

KEPT = "We decided to keep the backups of the photo archive on the NAS in the cellar."
ALSO = "The server room of the workshop is cooled by two large fans."
SAID = {
    "en": ("We decided to open the safe in the study with the word zanzibarine.", "zanzibarine"),
    "zh": ("我决定把保险柜的钥匙放在桂林山水甲天下的画后面。", "桂林山水甲天下"),
    "ru": ("Мы решили хранить ключ от сейфа за картиной «Прошлогодний снег».", "Прошлогодний"),
}
LANGUAGES = pytest.mark.parametrize("language", SAID)


@pytest.fixture
def state(tmp_path: Path) -> StateDir:
    return StateDir(tmp_path / "state")


@pytest.fixture
def memory(state: StateDir):
    memory = wiring.open_memory(state, start=False)
    memory.parts.warm()
    yield memory
    memory.close()


def bytes_of(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file())


def traces(folder: Path, word: str) -> list[str]:
    """The files that hold the word, as UTF-8 or as JSON escapes it."""
    marks = (word.encode(), json.dumps(word)[1:-1].encode(), word.lower().encode())
    return [file.name for file in folder.rglob("*") if file.is_file() and any(m in file.read_bytes() for m in marks)]


def say(memory: Memory, *texts: str, key: str = "", **more: str) -> None:
    for text in texts:
        moments.turn_end(memory, turn_event(text, key=key, **more))
    memory.flush()


def gem_with(memory: Memory, word: str) -> str:
    (gem,) = memory.truth.gems(text=word, superseded=True)[:1]
    return gem.gem_id


def contents(memory: Memory) -> str:
    return "\n".join(gem.content for gem in memory.truth.gems(superseded=True, limit=1_000))


def verbatim(memory: Memory) -> str:
    ids = [row.turn_id for row in memory.truth.turn_rows()]
    return "\n".join(said.text for turn in memory.truth.turns(ids) for said in turn.utterances)


@LANGUAGES
@pytest.mark.parametrize("by", ["gem", "words", "session", "time"])
def test_nothing_of_it_is_left_and_nothing_else_is_lost(memory: Memory, state: StateDir, language: str, by: str):
    fact, word = SAID[language]
    say(memory, KEPT, key="agent:main:one")
    say(memory, fact, key="agent:main:two")
    say(memory, ALSO, key="agent:main:three")
    assert traces(state.path, word)
    row = next(r for r in memory.truth.turn_rows() if r.key == "agent:main:two")
    third = next(r for r in memory.truth.turn_rows() if r.key == "agent:main:three")
    what = {
        "gem": What(gems=(gem_with(memory, word),)),
        "words": What(words=word),
        "session": What(session="agent:main:two"),
        "time": What(since=row.at, until=third.at),
    }[by]
    before = memory.eraser.foresee(what)[1]
    assert traces(state.path, word), "a dry run changes nothing"
    receipt = memory.eraser.forget(what)
    assert traces(state.path, word) == []
    assert receipt.finished
    assert receipt.removed == before.removed
    assert KEPT in contents(memory)
    assert KEPT in verbatim(memory)
    assert ALSO in verbatim(memory)
    assert memory.parts.index.count() == memory.truth.gem_count()
    memory.close()
    assert traces(state.path, word) == []


@LANGUAGES
def test_its_sentence_is_cut_out_of_a_turn_that_another_gem_stands_on(memory: Memory, state: StateDir, language: str):
    fact, word = SAID[language]
    say(memory, f"{KEPT} {fact}")
    say(memory, f"Please remind me: {ALSO} {fact}")
    assert len(memory.truth.gems()) >= 2
    for gem in memory.truth.gems(text=word, superseded=True):
        memory.forget([gem.gem_id])
    assert traces(state.path, word) == []
    assert KEPT in contents(memory)
    assert KEPT in verbatim(memory)


def test_the_source_of_an_edited_gem_goes_with_all_its_wordings(memory: Memory, state: StateDir):
    fact, word = SAID["en"]
    say(memory, f"{KEPT} {fact}")
    edited = memory.edit(
        gem_with(memory, word), content="We decided to open the safe in the study with the word kalamata."
    )
    memory.forget([edited.gem_id])
    assert traces(state.path, word) == traces(state.path, "kalamata") == []
    assert KEPT in verbatim(memory)


def test_what_a_person_said_and_what_names_the_person_goes(memory: Memory, state: StateDir):
    say(memory, KEPT, "Benedikt decided to sell the old lathe of the workshop in spring.", ALSO)
    memory.eraser.forget(What(person="Benedikt"))
    assert traces(state.path, "Benedikt") == []
    assert traces(state.path, "lathe") == []
    assert KEPT in verbatim(memory)
    assert ALSO in verbatim(memory)


def test_criteria_hold_together(memory: Memory):
    fact, word = SAID["en"]
    say(memory, fact, key="agent:main:one")
    memory.eraser.forget(What(words=word, session="agent:main:two"))
    assert word in verbatim(memory)
    memory.eraser.forget(What(words=word, agent="another"))
    assert word in contents(memory)


def test_another_agents_words_stay(memory: Memory):
    fact, word = SAID["en"]
    say(memory, fact, agent="work")
    say(memory, fact, agent="home")
    memory.eraser.forget(What(words=word, agent="work"))
    (left,) = memory.truth.gems(text=word)
    assert left.scope.agent == "home"
    assert verbatim(memory).count(word) == 1


def test_it_does_not_come_back_by_capture_import_or_another_extraction(memory: Memory, state: StateDir):
    fact, word = SAID["en"]
    event = turn_event(f"{KEPT} {fact}")
    moments.turn_end(memory, event)
    memory.flush()
    exported = memory.truth.gems(text=word, superseded=True)
    batch = memory.truth.batches()[0].batch_id
    memory.forget([gem.gem_id for gem in exported])
    assert moments.turn_end(memory, event)["accepted"] == "seen"
    assert moments.turn_end(memory, {**event, "run_id": "of-a-transcript"})["accepted"] == "seen"
    assert memory.import_gems(exported) == 0
    memory.extract_again(batch, memory.parts.choose_extractor())
    memory.flush()
    assert traces(state.path, word) == []


@LANGUAGES
def test_spool_log_answers_proposals_and_copies_lose_it(memory: Memory, state: StateDir, language: str):
    fact, word = SAID[language]
    say(memory, fact, KEPT)
    spooled = {"method": "turn_end", "params": turn_event(f"{ALSO} {fact}")}
    (state.spool / "1.jsonl.bad").write_text(json.dumps(spooled) + "\n" + json.dumps({**spooled, "params": {}}) + "\n")
    (state.logs / "old.log").write_text(f"a line\n{fact}\n", encoding="utf-8")
    answers = state.path / "reflect" / "0a" / "answers"
    answers.mkdir(parents=True)
    (answers / "1.json").write_text(json.dumps({"text": fact}), encoding="utf-8")
    (answers / "2.json").write_text(json.dumps({"text": KEPT}), encoding="utf-8")
    accepted = state.path / "reflect" / "0a" / "accepted" / "1.json"
    accepted.parent.mkdir()
    proposal = {
        "proposal_id": "1",
        "path": "MEMORY.md",
        "text": "",
        "before": base64.b64encode(f"{fact}\n".encode()).decode(),
        "after": "",
    }
    accepted.write_text(json.dumps(proposal), encoding="utf-8")
    (state.path / "memory.sqlite.damaged-20260101T000000Z").write_bytes(b"\0\1" + fact.encode())
    (state.path / "replaced-20260101T000000").mkdir()
    (state.path / "replaced-20260101T000000" / "memory.sqlite").write_bytes(fact.encode())
    receipt = memory.eraser.forget(What(gems=tuple(g.gem_id for g in memory.truth.gems(text=word))))
    assert traces(state.path, word) == []
    assert ALSO in (state.spool / "1.jsonl.bad").read_text()
    assert (answers / "2.json").exists()
    assert receipt.removed["copies set aside"] == 2
    assert (json.loads(accepted.read_text())["before"], receipt.removed["proposals"]) == (None, 1)


@LANGUAGES
def test_generated_pages_lose_it_and_lines_of_ones_own_are_cited(memory: Memory, tmp_path: Path, language: str):
    fact, word = SAID[language]
    folder = tmp_path / "notes"
    (folder / "bank" / "entities").mkdir(parents=True)
    page = folder / "bank" / "entities" / "Safe.md"
    page.write_bytes(b"# Safe\n\n" + fenced("entity", f"## Facts\n- {fact} (gem 12345678)\n- {KEPT}\n"))
    (folder / "MEMORY.md").write_text(f"# Mine\n\n- {fact}\n", encoding="utf-8")
    memory.parts.workspaces.seen("main", str(folder))
    say(memory, fact)
    for workspace in memory.parts.workspaces.all():
        workspace.harvest()
    receipt = memory.eraser.forget(What(words=word))
    assert word not in page.read_text(encoding="utf-8")
    assert KEPT in page.read_text(encoding="utf-8")
    assert "MEMORY.md#L3" in [left.where for left in receipt.left]
    assert word in (folder / "MEMORY.md").read_text(encoding="utf-8")


@LANGUAGES
def test_lines_of_ones_own_are_cited_where_nothing_else_says_it(memory: Memory, tmp_path: Path, language: str):
    fact, word = SAID[language]
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "MEMORY.md").write_text(f"# Mine\n\n- {fact}\n- {KEPT}\n", encoding="utf-8")
    memory.parts.workspaces.seen("main", str(folder))
    for workspace in memory.parts.workspaces.all():
        workspace.harvest()
    _, foreseen = memory.eraser.foresee(What(words=word))
    assert foreseen.removed == {}
    for receipt in (foreseen, memory.eraser.forget(What(words=word))):
        assert [left.where for left in receipt.left if "#L" in left.where] == ["MEMORY.md#L3"]
    _, of_a_session = memory.eraser.foresee(What(words=word, session="agent:main:two"))
    assert not [left for left in of_a_session.left if "#L" in left.where]


@LANGUAGES
def test_turns_that_wait_in_redis_lose_it(state: StateDir, monkeypatch: pytest.MonkeyPatch, language: str):
    fact, word = SAID[language]
    with_server = ValkeyServer(appendonly="no")
    with_server.start()
    monkeypatch.setenv("NEURALSTREAM_REDIS_URL", with_server.url)
    monkeypatch.setenv("NEURALSTREAM_REDIS", '{"socket_timeout": 30}')
    memory = wiring.open_memory(state, start=False)
    try:
        memory.parts.warm()
        moments.turn_end(memory, turn_event(f"{KEPT} {fact}", key="agent:main:one"))
        moments.turn_end(memory, turn_event(fact, key="agent:main:two"))
        client = memory.parts.buffers[0]._client
        assert word.encode() in dump(client)
        assert memory.eraser.foresee(What(words=word))[1].removed["waiting turns"] == 2
        memory.eraser.forget(What(words=word))
        assert word.encode() not in dump(client)
        assert KEPT.encode() in dump(client)
        memory.flush()
        assert KEPT in contents(memory)
        assert traces(state.path, word) == []
    finally:
        memory.close()
        with_server.stop()


def both_wait_in_redis(state: StateDir, memory: Memory) -> None:
    """One fact said in a session, another in a second one; the first is spooled, too."""
    for language, key in (("en", "agent:main:one"), ("ru", "agent:main:two")):
        moments.turn_end(memory, turn_event(f"{KEPT} {SAID[language][0]}", key=key))
    spooled = {"method": "turn_end", "params": turn_event(SAID["en"][0], key="agent:main:one")}
    (state.spool / "1.jsonl.bad").write_text(json.dumps(spooled) + "\n")


@pytest.mark.parametrize("later", ["asked", "at once", "as one note of an earlier version"])
def test_what_waits_in_a_redis_that_is_away_is_forgotten_whatever_is_forgotten_meanwhile(
    state: StateDir, monkeypatch: pytest.MonkeyPatch, later: str
):
    server = ValkeyServer(appendonly="yes")
    server.start()
    monkeypatch.setenv("NEURALSTREAM_REDIS_URL", server.url)
    monkeypatch.setenv("NEURALSTREAM_REDIS", '{"socket_timeout": 30}')
    memory = wiring.open_memory(state, start=False)
    first, second = What(session="agent:main:one"), What(words=SAID["ru"][1])
    words = [SAID["en"][1], SAID["ru"][1]]
    try:
        memory.parts.warm()
        both_wait_in_redis(state, memory)
        server.kill()
        memory.eraser.ask(first)
        if later == "asked":
            memory.eraser.ask(second)
            memory.eraser.resume()
        elif later == "at once":
            assert memory.eraser.forget(second).finished is False
        else:
            memory.eraser.resume()
            memory.truth.set_meta(ERASING, json.dumps(json.loads(memory.truth.meta(ERASING))[0]))
            memory.eraser.ask(second)
        memory.eraser.resume()
        assert traces(state.spool, words[0]) == [], "what is at hand goes at once"
        assert last_receipts(memory.truth) == []
        server.start()
        memory.eraser.resume()
        found = dump(memory.parts.buffers[0]._client)
        assert [word for word in words if word.encode() in found] == []
        assert [receipt["removed"]["waiting turns"] for receipt in last_receipts(memory.truth)] == [1, 1]
        memory.flush()
        assert [traces(state.path, word) for word in words] == [[], []]
        assert KEPT in contents(memory)
        assert memory.truth.meta(ERASING) == ""
    finally:
        memory.close()
        server.stop()


def dump(client) -> bytes:
    found = b""
    for key in client.scan_iter():
        kind = client.type(key)
        found += repr(key).encode()
        if kind == b"hash":
            found += b"".join(name + value for name, value in client.hgetall(key).items())
        elif kind == b"list":
            found += b"".join(client.lrange(key, 0, -1))
        elif kind == b"string":
            found += client.get(key) or b""
    return found


def test_a_session_deleted_in_the_host_is_forgotten_with_a_receipt_without_words(memory: Memory, state: StateDir):
    fact, word = SAID["en"]
    say(memory, KEPT, key="agent:main:stays")
    say(memory, fact, key="agent:main:goes")
    moments.turn_end(memory, turn_event(f"Not read yet: {fact}", key="agent:main:goes"))
    moments.session_end(memory, end_event("deleted", key="agent:main:goes"))
    moments.turn_end(memory, turn_event(ALSO, key="agent:main:goes"))  # a new one under the old name
    memory.eraser.resume()
    assert traces(state.path, word) == []
    assert ALSO in verbatim(memory)
    assert KEPT in contents(memory)
    (receipt,) = status(memory)["forgotten"]
    assert (receipt["by"], receipt["removed"]["turns"]) == ("host", 2)
    assert "goes" not in json.dumps(receipt)


def test_a_session_deleted_in_the_host_stays_when_the_setting_says_so(state: StateDir, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NEURALSTREAM_FORGET_WITH_HOST", "false")
    memory = wiring.open_memory(state, start=False)
    fact, word = SAID["en"]
    say(memory, fact)
    moments.session_end(memory, end_event("deleted"))
    memory.eraser.resume()
    assert word in contents(memory)
    memory.close()


def test_dead_letters_go_with_their_session(memory: Memory, state: StateDir):
    fact, word = SAID["en"]
    moments.turn_end(memory, turn_event(fact))
    session = memory.session("main", "agent:main:main")
    batch = memory.truth.claim(
        session, limit=5, lease=memory.distiller._lease(), now=memory.now(), trigger=Trigger.MANUAL
    )
    assert batch
    memory.truth.bury(batch, f"no JSON: {fact}", memory.now())
    receipt = memory.eraser.forget(What(session="agent:main:main"))
    assert receipt.removed["dead letters"] == 1
    assert traces(state.path, word) == []


def test_the_socket_refuses_to_forget_everything_by_mistake(memory: Memory):
    from openclaw_neuralstream.errors import BadRequest

    with pytest.raises(BadRequest, match="nothing says what"):
        upkeep_methods.run(memory, {})
    with pytest.raises(BadRequest, match="must be a name"):
        upkeep_methods.run(memory, {"person": "?!"})


def test_a_tag_that_a_person_made_of_the_name_goes_also_when_the_process_ends_in_between(
    state: StateDir, monkeypatch: pytest.MonkeyPatch
):
    memory = wiring.open_memory(state, start=False)
    memory.truth.tags.change("alias", ["zanzibarium", "x"], lambda graph: graph.alias("zanzibarium", "x"), memory.now())
    what = What(entity="Zanzibarium")
    assert memory.eraser.foresee(what)[1].removed["tags"] == 1
    with monkeypatch.context() as patched:
        patched.setattr(memory.truth.tags, "remove", killed)
        with pytest.raises(KeyboardInterrupt):
            memory.eraser.forget(what)
    memory.close()
    again = wiring.open_memory(state, start=False)
    try:
        again.eraser.resume()
        assert traces(state.path, "zanzibarium") == []
        assert last_receipts(again.truth)[0]["removed"]["tags"] == 1
    finally:
        again.close()


def spool_line(text: str, **more: object) -> str:
    return json.dumps({"method": "turn_end", "params": turn_event(text, **more)}) + "\n"


@LANGUAGES
def test_words_that_only_wait_or_were_refused_are_named_first_and_go(memory: Memory, state: StateDir, language: str):
    fact, word = SAID[language]
    say(memory, KEPT)
    (state.spool / "1.jsonl").write_text(spool_line(f"{ALSO} {fact}"))
    (state.spool / "2.jsonl").write_text(spool_line(fact, key="agent:main:two"))
    refused = json.dumps({"method": "turn_end", "params": {"messages": fact}}, ensure_ascii=False)
    (state.spool / "refused.jsonl.bad").write_text(f"{refused}\n{{torn {json.dumps(fact)}\n{spool_line(ALSO)}")
    (state.spool / ".3.part").write_text(spool_line(fact))
    plan = upkeep_methods.plan(memory, {"words": word})
    assert sorted(one["id"] for one in plan["turns"]) == [".3.part", "1.jsonl", "2.jsonl", *["refused.jsonl.bad"] * 2]
    assert all(word in " ".join(one["texts"]) for one in plan["turns"])
    assert plan["receipt"]["removed"] == {"spooled events": 5}
    assert len(traces(state.spool, word)) == 4, "a dry run changes nothing"
    receipt = memory.eraser.forget(What(words=word))
    assert receipt.removed == plan["receipt"]["removed"]
    assert traces(state.path, word) == []
    methods.drain(memory, {})
    memory.flush()
    assert ALSO in verbatim(memory)
    assert traces(state.path, word) == []
    assert ALSO in (state.spool / "refused.jsonl.bad").read_text()


def test_waiting_lines_are_chosen_by_place_and_time_as_turns_are(memory: Memory, state: StateDir):
    fact, word = SAID["en"]
    noon = 1_700_000_000_000
    for name, key, at in (("1", "one", noon), ("2", "two", noon), ("3", "one", noon + 86_400_000)):
        (state.spool / f"{name}.jsonl").write_text(spool_line(fact, key=f"agent:main:{key}", at=at))
    day = datetime.fromtimestamp(noon / 1000, UTC)
    memory.eraser.forget(What(session="agent:main:one", until=day + timedelta(hours=1)))
    assert traces(state.spool, word) == ["2.jsonl", "3.jsonl"]
    memory.eraser.forget(What(since=day + timedelta(hours=1)))
    assert traces(state.spool, word) == ["2.jsonl"]
    memory.eraser.forget(What(agent="main"))
    assert traces(state.spool, word) == []


def test_words_are_whole_words_and_the_preview_shows_every_turn_that_loses_something(memory: Memory):
    robot = "We decided to buy the robot for the garden of the school."
    robs = "My son Ben robs the hives in the garden every June."
    say(memory, robot, robs, "We decided to invite Rob to the party on the roof.")
    plan = upkeep_methods.plan(memory, {"words": "rob"})
    (reached,) = plan["turns"]
    assert reached["texts"] == ["We decided to invite Rob to the party on the roof.", "Noted."]
    assert reached["whole"]
    assert plan["forms"] == {"robs": 2}
    memory.eraser.forget(What(words="rob"))
    assert robot in verbatim(memory)
    assert robs in verbatim(memory)
    assert "Rob " not in verbatim(memory) + contents(memory)


def killed(*_: object, **__: object) -> None:
    raise KeyboardInterrupt
