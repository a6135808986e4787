"""Secrets that only the words around them give away, in English, Russian and Chinese, in prose and in assignments."""

from __future__ import annotations

import re

from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.secrets.rule import Rule, detector, entropy, is_placeholder, looks_random

_QUOTE = r"[\"'`«“”‘’「『]"
_VALUE = r"([^\s\"'`«»“”‘’「」『』<>\[\]{}，。；！？、]{3,200})"
_WORDS = r"(?:\s+[\w@.'’\-]{0,39}[\w@](?=[\s:=—–]))"  # "for the guest network"

_PASSWORD_EN = (
    rf"(?<![A-Za-z])(?:pass(?:word|code|phrase|wd)s?|pwd|pin[ -]?code)\b(?:\s+(?:for|to|of|on|at|in){_WORDS}{{1,5}}?)?"
    r"\s*(?:\b(?:is|was|are|changed to|set to|reset to)\b|=>|->|[:：—–]|=(?!=))\s*(?:(?:now|still|just|simply|actually)\s+)?(?:[:=]\s*)?"
    rf"{_QUOTE}?{_VALUE}"
)
_PASSWORD_CHANGED = rf"\b(?:chang|set|reset|updat|switch)\w*(?:\s+[\w'’]{{1,20}}){{0,3}}?\s+(?:pass(?:word|code|phrase|wd)|pin)\s+to\s+{_QUOTE}?{_VALUE}"
_PASSWORD_SHORT = rf"(?<![A-Za-z])(?:pass|pw|pin)\s*(?:[:：]|=(?!=))\s*{_QUOTE}?{_VALUE}"
_PASSWORD_RU = (
    r"(?<!менеджер )(?<!менеджера )\b(?:парол[а-яё]{0,3}|пин[- ]?код[а-яё]{0,2}|"
    r"кодов[а-яё]{2,3}\s+слов[а-яё]{1,2}|"
    r"ключ[а-яё]{0,2}\s+доступа)"
    rf"(?:\s+(?:от|для|к|ко|на|у|в){_WORDS}{{1,5}}?)?"
    rf"\s*(?:(?:[:：—–-]|=(?!=)|это|теперь|будет|такой|вот|на)+\s*)?(?:[:=]\s*)?{_QUOTE}?{_VALUE}"
)
_PASSWORD_ZH = (
    r"(?:密码|密碼|口令|登录码|密钥|密鑰|通行码)(?:[^\s，。；！？:：\"'A-Za-z0-9]{0,8}?)"
    rf"(?:是|为|為|叫|成了|成|改成|设为|設為|[:：=])\s*了?\s*{_QUOTE}?([!-~]{{3,100}})"
)
_KEY_NAME = (
    r"(?:api[_\- ]?key|apikey|secret[_\- ]?(?:access[_\- ]?)?key|access[_\- ]?key(?:[_\- ]?(?:id|secret))?|"
    r"client[_\- ]?secret|app[_\- ]?secret|(?:auth|access|refresh|bot|session)[_\- ]?token|"
    r"session[_\- ]?(?:key|secret)|private[_\- ]?key|signing[_\- ]?(?:key|secret)|"
    r"encryption[_\- ]?key|webhook[_\- ]?secret|credentials?|"
    r"secret|token|"
    r"密钥|令牌|токен[а-яё]{0,2}|ключ[а-яё]{0,2}(?:\s+api)?|секрет[а-яё]{0,2})"
)
_ASSIGNED = (
    rf"{_KEY_NAME}[\"'`\]]{{0,2}}(?:\s+[а-яё]{{2,15}})?(?:\s+(?:for|от|для|к){_WORDS}{{1,3}}?)?"
    rf"\s*(?:=>|:=|->|[:：—–]|=(?!=)|\bis\b|是|为|это)\s*{_QUOTE}?"
    r"([^\s\"'`«»“”<>\[\]{{},;，。；]{8,500})"
)
_QUOTED = (
    r"(?:password|passwd|passphrase|pwd|secret|db_pass|mysql_pwd|pgpassword)[\"'`\]]{0,2}\s*(?:=>|:=|[:=])\s*"
    r"[\"'`]([^\"'`\n]{3,200})[\"'`]"
)
_DIGITS = (
    r"(?:\b(?:cvv2?|cvc2?|cvn|otp|2fa code|verification code|security code|one[- ]time (?:code|password)|"
    r"pin(?:[ -]code)?)\b|"
    r"验证码|校验码|动态码|安全码|код\s+(?:подтверждения|из\s+смс)|смс-код|\bпин(?:[ -]?код)?\b)"
    r"\s*(?:(?:is|was|:|=|：|是|为|—|-)\s*)?(\d{3,8})(?!\d)"
)

# Words after "the password is …" that say something about it instead of telling it.
_ORDINARY_WORDS = """
required incorrect wrong expired strong weak changed reset stored encrypted hashed correct valid invalid missing
empty safe secret known saved protected needed optional too not the a an in on at my your our his her their its
this that same still also only very really just manager managers policy policies field fields page prompt hash
hashes generator protection least based less login user username name and or for with from about never always
sent shown hidden visible longer shorter different unique long short set used easy hard bad good what when why
how who where which whatever something nothing anything everything there here now then later soon today tomorrow
yesterday new old next last working compromised leaked stolen forgotten lost found unknown unchanged disabled
enabled rotated shared default must should can could may might will would has have had does did do been being be
was were is are it they we he she you i so if but не нужен нужно забыл забыла забыли должен должна изменён
изменен сменил сменила поменял поменяла неверный неправильный верный сброшен сбросить хранится слишком сложный
простой надёжный надежный от для на в и или это как что где мой твой ваш наш его её их лучше можно надо пора
снова опять уже ещё еще был была будет истёк истек устарел скомпрометирован утёк длинный password passwd pwd
token passphrase короткий длиннее короче новый старый тот там тут здесь чтобы если когда потом через больше
меньше символов
"""
_ORDINARY = frozenset(_ORDINARY_WORDS.split())
_WORD = lazy(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")


def _c(pattern: str) -> re.Pattern[str]:
    return detector(pattern, re.IGNORECASE)


def _password(value: str) -> bool:
    lowered = value.lower()
    if len(value) < 3 or is_placeholder(value) or lowered in _ORDINARY:
        return False
    if not _WORD.fullmatch(value):
        return not re.fullmatch(r"\d{1,3}", value) and not value.startswith(("http://", "https://", "/", "(", "--"))
    return len(value) >= 5 and not lowered.endswith(("ed", "ing", "ся", "ть", "ый", "ой", "ен", "ена", "ны"))


def _strict_password(value: str) -> bool:
    """For Russian, where the connecting word may be missing: something with a digit, a symbol or Latin letters."""
    if not _password(value):
        return False
    return not re.fullmatch(r"[А-Яа-яЁё]+(?:-[А-Яа-яЁё]+)*", value)


def _key(value: str) -> bool:
    if is_placeholder(value) or value.startswith(("http://", "https://", "/", "./", "~")):
        return False
    if looks_random(value):
        return True
    mixed = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    return mixed and entropy(value) >= 2.5 and not re.fullmatch(r"[a-z]+[_-][a-z_-]+\d{1,4}", value)


def _quoted(value: str) -> bool:
    return not is_placeholder(value) and " " not in value.strip() and value.strip().lower() not in _ORDINARY


RULES: tuple[Rule, ...] = (
    Rule("password", _c(_QUOTED), ("pass", "pwd", "secret"), group=1, accept=_quoted),
    Rule("password", _c(_PASSWORD_EN), ("pass", "pwd", "pin"), group=1, accept=_password, prose=True),
    Rule("password", _c(_PASSWORD_CHANGED), ("pass", "pin"), group=1, accept=_password, prose=True),
    Rule("password", _c(_PASSWORD_SHORT), ("pass", "pw", "pin"), group=1, accept=_password, prose=True),
    Rule("password", _c(_PASSWORD_RU), ("парол", "пин", "кодов", "ключ"), group=1, accept=_strict_password, prose=True),
    Rule("password", _c(_PASSWORD_ZH), ("码", "密", "口令"), group=1, accept=_password, prose=True),
    Rule(
        "api-key",
        _c(_ASSIGNED),
        ("key", "secret", "token", "credential", "密钥", "令牌", "токен", "ключ", "секрет"),
        group=1,
        accept=_key,
        prose=True,
    ),
    Rule("one-time-code", _c(_DIGITS), ("cv", "otp", "code", "pin", "码", "код", "пин", "password"), group=1),
)
