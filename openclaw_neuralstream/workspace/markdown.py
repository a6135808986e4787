"""The parts of a note's file: encoding, front matter, places, mentions, tags, attributes."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import PurePosixPath
from typing import Any

import yaml
from frontmatter.default_handlers import YAMLHandler

from openclaw_neuralstream.model import Fact, FactKind, Note, slug_of
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.store.tags import key_of
from openclaw_neuralstream.text.lexicon import content_terms
from openclaw_neuralstream.text.when import dates_in


def ordinal(day: date | None) -> int | None:
    """A day as a number."""
    return day.toordinal() if day else None


def day_of(number: int | None) -> date | None:
    """A number as a day."""
    return date.fromordinal(number) if number else None


def to_json(entry: Note | Fact) -> str:
    """A note or fact as one line of JSON."""
    shared = [
        entry.path,
        entry.line,
        entry.end_line,
        entry.text,
        entry.entities,
        entry.tags,
        ordinal(entry.day),
        entry.generated,
    ]
    if isinstance(entry, Fact):
        own: list[Any] = [
            entry.fact_id, entry.kind.value, entry.confidence, ordinal(entry.valid_from), ordinal(entry.valid_to),
            entry.attribute, entry.evidence, entry.against,
        ]  # fmt: skip
    else:
        own = [entry.note_id, "note", entry.trail, entry.category, entry.title]
    return json.dumps(own + shared, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace").decode()


def from_json(body: str) -> Note | Fact:
    """What `to_json` wrote."""
    row = json.loads(body)
    path, line, end_line, text, entities, tags, day, generated = row[-8:]
    if row[1] == "note":
        return Note(
            note_id=row[0], path=path, line=line, end_line=end_line, trail=tuple(row[2]), category=row[3], title=row[4],
            text=text, tags=tuple(tags), day=day_of(day), entities=tuple(entities), generated=bool(generated),
        )  # fmt: skip
    return Fact(
        fact_id=row[0], kind=FactKind(row[1]), text=text, entities=tuple(entities), path=path, line=line,
        end_line=end_line, confidence=row[2], day=day_of(day), valid_from=day_of(row[3]), valid_to=day_of(row[4]),
        tags=tuple(tags), attribute=row[5], evidence=tuple(row[6]), against=tuple(row[7]), generated=bool(generated),
    )  # fmt: skip


_DAY = lazy(r"(?<!\d)((?:19|20)\d\d)[-_./]?(0[1-9]|1[0-2])[-_./]?(0[1-9]|[12]\d|3[01])(?!\d)")
_BANK = {
    "world": FactKind.WORLD,
    "experience": FactKind.EXPERIENCE,
    "opinions": FactKind.OPINION,
    "observations": FactKind.OBSERVATION,
}
_ONE = {"projects": "project", "decisions": "decision", "contacts": "contact", "people": "contact", "daily": "daily"}


def day_in_name(path: str) -> date | None:
    """The day in a file's name, or in its folders: memory/2025-11-27-standup.md, memory/2025/11/27.md."""
    bare = path.removesuffix(".md")
    for part in (PurePosixPath(bare).name, bare):
        for found in _DAY.finditer(part):
            try:
                return date(int(found[1]), int(found[2]), int(found[3]))
            except ValueError:
                continue
    return None


def category_of(path: str) -> str:
    """What a file is about: "core", "daily", "world", "entity", "project" … or its folder; "note" at the top."""
    parts = PurePosixPath(path.lower()).parts
    if len(parts) == 1:
        return "core" if parts[0] == "memory.md" else "note"
    if parts[:2] == ("bank", "entities"):
        return "entity"
    if parts[0] == "bank" and len(parts) == 2:
        return PurePosixPath(parts[1]).stem
    if parts[0] == "memory" and day_in_name(parts[-1]):
        return "daily"
    folder = parts[1] if parts[0] == "memory" and len(parts) > 2 else parts[0]
    return _ONE.get(folder, "note" if folder == "memory" else folder)


def entity_of(path: str) -> str:
    """Whose page a file is, by its name ("" = nobody's): bank/entities/Peter-Steinberger.md, memory/contacts/anna.md."""
    if category_of(path) not in {"entity", "contact"}:
        return ""
    return PurePosixPath(path).stem.replace("_", " ").replace("-", " ").strip()


def kind_of(path: str) -> FactKind | None:
    """The kind that bullets without a letter have in this file; None = they are no facts."""
    parts = PurePosixPath(path.lower()).parts
    if len(parts) == 2 and parts[0] == "bank":
        return _BANK.get(PurePosixPath(parts[1]).stem)
    return None


_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE = 65_536
_FEW = 0.002
"""Share of bytes that may be wrong in a text that is taken as UTF-8 all the same."""


def decoded(data: bytes) -> tuple[str | None, str]:
    r"""The text without its byte order mark, and what is to be said about it ("" = plain UTF-8).

    None for data that is no text. NUL characters and lone surrogates become "\\ufffd".
    """
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            text = data[len(mark) :].decode(encoding, "replace")
            return _clean(text), "" if encoding == "utf-8" else f"read as {encoding.upper()}"
    try:
        return _clean(data.decode("utf-8")) if b"\0" not in data[:_SAMPLE] else _with_nul(data), _nul_note(data)
    except UnicodeDecodeError:
        return _other(data)


def _clean(text: str) -> str:
    return text.replace("\0", "\ufffd") if "\0" in text else text


def _nul_note(data: bytes) -> str:
    if b"\0" not in data[:_SAMPLE]:
        return ""
    return "read as UTF-16 without a byte order mark" if _utf16(data) else "not a text file: nothing of it is indexed"


def _with_nul(data: bytes) -> str | None:
    encoding = _utf16(data)
    return _clean(data.decode(encoding, "replace")) if encoding else None


def _utf16(data: bytes) -> str:
    """UTF-16 without a mark: nearly all NULs on one side of the pairs, few other control characters."""
    sample = data[:_SAMPLE]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if max(even, odd) < len(sample) * 0.2 or min(even, odd) > max(even, odd) * 0.1:
        return ""
    return "utf-16-be" if even > odd else "utf-16-le"


def _other(data: bytes) -> tuple[str | None, str]:
    if b"\0" in data[:_SAMPLE]:
        return _with_nul(data), _nul_note(data)
    lenient = data.decode("utf-8", "replace")
    wrong = lenient.count("\ufffd")
    high = sum(1 for byte in data[:_SAMPLE] if byte >= 0x80)
    if wrong <= max(1, len(data) * _FEW) and wrong * 8 < max(high, 1):
        return _clean(lenient), f"{wrong} bytes are not UTF-8 and are shown as \ufffd"
    encoding = _guessed(data[:_SAMPLE])
    return _clean(data.decode(encoding, "replace")), f"not UTF-8: read as {encoding}; save the file as UTF-8 to be sure"


def _guessed(sample: bytes) -> str:
    from charset_normalizer import from_bytes

    best = from_bytes(
        sample, cp_isolation=["cp1251", "koi8_r", "gb18030", "big5", "shift_jis", "euc_jp", "cp1252"]
    ).best()
    return best.encoding if best else "cp1252"


LONGEST = 64_000
"""Characters of a block that are read; a longer one is taken as text."""

_DEEPEST = 40
_FLOW = lazy(r"[\[{]")
_handler = YAMLHandler()


@dataclass(frozen=True, slots=True)
class Head:
    """What the block says. lines: how many lines it takes, its fences included; 0 = there is none.

    wrong: what is wrong with it and on which line (from 1); None when nothing is.
    """

    lines: int = 0
    title: str = ""
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    day: date | None = None
    wrong: tuple[int, str] | None = None
    values: Mapping[str, Any] = field(default_factory=dict)


def head_of(lines: Sequence[str]) -> Head:
    """The frontmatter of a file given as lines. Total: what cannot be read is left in the text and reported."""
    if not lines or lines[0].rstrip() != "---":
        return Head()
    end = next((i for i, line in enumerate(lines[1 : LONGEST // 2], start=1) if line.rstrip() in {"---", "..."}), 0)
    if not end:
        return Head(wrong=(1, "the frontmatter is not closed with ---")) if _looks_meant(lines) else Head()
    block = "\n".join(lines[1:end])
    if not block.strip():
        return Head(lines=end + 1)
    if len(block) > LONGEST or len(_FLOW.findall(block)) > LONGEST // 8:
        return Head(wrong=(1, "the frontmatter is too long to be read"))
    return _read(block, end)


def _looks_meant(lines: Sequence[str]) -> bool:
    """A rule at the top is no frontmatter; a rule with `key: value` below is."""
    return len(lines) > 1 and bool(re.match(r"[A-Za-z_][\w-]*:(\s|$)", lines[1]))


def _read(block: str, end: int) -> Head:
    try:
        if _depth(block) > _DEEPEST:
            return Head(end + 1, wrong=(2, "the frontmatter is nested too deeply"))
        values = _handler.load(block)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 2 if error.problem_mark else 2
        return Head(end + 1, wrong=(min(line, end + 1), f"the frontmatter is not valid YAML: {error.problem}"))
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError, TypeError, AttributeError, LookupError) as error:
        return Head(end + 1, wrong=(2, f"the frontmatter is not valid YAML: {type(error).__name__}"))
    if not isinstance(values, dict):
        return (
            Head()
            if values is None or not _looks_meant(["---", *block.split("\n")])
            else Head(end + 1, wrong=(2, _NO_KEYS))
        )
    named = {str(key).strip().lower(): value for key, value in values.items()}
    aliases = _words(named.get("aliases")) + _words(named.get("alias")) + _words(named.get("aka"))
    return Head(
        lines=end + 1,
        title=_word(named.get("title")) or _word(named.get("name")),
        tags=tuple(dict.fromkeys(_words(named.get("tags"), blanks=True) + _words(named.get("tag"), blanks=True))),
        aliases=tuple(dict.fromkeys(aliases)),
        day=next((day for key in ("date", "day", "created", "updated") if (day := _day(named.get(key)))), None),
        values=named,
    )


_NO_KEYS = "the frontmatter has no keys"


def _depth(block: str) -> int:
    """How deep flow collections nest, and how deep the indentation goes."""
    deepest = depth = 0
    for char in block:
        if char in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif char in "]}":
            depth -= 1
    dashes = max((len(re.match(r"[\s\-?:]*", line)[0]) for line in block.split("\n")), default=0)  # type: ignore[index]
    return max(deepest, dashes // 4)


def _words(value: object, *, blanks: bool = False) -> tuple[str, ...]:
    """A list, or one text with commas (or blanks, where words cannot hold any), as words."""
    if isinstance(value, str):
        parts: Sequence[object] = re.split(r"[,，、;\s]+" if blanks else r"[,，、;]", value)
    elif isinstance(value, (list, tuple, set)):
        parts = list(value)[:200]
    else:
        parts = [] if value is None or isinstance(value, dict) else [value]
    return tuple(word for part in parts if (word := _word(part)))


def _word(value: object) -> str:
    if isinstance(value, (str, int, float, date)) and not isinstance(value, bool):
        return " ".join(str(value).split()).lstrip("#@").strip()[:200]
    return ""


def _day(value: object) -> date | None:
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    found = dates_in(value[:100], None) if isinstance(value, str) else None
    return found[0] if found else None


_NAME = r'(?:["“\[](?P<q>[^"”\]\n@]{1,80})["”\]]|(?P<n>[^\W_](?:[\w\-’]|[.·/](?=\w)){0,79}))'
ENTITY = lazy(rf"(?<![\w.@＠/+\-])[@＠]{_NAME}")
_CODE = lazy(r"(`+)[^`](?:.*?[^`])?\1(?!`)", re.DOTALL)
_TAG = lazy(r"(?<![\w#&/@\"'(\[=])#(?P<tag>[^\W\d_][\w\-/]{1,49})(?![\w#]|\()")
_POINTER = lazy(r"(?<![\w/.\-@])((?:[\w.\-]+/){0,8}[\w.\-]{1,120}\.md(?:#L\d{1,7}(?:-L?\d{1,7})?)?)(?![\w/])")


def without_code(text: str) -> str:
    """The text with its inline code blanked, its length kept."""
    return _CODE.sub(lambda match: " " * len(match[0]), text) if "`" in text else text


def entities_in(text: str) -> tuple[str, ...]:
    """Names written with "@", once each, in order; not e-mail addresses, not code."""
    if "@" not in text and "＠" not in text:
        return ()
    return unique(named(match) for match in ENTITY.finditer(without_code(text)))


def named(match: re.Match[str]) -> str:
    """The name that a match of ENTITY stands for."""
    return " ".join((match["q"] or match["n"]).split())


def unique(names: Iterable[str]) -> tuple[str, ...]:
    """Names once each by their slug, the first spelling kept; what has no letters is left out."""
    kept: dict[str, str] = {}
    for name in names:
        slug = slug_of(name)
        if slug:
            kept.setdefault(slug, name)
    return tuple(kept.values())


def written(name: str) -> str:
    """A name as it is written in a bullet: `@Peter`, or `@"Peter Müller"` where it has blanks or signs."""
    plain = ENTITY.fullmatch(f"@{name}")
    return f"@{name}" if plain and plain["n"] == name else f'@"{name}"'


def tags_in(text: str) -> tuple[str, ...]:
    """Hashtags in the text, in order, once each; no headings, colours or links."""
    if "#" not in text:
        return ()
    return tuple(
        dict.fromkeys(match["tag"] for match in _TAG.finditer(without_code(text)) if not _is_colour(match["tag"]))
    )


def _is_colour(word: str) -> bool:
    return bool(re.fullmatch(r"[0-9a-fA-F]{6}|[0-9a-fA-F]{3}", word))


def pointers_in(text: str) -> tuple[str, ...]:
    """Files of the workspace that the text points to, with their lines where it names them."""
    return tuple(dict.fromkeys(_POINTER.findall(text))) if ".md" in text else ()


def plain(title: str) -> str:
    """A heading without its marks: code, stress, links."""
    bare = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", title)
    bare = re.sub(r"(`+|\*\*|__|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w))", "", bare)
    return " ".join(bare.split())


def canonical(tag: str) -> str:
    """What all spellings of a tag share, in notes and gems alike; "" for what has no letters."""
    return key_of(tag) if slug_of(tag) else ""


def with_parents(tag: str) -> list[tuple[str, str]]:
    """A tag and those above it as (canonical, spelling): "a/b" gives a/b and a. Without cycles by its very form."""
    levels = [level for level in tag.split("/") if slug_of(level)]
    return [(canonical("/".join(levels[:n])), "/".join(levels[:n])) for n in range(1, len(levels) + 1)]


_WHO = (
    r"(?:(?:he|she|they|i)(?:['’](?:s|m|re|ve))?\s+|(?:он|она|они|я)\s+|他们?|她们?|我)?"
    r"(?:(?:(?:is|are|am|has|have|now|currently|still|already|recently|just)\s+)|(?:(?:сейчас|теперь|уже|недавно|пока)\s+)"
    r"|(?:现在|現在|目前|如今|已经|已經|刚|剛|最近|今年|已|人))*"
)
_NOW = r"(?:(?:now|currently|сейчас|теперь|again|снова)\s+)?"
_CALLED = r"(?:the\s+)?[\"“«]?(?-i:[^\W\d_a-zа-яё])"
"""A name: what begins with a capital letter, or with one of a script that has none."""
_CALLED_RU = r"(?:компани[июя]\s+[\"“«]?(?-i:[A-ZА-ЯЁ])|[\"“«]?(?-i:[А-ЯЁ])|[\"“«])"
_END = r"(?=\s*(?:$|[.,;!?。，；！（(]))"

_ONE_AT_A_TIME: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, lazy(rf"{_WHO}(?:{pattern})", re.IGNORECASE))
    for name, pattern in (
        (
            "home",
            (rf"(?:lives?|living|resides|based)\s+{_NOW}(?:in|at)\s+(?!(?:an?|the|his|her|my|our|their|one|two|three)\s)\w"
             rf"|(?:moved|relocated)\s+{_NOW}to\s+{_CALLED}"
             rf"|(?:жив[её]т|живу|проживает|переехала?|перебрал(?:ся|ась))\s+{_NOW}(?:в|во|на)\s+(?:город[е]?\s+)?{_CALLED}"
             r"|(?:住在|搬到|搬去|搬至|定居(?:在|于|於)?)了?(?![一二两三四五六七八九十几0-9这那他她它我自别新])"),
        ),
        (
            "place",
            (rf"(?<=now )(?:in|at)\s+{_CALLED}|(?<=currently )(?:in|at)\s+{_CALLED}"
             rf"|(?:(?<=сейчас )|(?<=теперь ))(?:в|на)\s+{_CALLED}"
             r"|(?:(?<=目前)|(?<=现在)|(?<=現在)|(?<=目前人)|(?<=现在人)|(?<=現在人))在(?![学做用读看写想找等忙吃学學寫讀])[^，。]{1,12}" + _END),
        ),
        (
            "work",
            (rf"(?:works?|working|employed)\s+{_NOW}(?:as\s+(?:an?\s+)?(?=\S)[\w \-]{{2,40}}?\s+)?(?:at|for|by)\s+{_CALLED}|joined\s+{_CALLED}"
             rf"|(?:работает|работаю|устроил(?:ся|ась))\s+{_NOW}(?:в|во)\s+{_CALLED_RU}"
             rf"|(?:就职于|就職於|任职于|任職於|入职|入職)了?|在(?!家|晚|夜|周|早|深|外|线)[^，。的]{{1,20}}工作了?{_END}"),
        ),
        (
            "age",
            (r"(?:turned\s+)?\d{1,3}\s+years?\s+old\b|turned\s+\d{1,3}" + _END +
             r"|(?:(?:ему|ей|мне)\s+)?(?:(?:сейчас|уже)\s+)?(?:исполнилось\s+)?\d{1,3}\s+(?:лет|год[а]?)" + _END
             + r"|满?\d{1,3}(?:岁|歲)了?" + _END),
        ),
        (
            "married",
            (r"(?:married|single|divorced|engaged)(?![\w\-]|\s+(?:in|with|on|out)\b)"
             r"|(?:не\s+)?(?:женат|замужем|холост|разведена?)(?!\w)|(?:已婚|未婚|单身|單身|离婚|離婚|结婚|結婚)了?" + _END),
        ),
    )
)  # fmt: skip

_KEYS = lazy(
    "status|state|phase|stage|progress|equity|balance|price|rent|salary|budget|phone|telephone|mobile|e-?mail|mail|address"
    "|age|birthday|deadline|version|release|port|host|url|branch|role|job|employer|home|timezone|weight|height|size|limit"
    "|owner|статус|состояние|этап|стадия|прогресс|капитал|баланс|цена|аренда|зарплата|бюджет|телефон|почта|адрес|возраст"
    "|версия|релиз|порт|хост|ветка|роль|должность|срок|дедлайн|вес|рост|размер|лимит"
)
"""The words before a colon that have one value at a time. Any other ("idea: …", "child: …") may have many."""
_KEYS_ZH = (
    "状态|狀態|阶段|階段|进度|進度|净值|余额|餘額|价格|價格|租金|工资|薪水|预算|預算|电话|電話|手机|手機|邮箱|郵箱|地址|年龄|年齡|生日"
    "|截止日期|期限|版本|端口|主机|分支|职位|職位|时区|体重|身高|上限|负责人"
)
_KEYED = lazy(
    r"(?P<key>(?:[^\W\d_][\w'’\-]*[ \t]+){0,3}[^\W\d_][\w'’\-]*)(?:[ \t]*[:：=][ \t]*(?!//)|\s+(?:is|are)\s+(?:now\s+)?(?=[\d$€£¥₽“\"'#v])"
    r"|\s+(?:теперь|равен|равна|составляет)\s+)\S",
    re.IGNORECASE,
)
_KEYED_ZH = lazy(
    rf"(?P<key>[\u4e00-\u9fff]{{0,8}}?(?:{_KEYS_ZH}))[ \t]*(?:[:：=]|(?:现在|現在|目前)?[是为為](?=[\d$€£¥“\"'])).",
    re.DOTALL,
)


def attribute_of(kind: FactKind, text: str, entities: tuple[str, ...]) -> str:
    """The key of a fact: kind, of whom, what; "" where a later fact replaces nothing."""
    if kind in {FactKind.EXPERIENCE, FactKind.OBSERVATION}:
        return ""
    whom = slug_of(entities[0]) if entities else ""
    if kind is FactKind.OPINION:
        said = sorted(set(content_terms(text)))
        return f"opinion/{whom}/{' '.join(said)[:200]}" if said else ""
    plain = _without_subject(text, entities)
    if whom in {slug_of(name) for name in entities_in(plain)}:
        return ""  # named in passing: "lives with @Anna in Oslo" is nobody's home
    for name, pattern in _ONE_AT_A_TIME:
        if whom and pattern.match(plain):
            return f"world/{whom}/{name}"
    key = _key(plain)
    return f"world/{whom}/{key}" if key and (whom or " " in key or len(key) > 8) else ""


def _without_subject(text: str, entities: tuple[str, ...]) -> str:
    """The text behind its own subject's name, where it begins with it: "Peter lives …", "@Peter lives …"."""
    plain = text.lstrip("@＠")
    for name in (entities[0], *entities[0].split()[:1]) if entities else ():
        if plain.casefold().startswith(name.casefold()):
            rest = plain[len(name) :]
            if rest[:1].isspace() or (
                rest and not name[-1].isascii() and not rest[0].isascii() and not _cyrillic(name)
            ):
                return rest.strip()
    return text.strip()


def _cyrillic(name: str) -> bool:
    return "\u0400" <= name[-1] <= "\u052f"


def _key(plain: str) -> str:
    """What a text names before its value, if such a thing has one value at a time."""
    keyed = _KEYED.match(plain)
    if keyed:
        words = keyed["key"].casefold().split()
        if _KEYS.fullmatch(words[-1]) or ("а" <= words[0][0] <= "я" and _KEYS.fullmatch(words[0])):
            return " ".join(sorted(set(content_terms(keyed["key"]))))
    keyed = _KEYED_ZH.match(plain)
    return " ".join(sorted(set(content_terms(keyed["key"])))) if keyed else ""
