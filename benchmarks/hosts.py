"""Two real OpenClaw gateways side by side, one with the plugin and one without, for what only the host can show."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "host"))

from openclaw_host.gateway import Host
from openclaw_host.model import Reply, Request

FACTS = {
    "the Lisbon office": "The lease of the Lisbon office runs until the end of June 2028 and costs 4,100 euros a month.",
    "the mail server backup": "The mail server backup starts at 02:30 every night and is kept for ninety days.",
    "the new logo": "For the new logo we chose the petrol blue draft by Henrike, without the wave.",
    "accounting": "Accounting moved from spreadsheets to Lexware in January, and Ines trains everybody.",
    "the summer party": "The summer party is on the nineteenth of July at the boathouse in Grünau.",
    "coffee": "Coffee beans come from a roastery in Trieste, two kilos every second Thursday.",
    "the payments service": "The payments service belongs to Dmitri's team; nobody else deploys it.",
    "the mobile app": "The mobile app is written in Kotlin and shares no code with the website.",
    "passwords of the wiki": "Passwords of the wiki need sixteen characters and never expire.",
    "the family plan": "The family plan costs 11.90 a month and allows six devices.",
    "the opening session": "Professor Okafor speaks in the opening session about soil moisture sensors.",
    "the label printer": "The label printer is a Zebra ZD421 and prints only from the Linux machine.",
    "the second warehouse": "The second warehouse stands in Poznań, beside the railway yard.",
    "the trial period": "The trial period was cut from thirty days to ten because of abuse.",
    "the weekly review": "The weekly review takes place on Wednesdays at half past three, with cameras on.",
    "office chairs": "Office chairs are ordered from Wilkhahn only, after the back pain of last winter.",
}
QUESTIONS = [f"What do we know about {topic}?" for topic in FACTS]
_ANSWER = "Here is what can be said about it, in a few sentences of the length that assistants like to write. " * 4


@contextmanager
def pair(gems: int) -> Iterator[tuple[Host, Host]]:
    """(without, with): both started and warm; the memory of the second holds FACTS and `gems` others."""
    with Host(plugin=False) as bare, Host(config={"batch_size": 5, "recall_deadline_ms": 300}) as remembering:
        for host in (bare, remembering):
            host.start()
            host.model.answer = lambda _: Reply(_ANSWER)
            for number in range(5):
                host.say("agent:main:warm", f"warm up, please ({number})")
        for fact in FACTS.values():
            remembering.memory("tool.remember", {"text": fact})
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
