"""A person's own template and hook in the real host: they change what the model is asked, live, and harm nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from openclaw_host.gateway import PATIENT, Host, until

ASKED = "Where do we keep the backups of the photo archive"
CELLAR = "NAS in the cellar"


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    with Host(config=PATIENT) as host:
        host.start()
        host.turn("agent:main:before", f"We decided to keep the backups of the photo archive on the {CELLAR}.")
        host.memory("flush")
        yield host


def request(host: Host, key: str) -> str:
    """What the model was asked in a session of its own."""
    question = f"{ASKED}, {key}?"
    host.turn(f"agent:main:{key}", question)
    return str(host.model.wait_for(lambda request: question in request.asked))


def template(host: Host, text: str) -> None:
    folder = host.memory_dir.templates
    folder.mkdir(exist_ok=True)
    for name in ("gem_block", "session_start"):
        (folder / f"{name}.md.j2").write_text(text)


def test_a_template_of_ones_own_is_in_the_next_request(host: Host) -> None:
    assert "MY WORDS" not in request(host, "plain")
    template(host, "<neuralstream-memory>\nMY WORDS:{% for r in records %} {{ r.text | inert }}{% endfor %}\n</neuralstream-memory>")
    assert f"MY WORDS: We decided to keep the backups of the photo archive on the {CELLAR}." in request(host, "own-words")


def complaints(host: Host, check: str) -> str:
    """What `doctor` finds wrong there, and that `status` shows it to a person, too."""
    found = json.loads(host.neuralstream("doctor", "--no-host", "--json").stdout)["findings"]
    assert "broken" in host.neuralstream("status").stdout or "skipped" in host.neuralstream("status").stdout
    return "; ".join(finding["what"] for finding in found if finding["check"] == check and finding["grade"] != "ok")


def test_a_template_that_writes_far_too_much_is_replaced_and_named(host: Host) -> None:
    template(host, "<neuralstream-memory>" + "all work and no play " * 50_000 + "</neuralstream-memory>")
    shown = request(host, "far-too-much")
    assert shown.count(CELLAR) == 1
    assert shown.count("all work and no play") < 10
    assert "at most" in complaints(host, "templates")


@pytest.mark.parametrize(
    "hostile",
    ["{{ nobody }}", "{% macro f(n) %}{{ f(n-1) }}{{ f(n-1) }}{% endmacro %}{{ f(60) }}", "{{ cycler.__init__.__globals__ }}", "{% for %}"],
)
def test_a_hostile_template_costs_nothing_but_itself(host: Host, hostile: str) -> None:
    template(host, hostile)
    shown = request(host, f"hostile-{len(hostile)}")
    assert shown.count(CELLAR) == 1
    assert "__globals__" not in shown
    assert "fails:" in complaints(host, "templates")


def test_a_hook_changes_the_request_and_those_that_fail_beside_it_change_nothing(host: Host) -> None:
    template(host, "{% include 'default:gem_block.md.j2' %}")
    (host.memory_dir.templates / "session_start.md.j2").unlink()
    folder = host.memory_dir.hooks
    folder.mkdir(exist_ok=True)
    head = "from openclaw_neuralstream import Block, hookimpl\n\n@hookimpl\ndef prompt_build(query):\n    "
    (folder / "a_hangs.py").write_text(head + "import time; time.sleep(3600)")
    (folder / "b_raises.py").write_text(head + "raise RuntimeError")
    (folder / "c_rubbish.py").write_text(head + "return 'obey'")
    (folder / "d_ends.py").write_text("raise SystemExit(3)")
    (folder / "e_mine.py").write_text(head + "return Block('<neuralstream-memory>the kettle is blue</neuralstream-memory>', (), 8)")
    pid = host.memory_pid()
    until(lambda: any(plugin["name"] == "user:e_mine" for plugin in host.memory("status")["hooks"]), 60, "the hooks are not taken up")
    for key in ("hooked-1", "hooked-2", "hooked-3"):
        shown = request(host, key)
    assert "the kettle is blue" in shown
    assert shown.count(CELLAR) == 1
    told = {plugin["name"]: plugin for plugin in host.memory("status")["hooks"]}
    assert (told["user:a_hangs"]["slow"] >= 1, told["user:b_raises"]["failures"] >= 1, told["user:c_rubbish"]["failures"] >= 1) == (True, True, True)
    assert "user:d_ends" not in told
    assert "user:b_raises failed" in complaints(host, "hooks")
    (folder / "e_mine.py").write_text(head + "return Block('<neuralstream-memory>the kettle is green</neuralstream-memory>', (), 8)")
    until(lambda: "the kettle is green" in request(host, f"changed-{host.turns()}"), 60, "the change is not taken up")
    assert host.memory_pid() == pid
