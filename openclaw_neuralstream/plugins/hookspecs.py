"""The moments at which hooks run. Hooks are synchronous; one that raises is named, counted and skipped."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import pluggy

from openclaw_neuralstream.model import (
    Block,
    Child,
    Draft,
    EmbedderIdentity,
    Gem,
    Query,
    Record,
    Session,
    Turn,
    Usage,
)
from openclaw_neuralstream.ports import GemIndex, Reading, TurnBuffer

if TYPE_CHECKING:
    from click import Command

    from openclaw_neuralstream.memory.engine import Memory
    from openclaw_neuralstream.settings import Settings

PROJECT = "neuralstream"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def session_start(session: Session, query: Query, memory: Memory) -> Block | None:
    """Brief the model at the first request of a session, or of its new epoch.

    session: the conversation, with its present epoch. query: the first message, with its scope.
    Returns a block that is put before the first turn's own; None or an empty block adds nothing.
    All results are joined in the order of the hooks.
    """


@hookspec
def prompt_build(session: Session, query: Query, memory: Memory) -> Block | None:
    """Say what the model should be reminded of before a turn. On the reply path: answer fast or not at all.

    Returns a block; all results are joined in the order of the hooks.
    """


@hookspec
def subagent_spawn(child: Child, query: Query, memory: Memory) -> Block | None:
    """Brief a sub-agent at its first request, in place of session_start and prompt_build.

    child: its conversation, its parent's, its task. query: the task as a question, with its scope.
    Returns a block that is put before its first turn; all results are joined in the order of the hooks.
    """


@hookspec
def subagent_end(child: Child, findings: Turn, memory: Memory) -> bool | None:
    """A sub-agent has answered. findings: task and answer as a turn of the parent's conversation.

    Returns True when they were kept, False when they were known already, None when this hook does not keep them.
    """


@hookspec
def turn_end(turn: Turn, usage: Usage | None, memory: Memory) -> bool | None:
    """Keep a turn that has ended. usage: tokens, window and percent; None where the host did not tell.

    Returns True when the turn was kept, False when it was known already, None when this hook does not keep turns.
    """


@hookspec
def before_compaction(session: Session, memory: Memory) -> None:
    """The host is about to summarise the window; what it drops should be on its way into gems."""


@hookspec
def session_end(session: Session, reason: str, memory: Memory) -> None:
    """The session's context is gone. reason: new, reset, idle, daily, deleted or shutdown."""


@hookspec
def idle(now: datetime, memory: Memory) -> None:
    """Called by our own clock every few seconds while the process runs."""


@hookspec(firstresult=True)
def extract(reading: Reading) -> list[Draft] | None:
    """Distil a batch in place of the configured extractor. The first list returned wins; None declines."""


@hookspec
def filter_gem(gem: Gem) -> bool | None:
    """Say False to keep a gem from being stored. Any False wins; None and True keep it."""


@hookspec
def score_gem(gem: Gem) -> float | None:
    """Say how much a new gem matters, from 0 to 1, in place of the formula of `importance.py`.

    gem.importance is the extractor's opinion. The first number returned wins; None leaves it to the formula. What a
    person sets by hand wins over both.
    """


@hookspec
def find_records(query: Query, limit: int) -> list[Record] | None:
    """Bring records of your own to a question. On the reply path: answer fast or not at all.

    Returns at most `limit` records whose `agent` is the query's and whose `score`, from 0 to 1, is their relevance; they
    pass the same threshold, limit and budget as ours. None and [] add nothing.
    """


@hookspec
def filter_record(record: Record, query: Query) -> bool | None:
    """Say False to leave a recalled record out of what is shown. Any False wins; None and True keep it."""


@hookspec
def render(template: str, records: list[Record]) -> str | None:
    """Write a block in place of its template ("gem_block", "session_start", "subagent_brief"). The first text wins.

    A text without our outer tag is put into one, so that it is never captured again.
    """


@hookspec
def commands() -> list[Command] | None:
    """Add commands to `neuralstream`: click commands, by their names. Ours cannot be replaced."""


@hookspec
def turn_buffer(settings: Settings) -> TurnBuffer | None:
    """Keep waiting turns elsewhere (see `ports.TurnBuffer`); the embedded buffer stays behind it. The first one wins."""


@hookspec
def gem_index(settings: Settings, identity: EmbedderIdentity) -> GemIndex | None:
    """Search gems by vector elsewhere (see `ports.GemIndex`), with vectors of this embedder. The first one wins."""
