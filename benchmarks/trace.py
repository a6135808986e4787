"""Which files of the package a turn goes through: `python -m benchmarks.trace`; with `--json` the last line is the two counts alone."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any

import openclaw_neuralstream
from openclaw_neuralstream.memory import wiring
from openclaw_neuralstream.server import moments
from openclaw_neuralstream.state import StateDir

_PACKAGE = str(Path(openclaw_neuralstream.__file__).parent)
_SAID = (
    "We rented the warehouse in Accra from the first of May.",
    "My sister Marta is allergic to penicillin.",
    "The broker of the staging cluster listens on port 4471.",
    "Actually the broker moved, it listens on port 4480 now.",
    "Please always answer in British English.",
)
_ASKED = "which port does the broker of the staging cluster listen on?"


class Entered:
    """The package's files in which any thread entered a function while this was on."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self._on = False

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """What the interpreter calls for each function that is entered or left."""
        if self._on and event == "call" and (name := frame.f_code.co_filename).startswith(_PACKAGE):
            self.files.add(name[len(_PACKAGE) + 1 :])

    @contextmanager
    def during(self) -> Iterator[set[str]]:
        """What is entered inside; empty before."""
        self.files = set()
        self._on = True
        try:
            yield self.files
        finally:
            self._on = False


def main() -> None:
    """One memory: the first turns and the first question warm it up, the second ones are counted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="the counts alone")
    as_json = parser.parse_args().json
    entered = Entered()
    threading.setprofile(entered)
    sys.setprofile(entered)
    with tempfile.TemporaryDirectory(prefix="neuralstream-trace-") as folder:
        state = StateDir(Path(folder) / "state").prepare()
        memory = wiring.open_memory(state, environ={}, start=False)
        try:
            _turns(memory, "first")
            moments.prompt_build(memory, _event("first", _ASKED))
            with entered.during() as taken:
                _turns(memory, "second")
            with entered.during() as built:
                told = moments.prompt_build(memory, _event("second", _ASKED))
        finally:
            memory.close()
            sys.setprofile(None)
            threading.setprofile(None)
    if not told["records"]:
        raise SystemExit("trace: the question brought no record, so the way of a told record was not counted")
    if not as_json:
        for title, files in (("taken in and extracted", taken), ("prompt built", built)):
            print(f"{title}: {len(files)} files")
            print("".join(f"  {name}\n" for name in sorted(files)), end="")
    print(json.dumps({"turn_end_and_extract": len(taken), "prompt_build": len(built)}))


def _turns(memory: Any, session: str) -> None:
    for number, text in enumerate(_SAID):
        said = {"role": "user", "content": [{"type": "text", "text": text}]}
        answer = {"role": "assistant", "content": [{"type": "text", "text": "Noted."}], "stopReason": "stop"}
        moments.turn_end(memory, {**_event(session, text), "run_id": f"{session}-{number}", "messages": [said, answer]})
    memory.flush()


def _event(session: str, text: str) -> dict[str, Any]:
    return {
        "agent": "main",
        "session_key": f"agent:main:{session}",
        "session_id": session,
        "prompt": text,
        "messages": [],
        "at": int(datetime.now(UTC).timestamp() * 1000),
        "trigger": "user",
        "channel": "",
        "sender": {"id": "owner", "owner": True},
        "success": True,
    }


if __name__ == "__main__":
    main()
