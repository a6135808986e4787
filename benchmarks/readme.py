"""Fill the tables of numbers in README.md and other pages from the committed results: `python -m benchmarks.readme`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.report import RESULTS

_RECALL = (
    ("recall-locomo-dev-both", "LoCoMo, development part, verbatim turns and facts"),
    ("recall-madial-dev-gems", "MADial-Bench, gems, Chinese and English, 235 questions"),
    ("recall-own-gems", "gems, our own 216 questions, within and across three languages"),
)
_MODELS = (
    ("extraction-rules-heldout", "learned heads"),
    ("extraction-qwen2.5-0.5b-heldout", "Qwen2.5 0.5B Instruct, one thread"),
    ("extraction-qwen2.5-coder-1.5b-heldout", "Qwen2.5 Coder 1.5B Instruct, one thread"),
)
_PROJECT = Path(__file__).parent.parent
BEGIN, END = "<!-- numbers: filled from benchmarks/results, do not edit by hand -->", "<!-- end of numbers -->"


def result(name: str) -> dict[str, Any]:
    """A committed result by its name."""
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def rows() -> Iterator[tuple[str, ...]]:
    """What, measured, how to rerun it."""
    yield "what", "measured", "rerun"
    process, turn, cache = result("process"), result("host-turn"), result("prompt-cache")
    start = process["start"]
    run = f"`python -m benchmarks.process` ({measured(process)})"
    yield (
        "process, from the command to ready",
        f"{ms(start['ready_ms'])} (a bare interpreter: {start['bare_interpreter_ms']['p50']:.0f})",
        run,
    )
    for size in process["sizes"]:
        said = f"{ms(size['recall_ms'])} (a ping: {size['ping_ms']['p50']:.2f}); {size['resident_mb']:.0f} MB resident"
        yield f"reminder asked over the socket, {size['gems']:,} gems, embedding included", said, run
    captures = [size["capture_ms"] for size in process["sizes"]]
    yield (
        "a 2 KB turn taken in, on disk, answered",
        f"{ms(captures[0])}; {ms(captures[-1])} at {process['sizes'][-1]['gems']:,} gems",
        run,
    )
    added = f"{turn['added_to_model_ms']:.0f} ms at the median of {turn['turns']} turns, {turn['missed_deadlines']} missed deadlines"
    yield (
        "added by the plugin until the model is asked, in a real gateway",
        added,
        f"`python -m benchmarks.host_turn` ({measured(turn)})",
    )
    shares = f"{cache['with']['mean']} % with a memory of {cache['turns_with_a_block']} blocks in {cache['turns']} turns, {cache['without']['mean']} % without"
    yield "prompt prefix that stays cached from turn to turn", shares, "`python -m benchmarks.prompt_cache`"
    yield from note_rows()
    yield from recall_rows()


def note_rows() -> Iterator[tuple[str, ...]]:
    """The workspace: from a save to a find, and beside the host's own index and search."""
    live, asked = result("notes-realtime"), result("notes-queries")["figures"]
    files, saved, many, host = live["settings"]["files"], live["figures"], asked["harvest"], asked["beside_host"]
    run = "`python -m benchmarks.notes.realtime`"
    yield f"a note saved among {files:,} files, until a question finds it", ms(saved["one_file_in_place"]), run
    burst = saved["burst"]
    shown = f"{burst['from_last_save_seconds']:.1f} s (indexed in bulk: {burst['bulk_index_seconds']:.1f} s)"
    yield f"{burst['files']:,} files saved at once, until the last is found", shown, run
    run = "`python -m benchmarks.notes.queries --host-files 50`"
    first = f"{many['full_seconds']:.0f} s; nothing changed: {many['unchanged_seconds']:.1f} s"
    yield f"{many['files']:,} files of {many['megabytes']:.0f} MB indexed for the first time", first, run
    beside = (
        f"{host['own_index_seconds']:.1f} s and {host['host_index_seconds']:.1f} s; "
        f"{host['own_search_seconds']:.2f} s and {host['host_search_seconds']:.1f} s"
    )
    yield f"{host['files']} files indexed, one found: our command and the host's own", beside, run


def recall_rows() -> Iterator[tuple[str, ...]]:
    """Evidence recall through the product's own path, beside the baselines of the same run."""
    for name, what in _RECALL:
        found = result(name)
        shown = ", ".join(
            f"{system} {found['systems'][system]['all']['recall@10']['mean']}" for system in found["systems"]
        )
        yield f"evidence recall@10 in percent, {what}", shown, "`python -m benchmarks.recall`"
    for name, what in _RECALL:
        block = result(name)["told"]["neuralstream"]["all"]
        shown = (
            f"{block['told']} % of the evidence ({block['share of recall@10']} % of recall@10), {block['empty']} % of the blocks empty, "
            f"{block['tokens']['mean']} tokens a block"
        )
        yield f"told: in the block that the model reads, {what}", shown, "`python -m benchmarks.recall`"
    asked = result("told-heldout")
    told, silent = asked["percent"]["all"]["told"], asked["silent"]["nothing"]["all"]
    shown = f"{told['mean']} % ({told['low']} to {told['high']}); of the messages that need no memory {silent} % bring nothing"
    yield (
        "90 questions as people type them, half after ten other turns, held out",
        shown,
        "`python -m benchmarks.told --half heldout`",
    )
    ordered = result("ordered")["percent"]["all"]
    shares = (
        f"{ordered[kind]['evidence in the block']['all']['neuralstream']['mean']} % "
        f"(the best records alone {ordered[kind]['evidence in the block']['all']['the best records alone, no timeline and no breadth']['mean']} %)"
        for kind in ("order", "summary")
    )
    yield (
        "of the evidence of an order of events, of a summary, in the block",
        ", ".join(shares),
        "`python -m benchmarks.ordered`",
    )
    for language, name in (("en", "English"), ("zh", "Chinese"), ("ru", "Russian")):
        rules = result("extraction-rules-heldout")[language]
        shown = f"recall {100 * rules['recall']:.0f} %, precision {100 * rules['precision']:.0f} % of {rules['expected']} gems"
        yield (
            f"no model, our own labelled conversations, {name}",
            shown,
            "`python -m benchmarks.extraction --part heldout`",
        )


def sequence_rows() -> Iterator[tuple[str, ...]]:
    """Follow-up questions with the source of sequences and without."""
    yield "asked", "questions", "turns alone", "with sequences, kept answers alone", "with sequences", "difference"
    for asked, row in result("sequences-followups")["needed answers in the block, percent"].items():
        alone, kept, both = (
            row[name]["mean"] for name in ("turns", "turns and sequences, kept answers alone", "turns and sequences")
        )
        more = row["difference"]
        yield (
            asked,
            f"{row['n']}",
            f"{alone}",
            f"{kept}",
            f"**{both}**",
            f"{more['mean']:+} ({more['low']} … {more['high']})",
        )


def model_rows() -> Iterator[tuple[str, ...]]:
    """Who distils the labelled conversations that nothing was tuned on, and how well."""
    yield (
        "who distils",
        "conversations, gems expected",
        "recall",
        "precision",
        "F1 (95 %)",
        "corrections that retired what they corrected",
        "a conversation takes",
    )
    for name, who in _MODELS:
        found = result(name)["all"]
        low, high = found["interval95"]["f1"]
        seconds = found["seconds"] / found["conversations"]
        yield (
            who, f"{found['conversations']}, {found['expected']}", f"{found['recall']:.2f}", f"{found['precision']:.2f}",
            f"{found['f1']:.2f} ({low:.2f}–{high:.2f})", f"{found['superseded']} of {found['supersessions']}", f"{seconds:.1f} s",
        )  # fmt: skip


_ORDERED = (
    ("order", "evidence in the block", "events of an order in the block"),
    ("order", "pairs in order, of those shown", "pairs of them in their order, of those shown"),
    ("summary", "evidence in the block", "parts of a summary in the block"),
    ("standing", "stands", "instructions that stand"),
    ("standing", "falsely there", "taken back or a guest's, there all the same"),
)


def ordered_rows() -> Iterator[tuple[str, ...]]:
    """Orders, summaries and what stands: as it was first measured, as it is, and with the best records alone."""
    yield "measure, percent (95 %)", "half", "first", "now", "the best records alone, now"
    first, now = (result(name)["percent"] for name in ("ordered-first", "ordered"))
    for kind, measure, words in _ORDERED:
        for half, called in (("dev", "development"), ("heldout", "held out")):
            before, after = (found[half][kind][measure]["all"] for found in (first, now))
            ours = after["neuralstream"]
            alone = after["the best records alone, no timeline and no breadth"]["mean"]
            shown = f"**{ours['mean']}** ({ours['low']} … {ours['high']})"
            yield words, called, f"{before['neuralstream']['mean']}", shown, f"{alone}"


_DATA = (
    ("recall-locomo-dev-turns", "LoCoMo (turns)", ""),
    ("recall-locomo-dev-both", "LoCoMo (turns, facts as gems)", ""),
    ("recall-madial-dev-turns", "MADial-Bench, Chinese (turns)", "madial-zh"),
    ("recall-madial-dev-turns", "MADial-Bench, English (turns)", "madial-en"),
    ("recall-madial-dev-turns", "MADial-Bench, both (turns)", ""),
    ("recall-madial-dev-gems", "MADial-Bench, both (gems)", ""),
    ("recall-longmemeval-dev-turns", "LongMemEval, by session (turns)", ""),
    ("recall-own-gems", "our own, across three languages (gems)", ""),
)


def data_rows() -> Iterator[tuple[str, ...]]:
    """The pipeline and every baseline of the same run, on each data; recall in percent."""
    systems = list(result(_DATA[0][0])["systems"])
    yield (
        "data (fed as)",
        "questions",
        "recall@5 / 10 / 20",
        "nDCG@10",
        *(f"{name}, @10" for name in systems[1:]),
        "commit",
    )
    for name, what, collection in _DATA:
        found = result(name)
        by = (
            found["by collection"][collection]
            if collection
            else {s: _flat(v["all"]) for s, v in found["systems"].items()}
        )
        ours = by["neuralstream"]
        at = (
            f"{ours['recall@5']} / **{ours['recall@10']}** / {ours['recall@20']}"
            if "recall@5" in ours
            else f"**{ours['recall@10']}**"
        )
        others = (f"{by[system]['recall@10']}" for system in systems[1:])
        yield what, f"{ours['questions']}", at, f"{ours['ndcg@10']}", *others, found["environment"]["commit"]


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: values.get("mean", values.get("n")) for name, values in row.items()}


_SILENT = (
    ("recall-own-gems", "our own: other topics, small talk, questions near the stored ones (gems)"),
    ("recall-own-turns", "our own (turns)"),
    ("recall-locomo-dev-turns", "LoCoMo, questions that swap the person (turns)"),
    ("recall-locomo-dev-both", "LoCoMo, the same (turns, facts as gems)"),
    ("recall-madial-dev-gems", "MADial, running dialogues (gems)"),
    ("recall-madial-dev-turns", "MADial, running dialogues (turns)"),
)


def silence_rows() -> Iterator[tuple[str, ...]]:
    """For how many questions something is injected."""
    yield "data (fed as)", "has an answer", "has none"
    for name, what in _SILENT:
        found = result(name)
        none = found["injected_when_unanswerable"]
        yield what, f"{found['injected_when_answerable']} %", "–" if none is None else f"{none} %"


def latency_rows() -> Iterator[tuple[str, ...]]:
    """The whole of recall by the size of the memory, and by the number of conversations."""
    found = result("recall-latency")
    yield (
        "memory",
        "asked until the block is there, p50 / p95 ms",
        "of it processor",
        "recall alone",
        "the question's embedding alone",
        "plain FTS5 and vectors of the gems",
    )
    named = [(f"{int(size):,} records", row) for size, row in found["sizes"].items()]
    named += [(f"5,000 turns in {int(count):,} conversations", row) for count, row in found["sessions"].items()]
    for what, row in named:
        yield (
            what,
            *(
                f"{row[one]['p50']:.1f} / {row[one]['p95']:.1f}"
                for one in ("turn", "turn, CPU", "recall", "embedding alone", "baseline")
            ),
        )


PAGES: Mapping[Path, tuple[Callable[[], Iterator[tuple[str, ...]]], ...]] = {
    _PROJECT / "README.md": (rows,),
    _PROJECT / "docs" / "sequences.md": (sequence_rows,),
    _PROJECT / "docs" / "models.md": (model_rows,),
    _PROJECT / "docs" / "recall.md": (ordered_rows,),
    _PROJECT / "benchmarks" / "recall" / "README.md": (data_rows, silence_rows, latency_rows),
}
"""The pages with tables between the marks, and the rows of each; the first row names the columns."""


def measured(found: Mapping[str, Any]) -> str:
    """At which commit, for what changes with every part that is added."""
    return f"measured at {found['environment']['commit']}"


def ms(found: dict[str, float]) -> str:
    """Median and 95th percentile."""
    return f"p50 {found['p50']:.1f} ms, p95 {found['p95']:.1f} ms"


def filled(page: Path) -> str:
    """The text of the page with the tables of the committed results between its marks, one after another."""
    head, *rest = page.read_text(encoding="utf-8").split(BEGIN)
    for table, text in zip(PAGES[page], rest, strict=True):
        first, *others = (f"| {' | '.join(cells)} |" for cells in table())
        line = re.sub(r"[^|]+", " --- ", first)
        head += f"{BEGIN}\n" + "\n".join((first, line, *others)) + f"\n{END}{text.split(END)[1]}"
    return head


def main() -> None:
    """Write each table between its marks."""
    for page in PAGES:
        page.write_text(filled(page), encoding="utf-8")


if __name__ == "__main__":
    main()
