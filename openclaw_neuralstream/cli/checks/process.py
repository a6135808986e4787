"""Checks of the process, its models and its workspaces."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

from openclaw_neuralstream import ollama_client
from openclaw_neuralstream.cli.checks.finding import Finding, broken, note, ok, warning
from openclaw_neuralstream.errors import AnswerRefused, NeuralStreamError, VendorAway
from openclaw_neuralstream.text.lines import moment

Status = Mapping[str, Any]

_LATE_SHARE = 0.05
_FEW = 20  # turns below which a share says nothing
_BEHIND = 500
_LOGS = "neuralstream admin logs --level warning"
_SILENT = 3  # days without a turn that are worth a word
_ROLES = {
    # name in `away` → what it does, what its absence means
    "RedisBuffer": ("turn buffer", "new turns are kept in the embedded buffer meanwhile"),
    "capture list": ("capture list", "its turns are read when it answers"),
    "extractor": ("extraction", "turns wait and nothing new is distilled"),
    "embedder": ("embedding", "new gems and questions are found by their words only"),
}


def process(now: Status, *, version: str, today: datetime) -> Iterator[Finding]:
    """All checks of a `status` answer. version: that of this program."""
    yield from _version(now, version)
    yield from _gems(now, today)
    yield from _scrub(now)
    yield from _switched_off(now)
    yield from _services(now)
    yield from _embedder(now)
    yield from _index(now)
    yield from _turns(now)
    yield from _extractor(now)
    yield from _dead(now)
    yield from _hooks(now)
    yield from _deadline(now)
    yield from _failures(now)


def _version(now: Status, version: str) -> Iterator[Finding]:
    if now["version"] == version:
        yield ok("process", f"answers, version {version}, pid {now['pid']}")
    else:
        what = f"the process is version {now['version']}, this program {version}"
        yield warning("process", what, "an old process serves until it is replaced", "neuralstream admin stop")


def _gems(now: Status, today: datetime) -> Iterator[Finding]:
    counters = now["counters"]
    kept, gems = counters.get("turns.new", 0), now["gems"]["total"]
    if now.get("salvaged"):
        why = "the memory file was damaged; what could be read is here, the rest is in the copy beside it"
        yield warning("memory", f"mended at an earlier start: {now['salvaged']}", why, "neuralstream gems list")
    if days := _silent_days(now.get("last_turn"), today):
        why = "either nobody has talked to the agent, or OpenClaw does not reach the memory any more"
        yield warning("memory", f"no turn was captured for {days} days", why, "neuralstream admin canary")
    elif kept or gems:
        yield ok("memory", f"reads: {gems} gems, {kept} turns captured so far, {now['buffer']['waiting']} wait")
    else:
        yield note(
            "memory", "reads, and nothing has been captured yet", "", "neuralstream admin canary proves that it works"
        )


def _scrub(now: Status) -> Iterator[Finding]:
    scrub = now.get("scrub") or {}
    if scrub.get("due"):
        why = "what was stored before may hold secrets that the present rules know"
        yield warning(
            "secrets", "the rules have changed since the memory was looked through", why, "neuralstream admin scrub"
        )
    for kept in (scrub.get("last") or {}).get("kept", []):
        yield note("secrets", kept, "", "")


def _switched_off(now: Status) -> Iterator[Finding]:
    for name, means in (("capture", "new turns are not remembered"), ("inject", "nothing is put into the prompt")):
        if not now["settings"][name]["value"]:
            fix = f"neuralstream config set {name} true"
            yield warning(name, f"the setting {name} is false", means, fix)


def _services(now: Status) -> Iterator[Finding]:
    for name, failure in now["failures"].items():
        role, means = _ROLES.get(name, (name, "it is tried again by itself"))
        if name != "index":  # told by the check of the index
            yield broken("services", f"{role}: {_said(failure)}", means, failure["fix"] or _LOGS)
    for name in now["buffer"]["unreached"]:
        role, _ = _ROLES.get(name, (name, ""))
        why = "they are distilled when it answers; nothing is lost that is on its disk"
        yield warning("services", f"how many turns wait in the {role} is not known: it cannot be asked", why, _LOGS)
    for risk in now["buffer"].get("risks") or ():
        why = "a turn that was accepted could be lost by a crash of the server"
        yield warning("services", f"Redis: {risk['what']}", why, risk["mend"])
    for setting, name in (now.get("missing_secrets") or {}).items():
        what = f"{setting} names {name}, which the environment of the memory process does not have"
        yield broken(
            "services", what, "the server refuses us", f"export {name}=… where OpenClaw starts, then restart it"
        )
    if not now["failures"]:
        yield ok("services", "every configured service answers")


def _embedder(now: Status) -> Iterator[Finding]:
    embedder = now["embedder"]
    others = embedder.get("others") or []
    if embedder["unembedded"] and others:
        what = f"{embedder['unembedded']} gems were embedded by {', '.join(others)}, not by {embedder['name']}"
        yield broken("embedder", what, "meaning does not find them, only their words do", "neuralstream admin reembed")
    elif embedder["unembedded"]:
        what = f"{embedder['unembedded']} gems wait for their vector"
        yield note("embedder", what, "words find them already; the rest happens by itself")
    else:
        yield ok("embedder", f"{embedder['name']}: every gem has its vector")


def _index(now: Status) -> Iterator[Finding]:
    index, embedded = now["index"], now["gems"]["total"] - now["embedder"]["unembedded"]
    if index["gems"] is None or index["behind"] < 0:
        failure = now["failures"].get("index") or {"what": "it cannot be used", "where": "", "fix": ""}
        what = f"the {index['name']} index: {_said(failure)}"
        yield broken("index", what, "recall goes by words only; nothing is lost", failure["fix"] or _LOGS)
    elif failure := now["failures"].get("index"):
        why = "what is new is found by its words only, until the index takes it"
        yield broken("index", f"the {index['name']} index: {_said(failure)}", why, failure["fix"] or _LOGS)
    elif index["behind"] > _BEHIND:
        yield warning(
            "index", f"{index['behind']} changes behind", "recall misses what is new", "neuralstream admin rebuild"
        )
    elif not index["behind"] and index["gems"] != embedded:
        what = f"holds {index['gems']} gems, the memory has {embedded} with a vector"
        yield broken("index", what, "recall by meaning misses some", "neuralstream admin rebuild")
    else:
        yield ok("index", f"{index['name']}, {index['gems']} gems")


def _turns(now: Status) -> Iterator[Finding]:
    turns = now.get("turns") or {"on": False}
    if not turns["on"]:
        if "recall_turns" in now["settings"]:
            why = "what was said and made no gem is not recalled"
            yield note("turns", "the setting recall_turns is false", why, "neuralstream config set recall_turns true")
    elif turns["behind"] < 0:
        why = "gems and files are recalled all the same; nothing is lost"
        yield broken("turns", "the index of verbatim turns cannot be used", why, "neuralstream admin rebuild")
    elif turns["behind"] > _BEHIND:
        what = f"the index of verbatim turns is {turns['behind']} changes behind"
        yield warning("turns", what, "recall misses what was said last", "neuralstream admin rebuild")
    elif not turns["behind"] and turns["turns"] != turns["kept"]:
        what = f"the index holds {turns['turns']} turns, the memory {turns['kept']}"
        yield broken("turns", what, "recall misses some of what was said", "neuralstream admin rebuild")
    elif turns["unembedded"]:
        what = f"{turns['unembedded']} of {turns['passages']} verbatim passages wait for their vector"
        yield note("turns", what, "words find them already; the rest happens by itself")
    else:
        yield ok("turns", f"{turns['turns']} verbatim turns are recalled beside the gems")


def _extractor(now: Status) -> Iterator[Finding]:
    extractor, wanted = now["extractor"], _value(now, "extractor")
    if extractor["name"] == "rules" and wanted == "auto":
        why = "fixed rules distil the gems; a model understands more, and is not needed"
        fix = f"ollama pull {_value(now, 'gem_model')}"
        yield note("extractor", f"rules ({extractor['why']})", why, fix)
    elif extractor["name"] == "waiting":
        why = "turns are kept and wait; nothing is lost"
        yield warning("extractor", extractor["why"], why, "start the model's server")
    else:
        yield ok("extractor", f"{extractor['name']} ({extractor['why']})")


def _dead(now: Status) -> Iterator[Finding]:
    if count := now["gems"]["dead_batches"]:
        reasons = "; ".join(now["dead_reasons"])
        why = "they failed again and again; their turns are kept"
        yield warning(
            "dead letters", f"{count} batches were set aside: {reasons}", why, "neuralstream admin dead retry"
        )
    else:
        yield ok("dead letters", "none")


def _hooks(now: Status) -> Iterator[Finding]:
    for place, reason in now["hooks_refused"].items():
        yield broken("hooks", f"{place} was refused: {reason}", "it does not run", f"mend or remove {place}")
    for hook in now["hooks"]:
        if hook["failures"]:
            what = f"{hook['name']} failed {hook['failures']} of {hook['calls']} times ({hook['last_error']})"
            yield warning("hooks", what, "what it should do was skipped", "neuralstream admin logs --level warning")
        if hook["slow"]:
            what = f"{hook['name']} was too slow {hook['slow']} of {hook['calls']} times ({hook['last_error']})"
            yield warning("hooks", what, "what it should do was skipped", "make it faster, or raise hook_timeout")
    for name, reason in now["templates_broken"].items():
        why = "the shipped template is used in its place"
        yield broken("templates", f"your template {name} fails: {reason}", why, "mend or remove it (docs/templates.md)")
    if not now["hooks_refused"] and not any(hook["failures"] or hook["slow"] for hook in now["hooks"]):
        yield ok("hooks", f"{len(now['hooks'])} loaded, none has failed")


def _deadline(now: Status) -> Iterator[Finding]:
    counters = now["counters"]
    late = counters.get("recall.deadline", 0)
    asked = late + counters.get("injected.turns", 0) + counters.get("injected.nothing", 0)
    if not late:
        yield ok("deadline", f"none of {asked} recalls was too late")
        return
    what = f"{late} of {asked} recalls were too late ({late / asked:.0%})"
    fix = f"neuralstream config set recall_deadline_ms {min(10_000, 2 * _value(now, 'recall_deadline_ms'))}"
    grade = warning if asked >= _FEW and late / asked > _LATE_SHARE else note
    yield grade("deadline", what, "these turns went on without memory", fix)


def _failures(now: Status) -> Iterator[Finding]:
    counters = now["counters"]
    told = {
        "bridge.failed": "handlers of the plugin failed inside OpenClaw",
        "recall.failed": "recalls failed",
        "spool.failed": "turns could be neither delivered nor spooled",
    }
    if aside := counters.get("capture_list.aside", 0):
        why = "the layer that fills it writes a form that is not known; the items are kept"
        yield warning(
            "capture list",
            f"{aside} items were set aside",
            why,
            "neuralstream admin intake --dry-run (docs/servers.md)",
        )
    for name, means in told.items():
        if count := counters.get(name, 0):
            yield warning("failures", f"{count} {means}", "counted since the memory began", "openclaw logs")
    crashes, failing = now["workers"]["crashes"], now["workers"]["failing"]
    for worker, why in failing.items():
        what = "what it does stands still; it is tried again by itself"
        yield broken("workers", f"{worker} fails: {why}", what, _LOGS)
    if crashes:
        what = f"background workers failed {crashes} times since the process started"
        yield broken(
            "workers", what, "distilling or embedding may stand still", "neuralstream admin logs --level error"
        )
    elif not failing:
        yield ok("workers", "none has failed")


def _silent_days(last_turn: str | None, today: datetime) -> int:
    """Whole days without a turn, 0 when they are few."""
    days = (today - moment(last_turn)).days if last_turn else 0
    return days if days >= _SILENT else 0


def _said(failure: Mapping[str, str]) -> str:
    return f"{failure['what']} ({failure['where']})" if failure["where"] else failure["what"]


def _value(now: Status, setting: str) -> Any:
    return now["settings"][setting]["value"]


_SECONDS = 2.0
_NO_GEMS = "turns wait and nothing new is distilled"
_NO_VECTORS = "new gems are found by their words only"


def models(now: Mapping[str, Any]) -> Iterator[Finding]:
    """Whether the models that the settings name are there. Nothing where no setting needs one."""
    knobs = {name: item["value"] for name, item in now["settings"].items()}
    with ThreadPoolExecutor(1, thread_name_prefix="neuralstream-doctor-models") as beside:
        embedder = beside.submit(list, _models_embedder(knobs, str(now["embedder"]["name"])))
        yield from _models_extractor(knobs)
        yield from _cost(now)
        yield from embedder.result()


def _models_extractor(knobs: Mapping[str, Any]) -> Iterator[Finding]:
    if knobs["extractor"] == "ollama":
        url, model = str(knobs["ollama_url"]), str(knobs["gem_model"])
        yield _judged("extractor", url, model, _NO_GEMS)
    elif knobs["extractor"] == "openai":
        url = str(knobs["openai_url"])
        yield _at_endpoint("extractor", url, str(knobs["openai_model"]), _key(knobs), _NO_GEMS)


def _cost(now: Mapping[str, Any]) -> Iterator[Finding]:
    today = now.get("extractor", {}).get("today") or {}
    if today.get("cap") and today["tokens"] >= today["cap"]:
        what = f"the {today['cap']:,} tokens of {today['day']} are spent: rules distil until midnight UTC"
        fix = f"neuralstream config set model_daily_tokens {2 * today['cap']}"
        yield warning("cost", what, "rules understand less than the model", fix)


def _models_embedder(knobs: Mapping[str, Any], name: str) -> Iterator[Finding]:
    model = str(knobs["embedding"])
    if name.startswith("ollama:"):
        url = str(knobs["ollama_url"])
        yield _judged("embedder", url, model, _NO_VECTORS)
    elif name.startswith("openai:"):
        url = str(knobs["openai_embedding_url"] or knobs["openai_url"])
        yield _at_endpoint("embedder", url, model, _key(knobs), _NO_VECTORS)


def _key(knobs: Mapping[str, Any]) -> str:
    """The key as this shell has it; the process reads the environment that it was started in."""
    return os.environ.get(str(knobs["openai_api_key_env"]), "") if knobs["openai_api_key_env"] else ""


def _at_endpoint(check: str, url: str, model: str, key: str, means: str) -> Finding:
    from openclaw_neuralstream.extract import openai

    if not url:
        return broken(check, "no openai_url is set", means, "neuralstream config set openai_url http://HOST:PORT/v1")
    try:
        model = openai.found(url, model, key, _SECONDS)
    except NeuralStreamError as error:
        return broken(check, f"{error.what} ({url})", means, error.fix or "neuralstream models")
    return ok(check, f"the endpoint {url} serves {model}")


def _judged(check: str, url: str, model: str, means: str) -> Finding:
    try:
        ollama_client.look(url, model, _SECONDS)
    except (VendorAway, AnswerRefused) as error:
        return broken(check, f"{error.what} ({url})", means, error.fix or "ollama ps")
    return ok(check, f"Ollama has {model}")


def workspaces(known: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    """All checks; one line each where all is well."""
    if not known:
        why = "files of the workspace are not part of the memory; OpenClaw names it with the first turn"
        yield note("workspace", "none is known yet", why, "neuralstream config set workspace /folder")
    for workspace in known:
        found = list(_wrong(workspace))
        yield from found
        if not found:
            yield ok("workspace", f"{_name(workspace)}: {workspace['files']} files indexed and {_how(workspace)}")


_NAMED = 3  # places of a workspace that are named one by one


def _wrong(workspace: Mapping[str, Any]) -> Iterator[Finding]:
    name = _name(workspace)
    if not workspace["here"]:
        why = f"{workspace['why']}; its notes are not recalled"
        fix = "bring it back, or name the right one: neuralstream config set workspace /folder"
        yield broken("workspace", f"{name} is not there", why, fix)
        return
    if workspace["error"]:
        yield broken(
            "workspace",
            f"{name}: {workspace['error']}",
            "new notes are not found",
            "neuralstream admin harvest --verbose",
        )
    if workspace["trouble"]:
        why = "what changes is found some seconds later, at the cost of looking at every file"
        yield warning("watch", f"{name}: {workspace['trouble']}", why, workspace["mend"])
    if workspace["network"]:
        why = "changes made on other machines are not told; files are looked at again and again"
        yield note("watch", f"{name} is on a network file system ({workspace['network']})", why)
    if workspace["watch"] == "off":
        why = "the setting watch is off; only neuralstream admin harvest indexes"
        yield note("watch", f"{name} is not followed", why, "neuralstream config set watch auto")
    if workspace["index_apart"]:
        why = f"it cannot be written; the index is in {workspace['index']}"
        yield note("workspace", f"{name} is read-only for us", why)
    for item in workspace["unread"][:_NAMED]:
        what = f"{workspace['root']}/{item['path']}, line {item['line']}: {item['what']}"
        yield note(
            "workspace",
            what,
            "it is indexed as text",
            "mend the file; neuralstream admin harvest --verbose names all of them",
        )
    if workspace["left_out_count"]:
        path, reason = next(iter(workspace["left_out"].items()))
        what = f"{name}: {workspace['left_out_count']} files are left out, such as {path} ({reason})"
        yield note("workspace", what, "they are not recalled", "neuralstream admin harvest --verbose names them all")


def _name(workspace: Mapping[str, Any]) -> str:
    return f"{workspace['root']} ({', '.join(workspace['agents'])})"


def _how(workspace: Mapping[str, Any]) -> str:
    return "followed" if workspace["watch"] == "events" else "looked at again and again"
