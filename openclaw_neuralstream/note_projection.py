"""Vectors and tags follow the notes: a few a round, so that a big workspace never takes a core."""

from __future__ import annotations

from collections.abc import Callable

import structlog

from openclaw_neuralstream.away import EMBEDDER, Away
from openclaw_neuralstream.errors import NeuralStreamError, VendorAway
from openclaw_neuralstream.model import Scope
from openclaw_neuralstream.parts import Parts
from openclaw_neuralstream.ports import NoteVectors
from openclaw_neuralstream.workspaces import Workspace

MOST_VECTORS = 5_000
"""Notes and facts of a workspace that are also found by meaning, the newest first; the others by their words alone."""

INFERRED_TAGS = 3
"""Tags at most that are inferred for a gem or note that has none of its own."""

log = structlog.get_logger(__name__)

A_ROUND = 64
"""Notes embedded between two looks at the clock: about half a second of one core."""


class NoteProjection:
    """Gives the notes and facts of every workspace what their files do not hold: a vector, and the tags they mention.

    refused: told why a workspace was left out.
    """

    def __init__(
        self, parts: Parts, away: Away | None = None, *, refused: Callable[[NeuralStreamError], None] = lambda _: None
    ) -> None:
        self._knobs = parts.settings
        self._embedder = parts.embedder
        self._away = away or Away()
        self._vocabulary = parts.vocabulary
        self._workspaces = parts.workspaces
        self._refused = refused

    def catch_up(self, stopping: Callable[[], bool] = lambda: False) -> None:
        """Some notes of every workspace; one whose index cannot be read is left out until the next round."""
        for workspace in self._workspaces.all():
            if stopping():
                return
            try:
                self._follow(workspace, stopping)
            except NeuralStreamError as error:
                log.warning("notes.not_followed", code=error.code, error=error.what)
                self._refused(error)

    def _follow(self, workspace: Workspace, stopping: Callable[[], bool]) -> None:
        index = workspace.index
        if index is None:
            return
        self._embed(index)
        if workspace.keeper and not stopping():
            self._vocabulary.infer_notes(index, Scope(workspace.keeper), INFERRED_TAGS, A_ROUND)

    def _embed(self, index: NoteVectors) -> None:
        """Give some notes and facts a vector: a few a round, so that a big workspace never takes a core."""
        identity = str(self._embedder.identity)
        room = MOST_VECTORS - index.embedded(identity)
        texts = index.unembedded(identity, limit=min(A_ROUND, room)) if room > 0 else {}
        if not texts:
            return
        try:
            with self._away.watching(EMBEDDER, wrote=True):
                vectors = self._embedder.embed_documents(list(texts.values()))
        except VendorAway:
            return
        index.embed(identity, dict(zip(texts, vectors, strict=True)))
