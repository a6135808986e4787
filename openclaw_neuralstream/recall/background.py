"""What an unrelated text scores: a few everyday sentences per script, embedded once, as the zero of a cosine scale."""

from __future__ import annotations

import threading
from collections.abc import Mapping

import numpy as np

from openclaw_neuralstream.ports import Embedder, Vector, Vectors

SENTENCES = {
    "latin": (
        "The train was late again this morning.",
        "She bought apples and bread at the market.",
        "The server returned an error after the update.",
        "We painted the kitchen walls last weekend.",
        "He is afraid of heights but loves the mountains.",
        "The contract ends in three months.",
        "My sister plays the violin in an orchestra.",
        "Please keep the answers short.",
        "The meeting has been moved to Thursday.",
        "They adopted a dog from the shelter.",
        "I prefer tea without sugar.",
        "The film was long but beautiful.",
    ),
    "cyrillic": (
        "Поезд сегодня утром опять опоздал.",
        "Она купила на рынке яблоки и хлеб.",
        "После обновления сервер вернул ошибку.",
        "В прошлые выходные мы красили стены на кухне.",
        "Он боится высоты, но любит горы.",
        "Договор заканчивается через три месяца.",
        "Моя сестра играет на скрипке в оркестре.",
        "Пожалуйста, отвечай коротко.",
        "Встречу перенесли на четверг.",
        "Они взяли собаку из приюта.",
        "Я люблю чай без сахара.",
        "Фильм был длинный, но красивый.",
    ),
    "cjk": (
        "今天早上的火车又晚点了。",
        "她在市场上买了苹果和面包。",
        "更新之后服务器返回了一个错误。",
        "上个周末我们粉刷了厨房的墙。",
        "他恐高，但是很喜欢爬山。",
        "合同还有三个月到期。",
        "我妹妹在乐团里拉小提琴。",
        "请回答得简短一点。",
        "会议改到了星期四。",
        "他们从收容所领养了一只狗。",
        "我喜欢喝不加糖的茶。",
        "这部电影很长，但是很美。",
    ),
}


class Background:
    """The background of one embedder; embedded at first use, once."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._making = threading.Lock()
        self._vectors: dict[str, Vectors] = {}

    def vectors(self) -> Mapping[str, Vectors]:
        """The vectors by script. Raises VendorAway when the embedder does not answer."""
        with self._making:
            if not self._vectors:
                embedded = self._embedder.embed_documents([text for texts in SENTENCES.values() for text in texts])
                starts = np.cumsum([len(texts) for texts in SENTENCES.values()])[:-1]
                self._vectors = dict(zip(SENTENCES, np.split(embedded, starts), strict=True))
        return self._vectors

    def zero(self, vector: Vector) -> dict[str, float]:
        """The mean cosine of a question's vector to unrelated texts of each script; "other" is the mean of them."""
        means = {script: float((rows @ vector).mean()) for script, rows in self.vectors().items()}
        return {**means, "other": float(np.mean(list(means.values())))}
