"""Why a gem is worth nothing by itself, in English, Chinese and Russian. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from openclaw_neuralstream.extract.rules.cues import INJECTION, Cues, cue
from openclaw_neuralstream.extract.rules.dates import names_single_day, recurs
from openclaw_neuralstream.extract.rules.entities import entities_of
from openclaw_neuralstream.extract.rules.judge import cues_of, is_question
from openclaw_neuralstream.extract.rules.words import normal, size
from openclaw_neuralstream.lexicon import content_terms
from openclaw_neuralstream.model import Gem, Kind
from openclaw_neuralstream.patterns import lazy

_NOISE = lazy(
    r"^\s*(?:Traceback \(most recent|\S*(?:Error|Exception)\b[:\[(]|at \S+ ?\(|File \"|\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|"
    r"(?:INFO|WARN(?:ING)?|ERROR|DEBUG|TRACE)\b\s*[:\]\[|-]|[\[{(<][\s\"'{\[<]*[\w-]+[\"']?\s*[:=>]|\$ \w|drwx|-rw-|diff --git|@@ -\d|index [0-9a-f]{7})|"
    r"\b\d+ passed\b|\b\d+ (?:failed|errors?|warnings?) in \d|\bexit(?:ed with)? code \d|\b(?:GET|POST|PUT|DELETE) /\S* HTTP/|\bstdout\b|\bstderr\b|"
    r"\b0x[0-9a-f]{6,}|\b[0-9a-f]{32,}\b|(?:[A-Za-z]:)?/(?:tmp|var/log|proc)/\S+:\d+|HTTP/\d(?:\.\d)? \d{3}|npm (?:WARN|ERR!)",
    re.IGNORECASE,
)
_BOILERPLATE = cue(
    r"\bas an ai\b|\bi(?:'m| am) (?:just )?an? (?:ai|language model|assistant)\b|\bi(?:'m| am) (?:sorry|unable|not able)\b.{0,30}\b(?:can't|cannot|to (?:help|assist))",
    r"\b(?:let me know if|feel free to|happy to help|is there anything else|how can i (?:help|assist)|hope this helps)\b",
    r"^(?:the )?(?:user|assistant|agent|human|ai)(?: has| was)? (?:said|says|asked|asks|greeted|greets|responded|replied|thanked|acknowledged|wants to know|requested|inquired|is asking|"
    r"offered|confirmed)\b",
    r"\b(?:no (?:new )?(?:information|insights?|facts?|gems?) (?:was|were|to|found|available)|nothing (?:worth|important|notable) (?:to|was))\b|^(?:n/?a|none|null|unknown|undefined|todo|tbd|test|placeholder|lorem ipsum)\b[.! ]*",
    r"HEARTBEAT_OK|NO_REPLY|<system|\[system\]|You are a helpful",
    r"(?:как|я)[ -](?:языковая модель|ии|искусственный интеллект|ассистент)\b|\b(?:чем (?:ещё |еще )?могу помочь|обращайтесь|дайте знать|рад[а]? помочь|надеюсь,? это поможет)\b",
    r"^(?:пользователь|ассистент|агент|юзер) (?:сказал|говорит|спросил|спрашивает|поздоровался|поблагодарил|ответил|попросил|интересуется|уточнил|подтвердил)",
    r"作为(?:一个)?(?:AI|人工智能|语言模型|助手)|我是(?:一个)?(?:AI|人工智能|语言模型)|(?:还有什么|有什么)(?:可以|能)(?:帮|为)|希望(?:对你|对您|这)?.{0,6}有(?:所)?帮助|随时(?:告诉|联系|问)我|乐意(?:帮忙|效劳)",
    r"^(?:用户|助手|AI)(?:说|问|询问|打招呼|表示感谢|感谢|回复|请求|想知道|确认)",
)
_THANKS = cue(
    r"^(?:thanks|thank you|thx|cheers|sorry|hi|hello|hey|good morning|спасибо|благодарю|извини|привет|谢谢|多谢|抱歉|你好)\b",
    r"^(?:谢谢|多谢|抱歉|你好|您好)",
)
_BRIEF = 8  # words of a courtesy
_BRACKET_DAY = lazy(r"\d{4}(?:-\d\d){0,2}")
_BREAKS = lazy(r"(?<=[.!?。！？])\s*")
_LETTERS = 0.45  # least share of letters, digits aside
_LEAST_TERMS = 2


def junk(gem: Gem) -> str:
    """Why it is junk, in a few words; "" when it is not. Gems kept by hand are judged for planted orders only."""
    look = Look(gem, normal(gem.content.strip()), cues_of(gem.content))
    by_hand = gem.edited or gem.extractor.name == "hand"
    return next((why for why, fits in (_LADDER[:1] if by_hand else _LADDER) if fits(look)), "")


@dataclass(frozen=True, slots=True)
class Look:
    """A gem as the ladder sees it: its content normalised, and the cues of its language."""

    gem: Gem
    plain: str
    cues: Cues

    @property
    def bare(self) -> bool:
        """Whether it names nobody and nothing, and has no number."""
        return not entities_of(self.gem.content) and not re.search(r"\d", self.plain)

    @property
    def orders(self) -> bool:
        """Instructions are short, and lean on nothing."""
        return self.gem.kind is Kind.INSTRUCTION


def _is_chatter(look: Look) -> bool:
    courtesy = bool(_THANKS.search(look.plain)) and look.bare and size(look.plain) <= _BRIEF
    return courtesy or bool(look.cues.chatter.search(look.plain) or look.cues.joke.search(look.plain))


def _too_short(text: str) -> bool:
    return len(set(content_terms(text))) < _LEAST_TERMS or size(text) < 3


def _answered(gem: Gem) -> bool:
    """A question of the agent stored with the owner's answer."""
    return bool({"answer", "confirmed"} & set(gem.tags)) or "? — " in gem.content or "？ — " in gem.content


def _share_of_letters(text: str) -> float:
    solid = [char for char in text if not char.isspace()]
    return sum(char.isalnum() for char in solid) / len(solid) if solid else 0.0


def _undated(look: Look) -> bool:
    text = look.gem.content
    return names_single_day(text) and not (_BRACKET_DAY.search(text) or recurs(text) or look.gem.valid_to)


_LADDER: tuple[tuple[str, Callable[[Look], bool]], ...] = (
    ("a planted order", lambda look: bool(INJECTION.search(look.gem.content))),
    ("tool noise", lambda look: bool(_NOISE.search(look.gem.content)) or _share_of_letters(look.plain) < _LETTERS),
    ("boilerplate", lambda look: bool(_BOILERPLATE.search(look.plain))),
    ("small talk", _is_chatter),
    ("a question", lambda look: is_question(look.gem.content, look.cues) and not _answered(look.gem)),
    (
        "too vague to stand by itself",
        lambda look: (
            not look.orders and look.bare and (bool(look.cues.empty_fact.search(look.plain)) or _too_short(look.plain))
        ),
    ),
    (
        "begins with a word that points to nothing in it",
        lambda look: (
            not look.orders and bool(look.cues.anaphora.search(look.plain)) and len(_BREAKS.split(look.plain)) <= 2
        ),
    ),
    ("a day without its date", _undated),
)
