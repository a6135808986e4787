"""What a model is told unasked: before a turn, at a session's start, and when a sub-agent begins."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from openclaw_neuralstream.assembly import Assembler, Recalls
from openclaw_neuralstream.blocks import Blocks, days_ago, short_day
from openclaw_neuralstream.clean import clean_record
from openclaw_neuralstream.conversations import Conversations
from openclaw_neuralstream.formats import instant
from openclaw_neuralstream.gemcraft import BY_HAND_TAG, HEARSAY
from openclaw_neuralstream.lexicon import off_record
from openclaw_neuralstream.model import OWNER, Block, Child, Gem, Kind, Origin, Query, Recall, Record, Session
from openclaw_neuralstream.recall import Shape, Window, record_of
from openclaw_neuralstream.recall.layers import layered
from openclaw_neuralstream.settings import Settings
from openclaw_neuralstream.standing import Standing, harms, of_another, touching
from openclaw_neuralstream.store.truth import Truth

_SESSION_GEMS = 12
"""Most gems in the session block, a section."""

_CHILD_GEMS = 8
"""Records in a sub-agent's brief at most."""

STANDING_GEMS = 2
"""Most rules of the owner and facts about health that a turn is reminded of where it touches them, beside the brief."""

_REPLY_SHARE = 0.7  # of recall_deadline_ms is spent at most before what is left has to be rendered and sent
_ALWAYS = frozenset({Kind.INSTRUCTION, Kind.PREFERENCE})
_DIALOGUE = 4  # messages before the last one that tell what a question concerns
_LAST_GEMS = 200  # newest gems that a session's brief chooses from
_BRIEF_SHARES = {"rules": 0.35, "next": 0.2, "open": 0.2, "who": 0.25}
_NEXT_DAYS, _NEWS_DAYS = 14, 60  # how far ahead a brief looks, and how long what was decided or left open is news
_LASTING = frozenset({Kind.FACT, Kind.PREFERENCE})
_OPEN = frozenset({Kind.TODO, Kind.DECISION})

BRIEF_TOKENS = 60
"""What the frame and the headings of a session's brief cost in the shipped template."""


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

    def reminded(self, query: Query, *, awaited: bool = True, gated: bool = True) -> Reminded:
        """The block for a turn, what stands and what matters (empty when there is neither), with the recall that it was made of.

        awaited: whether a reply waits for it, so that what is left out of it counts. gated: nobody searches.
        """
        if not self._knobs.max_gems_injected:
            return Reminded(Block(""))
        standing = self.stands(query)
        beside = replace(query, exclude=query.exclude | {record.id for record in standing})
        found = self._recall(beside, patience=_REPLY_SHARE * self._knobs.recall_deadline_ms / 1000, gated=gated)
        if not found.needed:
            standing = []
        for name in found.left_out if awaited else ():
            self._truth.count(f"recall.left_out.{name}", at=query.now)
        everybody = self._knobs.inject_unconfirmed
        shown = [record for record in found.records if everybody or record.origin is not Origin.UNTRUSTED]
        dated = days_ago(query.now.date()) if found.dated or found.shape == Shape.TIMELINE else short_day
        block = self._blocks.write("gem_block", shown, standing=standing, shape=found.shape, dated=dated)
        block = replace(block, records=(*(record.id for record in standing), *block.records))
        return Reminded(block, found, tuple(standing))

    def brief(self, session: Session, query: Query) -> Block:
        """The block that stands for a session: rules, the coming days, what is open, and who the person is.

        Where there is nothing of it, the newest records of any session; where there are none, MEMORY.md.
        """
        knobs = self._knobs
        if not knobs.session_block:
            return Block("")
        gems = [gem for gem in self._truth.gems(query.scope, limit=_LAST_GEMS) if gem.gem_id not in query.exclude]
        holds = [gem for gem in self._standing.of(query.scope, query.now) if gem.gem_id not in query.exclude]
        known = {gem.gem_id: gem for gem in (*holds, *(gem for gem in gems if gem.kind not in _ALWAYS))}.values()
        last = max((gem.source.date for gem in gems if gem.session_key == session.key), default="")
        sections = self._sections(worth_a_brief(list(known), now=query.now), query)
        if not any(sections.values()):
            newest = self._newest(query)
            if not newest:
                return self._memory_md(query)
            sections = {"newest": newest}
        shown = [record for records in sections.values() for record in records]
        block = self._blocks.write("session_start", shown, sections=sections, last_seen=last)
        return replace(block, records=tuple(record.id for record in shown))

    def _sections(self, chosen: Mapping[str, Sequence[Gem]], query: Query) -> dict[str, list[Record]]:
        """Those of each section that fit: each has its share of the tokens, and what one does not need the next may use."""
        left = self._knobs.session_token_budget - BRIEF_TOKENS
        room, most = 0.0, _SESSION_GEMS
        sections: dict[str, list[Record]] = {}
        for name, share in _BRIEF_SHARES.items():
            room += share * left
            records = self._admitted([clean_record(record_of(gem)) for gem in chosen[name][:most]], query)
            sections[name] = self._blocks.within(records, int(room))[:most]
            room -= sum(map(self._blocks.cost, sections[name]))
            most -= len(sections[name])
        return sections

    def brief_child(self, child: Child, query: Query) -> Block:
        """The block for a sub-agent's first request: what always holds, then what is known about its task.

        What the parent was just asked is part of the question, when both are of one agent.
        """
        knobs = self._knobs
        if not knobs.subagent_brief or child.light:
            return Block("")
        held = self._standing.of(query.scope, query.now)
        rules = [*touching(held, query.text), *(gem for gem in held if gem.kind is Kind.INSTRUCTION)]
        unlike = self._admitted([clean_record(record_of(gem)) for gem in dict.fromkeys(rules)], query)
        standing = self._blocks.within(unlike, knobs.subagent_token_budget // 2)[: _CHILD_GEMS // 2]
        known = self._recall(
            replace(
                query,
                dialogue=(*self._conversations.asked(child.parent, query.scope), *query.dialogue),
                exclude=query.exclude | {record.id for record in standing},
                window_text="\n".join([query.window_text, *(record.text for record in standing)]),
                limit=max(1, _CHILD_GEMS - len(standing)),
                token_budget=knobs.subagent_token_budget // (2 if standing else 1),
            )
        ).records
        block = self._blocks.write("subagent_brief", known, standing=standing, task=child.task)
        return replace(block, records=(*(record.id for record in standing), *block.records))

    def stands(self, query: Query) -> list[Record]:
        """Rules of the owner and what can harm, where the question touches their matter and this request does not show them."""
        asked = "\n".join((query.text, *query.dialogue[-_DIALOGUE:])) if query.dialogue else query.text
        return self._fresh(touching(self._standing.of(query.scope, query.now), asked), query)[:STANDING_GEMS]

    def _fresh(self, gems: Sequence[Gem], query: Query) -> list[Record]:
        """Those that the window does not show, the brief included, and that no hook filters out."""
        window = Window(query)
        known = [(gem, clean_record(record_of(gem))) for gem in gems if gem.gem_id not in query.exclude]
        return self._admitted([r for gem, r in known if not window.shows(r, frozenset(gem.evidence))], query)

    def _newest(self, query: Query) -> list[Record]:
        """The newest records, nothing said twice and nothing unconfirmed, as far as a brief has room for them."""
        found = self._assembler.recent(query) if self._knobs.context_recency else []
        recent = [
            item for item in found if item.record.origin is Origin.OWNER and not off_record(item.record.text)
        ]  # unasked, only what the owner said or vouched for
        return list(
            layered(
                (),
                recent,
                budget=self._knobs.session_token_budget - BRIEF_TOKENS,
                share=1.0,
                cost=self._blocks.cost,
                limit=_SESSION_GEMS,
            ).recent
        )

    def _memory_md(self, query: Query) -> Block:
        return self._blocks.plain(
            self._assembler.memory_md(query, self._knobs.session_token_budget - BRIEF_TOKENS).text
        )


def worth_a_brief(gems: Sequence[Gem], *, now: datetime) -> dict[str, list[Gem]]:
    """What a session's brief chooses from, by section, best first: "rules", "next" (the coming days), "open" and "who".

    Superseded and expired gems, days that are over, and words that are not the owner's stay out.
    """
    live = [
        gem
        for gem in gems
        if not gem.superseded_by and not (gem.valid_to and instant(gem.valid_to) < instant(now))
        and gem.origin is Origin.OWNER and gem.speaker == OWNER and HEARSAY not in gem.tags
    ]  # fmt: skip
    found: dict[str, list[Gem]] = {"rules": [], "next": [], "open": [], "who": []}
    for gem in live:
        days = (gem.valid_from.date() - now.date()).days if gem.valid_from else None
        if gem.kind is Kind.INSTRUCTION or (harms(gem) and not of_another(gem.content)):
            found["rules"].append(gem)
        elif days is not None and 0 < days <= _NEXT_DAYS:
            found["next"].append(gem)
        elif gem.kind in _OPEN and (now.date() - gem.created_at.date()).days <= _NEWS_DAYS:
            found["open"].append(gem)
        elif gem.kind in _LASTING or BY_HAND_TAG in gem.tags:
            found["who"].append(gem)
    found["next"].sort(key=lambda gem: (instant(gem.valid_from or gem.created_at), gem.gem_id))
    found["open"].sort(key=lambda gem: instant(gem.created_at), reverse=True)
    for name in ("rules", "who"):
        found[name].sort(
            key=lambda gem: (not harms(gem), BY_HAND_TAG not in gem.tags, -gem.importance, instant(gem.created_at))
        )
    return found
