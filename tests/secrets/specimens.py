"""Secrets of the shape that vendors give them, and look-alikes: made at run time, so that no file holds one."""

from __future__ import annotations

import base64
import random
import string
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass

UPPER, LOWER, DIGITS = string.ascii_uppercase, string.ascii_lowercase, string.digits
ALNUM = UPPER + LOWER + DIGITS
HEX = DIGITS + "abcdef"
URLSAFE = ALNUM + "-_"
BASE32 = UPPER + "234567"
BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


@dataclass(frozen=True)
class Specimen:
    """A text with a secret in it. `secret` is what must be gone; for a look-alike it is what must stay."""

    vendor: str
    text: str
    secret: str


class Maker:
    """Random strings from one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def of(self, alphabet: str, length: int) -> str:
        """Random characters, at least one digit and one letter among them where the alphabet has both."""
        value = "".join(self.random.choice(alphabet) for _ in range(length))
        if length >= 8 and set(alphabet) >= set(DIGITS) and not (set(value) & set(DIGITS)):
            value = self.random.choice(DIGITS) + value[1:]
        return value

    def pick(self, items: tuple[str, ...]) -> str:
        return self.random.choice(items)

    def card(self, prefix: str, length: int) -> str:
        """A number with the right check digit."""
        body = prefix + self.of(DIGITS, length - len(prefix) - 1)
        total = sum(sum(divmod(int(d) * (2 - i % 2), 10)) for i, d in enumerate(reversed(body)))
        return body + str(-total % 10)

    def jwt(self) -> str:
        head = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').decode().rstrip("=")
        body = base64.urlsafe_b64encode(f'{{"sub":"{self.of(DIGITS, 10)}"}}'.encode()).decode().rstrip("=")
        return f"{head}.{body}.{self.of(URLSAFE, 43)}"

    def pem(self, kind: str) -> str:
        lines = "\n".join(self.of(ALNUM + "+/", 64) for _ in range(6))
        dashes = "-" * 5
        return f"{dashes}BEGIN {kind}{dashes}\n{lines}\n{self.of(ALNUM, 40)}==\n{dashes}END {kind}{dashes}"


VENDORS: dict[str, Callable[[Maker], str]] = {
    "aws id": lambda m: "AK" + "IA" + m.of(BASE32, 16),
    "aws temporary id": lambda m: "AS" + "IA" + m.of(BASE32, 16),
    "gcp key": lambda m: "AI" + "za" + m.of(URLSAFE, 34) + "k",
    "gcp oauth": lambda m: "ya" + "29." + m.of(URLSAFE, 60) + "A",
    "gcp client secret": lambda m: "GOC" + "SPX-" + m.of(URLSAFE, 27) + "x",
    "azure client secret": lambda m: m.of(ALNUM, 3) + "8Q" + "~" + m.of(ALNUM + "~.", 33) + "a",
    "azure storage": lambda m: (
        "DefaultEndpointsProtocol=https;AccountName=x;Account" + "Key=" + m.of(ALNUM + "+/", 86) + "=="
    ),
    "github classic": lambda m: "gh" + "p_" + m.of(ALNUM, 36),
    "github oauth": lambda m: "gh" + "o_" + m.of(ALNUM, 36),
    "github server": lambda m: "gh" + "s_" + m.of(ALNUM, 36),
    "github fine": lambda m: "github" + "_pat_" + m.of(ALNUM, 22) + "_" + m.of(ALNUM, 59),
    "gitlab": lambda m: "gl" + "pat-" + m.of(URLSAFE, 19) + "z",
    "gitlab runner": lambda m: "gl" + "rt-" + m.of(URLSAFE, 19) + "z",
    "slack bot": lambda m: "xo" + f"xb-{m.of(DIGITS, 12)}-{m.of(DIGITS, 13)}-{m.of(ALNUM, 24)}",
    "slack user": lambda m: "xo" + f"xp-{m.of(DIGITS, 12)}-{m.of(DIGITS, 12)}-{m.of(DIGITS, 12)}-{m.of(HEX, 32)}",
    "slack app": lambda m: "xa" + f"pp-1-A{m.of(UPPER + DIGITS, 10)}-{m.of(DIGITS, 13)}-{m.of(HEX, 64)}",
    "slack hook": lambda m: (
        "https://hooks.slack" + f".com/services/T{m.of(UPPER, 8)}/B{m.of(UPPER, 8)}/{m.of(ALNUM, 24)}"
    ),
    "stripe live": lambda m: "sk" + "_live_" + m.of(ALNUM, 24),
    "stripe restricted": lambda m: "rk" + "_live_" + m.of(ALNUM, 99),
    "stripe test": lambda m: "sk" + "_test_" + m.of(ALNUM, 24),
    "stripe hook": lambda m: "wh" + "sec_" + m.of(ALNUM, 32),
    "openai project": lambda m: "sk" + "-proj-" + m.of(URLSAFE, 150) + "A",
    "openai old": lambda m: "sk" + "-" + m.of(ALNUM, 20) + "T3Blbk" + "FJ" + m.of(ALNUM, 20),
    "anthropic": lambda m: "sk" + "-ant-api03-" + m.of(URLSAFE, 93) + "AA",
    "openrouter": lambda m: "sk" + "-or-v1-" + m.of(HEX, 64),
    "deepseek": lambda m: "sk" + "-" + m.of(HEX, 32),
    "groq": lambda m: "gs" + "k_" + m.of(ALNUM, 52),
    "xai": lambda m: "xa" + "i-" + m.of(ALNUM, 80),
    "perplexity": lambda m: "pp" + "lx-" + m.of(ALNUM, 48),
    "replicate": lambda m: "r8" + "_" + m.of(ALNUM, 37),
    "huggingface": lambda m: "h" + "f_" + m.of(ALNUM, 34),
    "npm": lambda m: "np" + "m_" + m.of(ALNUM, 36),
    "pypi": lambda m: "py" + "pi-AgEIcHlwaS5vcmc" + m.of(URLSAFE, 120) + "A",
    "rubygems": lambda m: "ruby" + "gems_" + m.of(HEX, 48),
    "docker": lambda m: "dck" + "r_pat_" + m.of(URLSAFE, 26) + "q",
    "telegram": lambda m: f"{m.of(DIGITS[1:], 10)}:AA" + m.of(URLSAFE, 32) + "w",
    "discord bot": lambda m: "M" + m.of(ALNUM, 23) + "." + m.of(ALNUM, 6) + "." + m.of(URLSAFE, 26) + "k",
    "discord hook": lambda m: "https://discord.com/api/" + f"webhooks/{m.of(DIGITS[1:], 18)}/{m.of(URLSAFE, 67)}",
    "twilio": lambda m: "S" + "K" + m.of(HEX, 32),
    "sendgrid": lambda m: "S" + f"G.{m.of(URLSAFE, 22)}.{m.of(URLSAFE, 42)}x",
    "mailgun": lambda m: "ke" + "y-" + m.of(HEX, 32),
    "mailchimp": lambda m: m.of(HEX, 32) + "-us" + "12",
    "square": lambda m: "sq0" + "csp-" + m.of(URLSAFE, 42) + "z",
    "shopify": lambda m: "shp" + "at_" + m.of(HEX, 32),
    "digitalocean": lambda m: "do" + "p_v1_" + m.of(HEX, 64),
    "linear": lambda m: "li" + "n_api_" + m.of(ALNUM, 40),
    "notion": lambda m: "nt" + "n_" + m.of(ALNUM, 46),
    "figma": lambda m: "fi" + "gd_" + m.of(URLSAFE, 40) + "x",
    "databricks": lambda m: "da" + "pi" + m.of(HEX, 32),
    "doppler": lambda m: "d" + "p.pt." + m.of(ALNUM, 43),
    "vault": lambda m: "hv" + "s." + m.of(URLSAFE, 95) + "a",
    "terraform": lambda m: m.of(ALNUM, 14) + ".atlas" + "v1." + m.of(ALNUM, 67),
    "pulumi": lambda m: "pu" + "l-" + m.of(HEX, 40),
    "postman": lambda m: "PM" + f"AK-{m.of(HEX, 24)}-{m.of(HEX, 34)}",
    "sentry": lambda m: "snt" + "rys_" + m.of(ALNUM, 90),
    "grafana": lambda m: "gl" + f"sa_{m.of(ALNUM, 32)}_{m.of(HEX, 8)}",
    "newrelic": lambda m: "NR" + "AK-" + m.of(UPPER + DIGITS, 27),
    "airtable": lambda m: "pa" + f"t{m.of(ALNUM, 14)}.{m.of(HEX, 64)}",
    "atlassian": lambda m: "AT" + "ATT3" + m.of(URLSAFE, 180) + "A",
    "supabase": lambda m: "sb" + "p_" + m.of(HEX, 40),
    "netlify": lambda m: "nf" + "p_" + m.of(ALNUM, 36),
    "planetscale": lambda m: "psc" + "ale_tkn_" + m.of(ALNUM, 43),
    "alibaba": lambda m: "LT" + "AI" + m.of(ALNUM, 20),
    "tencent": lambda m: "AK" + "ID" + m.of(ALNUM, 32),
    "yandex": lambda m: "AQ" + "VN" + m.of(URLSAFE, 35) + "a",
    "vk": lambda m: "vk" + "1.a." + m.of(URLSAFE, 180) + "a",
    "age": lambda m: "AGE-" + "SECRET-KEY-1" + m.of(UPPER + DIGITS, 58),
    "tailscale": lambda m: "ts" + f"key-auth-{m.of(ALNUM, 12)}-{m.of(ALNUM, 32)}",
    "jwt": lambda m: m.jwt(),
    "rsa key": lambda m: m.pem("RSA " + "PRIVATE KEY"),
    "openssh key": lambda m: m.pem("OPENSSH " + "PRIVATE KEY"),
    "pkcs8 key": lambda m: m.pem("PRIVATE " + "KEY"),
    "pgp key": lambda m: m.pem("PGP PRIVATE " + "KEY BLOCK"),
    "visa": lambda m: m.card("4", 16),
    "mastercard": lambda m: m.card("53", 16),
    "amex": lambda m: m.card("37", 15),
    "mir": lambda m: m.card("2202", 16),
    "unionpay": lambda m: m.card("62", 16),
}

SETTINGS = (
    "Use this key: {} for the tests.",
    "I rotated it, the new one is {}",
    "请把密钥换成 {} 谢谢",
    "这是我的令牌：{}，不要告诉别人。",
    "Вот ключ: {}, сохрани его.",
    "Поменял токен на {} сегодня утром",
    'client = Client(api_key="{}")',
    '{{"auth": {{"value": "{}", "kind": "bot"}}}}',
    "export SERVICE_CREDENTIAL={}",
    "curl -H 'X-Api-Key: {}' https://api.example.com/v1/things",
    "https://api.example.com/v1/things?key={}&page=2",
    "- name: secret\n  value: {}\n",
)


def passwords(m: Maker) -> Iterator[Specimen]:
    """Passwords that only the words around them give away."""
    strong = lambda: m.of(ALNUM, 5) + m.pick(("!", "#", "$", "%")) + m.of(ALNUM, 6)  # noqa: E731
    frames = (
        ("en", "my password is {}"),
        ("en", "The wifi password for the guest network is {}."),
        ("en", "Password: {}"),
        ("en", "password = {}"),
        ("en", "the admin passphrase was {}, please change it"),
        ("en", "DB_PASSWORD={}"),
        ("en", '"password": "{}"'),
        ("en", "set pwd={} in the config"),
        ("en", "I changed the password to {}"),
        ("en", "login: bob, password: {}"),
        ("ru", "пароль: {}"),
        ("ru", "Мой пароль от почты — {}"),
        ("ru", "пароль от роутера {}"),
        ("ru", "Поменяй пароль на {}"),
        ("ru", "логин admin, пароль {}"),
        ("ru", "Пароль для сервера теперь {}."),
        ("zh", "密码是{}"),
        ("zh", "我的密码：{}"),
        ("zh", "数据库密码改成{}。"),
        ("zh", "WiFi密码是 {}，记住"),
        ("zh", "密码为{}"),
        ("zh", "登录密码：{}"),
        ("url", "postgres://app:{}@db.internal:5432/main"),
        ("url", "redis://:{}@10.0.0.7:6379/0"),
        ("url", "https://bob:{}@git.example.com/x.git"),
        ("cli", "mysql --user root --password={} main"),
        ("cli", "sshpass -p {} ssh root@host"),
        ("cli", "curl -u bob:{} https://example.com"),
    )
    for kind, frame in frames:
        for _ in range(2):
            secret = strong()
            if kind == "url":
                secret = secret.replace("#", "!").replace("%", "!")
            yield Specimen(f"password {kind}", frame.format(secret), secret)
    for frame in ("my password is {}", "password: {}", "пароль: {}", "密码是{}"):
        secret = m.pick(("hunter", "dragon", "sunshine", "letmein")) + m.of(DIGITS, 2)
        yield Specimen("weak password", frame.format(secret), secret)
    for frame in ("PIN: {}", "my PIN is {}", "CVV {}", "验证码：{}", "код подтверждения: {}", "пин-код {}"):
        secret = m.of(DIGITS, 4)
        yield Specimen("code", frame.format(secret), secret)


def named(m: Maker) -> Iterator[Specimen]:
    """Keys without a shape of their own, behind a name that says what they are."""
    frames = (
        "api_key: {}",
        "apiKey = '{}'",
        '"client_secret": "{}"',
        "ACCESS_TOKEN={}",
        "refresh_token: {}",
        "aws_secret_access_key = {}",
        "the secret key is {}",
        "Authorization: Bearer {}",
        "Authorization: token {}",
        "https://x.example.com/cb?access_token={}&state=1",
        "https://x.example.com/f?sig={}",
        "webhook secret: {}",
        "bot token: {}",
        "токен бота: {}",
        "ключ API: {}",
        "секрет: {}",
        "密钥：{}",
        "令牌是 {}",
        "run --api-key {}",
        "session_key={}",
    )
    for frame in frames:
        for alphabet, length in ((ALNUM, 40), (HEX, 32)):
            secret = m.of(alphabet, length)
            yield Specimen("named key", frame.format(secret), secret)
    words = (
        "abandon",
        "ability",
        "able",
        "about",
        "above",
        "absent",
        "absorb",
        "abstract",
        "absurd",
        "abuse",
        "access",
    )
    for frame in ("seed phrase: {}", "My recovery phrase is {}", "助记词：{}", "сид-фраза: {}"):
        secret = " ".join(m.pick(words) for _ in range(12))
        yield Specimen("recovery phrase", frame.format(secret), secret)


def secrets(seed: int = 7) -> list[Specimen]:
    """At least 400 texts with a secret, each vendor in four surroundings."""
    m = Maker(seed)
    found: list[Specimen] = []
    for number, (vendor, make) in enumerate(VENDORS.items()):
        for offset in range(4):
            frame = SETTINGS[(number * 5 + offset * 3) % len(SETTINGS)]
            secret = make(m)
            found.append(Specimen(vendor, frame.format(secret), _core(vendor, secret)))
    return [*found, *passwords(m), *named(m)]


def _core(vendor: str, text: str) -> str:
    """The part that is secret: the last part of a webhook's address, the key of a connection string."""
    if vendor.endswith("hook") and "/" in text:
        return text.rsplit("/", 1)[-1]
    return text.rpartition("Account" + "Key=")[2]


def look_alikes(seed: int = 11) -> list[Specimen]:
    """At least 300 texts in which nothing is secret."""
    m = Maker(seed)
    made: list[tuple[str, str]] = []
    for _ in range(12):
        made += [
            ("git hash", f"commit {m.of(HEX, 40)} fixed it"),
            ("short hash", f"see {m.of(HEX, 7)} and {m.of(HEX, 10)}"),
            ("sha256", f"sha256:{m.of(HEX, 64)}"),
            ("md5", f"md5sum is {m.of(HEX, 32)}"),
            ("uuid", f"session {uuid.UUID(int=m.random.getrandbits(128), version=4)} ended"),
            ("phone", f"call me at +49 {m.of(DIGITS[1:], 3)} {m.of(DIGITS, 7)}"),
            ("timestamp", f"at 17{m.of(DIGITS, 11)} ms since the epoch"),
            ("snowflake", f"message 1{m.of(DIGITS, 17)} in #general"),
            ("order id", f"заказ №{m.of(DIGITS[1:], 8)} доставлен"),
            (
                "base64 of text",
                base64.b64encode(f"ordinary text number {m.of(DIGITS, 6)} of a document".encode()).decode(),
            ),
            ("docker digest", f"image@sha256:{m.of(HEX, 64)}"),
            ("integrity", f"sha512-{base64.b64encode(m.of(ALNUM, 64).encode()).decode()}"),
            ("ipv6", f"fe80::{m.of(HEX, 4)}:{m.of(HEX, 4)}:{m.of(HEX, 4)}"),
            (
                "version",
                f"version {m.random.randint(0, 9)}.{m.random.randint(0, 30)}.{m.random.randint(0, 99)}-rc.{m.random.randint(0, 9)}",
            ),
            ("money", f"it costs {m.random.randint(1000, 9999)}.{m.random.randint(10, 99)} USD"),
            ("isbn", f"ISBN 978-3-16-{m.of(DIGITS, 6)}-0"),
            ("path", f"/var/lib/app/{m.of(LOWER, 8)}/{m.of(HEX, 16)}.sqlite"),
            ("coordinates", f"52.{m.of(DIGITS, 6)}, 13.{m.of(DIGITS, 6)}"),
        ]
    made += [("words", text) for text in WORDS]
    return [Specimen(kind, text, text) for kind, text in made]


WORDS = (
    "The token budget is 1500 tokens.",
    "max_tokens: 4096",
    "token_count=128000",
    "A token is about four characters.",
    "tokens per second: 42.7",
    "the tokenizer splits tokens into subtokens",
    "password: must be at least 12 characters",
    "The password is required.",
    "Your password has expired",
    "password reset link",
    "my password is too long to remember",
    "I forgot my password again",
    "The password is the same as before",
    "password manager: KeePassXC",
    "Use a password manager.",
    "the secret is to keep it simple",
    "secret: use enough butter",
    "The key is consistency",
    "key: value",
    "primary key: user_id",
    "the api key is stored in the vault",
    "api_key = os.environ['API_KEY']",
    'api_key: "${API_KEY}"',
    "apiKey: process.env.API_KEY",
    "token = get_token()",
    "token: <your-token-here>",
    "API_TOKEN=your-api-token",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    "password=********",
    "DB_PASSWORD=${DB_PASSWORD}",
    "postgres://user:${PASSWORD}@localhost/db",
    "postgres://localhost:5432/db",
    "https://example.com:8443/path?key=name&sort=asc",
    "https://example.com/search?q=token+economy",
    "https://github.com/owner/repo/commit/0a1b2c3d4e5f60718293a4b5c6d7e8f901234567",
    "git@github.com:owner/repo.git",
    "mailto:bob@example.com",
    "http://[::1]:8080/",
    "sk-learn is a common typo of scikit-learn",
    "sk-estimator-with-a-long-name-for-a-class",
    "the ghp_ prefix marks GitHub tokens",
    "keys that start with AKIA belong to AWS",
    "eyJ is how a JWT begins",
    "the file -----BEGIN CERTIFICATE----- is public",
    "PIN the message to the channel",
    "pin code entry is broken on mobile",
    "the code is 200 OK",
    "status code: 404",
    "zip code: 10115",
    "код ошибки: 500",
    "почтовый индекс 101000",
    "код товара 12345678",
    "пароль надо сменить",
    "пароль не подходит",
    "Забыл пароль от почты",
    "пароль слишком короткий",
    "Пароль должен быть не короче 12 символов",
    "менеджер паролей: KeePass",
    "ключ к успеху — терпение",
    "Ключевые слова: память, агент, поиск",
    "токен стоит дороже доллара",
    "количество токенов: 4096",
    "секрет прост: больше спать",
    "密码忘记了",
    "密码是什么？",
    "请修改密码",
    "密码必须至少8位",
    "密码管理器很好用",
    "密钥管理服务",
    "令牌环网络",
    "token数量是4096",
    "关键是坚持",
    "电话 138 0013 8000",
    "订单号 2026112100001234",
    "身高 175 体重 70",
    "0x7ffee4c0 is an address",
    "color #1a2b3c4d",
    "mac aa:bb:cc:dd:ee:ff",
    "RFC 7519 describes it",
    "SKU 4006381333931",
    "EAN 5901234123457",
    "1234 5678 9012 3456 is the example number",
    "0000 0000 0000 0000",
    "1111222233334444",
    "the quick brown fox jumps over the lazy dog while nobody watches it run",
    "recovery phrase: write it down on paper and never share it with anybody else",
    "seed phrase storage is a hard problem for most new users of the wallet",
    "Basic authentication is not enough",
    "Bearer of bad news",
    "the bearer certificates-and-bonds were sold",
    "mysql -u root -p main",
    "curl -u $USER:$PASS https://example.com",
    "git log --pretty=format:%H --author=Bob",
    "docker run --name test-secret-rotation app",
    "npm run test:token-refresh",
    "def authenticate(password: str, token: str) -> bool:",
    "if password == confirmation:",
    "raise ValueError('password missing')",
    "self.password = password",
    "user.token.refresh()",
    "secrets.token_hex(16)",
    "const secret = config.secret;",
    "password?: string;",
    "The session key rotates daily",
    "access token lifetime: 3600",
    "refresh tokens expire after 30d",
    "The client secret is rotated by ops every quarter",
    "Their credentials: PhD, 10 years in biology",
    "OTP support is planned",
    "The one-time code arrives by SMS",
)
