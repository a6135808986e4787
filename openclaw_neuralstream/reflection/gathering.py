"""What reflection reads: the facts of a workspace and the gems of its agent, as evidence, without what poses as orders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from openclaw_neuralstream.clean import clean_gem
from openclaw_neuralstream.errors import VendorAway
from openclaw_neuralstream.lexicon import INJECTION
from openclaw_neuralstream.model import Note, Scope, Wanted
from openclaw_neuralstream.parts import Parts
from openclaw_neuralstream.ports import Embedder, NoteSearch
from openclaw_neuralstream.reflect.core import Project
from openclaw_neuralstream.reflect.evidence import Evidence, of_facts, of_gems
from openclaw_neuralstream.reflect.opinions import opinions
from openclaw_neuralstream.reflect.pages import Known

_MOST_GEMS = 20_000
_MOST_PROJECTS = 500  # newest notes that are looked at for projects
_MOST_VECTORS = 600  # texts of one run that are embedded to compare opinions


def gathered(parts: Parts, index: NoteSearch, agent: str) -> tuple[Known, int]:
    """All that is known, and how many texts were left out because they pose as orders to a model."""
    facts = index.facts(Wanted(superseded=True))
    cited = {fact.fact_id: fact.citation for fact in facts}
    outdated = index.outdated(list(cited), Wanted())
    gems = [clean_gem(gem) for gem in parts.truth.gems(Scope(agent), limit=_MOST_GEMS)]
    read = [*of_facts(facts), *of_gems(gems)]
    evidence = harmless(read)
    known = Known(
        tuple(evidence),
        tuple(opinions(evidence, similar=Cosine(parts.embedder))),
        tuple(index.entities()),
        frozenset(cited[fact_id] for fact_id in outdated if fact_id in cited),
    )
    return known, len(read) - len(evidence)


def harmless(evidence: Sequence[Evidence]) -> list[Evidence]:
    """Without what poses as an order: a page may be read by a model."""
    return [item for item in evidence if not INJECTION.search(item.text)]


def projects_with_files(index: NoteSearch) -> list[Project]:
    """Projects with a file of their own: its title, and its first words until something newer is known."""
    found: dict[str, Project] = {}
    notes = index.fetch(index.newest(Wanted(kinds=("note",)), limit=_MOST_PROJECTS)).values()
    for note in sorted((n for n in notes if isinstance(n, Note)), key=lambda note: (note.path, note.line)):
        if note.category == "project" and not note.generated and not INJECTION.search(note.text):
            name = note.trail[0] if note.trail else note.title
            said = (line.strip("#*- ") for line in note.text.splitlines() if not line.startswith("#"))
            first = next((line for line in said if line), "")
            found.setdefault(note.path, Project(name, first, note.citation, note.path))
    return list(found.values())


class Cosine:
    """Similarity by vectors, for the first few hundred texts; 0 beyond, and while the embedder is away."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors: dict[str, Any] = {}
        self._away = False

    def __call__(self, one: str, other: str) -> float:
        """The cosine of two texts."""
        try:
            first, second = self._vector(one), self._vector(other)
        except VendorAway:
            self._away = True
            return 0.0
        return float(first @ second) if first is not None and second is not None else 0.0

    def _vector(self, text: str) -> Any:
        if text not in self._vectors:
            if self._away or len(self._vectors) >= _MOST_VECTORS:
                return None
            self._vectors[text] = self._embedder.embed_documents([text])[0]
        return self._vectors[text]
