"""One turn of the host's agent, as a person would have it."""

from __future__ import annotations

from typing import Any

from openclaw_neuralstream.errors import HostError
from openclaw_neuralstream.host.executable import Host

_SECONDS = 300.0


def turn(host: Host, text: str, *, agent: str, session_key: str, local: bool, timeout: float = _SECONDS) -> str:
    """The agent's answer. Without a gateway the turn runs in the command itself (`--local`). Raises HostError."""
    where = ("--local",) if local else ()
    whom = ("--agent", agent, "--session-key", session_key)
    limit = ("--timeout", str(int(timeout)))
    fix = f"openclaw agent {' '.join(where)} --agent {agent} --message hello shows why".replace("  ", " ")
    try:
        answer = host.ask("agent", *where, *whom, *limit, "--message", text, "--json", timeout=timeout + 60)
    except HostError as error:
        raise HostError(error.what, where="openclaw agent", fix=fix) from error
    if failure := _failure(answer):
        raise HostError(failure, where="openclaw agent", fix=fix)
    return _reply(answer)


def _failure(answer: Any) -> str:
    if not isinstance(answer, dict):
        return "its answer is not of the documented form"
    meta = (answer.get("result") or answer).get("meta") or {}
    error = meta.get("error") or answer.get("error")
    return str(error.get("message") if isinstance(error, dict) else error) if error else ""


def _reply(answer: dict[str, Any]) -> str:
    payloads = (answer.get("result") or answer).get("payloads") or ()
    return "\n".join(str(payload.get("text") or "") for payload in payloads if isinstance(payload, dict)).strip()
