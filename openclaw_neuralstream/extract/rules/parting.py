"""A statement of several facts as statements of one fact each: what is corrected later takes only its own fact along. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from openclaw_neuralstream.extract.rules.words import is_chinese, is_russian, size
from openclaw_neuralstream.lexicon import sentences
from openclaw_neuralstream.patterns import lazy

_FEWEST = 3  # words of a part
_MOST = 5
_JOINT_EN = lazy(
    r"\s*;\s+(?:and |but )?(?=\w)|,?\s+(?:and|but) (?=(?:i|we|my|our|the|his|her)(?:'m|'ve|'re)?\b)|,\s+(?=(?:i|we|my|our)(?:'m|'ve|'re)?\b)|"
    r",?\s+and (?P<verb>(?:live|work|study|own|drive|speak|play|have|teach|run|prefer|hate|love|like|use|listens|runs|lives|works|speaks|drives|plays|owns|teaches|studies|has|likes|loves|hates|prefers|uses)(?= (?!a lot|it|them|that|this|together|there|here)\w))",
    re.IGNORECASE,
)
_JOINT_RU = lazy(
    r"\s*;\s+(?=\w)|,?\s+(?:и|а|но) (?=(?:я|мы|мой|моя|моё|мои|наш\w*|у меня|у нас)\b)|,\s+(?=(?:я|мы|мой|моя|моё|мои|наш\w*|у меня|у нас)\b)|"
    r",\s+(?:и |а )?(?=(?:живу|работаю|учусь|езжу|говорю|играю|преподаю|предпочитаю|люблю|ненавижу|пользуюсь)\b)|"
    r"\s+и (?=(?:живу|работаю|учусь|езжу|говорю|играю|преподаю|предпочитаю|ненавижу|пользуюсь)\b)",
    re.IGNORECASE,
)
_JOINT_ZH = lazy(
    r"[；;]\s*|[，,]\s*(?:而且|并且|另外|同时)?(?=(?:我们?|咱们?|我的|我[家爸妈老]|住在|在.{1,8}(?:工作|上班|上学)|养了|开的|会说))"
)
_SUBJECT_EN = lazy(
    r"^(?P<who>(?:(?:my|our|the|his|her) (?:[\w-]+ ){0,2}[\w-]+?|I|We|[A-Z][a-z]+))(?='(?:m|ve|re|s)\b| (?:am|is|are|was|work|works|live|lives|study|studies|teach|teaches|have|has|drive|drives|own|owns|speak|speaks|play|plays|run|runs|listens|use|uses|like|likes|love|loves|prefer|prefers|hate|hates)\b)",
    re.IGNORECASE,
)
_LEANS = lazy(
    r"(?:it|he|she|they|that|this|which|because|so|if|when|он|она|оно|они|это|котор|потому|если|когда|它|他|她|这|那|因为|所以|如果)\b",
    re.IGNORECASE,
)
_CONDITIONAL = lazy(
    r"\b(?:if|unless|when|because|since|so that|or|если|когда|потому что|так как|или|чтобы)\b|如果|要是|因为|所以|或者|的时候",
    re.IGNORECASE,
)
_CHANGE = lazy(
    r"\b(?:now|no longer|any ?more|instead|gave up|sold|quit|left|switched|changed|moved|stopped)\b|\b(?:теперь|больше не|уже|вместо|бросил\w*|продал\w*|уволил\w*|переш\w+|переехал\w*)\b|现在|不再|不[^，,。]{1,8}了|换|改|搬",
    re.IGNORECASE,
)
_LEANS_BACK = lazy(
    r"\b(?:before|after|then|there|too|also|instead|though|anyway)[.!]*$|\b(?:туда|там|тоже|потом|до этого)[.!]*$|^.{0,6}(?:提前|到时候|然后|也)|过去[。！]?$",
    re.IGNORECASE,
)
_IT = lazy(r"(?P<its>its (?=[a-z]))|(?P<is>it's )|(?P<it>it (?=[a-z]))|(?P<han>它的?)", re.IGNORECASE)
_SMALL = r"to|on|in|at|is|are|was|were|from|with|for|of|and|or|but|has|have|had|will|now|got|by|as|so|because|that|which|who|listens|runs|uses|lives|works|stands|sits|moved|moves|costs|starts|holds"
_THING = lazy(
    rf"\b(?P<det>the|our|my|their) (?P<thing>(?!(?:{_SMALL})\b)[\w.-]+(?: (?!(?:{_SMALL})\b)[\w.-]+){{0,2}}?)(?= (?:{_SMALL})\b|[,.;!?]|$)",
    re.IGNORECASE,
)
_BESIDE = lazy(r"\b(?:for|of|in|on|at|to|from|with|by|into|near)\s+$", re.IGNORECASE)
_NAME = lazy(r"(?<=\w )[A-Z][\w+-]+ \d+(?:\.\d+)*(?!\w)")
_THING_ZH = lazy(
    r"(?:把|将)(?P<thing>[^，,。把将]{2,10}?)(?=迁|搬|换|改|移|升级|放|部署|转)|^(?P<first>(?!我|你|他|她|它)[^，,。]{2,8}?)(?=在|是|用|跑|放|装|迁|升级|搬|换|有)"
)

Worth = Callable[[str], bool]


def parted(text: str, worth: Worth) -> list[str]:
    """Its facts, each a statement that is worth a gem by itself; the text alone where it cannot be parted so."""
    parts = [part for one in _unleaned(text) for part in _clauses(one, worth)]
    fits = 1 < len(parts) <= _MOST and all(worth(part) for part in parts)
    return parts if fits else [text]


def _clauses(text: str, worth: Worth) -> list[str]:
    if _CONDITIONAL.search(text) or _CHANGE.search(text):  # what changed stays beside what became of it
        return [text]
    parts = list(_cut(text))
    return parts if all(_stands(part) and worth(part) for part in parts) else [text]


def _stands(part: str) -> bool:
    enough = size(part) >= _FEWEST or bool(re.search(r"\d", part))
    return enough and not _LEANS.match(part) and not _LEANS_BACK.search(part)


def _cut(text: str) -> Iterator[str]:
    joint = _JOINT_ZH if is_chinese(text) else _JOINT_RU if is_russian(text) else _JOINT_EN
    subject = _SUBJECT_EN.match(text.replace("’", "'"))
    start, lead = 0, ""
    for match in joint.finditer(text):
        verb = "verb" in match.re.groupindex and match["verb"]
        if verb and not (subject and _agree(subject["who"], verb)):
            continue
        yield lead + text[start : match.start()].strip()
        lead = f"{subject['who']} " if verb and subject else ""
        start = match.start("verb") if verb else match.end()
    yield _upper(lead + text[start:].strip())


def _agree(who: str, verb: str) -> bool:
    """Whether the verb may be the subject's: "I … and live", "she … and lives"."""
    return verb.casefold().endswith("s") != (who.casefold() in ("i", "we")) or verb.casefold() in ("teach", "has")


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _unleaned(text: str) -> list[str]:
    """Sentences whose "it" is put into words, where the one before speaks of one thing only; else the text as it is."""
    said = sentences(text)
    if len(said) < 2:
        return [text]
    found = [said[0]]
    for one in said[1:]:
        told = _told(one, found[0])
        if told is None:
            return [text]
        found.append(told)
    return found


def _told(sentence: str, before: str) -> str | None:
    leans = _IT.match(sentence.replace("’", "'"))
    thing = _thing(before).rstrip(".")
    if not leans or not thing:
        return None
    rest = sentence[leans.end() :]
    if leans["is"] and rest.startswith(("been ", "got ", "had ")):
        return None  # "it's been": what it was is told of what happened, and not of the thing
    if leans["han"]:
        return f"{thing}{'的' if leans[0].endswith('的') else ''}{rest}"
    return _upper(f"{thing}{chr(39) + 's ' if leans['its'] else ' is ' if leans['is'] else ' '}{rest}")


def _thing(sentence: str) -> str:
    """The one thing that a sentence speaks of; "" where there are several, or none."""
    if is_chinese(sentence):
        match = _THING_ZH.search(sentence)
        return (match["thing"] or match["first"]) if match else ""
    things = [m for m in _THING.finditer(sentence) if not _BESIDE.search(sentence[: m.start()])]
    found = list(dict.fromkeys(f"{m['det'].lower()} {m['thing']}" for m in things))
    found = found or list(dict.fromkeys(_NAME.findall(sentence)))
    return found[0] if len(found) == 1 else ""
