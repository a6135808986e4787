"""Verbatim turns behind the gems: they follow the truth through kills, damage, other embedders and other processes."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from openclaw_neuralstream.errors import StateFull, VendorAway
from openclaw_neuralstream.memory import wiring
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.memory.forget_files import What
from openclaw_neuralstream.memory.projection import TurnProjection
from openclaw_neuralstream.model import EmbedderIdentity, Query, Record, Scope, Session, Wanted
from openclaw_neuralstream.ports import Vector, Vectors
from openclaw_neuralstream.recall import TurnSource, recall
from openclaw_neuralstream.server import methods, moments
from openclaw_neuralstream.server.status import status
from openclaw_neuralstream.settings import Settings
from openclaw_neuralstream.state import StateDir
from openclaw_neuralstream.store.passages import PassageIndex
from openclaw_neuralstream.store.truth import Truth
from openclaw_neuralstream.text.tokens import FormulaCounter
from tests import passages
from tests.values import NOW, turn
from tests.worlds import answered, end_event, prompt_event, said, turn_event

SMALL = EmbedderIdentity("small", 8)


class Letters:
    """A text's vector: how often it has each of eight letters."""

    def __init__(self, identity: EmbedderIdentity = SMALL) -> None:
        self.identity = identity
        self.away = False
        self.embedded: list[str] = []

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        if self.away:
            raise VendorAway("no embedder")
        self.embedded += texts
        rows = np.array([[text.count(letter) + 0.01 for letter in "aeinorst"] for text in texts], np.float32)
        vectors: Vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32).reshape(-1, 8)
        return vectors

    def embed_query(self, text: str) -> Vector:
        vector: Vector = self.embed_documents([text])[0]
        return vector


class Small:
    """A truth, its index of turns and what keeps them together; `again` is another process."""

    def __init__(self, folder: Path, embedder: Letters | None = None) -> None:
        self.folder = folder
        self.embedder = embedder or Letters()
        self.truth = Truth.open(folder / "memory.sqlite")
        self.index = PassageIndex(folder / "turns", self.embedder.identity)
        self.projection = TurnProjection(self.truth, self.index, self.embedder)

    def again(self, embedder: Letters | None = None) -> Small:
        return Small(self.folder, embedder or self.embedder)

    def say(self, *texts: str, key: str = "agent:main:main", agent: str = "main", first: int = 1) -> list[str]:
        """Turns that are distilled: each a batch without gems."""
        session = Session(agent, key, f"host-{key}")
        turns = [turn(first + n, text, session=session, turn_id=f"{key}-{text}") for n, text in enumerate(texts)]
        for one in turns:
            self.truth.append(one)
        self.distil(session)
        return [one.turn_id for one in turns]

    def distil(self, session: Session) -> None:
        from datetime import timedelta

        from openclaw_neuralstream.model import Trigger

        while batch := self.truth.claim(session, limit=10, lease=timedelta(minutes=1), now=NOW, trigger=Trigger.MANUAL):
            self.truth.store(batch, [], embedder=None, at=NOW)

    def texts(self, agent: str = "main") -> list[str]:
        ids = sorted(self.index.sizes())
        found = [
            passage.text
            for turn_ in self.truth.turns(ids)
            for passage in self.index.passages([f"{p.id}" for p in _passages(turn_)], Scope(agent))
        ]
        return sorted(text for text in found if text != "Noted.")

    def found(self, words: str, agent: str = "main") -> list[str]:
        """What the source proposes, best first."""
        source = TurnSource(self.index, self.embedder)
        found = recall(
            Query(words, Scope(agent), NOW),
            sources=[source],
            settings=Settings(),
            counter=FormulaCounter(),
        )
        return [record.text for record in found.records if record.text != "Noted."]

    def close(self) -> None:
        self.index.close()
        self.truth.close()


def _passages(one):  # type: ignore[no-untyped-def]
    from openclaw_neuralstream.store.passage_rows import passages_of

    return passages_of(one)


@pytest.fixture
def small(tmp_path: Path):
    made = Small(tmp_path)
    yield made
    made.close()


# --- it follows -----------------------------------------------------------------------------------------------------------


def test_a_turn_is_found_from_when_it_is_taken_in_and_written_once(small: Small):
    session = Session("main", "agent:main:main", "host-1")
    small.truth.append(turn(1, "the violin is in the attic", session=session))
    assert small.projection.catch_up()
    assert small.found("violin attic") == ["the violin is in the attic"]
    small.distil(session)
    assert small.truth.evidence.events(0) == []
    assert small.projection.catch_up()
    assert small.found("violin attic") == ["the violin is in the attic"]


def test_a_turn_that_has_only_begun_is_not_found(small: Small):
    small.truth.begin(turn(1, "the violin is in the attic"))
    assert small.projection.catch_up()
    assert small.found("violin attic") == []


def test_what_was_applied_is_not_kept_as_a_change(small: Small):
    small.say("the violin is in the attic", "the cello is in the cellar")
    small.projection.catch_up()
    assert small.truth.evidence.events(0) == []
    assert small.projection.status()["behind"] == 0


def test_every_turn_has_a_vector_in_the_end_and_each_was_embedded_once(small: Small):
    small.say(*(f"sentence number {n} of the story" for n in range(40)))
    small.projection.catch_up()
    assert small.index.bare_count() == 80
    assert small.projection.embed_missing() == 80
    assert small.projection.embed_missing() == 0
    assert (len(small.embedder.embedded), len(set(small.embedder.embedded))) == (80, 41)  # 40 answers are the same


def test_without_the_embedder_words_find_a_turn_and_the_vector_comes_later(small: Small):
    small.embedder.away = True
    small.say("the violin is in the attic")
    assert small.projection.catch_up()
    assert small.projection.embed_missing() == 0
    assert small.found("violin attic") == ["the violin is in the attic"]
    small.embedder.away = False
    assert small.projection.embed_missing() == 2


def test_another_embedder_embeds_anew_and_the_words_serve_meanwhile(small: Small):
    small.say("the violin is in the attic")
    small.projection.catch_up()
    small.projection.embed_missing()
    small.index.close()
    other = small.again(Letters(EmbedderIdentity("other", 8)))
    assert (other.index.bare_count(), other.found("violin attic")) == (2, ["the violin is in the attic"])
    assert other.projection.check()
    assert (other.projection.embed_missing(), other.index.bare_count()) == (2, 0)
    other.close()


def test_a_dead_letters_turns_have_their_words_alone_and_a_batch_taken_back_has_none(small: Small):
    from datetime import timedelta

    from openclaw_neuralstream.model import Trigger

    session = Session("main", "agent:main:main", "host-1")
    small.truth.append(turn(1, "the violin is in the attic", session=session))
    batch = small.truth.claim(session, limit=10, lease=timedelta(minutes=1), now=NOW, trigger=Trigger.MANUAL)
    assert batch is not None
    small.truth.bury(batch, "no good answer", NOW)
    small.projection.catch_up()
    assert small.found("violin attic") == ["the violin is in the attic"]
    small.truth.revive(batch.batch_id)
    small.projection.catch_up()
    assert small.found("violin attic") == ["the violin is in the attic"]
    small.distil(session)
    small.projection.catch_up()
    assert small.found("violin attic") == ["the violin is in the attic"]
    small.truth.undo(batch.batch_id, NOW)
    small.projection.catch_up()
    assert small.found("violin attic") == []
    assert small.index.stored()[0] == 0


# --- kills, damage, other processes ---------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_happens_between_two_steps_the_index_comes_to_hold_just_what_the_truth_has(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
):
    """Two processes say, forget, cut, follow, stop and lose the folder in any order."""
    both = [Small(tmp_path_factory.mktemp("memory"))]
    both.append(both[0].again())
    ids: list[str] = []
    for number in range(data.draw(st.integers(3, 14))):
        one = both[data.draw(st.integers(0, 1))]
        step = data.draw(st.sampled_from(["say", "forget", "cut", "follow", "embed", "reopen", "lose"]))
        if step == "say":
            ids += one.say(f"note {number} about the violin. It is red.", first=number)
        elif step == "forget" and ids:
            one.truth.erasing.erase([], [data.draw(st.sampled_from(ids))], {}, NOW)
        elif step == "cut" and ids:
            one.truth.erasing.erase([], [], {data.draw(st.sampled_from(ids)): ["It is red."]}, NOW)
        elif step == "follow":
            one.projection.catch_up()
        elif step == "embed":
            one.projection.embed_missing()
        elif step == "reopen":
            at = both.index(one)
            one.close()
            both[at] = one.again()
        elif step == "lose":
            for file in (one.folder / "turns").iterdir():
                file.unlink()
    for one in both:
        assert one.projection.catch_up()
    kept = both[0].truth.evidence.sizes()
    expected = sorted(
        said.text
        for turn_ in both[0].truth.turns(list(kept))
        for said in turn_.utterances
        if said.text not in ("", "Noted.")
    )
    for one in both:
        one.projection.embed_missing()
        assert one.index.sizes() == kept
        assert one.texts() == expected
        assert one.index.bare_count() == 0
        found = one.found("violin note red", "main")
        assert set(found) <= set(expected)
        assert len(found) == min(len(expected), Settings().max_gems_injected)
        one.close()


def test_a_slow_process_never_puts_back_what_another_took_out(small: Small):
    (gone,) = small.say("the secret word is zanzibarine")
    slow = small.again()
    mark = slow.index.mark()
    read = slow.projection._kept([gone])
    small.projection.catch_up()
    small.truth.erasing.erase([], [gone], {}, NOW)
    small.projection.catch_up()
    assert not slow.index.apply(read, mark=mark)
    assert slow.found("zanzibarine") == []
    slow.close()


def test_two_processes_that_follow_at_once_hold_the_same(tmp_path: Path):
    both = [Small(tmp_path)]
    both.append(both[0].again())
    both[0].say(*(f"sentence number {n} of the story" for n in range(60)))
    threads = [
        threading.Thread(target=lambda one=one: (one.projection.catch_up(), one.projection.embed_missing()))
        for one in both
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [one.index.stored()[0] for one in both] == [120, 120]
    assert [one.index.bare_count() for one in both] == [0, 0]
    assert [one.found("sentence number 33")[0] for one in both] == ["sentence number 33 of the story"] * 2
    for one in both:
        one.close()


@pytest.mark.parametrize("harm", ["gone", "garbage", "cut", "vectors gone"])
def test_a_damaged_folder_is_made_anew_while_it_is_in_use(small: Small, harm: str):
    small.say("the violin is in the attic", "the cello is in the cellar")
    small.projection.catch_up()
    small.projection.embed_missing()
    folder = small.folder / "turns"
    if harm == "vectors gone":
        small.close()
        (folder / "passages.f32").unlink()
        opened = small.again()
    else:
        file = folder / "passages.sqlite"
        data = file.read_bytes()
        if harm == "gone":
            for one in folder.iterdir():
                one.unlink()
        else:
            small.index.close()
            file.write_bytes(b"\x5a" * len(data) if harm == "garbage" else data[: len(data) // 2])
        opened = small.again()
    assert opened.projection.check()
    opened.projection.embed_missing()
    assert opened.found("violin attic")[:1] == ["the violin is in the attic"]
    assert (opened.index.stored()[0], opened.index.bare_count()) == (4, 0)
    opened.close()


def test_a_full_disk_is_said_and_the_changes_wait(small: Small, monkeypatch: pytest.MonkeyPatch):
    small.say("the violin is in the attic")

    def full(*_: object, **__: object) -> bool:
        raise StateFull("the disk is full: nothing was written")

    with monkeypatch.context() as patch:
        patch.setattr(small.index, "apply", full)
        with pytest.raises(StateFull):
            small.projection.catch_up()
    assert small.projection.catch_up()
    assert small.found("violin attic") == ["the violin is in the attic"]


# --- whose they are -------------------------------------------------------------------------------------------------------

NAMES = st.sampled_from(["main", "other", "Main", "m%in", "main ", "агент", "助手"])
WHOSE = st.builds(Scope, NAMES, st.sampled_from(["owner", "guest", "гость"]), st.sampled_from(["", "house", "garden"]))


@settings(max_examples=30, deadline=None)
@given(scopes=st.lists(WHOSE, min_size=1, max_size=8), asked=WHOSE)
def test_agents_users_and_projects_never_meet(
    tmp_path_factory: pytest.TempPathFactory, scopes: list[Scope], asked: Scope
):
    embedder = Letters()
    index = PassageIndex(tmp_path_factory.mktemp("turns"), SMALL)
    turns = [
        replace(
            turn(n, f"the violin of number {n}", turn_id=f"t{n}", session=Session(scope.agent, f"k{n}", "")),
            scope=scope,
        )
        for n, scope in enumerate(scopes)
    ]
    passages.add(index, turns, embedder.embed_documents)
    found = recall(
        Query("the violin of number", asked, NOW),
        sources=[TurnSource(index, embedder)],
        settings=Settings(max_gems_injected=100),
        counter=FormulaCounter(),
    )
    shown = {record.text for record in (*found.records, *(d.record for d in found.dropped)) if record.text != "Noted."}
    own = {
        f"the violin of number {n}"
        for n, scope in enumerate(scopes)
        if (scope.agent, scope.user) == (asked.agent, asked.user)
        and (not asked.project or scope.project in ("", asked.project))
    }
    index.close()
    assert shown == own


# --- in the running memory ------------------------------------------------------------------------------------------------

ASKED = "What did I tell you about the colour of the tandem?"
TOLD = "By the way, the colour of the tandem in the shed is petrol, nearly green."


@pytest.fixture
def memory(tmp_path: Path):
    made = wiring.open_memory(StateDir(tmp_path / "state"), start=False)
    made.parts.warm()
    yield made
    made.close()


def tell(memory: Memory, text: str, answer: str = "Noted.", **more: object) -> None:
    moments.turn_end(memory, turn_event(text, answer, **more))  # type: ignore[arg-type]
    moments.session_end(memory, end_event("new"))
    memory.flush()
    memory.turn_projection.embed_missing()


def turns_of(memory: Memory, question: str, **more: object) -> list[Record]:
    query = Query(question, Scope("main"), memory.now(), sources=frozenset({"turns"}), **more)  # type: ignore[arg-type]
    return list(memory.recall(query).records)


def test_what_no_gem_says_comes_back_word_for_word_with_who_said_it(memory: Memory):
    tell(memory, TOLD)
    (record,) = [one for one in turns_of(memory, ASKED) if one.speaker == "owner"]
    assert (record.kind, record.text) == ("turn", TOLD)
    told = moments.prompt_build(memory, prompt_event(ASKED))
    assert TOLD in told["brief"] + told["text"]


def test_a_turn_that_stands_in_the_window_is_not_injected(memory: Memory):
    moments.turn_end(memory, turn_event(TOLD, run="run-shown"))
    memory.flush()
    shown = prompt_event(ASKED, window_runs=["run-shown"])
    assert "petrol" not in moments.prompt_build(memory, shown)["text"]


def test_switched_off_there_is_no_second_copy_of_what_was_said(tmp_path: Path):
    state = StateDir(tmp_path / "state")
    with_turns = wiring.open_memory(state, start=False)
    tell(with_turns, TOLD)
    with_turns.close()
    assert state.turns.exists()
    without = wiring.open_memory(state, environ={"NEURALSTREAM_RECALL_TURNS": "false"}, start=False)
    assert without.turn_projection.check()
    assert turns_of(without, ASKED) == []
    assert (state.turns.exists(), status(without)["turns"]["on"]) == (False, False)
    without.close()
    back = wiring.open_memory(state, start=False)
    assert back.turn_projection.check()
    assert [one.text for one in turns_of(back, ASKED) if one.speaker == "owner"] == [TOLD]
    back.close()


def test_status_counts_them_and_a_rebuild_makes_them_anew(memory: Memory):
    tell(memory, TOLD)
    assert status(memory)["turns"] == {
        "on": True, "turns": 1, "kept": 1, "passages": 2, "behind": 0, "unembedded": 0
    }  # fmt: skip
    assert methods.rebuild(memory, {})["turns"] == 1
    assert status(memory)["turns"]["unembedded"] == 2
    assert memory.turn_projection.embed_missing() == 2


def test_our_block_in_an_answer_is_no_passage(memory: Memory):
    block = "<neuralstream-memory>\n- [2026-11-21 · turn] the safe opens with zanzibarine (id#1, 2026-11-21)\n</neuralstream-memory>"
    quoted = "- [2026-11-20 · turn · agent] the safe opens with zanzibarine (id#1, 2026-11-20)"
    moments.turn_end(
        memory,
        {
            **turn_event("Tell me a joke about cats."),
            "messages": [said(f"{block}\nTell me a joke about cats."), answered(f"{quoted}\nA cat walks into a bar.")],
        },
    )
    memory.flush()
    memory.turn_projection.catch_up()
    found = memory.parts.passages.frequencies(["zanzibarin", "zanzibarine", "cat"], Scope("main"))  # type: ignore[union-attr]
    assert (found["zanzibarin"], found["zanzibarine"]) == (0, 0)
    assert found["cat"]


def test_a_stranger_s_words_are_labelled(memory: Memory):
    tell(memory, TOLD, sender={"id": "guest-7", "owner": False, "name": "Gustav"})

    def found(scope: Scope) -> list[Record]:
        asked = memory.recall(Query(ASKED, scope, memory.now(), sources=frozenset({"turns"})))
        every = (*asked.records, *(dropped.record for dropped in asked.dropped))
        return [record for record in every if record.text == TOLD]

    (his,) = found(Scope("main", "unknown:guest-7"))
    assert his.origin == "untrusted"
    assert found(Scope("main")) == []


# --- forgetting -----------------------------------------------------------------------------------------------------------


def bytes_with(folder: Path, word: str) -> list[str]:
    import json

    marks = (word.encode(), word.lower().encode(), json.dumps(word)[1:-1].encode())
    return [f.name for f in folder.rglob("*") if f.is_file() and any(mark in f.read_bytes() for mark in marks)]


def test_a_turn_is_forgotten_by_the_id_that_recall_shows_down_to_its_bytes(memory: Memory):
    tell(memory, TOLD)
    tell(memory, "The spare keys of the cellar hang behind the boiler.", run="run-keys")
    (record,) = [one for one in turns_of(memory, ASKED) if one.text == TOLD]
    answer = methods.tool_forget(memory, {"agent": "main", "what": record.id[:12]})
    assert answer["forgotten"] == [record.id]
    assert TOLD not in [one.text for one in turns_of(memory, ASKED)]
    assert bytes_with(memory.parts.state.path, "petrol") == []
    assert not memory.parts.passages.find(record.id)  # type: ignore[union-attr]
    assert [one.text for one in turns_of(memory, "Where do the spare keys of the cellar hang?")] != []


def test_another_agents_turn_is_not_forgotten_by_its_id(memory: Memory):
    tell(memory, TOLD)
    (record,) = [one for one in turns_of(memory, ASKED) if one.text == TOLD]
    assert methods.tool_forget(memory, {"agent": "other", "what": record.id})["forgotten"] == []
    assert TOLD in [one.text for one in turns_of(memory, ASKED)]


def test_a_killed_forgetting_wipes_the_index_of_turns_when_it_is_opened_again(
    small: Small, monkeypatch: pytest.MonkeyPatch
):
    (gone,) = small.say("the secret word is zanzibarine")
    small.say("the violin is in the attic", first=9)
    small.projection.catch_up()
    small.projection.embed_missing()
    small.truth.erasing.erase([], [gone], {}, NOW)
    with monkeypatch.context() as patch:
        patch.setattr(small.index, "wipe", lambda: False)
        assert not small.projection.catch_up()
    after = small.again()
    assert after.projection.check()
    small.truth.erasing.wipe()
    assert bytes_with(small.folder / "turns", "zanzibarin") == []
    assert after.index.stored()[0] == 2
    after.close()


SECRET = "Peter told me that the safe in the study opens with the word zanzibarine."


@pytest.mark.parametrize("by", ["words", "session", "person", "time", "host"])
def test_every_way_of_forgetting_reaches_the_index_of_turns(memory: Memory, by: str):
    tell(memory, TOLD, key="agent:main:one")
    tell(memory, SECRET, key="agent:main:two", run="run-secret")
    folder = memory.parts.state.turns
    assert bytes_with(folder, "zanzibarin")
    (gem,) = [row for row in memory.truth.turn_rows() if row.key == "agent:main:two"]
    what = {
        "words": What(words="zanzibarine"),
        "session": What(session="agent:main:two"),
        "person": What(person="Peter"),
        "time": What(since=gem.at, session="agent:main:two"),
        "host": What(session="agent:main:two", by="host"),
    }[by]
    assert memory.eraser.forget(what).finished
    assert bytes_with(folder, "zanzibarin") == []
    assert TOLD in [one.text for one in turns_of(memory, ASKED)]
    memory.turn_projection.embed_missing()
    vectors = np.fromfile(folder / "passages.f32", np.float32).reshape(-1, memory.parts.embedder.identity.dimensions)
    assert int(vectors.any(axis=1).sum()) == memory.parts.passages.stored()[0]  # type: ignore[union-attr]


def test_an_undone_batch_is_no_evidence_until_it_is_distilled_again(memory: Memory):
    tell(memory, TOLD)
    (batch,) = memory.truth.batches()
    memory.undo(batch.batch_id)
    assert turns_of(memory, ASKED) == []
    memory.extract_again(batch.batch_id, memory.parts.choose_extractor.named("rules"))
    memory.turn_projection.catch_up()
    assert TOLD in [one.text for one in turns_of(memory, ASKED)]


def test_a_turn_goes_out_of_date_with_its_gems(memory: Memory):
    tell(memory, "We decided to hold the weekly planning on Tuesday at nine.")
    (gem,) = memory.truth.gems()
    newer = replace(
        gem, gem_id="newer", content="The weekly planning is held on Friday at ten.", evidence=(), supersedes=gem.gem_id
    )
    memory.truth.import_gems([(newer, None)], None, memory.now())
    asked = "When is the weekly planning held?"
    assert [one.text for one in turns_of(memory, asked) if "Tuesday" in one.text] == []
    earlier = turns_of(memory, asked, wanted=Wanted(superseded=True))
    assert [one.text for one in earlier if "Tuesday" in one.text] != []


def test_a_restored_memory_takes_no_index_of_the_one_before(memory: Memory, tmp_path: Path):
    from openclaw_neuralstream.transfer import archive

    tell(memory, TOLD)
    archive.write(memory.parts.state, tmp_path / "kept.tar.gz", version="1", now=NOW, workspaces={})
    tell(memory, SECRET, run="run-secret")
    memory.close()
    _, aside = archive.restore(tmp_path / "kept.tar.gz", memory.parts.state, files_to=None, now=NOW)
    assert (Path(aside) / "turns").is_dir()
    restored = wiring.open_memory(memory.parts.state, start=False)
    assert restored.turn_projection.check()
    assert bytes_with(restored.parts.state.turns, "zanzibarin") == []
    assert TOLD in [one.text for one in turns_of(restored, ASKED)]
    restored.close()
