"""The words of a question as a person would name them: "discord", "艾特", "пароль"; Chinese is cut at its grammar."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import cache

from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.text.lexicon import is_stop, stem
from openclaw_neuralstream.text.questions.topics import CHINESE, concepts_in

MOST_WORDS = 12
_LONGEST = 40
_PLAIN = lazy(r"[^\W_]{1,40}")
_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u3005\u3007"
_OTHER = "\u3041-\u30ff\uac00-\ud7af"
_LETTER = rf"(?:(?![{_HAN}{_OTHER}])[^\W_])"
HAN_RUN = lazy(f"[{_HAN}]+")
_TOKEN = lazy(rf"(?P<han>[{_HAN}]+)|(?P<other>[{_OTHER}]+)|(?P<word>{_LETTER}+(?:[-'’_./:@+]{_LETTER}+)*[+#]*)")
_GRAMMAR = """
想知道 想问 请问 我想 为什么 什么 怎么样 怎么 怎样 如何 哪里 哪个 哪些 哪儿 哪种 哪位 何时 谁的 多少 几个 几点 几次 是否 有没有
没有 是不是 可不可以 可以 可能 能不能 能否 要不要 会不会 告诉 记得 还记得 知道 觉得 认为 我们 你们 他们 她们 它们 咱们 大家 自己
这个 那个 这些 那些 这里 那里 这样 那样 这么 那么 因为 所以 但是 可是 不过 而且 并且 或者 还是 如果 虽然 然后 以及 关于 对于 由于
为了 除了 根据 按照 的时候 时候 之前 之后 以前 以后 现在 已经 正在 一个 一些 一下 一样 一直 一定 非常 很多 比较 特别 真的 其实 只是
就是 都是 也是 还有 应该 需要 想要 帮我 给我 让我 请你 你好 谢谢 好的 是的 当然 里面 外面 上面 下面 里边 每次 每个 每天 都要 不要 刚才
上次 下次 第一个 第二个 第三个 另外 另一个 一起 起来 出来 进去 一点 有点 还要 只要 只有 我的 你的 他的 她的 它的
的 了 吗 呢 吧 啊 呀 嘛 哦 哈 嗯 么 着 们 是 我 你 您 他 她 它 这 那 哪 谁 和 与 及 在 也 就 都 还 又 很 不 没 把 被 让 给 从 到 对 为 之 其 此 而 且 或 但 并 以
想 要 会 能 去 来 说 问 几 个 里 上 下 中 后 前 最 更 再 才 只 请 用 有 做 过 每 该 当 啥 咋
"""
_LONGEST_HAN = 4


def words_of(text: str, *, most: int = MOST_WORDS) -> tuple[str, ...]:
    """The content words in their order, once each, lower-cased; then what they are about in the text's own language.

    A message of nothing but grammar ("hi", "为什么") gives its words as they are; one without letters none.

    "想知道在Discord里面如何避免每次都要艾特你" → discord, 避免, 艾特, 消息, 配置.
    """
    plain = unicodedata.normalize("NFKC", text)
    found = list(dict.fromkeys(_content(plain))) or list(dict.fromkeys(map(str.lower, _PLAIN.findall(plain))))
    about = [word for word in concepts_in(plain) if word not in found]
    return tuple([*found[: max(0, most - len(about))], *about][:most])


def _content(text: str) -> Iterator[str]:
    for match in _TOKEN.finditer(text):
        if match["han"]:
            yield from chinese_words(match["han"])
        elif match["other"]:
            yield match["other"]
        elif (word := match["word"].lower()[:_LONGEST]) and len(word) > 1 and not is_stop(stem(word)):
            yield word


def chinese_words(run: str) -> list[str]:
    """The words of a run of Chinese: what the thesaurus knows as one, and what lies between words of grammar."""
    found, rest, at = [], "", 0
    while at < len(run):
        known = _longest(run, at, _known())
        grammar = _longest(run, at, _stop())
        if len(known) >= max(2, len(grammar)):
            found += [*_pieces(rest), known]
            rest, at = "", at + len(known)
        elif grammar:
            found += _pieces(rest)
            rest, at = "", at + len(grammar)
        else:
            rest, at = rest + run[at], at + 1
    return [*found, *_pieces(rest)]


def _pieces(run: str) -> list[str]:
    """Up to four characters are a word; more of them are taken two by two."""
    if len(run) <= _LONGEST_HAN:
        return [run] if run else []
    pairs = [run[at : at + 2] for at in range(0, len(run) - 1, 2)]
    return pairs if len(run) % 2 == 0 else [*pairs[:-1], run[-3:]]


def _longest(run: str, at: int, known: frozenset[str]) -> str:
    return next((run[at : at + size] for size in range(_LONGEST_HAN, 0, -1) if run[at : at + size] in known), "")


@cache
def _stop() -> frozenset[str]:
    return frozenset(_GRAMMAR.split())


@cache
def _known() -> frozenset[str]:
    return frozenset(word for word in CHINESE if len(word) > 1)
