"""Whether a statement holds nothing but a secret that was cut out: "my API key is [redacted]". Pure."""

from __future__ import annotations

import re
from functools import cache

from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.text.lexicon import content_terms, stem

_MARK = lazy(r"\[redacted:[\w-]+\]")
_WORDS = """
api key keys token tokens password passwords passphrase passcode pass pin pins code secret secrets credential credentials login
access private master remember note save keep here ключ ключа ключи токен токена пароль пароля пароли пин код секрет секрета секретный
логин доступ доступа апи запомни сохрани
"""
_NAMES_CHINESE = lazy(
    r"密码|密钥|口令|令牌|私钥|公钥|验证码|通行码|秘钥|凭证|登录|账号|帐号|访问|记住|记一下|请|我们?的?|这个|那个|是|为|的|了|[，。：、！]"
)
_HAN = lazy(r"[\u3400-\u9fff]")
_ENOUGH = 2  # terms beside it that say what it is of, and more: "the password manager is Bitwarden"
_ENOUGH_CHINESE = 3  # characters


@cache
def _names() -> frozenset[str]:
    return frozenset(map(stem, _WORDS.split()))


def only_secret(content: str) -> bool:
    """Whether it says nothing once the mark of the secret and the words for one are gone."""
    if not _MARK.search(content):
        return False
    rest = _NAMES_CHINESE.sub(" ", _MARK.sub(" ", content)).replace("_", " ")
    han = len(_HAN.findall(rest))
    said = {term for term in content_terms(re.sub(_HAN.pattern, " ", rest)) if term not in _names() and len(term) > 1}
    return len(said) < _ENOUGH and han < _ENOUGH_CHINESE and not (said and han)
