"""Markdown, mem0, Claude Code and any JSON of texts to gems, and back; payloads of other memories."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any

from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.memory.gemcraft import one_line
from openclaw_neuralstream.model import (
    OWNER,
    ExtractorIdentity,
    Gem,
    GemSource,
    Kind,
    Origin,
    Scope,
    content_uuid,
    digest,
)
from openclaw_neuralstream.patterns import WHOLE, lazy
from openclaw_neuralstream.secrets import redact
from openclaw_neuralstream.text.lexicon import language_of
from openclaw_neuralstream.text.lines import SPEC_FIELDS, clean_foreign_gem, gem_from_json, gem_to_json, moment

TEXT_FIELDS = (
    "content", "gem", "gem_text", "text", "memory", "data", "fact", "document", "page_content", "body", "message", "snippet"
)  # fmt: skip
_SUMMARY = ("summary", "title", "snippet")
_AT = ("created_at", "createdAt", "timestamp", "date", "time", "updated_at", "extracted_at")
USER_FIELDS = ("user_id", "userId", "user", "owner")
_TAGS = ("tags", "categories", "category", "labels")
_TOPICS = ("topics", "keywords", "entities_topics")
_SESSION = ("session_id", "conversation_id", "session", "thread_id", "run_id", "source_session")
_WHO = ("role", "speaker", "source_type", "author_type", "actor")
_SOURCE = ("source", "origin", "url")
_KINDS = {**{kind.value: kind for kind in Kind}, "action": Kind.TODO}
_WORDS = {"critical": 0.95, "high": 0.85, "medium": 0.6, "normal": 0.6, "low": 0.4}
_SAID_BY = {
    **dict.fromkeys(("user", "human", "owner"), Origin.OWNER),
    **dict.fromkeys(("assistant", "ai", "agent", "bot", "model", "inferred"), Origin.AGENT),
    **dict.fromkeys(("tool", "web", "external", "document", "system", "other"), Origin.UNTRUSTED),
}
_SPEAKER = {Origin.OWNER: OWNER, Origin.AGENT: "agent", Origin.UNTRUSTED: "third-party", Origin.SYSTEM: "system"}
_MOST = 20_000  # characters of a text that are taken; a longer one is a document, not a memory
_LEAST = 3

ADOPTED = "import"
"""Name of the extractor of gems that were made elsewhere; its model is the collection they come from."""


def gem_of(
    payload: Mapping[str, Any],
    *,
    collection: str,
    point: str,
    agent: str,
    now: datetime,
    user: str = "",
    origin: Origin | None = None,
    owners: Iterable[str] = (),
) -> Gem | None:
    """The payload as a gem, without secrets; None when it holds no text that we find.

    user: whose memory all of it is; "" = as the payload says, where no name and those in `owners` are the owner.
    origin: whose words all of it is; None = as the payload says, the agent's where it does not. The id is derived from
    collection and point: the same point again is the same gem.
    """
    flat = _flattened(payload)
    content = redact(_text(flat, TEXT_FIELDS)).text.strip()[:_MOST]
    if len(content) < _LEAST:
        return None
    at = _moment(_first(flat, _AT)) or now
    words = origin or _origin(flat)
    whose = user or _whose(_text(flat, USER_FIELDS), owners)
    vouched = words if whose == OWNER or words is not Origin.OWNER else Origin.UNTRUSTED
    kind, tags = _kind(flat), _words(flat, _TAGS)
    gem = Gem(
        gem_id=content_uuid("import", collection, point),
        content=content,
        summary=redact(_text(flat, _SUMMARY)).text.strip()[:200] or one_line(content),
        topics=_words(flat, _TOPICS),
        importance=_share(_first(flat, ("importance", "score", "weight")), 0.6),
        source=GemSource(_text(flat, _SESSION) or collection, f"{at:%Y-%m-%d}", _text(flat, ("turn_range",))),
        tags=tuple(dict.fromkeys((kind.value, "imported", *tags))),
        created_at=at,
        scope=Scope(
            _text(flat, ("agent", "agent_id", "source_agent")) or agent, whose, _text(flat, ("project", "project_id"))
        ),
        kind=kind,
        origin=vouched,
        speaker=_SPEAKER[vouched],
        entities=_words(flat, ("entities",)),
        confidence=_share(flat.get("confidence"), 0.7),
        language=language_of(content),
        valid_from=at,
        extractor=ExtractorIdentity(ADOPTED, "1", collection),
        session_key=f"import:{collection}",
    )
    return clean_foreign_gem(gem)


def unread(entries: Iterable[Mapping[str, Any]], what: str, where: str) -> BadRequest:
    """The error for an import none of whose entries holds a text that we find: what they hold, and what is looked for."""
    names = sorted({redact(str(name)).text[:40] for entry in entries for name in _flattened(entry)})
    held = f"they have the fields {', '.join(names[:20])}" if names else "they have no fields"
    fix = f"the text is looked for in {', '.join(TEXT_FIELDS)}; give one of these names to the field that holds it"
    return BadRequest(f"no text was found in {what}: {held}", where=where, fix=fix)


def own_gem(
    payload: Mapping[str, Any],
    *,
    user: str = "",
    origin: Origin | None = None,
    owners: Iterable[str] = (),
    vouched: bool = True,
) -> Gem | None:
    """A gem of another NeuralStream as it stands, without secrets; None for any other payload.

    user, origin: what the one who imports says of all of it; it goes before what the payload says. vouched: whether the
    payload's word that the owner said it is taken; else those are the agent's.
    """
    if any(name not in payload for name in SPEC_FIELDS):
        return None
    try:
        gem = clean_foreign_gem(gem_from_json(dict(payload)))
    except BadRequest:
        return None
    whose = user or _whose(gem.scope.user, owners)
    words = origin or (Origin.AGENT if gem.origin is Origin.OWNER and not vouched else gem.origin)
    if words is Origin.OWNER and origin and whose != OWNER:
        words = Origin.UNTRUSTED
    speaker = gem.speaker if words is gem.origin else _SPEAKER[words]
    return replace(gem, scope=replace(gem.scope, user=whose), origin=words, speaker=speaker)


def _flattened(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The payload with what stands in its `metadata` beside it, where it has no such field itself."""
    inner = payload.get("metadata")
    return {**inner, **payload} if isinstance(inner, Mapping) else dict(payload)


def _first(flat: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((flat[name] for name in names if flat.get(name) not in (None, "", [])), None)


def _text(flat: Mapping[str, Any], names: Sequence[str]) -> str:
    return next((v.strip() for name in names if isinstance(v := flat.get(name), str) and v.strip()), "")


def _words(flat: Mapping[str, Any], names: Sequence[str]) -> tuple[str, ...]:
    found = _first(flat, names)
    listed = found.split(",") if isinstance(found, str) else found if isinstance(found, list) else []
    words = (redact(word).text.strip()[:80] for word in listed if isinstance(word, str))
    return tuple(dict.fromkeys(word for word in words if word))[:20]


def _kind(flat: Mapping[str, Any]) -> Kind:
    named = [_text(flat, ("kind", "type", "memory_type")), *_words(flat, _TAGS)]
    return next((_KINDS[word.lower()] for word in named if word.lower() in _KINDS), Kind.FACT)


def _origin(flat: Mapping[str, Any]) -> Origin:
    """Whose words: as the payload says. What came from an address is nobody's."""
    if _text(flat, _SOURCE).startswith(("http://", "https://")):
        return Origin.UNTRUSTED
    told = [_text(flat, (name,)).lower() for name in (*_WHO, "source")]
    return next((_SAID_BY[word] for word in told if word in _SAID_BY), Origin.AGENT)


def _whose(user: str, owners: Iterable[str]) -> str:
    return OWNER if not user or user in {OWNER, *owners} else user


def _share(value: Any, default: float) -> float:
    """A number in [0, 1], a number up to 10 or 100, or a word."""
    if isinstance(value, str):
        value = _WORDS.get(value.strip().lower())
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 100:
        return default
    return round(value if value <= 1 else value / 10 if value <= 10 else value / 100, 3)


def _moment(value: Any) -> datetime | None:
    if isinstance(value, str):
        try:
            return moment(value.strip()).astimezone(UTC)
        except (BadRequest, OverflowError):
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e14:
        return None
    return datetime.fromtimestamp(value if value < 1e11 else value / 1000, UTC)


FORMATS = ("auto", "gems", "mem0", "claude-code", "markdown", "json")

_LISTS = ("results", "memories", "data", "items", "gems")
_TEXTS = ("memory", "text", "content", "data", "fact")
_MARK = lazy(r"<!--\s*gem (\{(?:(?!<!--).)*?\}|[\w-]+)(?: ([0-9a-f]{4}))?\s*-->", window=WHOLE)
_KEPT = lazy(r"^<!-- gems: .*\n((?:(?!<!-- gems: ).*\n)*?)-->[ \t]*(?:\n|\Z)", re.MULTILINE, window=WHOLE)
_KEPT_HEAD = "<!-- gems: what the bullets do not show, for neuralstream gems import; leave it as it is"
_NAME = lazy(r"[0-9a-zA-Z][\w-]{7,}")
_NAMED = 8  # characters of an id that stand behind a bullet
_SIGNED = 2  # bytes of what tells whether a bullet's words were changed, behind them
_DAY = lazy(r"\d{4}-\d{2}-\d{2}")
_FRONT = lazy(r"\A---\n.*?\n---\n", re.DOTALL, window=WHOLE)
_DEFINED = lazy(
    r"^ {0,3}\[[^\]\n]{1,200}\]:[ \t]*<?(?:[a-z][a-z0-9+.-]*:|[./#])\S*(?:[ \t]+[\"'(].*)?[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
"""A link definition, as opposed to a name and what was said: its destination is an address, a path or an anchor."""
_SHORT = 4  # words of a statement that does not stand without its heading
_LONGEST = 2_000
_NUMBERED = lazy(r"(\d{1,9})[.)]")
_BEGINS = frozenset("#<>~`-*+=_[|\\")  # what begins a block of Markdown


@dataclass(frozen=True, slots=True)
class Named:
    """A gem that the mark of a bullet names.

    words: what the bullet says. changed: whether that is something else than what was exported; None = nobody knows.
    whole: gem_id is all of the id, not its beginning.
    """

    gem_id: str
    words: str
    changed: bool | None = True
    whole: bool = True


@dataclass(slots=True)
class Marks:
    """What the comments of a page say of our gems.

    named: id of the gem that a bullet would make anew → the gem that its mark names. Bullets that are whole with their end of
    the page are none of these.
    there, back: how many marks stand in the page, and how many were read with their bullets.
    """

    named: dict[str, Named] = field(default_factory=dict)
    there: int = 0
    back: int = 0

    @property
    def lost(self) -> int:
        """Marks whose bullets were not read: their lines are no bullets any more."""
        return self.there - self.back

    @property
    def edits(self) -> list[Named]:
        """Those whose words were changed."""
        return [one for one in self.named.values() if one.changed]


def to_markdown(gems: Sequence[Gem], *, title: str) -> str:
    """A page to read and to edit: a section a day, a bullet a gem with its short id and a digest of its words; the rest ends the page.

    `from_markdown` gives the same gems; a bullet whose words were changed is an edit of its gem, a new one a new gem.
    """
    lines = [f"# {title}", ""]
    names = _names(gems)
    told: list[str] = []
    day = ""
    for gem in sorted(gems, key=lambda gem: (gem.created_at, gem.gem_id)):
        if (made := f"{gem.created_at:%Y-%m-%d}") != day:
            day = made
            lines += ["", f"## {day}", ""] if lines[-1] else [f"## {day}", ""]
        flat = _bullet(" ".join(gem.content.split()))
        kept = gem_to_json(gem)
        if flat == gem.content:
            del kept["content"]
        lines.append(f"- {flat} <!-- gem {names[gem.gem_id]} {digest(flat, size=_SIGNED)} -->")
        told.append(f"{names[gem.gem_id]} {_commented({**kept, 'of': digest(flat, size=6)})}")
    return "\n".join([*lines, *(["", _KEPT_HEAD, *told, "-->"] if told else [])]) + "\n"


def from_markdown(
    text: str, *, name: str, agent: str, now: datetime, origin: Origin | None, marks: Marks | None = None
) -> list[Gem]:
    """The bullets and paragraphs of a page as gems: ours as they were, others as the agent's words.

    marks: where it is noted which of them are changed words of a gem of ours, and whether marks were lost.

    origin: whose words all of it is; None = as just said.
    name: of the file; a day in it, or in a heading, is when it was said.
    """
    found: list[Gem] = []
    marks = marks if marks is not None else Marks()
    told = _told(text)
    text = _KEPT.sub("", text)
    marks.there += sum(_is_ours(mark[1], told) for mark in _MARK.finditer(text))
    for day, statement in _statements(_FRONT.sub("", text), _DAY.search(name)):
        marked = _MARK.search(statement)
        plain = " ".join(_MARK.sub("", statement).split())
        ours = marked is not None and _is_ours(marked[1], told)
        kept = _kept(marked[1], told) if marked and ours else None
        marks.back += ours
        own = _own(dict(kept), plain, origin) if kept else None
        at = _at(day) or now
        gem = own or gem_of(
            {"text": plain[:_LONGEST], "created_at": at.isoformat()},
            collection=f"markdown:{name}",
            point=digest(plain),
            agent=agent,
            now=now,
            origin=origin or Origin.AGENT,
        )
        if gem:
            found.append(gem)
            if marked and ours and not own and plain and (named := _named(marked, kept, plain)):
                marks.named[gem.gem_id] = named
    return found


def from_json(
    text: str,
    *,
    name: str,
    agent: str,
    now: datetime,
    origin: Origin | None,
    where: str,
    user: str = "",
    skipped: list[str] | None = None,
) -> list[Gem]:
    """JSON lines, an array, or an object with an array in it: our own gems, mem0's memories, or anything with a text.

    origin: whose words all of it is; None = as each entry says. user: whose memory; "" = as each entry says, and the
    owner's where all entries name one and the same. skipped: where an entry without a text is noted.
    Raises BadRequest that says where, also when no entry has a text.
    """
    found: list[Gem] = []
    empty: list[str] = []
    items = list(_items(text, where))
    whose = user or (OWNER if len({str(i[f]) for i in items for f in USER_FIELDS if i.get(f)}) == 1 else "")
    for number, item in enumerate(items, 1):
        own = own_gem(item, origin=origin)
        point = str(item.get("id") or item.get("gem_id") or digest(*(str(item.get(field)) for field in _TEXTS)))
        gem = own or gem_of(item, collection=name, point=point, agent=agent, now=now, origin=origin, user=whose)
        if gem:
            found.append(gem)
        else:
            empty.append(f"{where}, entry {number}")
    if empty and not found:
        raise unread(items, f"any of {len(items)} entries", empty[0])
    if skipped is not None:
        skipped += empty
    return found


def format_of(name: str, text: str) -> str:
    """The format by name and beginning: "json" or "markdown"."""
    ending = PurePath(name).suffix.lower()
    if ending in (".md", ".markdown", ".json", ".jsonl"):
        return "json" if ending.startswith(".json") else "markdown"
    return "json" if text.lstrip()[:1] in ("{", "[", "") else "markdown"


def _items(text: str, where: str) -> Iterator[Mapping[str, Any]]:
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        whole = [_line(line, f"{where}, line {n}") for n, line in enumerate(text.split("\n"), 1) if line.strip()]
    if isinstance(whole, dict):
        whole = next((whole[key] for key in _LISTS if isinstance(whole.get(key), list)), [whole])
    if not isinstance(whole, list) or not all(isinstance(item, dict | str) for item in whole):
        raise BadRequest("not a list of memories", where=where, fix="neuralstream gems export writes the format")
    yield from ({"text": item} if isinstance(item, str) else item for item in whole)


def _line(line: str, where: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"not JSON: {error}", where=where, fix="neuralstream gems export writes the format") from error


def _own(kept: dict[str, Any], plain: str, origin: Origin | None) -> Gem | None:
    """Our gem as it was written, where its words were not changed."""
    return own_gem({"content": plain, **kept}, origin=origin) if kept.pop("of", "") == digest(plain, size=6) else None


def _names(gems: Sequence[Gem]) -> dict[str, str]:
    """What each gem is called on its page, by its id: as much of the id as tells it apart."""
    often = Counter(gem.gem_id[:_NAMED] for gem in gems)
    short = {gem.gem_id: gem.gem_id[:_NAMED] for gem in gems}
    return {
        id_: name if often[name] == 1 and _NAME.fullmatch(name) else digest(id_, size=_NAMED)
        for id_, name in short.items()
    }


def _told(text: str) -> dict[str, dict[str, Any]]:
    """What the end of a page says of each gem, by its name there."""
    found = {}
    for block in _KEPT.findall(text):
        for line in block.splitlines():
            name, _, value = line.partition(" ")
            if read := _read(value):
                found[name] = read
    return found


def _is_ours(mark: str, told: Mapping[str, dict[str, Any]]) -> bool:
    """Whether a comment names a gem: all of it, one that the end of the page tells, or enough of an id. Else it is somebody's words."""
    return _kept(mark, told) is not None or _NAME.fullmatch(mark) is not None


def _kept(mark: str, told: Mapping[str, dict[str, Any]]) -> dict[str, Any] | None:
    """What the page says of a gem by its mark: in the mark itself, or at the end of the page where that is still there."""
    return _read(mark) if mark.startswith("{") else told.get(mark)


def _named(mark: re.Match[str], kept: dict[str, Any] | None, plain: str) -> Named | None:
    """The gem that a bullet of ours names. Where the end of the page was lost, its digest says whether it was changed."""
    words = _unescaped(plain)[:_LONGEST]
    if kept is None:
        changed = mark[2] != digest(plain, size=_SIGNED) if mark[2] else None
        return Named(mark[1], words, changed, whole=False)
    return Named(kept["gem_id"], words) if isinstance(kept.get("gem_id"), str) else None


def _read(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _bullet(flat: str) -> str:
    """Words as they stand behind a dash: what would begin a block, a definition or a comment is escaped."""
    flat = flat.replace("<!--", "<! --").replace("\0", "\ufffd")
    if number := _NUMBERED.match(flat):
        return f"{number[1]}\\{flat[number.end(1) :]}"
    return f"\\{flat}" if flat[:1] in _BEGINS else flat


def _unescaped(plain: str) -> str:
    """The inverse of `_bullet`, for words that somebody has changed since."""
    plain = plain.replace("<! --", "<!--")
    if number := re.match(r"(\d{1,9})\\(?=[.)])", plain):
        return number[1] + plain[number.end() :]
    return plain[1:] if plain[:1] == "\\" and plain[1:2] in _BEGINS else plain


def _commented(value: dict[str, Any]) -> str:
    """JSON that ends no comment."""
    return json.dumps(value, ensure_ascii=True).replace("--", "-\\u002d").replace(">", "\\u003e")


def _statements(text: str, named: re.Match[str] | None) -> Iterator[tuple[str, str]]:
    """Day and words of each bullet and paragraph; code and headings are none. A short one is put behind its heading."""
    from markdown_it import MarkdownIt

    day, heading, headed = named[0] if named else "", "", False
    # "[Rob]: yes" is a link definition by CommonMark and no text at all; here it is what Rob said
    for token in MarkdownIt("commonmark").disable("reference").parse(_DEFINED.sub("", text)):
        if token.type == "heading_open":
            headed = True
        elif token.type == "inline" and headed:
            headed, heading = False, token.content.strip()
            day = found[0] if (found := _DAY.search(heading)) else day
        elif token.type == "inline":
            words = token.content.strip()
            words = words if _MARK.search(words) else words[:_LONGEST]
            bare = _MARK.sub("", words).strip()
            short = len(bare.split()) < _SHORT and bare.isascii() and heading and not _DAY.search(heading)
            yield day, f"{heading}: {words}" if short and not _MARK.search(words) else words


def _at(day: str) -> datetime | None:
    try:
        return datetime.fromisoformat(day).replace(tzinfo=UTC) if day else None
    except ValueError:
        return None
