"""Two real OpenClaw gateways side by side, one with the plugin and one without, for what only the host can show."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "host"))

from openclaw_host.gateway import Host  # noqa: E402  its folder is put on the path above
from openclaw_host.model import Reply, Request  # noqa: E402

TOPICS = """
Lisbon office lease | backup schedule of the mail server | colour of the new logo | name of the accounting tool |
date of the summer party | supplier of the coffee beans | owner of the payments service | language of the mobile app |
password policy of the wiki | price of the family plan | speaker of the opening session | model of the label printer |
city of the second warehouse | length of the trial period | day of the weekly review | brand of the office chairs
""".replace("\n", " ").split("|")  # noqa: SIM905  a table of words reads better than a list of quotes
_ANSWER = "Here is what can be said about it, in a few sentences of the length that assistants like to write. " * 4


@contextmanager
def pair(gems: int) -> Iterator[tuple[Host, Host]]:
    """(without, with): both started and warm; the memory of the second holds one gem per topic and `gems` others."""
    with Host(plugin=False) as bare, Host(config={"batch_size": 5, "recall_deadline_ms": 300}) as remembering:
        for host in (bare, remembering):
            host.start()
            host.model.answer = lambda _: Reply(_ANSWER)
            for number in range(5):
                host.say("agent:main:warm", f"warm up, please ({number})")
        for topic in map(str.strip, TOPICS):
            remembering.memory("tool.remember", {"text": f"We decided on the {topic}: it is variant {len(topic)} of three."})
        for number in range(gems):
            text = f"Record {number}: the inspection of cabinet {number % 89} by team {number % 13} found nothing unusual."
            remembering.memory("tool.remember", {"text": text, "importance": 0.4})
        yield bare, remembering


def turn(host: Host, session: str, message: str) -> tuple[Request, float, float]:
    """One turn: the model's request, the milliseconds until it came, and those until the run had ended."""
    began = time.monotonic()
    run = host.send(session, message)
    request = host.model.wait_for(lambda request: message in request.asked)
    host.wait(run)
    return request, 1000 * (request.at - began), 1000 * (time.monotonic() - began)
