"""Secrets that the place they stand in gives away: configuration files, environment, headers, cookies, command lines."""

from __future__ import annotations

import re

from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.secrets.rule import Rule, detector, entropy, is_placeholder, looks_random
from openclaw_neuralstream.secrets.strength import generated, strong

_Q = r"[\"'`]"
_TEXT = r"([^\s\"'`<>;,]{3,500})"

_ENV_PASSWORD = rf"\b[A-Z][A-Z0-9_]{{0,60}}(?:PASSWORD|PASSWD|PASSPHRASE|_PASS|_PWD)\s{{0,3}}[:=]\s{{0,3}}{_Q}?{_TEXT}"
_ENV_KEY = (
    r"\b[A-Za-z][A-Za-z0-9_]{0,60}(?:_KEY|_TOKEN|_SECRET|_CREDENTIALS?|_KEY_BASE|_key_base|_secret|_token|Key|Token|Secret)"
    rf"{_Q}?\s{{0,3}}[:=]\s{{0,3}}{_Q}?(?:base64:)?([^\s\"'`<>,]{{16,500}})"
)
_QUOTED = (
    rf"(?<![A-Za-z])(?:pass|auth|psk|passwd|passphrase|key|secret)\b{_Q}?\s{{0,3}}(?::\s{{0,3}}\w{{1,12}}\s{{0,3}})?(?:=>|[:=])"
    rf"\s{{0,3}}{_Q}([^\"'`\n]{{6,200}}){_Q}"
)
_TYPED = rf"\bpass(?:word|phrase|wd)\s{{0,3}}:\s{{0,3}}\w{{1,20}}\s{{0,3}}=\s{{0,3}}{_Q}([^\"'`\n]{{3,200}}){_Q}"
_PAIR = rf"\bauth\s{{0,3}}[=:]\s{{0,3}}[(\[]\s{{0,3}}{_Q}[^\"'`\n]{{1,80}}{_Q}\s{{0,3}},\s{{0,3}}{_Q}([^\"'`\n]{{4,200}}){_Q}"
_XML = r"<(?:password|passwd|passphrase|secret|token|api-?key|client-?secret|private-?key)>([^<\s]{3,500})</"
_XML_PAIR = (
    rf"(?:key|name)={_Q}[\w.:\-]{{0,60}}(?:key|secret|token|password){_Q}\s{{1,5}}value={_Q}([^\"'`\n<]{{6,300}}){_Q}"
)
_NETRC = r"\bmachine\s{1,5}\S{1,200}\s{1,5}login\s{1,5}\S{1,100}\s{1,5}password\s{1,5}(\S{3,200})"
_PGPASS = r"^[\w.*\-]{1,100}:(?:\d{1,5}|\*):[\w*\-]{1,60}:[\w*\-]{1,60}:(\S{4,100})$"
_CONNECTION = r"(?:password|pwd|accountkey|sharedaccesskey|sharedsecret)\s{0,3}=\s{0,3}([^;\s\"'<>]{3,300})(?=;|\"|'|$)"
_KUBE_DATA = r"\bkind:\s{0,3}Secret\b[^\x00]{0,600}?\n(?:string)?[dD]ata:\s{0,3}\n((?:[ \t]{1,8}[\w.\-]{1,100}:[^\n]{1,5000}(?:\n|\Z)){1,40})"
_KUBE_KEY = r"\bclient-key-data:\s{0,3}([A-Za-z0-9+/=]{40,20000})"
_DOCKER_AUTH = r"\"auth\"\s{0,3}:\s{0,3}\"([A-Za-z0-9+/]{8,500}={0,2})\""
_WIREGUARD = r"\b(?:private|preshared)_?key\s{0,3}[:=]\s{0,3}([A-Za-z0-9+/]{43}=)"
_WIFI_CODE = r"\bWIFI:[^\n]{0,120}?\bP:((?:\\.|[^;\n]){3,80});"
_KEYPAIR = r"(?:key|wallet|secret|keypair)[^\n\[]{0,60}\[\s{0,3}(\d{1,3}(?:\s{0,3},\s{0,3}\d{1,3}){31,63})\s{0,3}\]"

_COOKIE = rf"\bcookie{_Q}?\s{{0,3}}[:=]\s{{0,3}}{_Q}?([^\n\"']{{8,4000}})"
_CURL_COOKIE = rf"\bcurl\b[^\n]{{0,300}}?\s(?:-b|--cookie)[\s=]{{1,3}}{_Q}?([^\n\"']{{8,2000}})"
_COOKIE_VALUE = lazy(r"=([^;\s]{12,})")
_HEADER = (
    rf"\bx-[\w\-]{{0,40}}(?:key|token|secret|auth)[\w\-]{{0,20}}{_Q}?\s{{0,3}}:\s{{0,3}}{_Q}?([\w~+/.=\-]{{8,2000}})"
)
_AUTHORIZATION = rf"\bauthorization{_Q}?\s{{0,3}}[:=]\s{{0,3}}{_Q}?[A-Za-z][\w\-]{{1,30}}[ =](?:[\w@.!\-]{{1,60}}=)?([\w~+/.=\-]{{8,8000}})"
_BEARER = r"\bbearer\s{1,3}token\s{0,3}(?:is|:|=)?\s{0,3}([\w~+/.=\-]{8,2000})"

_MYSQL = r"\bmysql\w{0,10}\s[^\n|]{0,200}?(?<=\s)-p([^\s\-][^\s]{3,100})"
_REDIS = rf"\bredis-cli\b[^\n|]{{0,200}}?\s(?:-a|--pass)[\s=]{{1,3}}{_Q}?([^\s\"']{{3,200}})"
_LOGIN = rf"\b(?:docker|podman|helm|az|oc|cf|npm)\s[^\n|]{{0,80}}?login\b[^\n|]{{0,200}}?\s-p[\s=]{{1,3}}{_Q}?([^\s\"']{{3,200}})"
_ECHOED = rf"\becho\s(?:-n\s)?{_Q}?([^\s\"'|]{{6,300}}){_Q}?\s{{0,3}}\|[^\n]{{0,200}}?--password-stdin"
_HTPASSWD = r"\bhtpasswd\s[^\n|]{0,40}-\w{0,5}b\w{0,5}\s{1,3}\S{1,200}\s{1,3}\S{1,80}\s{1,3}([^\s]{3,100})"
_OPENSSL = r"\s-pass(?:in|out)?\s{1,3}pass:([^\s\"']{3,200})"
_NET_USE = r"\bnet\s{1,3}use\s[^\n]{0,200}?/user:\S{1,80}\s{1,3}([^\s/]\S{3,100})"

_NO_KEY = lazy(r"[A-Z_]*(?:PUBLIC|PRIMARY|FOREIGN|SORT|PARTITION|CACHE|GROUP|ORDER|IDEMPOTENCY)_?(?:KEY|TOKEN)")


def _c(pattern: str, flags: re.RegexFlag = re.IGNORECASE) -> re.Pattern[str]:
    return detector(pattern, flags)


def _real(value: str) -> bool:
    return not is_placeholder(value) and len(set(value)) > 2


def _key(value: str) -> bool:
    return not is_placeholder(value) and not value.startswith(("http:", "https:", "/", "./", "~")) and _dense(value)


def _dense(value: str) -> bool:
    return looks_random(value) or generated(value) or (strong(value) and entropy(value) > 3.3)


def _cookie(value: str) -> bool:
    return any(_key(part) for part in _COOKIE_VALUE.findall(value))


RULES: tuple[Rule, ...] = (
    Rule("password", _c(_ENV_PASSWORD, re.RegexFlag(0)), ("pass", "pwd"), group=1, accept=_real),
    Rule("api-key", _c(_ENV_KEY, re.RegexFlag(0)), ("key", "token", "secret", "credential"), group=1, accept=_key),
    Rule("password", _c(_QUOTED), ("pass", "auth", "psk", "key", "secret"), group=1, accept=strong),
    Rule("password", _c(_TYPED), ("pass",), group=1, accept=_real),
    Rule("password", _c(_PAIR), ("auth",), group=1, accept=_real),
    Rule("password", _c(_XML), ("</",), group=1, accept=_real),
    Rule("api-key", _c(_XML_PAIR), ("value=",), group=1, accept=_real),
    Rule("password", _c(_NETRC), ("machine",), group=1, accept=_real),
    Rule("password", _c(_PGPASS, re.MULTILINE), (":",), group=1, accept=strong),
    Rule("password", _c(_CONNECTION), ("password", "pwd", "accountkey", "shared"), group=1, accept=_real),
    Rule("kubernetes-secret", _c(_KUBE_DATA, re.RegexFlag(0)), ("kind:",), group=1, accept=_real),
    Rule("private-key", _c(_KUBE_KEY), ("client-key-data",), group=1),
    Rule("password", _c(_DOCKER_AUTH), ('"auth"',), group=1, accept=_real),
    Rule("private-key", _c(_WIREGUARD), ("privatekey", "private_key", "presharedkey", "preshared_key"), group=1),
    Rule("password", _c(_WIFI_CODE), ("wifi:",), group=1, accept=_real),
    Rule("private-key", _c(_KEYPAIR), ("key", "wallet", "secret"), group=1),
    Rule("cookie", _c(_COOKIE), ("cookie",), group=1, accept=_cookie),
    Rule("cookie", _c(_CURL_COOKIE), ("curl",), group=1, accept=_cookie),
    Rule("authorization", _c(_HEADER), ("x-",), group=1, accept=_key),
    Rule("authorization", _c(_AUTHORIZATION), ("authorization",), group=1, accept=_key),
    Rule("authorization", _c(_BEARER), ("bearer",), group=1, accept=_key),
    Rule("command-line-password", _c(_MYSQL), ("mysql",), group=1, accept=_real),
    Rule("command-line-password", _c(_REDIS), ("redis-cli",), group=1, accept=_real),
    Rule("command-line-password", _c(_LOGIN), ("login",), group=1, accept=_real),
    Rule("command-line-password", _c(_ECHOED), ("--password-stdin",), group=1, accept=_real),
    Rule("command-line-password", _c(_HTPASSWD), ("htpasswd",), group=1, accept=_real),
    Rule("command-line-password", _c(_OPENSSL), ("pass:",), group=1, accept=_real),
    Rule("command-line-password", _c(_NET_USE), ("/user:",), group=1, accept=_real),
)
