"""The user's own rules: used beside ours, refused when they could hang or eat ordinary words."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_neuralstream import secrets
from openclaw_neuralstream.errors import SettingsError
from openclaw_neuralstream.secrets import redact
from openclaw_neuralstream.settings import validate

BADGE = r"badge: BADGE-\d{6}"
WORD = r"project-name: (?:проект|项目|project)\s+(Фен\w+|凤凰|Phoenix)"


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    yield
    secrets.learn(())


def test_a_rule_of_ones_own_takes_out_what_ours_let_stay():
    text = "My badge is BADGE-123456, the project Phoenix; проект Феникс; 项目 凤凰。"
    assert redact(text).text == text
    secrets.learn([BADGE, WORD])
    assert redact(text).text == (
        "My badge is [redacted:badge], the project [redacted:project-name]; "
        "проект [redacted:project-name]; 项目 [redacted:project-name]。"
    )


def test_the_version_of_the_rules_says_which_were_learnt():
    plain = secrets.rules_version()
    secrets.learn([BADGE])
    with_badge = secrets.rules_version()
    secrets.learn([WORD])
    assert len({plain, with_badge, secrets.rules_version()}) == 3
    secrets.learn([])
    assert secrets.rules_version() == plain


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("BADGE-123456", "is not a line"),
        ("Badge: x", "is not a line"),
        (r"a: (\w+\s?)+!", "for ever"),
        (r"a: (x{1,200}y*){3,}", "for ever"),
        ("a: [", "not a regular expression"),
        (r"a: \w+", "ordinary words"),
        (r"a: [а-я]{4}", "ordinary words"),
        ("a: x*", "ordinary words"),
        ("a: " + "x" * 501, "longer than"),
    ],
)
def test_a_rule_that_would_do_harm_is_refused_with_the_reason(line, why):
    with pytest.raises(SettingsError, match=why):
        validate({"secret_patterns": [line]})


def test_what_somebody_wrote_there_instead_of_a_shape_is_not_said_again():
    secret = "gh" + "p_" + "a1" * 18
    with pytest.raises(SettingsError) as error:
        validate({"secret_patterns": ["my " + "token " + "for the forge on the hill far away: " + secret]})
    assert secret not in str(error.value)


def test_one_text_is_a_line_each_or_a_json_list():
    assert validate({"secret_patterns": f"{BADGE}\n{WORD}\n"}).secret_patterns == (BADGE, WORD)
    assert validate({"secret_patterns": r'["badge: BADGE-\\d{6}"]'}).secret_patterns == (BADGE,)


@given(st.text(alphabet="BADGE-123456 [redacted:bg]проект Феникс\n", max_size=200))
def test_redacting_twice_changes_nothing_with_rules_of_ones_own(text):
    secrets.learn([BADGE, WORD, r"bracket: \[r\w{1,5}"])
    once = redact(text).text
    assert redact(once).text == once
