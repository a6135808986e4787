"""The index: answers that depend on the files alone, however they came in; lost, damaged, shared between processes."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openclaw_neuralstream.model import Document, Fact, Known, Period, Wanted
from openclaw_neuralstream.text.lexicon import content_terms, terms
from openclaw_neuralstream.workspace import rows
from openclaw_neuralstream.workspace.index import NoteIndex, index_file
from openclaw_neuralstream.workspace.parse import parse

DATA = Path(__file__).parent / "data"
KNOWN = Known("digest", 1, 1)
DOCUMENTS = [parse(path.relative_to(DATA).as_posix(), path.read_bytes()) for path in sorted(DATA.rglob("*.md"))]


def fill(index: NoteIndex, documents: list[Document]) -> None:
    index.replace(documents, {document.path: KNOWN for document in documents})


@pytest.fixture
def index(tmp_path: Path) -> Iterator[NoteIndex]:
    made = NoteIndex.of(tmp_path)
    fill(made, DOCUMENTS)
    yield made
    made.close()


def found(index: NoteIndex, text: str, wanted: Wanted = Wanted(), limit: int = 10) -> list[str]:  # noqa: B008
    hits = index.find_words(content_terms(text), wanted, limit=limit)
    entries = index.fetch([hit.id for hit in hits])
    return [entries[hit.id].citation for hit in hits]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Baileys crash fixed", "memory/2025-11-27.md#L24"),
        ("перенёс сервера на диск", "memory/2025-05-14.md#L7"),
        ("绿茶", "memory/2025-11-28.md#L7"),
        ("茶", "memory/2025-11-28.md#L7"),
        ("quokka", "memory/broken.md#L5-L7"),
        ("equity 3,884.55", "memory/projects/maxrisk.md#L5-L7"),
    ],
)
def test_words_are_found_in_every_language(index: NoteIndex, text: str, first: str) -> None:
    assert found(index, text)[0] == first


def test_entities_are_one_by_their_page(index: NoteIndex) -> None:
    (peter,) = [entity for entity in index.entities() if entity.page]
    assert (peter.slug, peter.name, peter.page) == ("peter", "Peter", "bank/entities/Peter.md")
    assert {"Pete", "Пётр", "彼得"} <= set(peter.aliases)
    assert {e.slug for e in index.named_in("что предпочитает Пётр?")} == {"peter"}
    assert {e.slug for e in index.named_in("彼得喜欢什么")} == {"peter"}
    assert index.named_in("what is the weather") == []


def test_an_alias_that_is_written_more_often_is_not_the_name(tmp_path: Path) -> None:
    index = NoteIndex.of(tmp_path)
    told = "".join(f"- W @Bobby: plays chess, game {n}.\n" for n in range(5))
    fill(index, [
        parse("bank/entities/Bob.md", b"---\naliases: [Bobby]\n---\n"),
        parse("bank/entities/Other.md", b"---\naliases: [Bobby]\n---\n# Other\n"),
        parse("memory/2026-01-05.md", f"## Retain\n{told}".encode()),
    ])  # fmt: skip
    assert "Bob" in [entity.name for entity in index.entities()]
    index.remove(["bank/entities/Other.md"])
    (bob,) = index.entities()
    assert (bob.slug, bob.name, bob.page) == ("bob", "Bob", "bank/entities/Bob.md")
    index.close()


def test_facts_are_asked_by_any_spelling(index: NoteIndex) -> None:
    told = [fact.text for fact in index.facts(Wanted(entities=("Pete",), kinds=("opinion",)))]
    assert told == [
        "Likes oat milk in his coffee.",
        "Предпочитает короткие ответы без вступлений.",
        "Prefers concise replies (<1500 characters) on WhatsApp; long content goes into files.",
    ]


def test_a_period_meets_the_range_in_the_text(index: NoteIndex) -> None:
    wanted = Wanted(period=Period(date(2025, 12, 1), date(2025, 12, 1)))
    assert {fact.citation for fact in index.facts(wanted)} == {"memory/2025-11-27.md#L23", "memory/2025-11-28.md#L6"}


def test_a_later_fact_replaces_an_earlier_one_and_as_of_brings_it_back(tmp_path: Path) -> None:
    index = NoteIndex.of(tmp_path)
    fill(index, [
        parse("memory/2025-03-01.md", b"## Retain\n- W @Peter: Lives in Berlin.\n"),
        parse("memory/2025-11-15.md", b"## Retain\n- W @Peter: Lives in Vienna.\n- W @Anna: Lives in Berlin.\n"),
    ])  # fmt: skip

    def homes(wanted: Wanted) -> list[str]:
        return [fact.text for fact in index.facts(wanted) if "Peter" in fact.entities]

    def as_of(year: int, month: int) -> Wanted:
        return Wanted(as_of=Period(date(year, month, 1), date(year, month, 28)))

    assert homes(Wanted()) == ["Lives in Vienna."]
    assert homes(as_of(2025, 6)) == ["Lives in Berlin."]
    assert homes(as_of(2025, 11)) == ["Lives in Vienna."]
    assert homes(as_of(2025, 2)) == []
    assert homes(Wanted(superseded=True)) == ["Lives in Berlin.", "Lives in Vienna."]
    index.remove(["memory/2025-11-15.md"])
    assert homes(Wanted()) == ["Lives in Berlin."]


def test_an_opinion_with_a_new_confidence_is_the_same_opinion(tmp_path: Path) -> None:
    index = NoteIndex.of(tmp_path)
    fill(index, [
        parse("memory/2025-03-01.md", b"## Retain\n- O(c=0.6) @Peter: Prefers tea.\n"),
        parse("memory/2025-11-15.md", b"## Retain\n- O(c=0.9) @Peter: Prefers tea.\n"),
    ])  # fmt: skip
    assert [fact.confidence for fact in index.facts(Wanted())] == [0.9]
    then = Wanted(as_of=Period(date(2025, 5, 1), date(2025, 5, 31)))
    assert [fact.confidence for fact in index.facts(then)] == [0.6]


def test_tags_are_counted_by_one_name(index: NoteIndex, tmp_path: Path) -> None:
    assert index.tags()["trading"] == 2
    fill(index, [parse("memory/t.md", b"# T\n\n#Option here\n\n# U\n\n#options/spreads there\n")])
    tags = index.tags()
    assert "option" not in {name.lower() for name in tags} - {"option", "options"}
    assert sum(count for name, count in tags.items() if name.lower() in {"option", "options"}) == 4


def test_problems_name_file_and_line(index: NoteIndex) -> None:
    assert [(problem.path, problem.line) for problem in index.problems()] == [("memory/broken.md", 3)]


def test_what_is_touched_keeps_its_content(index: NoteIndex) -> None:
    index.touch({"MEMORY.md": Known("digest", 9, 9)})
    assert index.known()["MEMORY.md"] == Known("digest", 9, 9)
    assert found(index, "backups before upgrades")


# --- the same answers ---------------------------------------------------------------------------------------------------


def answers(index: NoteIndex) -> tuple[object, ...]:
    """Everything that can be asked, as text."""
    asked = ["Peter Berlin tea", "сервер диск", "绿茶 会议", "day", "lives"]
    then = Wanted(as_of=Period(date(2025, 5, 1), date(2025, 6, 30)))
    return (
        [
            [repr(hit) for hit in index.find_words(terms(text), wanted, limit=5)]
            for text in asked
            for wanted in (Wanted(), then)
        ],
        [repr(fact) for fact in index.facts(Wanted(superseded=True))],
        [repr(fact) for fact in index.facts(Wanted())],
        index.newest(Wanted(), limit=50),
        repr(index.entities()),
        repr(index.tags()),
        repr(index.problems()),
        repr(index.count()),
        [repr(entry) for entry in index.fetch(index.newest(Wanted(), limit=50)).values()],
    )


PATHS = ["memory/2025-03-01.md", "memory/2025-06-01.md", "bank/world.md", "bank/entities/Peter.md", "memory/tea.md"]
BODIES = [
    "## Retain\n- W @Peter: Lives in Berlin.\n- O(c=0.5) @Pete: Prefers tea.\n",
    "## Retain\n- W @Peter: Lives in Vienna.\n- O(c=0.9) @Peter: Prefers tea.\n- B: day one\n",
    "---\naliases: [Pete]\ntags: [tea, people]\n---\n# Peter\n\nA day in Berlin with tea. #tea\n",
    "# День\n\nсервер на диск\n\n- W @Пётр: Живёт в Казани.\n",
    "# 日\n\n喝绿茶，开会议。\n",
    "---\ntags: [broken\n---\nday day day\n",
    "",
]
STEPS = st.lists(
    st.tuples(st.sampled_from(PATHS), st.sampled_from([*range(len(BODIES)), None])), min_size=1, max_size=12
)


@given(STEPS)
@settings(max_examples=25, deadline=None)
def test_any_order_of_changes_ends_in_the_same_index_as_a_fresh_build(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int | None]]
) -> None:
    grown, fresh = (NoteIndex.of(tmp_path_factory.mktemp(name)) for name in ("grown", "fresh"))
    last: dict[str, int] = {}
    for path, body in steps:
        if body is None:
            grown.remove([path])
            last.pop(path, None)
        else:
            fill(grown, [parse(path, BODIES[body].encode())])
            last[path] = body
    fill(fresh, [parse(path, BODIES[body].encode()) for path, body in sorted(last.items(), reverse=True)])
    assert answers(grown) == answers(fresh)
    grown.close()
    fresh.close()


def test_a_deleted_index_comes_back_with_the_same_answers(index: NoteIndex) -> None:
    before, epoch = answers(index), index.epoch
    index.file.unlink()
    assert index.known() == {}
    assert index.epoch != epoch
    fill(index, list(reversed(DOCUMENTS)))
    assert answers(index) == before


def test_a_deleted_folder_comes_back_too(index: NoteIndex) -> None:
    import shutil

    shutil.rmtree(index.file.parent)
    assert index.stored() == 0
    assert (index.file.parent / ".gitignore").read_text() == "*\n"


def test_a_damaged_index_is_made_anew(tmp_path: Path) -> None:
    index = NoteIndex.of(tmp_path)
    fill(index, DOCUMENTS)
    index.close()
    file = index_file(tmp_path)
    file.write_bytes(b"not a database at all" * 400)
    again = NoteIndex.open(file)
    assert again.known() == {}
    fill(again, DOCUMENTS)
    assert found(again, "quokka")
    again.close()


def test_an_index_of_an_older_program_is_made_anew_and_a_newer_one_left_alone(tmp_path: Path) -> None:
    import sqlite3

    from openclaw_neuralstream.errors import StateNewer

    index = NoteIndex.of(tmp_path)
    fill(index, DOCUMENTS)
    index.close()
    for version, outcome in ((1, "empty"), (10**8, "refused")):
        connection = sqlite3.connect(index.file)
        connection.execute(f"PRAGMA user_version = {version}")
        connection.close()
        if outcome == "empty":
            again = NoteIndex.open(index.file)
            assert again.known() == {}
            again.close()
        else:
            with pytest.raises(StateNewer):
                NoteIndex.open(index.file)


def test_only_its_owner_reads_the_index(index: NoteIndex) -> None:
    assert index.file.stat().st_mode & 0o077 == 0


def test_several_processes_open_a_cold_index_at_once_and_write_to_it(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from openclaw_neuralstream.workspace.index import NoteIndex;"
        "from openclaw_neuralstream.workspace.parse import parse; from openclaw_neuralstream.model import Known\n"
        "index = NoteIndex.of(Path(sys.argv[1]))\n"
        "for n in range(20):\n"
        "    document = parse(f'memory/{sys.argv[2]}-{n}.md', b'# T\\n\\nwords of ' + sys.argv[2].encode())\n"
        "    index.replace([document], {document.path: Known('d', 1, 1)}); index.stored()\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", script, str(tmp_path), f"p{n}"]) for n in range(4)]
    assert [process.wait(timeout=60) for process in running] == [0, 0, 0, 0]
    index = NoteIndex.of(tmp_path)
    assert (len(index.known()), index.stored()) == (80, 80)
    index.close()


def test_vectors_are_compared_and_gone_with_their_file(index: NoteIndex) -> None:
    import numpy as np

    texts = index.unembedded("e/2", limit=100)
    index.embed(
        "e/2", {id_: np.array([1.0, 0.0] if "tea" in text else [0.0, 1.0], np.float32) for id_, text in texts.items()}
    )
    assert index.embedded("e/2") == index.stored() == len(texts)
    near = index.near(np.array([0.0, 1.0], np.float32), "e/2", Wanted(kinds=("opinion",)), among=(), limit=3)
    assert set(near.values()) == {1.0}
    assert all(isinstance(entry, Fact) for entry in index.fetch(list(near)).values())
    index.remove([document.path for document in DOCUMENTS])
    assert index.embedded("e/2") == 0


def test_what_a_fact_replaces_is_found_in_as_many_steps_however_many_pages_there_are(tmp_path: Path) -> None:
    def steps(pages: int) -> int:
        made = NoteIndex.of(tmp_path / str(pages))
        fill(made, [parse(f"bank/entities/item-{n}.md", PAGE.format(n=n).encode()) for n in range(pages)])
        made.close()
        connection, counted = sqlite3.connect(made.file), 0

        def count() -> int:
            nonlocal counted
            counted += 1
            return 0

        connection.set_progress_handler(count, 10)
        attributes = [a for (a,) in connection.execute("SELECT DISTINCT attribute FROM entries WHERE attribute != '' LIMIT 20")]
        counted = 0
        rows.resolve(connection, attributes)
        connection.close()
        assert len(attributes) == 20
        return counted

    few, many = steps(60), steps(960)
    assert many < 2 * few


PAGE = """---
title: Item {n}
aliases: [thing {n}]
---
- W @item-{n} status: new since the day {n} (2026-03-01)
- W @thing-{n} status: sold (2026-04-01)
"""
