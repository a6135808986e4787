"""Questions to hand-written logs in three languages: the answer, its day and the line it stands on."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from openclaw_neuralstream.embed.embedded import EmbeddedEmbedder
from openclaw_neuralstream.model import Gem, GemSource, Known, Period, Query, Recall, Scope, Wanted
from openclaw_neuralstream.recall import NoteSource, recall
from openclaw_neuralstream.recall.notes import record_of_note
from openclaw_neuralstream.settings import Settings
from openclaw_neuralstream.text.tokens import FormulaCounter
from openclaw_neuralstream.workspace.index import NoteIndex
from openclaw_neuralstream.workspace.parse import parse
from tests.recall.worlds import MAIN, world

DATA = Path(__file__).parent.parent / "workspace" / "data"
NOW = datetime(2026, 1, 15, tzinfo=UTC)
NOVEMBER = Wanted(as_of=Period(date(2025, 11, 1), date(2025, 11, 30)))


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NoteIndex]:
    made = NoteIndex.of(tmp_path_factory.mktemp("workspace"))
    filled(made)
    yield made
    made.close()


def filled(made: NoteIndex) -> None:
    documents = [parse(path.relative_to(DATA).as_posix(), path.read_bytes()) for path in sorted(DATA.rglob("*.md"))]
    made.replace(documents, {document.path: Known("d", 1, 1) for document in documents})


def ask(index: NoteIndex, text: str, **query: Any) -> Recall:
    source = NoteSource(lambda scope: index if scope.agent == "main" else None)
    scope = query.pop("scope", Scope("main"))
    return recall(Query(text, scope, NOW, **query), sources=(source,), settings=Settings(), counter=FormulaCounter())


@pytest.mark.parametrize(
    ("question", "citation"),
    [
        ("what does Peter prefer?", "memory/2025-11-27.md#L25"),
        ("что предпочитает Пётр?", "memory/2025-05-14.md#L8"),
        ("彼得喜欢什么？", "memory/2025-11-27.md#L25"),
        ("王芳喜欢喝什么？", "memory/2025-11-28.md#L7"),
        ("where does Peter live?", "memory/2025-12-10.md#L4"),
        ("где живёт Ольга?", "memory/2025-05-14.md#L6"),
        ("расскажи про Ольгу", "bank/world.md#L4"),
        ("tell me about Peter", "memory/2025-11-27.md#L23"),
        ("what happened around 27 November?", "memory/2025-11-27.md#L24"),
        ("что было 14 мая?", "memory/2025-05-14.md#L6"),
        ("11月27日前后发生了什么？", "memory/2025-11-28.md#L6"),
        ("where did Peter live in March 2025?", "memory/2025-03-04.md#L4"),
        ("current equity of MaxRisk", "memory/projects/maxrisk.md#L5-L7"),
        ("what was true in November 2025", "memory/2025-11-28.md#L6"),
        ("what was true about Peter in November 2025", "memory/2025-11-27.md#L23"),
        ("что было верно в Ноябре 2025", "memory/2025-11-28.md#L6"),
        ("2025年11月的情况如何", "memory/2025-11-28.md#L6"),
        ("Baileys crash", "memory/2025-11-27.md#L24"),
        ("quokka", "memory/broken.md#L5-L7"),
    ],
)
def test_a_question_is_answered_with_its_source(index: NoteIndex, question: str, citation: str) -> None:
    assert citation in [record.citation for record in ask(index, question).records]


def test_the_place_somebody_left_is_not_told_as_today(index: NoteIndex) -> None:
    assert not [r for r in ask(index, "where does Peter live?").records if "Berlin" in r.text]


def test_as_of_a_month_tells_what_held_then(index: NoteIndex) -> None:
    first = ask(index, "where does Peter live?", wanted=NOVEMBER, everything=True).records[0]
    assert (first.text, first.kind, first.when) == ("@Peter: Lives in Berlin, near the canal.", "world", "2025-03-04")


def test_a_record_tells_kind_range_entities_and_source(index: NoteIndex) -> None:
    (record,) = [r for r in ask(index, "is Peter in Marrakech?").records if "Marrakech" in r.text]
    assert (record.kind, record.when, record.entities) == ("world", "2025-11-27/2025-12-01", ("Peter",))


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("where does Peter live?", "@Pete: Lives in Vienna"),
        ("王芳喜欢喝什么？", "@王芳: 喜欢喝不加糖的绿茶。"),
        ("что предпочитает Пётр?", "@Пётр: Предпочитает короткие ответы без вступлений."),
    ],
)
def test_a_fact_is_shown_with_whom_it_is_about(index: NoteIndex, question: str, text: str) -> None:
    assert any(record.text.startswith(text) for record in ask(index, question).records)


@pytest.mark.parametrize(
    ("bullet", "text"),
    [
        ("W @Peter: Peter lives in Rome with @Anna.", "Peter lives in Rome with @Anna."),
        ("W @Peter @Anna: married in Rome.", "@Peter @Anna: married in Rome."),
        ('W @"Peter Müller": married in Rome.', '@"Peter Müller": married in Rome.'),
        ("W @Al: also married in Rome.", "@Al: also married in Rome."),
        ("W: married in Rome.", "married in Rome."),
    ],
)
def test_whom_a_fact_is_about_is_said_once(bullet: str, text: str) -> None:
    (fact,) = parse("memory/2026-01-01.md", f"## Retain\n- {bullet}\n".encode()).facts
    assert record_of_note(fact, Query("q", Scope("main"), NOW)).text == text


@pytest.mark.parametrize(
    ("bullets", "question", "answer"),
    [
        (("@Anna: Анна переехала в Казань", "@Анна: живёт с котом"), "куда переехала Анна", "Казань"),
        (("@Анна: Anna moved to Kazan", "@Anna: likes cats"), "where did Anna move?", "Kazan"),
        (("@Anna: 安娜搬到了喀山", "@安娜: 养了猫"), "安娜搬到了喀山吗", "喀山"),
    ],
)
def test_a_second_spelling_of_a_name_does_not_hide_what_the_question_says_word_for_word(
    tmp_path: Path, bullets: tuple[str, ...], question: str, answer: str
) -> None:
    log = "## Retain\n" + "".join(f"- W {bullet}\n" for bullet in bullets)
    made = NoteIndex.of(tmp_path)
    made.replace([parse("memory/2026-01-01.md", log.encode())], {"memory/2026-01-01.md": Known("d", 1, 1)})
    assert any(answer in record.text for record in ask(made, question).records)
    made.close()


def test_only_opinions_when_only_opinions_are_asked(index: NoteIndex) -> None:
    records = ask(index, "Peter", wanted=Wanted(kinds=("opinion",)), everything=True).records
    assert {record.kind for record in records} == {"opinion"}
    assert records[0].confidence == 0.95


def test_nothing_is_said_where_nothing_is_known(index: NoteIndex) -> None:
    assert ask(index, "how do I bake sourdough bread?").records == ()


@pytest.mark.parametrize("question", ["zanzibar", "桑给巴尔", "Занзибар", "how do I bake sourdough bread?"])
@pytest.mark.parametrize("wanted", [None, NOVEMBER, Wanted(superseded=True), Wanted(period=NOVEMBER.as_of)])
def test_a_filter_makes_nothing_relevant(index: NoteIndex, question: str, wanted: Wanted | None) -> None:
    assert ask(index, question, wanted=wanted, everything=True).records == ()


@pytest.mark.parametrize("question", ["what happened?", "что произошло?", "发生了什么？"])
def test_a_filter_alone_lists_what_it_admits(index: NoteIndex, question: str) -> None:
    found = ask(index, question, wanted=Wanted(period=NOVEMBER.as_of), everything=True)
    assert len(found.records) >= 5


def test_another_agent_sees_nothing(index: NoteIndex) -> None:
    assert ask(index, "what does Peter prefer?", scope=Scope("other")).records == ()


# --- by meaning: the same logs with vectors -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def embedder() -> EmbeddedEmbedder:
    return EmbeddedEmbedder()


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory, embedder: EmbeddedEmbedder) -> Iterator[NoteIndex]:
    made = NoteIndex.of(tmp_path_factory.mktemp("workspace"))
    filled(made)
    texts = made.unembedded(str(embedder.identity), limit=1_000)
    made.embed(str(embedder.identity), dict(zip(texts, embedder.embed_documents(list(texts.values())), strict=True)))
    yield made
    made.close()


def meant(index: NoteIndex, embedder: EmbeddedEmbedder, text: str, now: datetime = NOW) -> list[str]:
    """What recall says to a question, its vectors in use."""
    found = recall(
        Query(text, Scope("main"), now),
        sources=(NoteSource(lambda _: index, embedder),),
        settings=Settings(),
        counter=FormulaCounter(),
    )
    assert found.left_out == {}
    return [record.text for record in found.records]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What does he put into a hot drink?", "@Peter: Likes oat milk in his coffee."),
        ("Что он добавляет в кофе?", "@Peter: Likes oat milk in his coffee."),
        ("他咖啡里加什么？", "@Peter: Likes oat milk in his coffee."),
        ("Какой чай она пьёт?", "@王芳: 喜欢喝不加糖的绿茶。"),
        ("Which drink does she like without sugar?", "@王芳: 喜欢喝不加糖的绿茶。"),
    ],
)
def test_what_words_alone_do_not_find_is_found_by_meaning(
    index: NoteIndex, embedded: NoteIndex, embedder: EmbeddedEmbedder, question: str, answer: str
) -> None:
    assert answer not in [record.text for record in ask(index, question).records]
    assert answer in meant(embedded, embedder, question)


@pytest.mark.parametrize(
    "question", ["What did we do last week?", "Что мы делали на прошлой неделе?", "上周我们做了什么？"]
)
def test_days_without_notes_bring_none_by_meaning(
    embedded: NoteIndex, embedder: EmbeddedEmbedder, question: str
) -> None:
    """Every week means much the same: "this week everybody is busy" was said in another one."""
    assert meant(embedded, embedder, question) == []


@pytest.mark.parametrize(
    "question", ["What did we do last week?", "Что мы делали на прошлой неделе?", "上周我们做了什么？"]
)
def test_days_with_notes_bring_those_and_no_others(
    embedded: NoteIndex, embedder: EmbeddedEmbedder, question: str
) -> None:
    found = meant(embedded, embedder, question, datetime(2025, 12, 16, tzinfo=UTC))
    assert "I renewed the certificate of home.example by hand." in found
    assert not {"这个星期大家都很忙。", "Вчера я перенёс сервер на новый диск."} & set(found)


def test_the_near_of_a_few_days_are_found_however_many_others_are_nearer(
    tmp_path: Path, embedder: EmbeddedEmbedder
) -> None:
    made = NoteIndex.of(tmp_path)
    many = parse(
        "memory/2024-01-01.md",
        b"## Retain\n" + b"".join(b"- W @Anna: Drinks coffee with oat milk, cup %d.\n" % n for n in range(300)),
    )
    one = parse("memory/2025-12-10.md", b"## Retain\n- W @Anna: Poured cream into the espresso.\n")
    made.replace([many, one], {document.path: Known("d", 1, 1) for document in (many, one)})
    texts = made.unembedded(str(embedder.identity), limit=1_000)
    made.embed(str(embedder.identity), dict(zip(texts, embedder.embed_documents(list(texts.values())), strict=True)))
    december = Wanted(period=Period(date(2025, 12, 1), date(2025, 12, 31)))
    near = made.near(embedder.embed_query("coffee with oat milk"), str(embedder.identity), december, among=(), limit=5)
    assert list(near) == [fact.fact_id for fact in one.facts]
    made.close()


def gem(name: str, content: str, **fields: Any) -> Gem:
    return Gem(
        gem_id=name, content=content, summary=content, topics=(), importance=0.8, tags=("fact",), scope=MAIN,
        source=GemSource("s", "2025-03-01", "1"), **fields,
    )  # fmt: skip


def test_as_of_holds_for_gems_too(tmp_path: Path) -> None:
    with world(tmp_path) as made:
        made.learn(
            gem("old", "Peter lives in Berlin", created_at=datetime(2025, 3, 1, tzinfo=UTC), superseded_by="new"),
            gem("new", "Peter lives in Vienna", created_at=datetime(2025, 12, 6, tzinfo=UTC)),
        )
        assert [r.text for r in made.ask("where does Peter live?").records] == ["Peter lives in Vienna"]
        then = made.ask("where does Peter live?", wanted=NOVEMBER, everything=True)
        assert [record.text for record in then.records] == ["Peter lives in Berlin"]


def test_gems_are_narrowed_by_day(tmp_path: Path) -> None:
    with world(tmp_path) as made:
        made.learn(
            gem("old", "Peter bought a violin", created_at=datetime(2025, 3, 1, tzinfo=UTC)),
            gem("new", "Peter sold the piano", created_at=datetime(2025, 12, 6, tzinfo=UTC)),
        )
        december = Wanted(period=Period(date(2025, 12, 1), date(2025, 12, 31)))
        found = made.ask("what did Peter do", wanted=december, everything=True)
        assert [record.text for record in found.records] == ["Peter sold the piano"]


@pytest.mark.parametrize(
    "question",
    ["Where did Petra live in October 2025?", "Где живёт Petra в октябре 2025?", "Petra 2025年10月住在哪里？"],
)
def test_a_question_about_past_days_is_not_answered_with_what_began_later(tmp_path: Path, question: str) -> None:
    index = NoteIndex.open(tmp_path / "index.sqlite")
    for name, text in (
        ("memory/2025-09-01.md", "## Retain\n- W @Petra: lives in London, живёт в Лондоне, 住在伦敦.\n"),
        ("memory/2026-01-20.md", "## Retain\n- W @Petra: lives in Lisbon, живёт в Лиссабоне, 住在里斯本.\n"),
    ):
        document = parse(name, text.encode())
        index.replace([document], {name: Known(document.digest, len(text), 0)})
    records = ask(index, question).records
    assert records
    assert all("London" in record.text for record in records)
    index.close()


def test_what_was_replaced_says_so_where_it_is_asked_for_and_is_left_out_where_it_is_not(index: NoteIndex) -> None:
    told = {
        record.citation: record.outdated
        for record in ask(index, "where does Peter live?", wanted=Wanted(superseded=True)).records
    }
    assert told["memory/2025-12-10.md#L4"] == ""
    assert told["memory/2025-03-04.md#L4"] == "superseded"
    assert "memory/2025-03-04.md#L4" not in {record.citation for record in ask(index, "where does Peter live?").records}
