"""`python -m benchmarks.secrets`: recall and false alarms of the rules on all corpora, and their cost; writes results.json."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from openclaw_neuralstream import secrets
from openclaw_neuralstream.secrets import redact
from tests.secrets import field, specimens, spoken
from tests.secrets.specimens import Specimen

RESULTS = Path(__file__).with_name("results.json")
_SPOKEN = Path(__file__).with_name("spoken")
_TEXTS = {
    "plain": "We walked along the river and talked about the garden, the weather and the next holidays. ",
    "full of words that rules look at": "The key of the project, the password policy, the login page, the token count. ",
}
_SIZE, _ROUNDS = 2_000, 50


def rates(with_secrets: list[Specimen], look_alikes: list[Specimen]) -> dict[str, Any]:
    """Counts and shares of one corpus."""
    missed = [s for s in with_secrets if survives(s.secret, redact(s.text).text)]
    taken = [s for s in look_alikes if redact(s.text).text != s.text]
    return {
        "kinds": len({s.vendor for s in with_secrets}),
        "secrets": len(with_secrets),
        "missed": len(missed),
        "recall": round(1 - len(missed) / len(with_secrets), 4),
        "look_alike_kinds": len({s.vendor for s in look_alikes}),
        "look_alikes": len(look_alikes),
        "false_alarms": len(taken),
        "false_alarm_rate": round(len(taken) / max(1, len(look_alikes)), 4),
    }


def in_passing(part: str) -> tuple[list[Specimen], list[Specimen]]:
    """Sentences of `spoken/`, one a line: language, the secret ("" = a look-alike), the text."""
    lines = (_SPOKEN / f"{part}.tsv").read_text(encoding="utf-8").splitlines()
    told = [Specimen(language, text, secret) for language, secret, text in (line.split("\t") for line in lines)]
    return [one for one in told if one.secret], [one for one in told if not one.secret]


def survives(secret: str, text: str) -> bool:
    """Whether more than half of the secret is still there in one piece."""
    half = max(4, len(secret) // 2)
    return any(secret[i : i + half] in text for i in range(0, len(secret) - half + 1, 4))


def measure() -> dict[str, Any]:
    """Rates of the corpora."""
    return {
        "rules": secrets.RULES,
        "vendors": rates(specimens.secrets(7), specimens.look_alikes(11)),
        "field, tuned on": rates(*field.tuning()),
        "field, held out": rates(*field.held_out()),
        "in passing, tuned on": rates(*in_passing("dev")),
        "in passing, held out": rates(*in_passing("heldout")),
        "said, tuned on": rates(*spoken.tuning()),
        "said, held out": rates(*spoken.held_out()),
        "said, held out, by language": {
            language: rates([s for s in spoken.held_out()[0] if s.vendor.startswith(language)], [])["recall"]
            for language in ("en", "ru", "zh")
        },
    }


def cost() -> dict[str, float]:
    """Milliseconds for 2,000 characters, on this machine."""
    secrets.warm()
    found = {}
    for name, sentence in _TEXTS.items():
        text = (sentence * _SIZE)[:_SIZE]
        redact(text)
        began = time.perf_counter()
        for _ in range(_ROUNDS):
            redact(text)
        found[name] = round(1000 * (time.perf_counter() - began) / _ROUNDS, 2)
    return found


if __name__ == "__main__":
    found = {**measure(), "ms per 2,000 characters": cost()}
    RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found, indent=1))
