"""Score an extractor on the labelled conversations: `python -m benchmarks.extraction --part heldout`.

Form of the conversation files: `# name` begins a conversation; `> ` the owner says, `@Name ` another person says (each
begins a turn), `< ` the agent says. Labels: `+ kinds: word | word` a gem of one of these kinds with all these words is
expected, `~ words` such a gem is allowed, `- words` is forbidden, `! text` is a secret. Tune on `dev` only.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from benchmarks.extraction.conversations import LANGUAGES, load, reading
from benchmarks.extraction.score import Score, score
from openclaw_neuralstream.errors import AnswerRefused
from openclaw_neuralstream.extract.model import ModelExtractor
from openclaw_neuralstream.extract.ollama import OllamaCompletion
from openclaw_neuralstream.extract.rules import RulesExtractor
from openclaw_neuralstream.ports import Extractor
from openclaw_neuralstream.render import Templates
from openclaw_neuralstream.root import project_root
from openclaw_neuralstream.tokens import best_counter


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.extraction", description="Score an extractor.")
    parser.add_argument("--part", choices=("dev", "heldout", "all"), default="dev")
    parser.add_argument("--extractor", choices=("rules", "ollama"), default="rules")
    parser.add_argument("--url", default="http://127.0.0.1:11434", help="where Ollama answers")
    parser.add_argument("--model", default="qwen3")
    parser.add_argument("--context", type=int, default=8_192)
    parser.add_argument("--out", type=Path, help="write the scores as JSON")
    parser.add_argument("--show", action="store_true", help="say what was missed and what was needless")
    chosen = parser.parse_args()
    result = run(_extractor(chosen), chosen.part, show=chosen.show)
    if chosen.out:
        chosen.out.write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return 0


def run(extractor: Extractor, part: str, *, show: bool = False) -> dict[str, object]:
    """Scores by language and altogether; prints a table."""
    scores = {language: Score() for language in LANGUAGES}
    refused, started = 0, time.perf_counter()
    for conversation in load(part):
        try:
            drafts = extractor.extract(reading(conversation))
        except AnswerRefused:
            refused, drafts = refused + 1, []
        scores[conversation.language] += score(conversation, drafts)
    seconds = time.perf_counter() - started
    scores["all"] = sum((scores[language] for language in LANGUAGES), Score())
    _table(scores, sys.stdout)
    print(
        f"{extractor.identity.name} {extractor.identity.model} · {part} · {seconds:.2f} s · {refused} answers refused"
    )
    if show:
        print("\n".join(scores["all"].notes))
    return {
        "extractor": extractor.identity.name,
        "model": extractor.identity.model,
        "part": part,
        "seconds": round(seconds, 2),
        "refused": refused,
        **{language: values.as_json() for language, values in scores.items()},
    }


def _table(scores: dict[str, Score], out: object) -> None:
    columns = (
        "recall",
        "precision",
        "f1",
        "expected",
        "gems",
        "duplicates",
        "forbidden",
        "unsupported",
        "wrong_speaker",
        "secrets",
        "wrong_language",
    )
    print("      " + " ".join(f"{name:>14}" for name in columns), file=out)  # type: ignore[arg-type]
    for language, values in scores.items():
        row = values.as_json()
        print(f"{language:<6}" + " ".join(f"{row[name]!s:>14}" for name in columns), file=out)  # type: ignore[arg-type]


def _extractor(chosen: argparse.Namespace) -> Extractor:
    if chosen.extractor == "rules":
        return RulesExtractor()
    completion = OllamaCompletion(
        chosen.url, chosen.model, counter=best_counter(), context=chosen.context, timeout=600
    )
    templates = Templates(project_root() / "templates")
    return ModelExtractor(
        completion, name="ollama", templates=templates, counter=best_counter(), context=chosen.context
    )


if __name__ == "__main__":
    raise SystemExit(main())
