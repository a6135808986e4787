"""A key of a vendor that no list knows goes by its make: a prefix in letters and a long random tail; ids and names stay."""

from __future__ import annotations

import string

import pytest

from openclaw_neuralstream.secrets import redact
from tests.secrets.specimens import Maker

_BASE62 = string.ascii_letters + string.digits
_ALPHABETS = {"base62": _BASE62, "base64url": _BASE62 + "-_", "base36": string.ascii_lowercase + string.digits}
_MADE = 400
_SENTENCES = ("use {} from now on", "I put {} into the file, then went home", "вот {}, не теряй", "X={}", '"{}"')


def _keys(alphabet: str, least: int, seed: int) -> list[str]:
    """Keys of vendors that do not exist: no list can hold their prefixes."""
    maker, made = Maker(seed), []
    for number in range(_MADE):
        prefix = maker.of(string.ascii_lowercase, 3 + number % 6)
        prefix = (prefix, prefix.upper(), f"{prefix}_live", f"{prefix}-v1")[number % 4]
        joint = "_-"[number % 2]
        made.append(prefix + joint + maker.of(_ALPHABETS[alphabet], least + number % 32))
    return made


@pytest.mark.parametrize("seed", [61, 62])
@pytest.mark.parametrize(("alphabet", "least"), [("base62", 32), ("base64url", 40), ("base36", 36)])
def test_a_key_of_any_vendor_is_taken_out(alphabet, least, seed):
    keys = _keys(alphabet, least, seed)
    left = [key for n, key in enumerate(keys) if key in redact(_SENTENCES[n % len(_SENTENCES)].format(key)).text]
    assert len(left) / len(keys) <= 0.05, left[:20]


@pytest.mark.parametrize("sentence", _SENTENCES)
def test_the_surroundings_of_such_a_key_stay(sentence):
    key = "qorvex_" + "fT7" + "k2Wq9Zb4Lm8Xc1Vn6Rs3Hd5Jp0Ga7Ty"
    assert redact(sentence.format(key)).text == sentence.format("[redacted:api-key]")


_HEX40 = "3f2a9c81d47be05f6a1c" * 2
_LONG = "fT7k2Wq9Zb4Lm8Xc1Vn6Rs3Hd5Jp0Ga7TyKe4"


@pytest.mark.parametrize(
    "text",
    [
        f"commit-{_HEX40}",
        f"image_{_HEX40[:32]}",
        "user_01h2xcejqtf2nbrexx3vqjhp41",  # ULID
        "msg_01XFDUDYJgAACzvnptvVoYEL",  # ids of requests and objects end before 32 characters
        "prod-eu-chat-msg_01XFDUDYJgAACzvnptvVoYEL",
        "chatcmpl-9nXbQ2LmR7tYw3KpV5sHc8Jd1FgA0",
        "order-2Bz7kQ9mX4nT6vR8sL1pY3wC5dF",  # KSUID
        f"sha256-{_LONG}",
        f"sha512-{_LONG}{_LONG}",
        "pk_" + f"live_{_LONG}",  # meant to be public
        f"see https://example.org/files/main-{_LONG} for it",
        f"the bundle is main-{_LONG}.js",
        f"docs/build-{_LONG}/index",
        "feature-JIRA-1234-Add-New-Login-Page-For-Users-V2",
        "test_thatTheUserCanLoginWith2FactorsEnabledOnPhone14_v2",
        "the_quick_brown_fox_jumps_over_the_lazy_dog_2024_11_22",
        "deployment-web-7d4b9c6f5d-x2k8z-production-eu-west-1a",
        "session-123e4567-e89b-12d3-a456-426614174000",
        "com-example-ReallyLongClassNameOfTheFactoryBuilder2Implementation3",
    ],
)
def test_ids_digests_files_and_names_stay(text):
    assert redact(text).text == text
