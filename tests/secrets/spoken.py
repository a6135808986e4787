"""Secrets as people say them, by language and kind, and sentences that only sound so: half to tune on, half to measure on.

Written before the rules were changed for it. Whoever changes a rule looks at `tuning()` only; `held_out()` gives the
figures. Values are made at run time from one seed, so that no file holds a secret.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator

from tests.secrets.specimens import ALNUM, DIGITS, LOWER, UPPER, Maker, Specimen

_WORDS = ("sunflower", "kestrel", "marble", "harbor", "tundra", "pepper", "violin", "comet")


def _chosen(m: Maker) -> str:
    """What a person chooses: a word, digits, perhaps a sign."""
    word = m.pick(_WORDS)
    return (
        m.pick((word.capitalize(), word))
        + m.pick(("", "!", "_", "-", "@"))
        + m.of(DIGITS, 4)
        + m.pick(("", "!", "#", "x"))
    )


def _made(m: Maker) -> str:
    """What a password manager makes."""
    return m.of(LOWER, 3) + m.of(UPPER, 2) + m.pick(("$", "!", "-", "%")) + m.of(ALNUM, 7)


def _key(m: Maker) -> str:
    return m.of(ALNUM, 32)


ENGLISH: dict[str, tuple[str, ...]] = {
    "login for a thing": ("login for the router: admin / {}", "the login for grafana is admin / {}", "Login to the NAS: rob, {}", "logins for the printer - admin/{}"),
    "the creds": ("the db creds are app / {}", "creds: root / {}", "staging creds are deploy:{}", "here are the creds for prod: deploy {}"),
    "question and answer": ("my master password? it's {}", "The wifi password? {}", "what was the router password again, oh right, {}", "Password for the VPN? Try {}"),
    "user and pass": ("user rob pass {}", "username is rob and password is {}", "username: rob, password: {}", "log in with rob and {} as the pass"),
    "set to": ("I set the admin password to {}", "we reset the root password, it is {} now", "changed the wifi password, now it's {}", "they gave me {} as my temporary password"),
    "before the word": ("{} is the password for the safe room laptop", "{} - that's the wifi password", "use {} for the guest wifi, that's its password", "try {}, it should be the admin password"),
    "type it": ("when it asks for a password type {}", "enter {} when it asks for the password", "the password you need there is {}", "just put {} in the password field"),
    "unlocks": ("the laptop unlocks with the password {}", "my phone's passcode, by the way: {}", "to decrypt the backup you need the passphrase {}", "the zip opens with the password {}"),
    "remind": ("Remember for me: bank login rob, password {}", "note to self: Netflix password {}", "save this password for me please: {}", "don't forget that the archive password was {}"),
    "a key said": ("the key for the weather API is {}", "use {} as the API key", "our API key, in case you need it: {}", "the token I made for the bot is {}"),
    "account": ("my account at the forum is rob with the password {}", "the admin account has {} as its password", "service account svc, secret {}", "the postgres account: app, {}"),
    "shared": ("Anna's email password is {}, she told me", "my wife uses {} as her password", "everyone at work logs in with the password {}", "the shared password at the office is still {}"),
}  # fmt: skip
RUSSIAN: dict[str, tuple[str, ...]] = {
    "login for a thing": ("логин от роутера: admin / {}", "вход в графану: admin / {}", "логин на NAS rob, {}", "доступ к принтеру - admin/{}"),
    "the creds": ("доступы к базе: app / {}", "креды: root / {}", "учётка на стейдже deploy:{}", "вот учётные данные от прода: deploy {}"),
    "question and answer": ("мой мастер-пароль? вот он: {}", "Пароль от вайфая? {}", "какой там пароль от роутера, а, точно, {}", "Пароль от VPN? Попробуй {}"),
    "user and pass": ("логин rob пароль {}", "имя пользователя rob, пароль {}", "логин: rob, пароль: {}", "заходи под rob с паролем {}"),
    "set to": ("я поставил пароль администратора {}", "мы сбросили пароль рута, теперь он {}", "сменил пароль от вайфая, теперь {}", "мне дали временный пароль {}"),
    "before the word": ("{} — это пароль от ноутбука", "{} - вот пароль от вайфая", "вводи {}, это пароль гостевой сети", "попробуй {}, должен быть пароль админа"),
    "type it": ("когда спросит пароль, введи {}", "введи {}, когда спросит пароль", "пароль, который там нужен, {}", "просто напиши {} в поле пароля"),
    "administrator of": ("пароль администратора базы: {}", "пароль пользователя postgres на сервере: {}", "пароль нашего общего ящика: {}", "пароль бухгалтерии от банка: {}"),
    "remind": ("Запомни: банк, логин rob, пароль {}", "себе на память: пароль от Нетфликса {}", "сохрани пароль, пожалуйста: {}", "не забудь, пароль архива был {}"),
    "a key said": ("ключ от погодного API — {}", "используй {} как API-ключ", "наш ключ API, если понадобится: {}", "токен, который я сделал для бота: {}"),
    "account": ("мой аккаунт на форуме rob с паролем {}", "у админа пароль {}", "сервисная учётка svc, секрет {}", "учётка postgres: app, {}"),
    "shared": ("у Ани пароль от почты {}, она сама сказала", "жена использует {} как пароль", "все на работе входят с паролем {}", "общий пароль в офисе всё ещё {}"),
}  # fmt: skip
CHINESE: dict[str, tuple[str, ...]] = {
    "login for a thing": ("路由器的登录：admin / {}", "grafana的登录是admin/{}", "NAS登录 rob，{}", "打印机登录信息 admin/{}"),
    "the creds": ("数据库的凭据是 app / {}", "凭证：root / {}", "测试环境账号 deploy:{}", "这是生产环境的账号密码：deploy {}"),
    "question and answer": ("我的主密码？是{}", "WiFi密码？{}", "路由器密码是什么来着，哦对，{}", "VPN的密码？试试{}"),
    "user and pass": ("用户名admin，密码{}", "用户名是rob，密码是{}", "账号：rob，密码：{}", "用rob登录，密码用{}"),
    "set to": ("我把管理员密码设成{}了", "我们重置了root密码，现在是{}", "改了WiFi密码，现在用{}", "他们给了我一个临时密码{}"),
    "before the word": ("{}是笔记本的密码", "{}，这是WiFi密码", "用{}连访客网络，这是它的密码", "试试{}，应该是管理员密码"),
    "type it": ("问密码的时候输入{}", "它问密码时就输{}", "那里需要的密码，就是{}", "密码框里填{}就行"),
    "administrator of": ("数据库管理员的密码：{}", "服务器上postgres用户的密码是{}", "公共邮箱的密码为{}", "财务网银密码：{}"),
    "remind": ("记住：银行账号rob，密码{}", "备忘：Netflix密码 {}", "帮我保存密码：{}", "别忘了压缩包的密码是{}"),
    "a key said": ("天气API的密钥是{}", "用{}作为API密钥", "我们的API密钥，以后要用：{}", "我给机器人做的令牌是{}"),
    "account": ("我的论坛账号是rob，密码是{}", "管理员账号用{}作密码", "服务账号svc，密钥{}", "postgres账号：app，{}"),
    "shared": ("小安的邮箱密码是{}，她告诉我的", "我妻子用{}当密码", "公司里大家都用密码{}登录", "办公室的公用密码还是{}"),
}  # fmt: skip
LOOK_ALIKES: dict[str, tuple[str, ...]] = {
    "en policy": ("The password policy follows NIST SP800-63B.", "Passwords are hashed with PBKDF2-SHA256.", "Login uses OAuth2 and OpenID.", "The password must have 12 characters and 1 digit."),
    "en talk": ("My password manager is 1Password8 on macOS14.", "I changed the router login yesterday, model RT-AX88U.", "The login page at example.com/v2 is slow on Chrome131.", "Ask Anna for the creds of the db-prod-01 server."),
    "en numbers": ("The login server is 10.0.0.12, room B204.", "Password reset took 15min on 2026-11-21.", "The token costs 0.25USD per 1000.", "My account number at the library is due on Q3-2026."),
    "en places": ("I keep the passwords in KeePassXC-2.7.9.", "the creds live in vault/prod/db-01", "The password is in note #4f2a.", "Check the credentials in us-east-1 and ticket ABC-1234."),
    "en hardware": ("The key card for the ThinkPad-X1 is lost.", "The API key page moved to docs/v3/keys.", "The key to the room is at desk 4B.", "Our login kiosk is an iPad-Pro-11."),
    "ru policy": ("Пароли хешируются через PBKDF2-SHA256.", "Вход через OAuth2 и OpenID.", "Пароль должен содержать 12 символов.", "Доступ к серверу db-prod-01 даёт Анна."),
    "ru talk": ("Я сменил логин на роутере RT-AX88U вчера.", "Пароли лежат в KeePassXC-2.7.9.", "Учётка в us-east-1, заявка ABC-1234.", "Менеджер паролей стоит на macOS14."),
    "ru numbers": ("Доступ открыт с 21.11.2026 в кабинете B204.", "Сброс пароля занял 15мин.", "Логин-сервер 10.0.0.12 работает.", "Ключ от комнаты 4B у вахтёра."),
    "zh policy": ("密码用PBKDF2-SHA256哈希。", "登录使用OAuth2和OpenID。", "密码至少12位。", "服务器db-prod-01的账号找小安要。"),
    "zh talk": ("我昨天改了路由器RT-AX88U的登录。", "密码都在KeePassXC-2.7.9里。", "账号在us-east-1，工单ABC-1234。", "密码管理器装在macOS14上。"),
    "zh numbers": ("登录服务器是10.0.0.12，在B204室。", "密码重置花了15min。", "账号2026-11-21到期。", "钥匙在4B房间。"),
    "quoted policy": ("> The login moved to SSO-v2.", "> Пароль меняется раз в 90дней", "> 密码每90天更换", "> See RFC7519 for tokens."),
}  # fmt: skip
_LANGUAGES = {"en": ENGLISH, "ru": RUSSIAN, "zh": CHINESE}


def _half(kind: str) -> int:
    return hashlib.blake2b(f"spoken {kind}".encode(), digest_size=1).digest()[0] % 2


def _value(kind: str) -> Callable[[Maker], str]:
    return _key if kind == "a key said" else lambda m: m.pick((_chosen, _made))(m)  # type: ignore[operator,arg-type]


def _secrets(half: int, seed: int, each: int) -> Iterator[Specimen]:
    """Each frame of each kind: the language stands before the kind's name."""
    for language, kinds in _LANGUAGES.items():
        for kind, frames in kinds.items():
            m = Maker(seed + len(kind))
            for frame in frames * each if _half(kind) == half else ():
                value = _value(kind)(m)
                yield Specimen(f"{language} {kind}", frame.replace("{}", value), value)


def _alikes(half: int) -> list[Specimen]:
    return [Specimen(kind, text, text) for kind, texts in LOOK_ALIKES.items() if _half(kind) == half for text in texts]


def tuning(seed: int = 41, each: int = 4) -> tuple[list[Specimen], list[Specimen]]:
    """Sentences that rules may be changed for."""
    return list(_secrets(0, seed, each)), _alikes(0)


def held_out(seed: int = 51, each: int = 4) -> tuple[list[Specimen], list[Specimen]]:
    """Sentences that give the figures; nobody changes a rule for one of them."""
    return list(_secrets(1, seed, each)), _alikes(1)
