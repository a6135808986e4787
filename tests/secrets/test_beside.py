"""What stands beside the word for it: both ends of a change, lists, tables, headings, pass phrases, odd characters."""

from __future__ import annotations

import pytest

from openclaw_neuralstream.secrets import redact

SAID = [
    ("I changed the password from Oldpass1! to Newpass2!", "Newpass2 Oldpass1"),
    ("password changed: Oldpass1! -> Newpass2!", "Newpass2 Oldpass1"),
    ("我把密码从 old12345 改成了 new67890", "old12345 new67890"),
    ("Пароль сменили на Лето2024!", "Лето2024"),
    ("Мы поменяли пароль с Zima2023 на Leto2024", "Zima2023 Leto2024"),
    ("the password I use for github is Tr0ub4dor&3", "Tr0ub4dor"),
    ("пароль, который я использую для гитхаба, — Tr0ub4dor&3", "Tr0ub"),
    ("passphrase: correct horse battery staple", "horse"),
    ("the passphrase is correct horse battery staple", "horse"),
    ("Парольная фраза: верная лошадь батарея скрепка", "лошадь"),
    ("密码短语：正确 马 电池 订书钉", "电池"),
    ("**Password:** Tr0ub4dor3", "Tr0ub"),
    ("**Пароль:** Tr0ub4dor3", "Tr0ub"),
    ("**密码：** Tr0ub4dor3", "Tr0ub"),
    ("| password | Tr0ub4dor&3 |", "Tr0ub"),
    ("| пароль | Tr0ub4dor&3 |", "Tr0ub"),
    ("| 密码 | Tr0ub4dor&3 |", "Tr0ub"),
    ("password (root): Tr0ub4dor3", "Tr0ub"),
    ("пароль (root): Tr0ub4dor3", "Tr0ub"),
    ("密码（root）：Tr0ub4dor3", "Tr0ub"),
    ("code for the safe: 998877", "998877"),
    ("my wifi password is Sommer2024 and the code of the door is 4711#", "4711 Sommer"),
    ("код от сейфа: 998877", "998877"),
    ("保险箱的代码是 998877", "998877"),
    ("password is Tr0ub4dor&3 or Zx9!kkQ2p", "Tr0ub Zx9"),
    ("passwords: Tr0ub4dor&3, Zx9!kkQ2p", "Tr0ub Zx9"),
    ("пароли: Tr0ub4dor&3, Zx9!kkQ2p", "Tr0ub Zx9"),
    ("пароль Tr0ub4dor&3 или Zx9!kkQ2p", "Tr0ub Zx9"),
    ("密码是Tr0ub4dor&3或Zx9!kkQ2p", "Tr0ub Zx9"),
    ('{"password": "abc\\"defGHI99"}', "defGHI"),
    ("ｓｋ-proj-abcdEFGH1234567890abcdEFGH1234567890", "1234567890"),
    ("sk-proj-abcd\u200bEFGH1234567890abcdEFGH1234567890", "1234567890"),
    ("ｐａｓｓｗｏｒｄ: Tr0ub4dor&3", "Tr0ub"),
    ("Password\n\nTr0ub4dor&3", "Tr0ub"),
    ("Новый пароль для почты теперь Лето2024!", "Лето"),
    ("我把密码改成了 new67890", "new67890"),
]
ALIKE = [
    "I changed the password from weekly to monthly rotation.",
    "the password policy: 12 characters -> 16 characters",
    "password changed on 2026-10-01 -> see ticket",
    "| password | string | required |",
    "| password | VARCHAR(255) |",
    "| field | password |",
    "**Password:** at least twelve characters",
    "password (optional): string",
    "the passphrase is too long to remember here",
    "the code for the building project: 2024",
    "The code of the office is clean",
    "пароль меняют на 90 дней",
    "пароль сменили на более длинный",
    "Пароль должен быть длиной на 8 символов",
    "密码从来不改",
    "密码改成了更长的",
    "passwords, tokens and Python3 scripts",
    "the code for the door sensor runs on ESP32",
    "error code for the lock is 404a",
    "we moved the password manager from Bitwarden2 to KeePass2",
    "the 2FA code for the safe mode: see docs",
    "password: string(8)",
    "Пароли храним с 2019 года на сервере",
    "把密码管理器从 1Password7 换到 Bitwarden",
]


@pytest.mark.parametrize(("text", "secrets"), SAID)
def test_nothing_of_the_secret_is_left(text: str, secrets: str) -> None:
    redaction = redact(text)
    assert [secret for secret in secrets.split() if secret in redaction.text] == []
    assert redact(redaction.text).text == redaction.text


@pytest.mark.parametrize("text", ALIKE)
def test_what_only_looks_like_it_stays(text: str) -> None:
    assert redact(text).text == text


def test_the_words_around_it_stay_whatever_they_are_written_with() -> None:
    key = "sk-proj-abcd\u200bEFGH1234567890abcdEFGH1234567890"
    assert redact(f"用\u200b这个 {key}，谢谢！").text == "用\u200b这个 [redacted:openai-key]，谢谢！"


@pytest.mark.timeout(60)
@pytest.mark.parametrize("unit", ["password a ", "password from ab1234 ", "| password ", "passphrase abc def ", "a\u200b", "ｐ", "[redacted:password], ", "code for the ", "密码从", "пароль на "])
def test_a_megabyte_of_it_comes_back(unit: str) -> None:
    assert redact((unit * (1_000_000 // len(unit) + 1))[:1_000_000]).text
