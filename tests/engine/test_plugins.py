"""Hooks come from three places and nobody's mistake reaches the host."""

from pathlib import Path

from openclaw_neuralstream import plugins, root

ORDER = root.manifest()["hooks"]["order"]
BUNDLED = root.project_root() / "hooks"


def user_hook(folder: Path, name: str, body: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.py").write_text(f"from openclaw_neuralstream import hookimpl, Block\n\n@hookimpl\n{body}\n")


def test_the_bundled_hooks_load_in_the_order_of_the_manifest():
    assert list(plugins.load(BUNDLED, ORDER).plugins) == ORDER


def test_every_bundled_hook_file_is_in_the_manifest():
    assert sorted(path.stem for path in BUNDLED.glob("*.py")) == sorted(ORDER)


def test_results_come_in_the_order_of_loading(tmp_path):
    user_hook(tmp_path / "h", "b_second", "def filter_gem(gem): return 'second'")
    user_hook(tmp_path / "h", "a_first", "def filter_gem(gem): return 'first'")
    assert plugins.load(BUNDLED, ORDER, tmp_path / "h").each("filter_gem", gem=None) == ["first", "second"]


def test_a_hook_that_raises_is_counted_by_name_and_the_others_still_run(tmp_path):
    user_hook(tmp_path / "h", "bad", "def filter_gem(gem): raise RuntimeError('no')")
    user_hook(tmp_path / "h", "good", "def filter_gem(gem): return True")
    hooks = plugins.load(BUNDLED, ORDER, tmp_path / "h")
    assert hooks.each("filter_gem", gem=None) == [True]
    assert hooks.plugins["user:bad"].failures == 1
    assert hooks.plugins["user:bad"].last_error == "filter_gem: RuntimeError"


def test_a_file_that_does_not_import_is_refused_by_name(tmp_path):
    (tmp_path / "broken.py").write_text("this is not python")
    hooks = plugins.load(BUNDLED, ORDER, tmp_path)
    assert list(hooks.refused) == [str(tmp_path / "broken.py")]
    assert list(hooks.plugins) == ORDER


def test_a_misspelled_hook_is_refused_at_start(tmp_path):
    user_hook(tmp_path / "h", "typo", "def turn_ended(turn): return True")
    assert str(tmp_path / "h" / "typo.py") in plugins.load(BUNDLED, ORDER, tmp_path / "h").refused


def test_a_misspelled_argument_is_refused_at_start(tmp_path):
    user_hook(tmp_path / "h", "typo", "def filter_gem(gemstone): return True")
    assert str(tmp_path / "h" / "typo.py") in plugins.load(BUNDLED, ORDER, tmp_path / "h").refused


def test_the_first_answer_wins_where_one_is_asked_for(tmp_path):
    user_hook(tmp_path / "h", "a", "def extract(reading): return None")
    user_hook(tmp_path / "h", "b", "def extract(reading): return ['drafts']")
    assert plugins.load(BUNDLED, ORDER, tmp_path / "h").first("extract", reading=None) == ["drafts"]
