"""The graph of tags: no change makes a cycle, every spelling has one name, a merge loses nothing."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.store.tags import TagGraph, key_of, mentions, tidy

NAMES = ["a", "b", "c", "d", "a/b", "b/c", "Trading", "trade", "期权", "отпуск"]
CHANGES = ["alias", "unalias", "merge", "rename", "put_under", "take_from", "without"]
changes = st.tuples(st.sampled_from(CHANGES), st.sampled_from(NAMES), st.sampled_from(NAMES))


def changed(graph: TagGraph, change: tuple[str, str, str]) -> TagGraph:
    verb, first, second = change
    with suppress(BadRequest):
        act = getattr(graph, verb)
        made: TagGraph = act(first) if verb in ("unalias", "without") else act(first, second)
        return made
    return graph


def ancestors(graph: TagGraph, key: str) -> set[str]:
    found: set[str] = set()
    waiting = [key]
    while waiting:
        for parent in graph.parents(waiting.pop()) - found:
            found.add(parent)
            waiting.append(parent)
    return found


@given(st.lists(changes, max_size=25))
def test_no_sequence_of_changes_makes_a_cycle(made: list[tuple[str, str, str]]) -> None:
    graph = TagGraph()
    for change in made:
        graph = changed(graph, change)
        for key in {*graph.homes, *graph.above, *map(key_of, NAMES)}:
            assert graph.home(key) not in ancestors(graph, graph.home(key))


@given(st.lists(changes, max_size=25), st.sampled_from(NAMES))
def test_the_canonical_name_of_a_canonical_name_is_itself(made: list[tuple[str, str, str]], name: str) -> None:
    graph = TagGraph()
    for change in made:
        graph = changed(graph, change)
    canonical = graph.canonical(name)
    assert graph.canonical(canonical) == canonical
    assert graph.key(canonical) == graph.key(name)


@given(st.text(max_size=40))
@settings(max_examples=300)
def test_a_tidied_name_is_tidy_and_has_the_same_key(name: str) -> None:
    assert tidy(tidy(name)) == tidy(name)
    assert key_of(tidy(name)) == key_of(name)


@given(st.lists(changes, max_size=12), st.sampled_from(NAMES), st.sampled_from(NAMES))
def test_a_merge_keeps_every_spelling_and_all_that_stood_below(
    made: list[tuple[str, str, str]], name: str, into: str
) -> None:
    graph = TagGraph()
    for change in made:
        graph = changed(graph, change)
    with suppress(BadRequest):
        merged = graph.merge(name, into)
        home = merged.key(into)
        assert merged.key(name) == home
        assert graph.spellings(graph.key(name)) | graph.spellings(graph.key(into)) == merged.spellings(home)
        below = graph.reach(graph.key(name)).keys() | graph.reach(graph.key(into)).keys()
        assert {merged.home(key) for key in below} <= merged.reach(home).keys()


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Trading Options", "trading_option"),
        ("#maxrisk", "MaxRisk"),
        ("max-risk", "MaxRisk"),
        ("party", "Parties"),
        ("deploys", "deployed"),
        ("Отпуска", "отпуск"),
        ("Node.js", "node js"),
        ("résumé", "resumes"),
        ("期权", "期权"),
    ],
)
def test_case_hyphens_and_inflection_make_no_other_tag(left: str, right: str) -> None:
    assert key_of(left) == key_of(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [("organ", "organization"), ("c", "c++"), ("期权", "期货"), ("general", "generics"), ("news", "new")],
)
def test_other_words_are_other_tags(left: str, right: str) -> None:
    assert key_of(left) != key_of(right)


def test_a_cycle_is_refused_by_the_path_that_would_close() -> None:
    graph = TagGraph().put_under("options", "trading").put_under("spreads", "options")
    with pytest.raises(BadRequest, match="trading → spreads → options → trading"):
        graph.put_under("trading", "spreads")
    with pytest.raises(BadRequest, match="spreads → options → spreads"):
        graph.merge("trading", "spreads")
    with pytest.raises(BadRequest, match="cannot stand above itself"):
        graph.put_under("trading", "trading/options").put_under("trading", "trading")


def test_a_tag_may_have_many_parents_and_reaches_each_record_by_the_shortest_way() -> None:
    graph = TagGraph().put_under("spreads", "options").put_under("options", "trading").put_under("spreads", "income")
    graph = graph.put_under("options/weekly", "income")
    assert graph.reach(graph.key("trading"), [key_of("spreads/debit")]) == {
        key_of("trading"): 0,
        key_of("options"): 1,
        key_of("spreads"): 2,
        key_of("options/weekly"): 2,
        key_of("spreads/debit"): 3,
    }
    assert graph.reach(graph.key("income"))[key_of("spreads")] == 1


def test_translations_are_aliases_in_every_form_of_the_word() -> None:
    graph = TagGraph().alias("опционы", "options").alias("期权", "options")
    assert {graph.canonical(name) for name in ("Option", "опционами", "#期权", "options")} == {"options"}


def test_a_name_of_its_own_stays_when_a_tag_is_renamed() -> None:
    graph = TagGraph().put_under("k8", "infra").alias("kube", "k8").rename("k8", "kubernetes")
    assert [tag for _, tag in graph.tags()][-1].name == "kubernetes"
    assert {graph.canonical(name) for name in ("k8", "kube", "Kubernetes")} == {"kubernetes"}
    assert graph.parents(graph.key("k8")) == {key_of("infra")}
    with pytest.raises(BadRequest, match="there is a tag 'infra' already"):
        graph.rename("kubernetes", "Infra")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("How do we trade options with MaxRisk?", {"trade", "option", "maxrisk", "tradeoption"}),
        ("我在交易期权", {"交易", "期权"}),
        ("Когда отпуск у Пети?", {"отпуск", "пет"}),
        ("用docker部署", {"docker", "部署"}),
    ],
)
def test_a_text_mentions_names_in_whatever_form(text: str, said: set[str]) -> None:
    assert said <= mentions(text).keys()


def test_stop_words_and_single_letters_are_no_names() -> None:
    assert not {"the", "a", "и", "的"} & mentions("the cat, a dog; и кот 的").keys()
