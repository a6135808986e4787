"""What was said once comes back when it matters, in any language, and nothing comes back unasked when nothing does."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from openclaw_neuralstream.embed.embedded import EmbeddedEmbedder
from openclaw_neuralstream.errors import VendorAway
from openclaw_neuralstream.model import Origin, Scope, Session, Turn, Utterance
from openclaw_neuralstream.ports import Hit, Vector, Vectors
from openclaw_neuralstream.recall import gem_sources
from openclaw_neuralstream.store.flat_index import FlatIndex
from tests import passages
from tests.recall.worlds import EMBEDDER, World, texts, whys, world
from tests.values import NOW, gem
from tests.waiting import until

GEMS = (
    gem("cat", "The cat is called Miso and is allergic to chicken."),
    gem("port", "The production database runs PostgreSQL 16 on port 5433."),
    gem("violin", "我在学小提琴，每天晚上练一个小时。", language="zh"),
    gem("flight", "Рейс в Тбилиси вылетает 14 мая в 06:40.", language="ru"),
    gem("queue", "We decided to use Valkey instead of Redis for the queue.", tags=("decision",)),
    gem("rent", "Rent goes up to 1,250 euros from July."),
    gem("lena", "My daughter Lena starts school in September.", entities=("Lena",)),
    gem("run", "On Sundays I run ten kilometres along the river."),
)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path) as made:
        made.learn(*GEMS)
        yield made


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is my cat's name?", "cat"),
        ("我的猫叫什么名字？", "cat"),
        ("Как зовут мою кошку?", "cat"),
        ("Which port does the production database use?", "port"),
        ("我在学什么乐器？", "violin"),
        ("Which instrument am I learning?", "violin"),
        ("Когда я лечу в Тбилиси?", "flight"),
        ("When is my flight to Tbilisi?", "flight"),
        ("Why not Redis for the queue?", "queue"),
    ],
)
def test_the_gem_that_answers_comes_first(memory: World, question: str, answer: str) -> None:
    assert [record.id for record in memory.ask(question).records][:1] == [answer]


TALK = (
    "Can you explain how a diesel engine differs from a petrol one?",
    "A diesel engine compresses air until it is hot enough to ignite the fuel, so it needs no spark plugs; a petrol engine mixes air and fuel beforehand and lights the mixture with a spark. Diesels run leaner, are heavier, and turn slower.",
    "And which one pollutes less?",
    "That depends on the filter: without one a diesel emits more soot and nitrogen oxides, a petrol engine more carbon dioxide for each kilometre. Modern cars of both kinds stay far below what was usual twenty years ago.",
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("By the way, which port does the production database use?", "port"),
        ("And when is my flight to Тбилиси, 14 мая?", "flight"),
        ("What is the name of my cat?", "cat"),
        ("我的猫叫什么名字？", "cat"),
        ("Как зовут мою кошку?", "cat"),
    ],
)
def test_a_plain_question_in_the_middle_of_another_conversation_is_answered(
    memory: World, question: str, answer: str
) -> None:
    assert answer in [record.id for record in memory.ask(question, dialogue=TALK, gated=True).records]


@pytest.mark.parametrize("dialogue", [(), TALK], ids=["alone", "in a conversation"])
@pytest.mark.parametrize(
    "message",
    [
        "What is the capital of Australia?",
        "Write a haiku about the sea.",
        "Thanks, that was helpful!",
        "Ok, go on.",
        "写一首关于大海的俳句。",
        "Сколько планет в Солнечной системе?",
        "?!",
    ],
)
def test_a_message_that_needs_no_memory_brings_nothing_unless_somebody_searches(
    memory: World, message: str, dialogue: tuple[str, ...]
) -> None:
    found = memory.ask(message, dialogue=dialogue, gated=True)
    assert (found.needed, found.records) == (False, ())
    assert set(whys(found).values()) <= {"not-needed"}
    assert memory.ask(message, dialogue=dialogue).records


def test_an_empty_message_finds_nothing(memory: World) -> None:
    assert memory.ask("").records == ()


def test_the_running_dialogue_is_part_of_the_question(memory: World) -> None:
    dialogue = ("I want to connect to the production database.", "PostgreSQL, which port?")
    alone = memory.ask("What was the number?", knobs={"recall_dialogue_turns": 0}, dialogue=dialogue)
    assert alone.records[0].id != "port"
    assert memory.ask("What was the number?", dialogue=dialogue).records[0].id == "port"


def test_every_candidate_that_is_not_returned_has_a_reason(memory: World) -> None:
    found = memory.ask("What is my cat's name?")
    assert {record.id for record in found.records} | set(whys(found)) == {made.gem_id for made in GEMS}
    assert set(whys(found).values()) == {"far-worse"}
    silent = memory.ask("What is my cat's name?", knobs={"recall_threshold": 1})
    assert set(whys(silent).values()) == {"below-threshold"}
    assert {"words", "meaning", "coverage", "importance", "relevance"} <= set(found.records[0].factors)
    assert {"understand", "words", "meaning", "days", "fetch", "rank", "fit", "clean"} == set(found.stage_ms)


def test_another_agent_and_another_user_see_nothing(memory: World) -> None:
    for scope in (Scope("other"), Scope("main", "stranger")):
        found = memory.ask("What is my cat's name?", scope=scope)
        assert (found.records, found.dropped) == ((), ())


def test_a_project_sees_its_own_gems_and_those_of_none(memory: World) -> None:
    memory.learn(gem("blue", "The logo of the customer stays blue.", scope=Scope("main", project="shop")))
    question = "Which colour has the customer's logo?"
    assert [r.id for r in memory.ask(question, scope=Scope("main", project="shop")).records][:1] == ["blue"]
    elsewhere = memory.ask(question, scope=Scope("main", project="garden"))
    assert elsewhere.records
    assert "blue" not in {r.id for r in elsewhere.records} | set(whys(elsewhere))


def test_what_is_superseded_or_expired_stays_out(memory: World) -> None:
    memory.learn(
        gem("old-rent", "Rent is 1,100 euros from January.", superseded_by="rent"),
        gem("offer", "Rent reduced to 900 euros from April.", valid_to=NOW - timedelta(days=1)),
    )
    found = memory.ask("How many euros is the rent?")
    assert [record.id for record in found.records] == ["rent"]
    assert whys(found)["offer"] == "expired"


def test_what_the_window_shows_is_not_said_again(memory: World) -> None:
    memory.learn(gem("tea", "I drink green tea instead of coffee now.", evidence=("turn-7",)))
    question = "What do I drink instead of coffee?"
    assert memory.ask(question).records[0].id == "tea"
    assert whys(memory.ask(question, window_turns=frozenset({"turn-7"})))["tea"] == "in-window"
    shown = "user: hello\nassistant: You said that you drink green tea instead of coffee now, I remember.\nuser: yes"
    assert whys(memory.ask(question, window_text=shown))["tea"] == "in-window"
    elsewhere = "user: green day\nassistant: drink some tea\nuser: coffee instead"
    assert memory.ask(question, window_text=elsewhere).records[0].id == "tea"


def test_the_same_thing_is_said_once(memory: World) -> None:
    memory.learn(gem("cat-again", "The cat is called Miso, and is allergic to chicken!", importance=0.1))
    found = memory.ask("What is my cat's name?")
    assert [record.id for record in found.records] == ["cat"]
    assert whys(found)["cat-again"] == "duplicate"


def test_the_limit_and_the_budget_hold(memory: World) -> None:
    memory.learn(
        *(
            gem(f"tyre-{n}", f"The winter tyres number {n} were bought in {city}.")
            for n, city in enumerate(("Oslo", "Rome", "Bonn"))
        )
    )
    found = memory.ask("Where were the winter tyres bought?", limit=2)
    assert len(found.records) == 2
    assert "over-limit" in whys(found).values()
    assert memory.ask("Where were the winter tyres bought?", token_budget=60).records == ()


def test_importance_decides_between_equals(memory: World) -> None:
    memory.learn(
        gem("minor", "The garden gate is painted green.", importance=0.1),
        gem("major", "The garden shed is painted green.", importance=0.9),
    )
    assert [r.id for r in memory.ask("What in the garden is painted green?").records][:2] == ["major", "minor"]


class Away(EmbeddedEmbedder):
    """An embedder whose service is gone."""

    def embed_query(self, text: str) -> Vector:
        raise VendorAway("the embedder is away")

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        raise VendorAway("the embedder is away")


def test_words_alone_serve_while_the_embedder_is_away(tmp_path: Path) -> None:
    with world(tmp_path, Away()) as memory:
        memory.learn(*GEMS)
        memory.hear(*said("My parcel is waiting at the post office."))
        found = memory.ask("Which port does the production database PostgreSQL use?")
        assert found.records[0].id == "port"
        assert found.left_out == {"meaning": "the embedder is away"}
        assert texts(memory.ask("Where is my parcel waiting?", turns=True)) == [
            "My parcel is waiting at the post office."
        ]


class Hangs(FlatIndex):
    """An index on a server that takes the question and does not answer until it is let go."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, EMBEDDER.identity)
        self.let_go = threading.Event()
        self.asked = 0

    def search(self, vector: Vector, scope: Scope, *, limit: int, superseded: bool = False) -> list[Hit]:
        self.asked += 1
        assert self.let_go.wait(60)
        return super().search(vector, scope, limit=limit, superseded=superseded)


def test_words_alone_serve_while_an_index_on_a_server_hangs_and_nobody_queues_behind_it(tmp_path: Path) -> None:
    question = "Which port does the production database PostgreSQL use?"
    with world(tmp_path) as memory, closing(Hangs(tmp_path / "away")) as index:
        memory.index = index
        memory.learn(*GEMS)
        memory.gem_sources = gem_sources(memory.truth, EMBEDDER, index, seconds=0.05)
        for _ in range(3):
            found = memory.ask(question)
            assert [record.id for record in found.records] == ["port"]
            assert found.left_out == {"meaning": "the index of gems did not answer within 50 ms"}
        until(lambda: index.asked)  # its thread begins when it can, and nobody waits for that either
        assert index.asked == 1
        index.let_go.set()

        def answered() -> list[str]:
            found = memory.ask(question)
            return [] if found.left_out else [record.id for record in found.records]

        assert until(answered) == ["port"]


# --- verbatim turns -------------------------------------------------------------------------------------------------


def said(*lines: str | tuple[str, str], session: str = "s", start: int = 0) -> list[Turn]:
    """Turns of one conversation; ("Anna", "…") is said by Anna."""
    turns = []
    for number, line in enumerate(lines, start + 1):
        name, text = line if isinstance(line, tuple) else ("", line)
        speaker, origin = ("agent", Origin.AGENT) if name == "agent" else ("owner", Origin.OWNER)
        utterance = Utterance(speaker, origin, text, NOW + timedelta(minutes=number), "" if name == "agent" else name)
        where = Session("main", session, f"id-{session}")
        turns.append(Turn(f"{session}-{number}", Scope("main"), where, utterance.at, (utterance,), number))
    return turns


def test_a_verbatim_turn_is_found_by_its_words_and_by_its_meaning(memory: World) -> None:
    memory.hear(*said("The plumber comes on Tuesday at nine.", "我们星期五去看电影。", "Ключи от дачи у соседки."))
    assert texts(memory.ask("When does the plumber come?", turns=True))[0] == "The plumber comes on Tuesday at nine."
    assert texts(memory.ask("У кого ключи от дачи?", turns=True))[0] == "Ключи от дачи у соседки."
    record = memory.ask("我们什么时候去看电影？", turns=True).records[0]
    assert (record.kind, record.citation, record.origin) == ("turn", "id-s#2, 2026-11-21", Origin.OWNER)


def test_an_answer_is_found_by_the_question_before_it(memory: World) -> None:
    memory.hear(
        *said(("Ben", "What did you bake for the birthday party?"), ("Anna", "A huge lemon tart!"), ("Ben", "Nice."))
    )
    found = memory.ask("What did Anna bake for the birthday party?", turns=True)
    assert texts(found)[0] == "A huge lemon tart!"


def test_a_pause_ends_what_counts_as_context(memory: World) -> None:
    before, after = said("Shall we bake for the birthday party?", "Lemon tart.")
    later = Turn(
        "late",
        after.scope,
        after.session,
        NOW + timedelta(days=2),
        (Utterance("owner", Origin.OWNER, "Lemon tart.", NOW + timedelta(days=2)),),
        9,
    )
    memory.hear(before, after, later)
    found = memory.ask("birthday party bake", turns=True, knobs={"max_gems_injected": 50})
    scores = {
        item.record.citation: item.record.factors["words"]
        for item in found.dropped
        if item.record.text == "Lemon tart."
    }
    scores |= {item.citation: item.factors["words"] for item in found.records if item.text == "Lemon tart."}
    assert scores.get("id-s#2, 2026-11-21", 0) > scores.get("id-s#9, 2026-11-23", 0)


def test_a_turn_rises_with_the_gem_that_was_made_from_it(memory: World) -> None:
    turns = said("It is the blue one, next to the window.", "It is the red one, next to the stairs.")
    memory.hear(*turns)
    memory.learn(gem("desk", "The owner's new desk is the red one.", evidence=(turns[1].turn_id,)))
    found = memory.ask("Which desk did I buy?", turns=True)
    everything = {record.text: record for record in (*found.records, *(d.record for d in found.dropped))}
    assert everything[turns[1].utterances[0].text].factors["lift"] > 0
    assert everything[turns[1].utterances[0].text].score > everything[turns[0].utterances[0].text].score


def test_an_assistants_words_count_less_than_a_persons(memory: World) -> None:
    memory.hear(*said("The boiler was repaired in March.", ("agent", "The boiler was repaired in March.")))
    found = memory.ask("When was the boiler repaired?", turns=True)
    assert found.records[0].speaker == "owner"


def test_forgotten_turns_are_gone_and_come_back_only_when_heard_again(memory: World) -> None:
    turns = said("The plumber comes on Tuesday at nine.")
    memory.hear(*turns)
    memory.hear(*turns)
    assert memory.passages.stored()[0] == 1
    assert passages.forget(memory.passages, [turns[0].turn_id]) == 1
    said_so = turns[0].utterances[0].text
    assert said_so not in texts(memory.ask("When does the plumber come?", turns=True))
    memory.hear(*turns)
    assert said_so in texts(memory.ask("When does the plumber come?", turns=True))


def test_passages_outlive_the_process_and_of_another_embedder_the_words_stay_until_it_has_embedded_them(
    tmp_path: Path,
) -> None:
    with world(tmp_path) as memory:
        memory.hear(*said("The plumber comes on Tuesday at nine."))
    with world(tmp_path) as memory:
        assert texts(memory.ask("When does the plumber come?", turns=True)) != []

    class Other(EmbeddedEmbedder):
        def __init__(self) -> None:
            super().__init__()
            self.identity = type(EMBEDDER.identity)("other", EMBEDDER.identity.dimensions)

    with world(tmp_path, Other()) as memory:
        assert (memory.passages.stored()[0], memory.passages.bare_count()) == (1, 1)
        assert texts(memory.ask("When does the plumber come on Tuesday?", turns=True)) != []
        bare = memory.passages.without_vector(10)
        assert memory.passages.embed(bare, EMBEDDER.embed_documents([one.text for one in bare])) == 1
        assert memory.passages.bare_count() == 0


def test_a_damaged_passage_file_is_thrown_away(tmp_path: Path) -> None:
    with world(tmp_path) as memory:
        memory.hear(*said("The plumber comes on Tuesday at nine."))
    (tmp_path / "turns" / "passages.sqlite").write_bytes(b"no database" * 1_000)
    with world(tmp_path) as memory:
        assert memory.passages.stored()[0] == 0
        memory.hear(*said("The plumber comes on Tuesday at nine."))
        assert texts(memory.ask("When does the plumber come?", turns=True)) != []
