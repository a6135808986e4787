"""Secrets as people say them in passing: "the door code is …", "зайди под admin / …", "手机解锁密码…", a list of backup codes."""

from __future__ import annotations

import re

from openclaw_neuralstream.secrets.rule import Rule, detector
from openclaw_neuralstream.secrets.strength import generated, strong

_V = r"([^\s\"'`«»“”‘’「」『』<>\[\]{}()，。；！？、,;]{6,128})"
_Q = r"[\"'`«“”‘’「『]?"
_NAMING = r"(?:called|named|name|network|называется|зовется|зовётся|названием|именем|имя|название|сеть)"
"""What stands before a name, and is none: the name of a network is no secret."""
_ACCOUNT = (
    r"(?:\b(?:log\s?in|login|credentials?|creds|user(?:name)?|account|ssid|wi-?fi)\b|(?<![а-яё])(?:логин|учётка|учетка|под|вайфай)(?![а-яё])|"
    r"账号|帐号|帳號|用户名|用戶名)\s{0,2}(?:as\b|are\b|is\b|[:：是为])?\s{0,3}"
    rf"(?:{_NAMING}(?:\s+is(?!\w))?+(?!\w)[:：]?\s{{0,3}})?(?!{_NAMING}[:：]?\s+\w)"
    r"[\w.@\-]{2,60}?\s{0,3}(?:[/,，、|:]|\s(?:with|and)\s|\s)\s{0,3}" + _V
)
_KEY = rf"(?:\bkey|(?<![а-яё])ключ[а-яё]{{0,2}}|密钥|私钥|приватн\w{{2,3}}\s+ключ\w{{0,2}}|private\s+key)\s{{0,3}}(?:is\b|was\b|[:：=—–是为])\s{{0,3}}{_Q}{_V}"
_APP = r"\bapp(?:lication)?[ \-]password\b\W{0,3}(?:is\b|was\b)?\s{0,3}([a-z]{4}(?:[ \-][a-z]{4}){3})(?![a-z])"

_CODES = (
    r"(?:\b(?:backup|recovery|rescue|scratch|emergency)\s+codes?\b|(?:резервн|запасн|аварийн)\w{2,3}\s+код\w{0,3}|"
    r"(?:备用|恢复|备份|救援)(?:验证码|恢复码|代码|码))[^\n\d:：]{0,30}[:：]?\s{0,3}"
    r"((?:[A-Za-z0-9]{4,6}-[A-Za-z0-9]{4,6}|\d{6,10}|\d{4}\s\d{4})(?:[\s,;、]{1,3}(?:\d{1,2}[.)]\s)?"
    r"(?:[A-Za-z0-9]{4,6}-[A-Za-z0-9]{4,6}|\d{6,10}|\d{4}\s\d{4})){1,19})"
)


def _c(pattern: str) -> re.Pattern[str]:
    return detector(pattern, re.IGNORECASE)


RULES: tuple[Rule, ...] = (
    Rule("password", _c(_ACCOUNT), ("log", "cred", "user", "account", "ssid", "wi", "логин", "учётка", "учетка", "под", "вайфай", "号", "號", "用户名", "用戶名"), group=1, accept=strong, prose=True),
    Rule("api-key", _c(_KEY), ("key", "ключ", "密钥", "私钥"), group=1, accept=lambda v: generated(v) or _hex_key(v), prose=True),
    Rule("password", _c(_APP), ("password",), group=1),
    Rule("backup-codes", _c(_CODES), ("code", "код", "码"), group=1),
)  # fmt: skip


def _hex_key(value: str) -> bool:
    return bool(re.fullmatch(r"0x[0-9a-fA-F]{64}", value))
