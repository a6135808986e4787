"""What can go wrong, one class per thing the reader can do about it."""

from __future__ import annotations

import traceback
from pathlib import Path


class NeuralStreamError(Exception):
    """Base of every error raised on purpose.

    what: what happened, in plain words.
    where: the file, setting, service or command concerned; may be empty.
    fix: what to type or change to mend it; may be empty.
    """

    code = "error"

    def __init__(self, what: str, *, where: str = "", fix: str = "") -> None:
        self.what = what
        self.where = where
        self.fix = fix
        super().__init__(" · ".join(part for part in (what, where, fix) if part))


class SettingsError(NeuralStreamError):
    """One or more settings were refused; `problems` names each of them."""

    code = "settings"

    def __init__(self, problems: list[str], *, where: str = "", fix: str = "") -> None:
        self.problems = problems
        super().__init__("settings refused: " + "; ".join(problems), where=where, fix=fix)


class StateError(NeuralStreamError):
    """The state directory cannot be used: read-only, full, or not ours."""

    code = "state"


class StateFull(StateError):
    """The disk is full: nothing was written, and what was there stays as it was."""

    code = "state-full"


class StateDamaged(StateError):
    """A file of the state directory does not read back as it was written."""

    code = "state-damaged"


class StateNewer(StateError):
    """The state directory was written by a newer version; it is left untouched."""

    code = "state-newer"


class StateBusy(StateError):
    """Another process owns the state directory."""

    code = "state-busy"


class VendorAway(NeuralStreamError):
    """A service (Redis, Qdrant, Ollama, the host's model) does not answer; the work waits and is tried again."""

    code = "vendor-away"


class VendorBusy(VendorAway):
    """A service that is worth another try in a moment: busy, loading, or its connection broke."""


class VendorSlow(VendorAway):
    """A service took the work and did not finish in time: more time may help."""


class VendorRefused(VendorAway):
    """A service answers and refuses what is asked: credentials, rights, space, its form. Somebody has to mend it."""


class AnswerRefused(NeuralStreamError):
    """A model answered, and the answer does not pass the checks; trying again may help, waiting does not."""

    code = "answer-refused"


class EmbedderMismatch(VendorRefused):
    """The index was made by another embedder; its vectors are not mixed with the present one's. Words serve meanwhile."""

    code = "embedder-mismatch"


class NotFound(NeuralStreamError):
    """The named thing does not exist (or not in this scope)."""

    code = "not-found"


class BadRequest(NeuralStreamError):
    """An event, message or argument is not of the documented form."""

    code = "bad-request"


class HostError(NeuralStreamError):
    """The OpenClaw host refused or failed a step."""

    code = "host"


class ProcessAway(NeuralStreamError):
    """The memory process cannot be reached or started."""

    code = "process-away"


def crash(error: BaseException) -> str:
    """An error nobody expected: what it is and where, without its words, which may quote what was said."""
    *_, (frame, line) = traceback.walk_tb(error.__traceback__)
    return f"{type(error).__name__} in {Path(frame.f_code.co_filename).name}:{line}"


UNTRUSTED = "its TLS certificate is not trusted"
"""How `line_failure` begins where an authority is missing that vouches for the service."""


def line_failure(error: BaseException | None) -> str:
    """What went wrong on the way to a service, by the exceptions of the standard library behind a client's own.

    "" when none of them is behind it.
    """
    import socket
    import ssl

    known: tuple[tuple[type[BaseException], str], ...] = (
        (ssl.SSLCertVerificationError, UNTRUSTED + ": {0.verify_message}"),
        (ssl.SSLError, "TLS fails: {0.reason}"),
        (ConnectionRefusedError, "nothing listens at its address; it is not running, or not installed"),
        (FileNotFoundError, "there is no socket at its path"),
        (socket.gaierror, "there is no machine of this name"),
        (TimeoutError, "its address does not react"),
    )
    while error is not None:
        for kind, words in known:
            if isinstance(error, kind):
                return words.format(error)
        error = error.__cause__ or error.__context__
    return ""


def not_there(path: Path) -> NotFound:
    """A file that was to be read and is not there; the remedy names what is: the nearest folder."""
    folder = next(one for one in path.absolute().parents if one.is_dir())
    return NotFound("no such file", where=str(path), fix=f"give its path; what there is: ls {folder}")


def unwritable(what: str, path: Path, error: OSError) -> StateError:
    """A file that cannot be written where it was to be. what: what it is, in a word or two."""
    folder = path.absolute().parent
    if not folder.is_dir():
        fix = f"mkdir -p {folder}, or give another path"
    else:
        fix = f"give another path, or look what is with {path if path.exists() else folder}"
    return StateError(f"{what} cannot be written: {error.strerror or error}", where=str(path), fix=fix)
