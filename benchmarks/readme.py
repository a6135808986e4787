"""Fill the table of numbers in README.md from the committed results: `python -m benchmarks.readme`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.report import RESULTS

_RECALL = (
    ("recall-madial-dev-gems", "MADial-Bench, Chinese and English, 235 questions"),
    ("recall-own-gems", "our own 216 questions, within and across three languages"),
)
README = Path(__file__).parent.parent / "README.md"
BEGIN, END = "<!-- numbers: filled from benchmarks/results, do not edit by hand -->", "<!-- end of numbers -->"


def result(name: str) -> dict[str, Any]:
    """A committed result by its name."""
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def rows() -> Iterator[tuple[str, str, str]]:
    """What, measured, how to rerun it."""
    process, turn, cache = result("process"), result("host-turn"), result("prompt-cache")
    start = process["start"]
    run = "`python -m benchmarks.process`"
    yield "process, from the command to ready", f"{ms(start['ready_ms'])} (a bare interpreter: {start['bare_interpreter_ms']['p50']:.0f})", run
    for size in process["sizes"]:
        said = f"{ms(size['recall_ms'])} (a ping: {size['ping_ms']['p50']:.2f}); {size['resident_mb']:.0f} MB resident"
        yield f"reminder asked over the socket, {size['gems']:,} gems, embedding included", said, run
    captures = [size["capture_ms"] for size in process["sizes"]]
    yield "a 2 KB turn taken in, on disk, answered", f"{ms(captures[0])}; {ms(captures[-1])} at {process['sizes'][-1]['gems']:,} gems", run
    added = f"{turn['added_to_model_ms']:.0f} ms at the median of {turn['turns']} turns, {turn['missed_deadlines']} missed deadlines"
    yield "added by the plugin until the model is asked, in a real gateway", added, "`python -m benchmarks.host_turn`"
    shares = f"{cache['with']['mean']} % with a memory of {cache['turns_with_a_block']} blocks in {cache['turns']} turns, {cache['without']['mean']} % without"
    yield "prompt prefix that stays cached from turn to turn", shares, "`python -m benchmarks.prompt_cache`"
    yield from recall_rows()


def recall_rows() -> Iterator[tuple[str, str, str]]:
    """Evidence recall through the product's own path, beside the baselines of the same run."""
    for name, what in _RECALL:
        found = result(name)
        shown = ", ".join(f"{system} {found['systems'][system]['all']['recall@10']['mean']}" for system in found["systems"])
        yield f"evidence recall@10 over gems in percent, {what}", shown, "`python -m benchmarks.recall`"
    for language, name in (("en", "English"), ("zh", "Chinese"), ("ru", "Russian")):
        rules = result("extraction-rules-heldout")[language]
        shown = f"recall {100 * rules['recall']:.0f} %, precision {100 * rules['precision']:.0f} % of {rules['expected']} gems"
        yield f"rules, our own labelled conversations, {name}", shown, "`python -m benchmarks.extraction --part heldout`"


def ms(found: dict[str, float]) -> str:
    """Median and 95th percentile."""
    return f"p50 {found['p50']:.1f} ms, p95 {found['p95']:.1f} ms"


def filled(text: str) -> str:
    """The page with the table of the committed results between its marks."""
    head, rest = text.split(BEGIN)
    _, tail = rest.split(END)
    table = ["| what | measured | rerun |", "| --- | --- | --- |", *(f"| {what} | {said} | {how} |" for what, said, how in rows())]
    return f"{head}{BEGIN}\n" + "\n".join(table) + f"\n{END}{tail}"


def main() -> None:
    """Write the table between the marks."""
    README.write_text(filled(README.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
