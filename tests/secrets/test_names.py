"""Names of models, devices, releases, tickets and hosts stay beside the words of credentials; real ones still go."""

from __future__ import annotations

import pytest

from openclaw_neuralstream.secrets import redact
from tests.secrets import names


def _harmed(texts: list[str]) -> float:
    return sum(redact(text).text != text for text in texts) / len(texts)


def test_names_stay_as_they_are():
    assert _harmed(names.tuning()) <= 0.01
    assert _harmed(names.held_out()) <= 0.03


@pytest.mark.parametrize("text", ["User story: PROJ-1234 login page fails on iPhone14Pro", "supported login: Linux / Windows11", "key: use claude-3-5-sonnet-20241022 for it"])  # fmt: skip
def test_a_name_with_numbers_is_no_secret(text):
    assert redact(text).text == text


@pytest.mark.parametrize("value", ["Sunny-Day42", "hunter2"])
@pytest.mark.parametrize("said", ["login for the router: admin / {}", "логин роутера: admin / {}", "路由器登录：admin / {}"])  # fmt: skip
def test_what_stands_behind_a_user_name_and_a_slash_goes(said, value):
    assert redact(said.format(value)).text == said.format("[redacted:password]")


@pytest.mark.parametrize("key", ["fT7k2Wq9" + "-Zb4Lm8Xc1-Vn6Rs3Hd", "prod-api-" + "x7k2w9q4z1m8c3v6", "AB3D-9F2K-" + "77QX-L2M4-8ZTR"])  # fmt: skip
def test_random_parts_make_a_key_of_it(key):
    assert key not in redact(f"use {key} as the API key").text
