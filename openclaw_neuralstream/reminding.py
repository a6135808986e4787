"""What a model is told unasked: before a turn, at a session's start, and when a sub-agent begins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from openclaw_neuralstream import gemcraft
from openclaw_neuralstream.assembly import Assembler, Recalls
from openclaw_neuralstream.blocks import Blocks, day, days_ago
from openclaw_neuralstream.clean import clean_record
from openclaw_neuralstream.conversations import Conversations
from openclaw_neuralstream.model import Block, Child, Gem, Kind, Origin, Query, Recall, Record, Session
from openclaw_neuralstream.recall import Shape, Window, record_of
from openclaw_neuralstream.recall.layers import layered
from openclaw_neuralstream.settings import Settings
from openclaw_neuralstream.standing import Standing, fitting
from openclaw_neuralstream.store.truth import Truth

_REPLY_SHARE = 0.7  # of recall_deadline_ms is spent at most before what is left has to be rendered and sent
_ALWAYS = frozenset({Kind.INSTRUCTION, Kind.PREFERENCE})
_MOST_HARMS = 12  # of what can harm and the question touches: shown whatever the budget is
_STANDING_LOOKED_AT = 4  # times as many standing gems as are shown, for some are in the window
_DIALOGUE = 4  # messages before the last one that tell what a question concerns
_LAST_GEMS = 200  # newest gems that a session's brief chooses from


@dataclass(frozen=True, slots=True)
class Reminded:
    """A turn's block, the recall that it was made of (None: nothing is injected, so nothing was asked), and what stands."""

    block: Block
    found: Recall | None = None
    standing: tuple[Record, ...] = ()


class Reminder:
    """Chooses what is told and writes it as blocks.

    settings: as they are now. admitted: those that no hook filters out.
    """

    def __init__(
        self,
        truth: Truth,
        settings: Callable[[], Settings],
        recall: Recalls,
        admitted: Callable[[Sequence[Record], Query], list[Record]],
        *,
        standing: Standing,
        blocks: Blocks,
        assembler: Assembler,
        conversations: Conversations,
    ) -> None:
        self._truth = truth
        self._settings = settings
        self._recall = recall
        self._admitted = admitted
        self._standing = standing
        self._blocks = blocks
        self._assembler = assembler
        self._conversations = conversations

    @property
    def _knobs(self) -> Settings:
        return self._settings()

    def remind(self, query: Query, *, awaited: bool = True) -> Block:
        """The block for a turn: what stands and is relevant; empty when there is neither.

        awaited: whether a reply waits for it, so that what is left out of it counts.
        """
        return self.reminded(query, awaited=awaited).block

    def reminded(self, query: Query, *, awaited: bool = True) -> Reminded:
        """The same, with the recall that it was made of: reasons that are told are those of this very block."""
        if not self._knobs.max_gems_injected:
            return Reminded(Block(""))
        standing = self.stands(query)
        beside = replace(query, exclude=query.exclude | {record.id for record in standing})
        found = self._recall(beside, patience=_REPLY_SHARE * self._knobs.recall_deadline_ms / 1000)
        for name in found.left_out if awaited else ():
            self._truth.count(f"recall.left_out.{name}", at=query.now)
        everybody = self._knobs.inject_unconfirmed
        shown = [record for record in found.records if everybody or record.origin is not Origin.UNTRUSTED]
        dated = days_ago(query.now.date()) if found.dated or found.shape == Shape.TIMELINE else day
        block = self._blocks.write("gem_block", shown, standing=standing, shape=found.shape, dated=dated)
        block = replace(block, records=(*(record.id for record in standing), *block.records))
        return Reminded(block, found, tuple(standing))

    def brief(self, session: Session, query: Query) -> Block:
        """The block for the first turn of a session: what always holds, then what was last decided or left open.

        Where there is nothing of it, the newest records of any session; where there are none, MEMORY.md.
        """
        if not self._knobs.session_block or not self._knobs.session_gems:
            return Block("")
        gems = [g for g in self._truth.gems(query.scope, limit=_LAST_GEMS) if g.gem_id not in query.exclude]
        holds = {g.gem_id: g for g in self._standing.of(query.scope, query.now) if g.gem_id not in query.exclude}
        told = [gem for gem in gems if gem.gem_id in holds or gem.kind not in _ALWAYS]
        known = {gem.gem_id: gem for gem in (*told, *holds.values())}.values()
        chosen = gemcraft.worth_a_brief(list(known), limit=self._knobs.session_gems, now=query.now)
        records = [clean_record(record_of(gem)) for gem in chosen if not set(gem.evidence) & query.window_turns]
        last = max((gem.source.date for gem in gems if gem.session_key == session.key), default="")
        wanted = self._admitted(records, query)
        shown = self._blocks.within(wanted, self._knobs.session_token_budget) or self._newest(query)
        if not shown:
            return self._memory_md(query)
        standing = [record for record in shown if record.kind in _ALWAYS]
        rest = [record for record in shown if record.kind not in _ALWAYS]
        block = self._blocks.write("session_start", rest, standing=standing, last_seen=last)
        return replace(block, records=tuple(record.id for record in shown))

    def brief_child(self, child: Child, query: Query) -> Block:
        """The block for a sub-agent's first request: what always holds, then what is known about its task.

        What the parent was just asked is part of the question, when both are of one agent.
        """
        knobs = self._knobs
        if not knobs.subagent_brief or not knobs.subagent_gems or (child.light and not knobs.subagent_light):
            return Block("")
        standing = self._fitting(
            query, query.text, most=knobs.subagent_gems // 2, budget=knobs.subagent_token_budget // 2
        )
        known = self._recall(
            replace(
                query,
                dialogue=(*self._conversations.asked(child.parent, query.scope), *query.dialogue),
                exclude=query.exclude | {record.id for record in standing},
                window_text="\n".join([query.window_text, *(record.text for record in standing)]),
                limit=max(1, knobs.subagent_gems - len(standing)),
                token_budget=knobs.subagent_token_budget // (2 if standing else 1),
            )
        ).records
        block = self._blocks.write("subagent_brief", known, standing=standing, task=child.task)
        return replace(block, records=(*(record.id for record in standing), *block.records))

    def stands(self, query: Query) -> list[Record]:
        """What the owner asked for once and for all, as far as this request does not show it already."""
        knobs = self._knobs
        if not knobs.standing_gems:
            return []
        asked = "\n".join((query.text, *query.dialogue[-_DIALOGUE:]))
        return self._fitting(query, asked, most=knobs.standing_gems, budget=knobs.standing_budget, window=Window(query))

    def _fitting(
        self, query: Query, asked: str, *, most: int, budget: int, window: Window | None = None
    ) -> list[Record]:
        """What can harm and is touched by what is asked, all of it; then the wishes that fit into what room is left."""
        found = fitting(self._standing.of(query.scope, query.now), asked)

        def fresh(gems: Sequence[Gem], limit: int) -> list[Record]:
            known = [(gem, clean_record(record_of(gem))) for gem in gems]
            new = [record for gem, record in known if not (window and window.shows(record, frozenset(gem.evidence)))]
            return self._admitted(new, query)[:limit]

        harms = fresh(found.harms, _MOST_HARMS)
        left = max(0, budget - sum(map(self._blocks.cost, harms)))
        wishes = fresh(found.wishes[: _STANDING_LOOKED_AT * most], max(0, most - len(harms)))
        return [*harms, *self._blocks.within(wishes, left)]

    def _newest(self, query: Query) -> list[Record]:
        """The newest records, nothing said twice and nothing unconfirmed, as far as a brief has room for them."""
        found = self._assembler.recent(query) if self._knobs.context_recency else []
        recent = [
            item for item in found if item.record.origin is not Origin.UNTRUSTED
        ]  # unasked, only what is vouched for
        return list(
            layered(
                (),
                recent,
                budget=self._knobs.session_token_budget,
                share=1.0,
                cost=self._blocks.cost,
                limit=self._knobs.session_gems,
            ).recent
        )

    def _memory_md(self, query: Query) -> Block:
        if not self._knobs.session_memory_md:
            return Block("")
        return self._blocks.plain(self._assembler.memory_md(query, self._knobs.session_token_budget).text)
