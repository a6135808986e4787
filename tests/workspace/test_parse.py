"""Files to notes and facts: any bytes, every line number right, tables and code whole."""

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from benchmarks.notes import corpus
from openclaw_neuralstream.model import Document, Fact, Note
from openclaw_neuralstream.workspace.parse import BREAK, Shape, blocks, parse

DATA = Path(__file__).parent / "data"
FILES = sorted(path.relative_to(DATA).as_posix() for path in DATA.rglob("*.md"))


def document(path: str) -> Document:
    return parse(path, (DATA / path).read_bytes())


def lines_of(path: str) -> list[str]:
    return BREAK.split((DATA / path).read_bytes().decode("utf-8-sig"))


def entries(found: Document) -> list[Note | Fact]:
    return [*found.notes, *found.facts]


@pytest.mark.parametrize("path", FILES)
def test_every_citation_leads_to_the_words(path: str) -> None:
    lines = lines_of(path)
    for entry in entries(document(path)):
        cited = "\n".join(lines[entry.line - 1 : entry.end_line])
        if isinstance(entry, Note):
            assert entry.text in cited
        else:
            assert entry.text.split()[0] in cited
            assert entry.text.split()[-1] in cited


def test_a_daily_log_gives_its_three_facts() -> None:
    found = document("memory/2025-11-27.md")
    told = [(f.kind.value, f.entities, f.confidence, f.citation) for f in found.facts]
    assert told == [
        ("world", ("Peter",), None, "memory/2025-11-27.md#L23"),
        ("experience", ("warelay",), None, "memory/2025-11-27.md#L24"),
        ("opinion", ("Peter",), 0.95, "memory/2025-11-27.md#L25"),
    ]
    assert (found.facts[0].valid_from, found.facts[0].valid_to) == (date(2025, 11, 27), date(2025, 12, 1))


def test_crlf_bom_emoji_and_cjk_move_no_line() -> None:
    assert [f.line for f in document("memory/2025-05-14.md").facts] == [6, 7, 8]
    assert [f.line for f in document("memory/2025-11-28.md").facts] == [6, 7, 8]


def test_lone_cr_and_form_feeds_are_counted_as_an_editor_does() -> None:
    found = parse(
        "memory/2025-01-01.md",
        b"# A\r\rtext\x0cstill line three\r## Retain\r- W @Peter: on line five\r\n- W @Anna: six",
    )
    assert [fact.line for fact in found.facts] == [5, 6]
    assert found.notes[0].text == "text\x0cstill line three"


def test_tables_and_code_stay_whole() -> None:
    found = document("memory/2025-11-27.md")
    (note,) = [note for note in found.notes if note.title == "WhatsApp bridge"]
    assert "# not a heading" in note.text
    assert "| wrap    | fine   |" in note.text


def test_broken_frontmatter_is_reported_with_its_line_and_the_text_is_indexed() -> None:
    found = document("memory/broken.md")
    assert [(problem.path, problem.line) for problem in found.problems] == [("memory/broken.md", 3)]
    assert any("quokka" in note.text for note in found.notes)


def test_tags_title_day_and_aliases_come_from_the_frontmatter() -> None:
    found = document("memory/projects/maxrisk.md")
    assert (found.tags, found.day) == (("maxrisk", "trading", "options"), date(2026, 3, 18))
    assert document("bank/entities/Peter.md").aliases == ("Pete", "Петя", "Пётр", "彼得")
    assert document("bank/entities/Peter.md").entity == "Peter"


def test_bullets_of_the_bank_have_the_kind_of_their_file() -> None:
    assert [(f.kind.value, f.entities) for f in document("bank/world.md").facts] == [
        ("world", ("home.example",)),
        ("world", ("Ольга",)),
    ]


def test_hashtags_are_tags_and_colours_are_not() -> None:
    found = parse("memory/x.md", b"# T\n\nBought #tea/green for the #office, painted it #ffaa00. `#no`\n")
    assert found.tags == ("tea/green", "office")


def test_a_long_section_is_cut_at_blocks_and_every_piece_knows_its_lines() -> None:
    text = "# Long\n\n" + "\n\n".join(f"Paragraph {n} " + "words " * 40 for n in range(40))
    found = parse("memory/long.md", text.encode())
    lines = text.split("\n")
    assert len(found.notes) > 5
    for note in found.notes:
        assert note.text in "\n".join(lines[note.line - 1 : note.end_line])
        assert len(note.text) < 2_500
    assert "".join(note.text for note in found.notes).count("Paragraph") == 40


def test_one_endless_line_is_cut_and_bounded() -> None:
    found = parse("memory/x.md", ("слово " * 50_000).encode())
    assert len(found.notes) > 100
    assert max(len(note.text) for note in found.notes) <= 2_400
    assert {note.line for note in found.notes} == {1}


def test_a_file_beyond_the_limit_is_read_up_to_it_and_said() -> None:
    found = parse("memory/big.md", b"word\n" * 1_000, longest=500)
    assert "only the first 500" in found.problems[0].what


@pytest.mark.parametrize(
    ("data", "word"),
    [
        ("# Größe\n\nStraße".encode("utf-16"), "Straße"),
        ("# Größe\n\nStraße und mehr Wörter".encode("utf-16-le"), "Straße"),
        ("# Rue\n\nUne soirée très agréable à la plage, déjà".encode("cp1252"), "agréable"),
        ("# Запись\n\nСегодня мы ходили в большой магазин за хлебом".encode("cp1251"), "магазин"),
        (b"# Mostly\n\n" + "хорошо ".encode() * 100 + b"\xff tail", "tail"),
    ],
)
def test_other_encodings_are_read_and_named(data: bytes, word: str) -> None:
    found = parse("memory/x.md", data)
    assert any(word in note.text for note in found.notes)
    assert found.problems


def test_what_is_no_text_is_said_to_be_none() -> None:
    found = parse("memory/x.md", bytes(range(256)) * 20)
    assert (found.notes, found.facts) == ((), ())
    assert "not a text file" in found.problems[0].what


def test_generated_lines_are_marked() -> None:
    from openclaw_neuralstream.text.fences import fenced

    data = b"# Peter\n\n- W @Peter: by hand\n\n" + fenced("page", "- O(c=0.8) @Peter: derived") + b"\nafter\n"
    found = parse("bank/entities/Peter.md", data)
    assert [(fact.text, fact.generated) for fact in found.facts] == [("by hand", False), ("derived", True)]


def test_an_id_stays_when_lines_move_and_two_equal_bullets_are_two() -> None:
    body = "## Retain\n- W @Peter: Lives in Berlin.\n- W @Peter: Lives in Berlin.\n"
    before, after = parse("memory/x.md", body.encode()), parse("memory/x.md", f"# New\n\nwords\n\n{body}".encode())
    assert [f.fact_id for f in before.facts] == [f.fact_id for f in after.facts]
    assert len({f.fact_id for f in before.facts}) == 2


MARKDOWN = st.lists(
    st.sampled_from(
        ["# Head", "## Sub", "#no", "text", "- item", "  - deeper", "```", "~~~", "    code", "", "", "===", "---", "> quote",
         "| a | b |", "<!-- c", "-->", "<div>", "1. one", "  more", "- W @Peter: x", "\t tab", "***", "- [ ] todo", "##", "# A #"]
    ),
    max_size=24,
)  # fmt: skip


@given(st.binary(max_size=400) | MARKDOWN.map(lambda lines: "\n".join(lines).encode()))
@settings(max_examples=200)
def test_any_bytes_are_taken_and_no_line_is_outside_the_file(data: bytes) -> None:
    found = parse("memory/x.md", data)
    total = len(BREAK.split(data.decode("utf-8", "replace")))
    ids = [entry.fact_id if isinstance(entry, Fact) else entry.note_id for entry in entries(found)]
    assert len(ids) == len(set(ids))
    if not any("UTF" in problem.what for problem in found.problems):
        assert all(1 <= entry.line <= entry.end_line <= total for entry in entries(found))


@given(MARKDOWN)
@settings(max_examples=300)
def test_blocks_are_in_order_and_every_word_is_in_one(lines: list[str]) -> None:
    found = blocks(lines)
    ends = [-1, *(block.last for block in found)]
    assert all(block.first > before for block, before in zip(found, ends, strict=False))
    covered = {line for block in found for line in range(block.first, block.last + 1)}
    assert all(n in covered for n, line in enumerate(lines) if any(c.isalnum() for c in line))


SIMPLE = st.lists(
    st.sampled_from(
        [
            "# Head",
            "## Sub",
            "#no",
            "text",
            "more text",
            "```",
            "# in code?",
            "",
            "",
            "===",
            "---",
            "~~~~",
            "<!-- c",
            "-->",
            "####### seven",
        ]
    ),
    max_size=16,
)


@given(SIMPLE)
@settings(max_examples=300)
def test_headings_and_code_stand_where_commonmark_says(lines: list[str]) -> None:
    tokens = MarkdownIt("commonmark").parse("\n".join(lines))
    headings = [(t.map[0], int(t.tag[1])) for t in tokens if t.type == "heading_open" and t.map]
    code = [t.map[0] for t in tokens if t.type == "fence" and t.map]
    found = blocks(lines)
    assert [(b.first, b.level) for b in found if b.shape is Shape.HEADING] == headings
    assert [b.first for b in found if b.shape is Shape.CODE] == code


def test_every_planted_sentence_of_a_corpus_is_found_on_its_line() -> None:
    for plan, text in corpus.documents(200):
        (fact,) = [fact for fact in parse(plan.path, text.encode()).facts if plan.needle in fact.text]
        assert (fact.line, fact.entities) == (plan.line, (plan.person,))


def test_more_facts_than_a_file_may_have_are_cut_and_said() -> None:
    found = parse("memory/x.md", b"- W @Peter: x\n" * 25_000)
    assert len(found.facts) == 20_000
    assert "only the first 20,000" in found.problems[0].what


def test_lines_beyond_what_any_hand_writes_are_not_read_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from openclaw_neuralstream.workspace import parse as module

    monkeypatch.setattr(module, "MOST_LINES", 30)
    found = parse("memory/x.md", b"## Retain\n- W @Peter: is read\n" + b"- x y\n" * 40 + b"- W @Peter: is not\n")
    assert [fact.text for fact in found.facts] == ["is read"]
    assert [problem.what for problem in found.problems] == ["only the first 30 of 44 lines are indexed"]
    assert parse("memory/x.md", b"- x y\n" * 29).problems == ()


def test_a_page_is_named_by_its_own_heading_and_never_by_one_that_we_wrote() -> None:
    from openclaw_neuralstream.text.fences import fenced

    ours = fenced("entity", "## Facts\n\n- lives in Kazan\n")
    assert parse("bank/entities/Anna.md", ours).title == "Anna"
    assert parse("bank/entities/Anna.md", ours + "\n# Анна Петровна\n".encode()).title == "Анна Петровна"
