"""A gem that is nothing but a redacted secret is worth nothing; one that says more is, in three languages."""

from __future__ import annotations

import pytest

from openclaw_neuralstream.judgement import GemJudge, only_secret
from tests.values import NOW, gem


@pytest.mark.parametrize(
    "content",
    [
        "My API key is [redacted:api-key]",
        "Remember: my password is [redacted:password]",
        "OPENAI_API_KEY=[redacted:api-key]",
        "My wifi password is [redacted:password]",
        "Запомни: мой ключ API [redacted:api-key]",
        "Мой пароль: [redacted:password]",
        "记住：我的API密钥是[redacted:api-key]",
        "我的密码是[redacted:password]。",
        "[redacted:token]",
    ],
)
def test_nothing_but_a_secret_is_dropped(content: str) -> None:
    assert only_secret(content)
    judged = GemJudge()(gem("g", content), NOW, [])
    assert (judged.outcome, judged.why) == ("dropped", "nothing but a secret, which is not kept")


@pytest.mark.parametrize(
    "content",
    [
        "My password manager is Bitwarden, key [redacted:api-key]",
        "The token for the GitHub deploy bot is [redacted:token].",
        "The door code is [redacted:pin], ask Anna",
        "Пароль от нашего роутера Keenetic: [redacted:password]",
        "我的密码管理器是Bitwarden，密钥[redacted:api-key]",
        "家里路由器的密码是[redacted:password]",
        "My password is on the fridge",
    ],
)
def test_what_says_more_stays(content: str) -> None:
    assert not only_secret(content)
