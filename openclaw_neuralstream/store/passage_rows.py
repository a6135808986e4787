"""The rows of verbatim turns and their words."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from openclaw_neuralstream.foreground import FOREGROUND
from openclaw_neuralstream.model import EmbedderIdentity, Origin, Scope, Turn, digest
from openclaw_neuralstream.ports import Passage, PassageCounts
from openclaw_neuralstream.store import labels
from openclaw_neuralstream.store.database import heaviest, in_rows, renamed, storable
from openclaw_neuralstream.store.schema import seconds
from openclaw_neuralstream.text.lexicon import bases, script_of, terms
from openclaw_neuralstream.text.traces import is_empty

CODE = np.dtype("<u4")
"""A term in a passage's row: its CRC-32. Two words of a question and of a passage are confused once in millions."""

STRETCH_BITS = 20
"""A place is the number of its stretch of conversation, and in these bits its number there."""

_K1, _B = 1.2, 0.75
_WEIGHED = 2
"""How many times as many passages as are wanted are weighed: those with the rarest terms, all by BM25."""

_COMMON = 1_000  # a term of more passages than this is counted once and then remembered
_DRIFT = 1.02  # until the scope has grown by so much


def coded(terms: Iterable[str]) -> NDArray[np.uint32]:
    """Each term's code, in their order."""
    return np.fromiter((crc32(term.encode("utf-8", "surrogatepass")) for term in terms), CODE)


class Frequencies:
    """How many passages hold a term. Counting a common one takes its time, so those are remembered."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, int]] = {}  # token -> passages in all when it was counted, those that hold it

    def of(self, connection: sqlite3.Connection, scope: int, passages: int, terms: Iterable[str]) -> dict[str, int]:
        """How many passages of the scope, which has so many, hold each term; 0 for what none holds."""
        tokens = {term: f"{scope}/{term}" for term in terms}
        known = {token: self._known.get(token, (0, 0)) for token in tokens.values()}
        counted = {token: n for token, (then, n) in known.items() if n and then <= passages <= then * _DRIFT}
        for token, count in in_rows(connection, [token for token in known if token not in counted]).items():
            counted[token] = count
            if count > _COMMON:
                self._known[token] = (passages, count)
        return {term: counted[token] for term, token in tokens.items()}


def match(
    connection: sqlite3.Connection,
    frequency: Mapping[str, int],
    scope: int,
    project: str,
    *,
    limit: int,
    passages: int,
    mean: float,
) -> list[int]:
    """The places of the best passages by BM25 over these terms, best first; the newest first among equals.

    As FTS5 weighs them: a term that most passages hold says nothing. frequency: the terms, and how many of the scope's
    passages hold each. mean: how many terms one has.
    """
    idf = {term: max(1e-6, math.log((max(passages, n) - n + 0.5) / (n + 0.5))) for term, n in frequency.items()}
    candidates = heaviest(connection, {f"{scope}/{term}": weight for term, weight in idf.items()})
    weights = np.fromiter(idf.values(), float)
    places: list[NDArray[np.int64]] = []
    scores: list[NDArray[np.float64]] = []
    found, step = 0, _WEIGHED * limit
    for start in range(0, len(candidates), step):
        read = counts(connection, candidates[start : start + step].tolist(), list(idf), scope, project)
        norm = _K1 * (1 - _B + _B * read.lengths / mean)
        places.append(read.places)
        scores.append((read.counts * (_K1 + 1) / (read.counts + norm[:, None])) @ weights)
        found += len(read.places)
        if found >= limit:
            break
    if not found:
        return []
    there, score = np.concatenate(places), np.concatenate(scores)
    return [int(place) for place in there[np.lexsort((-there, -score))[:limit]]]


def counts(
    connection: sqlite3.Connection,
    places: Sequence[int],
    terms: Sequence[str],
    scope: int,
    project: str,
    *,
    beginning: int = 0,
) -> PassageCounts:
    """How often each of the terms stands in the passages at these places, by place."""
    rows = connection.execute(  # "+": by the places, not by walking all of the scope
        """
        SELECT place, id, row, terms FROM passages WHERE place IN (SELECT value FROM json_each(?)) AND +scope = ?
        AND (? = '' OR project IN ('', ?)) ORDER BY place
        """,
        (json.dumps(list(places)), scope, project, project),
    ).fetchall()
    there, ids, vectors, texts = zip(*rows, strict=True) if rows else ((), (), (), ())
    held = np.frombuffer(b"".join(texts), CODE)
    lengths = np.array([len(text) for text in texts], np.int64) // CODE.itemsize
    starts = np.cumsum(lengths) - lengths
    whole, begun = _counted(held, starts, coded(terms), beginning)
    at = np.array(there, np.int64)
    return PassageCounts(
        places=at,
        ids=ids,
        stretches=at >> STRETCH_BITS,
        rows=np.array(vectors, np.int64),
        lengths=lengths,
        counts=whole,
        begun=begun,
    )


def _counted(
    held: NDArray[np.uint32], starts: NDArray[np.int64], asked: NDArray[np.uint32], beginning: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Passages × asked terms: how often, and how often within the first so many terms of the passage."""
    passages, terms = len(starts), len(asked)
    if not held.size or not terms:
        nothing = np.zeros((passages, terms), np.int64)
        return nothing, nothing
    order = np.argsort(asked)
    at = np.minimum(np.searchsorted(asked[order], held), terms - 1)
    column = order[at]
    where = np.flatnonzero(asked[column] == held)
    owner = np.searchsorted(starts, where, side="right") - 1
    cells = owner * terms + column[where]
    early = where - starts[owner] < beginning
    shape, room = (passages, terms), passages * terms
    return np.bincount(cells, minlength=room).reshape(shape), np.bincount(cells[early], minlength=room).reshape(shape)


_FORMAT = "4"
_WITH_FORMS = "3"
"""The form in which irregular forms were indexed as they are written."""
_POSITION, _GENERATION, _LOSSES, _NEXT_ROW, _WIPE = "position", "generation", "losses", "next_row", "wipe.pending"
_MERGE_PAGES = 500
"""Pages that one step of rewriting the word index may touch: other writers get in between two steps."""

_PAUSE_SECONDS = 3_600.0
"""A pause after which a conversation starts a new stretch: what was said before it is no context any more."""

_TOKENIZER = r"ascii tokenchars '!#$%&()*+,-./:;<=>?@[\]^_`{|}~'''"
"""Only blanks separate tokens; a term of `lexicon.terms` has none, and no double quote."""

_AT = "(body ->> '$[9]')"
"""When a passage was said, in seconds: its place in what `_body` writes."""

_TABLES = (
    "CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE IF NOT EXISTS scopes(scope INTEGER PRIMARY KEY, agent TEXT NOT NULL, user TEXT NOT NULL,
        passages INTEGER NOT NULL DEFAULT 0, words INTEGER NOT NULL DEFAULT 0, UNIQUE(agent, user))""",
    """CREATE TABLE IF NOT EXISTS stretches(stretch INTEGER PRIMARY KEY, session TEXT NOT NULL UNIQUE,
        last REAL NOT NULL, next INTEGER NOT NULL)""",
    "CREATE TABLE IF NOT EXISTS turns(turn_id TEXT PRIMARY KEY, size INTEGER NOT NULL) WITHOUT ROWID",
    """CREATE TABLE IF NOT EXISTS passages(place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, turn_id TEXT NOT NULL,
        scope INTEGER NOT NULL, project TEXT NOT NULL, row INTEGER NOT NULL UNIQUE, length INTEGER NOT NULL,
        embedded INTEGER NOT NULL DEFAULT 0, terms BLOB NOT NULL, body TEXT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS passages_turn ON passages(turn_id)",
    f"CREATE INDEX IF NOT EXISTS passages_at ON passages(scope, {_AT})",
    "CREATE INDEX IF NOT EXISTS passages_bare ON passages(place) WHERE embedded = 0",
    f'CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(tokens, tokenize = "{_TOKENIZER}")',
    "CREATE VIRTUAL TABLE IF NOT EXISTS words_seen USING fts5vocab(words, row)",
)
_LABELS = {"owner": "User", "agent": "Assistant", "tool": "Tool", "third-party": "Someone", "system": "System"}
_MONTHS = {
    "latin": (
        "January", "February", "March", "April", "May", "June",
        "July", "August", "September", "October", "November", "December",
    ),
    "cyrillic": (
        "января", "февраля", "марта", "апреля", "мая", "июня",
        "июля", "августа", "сентября", "октября", "ноября", "декабря",
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class View:
    """Which vector row is whose passage, as it was at one moment.

    generation, losses: how many writes came before it, and how many of those took something out.
    """

    rows: NDArray[np.int64]  # columns: vector row, place, scope
    scopes: Mapping[tuple[str, str], int]
    generation: int = 0
    losses: int = 0

    @property
    def end(self) -> int:
        """One past the last vector row in use."""
        return int(self.rows[:, 0].max(initial=-1)) + 1

    def of(self, scope: Scope) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The vector rows and the places of the scope's passages."""
        if len(self.scopes) == 1 and self.scopes.get(_names(scope)) is not None:
            return self.rows[:, 0], self.rows[:, 1]
        own = self.rows[self.rows[:, 2] == self.scopes.get(_names(scope), -1)]
        return own[:, 0], own[:, 1]

    def unused(self) -> NDArray[np.int64]:
        """The rows before the end that are nobody's."""
        free = np.ones(self.end, dtype=bool)
        free[self.rows[:, 0]] = False
        return np.flatnonzero(free)


@dataclass(frozen=True, slots=True)
class Kept:
    """A turn as the truth has it. turn: None = it does not read, or is gone. size: bytes of it there; -1 = gone."""

    turn_id: str
    turn: Turn | None
    size: int


@dataclass(frozen=True, slots=True)
class Bare:
    """A passage that has no vector yet."""

    place: int
    row: int
    body: str

    @property
    def text(self) -> str:
        """What is embedded."""
        return embedded_text(_passage(json.loads(self.body)))


@dataclass(slots=True)
class Written:
    """What a write did: turns that are new, and vector rows that hold nobody's vector any more."""

    turns: int = 0
    freed: list[int] = field(default_factory=list)


def passages_of(turn: Turn) -> list[Passage]:
    """The utterances of a turn that say something."""
    session = turn.session
    return [
        Passage(
            id=digest("passage", turn.turn_id, str(number)),
            turn_id=turn.turn_id,
            scope=turn.scope,
            stretch=f"{session.agent}\x1f{session.key}\x1f{session.epoch}",
            session=session.host_id or session.key,
            number=turn.index,
            speaker=said.speaker,
            who=said.name or _LABELS.get(said.speaker, said.speaker),
            origin=said.origin,
            at=said.at,
            text=said.text,
        )
        for number, said in enumerate(turn.utterances)
        if not is_empty(said.text) and said.speaker in ("owner", "agent", "third-party")
    ]


def embedded_text(passage: Passage) -> str:
    """What is embedded: who said it, when, and what; without the name a chat turn is found half as often."""
    return f"{passage.who} ({_day(passage)}): {passage.text}"


def prepare(connection: sqlite3.Connection, identity: EmbedderIdentity) -> bool:
    """Make the tables, anew when they are of another form. False when their vectors are of another embedder.

    Then every passage is without one; the words stay.
    """
    form = _known_form(connection)
    if form == _WITH_FORMS:
        _lead_back(connection)
    elif form not in ("", _FORMAT):
        for table in ("words_seen", "words", "passages", "turns", "stretches", "scopes", "meta"):
            connection.execute(f"DROP TABLE IF EXISTS {table}")
    for table in _TABLES:
        connection.execute(table)
    labels.put(connection, "form", _FORMAT)
    if made_by(connection) == str(identity):
        return True
    labels.put(connection, "made_by", str(identity))
    bare(connection)
    return False


def _lead_back(connection: sqlite3.Connection) -> None:
    """Irregular forms become those of their words: in the word index, and in the codes of each passage; vectors stay."""
    names = bases()
    old, new = coded(names), coded(names.values())
    order = np.argsort(old)
    old, new = old[order], new[order]
    for place in renamed(connection, names).tolist():
        held = np.frombuffer(
            connection.execute("SELECT terms FROM passages WHERE place = ?", (place,)).fetchone()[0], CODE
        )
        at = np.minimum(np.searchsorted(old, held), len(old) - 1)
        codes = np.where(old[at] == held, new[at], held).astype(CODE)
        connection.execute("UPDATE passages SET terms = ? WHERE place = ?", (codes.tobytes(), place))
    _written(connection, lost=False)


def made_by(connection: sqlite3.Connection) -> str:
    """The embedder whose vectors it holds."""
    return labels.get(connection, "made_by")


def bare(connection: sqlite3.Connection) -> None:
    """No passage has a vector."""
    connection.execute("UPDATE passages SET embedded = 0 WHERE embedded = 1")
    _written(connection, lost=True)


def write(connection: sqlite3.Connection, kept: Iterable[Kept]) -> Written:
    """Make these turns what the truth says they are. What is as it was keeps its place and its vector."""
    done = Written()
    next_row = int(labels.get(connection, _NEXT_ROW) or "0")
    for one in kept:
        FOREGROUND.rest()  # nobody who answers waits for this transaction
        known = {
            id_: (place, row, scope, words, body)
            for id_, place, row, scope, words, body in connection.execute(
                "SELECT id, place, row, scope, length, body FROM passages WHERE turn_id = ?", (one.turn_id,)
            ).fetchall()
        }
        said = {passage.id: passage for passage in (passages_of(one.turn) if one.turn else ())}
        for id_, (place, row, scope, words, body) in known.items():
            passage = said.get(id_)
            if passage is not None and _body(passage) == body:
                continue
            _remove(connection, place, scope, words)
            done.freed.append(row)
            if passage is not None:
                _insert(connection, passage, next_row, place=place)
                next_row += 1
        for passage in said.values():
            if passage.id not in known:
                _insert(connection, passage, next_row, place=_place(connection, passage))
                next_row += 1
        done.turns += _note_turn(connection, one)
    if done.freed:
        _remove_empty_stretches(connection)
        labels.put(connection, _WIPE, "1")
    labels.put(connection, _NEXT_ROW, str(next_row))
    _written(connection, lost=bool(done.freed))
    return done


def _note_turn(connection: sqlite3.Connection, one: Kept) -> bool:
    """Remember that the turn was added, also when it had nothing to add. True when it is new."""
    if one.size < 0:
        connection.execute("DELETE FROM turns WHERE turn_id = ?", (one.turn_id,))
        return False
    seen = connection.execute("SELECT 1 FROM turns WHERE turn_id = ?", (one.turn_id,)).fetchone()
    connection.execute("INSERT OR REPLACE INTO turns(turn_id, size) VALUES (?, ?)", (one.turn_id, one.size))
    return not seen


def _insert(connection: sqlite3.Connection, passage: Passage, row: int, *, place: int) -> None:
    scope = _scope(connection, passage.scope)
    found = _tokens(passage)
    tokens = [f"{scope}/{token}" for token in found]
    connection.execute(
        "INSERT INTO passages(place, id, turn_id, scope, project, row, length, terms, body)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            place, passage.id, passage.turn_id, scope, storable(passage.scope.project),
            row, len(tokens), coded(found).tobytes(), _body(passage),
        ),
    )  # fmt: skip
    connection.execute("INSERT INTO words(rowid, tokens) VALUES (?, ?)", (place, " ".join(tokens)))
    connection.execute(
        "UPDATE scopes SET passages = passages + 1, words = words + ? WHERE scope = ?", (len(tokens), scope)
    )


def _remove(connection: sqlite3.Connection, place: int, scope: int, words: int) -> None:
    connection.execute("DELETE FROM words WHERE rowid = ?", (place,))
    connection.execute("DELETE FROM passages WHERE place = ?", (place,))
    connection.execute("UPDATE scopes SET passages = passages - 1, words = words - ? WHERE scope = ?", (words, scope))


def _remove_empty_stretches(connection: sqlite3.Connection) -> None:
    connection.execute(
        f"DELETE FROM stretches WHERE NOT EXISTS (SELECT 1 FROM passages WHERE"  # noqa: S608 - our own number
        f" place BETWEEN stretch << {STRETCH_BITS} AND (stretch + 1 << {STRETCH_BITS}) - 1)"
    )


def _written(connection: sqlite3.Connection, *, lost: bool) -> None:
    for key in (_GENERATION, _LOSSES) if lost else (_GENERATION,):
        labels.put(connection, key, str(_number(connection, key) + 1))


def _number(connection: sqlite3.Connection, key: str) -> int:
    return int(labels.get(connection, key) or "0")


def generation(connection: sqlite3.Connection) -> int:
    """How many writes there were."""
    return _number(connection, _GENERATION)


def position(connection: sqlite3.Connection) -> int | None:
    """The number of the last change applied; None = the turns were never all looked at."""
    kept = labels.get(connection, _POSITION)
    return int(kept) if kept else None


def advance(connection: sqlite3.Connection, number: int) -> None:
    """All changes up to this number are applied."""
    labels.put(connection, _POSITION, str(number))


def without_vector(connection: sqlite3.Connection, limit: int) -> list[Bare]:
    """Passages that have no vector, newest last."""
    rows = connection.execute(
        "SELECT place, row, body FROM passages WHERE embedded = 0 ORDER BY place LIMIT ?", (limit,)
    ).fetchall()
    return [Bare(*row) for row in rows]


def bare_count(connection: sqlite3.Connection) -> int:
    """How many passages have no vector."""
    return int(connection.execute("SELECT count(*) FROM passages WHERE embedded = 0").fetchone()[0])


def has_vector(connection: sqlite3.Connection, one: Bare) -> bool:
    """Note that it has one; False when it is not there any more as it was."""
    changed = connection.execute(
        "UPDATE passages SET embedded = 1 WHERE place = ? AND row = ? AND body = ? AND embedded = 0",
        (one.place, one.row, one.body),
    )
    return bool(changed.rowcount)


def wipe_due(connection: sqlite3.Connection) -> bool:
    """Whether the bytes of something that was taken out may still be here."""
    return bool(labels.get(connection, _WIPE))


def wiped(connection: sqlite3.Connection) -> None:
    """They are not."""
    labels.put(connection, _WIPE, "")


def merge(connection: sqlite3.Connection, *, first: bool) -> bool:
    """One step of rewriting the word index without what was taken out; False when there was nothing left to do."""
    before = connection.total_changes
    step = -_MERGE_PAGES if first else _MERGE_PAGES
    connection.execute("INSERT INTO words(words, rank) VALUES ('merge', ?)", (step,))
    return connection.total_changes - before >= 2


def sizes(connection: sqlite3.Connection) -> dict[str, int]:
    """Every turn that was added, with the bytes it had."""
    return dict(connection.execute("SELECT turn_id, size FROM turns").fetchall())


def _known_form(connection: sqlite3.Connection) -> str:
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
        return ""
    return labels.get(connection, "form") or "1"


def totals(connection: sqlite3.Connection, scope: Scope | None) -> tuple[int, int]:
    """How many passages and terms there are."""
    if scope is None:
        found = connection.execute("SELECT coalesce(sum(passages), 0), coalesce(sum(words), 0) FROM scopes").fetchone()
    else:
        found = connection.execute(
            "SELECT passages, words FROM scopes WHERE agent = ? AND user = ?",
            _names(scope),
        ).fetchone()
    return (int(found[0]), int(found[1])) if found else (0, 0)


def fetch(connection: sqlite3.Connection, ids: Sequence[str], scope: Scope) -> list[Passage]:
    """The passages of these ids."""
    number = known_scope(connection, scope)
    found = connection.execute(  # "+": by the ids, not by walking all of the scope
        "SELECT body FROM passages WHERE id IN (SELECT value FROM json_each(?)) AND +scope = ?",
        (json.dumps(list(ids)), number),
    ).fetchall()
    return [_passage(json.loads(body)) for (body,) in found]


def said_between(
    connection: sqlite3.Connection, first: float | None, last: float | None, scope: Scope, *, parts: int, each: int
) -> list[list[tuple[str, int]]]:
    """Id and length of the first `each` passages of every equal part of a time that has some, in order. None = open.

    A part begins with what was said in it first; what is read is bounded by parts and each.
    """
    number, project = known_scope(connection, scope), storable(scope.project)
    ends = connection.execute(
        f"SELECT (SELECT min({_AT}) FROM passages WHERE scope = ?1 AND {_AT} >= ?2),"  # noqa: S608 - our own expression
        f" (SELECT max({_AT}) FROM passages WHERE scope = ?1 AND {_AT} < ?3)",
        (number, -math.inf if first is None else first, math.inf if last is None else last),
    ).fetchone()
    if None in ends or ends[1] < ends[0]:
        return []
    begin, step = ends[0], max((ends[1] - ends[0]) / parts, 1.0)
    found: list[list[tuple[str, int]]] = []
    for part in range(parts):
        start, stop = begin + part * step, begin + (part + 1) * step if part + 1 < parts else ends[1] + 1
        rows = connection.execute(
            f"SELECT id, length FROM passages WHERE scope = ? AND {_AT} >= ? AND {_AT} < ?"  # noqa: S608 - our own expression
            f" AND {_AT} <= ? AND (? = '' OR project IN ('', ?)) ORDER BY {_AT} LIMIT ?",
            (number, start, stop, ends[1], project, project, each),
        ).fetchall()
        if rows:
            found.append(rows)
        if stop > ends[1]:
            break
    return found


def find(connection: sqlite3.Connection, prefix: str) -> list[Passage]:
    """The passages whose id begins so, two at most."""
    found = connection.execute(
        "SELECT body FROM passages WHERE id >= ? AND id < ? LIMIT 2", (prefix, prefix + "\U0010ffff")
    ).fetchall()
    return [_passage(json.loads(body)) for (body,) in found]


def view(connection: sqlite3.Connection, old: View | None = None) -> View:
    """Which row is whose, all of it, or the old view with what came after it when nothing was taken out since."""
    losses = _number(connection, _LOSSES)
    kept = old.rows if old and old.losses == losses else None
    since = int(kept[:, 0].max(initial=-1)) + 1 if kept is not None else 0
    fresh = connection.execute(
        "SELECT row, place, scope FROM passages WHERE row >= ? ORDER BY row", (since,)
    ).fetchall()
    scopes = {(a, u): n for n, a, u in connection.execute("SELECT scope, agent, user FROM scopes").fetchall()}
    added = np.array(fresh, np.int64).reshape(-1, 3)
    both = added if kept is None else np.concatenate([kept, added])
    return View(both, scopes, generation(connection), losses)


def _tokens(passage: Passage) -> list[str]:
    return terms(f"{passage.who} {_day(passage)}\n{passage.text}")


def _day(passage: Passage) -> str:
    at, script = passage.at, script_of(passage.text)
    if script == "cjk":
        return f"{at.year}年{at.month}月{at.day}日"
    months = _MONTHS.get(script, _MONTHS["latin"])
    return f"{at.day} {months[at.month - 1]} {at.year}"


def _place(connection: sqlite3.Connection, passage: Passage) -> int:
    """The next place in the present stretch of the conversation; a pause begins a new stretch."""
    at, session = seconds(passage.at), storable(passage.stretch)
    row = connection.execute("SELECT stretch, last, next FROM stretches WHERE session = ?", (session,)).fetchone()
    if row and abs(at - row[1]) <= _PAUSE_SECONDS:
        stretch, number = int(row[0]), int(row[2])
    else:
        if row:  # the old stretch is over; its places stay
            connection.execute("UPDATE stretches SET session = ? WHERE stretch = ?", (f"{session}\x1f{row[0]}", row[0]))
        made = connection.execute("INSERT INTO stretches(session, last, next) VALUES (?, ?, 8)", (session, at))
        stretch, number = int(made.lastrowid or 0), 8  # room before the first place, so that neighbours never mix
    connection.execute("UPDATE stretches SET last = ?, next = ? WHERE stretch = ?", (at, number + 1, stretch))
    return (stretch << STRETCH_BITS) + number


def _names(scope: Scope) -> tuple[str, str]:
    return storable(scope.agent), storable(scope.user)


def _scope(connection: sqlite3.Connection, scope: Scope) -> int:
    names = _names(scope)
    connection.execute("INSERT OR IGNORE INTO scopes(agent, user) VALUES (?, ?)", names)
    return int(connection.execute("SELECT scope FROM scopes WHERE agent = ? AND user = ?", names).fetchone()[0])


def known_scope(connection: sqlite3.Connection, scope: Scope) -> int | None:
    """The scope's number; None = nothing of it was ever added."""
    names = _names(scope)
    row = connection.execute("SELECT scope FROM scopes WHERE agent = ? AND user = ?", names).fetchone()
    return int(row[0]) if row else None


def _body(passage: Passage) -> str:
    scope = passage.scope
    return json.dumps(
        [
            passage.id, passage.turn_id, [scope.agent, scope.user, scope.project], passage.stretch, passage.session,
            passage.number, passage.speaker, passage.who, passage.origin.value, seconds(passage.at), passage.text,
        ]
    )  # fmt: skip


def _passage(values: list[object]) -> Passage:
    id_, turn_id, scope, stretch, session, number, speaker, who, origin, at, text = values
    return Passage(
        id=str(id_),
        turn_id=str(turn_id),
        scope=Scope(*scope),  # type: ignore[misc]  # a list of three texts, as `_body` wrote it
        stretch=str(stretch),
        session=str(session),
        number=int(str(number)),
        speaker=str(speaker),
        who=str(who),
        origin=Origin(str(origin)),
        at=datetime.fromtimestamp(float(str(at)), UTC),
        text=str(text),
    )
