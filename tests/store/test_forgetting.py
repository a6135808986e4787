"""Forgotten means gone: from every answer, from the bytes of every file, and it does not come back by itself."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from openclaw_neuralstream.model import Batch, Trigger
from openclaw_neuralstream.store.flat_index import FlatIndex
from openclaw_neuralstream.store.settling import NEW
from openclaw_neuralstream.store.truth import Truth
from openclaw_neuralstream.text import lexicon
from tests.erasing import forget
from tests.values import MAIN, NOW, SESSION, SMALL, entry, gem, turn, unit

LEASE = timedelta(seconds=60)


def bytes_of(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file())


def extract(truth: Truth, text: str, **fields: object) -> Batch:
    """One turn that says this, and a gem that says it too."""
    truth.append(turn(1, text, turn_id=str(fields.get("name", "t1"))))
    batch = truth.claim(SESSION, limit=5, lease=LEASE, now=NOW, trigger=Trigger.BATCH)
    assert batch
    evidence = tuple(t.turn_id for t in batch.turns)
    made = gem("g", text, evidence=evidence, topics=(text.rsplit(maxsplit=1)[-1],))
    assert truth.store(batch, [(made, unit(1, 2, 3))], embedder=SMALL, at=NOW) is not None
    return batch


@pytest.mark.parametrize("secret", ["zanzibarine", "прошлогодний", "桂林山水甲天下"])
def test_nothing_of_a_forgotten_gem_is_left_in_the_bytes(truth: Truth, path: Path, secret: str) -> None:
    extract(truth, f"my word is {secret}")
    terms = [term.encode() for term in lexicon.terms(secret)]
    for number in range(50):
        truth.import_gems([(gem(f"other-{number}", f"something else, number {number}"), unit(0, 1))], SMALL, NOW)
    assert secret.encode() in bytes_of(path.parent)
    assert forget(truth, ["g"]) == 1
    left = bytes_of(path.parent)
    assert [trace for trace in (secret.encode(), *terms, unit(1, 2, 3).tobytes()) if trace in left] == []
    truth.close()
    assert secret.encode() not in bytes_of(path.parent)


def test_a_long_turn_leaves_no_bytes_either(truth: Truth, path: Path) -> None:
    extract(truth, "begin " + "zanzibarine " * 20_000)
    forget(truth, ["g"])
    assert b"zanzibarine" not in bytes_of(path.parent)


def test_a_forgotten_gem_is_in_no_answer(truth: Truth) -> None:
    extract(truth, "my word is zanzibarine")
    forget(truth, ["g"])
    assert truth.gem("g") is None
    assert truth.gems() == []
    assert truth.search_words(["zanzibarin"], MAIN, 5) == []
    assert truth.frequencies(["zanzibarin"]) == {"zanzibarin": 0}
    assert (truth.vectors(["g"], SMALL), truth.embedded_count(SMALL), truth.gem_count(MAIN)) == ({}, 0, 0)
    assert truth.turns(["t1"]) == []
    assert [e.action for e in truth.events(0)] == ["stored", "forgotten"]


def test_forgetting_what_is_not_there_changes_nothing(truth: Truth) -> None:
    assert forget(truth, ["nowhere"]) == 0
    assert truth.last_event() == 0


def test_a_turn_that_another_gem_stands_on_stays(truth: Truth) -> None:
    extract(truth, "my word is zanzibarine")
    truth.import_gems([(gem("second", "also from there", evidence=("t1",)), None)], None, NOW)
    forget(truth, ["g"])
    assert [t.turn_id for t in truth.turns(["t1"])] == ["t1"]
    forget(truth, ["second"])
    assert truth.turns(["t1"]) == []


def test_a_turn_whose_text_was_forgotten_is_not_accepted_again(truth: Truth) -> None:
    batch = extract(truth, "my word is zanzibarine")
    forget(truth, ["g"])
    assert truth.append(batch.turns[0]) is False
    assert truth.extracted(["t1"]) == {"t1"}


@pytest.mark.parametrize("said", ["My word is zanzibarine", "my  word is ZANZIBARINE.", "My word is zanzibarine!"])
def test_what_was_forgotten_does_not_come_back(truth: Truth, said: str) -> None:
    truth.import_gems([(gem("g", "My word is zanzibarine"), None)], None, NOW)
    forget(truth, ["g"])
    again = gem("another-id", said)
    assert truth.store(Batch("b", SESSION, (turn(5),), "t", NOW), [(again, None)], embedder=None, at=NOW) == []
    assert truth.import_gems([(again, None)], None, NOW) == 0


def test_what_was_forgotten_after_an_edit_does_not_come_back_as_it_was(truth: Truth) -> None:
    truth.import_gems([(gem("g", "before"), None)], None, NOW)
    truth.edit("g", content="after", at=NOW)
    forget(truth, ["g"])
    assert truth.import_gems([(gem("g", "before"), None), (gem("h", "after"), None)], None, NOW) == 0


def test_another_scope_may_still_say_it(truth: Truth) -> None:
    truth.import_gems([(gem("g", "said"), None)], None, NOW)
    forget(truth, ["g"])
    assert truth.import_gems([(gem("h", "said", scope=replace(MAIN, user="guest")), None)], None, NOW) == 1


def test_a_person_who_asks_anew_gets_it_stored(truth: Truth) -> None:
    truth.import_gems([(gem("g", "said"), None)], None, NOW)
    forget(truth, ["g"])
    assert truth.import_gems([(gem("g", "said"), None)], None, NOW) == 0
    truth.remember(gem("g", "said"), None, None, NOW, judge=lambda *_: NEW)
    assert truth.gem("g") == gem("g", "said")


def test_tombstones_hold_no_words(truth: Truth, path: Path) -> None:
    truth.import_gems([(gem("g", "zanzibarine"), None)], None, NOW)
    forget(truth, ["g"])
    truth.close()
    assert b"zanzibarine" not in bytes_of(path.parent)


def test_a_forgetting_that_was_interrupted_is_finished_at_the_next_start(
    truth: Truth, path: Path
) -> None:
    extract(truth, "my word is zanzibarine")
    for number in range(20):
        truth.import_gems([(gem(f"other-{number}", f"else {number}"), None)], None, NOW)
    truth.erasing.erase(["g"], [], {}, NOW)
    truth.close()
    assert b"zanzibarin" in bytes_of(path.parent)
    Truth.open(path).close()
    assert b"zanzibarin" not in bytes_of(path.parent)


def test_forgetting_goes_on_while_others_read_and_write(truth: Truth) -> None:
    truth.import_gems([(gem(f"g{n}", f"content {n}"), None) for n in range(40)], None, NOW)
    done = threading.Event()
    errors: list[BaseException] = []

    def others() -> None:
        number = 100
        try:
            while not done.is_set():
                number += 1
                truth.append(turn(number))
                truth.gems(limit=5)
        except BaseException as error:  # noqa: BLE001 - reported by the test below
            errors.append(error)

    threads = [threading.Thread(target=others) for _ in range(2)]
    for thread in threads:
        thread.start()
    for number in range(40):
        assert forget(truth, [f"g{number}"]) == 1
    done.set()
    for thread in threads:
        thread.join(30)
    assert (errors, truth.gem_count()) == ([], 0)


def test_the_flat_index_forgets_the_bytes_too(tmp_path: Path) -> None:
    index = FlatIndex(tmp_path / "index", SMALL)
    index.upsert([entry("name-of-the-gem", unit(1, 2, 3)), entry("other", unit(1))])
    index.delete(["name-of-the-gem"])
    left = bytes_of(tmp_path)
    assert (unit(1, 2, 3).tobytes() in left, b"name-of-the-gem" in left) == (False, False)
    index.close()
