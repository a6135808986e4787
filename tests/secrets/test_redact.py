"""Secrets of many vendors go, look-alikes stay, whatever surrounds them."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from openclaw_neuralstream.secrets import redact
from tests.secrets.specimens import Maker, Specimen, look_alikes, secrets

MISSED_AT_MOST = 0.005
TAKEN_AT_MOST = 0.005


def missed(specimens: list[Specimen]) -> list[Specimen]:
    """The specimens whose secret is still there, whole or more than half of it."""
    return [s for s in specimens if _survives(s.secret, redact(s.text).text)]


def _survives(secret: str, text: str) -> bool:
    half = max(4, len(secret) // 2)
    return any(secret[i : i + half] in text for i in range(0, len(secret) - half + 1, 4))


def listing(specimens: list[Specimen]) -> str:
    """For the message of a failing test; the specimens are made up."""
    counts = Counter(s.vendor for s in specimens)
    return "\n".join(
        [str(dict(counts)), *(f"{s.vendor}: {s.text!r} -> {redact(s.text).text!r}" for s in specimens[:40])]
    )


@pytest.mark.parametrize("seed", [7, 8, 9])
def test_secrets_of_many_vendors_are_taken_out(seed):
    specimens = secrets(seed)
    left = missed(specimens)
    assert len(specimens) >= 400
    assert len(left) / len(specimens) <= MISSED_AT_MOST, listing(left)


@pytest.mark.parametrize("seed", [11, 12, 13])
def test_look_alikes_stay(seed):
    specimens = look_alikes(seed)
    taken = [s for s in specimens if redact(s.text).text != s.text]
    assert len(specimens) >= 300
    assert len(taken) / len(specimens) <= TAKEN_AT_MOST, listing(taken)


def test_the_surroundings_of_a_secret_stay():
    token = "gh" + "p_" + Maker(1).of("abcdefgh12345678", 36)
    redaction = redact(f"Вот токен {token}, а билд — {'a' * 40}.")
    assert redaction.text == f"Вот токен [redacted:github-token], а билд — {'a' * 40}."
    assert redaction.found == {"github-token": 1}


def test_found_counts_sorts_and_never_holds_the_secret():
    text = "password is hunter22 and my password is hunter33, card 4111 1111 1111 1111"
    found = redact(text).found
    assert found == {"password": 2, "card-number": 1}


def test_a_private_key_goes_as_a_whole_even_unterminated():
    key = Maker(3).pem("RSA " + "PRIVATE KEY")
    assert redact(f"before\n{key}\nafter").text == "before\n[redacted:private-key]\nafter"
    cut = key[:200]
    assert redact(f"see {cut}").text == "see [redacted:private-key]"


def test_a_private_key_in_json_goes_too():
    key = Maker(4).pem("PRIVATE " + "KEY").replace("\n", "\\n")
    assert redact(f'{{"private_key": "{key}", "x": 1}}').text == '{"private_key": "[redacted:private-key]", "x": 1}'


@given(st.text())
@example("\ud800 password: abc123 \udfff")
@example("[redacted:password] password: [redacted:password]")
@example("password: [redacted:password]abc123")
def test_any_text_is_taken_and_redacting_twice_changes_nothing(text):
    once = redact(text)
    again = redact(once.text)
    assert again.text == once.text
    assert again.found == {}


PIECES = st.sampled_from(
    [
        "password",
        " is ",
        ": ",
        "token",
        "=",
        "пароль",
        "密码是",
        "'",
        '"',
        "://",
        "@",
        "gh" + "p_",
        "sk" + "-",
        "A1b2" * 9,
        "4111111111111111",
        "eyJ" + "hbGciOi",
        ".",
        "\n",
        " ",
        "Bearer ",
        "[redacted:password]",
        "-----BEGIN " + "PRIVATE KEY-----",
        "seed phrase ",
        "?key=",
        "\ud83d",
    ]
)


@given(st.lists(PIECES, max_size=30).map("".join))
def test_redacting_twice_changes_nothing_where_rules_meet(text):
    once = redact(text).text
    assert redact(once).text == once


HOSTILE = (
    "a", "1", "1 ", "eyJ", "eyJa.", "sk-", "xox-", "xoxb-1-", "://", "://a:", "://a:b", "password is ", "password: ", "password ", "token=", "key ", "4111",
    "пароль ", "пароль: ", "密码", "密码是", "x=", "gh", "-u a:", "&key=", "seed phrase abc def ", "M", "?sig=a", "-----BEGIN " + "PRIVATE KEY-----", "Bearer ",
    "Authorization: ", "secret for a b ", "[redacted:", "AAAA", "SG.", "hvs.", "-us1", "PuTTY-User-Key-File-2:", "\ud800", "a.", "//", "gl-", "cl_key=", "pin ",
)  # fmt: skip


@pytest.mark.timeout(60)
@pytest.mark.parametrize("unit", HOSTILE)
def test_a_megabyte_of_hostile_text_comes_back(unit):
    """No backtracking without bound: a quadratic rule would need minutes for each of these."""
    text = (unit * (1_000_000 // len(unit) + 1))[:1_000_000]
    assert len(redact(text).text) > 0


def test_a_usual_text_is_looked_at_without_loading_the_library():
    """It brings an HTTP client and takes a fifth of a second, which the first turn of a gateway should not pay."""
    code = (
        "import sys; from openclaw_neuralstream.secrets import redact;"
        "redact('I moved to Graz, the token budget is 1500 and the English course starts in May.');"
        "print('detect_secrets' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


@pytest.mark.parametrize(("text", "kept"), [
    ("aws secret access key {}", "aws secret access key "),
    ("here is my api key {} for the maps", "here is my api key "),
])
def test_a_key_behind_nothing_but_its_name_is_taken_out(text, kept):
    made = "".join("aB3dE6gH9kL2mN5pQ8sT"[(n * 7) % 20] for n in range(40))
    told = redact(text.format(made)).text
    assert made not in told
    assert told.startswith(kept + "[redacted:")
    assert redact(text.format("NeuralStreamSettingsPanelController")).found == {}


@pytest.mark.parametrize("text", [
    "Our Wi-Fi is called Kalamaja5G.",
    "Our wifi network is Kalamaja5G",
    "Wi-Fi name: Kalamaja5G",
    "Наш Wi-Fi называется Kalamaja5G.",
    "вайфай под названием Kalamaja5G",
    "我们的WiFi叫Kalamaja5G。",
    "家里WiFi名字是Kalamaja5G",
])
def test_the_name_of_a_network_is_no_secret(text):
    assert redact(text).text == text


@pytest.mark.parametrize("text", [
    "Our Wi-Fi is called Kalamaja5G and the password is {}",
    "Our Wi-Fi is called Kalamaja5G / {}",
    "wifi network Home / {}",
    "login name admin / {}",
    "login name / {}",
    "Wi-Fi is {}",
    "Наш Wi-Fi называется Kalamaja5G, пароль {}",
    "Wi-Fi называется Home / {}",
    "вайфай Home / {}",
    "зайди под admin / {}",
    "家里WiFi名字是Kalamaja5G，密码是{}",
])
def test_what_opens_a_network_is_a_secret_beside_its_name(text):
    assert redact(text.format("Sommer2024x")).text == text.format("[redacted:password]")
