"""Of whom a record tells decides how much it counts where somebody is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from openclaw_neuralstream.model import Query
from openclaw_neuralstream.recall import Found
from openclaw_neuralstream.recall.query import understand
from openclaw_neuralstream.recall.rank import Fused, ranked
from openclaw_neuralstream.recall.source import COVERAGE, MEANING, WORDS
from tests.recall.worlds import record, world
from tests.values import MAIN, NOW, gem


def named(question: str, *texts: str) -> list[float]:
    """What the records of nobody in particular keep of their score, beside one that names who is asked about, in the order given."""
    found = {text: Found(record(text, text), who=frozenset({"owner"})) for text in texts}
    fused = [Fused(text, {WORDS: 0.5, MEANING: 0.5, COVERAGE: 0.5}, 0.5) for text in texts]
    factors = {
        item.id: item.factors["named"]
        for item in ranked(fused, found, understand(Query(question, MAIN, NOW), dialogue_turns=0), 64)
    }
    return [factors[text] for text in texts]


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ("What did Anna win?", ("Anna won a medal.", "I won a medal.", "Lisa won a medal.")),
        ("Что выиграла Анна?", ("Анна выиграла медаль.", "Я выиграл медаль.", "Лиза выиграла медаль.")),
        ("今天Anna得了什么奖？Anna: 嗯", ("Anna得了奖牌。", "我得了奖牌。", "Lisa得了奖牌。")),
    ],
)
def test_what_tells_of_others_counts_less_than_what_may_be_about_who_is_named(
    question: str, texts: tuple[str, ...]
) -> None:
    about, of_self, of_others = named(question, *texts)
    assert about == 1 > of_self > of_others > 0


OF_SAM = {
    "en": ("Sam likes pancakes.", "Sam plays chess on Tuesdays.", "Sam is afraid of spiders.", "Sam goes to school in Oak Street.", "I took Sam to the zoo in June.", "Sam plays the violin."),
    "ru": ("Саша любит блины с мёдом.", "Саша играет в шахматы по вторникам.", "Саша боится пауков.", "Саша учится в школе на Дубовой улице.", "В июне я водил Сашу в зоопарк.", "Саша играет на скрипке."),
    "zh": ("Sam喜欢吃煎饼。", "Sam每周二下棋。", "Sam怕蜘蛛。", "Sam在橡树街上学。", "我六月带Sam去了动物园。", "Sam会拉小提琴。"),
}  # fmt: skip
OF_OTHERS = {
    "en": ("I taught Leo to swim in Kotor.", "I taught Anna to swim at the city pool.", "Boris teaches children to swim on Fridays.", "Clara taught Mia to swim in Vienna.", "I taught Mark to swim in Porto.", "I taught Ruth to swim."),
    "ru": ("Я учил Лёву плавать в Которе.", "Я учил Анну плавать в бассейне.", "Борис учит детей плавать по пятницам.", "Клара учила Мишу плавать в Вене.", "Я учил Марка плавать в Порту.", "Я учил Олю плавать."),
    "zh": ("我在科托尔教Leo游泳。", "我在游泳馆教Anna游泳。", "Boris每周五教孩子们游泳。", "Clara在维也纳教Mia游泳。", "我在波尔图教Mark游泳。", "我教过Ruth游泳。"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("language", "taught", "question"),
    [
        ("en", "I taught Sam to swim in Lake Bled.", "where did I teach Sam to swim?"),
        ("ru", "Я учил Сашу плавать на озере Блед.", "где я учил Сашу плавать?"),
        ("zh", "我在布莱德湖教Sam游泳。", "我在哪里教Sam游泳？"),
    ],
)
def test_what_says_all_that_is_asked_of_who_is_named_comes_first_whatever_others_did_alike(
    tmp_path: Path, language: str, taught: str, question: str
) -> None:
    sam = ("Саша",) if language == "ru" else ("Sam",)
    known = [gem(f"s{n}", text, entities=sam) for n, text in enumerate(OF_SAM[language])]
    known += [gem(f"o{n}", text) for n, text in enumerate(OF_OTHERS[language])]
    with world(tmp_path) as made:
        made.learn(gem("taught", taught, entities=sam), *known)
        assert [one.id for one in made.ask(question).records][:1] == ["taught"]
