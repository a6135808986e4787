"""`python -m benchmarks.told [--half heldout] [--show] [--out FILE]`: what the model is told of what people ask for.

Every turn goes through the real path (the bridge's events, capture, the embedded extractor, all indexes); each question is a
`prompt_build` event, half of them the first of a session, half after ten turns about something else. A question counts as told
when what stands before the model holds the words that answer it.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: two spinning threads on busy cores measure the queue

import argparse
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.extraction.matching import holds
from benchmarks.extraction.replay import Stage, stage
from benchmarks.recall.metrics import summary
from benchmarks.report import percentiles, ready, write
from benchmarks.told.conversations import HALVES, LANGUAGES, Conversation, Question, load
from benchmarks.training.labels import messages as labelled
from openclaw_neuralstream import logs
from openclaw_neuralstream.server import moments


@dataclass(frozen=True, slots=True)
class Row:
    """One question: whether it is told, whether a gem holds the answer, and what stood before the model."""

    conversation: str
    language: str
    place: str
    question: str
    told: bool
    stored: bool
    tokens: int
    text: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A labelled message: whether memory could help with it, and whether no record stood beside it."""

    text: str
    language: str
    needs: bool
    silent: bool


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.told", description=__doc__)
    parser.add_argument("--half", choices=HALVES, default="dev", help="heldout is only asked to report")
    parser.add_argument("--show", action="store_true", help="name each question that is not told")
    parser.add_argument("--out", type=Path, help="where the measures go (JSON); without it benchmarks/results")
    asked = ready(parser, lambda _: False)
    logs.configure("error")
    rows: list[Row] = []
    messages: list[Asked] = []
    for conversation in load(asked.half):
        with told_all(conversation) as on:
            rows += asked_of(on, conversation)
            messages += messages_of(on, conversation)
    if asked.show:
        for row in rows:
            if not row.told:
                print(f"{row.conversation} {row.place} {'(a gem has it) ' if row.stored else ''}{row.question}")
    body = {"half": asked.half, "questions": len(rows), "percent": measures(rows)}
    body["tokens"] = percentiles([row.tokens for row in rows])
    body["silent"] = {name: silent(messages, name) for name in ("nothing", "needs")}
    for name, row in body["percent"].items():
        print(
            f"{name:12s} n={row['questions']['n']:3d} told {row['told']['mean']:5.1f} ({row['told']['low']:.1f} … {row['told']['high']:.1f})"
        )
    print("messages that bring no record, percent", body["silent"])
    if asked.show:
        for item in messages:
            if item.silent == item.needs:
                print(
                    f"{item.language} {'needs memory, silent' if item.needs else 'needs nothing, records shown'}: {item.text}"
                )
    print("tokens", body["tokens"], "mean", round(mean(row.tokens for row in rows)))
    if asked.out:
        print(write(f"told-{asked.half}", body))


def measures(rows: Sequence[Row]) -> dict[str, Any]:
    """Told, in percent with 95 % intervals: of all, by language, by place."""
    groups: dict[str, list[dict[str, float]]] = defaultdict(list)
    for row in rows:
        for name in ("all", row.language, row.place):
            groups[name].append({"told": float(row.told), "in a gem": float(row.stored)})
    return {name: summary(found) for name, found in groups.items()}


@contextmanager
def told_all(conversation: Conversation) -> Iterator[Stage]:
    """A memory of its own to which everything was said."""
    with stage({"extractor": "rules"}, conversation.turns[0].at, environ=os.environ) as on:
        say(on, conversation)
        yield on


def messages_of(on: Stage, conversation: Conversation) -> Iterator[Asked]:
    """The labelled messages of the language, shared out over its conversations, alone and after other talk in turn."""
    alike = [c.name for c in load(conversation.half) if c.language == conversation.language]
    of = [m for m in labelled(conversation.half) if m.language == conversation.language]
    for number, message in enumerate(of[alike.index(conversation.name) :: len(alike)]):
        place = ("first", "deep")[number % 2]
        question = Question(place, conversation.questions[0].at, message.text, ())
        event = prompt(conversation, question, len(conversation.questions) + number)
        records = moments.prompt_build(on.memory, event)["text"]
        yield Asked(message.text, conversation.language, message.needs, not records)


def silent(messages: Sequence[Asked], name: str) -> dict[str, float]:
    """Percent of the messages of this label that bring no record beside the brief, by language."""
    of = [item for item in messages if item.needs == (name == "needs")]
    groups = {language: [i.silent for i in of if language in ("all", i.language)] for language in ("all", *LANGUAGES)}
    return {language: round(100 * mean(found), 1) for language, found in groups.items() if found}


def asked_of(on: Stage, conversation: Conversation) -> Iterator[Row]:
    """The conversation's questions."""
    gems = [gem.content for gem in on.memory.truth.gems(limit=1_000)]
    for number, question in enumerate(conversation.questions):
        on.clock.now = question.at
        answer = moments.prompt_build(on.memory, prompt(conversation, question, number))
        text = "\n".join((answer["brief"], answer["text"]))
        stored = any(holds(gem, question.wanted) for gem in gems)
        told = any(holds(line, question.wanted) for line in text.splitlines())
        yield Row(
                conversation.name, conversation.language, question.place, question.text, told, stored, answer["tokens"], text
            )  # fmt: skip


def say(on: Stage, conversation: Conversation) -> None:
    """Every turn as the bridge sends it, distilled when a session is over; then what the workers do in the seconds after."""
    last, minute = conversation.turns[0], 0
    for number, turn in enumerate(conversation.turns):
        minute = minute + 1 if turn.session == last.session else 0
        if turn.session != last.session:
            on.memory.flush()
        at = turn.at + timedelta(minutes=minute)
        on.clock.now = at
        moments.turn_end(on.memory, _event(conversation, number, turn.session, turn.text, turn.answer, at.timestamp()))
        last = turn
    on.clock.now += timedelta(hours=1)
    on.memory.flush()
    on.memory.turn_projection.embed_missing()
    if on.memory.sequencer is not None:
        on.memory.sequencer.catch_up()


def prompt(conversation: Conversation, question: Question, number: int) -> dict[str, Any]:
    """The question as the bridge sends it, of a session of its own."""
    talk = conversation.talk if question.place == "deep" else []
    dialogue = [
        {"role": role, "text": text} for pair in talk for role, text in zip(("user", "assistant"), pair, strict=True)
    ]
    return {
        "agent": "main",
        "session_key": f"agent:main:asked-{number}",
        "session_id": f"asked-{number}",
        "prompt": question.text,
        "dialogue": dialogue[-12:],
        "window_text": "\n".join(item["text"] for item in dialogue),
        "sender": {"id": "owner", "owner": True},
        "trigger": "user",
    }


def _event(conversation: Conversation, number: int, session: str, text: str, answer: str, at: float) -> dict[str, Any]:  # noqa: PLR0917
    ms = int(at * 1_000)
    return {
        "run_id": f"{conversation.name}-{number}",
        "agent": "main",
        "session_key": f"agent:main:{session}",
        "session_id": session,
        "messages": [
            {"role": "user", "content": text, "timestamp": ms},
            {"role": "assistant", "content": answer, "timestamp": ms + 5_000},
        ],
        "sender": {"id": "owner", "owner": True},
        "trigger": "user",
        "at": ms,
    }


if __name__ == "__main__":
    main()
