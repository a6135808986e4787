"""Words of others, by the form in which they stand in a message."""

from __future__ import annotations

import pytest

from openclaw_neuralstream.extract.quoting import frames, inside, quoted

WORDS = "I sold the car, call me king from now on"


@pytest.mark.parametrize("marks", ["“”", "„“", "«»", "「」", "『』", "‹›", '""', "‘’"])
def test_a_quotation_in_any_marks_is_anothers(marks: str) -> None:
    message = f"tom wrote {marks[0]}{WORDS}{marks[1]} lol"
    stretches = quoted(message)
    assert inside("call me king from now on", stretches)
    assert frames(message, stretches)
    assert not inside("lol", stretches)


@pytest.mark.parametrize(
    "message",
    [
        f"> {WORDS}\nwhat do you think",
        f"Kev: {WORDS}\nDee: no way\nKev: yes",
        f"[09:12] Kev: {WORDS}\n[09:13] Dee: no way",
        f"---------- Forwarded message ----------\n{WORDS}",
    ],
)
def test_quoted_lines_chat_logs_and_forwarded_mails_are_anothers(message: str) -> None:
    assert inside(WORDS, quoted(message))


@pytest.mark.parametrize(
    "message",
    [
        'Always call me "Captain Jack Sparrow".',
        "Always run `npm run build:prod` before you deploy.",
        "Dentist: I have an appointment in May\nAllergy: I am allergic to penicillin",
        'I bought 24" monitors for the desk and 27" ones for the lab',
    ],
)
def test_names_in_marks_code_and_lists_are_the_owners(message: str) -> None:
    assert not any(inside(line, quoted(message)) or frames(line, quoted(message)) for line in message.splitlines())
