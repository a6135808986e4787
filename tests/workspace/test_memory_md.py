"""MEMORY.md: slim, fenced, within its budget, changed rarely, and never a person's own text."""

from pathlib import Path

import pytest

from openclaw_neuralstream.model import Kind
from openclaw_neuralstream.text.fences import fences
from openclaw_neuralstream.workspace.opinions import of_gems, opinions
from openclaw_neuralstream.workspace.pages import Known, standing
from tests.values import gem
from tests.workspace.world import world

LOG = "## Retain\n- O(c=0.9): Prefers answers in Swedish.\n- W @warelay: The release of warelay is planned for December.\n"
PROJECT = "# Warelay\n\nA relay for WhatsApp.\n"


def filled(made, log: str = LOG) -> None:
    made.folder.keep("memory/2026-11-18.md", log)
    made.folder.keep("memory/projects/warelay.md", PROJECT)


def test_off_proposes_and_writes_nothing(tmp_path: Path) -> None:
    with world(tmp_path) as made:
        filled(made)
        assert made.change("MEMORY.md").outcome == "proposed"
        assert not (made.folder.root / "MEMORY.md").exists()


def test_augment_keeps_its_part_beside_what_stands_there(tmp_path: Path, snapshot) -> None:
    with world(tmp_path, memory_md="augment") as made:
        filled(made)
        made.folder.keep("MEMORY.md", b"# Mine\r\n\r\nNever call before nine.\r\n")
        assert made.change("MEMORY.md").outcome == "updated"
        assert made.folder.text("MEMORY.md").startswith("# Mine\r\n\r\nNever call before nine.\r\n")
        assert made.folder.text("MEMORY.md").replace("\r\n", "\n") == snapshot


def test_replace_writes_where_nothing_of_a_person_stands_and_proposes_where_it_does(tmp_path: Path) -> None:
    with world(tmp_path, memory_md="replace") as made:
        filled(made)
        made.folder.keep("MEMORY.md", "# Mine\n")
        change = made.change("MEMORY.md")
        assert (change.outcome, made.folder.text("MEMORY.md")) == ("proposed", "# Mine\n")
        made.reflector.accept(made.folder, change.proposal)
        assert "# Mine" not in made.folder.text("MEMORY.md")
        assert made.change("MEMORY.md").outcome == "unchanged"


def test_the_same_memory_gives_the_same_bytes(tmp_path: Path) -> None:
    with world(tmp_path, memory_md="augment", memory_md_every=0) as made:
        filled(made)
        made.reflect()
        before = made.folder.text("MEMORY.md")
        made.later(days=3)
        assert made.change("MEMORY.md").outcome == "unchanged"
        assert made.folder.text("MEMORY.md") == before


@pytest.mark.parametrize(
    ("made_so", "liked"),
    [
        ("I am allergic to peanuts.", "I like peanut butter without the lactose."),
        ("У меня аллергия на арахис.", "Я люблю безлактозное молоко."),
        ("我对花生过敏。", "我喜欢无乳糖的牛奶。"),
    ],
)
def test_an_allergy_is_a_fact_that_stands_and_a_liking_is_an_opinion(made_so: str, liked: str) -> None:
    evidence = of_gems([gem("a", made_so, kind=Kind.PREFERENCE), gem("b", liked, kind=Kind.PREFERENCE)])
    held = opinions(evidence)
    assert [one.statement for one in held] == [liked]
    assert made_so in [one.text for one in standing(Known(tuple(evidence), tuple(held)))]


def test_an_allergy_of_somebody_else_stands_on_their_page_alone() -> None:
    evidence = of_gems([gem("a", "Anna is allergic to peanuts.", kind=Kind.PREFERENCE, entities=("Anna",))])
    assert (opinions(evidence), standing(Known(tuple(evidence), ()))) == ([], [])


def test_it_is_not_changed_again_too_soon(tmp_path: Path) -> None:
    with world(tmp_path, memory_md="augment", memory_md_every="6h") as made:
        filled(made)
        assert made.change("MEMORY.md").outcome == "created"
        made.folder.keep("memory/2026-11-19.md", "## Retain\n- O(c=0.9): Prefers tea.\n")
        assert made.change("MEMORY.md").outcome == "waits"
        made.later(hours=7)
        assert made.change("MEMORY.md").outcome == "updated"
        assert "Prefers tea" in made.folder.text("MEMORY.md")


@pytest.mark.parametrize("budget", [500, 1_000, 4_000])
def test_it_stays_within_its_budget(tmp_path: Path, budget: int) -> None:
    with world(tmp_path, memory_md="augment", memory_md_budget=budget) as made:
        many = "\n".join(f"- O(c=0.9) @Person{n}: Prefers colour number {n} {'on walls ' * 9}" for n in range(80))
        filled(made, f"## Retain\n{many}\n")
        made.reflect()
        (fence,) = fences((made.folder.root / "MEMORY.md").read_bytes())
        assert 100 < len(fence.body.decode()) <= budget


def test_with_much_text_of_ones_own_the_file_stays_below_the_hosts_limit(tmp_path: Path) -> None:
    with world(tmp_path, memory_md="augment", memory_md_budget=10_000) as made:
        filled(
            made,
            "## Retain\n"
            + "\n".join(f"- O(c=0.9) @P{n}: Prefers number {n} of {'everything ' * 8}" for n in range(80)),
        )
        made.folder.keep("MEMORY.md", "x" * 17_000 + "\n")
        made.reflect()
        assert 17_500 < len(made.folder.text("MEMORY.md")) <= 20_000


def test_a_lower_case_file_stays_lower_case(tmp_path: Path) -> None:
    with world(tmp_path, memory_md="augment") as made:
        filled(made)
        made.folder.keep("memory.md", "mine\n")
        made.reflect()
        assert not (made.folder.root / "MEMORY.md").exists()
        assert "neuralstream:begin memory" in made.folder.text("memory.md")


def test_a_proposal_to_do_without_ones_own_text_goes_with_the_setting(tmp_path: Path) -> None:
    with world(tmp_path, memory_md="replace") as made:
        filled(made)
        made.folder.keep("MEMORY.md", "# Mine\n")
        made.reflect()
        assert [one.part for one in made.book.waiting()] == ["whole file"]
    with world(tmp_path, memory_md="augment") as made:
        made.reflect()
        assert made.book.waiting() == []


def test_always_lists_what_the_owner_prefers_and_nobody_elses_taste(tmp_path: Path) -> None:
    with world(tmp_path, memory_md="augment") as made:
        filled(
            made,
            "## Retain\n- O(c=0.95): Prefers rye bread.\n- O(c=0.95) @Anna: Prefers tea.\n- O(c=0.95): Anna prefers short walks.\n"
            "- O(c=0.95) @Анна: Любит кофе.\n- O(c=0.95): Анна любит оперу.\n- O(c=0.95) @小李: 喜欢喝绿茶\n- O(c=0.95): 小李喜欢爬山\n",
        )
        made.reflect()
        text = made.folder.text("MEMORY.md").partition("## Always\n")[2].partition("\n\n")[0]
        assert text == "- Prefers rye bread."
