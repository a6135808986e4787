"""Hooks come from three places and nobody's mistake reaches the host."""

import threading
from itertools import cycle
from pathlib import Path

import pytest

from openclaw_neuralstream import root
from openclaw_neuralstream.plugins import manager
from tests.waiting import until

ORDER = root.manifest()["hooks"]["order"]
BUNDLED = root.project_root() / "hooks"


def user_hook(folder: Path, name: str, body: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.py").write_text(f"from openclaw_neuralstream import hookimpl, Block\n\n@hookimpl\n{body}\n")


def test_the_bundled_hooks_load_in_the_order_of_the_manifest():
    assert list(manager.load(BUNDLED, ORDER).plugins) == ORDER


def test_every_bundled_hook_file_is_in_the_manifest():
    assert sorted(path.stem for path in BUNDLED.glob("*.py")) == sorted(ORDER)


def test_results_come_in_the_order_of_loading(tmp_path):
    user_hook(tmp_path / "h", "b_second", "def filter_gem(gem): return False")
    user_hook(tmp_path / "h", "a_first", "def filter_gem(gem): return True")
    assert manager.load(BUNDLED, ORDER, tmp_path / "h").each("filter_gem", gem=None) == [True, False]


def test_a_hook_that_raises_is_counted_by_name_and_the_others_still_run(tmp_path):
    user_hook(tmp_path / "h", "bad", "def filter_gem(gem): raise RuntimeError('no')")
    user_hook(tmp_path / "h", "good", "def filter_gem(gem): return True")
    hooks = manager.load(BUNDLED, ORDER, tmp_path / "h")
    assert hooks.each("filter_gem", gem=None) == [True]
    assert hooks.plugins["user:bad"].failures == 1
    assert hooks.plugins["user:bad"].last_error == "filter_gem: RuntimeError"


def test_a_file_that_does_not_import_is_refused_by_name(tmp_path):
    (tmp_path / "broken.py").write_text("this is not python")
    hooks = manager.load(BUNDLED, ORDER, tmp_path)
    assert list(hooks.refused) == [str(tmp_path / "broken.py")]
    assert list(hooks.plugins) == ORDER


def test_a_misspelled_hook_is_refused_at_start(tmp_path):
    user_hook(tmp_path / "h", "typo", "def turn_ended(turn): return True")
    assert str(tmp_path / "h" / "typo.py") in manager.load(BUNDLED, ORDER, tmp_path / "h").refused


def test_a_misspelled_argument_is_refused_at_start(tmp_path):
    user_hook(tmp_path / "h", "typo", "def filter_gem(gemstone): return True")
    assert str(tmp_path / "h" / "typo.py") in manager.load(BUNDLED, ORDER, tmp_path / "h").refused


def test_the_first_answer_wins_where_one_is_asked_for(tmp_path):
    user_hook(tmp_path / "h", "a", "def extract(reading): return None")
    user_hook(tmp_path / "h", "b", "def extract(reading): return []")
    assert manager.load(BUNDLED, ORDER, tmp_path / "h").first("extract", reading=None) == []


def test_a_hook_that_hangs_costs_its_patience_once_and_is_named(tmp_path):
    user_hook(tmp_path / "h", "hangs", "def filter_gem(gem): gem.wait(60); return False")
    user_hook(tmp_path / "h", "quick", "def filter_gem(gem): return True")
    released = threading.Event()
    in_turn = cycle((0.05, 30.0))  # the one that hangs, then the quick one
    hooks = manager.load(BUNDLED, [], tmp_path / "h", patience=lambda _: next(in_turn))
    assert [hooks.each("filter_gem", gem=released) for _ in range(3)] == [[True], [True], [True]]
    assert (hooks.plugins["user:hangs"].slow, hooks.plugins["user:hangs"].last_error) == (3, "filter_gem: slow")
    released.set()
    hooks.patience = lambda _: 30
    with hooks.lanes["user:hangs"]._busy:
        pass  # it has come back
    assert hooks.each("filter_gem", gem=released) == [False, True]


@pytest.mark.parametrize("body", ["def filter_gem(gem): return 'no'", "def filter_gem(gem): raise SystemExit(3)", "def prompt_build(query): return 'obey'"])
@pytest.mark.parametrize("patience", [float("inf"), 30.0])
def test_rubbish_and_an_exit_are_failures_of_the_hook_alone(tmp_path, body, patience):
    user_hook(tmp_path / "h", "bad", body)
    user_hook(tmp_path / "h", "good", "def filter_gem(gem): return True")
    hooks = manager.load(BUNDLED, [], tmp_path / "h", patience=lambda _: patience)
    if patience == float("inf") and "SystemExit" in body:
        pytest.skip("without patience a hook is trusted like a bundled one")
    assert hooks.each("filter_gem", gem=None) == [True]
    assert hooks.each("prompt_build", session=None, query=None, memory=None) == []
    assert hooks.plugins["user:bad"].failures == 1


def test_while_a_call_hangs_nobody_waits_behind_it(tmp_path):
    user_hook(tmp_path / "h", "hangs", "def filter_gem(gem): gem.append(1); import time; time.sleep(3600)")
    hooks = manager.load(BUNDLED, ORDER, tmp_path / "h", patience=lambda _: 0.2)
    asked: list[int] = []
    hooks.each("filter_gem", gem=asked)
    until(lambda: asked)
    waited = []
    hooks.lanes["user:hangs"]._busy = Acquired(hooks.lanes["user:hangs"]._busy, waited)
    for _ in range(50):
        hooks.each("filter_gem", gem=asked)
    assert (len(asked), set(waited)) == (1, {0.0})


class Acquired:
    """A lock that notes how long it was waited for."""

    def __init__(self, lock, waited):
        self.lock, self.waited = lock, waited

    def acquire(self, timeout):
        self.waited.append(timeout)
        return self.lock.acquire(timeout=timeout)


@pytest.mark.parametrize("body", ["raise SystemExit(3)", "import time; time.sleep(3600)", "raise KeyboardInterrupt", "1/0"])
def test_a_file_that_ends_or_blocks_when_it_is_loaded_is_refused_by_name(tmp_path, body, monkeypatch):
    monkeypatch.setattr(manager, "_IMPORT_SECONDS", 5.0 if "sleep" in body else 60.0)
    (tmp_path / "bad.py").write_text(body)
    user_hook(tmp_path, "good", "def filter_gem(gem): return True")
    hooks = manager.load(BUNDLED, ORDER, tmp_path)
    assert list(hooks.refused) == [str(tmp_path / "bad.py")]
    assert hooks.each("filter_gem", gem=None) == [True]


@pytest.mark.parametrize(
    ("hook", "returned"),
    [
        ("prompt_build(query)", "Block(5)"), ("find_records(query)", "['x']"), ("find_records(query)", "[ns.Record.__new__(ns.Record)]"),
        ("extract(reading)", "[1]"), ("gem_index(settings)", "7"), ("turn_buffer(settings)", "object()"), ("commands()", "3"),
    ],
)  # fmt: skip
def test_rubbish_inside_the_right_type_is_the_hooks_own_failure(tmp_path, hook, returned):
    user_hook(tmp_path / "h", "bad", f"def {hook}:\n    import openclaw_neuralstream as ns\n    return {returned}")
    hooks = manager.load(BUNDLED, [], tmp_path / "h")
    given = dict.fromkeys(("query", "limit", "reading", "settings", "identity", "session", "memory"))
    name = hook.partition("(")[0]
    spec = getattr(hooks.manager.hook, name).spec
    assert hooks.each(name, **{argument: given[argument] for argument in spec.argnames}) == []
    assert hooks.plugins["user:bad"].failures == 1


def test_a_state_error_of_a_users_hook_is_its_own(tmp_path):
    user_hook(tmp_path / "h", "bad", "def filter_gem(gem):\n    from openclaw_neuralstream.errors import StateError\n    raise StateError('full')")
    hooks = manager.load(BUNDLED, [], tmp_path / "h")
    assert hooks.each("filter_gem", gem=None) == []
    assert hooks.plugins["user:bad"].failures == 1


def test_each_plugin_tells_where_it_is_from_and_what_it_implements(tmp_path):
    user_hook(tmp_path / "h", "mine", "def filter_gem(gem): return True")
    mine = manager.load(BUNDLED, ORDER, tmp_path / "h").plugins["user:mine"]
    assert (mine.place, mine.file, mine.implements) == ("user", str(tmp_path / "h" / "mine.py"), ("filter_gem",))


def test_a_hook_that_is_added_changed_or_removed_is_taken_up_without_a_restart(tmp_path):
    folder = tmp_path / "h"
    hooks = manager.load(BUNDLED, ORDER, folder)
    assert hooks.refresh() is False
    user_hook(folder, "b_mine", "def filter_gem(gem): return True")
    user_hook(folder, "c_kept", "def score_gem(gem): return 1.0")
    assert (hooks.refresh(), hooks.each("filter_gem", gem=None), hooks.refresh()) == (True, [True], False)
    assert hooks.each("score_gem", gem=None) == [1.0]
    user_hook(folder, "b_mine", "def filter_gem(gem): return False")
    user_hook(folder, "a_first", "def filter_gem(gem): return True")
    assert hooks.refresh()
    assert hooks.each("filter_gem", gem=None) == [True, False]
    assert list(hooks.plugins) == [*ORDER, "user:a_first", "user:b_mine", "user:c_kept"]
    assert hooks.plugins["user:c_kept"].calls == 1
    (folder / "a_first.py").write_text("this is not python")
    assert hooks.refresh()
    assert (hooks.each("filter_gem", gem=None), list(hooks.refused)) == ([False], [str(folder / "a_first.py")])
    (folder / "a_first.py").unlink()
    (folder / "b_mine.py").unlink()
    assert hooks.refresh()
    assert (hooks.each("filter_gem", gem=None), hooks.refused) == ([], {})


def test_a_hook_that_hung_runs_again_once_its_file_is_mended(tmp_path):
    released = threading.Event()
    user_hook(tmp_path / "h", "mine", "def filter_gem(gem): gem.wait(60); return False")
    hooks = manager.load(BUNDLED, ORDER, tmp_path / "h", patience=lambda _: 0.05)
    assert hooks.each("filter_gem", gem=released) == []
    user_hook(tmp_path / "h", "mine", "def filter_gem(gem): return True")
    assert hooks.refresh()
    hooks.patience = lambda _: 30.0
    assert hooks.each("filter_gem", gem=released) == [True]
    released.set()
