"""Messages that lean on what was said just before: "it", "that one", "а тот?", "那个呢？", "the second one"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.text.lexicon import content_terms, script_of

LONGEST = 120
"""Characters beyond which a message says itself what it is about."""

_MOST_TERMS, _GOES_ON_TERMS = 6, 2
_LEANS = lazy(
    r"\b(?:it|its|they|them|their|theirs|he|she|him|his|hers?|(?:this|that|those|these)(?: ones?)?(?=\W*$|\s+(?:one|was|is|were|are|for|in|on|at"
    r"|from|cost|happen\w*|work\w*|too)\b)|the (?:same|other|others|former|latter)(?: one)?|there(?! (?:is|are|was|were|be)\b)|then(?=\W*$))\b"
    r"|(?<!\w)(?:он|она|оно|они|его|е[её]|их|ему|ей|им|н[её]м|него|не[её]|них|ней|ним|нему|(?:тот|та|те|того|той|тех|том|тем|этот|эта|эти|этого|этой|эту|этих"
    r"|этом|этому)(?!\s+(?:недел|месяц|год|выходн|дн[яиею]|день|утр|вечер|зим|весн|лет[ао]|осен))|это|там|туда|оттуда|тогда|такой|такая|такое|такие)(?!\w)"
    r"|[它牠]们?|[他她]们?|[那这][个些里儿次家位件天时种边样](?!星期|礼拜|周|月|季度|年|夏|冬|春|秋)|[那这]时候|前者|后者|另(?:外)?一?个|其他的",
    re.IGNORECASE,
)
_GOES_ON = lazy(
    r"^\W*(?:and|or|but)\b(?! (?:then|also)\b)|\b(?:what|how) about\b"
    r"|^\W*(?:а|и|но|или)(?!\w)(?= (?:если|как|что|кто|где|когда|в|во|на|с|со|у|к|для|сколько|почему|зачем|какой|какая|какие|какое|перв|втор|трет|послед"
    r"|друг|тот|та|то|те|он|она|они|это))|(?<!\w)(?:что|как) (?:насч[её]т|с|по поводу)(?!\w)"
    r"|^\W*(?:那|那么|还有|或者)(?!是|就)|呢[？?。!！\s]*$",
    re.IGNORECASE,
)
_EXPLETIVE = lazy(
    r"\b(?:is|was|will|does|did|has|isn't|wasn't)?\s*it(?:'s|’s)?\s+(?:going to |be |have |been )*"
    r"(?:rain\w*|snow\w*|cold|warm|hot|late|early|time|possible|ok|okay|true|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b"
    r"|\bwhat time is it\b|\bhow is it going\b|\bthat'?s? (?:it|all|fine|great|helpful|right|good|ok|okay)\b|\bthat was\b",
    re.IGNORECASE,
)
_ORDINALS = (
    lazy(
        r"\b(?:the |number )?(?P<n>first|second|third|fourth|fifth|1st|2nd|3rd|4th|5th|last)(?: (?:one|option|item|point|suggestion|choice))\b"
        r"|\b(?:option|item|point|number|choice) (?P<m>[1-9])\b",
        re.IGNORECASE,
    ),
    lazy(
        r"(?<!\w)(?P<n>перв|втор|трет|четв[её]рт|пят(?!ниц)|последн)\w{1,4}(?= (?:вариант|пункт|из|способ|предложени)\w*|\W*$)",
        re.IGNORECASE,
    ),
    lazy(r"第(?P<n>[一二三四五1-5])(?:个|项|种|点|条|家|款)|(?P<last>最后一?[个项种点条家款])"),
)
_PLACES = {
    "first": 0, "1st": 0, "second": 1, "2nd": 1, "third": 2, "3rd": 2, "fourth": 3, "4th": 3, "fifth": 4, "5th": 4, "last": -1,
    "перв": 0, "втор": 1, "трет": 2, "четверт": 3, "четвёрт": 3, "пят": 4, "последн": -1,
    "一": 0, "二": 1, "三": 2, "四": 3, "五": 4,
}  # fmt: skip
_ITEM = lazy(r"^\s*(?:[-*•–]|\(?\d{1,2}[.)、:：]|[①②③④⑤])\s*(?P<text>\S.{0,400})", re.MULTILINE)


def leans(text: str) -> bool:
    """Whether a message can only be understood with what was said before it."""
    plain = text.strip()
    said = words_said(plain)
    if not plain or len(plain) > LONGEST or said > _MOST_TERMS or _EXPLETIVE.search(plain):
        return False
    return bool((said <= _GOES_ON_TERMS and goes_on(plain)) or _LEANS.search(plain) or _ordinal(plain) is not None)


def goes_on(text: str) -> bool:
    """Whether it begins as what goes on with something does: "and …", "what about …", "а …", "那…", "…呢"."""
    return bool(_GOES_ON.search(text))


def words_said(text: str) -> int:
    """How many content words it has; a Chinese word gives two terms and more."""
    return len(set(content_terms(text))) // (2 if script_of(text) == "cjk" else 1)


def pointed_at(text: str, earlier: Sequence[str]) -> str:
    """The item of the last list in the dialogue that "the second one" names; "" where it names none.

    earlier: the messages just before, the nearest first.
    """
    place = _ordinal(text) if len(text) <= LONGEST else None
    if place is None:
        return ""
    for message in earlier:
        items = [match["text"].strip() for match in _ITEM.finditer(message)]
        if len(items) > 1 and -len(items) <= place < len(items):
            return items[place]
    return ""


def _ordinal(text: str) -> int | None:
    for pattern in _ORDINALS:
        match = pattern.search(text)
        if match:
            said = {name: value for name, value in match.groupdict().items() if value}
            if "last" in said:
                return -1
            word = next(iter(said.values())).lower()
            return int(word) - 1 if word.isdigit() else _PLACES[word]
    return None
