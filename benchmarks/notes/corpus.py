"""A workspace of any size, the same for the same seed: daily logs, projects, decisions, contacts, in three languages.

Words follow Zipf's law, so that common terms have long postings as in real text. Every file carries one word of its own
(`needle`), so that a search can be checked against the file and the line it must cite.
"""

from __future__ import annotations

import bisect
import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

ENGLISH = """
meeting server release invoice garden deploy index memory query schedule budget review design contract customer train
flight hotel backup database latency cache token prompt model agent gateway session window report draft error timeout
retry queue worker thread socket disk network proxy certificate domain billing payment refund order shipment supplier
kitchen recipe dinner birthday concert guitar violin painting museum exhibition hiking mountain river beach weather
rain snow summer winter doctor dentist medicine headache sleep coffee tea bread cheese market apartment rent landlord
school teacher lesson exam book chapter author essay language grammar vocabulary pronunciation translation dictionary
""".split()  # noqa: SIM905 - a list of words reads better as words
RUSSIAN = """
встреча сервер выпуск счёт сад развёртывание память запрос расписание бюджет проверка договор клиент поезд рейс
гостиница копия база задержка очередь поток диск сеть сертификат оплата заказ поставщик кухня рецепт ужин концерт
скрипка картина музей горы река пляж погода дождь снег лето зима врач лекарство сон кофе чай хлеб рынок квартира
""".split()  # noqa: SIM905 - a list of words reads better as words
CHINESE = """
会议 服务器 发布 发票 花园 部署 记忆 查询 日程 预算 审核 合同 客户 火车 航班 酒店 备份 数据库 延迟 缓存 模型 网关
会话 窗口 报告 草稿 错误 超时 队列 线程 磁盘 网络 证书 付款 订单 供应商 厨房 食谱 晚餐 音乐会 吉他 博物馆 登山
""".split()  # noqa: SIM905 - a list of words reads better as words
PEOPLE = ("Peter", "Anna", "Maria", "Andy", "Chen", "Ольга", "Иван", "王芳", "李雷", "Sofia", "Jonas", "Priya")
_TAGS = ("work", "home", "trading", "health", "travel", "infra", "family", "reading")
_LAST = date(2026, 11, 20)


@dataclass(frozen=True, slots=True)
class Planted:
    """A file of the corpus and the sentence in it that only it holds."""

    path: str
    line: int
    needle: str
    person: str


class Words:
    """Words of a language by Zipf's law, with a long tail of names and identifiers."""

    def __init__(self, words: list[str], draw: random.Random) -> None:
        self._draw = draw
        tail = [f"{a}{b}" for a in words[:60] for b in ("ing", "x", "2", "box", "hub")] if words[0].isascii() else words
        self._words = words + tail
        self._sums = list(itertools.accumulate(1 / (rank + 1) for rank in range(len(self._words))))

    def some(self, count: int) -> list[str]:
        """As many words as asked for."""
        total = self._sums[-1]
        return [self._words[bisect.bisect(self._sums, self._draw.random() * total)] for _ in range(count)]


def write(folder: Path, files: int, *, seed: int = 7, sections: int = 3) -> list[Planted]:
    """Make the workspace; `sections` decides its size: 3 are about 2 KB a file. Returns what was planted where."""
    planted = []
    for plan, text in documents(files, seed=seed, sections=sections):
        path = folder / plan.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
        planted.append(plan)
    return planted


def documents(files: int, *, seed: int = 7, sections: int = 3) -> Iterator[tuple[Planted, str]]:
    """The files one by one: what is planted, and the text."""
    draw = random.Random(seed)
    languages = (
        (Words(ENGLISH, draw), " ", ". "),
        (Words(ENGLISH, draw), " ", ". "),
        (Words(RUSSIAN, draw), " ", ". "),
        (Words(CHINESE, draw), "", "。"),
    )
    for number in range(files):
        words, gap, stop = languages[number % len(languages)]
        yield _document(number, draw, words, gap=gap, stop=stop, sections=sections)


def _document(
    number: int, draw: random.Random, words: Words, *, gap: str, stop: str, sections: int
) -> tuple[Planted, str]:
    day = _LAST - timedelta(days=number % 1_500)
    person, other = draw.sample(PEOPLE, 2)
    needle = f"needle{number:06d}"
    lines = ["---", f"tags: [{', '.join(draw.sample(_TAGS, 2))}]", "---", f"# {' '.join(words.some(3))}", ""]
    for _ in range(sections):
        lines += [f"## {' '.join(words.some(2))}", ""]
        for _ in range(3):
            lines.append("".join(gap.join(words.some(draw.randint(8, 16))) + stop for _ in range(2)).strip())
            lines.append("")
        lines += [f"- {gap.join(words.some(6))}" for _ in range(3)] + [""]
    lines += ["```", f"run --job {needle[::-1]}", "```", "", "## Retain"]
    lines.append(f"- W @{person}: {gap.join(words.some(6))} {needle} {gap.join(words.some(4))}.")
    planted = Planted(_path(number, day), len(lines), needle, person)
    lines.append(f"- O(c=0.{draw.randint(5, 9)}) @{other}: Prefers {words.some(1)[0]} over {words.some(1)[0]}.")
    return planted, "\n".join(lines) + "\n"


def _path(number: int, day: date) -> str:
    kind = ("", "", "projects/", "decisions/", "contacts/")[number % 5]
    return f"memory/{kind}{day}-{number:06d}.md" if not kind else f"memory/{kind}item-{number:06d}.md"
