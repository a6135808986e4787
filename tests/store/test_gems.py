"""Gems in the truth: listed, found by words, merged, superseded, edited, imported; each change is a numbered event."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_neuralstream.errors import BadRequest, NotFound
from openclaw_neuralstream.model import Batch, EmbedderIdentity, Gem, Scope
from openclaw_neuralstream.store.truth import Truth
from openclaw_neuralstream.text import lexicon
from openclaw_neuralstream.text.lexicon import affordable
from tests.values import MAIN, NOW, SESSION, SMALL, gem, turn, unit

OTHER = EmbedderIdentity("other", 4)


def keep(truth: Truth, *gems: Gem) -> None:
    assert truth.import_gems([(g, None) for g in gems], None, NOW) == len(gems)


def ids(gems: list[Gem]) -> list[str]:
    return [g.gem_id for g in gems]


def found(truth: Truth, text: str, scope: Scope = MAIN, **how: bool) -> list[str]:
    return [hit.gem_id for hit in truth.search_words(lexicon.terms(text), scope, 10, **how)]


def actions(truth: Truth, after: int = 0) -> list[tuple[str, str]]:
    return [(event.gem_id, event.action) for event in truth.events(after)]


# --- kept as they are ---------------------------------------------------------------------------------------------------


def test_a_gem_comes_back_as_it_was_stored(truth: Truth) -> None:
    full = gem(
        "full", "Стек: Docker и Redis", topics=("докер",), entities=("Redis",), evidence=("t1",), supersedes="",
        valid_from=NOW, valid_to=NOW + timedelta(days=1), scope=Scope("main", "guest", "p"), language="ru",
    )  # fmt: skip
    keep(truth, full)
    assert truth.gem("full") == full


@pytest.mark.parametrize("text", ["half \ud800", "nul \x00", "你好", "🦞", '"quoted" \\ and\nlines'])
def test_hostile_and_foreign_contents_come_back_exactly(truth: Truth, text: str) -> None:
    keep(truth, gem("g", text))
    assert truth.gem("g") == gem("g", text)


def test_a_gem_is_found_by_a_prefix_that_only_it_has(truth: Truth) -> None:
    keep(truth, gem("abc-1"), gem("abd-2"))
    assert [g and g.gem_id for g in map(truth.gem, ["abc", "abd-2", "ab", "", "x", "%"])] == [
        "abc-1", "abd-2", None, None, None, None,
    ]  # fmt: skip


# --- lists --------------------------------------------------------------------------------------------------------------


def test_lists_are_newest_first_in_pages(truth: Truth) -> None:
    keep(truth, *(gem(f"g{n}", f"content {n}", created_at=NOW + timedelta(hours=n)) for n in range(5)))
    assert ids(truth.gems(limit=2)) == ["g4", "g3"]
    assert ids(truth.gems(limit=2, offset=4)) == ["g0"]


def test_lists_show_a_scope_only_its_own(truth: Truth) -> None:
    guest, red = Scope("main", "guest"), Scope("main", project="red")
    keep(truth, gem("mine"), gem("guest", scope=guest), gem("red", scope=red), gem("blue", scope=Scope("main", project="blue")))
    assert sorted(ids(truth.gems(MAIN))) == ["blue", "mine", "red"]
    assert sorted(ids(truth.gems(red))) == ["mine", "red"]
    assert ids(truth.gems(guest)) == ["guest"]
    assert truth.gems(Scope("nobody")) == []
    assert (truth.gem_count(), truth.gem_count(guest), truth.gem_count(Scope("nobody"))) == (4, 1, 0)


def test_lists_can_be_narrowed_by_text_tag_and_ids(truth: Truth) -> None:
    keep(truth, gem("a", "ПРИВЕТ Docker"), gem("b", "nothing", tags=("fact", "by-hand")), gem("c", superseded_by="b"))
    assert ids(truth.gems(text="привет")) == ["a"]
    assert ids(truth.gems(text="docker")) == ["a"]
    assert ids(truth.gems(text="superseded_by")) == []
    assert ids(truth.gems(tag="by-hand")) == ["b"]
    assert sorted(ids(truth.gems(gem_ids=["a", "c", "zz"]))) == ["a"]
    assert sorted(ids(truth.gems(gem_ids=["a", "c", "zz"], superseded=True))) == ["a", "c"]
    assert truth.gems(gem_ids=[]) == []
    assert truth.gems(Scope("main", "guest"), gem_ids=["a"]) == []


# --- the same again -----------------------------------------------------------------------------------------------------


def test_the_same_gem_again_gives_its_evidence_only(truth: Truth) -> None:
    keep(truth, gem("g", evidence=("t1",)))
    again = gem("g", "something else", evidence=("t1", "t2"))
    assert truth.import_gems([(again, unit(1))], SMALL, NOW) == 0
    assert truth.gem("g") == gem("g", evidence=("t1", "t2"))
    assert actions(truth) == [("g", "stored"), ("g", "merged")]
    truth.import_gems([(again, None)], None, NOW)
    assert truth.last_event() == 2


def test_a_newer_gem_retires_the_one_it_names(truth: Truth) -> None:
    keep(truth, gem("old"), gem("new", "now it is so", supersedes="old"))
    old, new = truth.gem("old"), truth.gem("new")
    assert old
    assert new
    assert (old.superseded_by, new.supersedes) == ("new", "old")
    assert ids(truth.gems()) == ["new"]
    assert actions(truth)[-1] == ("old", "superseded")


# --- edited -------------------------------------------------------------------------------------------------------------


def test_an_edit_is_marked_found_by_its_new_words_and_an_event(truth: Truth) -> None:
    truth.import_gems([(gem("g", "we use postgres"), unit(1))], SMALL, NOW)
    edited = truth.edit("g", content="we use sqlite", summary="sqlite", importance=0.9, tags=["fact"], topics=["db"], at=NOW)
    assert edited == truth.gem("g") == replace(
        gem("g", "we use sqlite"), importance=0.9, summary="sqlite", topics=("db",), edited=True,
        importance_reason="set by hand",
    )
    assert (found(truth, "postgres"), found(truth, "sqlite"), found(truth, "db")) == ([], ["g"], ["g"])
    assert actions(truth) == [("g", "stored"), ("g", "edited")]


def test_a_new_content_loses_the_old_vectors_and_takes_the_new_one(truth: Truth) -> None:
    truth.import_gems([(gem("g"), unit(1)), (gem("h", "other"), unit(1))], SMALL, NOW)
    truth.edit("g", content="new", at=NOW)
    assert truth.vectors(["g"], SMALL) == {}
    assert ids(truth.unembedded(SMALL, 5)) == ["g"]
    truth.edit("h", content="newer", vector=unit(0, 1), at=NOW)
    assert truth.vectors(["h"], SMALL)["h"] == pytest.approx(unit(0, 1))
    truth.edit("h", importance=0.1, at=NOW)
    assert list(truth.vectors(["h"], SMALL)) == ["h"]


def test_an_edit_of_nothing_or_to_nonsense_is_refused(truth: Truth) -> None:
    keep(truth, gem("g"))
    with pytest.raises(NotFound):
        truth.edit("nowhere", content="x", at=NOW)
    with pytest.raises(BadRequest, match="importance"):
        truth.edit("g", importance=1.5, at=NOW)
    assert truth.gem("g") == gem("g")


# --- events and vectors -------------------------------------------------------------------------------------------------


def test_events_are_numbered_and_come_in_pages(truth: Truth) -> None:
    keep(truth, *(gem(f"g{n}", f"c{n}") for n in range(5)))
    assert [e.seq for e in truth.events(2, limit=2)] == [3, 4]
    assert (truth.events(5), truth.last_event()) == ([], 5)


def test_vectors_are_kept_apart_by_their_embedder(truth: Truth) -> None:
    truth.import_gems([(gem("a", "1"), unit(1)), (gem("b", "2"), None)], SMALL, NOW)
    assert (truth.embedded_count(SMALL), truth.embedded_count(OTHER), truth.embedded_ids(SMALL, 9, 0)) == (1, 0, ["a"])
    assert ids(truth.unembedded(OTHER, 9)) == ["a", "b"]
    assert ids(truth.unembedded(OTHER, 9, stale=False)) == ["b"]
    truth.set_vectors({"a": unit(1, dimensions=4), "gone": unit(1, dimensions=4)}, OTHER)
    assert list(truth.vectors(["a", "b"], OTHER)) == ["a"]
    assert truth.embedders() == [SMALL, OTHER]
    assert [g.gem_id for g in truth.unembedded(OTHER, 9)] == ["b"]
    truth.set_vectors({"b": unit(2, dimensions=4)}, OTHER)
    assert truth.unembedded(OTHER, 9) == []
    keep(truth, gem("c", "3"))
    assert ids(truth.unembedded(OTHER, 9)) == ["c"]


# --- words --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "question"),
    [
        ("We deploy with Docker", "deployed docker"),
        ("Мы развернули сервер в Москве", "сервера"),
        ("我们用数据库保存记忆", "数据库"),
        ("the host is 10.0.0.7, file foo_bar.py", "foo_bar.py"),
        ("C++ and c# and AT&T's \"quotes\"", "c++"),
    ],
)
def test_gems_are_found_by_their_words_in_every_language(truth: Truth, content: str, question: str) -> None:
    keep(truth, gem("g", content), gem("h", "совсем другое 完全不同 unrelated"))
    assert found(truth, question) == ["g"]


def test_words_of_another_scope_are_not_even_counted(truth: Truth) -> None:
    guest = Scope("main", "guest")
    keep(truth, gem("mine", "the secret is mine"), gem("guests", "the secret is the guest's", scope=guest))
    assert (found(truth, "secret"), found(truth, "secret", guest), found(truth, "secret", Scope("x"))) == (["mine"], ["guests"], [])
    assert truth.frequencies(["secret", "never"]) == {"secret": 2, "never": 0}
    assert truth.frequencies(["secret"], guest) == {"secret": 1}
    assert truth.frequencies(["secret"], Scope("x")) == {"secret": 0}


def test_words_of_a_project_are_its_own(truth: Truth) -> None:
    red, blue = Scope("main", project="red"), Scope("main", project="blue")
    keep(truth, gem("r", "the port is 1", scope=red), gem("b", "the port is 2", scope=blue), gem("n", "the port is 3"))
    assert sorted(found(truth, "port", red)) == ["n", "r"]
    assert sorted(found(truth, "port")) == ["b", "n", "r"]


def test_superseded_gems_are_found_only_when_asked_for(truth: Truth) -> None:
    keep(truth, gem("old", "port 80"), gem("new", "port 81", supersedes="old"))
    assert found(truth, "port") == ["new"]
    assert sorted(found(truth, "port", superseded=True)) == ["new", "old"]


def test_the_gem_that_says_more_of_the_rare_words_comes_first(truth: Truth) -> None:
    keep(truth, *(gem(f"c{n}", f"server number {n}") for n in range(20)), gem("rare", "server zanzibar"))
    hits = truth.search_words(["server", "zanzibar"], MAIN, 3)
    assert (hits[0].gem_id, hits[0].matched) == ("rare", ("server", "zanzibar"))
    assert hits[0].bm25 > hits[1].bm25 > 0
    assert len(hits) == 3


def test_a_term_that_counts_more_brings_its_gem_up(truth: Truth) -> None:
    keep(truth, gem("a", "the piano is old"), gem("b", "the fence is old"))
    for heavy, best in (("piano", "a"), ("fenc", "b")):
        hits = truth.search_words(["piano", "fenc"], MAIN, 3, weights={heavy: 2.0})
        assert hits[0].gem_id == best
        assert hits[0].bm25 == pytest.approx(2 * hits[1].bm25)


@given(st.dictionaries(st.text(min_size=1), st.integers(1, 50)), st.integers(1, 100))
def test_the_rarest_terms_are_afforded_first(frequency: dict[str, int], budget: int) -> None:
    chosen = affordable(frequency, budget)
    assert bool(chosen) is bool(frequency)
    assert len(chosen) <= 1 or sum(frequency[t] for t in chosen) <= budget
    assert all(frequency[c] <= frequency[o] for c in chosen for o in frequency if o not in chosen)


@given(st.lists(st.text(max_size=20), max_size=5))
def test_no_question_breaks_the_search(tmp_path_factory: pytest.TempPathFactory, terms: list[str]) -> None:
    anew = Truth.open(tmp_path_factory.mktemp("words") / "memory.sqlite")
    keep(anew, gem("g", " ".join(terms) or "x"))
    anew.search_words(terms, MAIN, 5)
    anew.close()


# --- notes --------------------------------------------------------------------------------------------------------------


def test_counters_add_up_and_survive(truth: Truth) -> None:
    truth.count("a")
    truth.count("a", 2)
    assert truth.counters() == {"a": 3}
    truth.count("b")
    truth.close()
    again = Truth.open(truth.path)
    assert again.counters() == {"a": 3, "b": 1}
    again.close()


def test_notes_are_set_read_and_removed(truth: Truth) -> None:
    truth.set_meta("k", "v")
    assert (truth.meta("k"), truth.meta("other")) == ("v", "")
    truth.set_meta("k", "")
    assert truth.meta("k") == ""


def test_a_memory_has_a_name_of_its_own_for_ever(truth: Truth, tmp_path: Path) -> None:
    name = truth.store_id
    truth.close()
    again, other = Truth.open(truth.path), Truth.open(tmp_path / "other.sqlite")
    assert (again.store_id, again.store_id == other.store_id) == (name, False)
    again.close()
    other.close()


def test_a_batch_gives_its_id_to_its_gems_rows(truth: Truth) -> None:
    batch = Batch("b1", SESSION, (turn(1),), "t", NOW)
    truth.store(batch, [(gem("g", evidence=("main-agent:main:main-1",)), None)], embedder=None, at=NOW)
    assert [(b.batch_id, b.gems) for b in truth.batches(1)] == [("b1", 1)]
