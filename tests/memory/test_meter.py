"""The junk meter against a store in which faults were planted: what it finds, what it misses, what it invents."""

from __future__ import annotations

from dataclasses import replace

import pytest

from openclaw_neuralstream.memory.audit import SORTS, Audit, audit, wilson
from openclaw_neuralstream.model import Turn
from tests.memory.planted import NOW, SECRET, STALE_IN_WORDS, Planted, store

STORE = store()
TURNS = {turn.turn_id: turn for one in STORE for turn in one.turns}


def turns_of(ids: tuple[str, ...]) -> list[Turn]:
    return [TURNS[one] for one in ids if one in TURNS]


def metered(planted: list[Planted] = STORE, **how: int) -> Audit:
    return audit([one.gem for one in planted], turns_of, now=NOW, **how)


def found_and_planted(sort: str) -> tuple[set[str], set[str]]:
    found = {finding.gem_id for finding in metered().findings if finding.sort == sort}
    return found, {one.gem.gem_id for one in STORE if sort in one.sorts}


def said(ids: set[str]) -> list[str]:
    return [one.gem.content for one in STORE if one.gem.gem_id in ids]


@pytest.mark.parametrize("sort", list(SORTS))
def test_each_sort_is_found_where_it_was_planted(sort: str):
    found, planted = found_and_planted(sort)
    assert len(found & planted) / len(planted) >= 0.8, said(planted - found)


@pytest.mark.parametrize("sort", list(SORTS))
def test_what_is_good_is_left_in_peace(sort: str):
    found, planted = found_and_planted(sort)
    assert len(found & planted) / max(1, len(found)) >= 0.9, said(found - planted)


@pytest.mark.parametrize(("older", "newer"), STALE_IN_WORDS)
def test_what_is_overtaken_without_a_number_or_a_day_is_stale(older: str, newer: str):
    stale = {finding.gem_id for finding in metered().findings if finding.sort == "stale"}
    by_content = {one.gem.content: one.gem.gem_id for one in STORE}
    assert by_content[older] in stale
    assert by_content[newer] not in stale


def test_a_store_without_faults_is_clean():
    clean = [one for one in STORE if not one.sorts][:50]
    assert [f"{f.sort} {f.why}: {f.quote}" for f in metered(clean).findings] == []
    assert metered(clean).rates["any"].count == 0


@pytest.mark.parametrize(
    ("yearly", "once"),
    [
        ("Anna's birthday is 3 May.", "Anna's birthday party is on 3 May."),
        ("День рождения Анны 3 мая.", "Приём у Анны 3 мая."),
        ("安娜的生日是5月3日。", "安娜的生日会是5月3日。"),
    ],
)
def test_a_birthday_needs_no_year_and_what_happens_once_does(yearly: str, once: str):
    made = [replace(one, gem=replace(one.gem, content=said)) for one, said in zip(STORE, (yearly, once), strict=False)]
    whys = {finding.quote: finding.why for finding in metered(made).findings if finding.sort == "junk"}
    assert whys == {once: "a day without its date"}


def test_an_empty_store_has_no_rates_to_speak_of():
    empty = metered([])
    assert (empty.population, empty.looked_at, empty.findings) == (0, 0, ())
    assert empty.rates["junk"].share == 0


def test_the_same_seed_looks_at_the_same_gems_and_another_at_others():
    once, again, other = metered(sample=40, seed=7), metered(sample=40, seed=7), metered(sample=40, seed=8)
    assert once == again != other
    assert once.looked_at == 40
    assert once.population == len(STORE)


def test_the_interval_of_a_sample_holds_the_share_of_the_whole():
    whole = metered().rates["any"].share
    held = sum(metered(sample=60, seed=seed).rates["any"].low <= whole <= metered(sample=60, seed=seed).rates["any"].high for seed in range(20))
    assert held >= 17
    assert metered().rates["any"].low == metered().rates["any"].high == whole


def test_an_interval_grows_narrower_with_the_sample():
    assert wilson(0, 0) == (0, 1)
    few, many, nearly_all = wilson(5, 10), wilson(50, 100), wilson(50, 100, 105)
    assert few[0] < many[0] < nearly_all[0] < 0.5 < nearly_all[1] < many[1] < few[1]


def test_superseded_gems_are_not_looked_at_and_gems_kept_by_hand_are_not_called_junk():
    junk = next(one for one in STORE if "junk" in one.sorts)
    assert metered([replace(junk, gem=replace(junk.gem, superseded_by="later"))]).population == 0
    assert metered([replace(junk, gem=replace(junk.gem, edited=True))]).findings == ()


def test_a_gem_whose_turns_are_gone_is_unverifiable_and_not_unsupported():
    lost = [replace(one, gem=replace(one.gem, evidence=("gone",))) for one in STORE if "unsupported" in one.sorts]
    found = metered(lost)
    assert found.unverifiable == len(lost)
    assert found.rates["unsupported"].count == 0


def test_every_finding_names_what_mends_it_and_shows_no_secret():
    findings = metered().findings
    assert all(finding.fix.startswith("neuralstream ") and finding.why for finding in findings)
    assert SECRET not in "".join(finding.quote for finding in findings)
    assert {finding.fix for finding in findings if finding.sort == "secret"} == {"neuralstream admin scrub"}


def test_a_batch_that_went_wrong_as_a_whole_is_undone_as_a_whole():
    bad = [replace(one, gem=replace(one.gem, batch="b7")) for one in STORE if "junk" in one.sorts][:4]
    assert {finding.fix for finding in metered(bad).findings} == {"neuralstream admin batches undo b7"}
    alone = replace(bad[0], gem=replace(bad[0].gem, batch="b8"))
    assert [finding.fix for finding in metered([alone]).findings] == [f"neuralstream gems forget {alone.gem.gem_id[:8]}"]
