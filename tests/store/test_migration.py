"""A memory file of version 1 opens, keeps all it holds, and its batches can be taken back."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from pathlib import Path

import numpy as np

from openclaw_neuralstream.model import EmbedderIdentity, Gem, Scope
from openclaw_neuralstream.store.schema import MIGRATIONS, seconds, statements, turn_to_bytes
from openclaw_neuralstream.store.truth import Truth
from openclaw_neuralstream.text.lexicon import terms
from openclaw_neuralstream.text.lines import gem_to_json
from tests.values import MAIN, NOW, gem, turn


def version_1(path: Path, gems: list[Gem]) -> None:
    """A file as the first version wrote it: a row per gem, evidence beside it, turns with their batch."""
    connection = sqlite3.connect(path)
    for statement in statements(MIGRATIONS[0]):
        connection.execute(statement)
    connection.execute("PRAGMA user_version = 1")
    connection.execute("INSERT INTO scopes(scope_id, agent, user, gems, words) VALUES (1, 'main', 'owner', ?, 1)", (len(gems),))
    for number in (1, 2):
        said = turn(number)
        connection.execute(
            "INSERT INTO turns(seq, turn_id, agent, key, epoch, number, at, state, batch_id) VALUES (?, ?, 'main', ?, 0, ?, ?, 2, ?)",
            (number, said.turn_id, said.session.key, number, seconds(said.at), f"b{number}"),
        )
        connection.execute("INSERT INTO bodies VALUES (?, ?)", (number, turn_to_bytes(said)))
        connection.execute(
            "INSERT INTO batches VALUES (?, 'main', ?, 'host-1', 0, 'batch', 'stored', 't', 0, 1, 0, '', 1, 1, ?)",
            (f"b{number}", said.session.key, seconds(NOW)),
        )
    for row, kept in enumerate(gems, 1):
        body = {k: v for k, v in gem_to_json(kept).items() if k != "importance_reason"}
        connection.execute(
            "INSERT INTO gems VALUES (?, ?, 1, '', ?, ?, ?, ?)",
            (row, kept.gem_id, seconds(kept.created_at), bool(kept.superseded_by), kept.batch, json.dumps(body)),
        )
        connection.execute("INSERT INTO words(rowid, tokens) VALUES (?, '1/x')", (row,))
        connection.executemany("INSERT INTO evidence VALUES (?, ?)", [(row, turn_id) for turn_id in kept.evidence])
    connection.commit()
    connection.close()


def test_words_that_an_older_version_indexed_as_they_are_written_are_found_by_the_word(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite"
    truth = Truth.open(path)
    vector = np.ones(4, np.float32)
    truth.import_gems(
        [
            (gem("met", "I met Peter"), vector),
            (gem("mice", "Нашёл мышей", scope=Scope("other")), vector),
            (gem("file", "It lies in src/met"), vector),
        ],
        EmbedderIdentity("small", 4),
        NOW,
    )
    truth.close()
    with sqlite3.connect(path) as connection:
        for form, base in (("met", "meet"), ("нашел", "найт")):
            connection.execute("UPDATE words SET tokens = replace(tokens, ?, ?)", (f"/{base}", f"/{form}"))
        assert all("/met" in tokens or "/нашел" in tokens for (tokens,) in connection.execute("SELECT tokens FROM words"))
        connection.execute("PRAGMA user_version = 3")
    connection.close()
    truth = Truth.open(path)
    assert {hit.gem_id for hit in truth.search_words(terms("meet"), MAIN, 9)} == {"met", "file"}
    assert [hit.gem_id for hit in truth.search_words(["src/met"], MAIN, 9)] == ["file"]
    assert [hit.gem_id for hit in truth.search_words(terms("найти"), Scope("other"), 9)] == ["mice"]
    assert truth.search_words(["met"], MAIN, 9) == []
    truth.close()


def test_a_file_of_version_1_keeps_its_gems_and_learns_to_take_back(tmp_path: Path) -> None:
    one, two = turn(1).turn_id, turn(2).turn_id
    gems = [
        gem("old", "port 1", evidence=(one,), batch="b1", superseded_by="new"),
        gem("new", "port 2", evidence=(two,), batch="b2", supersedes="old"),
        gem("both", "said twice", evidence=(one, two), batch="b1"),
        gem("mine", "edited", evidence=(two,), batch="b2", edited=True, importance=0.9),
        gem("hand", "by hand"),
    ]
    path = tmp_path / "memory.sqlite"
    version_1(path, gems)
    truth = Truth.open(path)
    assert {g.gem_id: g for g in truth.gems(superseded=True)} == {g.gem_id: g for g in gems}
    undone = truth.undo("b2", NOW)
    assert undone
    assert [g.gem_id for g in undone.removed] == ["new"]
    assert [g.gem_id for g in undone.kept] == ["mine"]
    left = {g.gem_id: g for g in truth.gems()}
    assert set(left) == {"old", "both", "mine", "hand"}
    assert left["both"].evidence == (one,)
    assert replace(left["hand"]) == gems[4]
    truth.close()
    again = Truth.open(path)
    assert {g.gem_id for g in again.gems()} == set(left)
    again.close()
