"""The junk meter itself, measured on a store with planted faults: `python -m benchmarks.audit` writes the result."""

from __future__ import annotations

import argparse

from benchmarks.report import ready, write
from openclaw_neuralstream.memory.audit import SORTS, audit
from tests.memory.planted import NOW, store


def main() -> None:
    ready(argparse.ArgumentParser(description=__doc__))
    planted = store()
    turns = {turn.turn_id: turn for one in planted for turn in one.turns}
    found = audit([one.gem for one in planted], lambda ids: [turns[i] for i in ids if i in turns], now=NOW)
    sorts = {}
    for sort in SORTS:
        seen = {finding.gem_id for finding in found.findings if finding.sort == sort}
        real = {one.gem.gem_id for one in planted if sort in one.sorts}
        hits = len(seen & real)
        sorts[sort] = {
            "planted": len(real),
            "found": hits,
            "invented": len(seen - real),
            "recall": round(hits / len(real), 3),
            "precision": round(hits / len(seen), 3) if seen else 1.0,
        }
        print(sort, sorts[sort])
    write("audit-meter", {"gems": len(planted), "seen_while_tuning": True, "sorts": sorts})


if __name__ == "__main__":
    main()
