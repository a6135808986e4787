"""What the host tells, moment by moment: event, value, hooks, answer."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import structlog

from openclaw_neuralstream import capture
from openclaw_neuralstream.errors import BadRequest, StateError
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.memory.forget_files import HOST, What
from openclaw_neuralstream.model import Block, Child, Query, Session, Trigger, Turn, Usage
from openclaw_neuralstream.server import spool
from openclaw_neuralstream.state import NAME
from openclaw_neuralstream.transfer import host
from openclaw_neuralstream.worker import Worker

_SEEN, _ASKED = "canary.seen", "canary.asked"
_REMEMBERED = 5


def seen(memory: Memory, params: Mapping[str, Any]) -> dict[str, Any]:
    """{"text": marker}: the bridge found it in what the host's model is about to read. The last few are kept."""
    marker = params.get("text")
    if not isinstance(marker, str) or not marker.strip() or len(marker) > 200:
        raise BadRequest("text must be a marker", where="text")
    known = [other for other in _markers(memory) if other != marker]
    memory.truth.set_meta(_SEEN, "\n".join([*known, marker][-_REMEMBERED:]))
    return {}


def arm(memory: Memory, params: Mapping[str, Any]) -> dict[str, Any]:
    """{"marker", "agent", "session_key"}: only a new sighting counts, in a session that is asked about the marker next.

    The stored sentence carries the marker itself, so that it was seen before.
    """
    memory.truth.set_meta(_SEEN, "\n".join(other for other in _markers(memory) if other != params.get("marker")))
    memory.truth.set_meta(_ASKED, "\n".join(_place(params)))
    return {}


def asks_in(memory: Memory, session: Session) -> bool:
    """Whether the canary asks in this session. It is given no brief: what the model reads of the marker came by recall."""
    return memory.truth.meta(_ASKED) == f"{session.agent}\n{session.key}"


def was_seen(memory: Memory, params: Mapping[str, Any]) -> dict[str, Any]:
    """{"marker"} → {"seen"}: true when the bridge has reported it since it was armed."""
    return {"seen": params.get("marker") in _markers(memory)}


def captured(memory: Memory, params: Mapping[str, Any]) -> dict[str, Any]:
    """{"agent", "session_key"} → {"turns", "waiting"}: turns of a session that were accepted, and that still wait."""
    agent, key = _place(params)
    backlogs = [b for _, b in memory.distiller.backlogs() if (b.session.agent, b.session.key) == (agent, key)]
    waiting = sum(backlog.waiting + backlog.claimed for backlog in backlogs)
    return {"turns": max(memory.truth.last_index(agent, key), waiting), "waiting": waiting}


def forget_session(memory: Memory, params: Mapping[str, Any]) -> dict[str, Any]:
    """{"agent", "session_key"} → {"gems", "turns"}: the session's turns, and the gems that stand on nothing else."""
    agent, key = _place(params)
    gone = memory.eraser.forget(What(session=key, agent=agent)).removed
    return {"gems": gone.get("gems", 0), "turns": gone.get("turns", 0) + gone.get("waiting turns", 0)}


def _markers(memory: Memory) -> list[str]:
    return (memory.truth.meta(_SEEN) or "").split()


def _place(params: Mapping[str, Any]) -> tuple[str, str]:
    agent, key = params.get("agent", "main"), params.get("session_key")
    if not isinstance(agent, str) or not isinstance(key, str) or not key:
        raise BadRequest("agent and session_key must be texts", where="session_key")
    return agent, key


log = structlog.get_logger(__name__)

Event = Mapping[str, Any]

DELETED = "deleted"
"""Why a session ended that a person deleted in the host."""

KEEPER = "turn_end"
"""The bundled hook that keeps turns; what other hooks of the moment return is theirs."""

BRIEFER = "session_start"
"""The bundled hook that briefs."""

FINDER = "subagent_end"
"""The bundled hook that keeps what a sub-agent found."""


def turn_begin(memory: Memory, event: Event) -> dict[str, Any]:
    """A person's message is about to be answered: kept at once, and completed by its `turn_end`.

    Where that never comes (the gateway was killed), the next turn of the conversation that ends makes it a turn of its own.
    """
    turn = capture.read_turn(event, now=memory.now(), settings=memory.settings)
    if not isinstance(turn, capture.Skipped) and not capture.is_indirect(event, turn.session):
        memory.begin(replace(turn, session=memory.session(turn.session.agent, turn.session.key, turn.session.host_id)))
    return {}


def turn_end(memory: Memory, event: Event) -> dict[str, Any]:
    """A turn has ended: {"accepted": "new" | "seen" | "skipped", "reason"?}."""
    _workspace(memory, event)
    try:
        heard = _heard(memory, event)
        turn = capture.read_turn(event, now=memory.now(), settings=memory.settings, heard=heard)
    except BadRequest:
        with memory.eraser.intake:
            spool.put_aside(memory.parts.state.spool, {"method": "turn_end", "params": dict(event)})
        raise
    if isinstance(turn, capture.Skipped) and turn.reason == "subagent" and (child := capture.read_child(event)):
        return _child_end(memory, event, child, heard)
    if isinstance(turn, capture.Skipped) and turn.reason == "resumed" and (begun := _begun(memory, event)):
        turn = capture.read_rest(event, begun)
    if isinstance(turn, capture.Skipped):
        memory.truth.count(f"skipped.{turn.reason}")
        return {"accepted": "skipped", "reason": turn.reason}
    session = memory.session(turn.session.agent, turn.session.key, turn.session.host_id)
    usage = capture.read_usage(event)
    for cut_off in memory.truth.begun(session.agent, session.key):
        if cut_off.turn_id != turn.turn_id and cut_off.at <= turn.at:  # the host runs one turn of a session at a time
            _kept(memory, cut_off, None)
    kept = [_kept(memory, part, usage) for part in _announced_apart(event, replace(turn, session=session))]
    if event.get("reminded") is not False:  # the brief of this window reached the model, or none was due
        memory.truth.mark_briefed(session)
        memory.injected.keep(session, turn.turn_id)
    return {"accepted": "new" if any(kept) else "seen", "turn": turn.turn_id}


def _begun(memory: Memory, event: Event) -> Turn | None:
    """The last turn of the conversation that began and has not ended."""
    session = capture.read_session(event)
    return next(reversed(memory.truth.begun(session.agent, session.key)), None)


def _kept(memory: Memory, turn: Turn, usage: Usage | None) -> bool:
    new = memory.parts.hooks.by_plugin("turn_end", turn=turn, usage=usage, memory=memory).get(KEEPER)
    # where the hook failed, and is counted by name, the turn is kept all the same
    return new if isinstance(new, bool) else memory.retain(turn, usage)


def prompt_build(memory: Memory, event: Event) -> dict[str, Any]:
    """Before a turn: {"text", "brief", "records", "tokens"}; what is empty has nothing to say.

    brief: stands in the system's part of every request of a window, byte for byte the same. text: beside this message.
    """
    _workspace(memory, event)
    heard = _heard(memory, event)
    if capture.resumes(event) and (begun := _begun(memory, event)):
        event = {**event, "prompt": begun.text_of("owner", "third-party")}  # the host's own words ask for nothing
    query = capture.read_query(event, now=memory.now(), settings=memory.settings, heard=heard)
    if isinstance(query, capture.Skipped):
        return {"text": "", "records": [], "tokens": 0}  # no brief: the one that stands, stands
    known = capture.read_session(event)
    session = memory.session(known.agent, known.key, known.host_id)
    child = capture.read_child(event)
    if child and not memory.truth.briefed(session):
        return _answer(
            _joined(memory, memory.parts.hooks.each("subagent_spawn", child=child, query=query, memory=memory))
        )
    memory.conversations.ask(session, query)
    brief = Block("") if child else _brief(memory, session, query)
    blocks = memory.parts.hooks.each("prompt_build", session=session, query=_beyond(query, brief), memory=memory)
    block = _joined(memory, [block for block in blocks if isinstance(block, Block)])
    memory.truth.count("injected.turns" if block.text or brief.text else "injected.nothing")
    both = Block("", (*brief.records, *block.records), brief.tokens + block.tokens)
    if isinstance(run := event.get("run_id"), str) and run:
        memory.injected.note(capture.turn_id_of_run(known, run), both, agent=session.agent, brief=len(brief.records))
    return {"text": block.text, "brief": brief.text, "records": list(both.records), "tokens": both.tokens}


def _child_end(memory: Memory, event: Event, child: Child, heard: str) -> dict[str, Any]:
    """A sub-agent's turn: what it found is a turn of its parent's conversation."""
    if event.get("reminded") is not False:
        memory.truth.mark_briefed(memory.session(child.session.agent, child.session.key, child.session.host_id))
    turn = capture.read_findings(event, child, now=memory.now(), settings=memory.settings, heard=heard)
    if turn is None:
        memory.truth.count("skipped.subagent")
        return {"accepted": "skipped", "reason": "subagent"}
    parent = memory.session(turn.session.agent, turn.session.key)
    findings = replace(turn, session=parent)
    new = memory.parts.hooks.by_plugin("subagent_end", child=child, findings=findings, memory=memory).get(FINDER)
    if not isinstance(new, bool):
        new = memory.retain(findings)
    return {"accepted": "new" if new else "seen", "turn": turn.turn_id}


def _announced_apart(event: Event, turn: Turn) -> list[Turn]:
    """The findings that a turn announces, and the rest of it.

    The findings are the very turn that the child's own answer makes: whichever comes second is known.
    """
    findings = capture.announces(event)
    if not findings:
        return [turn]
    told = tuple(said for said in turn.utterances if said.speaker == "system")
    rest = tuple(said for said in turn.utterances if said.speaker != "system")
    parts = [replace(turn, turn_id=findings, utterances=told), replace(turn, utterances=rest)]
    return [part for part in parts if part.utterances]


def before_compaction(memory: Memory, event: Event) -> dict[str, Any]:
    """The host is about to summarise its window."""
    session = _session(memory, event)
    memory.parts.hooks.each("before_compaction", session=session, memory=memory)
    return {}


def after_compaction(memory: Memory, event: Event) -> dict[str, Any]:
    """It has: the next request is the first of a new window."""
    session = _session(memory, event)
    memory.truth.compacted(session.agent, session.key)
    memory.injected.new_window(session)
    return {}


def session_end(memory: Memory, event: Event) -> dict[str, Any]:
    """A session's context is gone."""
    reason = str(event.get("reason") or "unknown")
    session = _session(memory, event)
    if not memory.truth.first_heard(session, str(event.get("event_id") or ""), memory.now()):
        return {}  # delivered twice: the answer to the first was late
    memory.parts.hooks.each("session_end", session=session, reason=reason, memory=memory)
    memory.end_session(session, reason)
    if reason == DELETED and memory.settings.forget_with_host:
        memory.eraser.ask(What(session=session.key, agent=session.agent, epoch=session.epoch, by=HOST))
    return {}


def gateway_stop(memory: Memory, event: Event) -> dict[str, Any]:  # noqa: ARG001  one signature for all moments
    """The host goes; this process stays until its work is done."""
    for _, backlog in memory.distiller.backlogs():
        memory.ask_to_distil(backlog.session, Trigger.BOUNDARY)
    return {}


def _workspace(memory: Memory, event: Event) -> None:
    """The host says where this agent's files are; it may have moved them since the last turn."""
    if not isinstance(event, Mapping):
        return
    agent, folder = event.get("agent"), event.get("workspace")
    if isinstance(agent, str) and isinstance(folder, str):
        memory.parts.workspaces.seen(agent, folder)


def _heard(memory: Memory, event: Event) -> str:
    """Who was heard last where the event comes from; who speaks there now is heard for what comes after it.

    A sub-agent works for whoever spoke when it was first seen, whoever speaks to its parent meanwhile.
    """
    session = capture.read_session(event)
    child = capture.is_subagent(session)
    heard = (memory.conversations.heard(session) if child else "") or memory.conversations.heard(
        capture.asked_from(event, session)
    )
    if (child or not capture.is_indirect(event, session)) and not capture.unwanted(event, session):
        memory.conversations.hear(session, capture.voice_of(event, session, heard).user)
    return heard


def _session(memory: Memory, event: Event) -> Session:
    known = capture.read_session(event)
    return memory.session(known.agent, known.key, known.host_id)


def _brief(memory: Memory, session: Session, query: Query) -> Block:
    """What stands for the whole window; made at its first request."""
    if (standing := memory.injected.brief(session, query.scope)) is not None:
        return standing
    if asks_in(memory, session):
        return Block("")
    since = memory.injected.generation
    blocks = memory.parts.hooks.by_plugin("session_start", session=session, query=query, memory=memory)
    brief = _joined(memory, [block for block in blocks.values() if isinstance(block, Block)])
    if BRIEFER in blocks:  # else it failed, is counted by name, and the next request tries again
        memory.injected.stand(session, query.scope, brief, since=since)
    return brief


def _beyond(query: Query, brief: Block) -> Query:
    """The same question, leaving out what the brief says already: its records, and a turn that says no more than one."""
    file = "" if brief.records else " ".join(brief.text.split())  # a file's lines are no records: as one passage
    shown = f"{query.window_text}\n{brief.text}\n{file}" if brief.text else query.window_text
    return replace(query, exclude=query.exclude | frozenset(brief.records), window_text=shown)


def _joined(memory: Memory, blocks: list[Block]) -> Block:
    said = [block for block in blocks if block.text and memory.blocks.fits(block)]
    return Block(
        "\n\n".join(block.text for block in said),
        tuple(record for block in said for record in block.records),
        sum(block.tokens for block in said),
    )


def _answer(block: Block) -> dict[str, Any]:
    return {"text": block.text, "brief": "", "records": list(block.records), "tokens": block.tokens}


_Found = TypeVar("_Found")

_LOOK = 15.0  # seconds between looks at the time of the host's files; only a changed one is opened
_KNOWN = "forget.host_sessions"  # the truth's note of the sessions that were dealt with: ids by agent, no words


class HostForgotten:
    """Looks into the session stores of the host for sessions that are to be forgotten, and has them forgotten here."""

    def __init__(self, memory: Memory, folder: Path | None = None) -> None:
        state = memory.parts.state.path
        self._memory = memory
        self._folder = folder or (state.parent if state.name == NAME else None)
        self._seen: dict[str, tuple[int, ...]] = {}

    def told(self, folder: str) -> None:
        """The host's bridge names the host's state directory."""
        if os.path.isdir(folder):  # noqa: PTH112  Path.is_dir raises for a name that is too long
            self._folder = Path(folder)

    def worker(self) -> Worker:
        """What looks every few seconds; the memory employs it."""
        return Worker("host-forgotten", self.look, period=_LOOK)

    def look(self) -> None:
        """One look; what is new is asked to be forgotten, in the background, also when the process ends before."""
        if self._folder is None or not self._memory.settings.forget_with_host:
            return
        stamps: dict[str, tuple[int, ...]] = self._read(host.stamps, {})
        for agent, stamp in stamps.items():
            if self._seen.get(agent) != stamp:
                self._take(agent, self._read(partial(host.forgotten, agent=agent), []))
                self._seen[agent] = stamp

    def _read(self, work: Callable[[Path], _Found], nothing: _Found) -> _Found:
        """It is the host's file: another version of it, or a damaged one, is left alone until it changes."""
        try:
            return work(self._folder) if self._folder else nothing
        except (OSError, StateError) as error:
            log.warning("host.sessions_unread", error=type(error).__name__)
            return nothing

    def _take(self, agent: str, sessions: list[host.Forgotten]) -> None:
        truth = self._memory.truth
        known = json.loads(truth.meta(_KNOWN) or "{}")
        done = set(known.get(agent, ()))
        new = [one for one in sessions if one.session_id not in done]
        for one in new:
            session = one.key or one.session_id
            if truth.keys_of(session):
                self._memory.eraser.ask(What(session=session, agent=agent, since=one.since, until=one.until, by=HOST))
                truth.count("forgotten.with_host")
        if new:
            known[agent] = sorted(done | {one.session_id for one in new})
            truth.set_meta(_KNOWN, json.dumps(known))
