"""A second corpus, of what people really paste and say: split by kind into a half to tune on and a half to measure on.

Written before the rules were changed for it. Whoever changes a rule looks at `tuning()` only; `held_out()` gives the
figures. Everything is made at run time from one seed, so that no file holds a secret.
"""

from __future__ import annotations

import base64
import hashlib
import json
import uuid
from collections.abc import Callable, Iterator

from tests.secrets.specimens import ALNUM, BASE32, BASE58, DIGITS, HEX, LOWER, UPPER, URLSAFE, Maker, Specimen

Made = tuple[str, str]
"""The text, and the part of it that must be gone."""


def _b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _strong(m: Maker) -> str:
    return m.of(ALNUM, 5) + m.pick(("!", "$", "*", "-", "_")) + m.of(ALNUM, 6)


def _bare(shape: Callable[[Maker], str]) -> Callable[[Maker], Made]:
    """A key that stands alone in some surroundings."""
    frames = (
        "here you go: {}",
        "Bitte nimm {} dafür",
        "ключ такой: {} , никому не показывай",
        "用这个 {} 就行",
        "KEY={}\nDEBUG=1\n",
        '{{"value": "{}"}}',
        "client = Client('{}')",
        "# {}\n",
        "auth:\n  value: {}\n",
    )

    def make(m: Maker) -> Made:
        secret = shape(m)
        return m.pick(frames).format(secret), secret

    return make


def _framed(*frames: str, value: Callable[[Maker], str] = _strong) -> Callable[[Maker], Made]:
    """A value that only its surroundings give away."""

    def make(m: Maker) -> Made:
        secret = value(m)
        return m.pick(frames).replace("{}", secret), secret

    return make


def _iban(m: Maker) -> str:
    country, bank = m.pick((("DE", "18"), ("GB", "0"), ("FR", "23")))[0], m.of(DIGITS, 18)
    country = "DE"
    digits = bank + "".join(str(ord(c) - 55) for c in country) + "00"
    check = 98 - int(digits) % 97
    plain = f"{country}{check:02d}{bank}"
    return " ".join(plain[i : i + 4] for i in range(0, len(plain), 4)) if m.random.random() < 0.5 else plain


def _china_id(m: Maker) -> str:
    body = "110105" + f"{m.random.randint(1950, 2005)}" + f"{m.random.randint(1, 12):02d}{m.random.randint(1, 28):02d}"
    body += m.of(DIGITS, 3)
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    return body + "10X98765432"[sum(int(d) * w for d, w in zip(body, weights, strict=True)) % 11]


def _basic(m: Maker) -> str:
    return _b64(f"{m.of(LOWER, 5)}:{_strong(m)}")


def _codes(m: Maker) -> str:
    return " ".join(f"{m.of(DIGITS, 4)}-{m.of(DIGITS, 4)}" for _ in range(8))


def _hexcodes(m: Maker) -> str:
    return "\n".join(f"{m.of(HEX, 5)}-{m.of(HEX, 5)}" for _ in range(6))


def _wireguard(m: Maker) -> str:
    return m.of(ALNUM + "+/", 43) + "="


def _words(m: Maker) -> str:
    pool = ("correct", "horse", "battery", "staple", "orbit", "velvet", "canyon", "lantern", "puzzle", "meadow")
    return "-".join(m.pick(pool) for _ in range(4))


def _service_account(m: Maker) -> Made:
    body = "\\n".join(m.of(ALNUM + "+/", 64) for _ in range(5))
    dashes = "-" * 5
    key = f"{dashes}BEGIN PRIVATE " + f"KEY{dashes}\\n{body}\\n{dashes}END PRIVATE " + f"KEY{dashes}\\n"
    text = f'{{"type": "service_account", "project_id": "p1", "private_key_id": "{m.of(HEX, 40)}", "private_key": "{key}"}}'
    return text, body


def _docker_config(m: Maker) -> Made:
    secret = _basic(m)
    return json.dumps({"auths": {"https://index.docker.io/v1/": {"auth": secret}}}), secret


def _kube(m: Maker) -> Made:
    secret = _b64(m.of(ALNUM, 120))
    return f"users:\n- name: admin\n  user:\n    client-key-data: {secret}\n", secret


def _kube_secret(m: Maker) -> Made:
    secret = _b64(_strong(m) + m.of(ALNUM, 8))
    return f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  password: {secret}\n", secret


def _netrc(m: Maker) -> Made:
    secret = _strong(m)
    return f"machine git.example.com\nlogin bob\npassword {secret}\n", secret


def _pgpass(m: Maker) -> Made:
    secret = _strong(m)
    return f"cat ~/.pgpass\ndb.example.com:5432:main:app:{secret}\n", secret


def _ansible(m: Maker) -> Made:
    secret = _strong(m)
    return f"[db]\nhost1 ansible_user=root ansible_password={secret}\n", secret


def _connection(m: Maker) -> Made:
    secret = _strong(m)
    return f"Server=tcp:x.database.example.net,1433;Database=main;User Id=app;Password={secret};Encrypt=True;", secret


def _jdbc(m: Maker) -> Made:
    secret = _strong(m)
    return f"jdbc:mysql://db.example.com:3306/main?user=app&password={secret}&useSSL=true", secret


def _solana(m: Maker) -> Made:
    secret = ",".join(str(m.random.randint(0, 255)) for _ in range(64))
    return f"private key of the wallet: [{secret}]", secret


def _seed_plain(m: Maker) -> Made:
    pool = (
        "ocean",
        "tiger",
        "velvet",
        "army",
        "basket",
        "canyon",
        "dignity",
        "eagle",
        "fabric",
        "galaxy",
        "harbor",
        "ivory",
    )
    secret = " ".join(m.pick(pool) for _ in range(24))
    return f"write down the 24 words of my wallet: {secret}", secret


KINDS: dict[str, Callable[[Maker], Made]] = {
    # keys with a shape of their own
    "buildkite": _bare(lambda m: "bk" + "ua_" + m.of(HEX, 40)),
    "circleci": _bare(lambda m: "CCI" + f"PAT_{m.of(ALNUM, 22)}_{m.of(HEX, 40)}"),
    "sonarqube": _bare(lambda m: "sq" + m.pick(("p", "u", "a")) + "_" + m.of(HEX, 40)),
    "pinecone": _bare(lambda m: "pc" + f"sk_{m.of(ALNUM, 6)}_{m.of(ALNUM, 60)}"),
    "langsmith": _bare(lambda m: "ls" + f"v2_pt_{m.of(HEX, 32)}_{m.of(HEX, 10)}"),
    "langfuse": _bare(lambda m: "sk" + f"-lf-{uuid.UUID(int=m.random.getrandbits(128), version=4)}"),
    "elevenlabs": _bare(lambda m: "sk" + "_" + m.of(HEX, 48)),
    "mapbox secret": _bare(lambda m: "sk" + f".eyJ{m.of(ALNUM, 60)}.{m.of(URLSAFE, 21)}q"),
    "launchdarkly": _framed("LD_SDK_KEY={}", "sdkKey: '{}'", value=lambda m: "sd" + f"k-{uuid.UUID(int=m.random.getrandbits(128), version=4)}"),
    "okta": _framed("Authorization: SSWS {}", "curl -H 'Authorization: SSWS {}' https://x.okta.com/api", value=lambda m: "00" + m.of(URLSAFE, 39) + "a"),
    "sendinblue": _bare(lambda m: "xkey" + f"sib-{m.of(HEX, 64)}-{m.of(ALNUM, 16)}"),
    "rubygems": _bare(lambda m: "ruby" + "gems_" + m.of(HEX, 48)),
    "dropbox": _bare(lambda m: "sl" + ".B" + m.of(URLSAFE, 130) + "a"),
    "slack refresh": _bare(lambda m: "xo" + f"xe-1-{m.of(ALNUM, 140)}"),
    "slack config": _bare(lambda m: "xo" + f"xe.xoxp-1-{m.of(ALNUM, 160)}"),
    "gitlab ci job": _bare(lambda m: "gl" + f"cbt-{m.of(HEX, 2)}_{m.of(URLSAFE, 19)}z"),
    "gitlab deploy": _bare(lambda m: "gl" + f"dt-{m.of(URLSAFE, 19)}z"),
    "openai service": _bare(lambda m: "sk" + "-svcacct-" + m.of(URLSAFE, 130) + "A"),
    "anthropic admin": _bare(lambda m: "sk" + "-ant-admin01-" + m.of(URLSAFE, 86) + "AA"),
    "cloudflare origin": _bare(lambda m: "v1.0-" + m.of(HEX, 24) + "-" + m.of(HEX, 146)),
    "firebase cloud messaging": _bare(lambda m: "AA" + f"AA{m.of(URLSAFE, 7)}:APA91b{m.of(URLSAFE, 133)}a"),
    "yookassa": _bare(lambda m: m.pick(("live", "test")) + "_" + m.of(URLSAFE, 42) + "a"),
    "tinkoff invest": _framed("токен Тинькофф Инвестиций: {}", "INVEST_TOKEN={}", value=lambda m: "t." + m.of(URLSAFE, 85) + "a"),
    "bitcoin wif": _bare(lambda m: m.pick(("K", "L")) + m.of(BASE58, 51)),
    "ethereum key": _framed("PRIVATE_KEY=0x{}", "private key: 0x{}", "приватный ключ: 0x{}", "私钥是 0x{}", value=lambda m: m.of(HEX, 64)),
    "telegram in a url": _framed("https://api.telegram.org/bot{}/sendMessage", value=lambda m: f"{m.of(DIGITS[1:], 10)}:AA" + m.of(URLSAFE, 32) + "w"),
    "dingtalk hook": _framed("https://oapi.dingtalk.com/robot/send?access_token={}", value=lambda m: m.of(HEX, 64)),
    "wecom hook": _framed("https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key={}", value=lambda m: str(uuid.UUID(int=m.random.getrandbits(128), version=4))),
    "feishu hook": _framed("https://open.feishu.cn/open-apis/bot/v2/hook/{}", value=lambda m: str(uuid.UUID(int=m.random.getrandbits(128), version=4))),
    "teams hook": _framed("https://contoso.webhook.office.com/webhookb2/{}", value=lambda m: f"{uuid.UUID(int=m.random.getrandbits(128))}@{uuid.UUID(int=m.random.getrandbits(128))}/IncomingWebhook/{m.of(HEX, 32)}"),
    "zapier hook": _framed("https://hooks.zapier.com/hooks/catch/{}/", value=lambda m: f"{m.of(DIGITS[1:], 8)}/{m.of(LOWER + DIGITS, 7)}"),
    "proxmox": _framed("Authorization: PVEAPIToken=root@pam!ci={}", value=lambda m: str(uuid.UUID(int=m.random.getrandbits(128), version=4))),
    "wireguard": _framed("[Interface]\nPrivateKey = {}\nAddress = 10.0.0.2/24", "PresharedKey = {}", value=_wireguard),
    "otpauth": _framed("otpauth://totp/Example:bob?secret={}&issuer=Example", "TOTP secret: {}", "2FA secret key: {}", value=lambda m: m.of(BASE32, 32)),
    "google app password": _framed("my gmail app password is {}", "App password: {}", value=lambda m: " ".join(m.of(LOWER, 4) for _ in range(4))),
    # files
    "gcp service account": _service_account,
    "docker config": _docker_config,
    "kubeconfig": _kube,
    "kubernetes secret": _kube_secret,
    "netrc": _netrc,
    "pgpass": _pgpass,
    "ansible inventory": _ansible,
    "npmrc": _framed("//registry.npmjs.org/:_authToken={}", value=lambda m: str(uuid.UUID(int=m.random.getrandbits(128), version=4))),
    "pypirc": _framed("[pypi]\nusername = bob\npassword = {}\n"),
    "my.cnf": _framed("[client]\nuser=root\npassword={}\nhost=localhost\n"),
    "env twilio": _framed("TWILIO_AUTH_TOKEN={}", "export TWILIO_AUTH_TOKEN='{}'", value=lambda m: m.of(HEX, 32)),
    "env datadog": _framed("DD_API_KEY={}", "DD_APP_KEY={}", value=lambda m: m.of(HEX, 40)),
    "env cloudflare": _framed("CLOUDFLARE_API_TOKEN={}", "CF_API_KEY: {}", value=lambda m: m.of(ALNUM, 40)),
    "env django": _framed("SECRET_KEY = '{}'", "DJANGO_SECRET_KEY={}", value=lambda m: m.of(LOWER + DIGITS + "!@#%^&*(-_=+)", 50)),
    "env smtp": _framed("SMTP_PASS={}", "EMAIL_HOST_PASSWORD={}", "MAIL_PASSWORD: {}"),
    "env rails": _framed("RAILS_MASTER_KEY={}", "secret_key_base: {}", value=lambda m: m.of(HEX, 64)),
    "env laravel": _framed("APP_KEY=base64:{}", value=lambda m: _b64(m.of(ALNUM, 32))),
    "env aws secret": _framed("AWS_SECRET_ACCESS_KEY={}", "aws_session_token = {}", "secretAccessKey: '{}'", value=lambda m: m.of(ALNUM + "/+", 39) + "a"),
    "env wechat": _framed("WECHAT_APP_SECRET={}", "AppSecret: {}", "小程序密钥：{}", value=lambda m: m.of(HEX, 32)),
    "toml": _framed('[database]\npassword = "{}"', '[api]\nkey = "{}"\nsecret = "{}"'),
    "xml": _framed("<password>{}</password>", '<add key="ApiKey" value="{}" />', "<server><username>ci</username><password>{}</password></server>"),
    "yaml quoted": _framed("db:\n  user: app\n  password: '{}'\n", 'redis:\n  auth: "{}"\n  pass: "{}"\n'),
    "python code": _framed('conn = connect(user="app", password="{}")', "login('bob', password='{}')", 'PASSWORD: str = "{}"', 'requests.get(url, auth=("bob", "{}"))'),
    "javascript code": _framed("const password = '{}';", "mysql.createConnection({ user: 'a', password: '{}' })", "process.env.DB_PASSWORD = '{}'"),
    "terraform code": _framed('variable "x" {\n  default = "a"\n}\nmaster_password = "{}"', 'admin_password = "{}"'),
    # urls, headers, shells
    "connection string": _connection,
    "jdbc": _jdbc,
    "mongodb": _framed("mongodb+srv://app:{}@cluster0.example.mongodb.net/main"),
    "amqp": _framed("amqps://worker:{}@mq.example.com:5671/vhost", "CELERY_BROKER_URL=amqp://worker:{}@mq:5672//"),
    "ftp": _framed("ftp://deploy:{}@ftp.example.com/www", "sftp://deploy:{}@host:22/"),
    "azure sas": _framed("https://x.blob.core.windows.net/c/f?sv=2024-11-04&se=2027-01-01&sr=b&sp=r&sig={}", value=lambda m: m.of(ALNUM, 43) + "%3D"),
    "s3 signed": _framed("https://b.s3.amazonaws.com/f?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature={}", value=lambda m: m.of(HEX, 64)),
    "basic header": _framed("Authorization: Basic {}", "curl -H 'Authorization: Basic {}' https://x.example.com", '"Authorization": "Basic {}"', value=_basic),
    "cookie": _framed("Cookie: sessionid={}; theme=dark", "Set-Cookie: connect.sid={}; Path=/; HttpOnly", "curl -b 'session={}' https://x.example.com", "document.cookie = 'auth_token={}'", value=lambda m: m.of(ALNUM, 40)),
    "x-api-key header": _framed("X-API-Key: {}", "x-auth-token: {}", "-H 'X-Vault-Token: {}'", value=lambda m: m.of(ALNUM, 32)),
    "psql": _framed("PGPASSWORD={} psql -h db -U app", "PGPASSWORD='{}' pg_dump main"),
    "mysql short": _framed("mysql -u root -p{} main", "mysqldump -uroot -p{} main > x.sql"),
    "redis cli": _framed("redis-cli -h r1 -a {} ping", "redis-cli --pass {} info"),
    "docker login": _framed("docker login -u bob -p {} registry.example.com", "echo {} | docker login -u bob --password-stdin"),
    "htpasswd": _framed("htpasswd -b .htpasswd bob {}", "openssl enc -aes-256-cbc -pass pass:{} -in a"),
    "net use": _framed("net use Z: \\\\server\\share /user:bob {}", "wget --user=bob --password={} https://x.example.com/f"),
    # numbers that are nobody's business
    "iban": _framed("my IBAN is {}", "Überweise es auf {}", "IBAN: {}", "счёт: {}", value=_iban),
    "us social security": _framed("my SSN is {}", "social security number: {}", value=lambda m: f"{m.random.randint(100, 665)}-{m.random.randint(10, 99)}-{m.random.randint(1000, 9999)}"),
    "passport": _framed("my passport number is {}", "Passport No: {}", "护照号码：{}", "номер загранпаспорта {}", value=lambda m: m.pick(("C", "E", "G", "P")) + m.of(DIGITS, 8)),
    "russian passport": _framed("паспорт {}", "паспорт серия {}", "серия и номер паспорта: {}", value=lambda m: f"{m.of(DIGITS[1:], 2)} {m.of(DIGITS, 2)} {m.of(DIGITS, 6)}"),
    "snils": _framed("СНИЛС {}", "мой СНИЛС: {}", value=lambda m: f"{m.of(DIGITS, 3)}-{m.of(DIGITS, 3)}-{m.of(DIGITS, 3)} {m.of(DIGITS, 2)}"),
    "chinese id": _framed("身份证号 {}", "我的身份证号码是{}", "身份证：{}", value=_china_id),
    "card with code": _framed("card {} exp 09/29 cvv 123", "карта {}", "银行卡号 {}", value=lambda m: m.card("4", 16)),
    "card verification": _framed("CVV: {}", "the cvc is {}", "код на обороте карты {}", "安全码 {}", value=lambda m: m.of(DIGITS, 3)),
    "two-factor backup codes": _framed("my backup codes: {}", "2FA recovery codes:\n{}", "резервные коды: {}", "备用验证码：{}", value=_codes),
    "github recovery codes": _framed("recovery codes\n{}", "GitHub recovery codes:\n{}", value=_hexcodes),
    "sim puk": _framed("PUK: {}", "PUK code {}", "пук-код: {}", value=lambda m: m.of(DIGITS, 8)),
    "solana wallet": _solana,
    "wallet words": _seed_plain,
    # said in prose
    "prose pin en": _framed("the PIN of my card is {}", "My bank PIN is {}", "use pin {} at the door", "the alarm code is {}", "The door code is {}.", "The combination of the safe is {}", value=lambda m: m.of(DIGITS, 4)),
    "prose pin ru": _framed("пин карты {}", "ПИН-код от карты: {}", "код от домофона {}", "Код сигнализации — {}", "код от сейфа {}", "пароль от телефона {}", value=lambda m: m.of(DIGITS, 4)),
    "prose pin zh": _framed("我的银行卡密码是{}", "支付密码：{}", "门锁密码是 {}", "手机解锁密码{}", "保险箱密码是{}", "取件密码 {}", value=lambda m: m.of(DIGITS, 6)),
    "prose password en": _framed("the password's {}", "log in as bob with {} as the password", "It's {} - that is the password", "credentials are admin / {}", "user: admin pass: {}", "the new password would be {} from now on"),
    "prose password en two": _framed("You can get in with the password {}", "Netflix password {}", "password is now {}", "pw {}", "Router login: admin/{}", "use {} as password for the staging box"),
    "prose password ru": _framed("пароль такой: {}", "вот пароль {}", "логин bob пароль {}", "пароль от вайфая {}", "пароль на архив — {}", "пароль у Ани был {}", "кодовое слово: {}"),
    "prose password ru two": _framed("от почты пароль {}", "Пасс: {}", "зайди под admin / {}", "новый пароль: {}", "Запомни пароль {}, пожалуйста", "пароль администратора {}"),
    "prose password zh": _framed("密码就是{}", "账号 bob，密码 {}", "用户名：admin 密码：{}", "我把密码设成了{}", "无线密码 {}", "口令：{}", "新密码是“{}”"),
    "prose password zh two": _framed("邮箱的密码是 {}", "root密码{}", "帐号admin/密码{}", "解压密码：{}", "记一下密码：{}", "家里WiFi的密码为：{}"),
    "wifi": _framed("WPA2 key: {}", "Wi-Fi key is {}", "WIFI:S:Home;T:WPA;P:{};;", "ssid Home psk {}", "wifi: Home / {}", 'psk="{}"'),
    "words joined": _framed("my password is {}", "passphrase: {}", "пароль: {}", "密码是{}", "master password = {}", value=_words),
    "named key prose en": _framed("the API key for the weather service is {}", "Our Datadog key is {}", "bearer token {}", "the token for the bot: {}", value=lambda m: m.of(ALNUM, 32)),
    "named key prose ru": _framed("API-ключ погоды: {}", "токен для бота — {}", "ключ доступа к облаку: {}", "вот апи ключ {}", value=lambda m: m.of(ALNUM, 32)),
    "named key prose zh": _framed("天气接口的API密钥是{}", "机器人的token是 {}", "访问令牌：{}", "API key：{}", value=lambda m: m.of(ALNUM, 32)),
}  # fmt: skip


def _alike(*frames: str, value: Callable[[Maker], str] = lambda m: "") -> Callable[[Maker], str]:
    return lambda m: m.pick(frames).replace("{}", value(m))


LOOK_ALIKES: dict[str, Callable[[Maker], str]] = {
    "asset": _alike("/static/js/app.{}.chunk.js", "main-{}.css is too big", value=lambda m: m.of(HEX, 8)),
    "pod": _alike("pod api-{}-x2x4z restarted", value=lambda m: m.of(HEX, 10)),
    "arn": _alike("arn:aws:iam::{}:role/deploy", "account {} owns it", value=lambda m: m.of(DIGITS, 12)),
    "aws ids": _alike("ami-{} in eu-central-1", "vpc-{} and subnet-{}", "i-{} is stopped", value=lambda m: m.of(HEX, 17)),
    "stripe ids": _alike("cus_{} paid", "invoice in_{}", "price_{} is monthly", "pi_{}", value=lambda m: m.of(ALNUM, 24)),
    "stripe public": _alike("Stripe('pk_test_{}')", value=lambda m: m.of(ALNUM, 24)),
    "slack ids": _alike("channel C{} and user U{}", value=lambda m: m.of(UPPER + DIGITS, 10)),
    "document url": _alike("https://docs.google.com/document/d/{}/edit", "https://drive.example.com/file/{}/view", value=lambda m: m.of(URLSAFE, 44)),
    "video": _alike("https://www.youtube.com/watch?v={}", "https://youtu.be/{}?t=42", value=lambda m: m.of(ALNUM, 11)),
    "ssh public": _alike("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{} bob@host", value=lambda m: m.of(ALNUM + "+/", 43)),
    "fingerprint": _alike("SHA256:{} bob@host (ED25519)", value=lambda m: m.of(ALNUM + "+/", 43)),
    "certificate": _alike("-----BEGIN CERTIFICATE-----\nMIIB{}\n-----END CERTIFICATE-----", value=lambda m: m.of(ALNUM + "+/", 60)),
    "public key": _alike("-----BEGIN PUBLIC KEY-----\nMIIB{}\n-----END PUBLIC KEY-----", value=lambda m: m.of(ALNUM + "+/", 60)),
    "message id": _alike("Message-ID: <{}@mail.example.com>", value=lambda m: m.of(ALNUM, 30)),
    "etag": _alike('ETag: "{}"', 'If-None-Match: W/"{}"', value=lambda m: m.of(HEX, 32)),
    "small picture": _alike("data:image/png;base64,iVBORw0KGgo{}", value=lambda m: m.of(ALNUM + "+/", 40)),
    "parcel": _alike("the parcel 1Z{} is late", "tracking RR{}CN", "快递单号 SF{}", "трек RA{}RU", value=lambda m: m.of(DIGITS, 12)),
    "vin": _alike("VIN WVWZZZ1JZ{}", value=lambda m: m.of(DIGITS, 8)),
    "imei": _alike("IMEI 35{}", value=lambda m: m.of(DIGITS, 13)),
    "isbn": _alike("ISBN 978-0-{}-2", "ISBN 9780{}2", value=lambda m: m.of(DIGITS, 8)),
    "phone": _alike("call 8 (495) {}-12-34", "+7 916 {} 44 55", "+1-202-555-0{}", "电话 1381{}5678", "Tel. 030 {} 9876", value=lambda m: m.of(DIGITS, 3)),
    "order": _alike("order code: {}", "заказ {} отправлен", "订单 {} 已发货", "ticket #{}", "номер договора {}", value=lambda m: m.of(DIGITS[1:], 6)),
    "error code": _alike("error code {}", "exit code: {}", "код ошибки {}", "错误码 {}", "HTTP status {}", value=lambda m: m.of(DIGITS[1:], 3)),
    "area code": _alike("код города {}", "area code: {}", "区号 {}", "the country code is {}", value=lambda m: m.of(DIGITS[1:], 3)),
    "postcode": _alike("postal code {}", "индекс {}", "邮编 {}", "zip {}", value=lambda m: m.of(DIGITS[1:], 5)),
    "pins of a chip": _alike("pin {} of the header is ground", "connect it to GPIO pin {}", "use pins {} and 7", value=lambda m: str(m.random.randint(1, 40))),
    "kubernetes ref": _alike("secretKeyRef:\n  name: db-credentials\n  key: password", "imagePullSecrets:\n- name: registry-{}", value=lambda m: m.of(LOWER, 5)),
    "secret's name": _alike("secret_name: my-app-secret-{}", "the secret prod/db/password is in the vault", "vault kv get secret/data/app-{}", value=lambda m: m.of(LOWER, 4)),
    "empty": _alike('"token": null', "token_type: bearer", "password=", "api_key: ''", 'apiKey: ""', "password: null", "secret: false"),
    "placeholders": _alike("OPENAI_API_KEY=sk-...", "api_key = 'YOUR_API_KEY'", "export TOKEN=<paste-it-here>", "password: ${{ secrets.DB_PASSWORD }}", "token: {{ vault_token }}", "AWS_SECRET_ACCESS_KEY=xxxxxxxxxxxxxxxxxxxx", "Authorization: Bearer YOUR_TOKEN", "https://user:password@example.com", "пароль: <ваш пароль>", "密码：<你的密码>", "API_KEY=…", "--password=$DB_PASS"),
    "code": _alike("password_hash = bcrypt.hash(password)", "const { token } = await login(user)", "assert token == expected_token", "let secret = read_secret()?;", "if not self.api_key:", "max_new_tokens=512", "tokens.append(token)", "key=lambda item: item.score", "passwordField.value = ''", "SELECT password FROM users", "token: string | undefined", "private key: KeyPair;", "public readonly secret: Secret;", "def set_password(self, value):"),
    "talk en": _alike("I changed my password yesterday.", "The password is written on the back.", "What's the password?", "The token expired on Monday.", "They lost the private key.", "The secret of good bread is time.", "PIN entry is required twice.", "My passport expires in 2029.", "The code is in the repository.", "I use a seed phrase for my wallet.", "The password was too weak for the policy.", "We talked about backup codes and recovery.", "She told me the wifi password but I forgot it.", "the password protects the archive", "Bearer tokens are opaque.", "It is a key part of the plan", "Our IBAN changes next year."),
    "talk ru": _alike("Пароль придумай сам.", "Я сменил пароль вчера.", "Пароль от почты не подходит.", "Кодовое слово надо придумать.", "Паспорт готов, можно забирать.", "ПИН-код никому не говори.", "Ключ лежит под ковриком.", "Токен просрочен, обнови его.", "Секрет успеха — терпение.", "код доступен на гитхабе", "пароль хранится в менеджере", "Пароль от роутера написан снизу.", "код в репозитории", "Резервные коды лежат в сейфе.", "паспорт продукта версии 2", "СНИЛС нужен для работы"),
    "talk zh": _alike("密码学是一门学科。", "密钥长度是256位", "密码强度：强", "登录密码请自行设置", "令牌桶算法限流", "密码太短了", "我忘了密码", "身份证带了吗", "验证码收不到", "护照下个月到期", "口令红包很好玩", "密码已经改好了", "请输入密码", "秘密是坚持", "密码箱在床底下", "密钥轮换周期为90天"),
    "hex numbers": _alike("trace id {}", "span {} took 3 ms", "request-id: {}", "digest {}", value=lambda m: m.of(HEX, 32)),
    "uuid": _alike("run {}", "device {} is offline", "https://x.example.com/items/{}", "DELETE /v1/files/{}", value=lambda m: str(uuid.UUID(int=m.random.getrandbits(128), version=4))),
    "commit url": _alike("https://github.com/a/b/commit/{}", "git checkout {}", "revert {}", value=lambda m: m.of(HEX, 40)),
    "lock file": _alike('integrity "sha512-{}=="', "sha256:{}", 'checksum = "{}"', value=lambda m: m.of(HEX, 64)),
    "measurement": _alike("temperature 36.6, pressure 120/80", "{} steps today", "profit: {} USD", "жим {} кг", "跑了{}米", value=lambda m: m.of(DIGITS[1:], 4)),
    "dates": _alike("meeting at 2026-11-21T15:{}:00Z", "от 21.11.2026 15:{}", "2026年11月21日 15:{}", "code freeze on 2026-12-{}", value=lambda m: f"{m.random.randint(10, 28)}"),
    "address": _alike("Hauptstr. {}, 10115 Berlin", "ул. Ленина, д. {}, кв. 17", "北京市朝阳区建国路{}号", value=lambda m: m.of(DIGITS[1:], 2)),
    "path": _alike("/home/bob/.ssh/id_ed25519", "~/.aws/credentials has the profile", "C:\\Users\\bob\\secret\\notes.txt", "cat /run/secrets/db_password", "s3://bucket/keys/{}/file.parquet", value=lambda m: m.of(HEX, 16)),
    "public chain": _alike("tx 0x{}", "transaction hash 0x{} is final", value=lambda m: m.of(HEX, 64)),
    "wallet address": _alike("send it to 0x{}", "адрес кошелька 0x{}", "钱包地址 0x{}", value=lambda m: m.of(HEX, 40)),
    "model names": _alike("sk-learn and xgboost", "qwen3-coder-30b-a3b-instruct-q4_K_M", "hf_hub_download(repo_id='a/b')", "gpt-5-mini-2026-08-07", "npm_config_registry", "pypi-server 2.0"),
}  # fmt: skip


def _half(kind: str) -> int:
    return hashlib.blake2b(kind.encode(), digest_size=1).digest()[0] % 2


def _secrets(half: int, seed: int, each: int) -> Iterator[Specimen]:
    for kind, make in KINDS.items():
        m = Maker(seed + len(kind))
        for _ in range(each if _half(kind) == half else 0):
            text, secret = make(m)
            yield Specimen(kind, text, secret)


def _alikes(half: int, seed: int, each: int) -> Iterator[Specimen]:
    for kind, make in LOOK_ALIKES.items():
        m = Maker(seed + len(kind))
        for _ in range(each if _half(kind) == half else 0):
            text = make(m)
            yield Specimen(kind, text, text)


def tuning(seed: int = 21, each: int = 6) -> tuple[list[Specimen], list[Specimen]]:
    """Secrets and look-alikes that rules may be changed for."""
    return list(_secrets(0, seed, each)), list(_alikes(0, seed, 12))


def held_out(seed: int = 31, each: int = 6) -> tuple[list[Specimen], list[Specimen]]:
    """Secrets and look-alikes that give the figures; nobody changes a rule for one of them."""
    return list(_secrets(1, seed, each)), list(_alikes(1, seed, 12))
