"""How sequences read as files: one index of the newest, a file for each large or old one. Pure: values in, JSON out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from openclaw_neuralstream.model import Origin, Pair
from openclaw_neuralstream.sequences.rows import Row, Totals

INDEX = "memory/qa-index.json"
SESSIONS, ARCHIVE = "memory/sessions", "memory/archive"
STRUCTURE = "sequence-indexed-qa"
SAYS = (
    "A view that NeuralStream rewrites: what you change or delete here comes back."
    " Yours are memory/topics.txt and the marks: neuralstream qa mark SESSION#SEQ. Forget with neuralstream forget."
)
RECENT = 500
"""Entries of `by_recency`."""

MOST_SESSIONS, MOST_PAIRS = 200, 2_000
"""What the index file lists at most, so that writing it never costs more: all others have files of their own."""

LAST = 5
"""Pairs of a session with a file of its own that the index file shows all the same."""


def file_of(row: Row, *, large: int) -> str:
    """Where a sequence is written: "" = whole into the index file."""
    if row.archived:
        return f"{ARCHIVE}/{row.name}.json"
    return f"{SESSIONS}/{row.name}.json" if row.pairs > large else ""


def session_file(row: Row, pairs: Sequence[Pair]) -> str:
    """A sequence of its own."""
    told = {"version": 1, "structure": STRUCTURE, "note": SAYS, "archived": row.archived, **_session(row, pairs)}
    return _text(told)


def index_file(listed: Sequence[tuple[Row, str, Sequence[Pair]]], totals: Totals, now: datetime) -> str:
    """The index. listed: sequences newest first, each with its own file ("" = none) and the pairs shown here."""
    told = {
        "version": 1,
        "structure": STRUCTURE,
        "note": SAYS,
        "sessions": [{**_session(row, pairs), **({"file": file} if file else {})} for row, file, pairs in listed],
        "index": _index([pair for _, _, pairs in listed for pair in pairs]),
        "metadata": {
            "total_qa_pairs": totals.pairs,
            "stored_answers": totals.answers,
            "compression_ratio": round(totals.answers / totals.pairs, 4) if totals.pairs else 0.0,
            "total_sessions": totals.sequences,
            "last_updated": instant(now),
        },
    }
    return _text(told)


def pair_to_json(pair: Pair) -> dict[str, Any]:
    """A pair in the form of the files."""
    told: dict[str, Any] = {
        "seq": pair.seq,
        "q": pair.question,
        "q_tokens": list(pair.tokens),
        "q_hash": pair.question_hash,
        "a": pair.answer or None,
        "a_significance": round(pair.significance, 2),
        "timestamp": instant(pair.at),
        "topic_tags": list(pair.topics),
    }
    if pair.origin is not Origin.OWNER:
        told["q_by"] = pair.speaker
    if pair.others:
        told["others"] = [{"by": speaker, "text": text} for speaker, text in pair.others]
    if pair.kept:
        told["kept_for"] = pair.kept
    if pair.mark:
        told["mark"] = pair.mark
    return told


def instant(at: datetime) -> str:
    """RFC 3339, whole seconds."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _session(row: Row, pairs: Sequence[Pair]) -> dict[str, Any]:
    return {
        "session_id": row.name,
        "agent": row.scope.agent,
        "session_key": row.key,
        "created": instant(row.first),
        "pairs": row.pairs,
        "qa_sequence": [pair_to_json(pair) for pair in pairs],
    }


def _index(pairs: Sequence[Pair]) -> dict[str, Any]:
    newest = sorted(pairs, key=lambda pair: (pair.at, pair.sequence, pair.seq), reverse=True)
    by_topic: dict[str, list[dict[str, Any]]] = {}
    by_hash: dict[str, dict[str, Any]] = {}
    for pair in newest:
        place = {"session": pair.sequence, "seq": pair.seq}
        for topic in pair.topics:
            by_topic.setdefault(topic, []).append(place)
        if pair.question_hash:
            by_hash.setdefault(pair.question_hash, place)
    recent = [{"session": p.sequence, "seq": p.seq, "timestamp": instant(p.at)} for p in newest[:RECENT]]
    return {"by_topic": dict(sorted(by_topic.items())), "by_recency": recent, "by_semantic_hash": by_hash}


def _text(told: Mapping[str, Any]) -> str:
    return json.dumps(told, ensure_ascii=False, indent=1).encode("utf-8", "backslashreplace").decode() + "\n"
