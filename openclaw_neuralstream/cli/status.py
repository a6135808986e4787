"""`neuralstream status`: is it on, where is my data, which parts serve and why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from openclaw_neuralstream.cli.door import ask, pass_state
from openclaw_neuralstream.cli.output import console, json_option, on_terminal, say, show_json
from openclaw_neuralstream.state import StateDir

_LOCAL = ("embedded",)


@click.command()
@json_option
@pass_state
def status(state: StateDir, *, as_json: bool) -> None:
    """Is it on, where is my data, which parts serve and why.

    \b
    Example:
      neuralstream status
      neuralstream status --json | jq .gems.total
    """
    now = ask(state, "status")
    if as_json:
        show_json(now)
    elif on_terminal():
        _pretty(now)
    else:
        for name, words in _lines(now):
            say(f"{name}: {words}")


def _lines(now: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What matters, name by name."""
    knobs = {name: item["value"] for name, item in now["settings"].items()}
    yield "version", f"{now['version']} (process {now['pid']})"
    yield "data", now["state_dir"]
    yield "gems", _gems(now)
    yield "last turn", _last_turn(now["last_turn"])
    yield "remembers", "new turns are kept" if knobs["capture"] else "no: the setting capture is false"
    yield "injects", _injects(knobs)
    yield "buffer", f"{_chosen(now['buffer'])}; {_buffer(now['buffer'])}"
    yield "extractor", _chosen(now["extractor"]) + _spent(now["extractor"].get("today"))
    yield "embedder", _chosen(now["embedder"]) + _some(now["embedder"].get("unembedded"), "gems wait for their vector")
    yield "index", _chosen(now["index"]) + _some(now["index"]["behind"], "changes behind")
    if sequences := now.get("sequences"):
        yield "sequences", _sequences(sequences)
    yield "turns", _turns(now["turns"])
    for workspace in now.get("workspaces", []):
        yield "workspace", _workspace(workspace)
    yield "recall", _recall(now["counters"])
    if knobs["capture_list"]:
        yield "capture list", _capture_list(knobs, now["counters"])
    for risk in now["buffer"].get("risks") or ():
        yield "at risk", f"{risk['what']}; mend it: {risk['mend']}"
    if now["scrub"]["due"]:
        yield "scrub due", "the rules of secrets have changed; look through what is stored: neuralstream admin scrub"
    for receipt in now.get("forgotten", [])[:1]:
        counts = ", ".join(f"{count} {name}" for name, count in receipt["removed"].items()) or "nothing was there"
        asked = "with a session that was deleted in the host" if receipt["by"] == "host" else "as you asked"
        yield "forgotten", f"{receipt['at']}, {asked}: {counts}"
    if left_out := now["recall"]["left_out"]:
        yield "left out of answers", _left_out(left_out, now["recall"].get("left_out_last", {}))
    for name, failure in now["failures"].items():
        where = f" ({failure['where']})" if failure["where"] else ""
        fix = f"; mend it: {failure['fix']}" if failure["fix"] else ""
        yield f"{name} fails", f"{failure['what']}{where}; tried again by itself, memory goes on without it{fix}"
    for worker, why in now["workers"]["failing"].items():
        yield "worker fails", f"{worker}: {why}; tried again by itself"
    yield from _own(now)


def _left_out(counts: dict[str, int], last: dict[str, str]) -> str:
    """Which sources had no time or did not answer, how often, and when last."""
    told = (f"{name} {n:,}×" + (f" (last {last[name]})" if name in last else "") for name, n in sorted(counts.items()))
    return f"{', '.join(told)}: too slow or away, the answer came without them; raise recall_deadline_ms if it goes on"


def _own(now: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What is wrong with the user's own hooks and templates."""
    if now["hooks_refused"]:
        yield "hooks refused", ", ".join(now["hooks_refused"])
    for hook in now["hooks"]:
        if hook["last_error"]:
            yield "hook skipped", f"{hook['name']} ({hook['last_error']}); neuralstream admin plugins tells more"
    for name, why in now["templates_broken"].items():
        yield "template broken", f"{name}: {why}; the shipped one is used"


def _pretty(now: dict[str, Any]) -> None:
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold cyan", no_wrap=True)
    table.add_column(overflow="fold")
    for name, words in _lines(now):
        table.add_row(name, Text(words))
    console().print(Panel(table, title="NeuralStream", title_align="left", border_style="cyan", expand=False))


def _spent(today: dict[str, Any] | None) -> str:
    if not today or not today["calls"]:
        return ""
    cap = f" of {today['cap']:,}" if today["cap"] else ""
    return f"; today {today['tokens']:,}{cap} tokens in {today['calls']} calls"


def _gems(now: dict[str, Any]) -> str:
    dead = now["gems"]["dead_batches"]
    aside = (
        f", {dead} batches set aside ({'; '.join(now['dead_reasons'])}: neuralstream admin dead list)" if dead else ""
    )
    told = {"merged": "said again", "replaced": "replaced others", "dropped": "dropped"}
    judged = "".join(f", {now['gems'][name]} {words}" for name, words in told.items() if now["gems"].get(name))
    return f"{now['gems']['total']} remembered{judged}{aside}"


def _turns(turns: dict[str, Any]) -> str:
    if not turns["on"]:
        return "not recalled word for word: the setting recall_turns is false"
    if turns["behind"] < 0:
        return "their index cannot be used now; it is made anew by itself"
    waiting = _some(turns["behind"], "changes behind") + _some(turns["unembedded"], "passages wait for their vector")
    return f"{turns['turns']} recalled word for word, {turns['passages']} passages{waiting}"


def _last_turn(at: str | None) -> str:
    if not at:
        return "none captured yet; neuralstream admin canary proves that it works"
    from datetime import UTC, datetime

    minutes = int((datetime.now(UTC) - datetime.fromisoformat(at)).total_seconds() // 60)
    for unit, size in (("days", 1440), ("hours", 60)):
        if minutes >= 2 * size:
            return f"{at}, {minutes // size} {unit} ago"
    return f"{at}, {minutes} minutes ago"


def _injects(knobs: dict[str, Any]) -> str:
    if not knobs["inject"] or not knobs["max_gems_injected"]:
        return "no: the setting inject is false" if not knobs["inject"] else "no: max_gems_injected is 0"
    return f"up to {knobs['max_gems_injected']} gems and {knobs['recall_token_budget']} tokens a turn"


def _buffer(buffer: dict[str, Any]) -> str:
    spooled = _some(buffer["spooled_bytes"], "bytes spooled by the bridge")
    unknown = "; and those in a buffer that cannot be reached, their number is not known" if buffer["unreached"] else ""
    return f"{buffer['waiting']} turns wait, {buffer['claimed']} are being distilled{unknown}{spooled}"


def _capture_list(knobs: dict[str, Any], counters: dict[str, int]) -> str:
    aside = _some(counters.get("capture_list.aside"), "items of an unknown shape set aside")
    return f"{knobs['capture_list']} ({knobs['capture_list_mode']}); {counters.get('capture_list.new', 0)} turns{aside}"


def _chosen(part: dict[str, Any]) -> str:
    return f"{part['name']} ({part['why']})"


def _workspace(workspace: dict[str, Any]) -> str:
    who = ", ".join(workspace["agents"])
    if not workspace["here"]:
        return f"{workspace['root']} ({who}) is not there"
    how = {
        "events": "followed",
        "poll": "looked at again and again",
        "off": "indexed by neuralstream admin harvest only",
    }
    wrong = "; ".join(part for part in (workspace["trouble"], workspace["error"]) if part)
    apart = f"; its index is in {workspace['index']}" if workspace["index_apart"] else ""
    left_out = _some(workspace["left_out_count"], "files left out")
    return f"{workspace['root']} ({who}): {workspace['files']} files, {how[workspace['watch']]}{apart}{left_out}" + (
        f"; {wrong}" if wrong else ""
    )


def _sequences(now: dict[str, Any]) -> str:
    current = f"; now in {now['current']['session']}" if now["current"] else ""
    wrong = f"; not written: {now['error']}" if now["error"] else ""
    return f"{now['pairs']} questions in {now['sessions']} sessions, {now['answers']} answers kept{current}{wrong}"


def _recall(counters: dict[str, int]) -> str:
    said, silent = counters.get("injected.turns", 0), counters.get("injected.nothing", 0)
    late = counters.get("recall.deadline", 0)
    return f"{said} turns with memory, {silent} with nothing relevant, {late} too late"


def _some(count: int | None, words: str) -> str:
    return f"; {count} {words}" if count else ""
