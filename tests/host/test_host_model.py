"""Where the settings say so, the host's own model distils: the bridge carries the question to it and the answer back."""

from __future__ import annotations

import json

from openclaw_host.gateway import Host, until
from openclaw_host.model import Reply

ASKED = "You distil a conversation"
DISTILLED = "Walter Brandt keeps the key of the boathouse."
GEM = {
    "content": DISTILLED, "summary": DISTILLED, "kind": "fact", "speaker": "owner", "turns": [1], "importance": 8,
    "confidence": 9, "topics": ["keys"], "entities": ["Walter Brandt"], "valid_from": None, "valid_to": None,
}  # fmt: skip


def test_the_hosts_own_model_distils() -> None:
    with Host(config={"extractor": "host"}) as host:
        host.model.answer = lambda request: Reply(json.dumps({"gems": [GEM]}) if ASKED in request.system else "Noted.")
        host.start()
        host.turn("agent:main:boat", "Walter Brandt keeps the key of the boathouse, I think in his green jacket.")
        host.turn("agent:main:boat", "Remember that.")
        until(lambda: bool(host.gems()), 60, lambda: json.dumps(host.memory("status")))
        assert [(gem["content"], gem["extractor"]["name"]) for gem in host.gems()] == [(DISTILLED, "host")]
        request = host.model.wait_for(lambda request: ASKED in request.system)
        assert request.tools == []
        assert request.body["response_format"]["type"] == "json_schema"
