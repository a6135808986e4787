"""Where the data is, which parts serve and why, and what was counted."""

from __future__ import annotations

import os
from dataclasses import asdict
from datetime import datetime
from typing import Any

from openclaw_neuralstream import root, secrets
from openclaw_neuralstream.errors import VendorAway
from openclaw_neuralstream.memory import scrub, wiring
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.memory.forget import last_receipts
from openclaw_neuralstream.server import spool
from openclaw_neuralstream.settings import shown
from openclaw_neuralstream.text.lines import instant


def status(memory: Memory) -> dict[str, Any]:
    """Everything `neuralstream status` shows, as plain JSON. Answers also while services are away."""
    truth, parts = memory.truth, memory.parts
    backlogs, unreached = memory.distiller.waiting()
    risks, dead, indexed = _risks(memory), truth.dead(), _count(memory)
    return {
        "version": root.manifest()["plugin"]["version"],
        "pid": os.getpid(),
        "state_dir": str(parts.state.path),
        "gems": {"total": truth.gem_count(), "dead_batches": len(dead), **_judged(truth.counters())},
        "dead_reasons": sorted({letter.reason for letter in dead})[:3],
        "last_turn": _instant(truth.last_turn()),
        "salvaged": truth.meta("damaged"),
        "scrub": {"due": scrub.due(truth), "rules": secrets.rules_version(), "last": scrub.last_receipt(truth)},
        "forgotten": last_receipts(truth)[:3],
        "buffer": {
            "name": parts.choices["buffer"].name,
            "why": parts.choices["buffer"].why,
            "waiting": sum(backlog.waiting for backlog in backlogs),
            "claimed": sum(backlog.claimed for backlog in backlogs),
            "sessions": len(backlogs),
            "unreached": unreached,
            "spooled_bytes": spool.pending(parts.state.spool),
            "durability": "; ".join(risk["what"] for risk in risks),
            "risks": risks,
        },
        "extractor": {**asdict(parts.choose_extractor.choice), "today": asdict(parts.choose_extractor.spent())},
        "embedder": {
            "name": str(parts.embedder.identity),
            "why": parts.choices["embedder"].why,
            "unembedded": truth.gem_count() - truth.embedded_count(parts.embedder.identity),
            "others": [str(known) for known in truth.embedders() if known != parts.embedder.identity],
        },
        "recall": {
            "sources_ms": round(1000 * memory.sources_seconds),
            "left_out": (left_out := _left_out(truth.counters())),
            "left_out_last": {name: at for name in left_out if (at := truth.meta(f"recall.left_out.{name}"))},
        },
        "index": {
            "name": parts.choices["index"].name,
            "why": parts.choices["index"].why,
            "gems": indexed,
            "behind": memory.projection.behind,
        },
        "turns": memory.turn_projection.status(),
        "sequences": memory.sequencer.status() if memory.sequencer else None,
        "workspaces": parts.workspaces.status(),
        "tokens": parts.counter.name,
        "away": memory.away.names(),
        "failures": memory.away.reasons(),
        "missing_secrets": wiring.missing_secrets(memory.settings),
        "workers": {"crashes": memory.crashes, "failing": memory.failing},
        "hooks": [
            {
                "name": plugin.name,
                "place": plugin.place,
                "file": plugin.file,
                "implements": list(plugin.implements),
                "calls": plugin.calls,
                "failures": plugin.failures,
                "slow": plugin.slow,
                "ms": round(1000 * plugin.seconds, 1),
                "last_error": plugin.last_error,
            }
            for plugin in parts.hooks.plugins.values()
        ],
        "hooks_dir": memory.settings.hooks_dir or str(parts.state.hooks),
        "hooks_refused": parts.hooks.refused,
        "templates_broken": parts.templates.broken,
        "counters": truth.counters(),
        "settings": {
            name: {"value": shown(value), "source": parts.setting_sources.get(name, "default")}
            for name, value in memory.settings.model_dump().items()
        },
    }


def _left_out(counters: dict[str, int]) -> dict[str, int]:
    """How often each source was left out of an answer, since the memory began."""
    start = "recall.left_out."
    return {name.removeprefix(start): count for name, count in counters.items() if name.startswith(start)}


def _judged(counters: dict[str, int]) -> dict[str, int]:
    """What became of the gems that extraction proposed, since the memory began."""
    return {name: counters.get(f"gems.{name}", 0) for name in ("stored", "merged", "replaced", "dropped")}


def _instant(at: datetime | None) -> str | None:
    return instant(at) if at else None


def _risks(memory: Memory) -> list[dict[str, str]]:
    """What the buffer's server puts at risk, each with the command that mends it; [] also when it does not answer."""
    tell = getattr(memory.parts.buffers[0], "risks", None)
    try:
        return [asdict(risk) for risk in tell()] if tell else []
    except VendorAway:
        return []


def _count(memory: Memory) -> int | None:
    try:
        return memory.projection.count()
    except VendorAway:
        return None
