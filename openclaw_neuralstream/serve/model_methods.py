"""The models over the socket: who distils and embeds, what it has cost today, and a try with one sentence."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any

from openclaw_neuralstream.engine import Memory
from openclaw_neuralstream.errors import BadRequest, NeuralStreamError
from openclaw_neuralstream.model import OWNER, Batch, Origin, Scope, Session, Trigger, Turn, Utterance
from openclaw_neuralstream.ports import Reading
from openclaw_neuralstream.serve.given import Method, Params

SENTENCE = "Our backup server moved to Graz because the cellar in Linz was flooded."
"""What a try is about; nothing of it is kept."""


def models(memory: Memory, params: Params) -> dict[str, Any]:
    """{"try"?} → extractor and embedder (name, why), today's cost, and with "try" the outcome of one extraction."""
    wanted = params.get("try", False)
    if not isinstance(wanted, bool):
        raise BadRequest("try must be true or false", where="models")
    tried = _tried(memory) if wanted else None
    chooser = memory.parts.choose_extractor
    return {
        "extractor": asdict(chooser.choice),
        "embedder": asdict(memory.parts.choices["embedder"]),
        "today": asdict(chooser.spent()),
        "tried": tried,
    }


def _tried(memory: Memory) -> dict[str, Any]:
    """What became of the sentence, and how long it took; a failure is an outcome with its remedy."""
    started = time.perf_counter()
    outcome: dict[str, Any] = {"name": "", "model": "", "gems": [], "error": "", "fix": ""}
    try:
        extractor = memory.parts.choose_extractor()
        outcome |= {"name": extractor.identity.name, "model": extractor.identity.model}
        outcome["gems"] = [draft.content for draft in extractor.extract(_reading(memory))]
    except NeuralStreamError as error:
        outcome |= {"error": " · ".join(part for part in (error.what, error.where) if part), "fix": error.fix}
    return {**outcome, "ms": round(1000 * (time.perf_counter() - started))}


def _reading(memory: Memory) -> Reading:
    now, session = memory.now(), Session("models", "models", "")
    said = Utterance(OWNER, Origin.OWNER, SENTENCE, now)
    turn = Turn("models-try", Scope("models"), session, now, (said,), 1)
    return Reading(Batch("models-try", session, (turn,), "", now, trigger=Trigger.MANUAL))


METHODS: dict[str, Method] = {"models": models}
