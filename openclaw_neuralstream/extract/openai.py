"""Chat models behind any endpoint of OpenAI's protocol: llama.cpp's server, vLLM, LM Studio, OpenAI itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any
from urllib.parse import urljoin

import structlog

from openclaw_neuralstream.errors import AnswerRefused, NeuralStreamError, VendorBusy, VendorRefused, VendorSlow
from openclaw_neuralstream.extract.served import WAITS, AnswerCut, answer_room, more_time, patiently, sendable
from openclaw_neuralstream.openai_client import client, translated

log = structlog.get_logger(__name__)

_LOOK_SECONDS = 5.0
_SIZES = ("max_model_len", "context_length", "context_window", "max_context_length", "n_ctx", "n_ctx_train")

Schema = dict[str, object] | None


def _by_schema(schema: Schema) -> dict[str, Any]:
    if not schema:
        return {}
    form = {"name": "gems", "schema": schema, "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": form}}


def _local(schema: Schema, room: int) -> dict[str, Any]:
    """As llama.cpp, vLLM and LM Studio want it: no thinking, the answer held to the schema."""
    quiet = {"chat_template_kwargs": {"enable_thinking": False}}
    return {"max_tokens": room, "temperature": 0, "seed": 7, "extra_body": quiet, **_by_schema(schema)}


def _openai(schema: Schema, room: int) -> dict[str, Any]:
    """As OpenAI's newest models want it: no temperature, another name for the limit, no strange fields."""
    return {"max_completion_tokens": room, **_by_schema(schema)}


def _any_json(schema: Schema, room: int) -> dict[str, Any]:
    """For servers that know JSON, but no schema; the prompt describes the form as well."""
    return {"max_tokens": room, "temperature": 0, **({"response_format": {"type": "json_object"}} if schema else {})}


def _plain(schema: Schema, room: int) -> dict[str, Any]:  # noqa: ARG001  one form for all dialects
    """For servers that know neither."""
    return {"max_tokens": room, "temperature": 0}


DIALECTS: tuple[Callable[[Schema, int], dict[str, Any]], ...] = (_local, _openai, _any_json, _plain)
"""Tried in this order; the first that a server does not refuse stays."""


class OpenAICompletion:
    """A chat model behind an OpenAI-compatible endpoint. Nothing is asked before the first prompt.

    url: up to and with "/v1". api_key: "" for none. context: tokens of the window that are used at most.
    timeout: seconds one whole answer may take. used: tokens of the last answer, its prompt included; 0 = not said.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        context: int,
        timeout: float,
        api_key: str = "",
        waits: Sequence[float] = WAITS,
    ) -> None:
        self.model = model
        self.used = 0
        self._url = url
        self._api_key = api_key
        self._context = context
        self._known_window = 0
        self._timeout = timeout
        self._waits = waits
        self._dialect = 0
        self._client: Any = None

    def window(self) -> int:
        """Tokens of context that may be used: what the settings say, never more than the server says it has."""
        if not self._known_window:
            try:
                self._known_window = min([self._context, *self._sizes()])
            except NeuralStreamError:
                return self._context
        return self._known_window

    def complete(self, system: str, prompt: str, *, schema: Schema = None) -> str:
        """The model's answer. Raises `VendorAway` (down, slow, no model) or `AnswerRefused` (cut, empty, refused)."""
        messages = [{"role": "system", "content": sendable(system)}, {"role": "user", "content": sendable(prompt)}]
        room = answer_room(self.window())
        text, reason = self._understood(messages, schema, room)
        if reason == "length":
            raise AnswerCut(text, where=self.model)
        if reason == "content_filter" or not text.strip():
            raise AnswerRefused("the model answered with nothing", where=self.model)
        return text

    def _understood(self, messages: list[dict[str, str]], schema: Schema, room: int) -> tuple[str, str]:
        """The answer in the first dialect that the server takes; the next one is tried when it refuses a request."""
        refused: AnswerRefused | None = None
        for number in range(self._dialect, len(DIALECTS)):
            ask = partial(self._ask, messages, DIALECTS[number](schema, room))
            try:
                answer = patiently(ask, waits=self._waits, timeout=self._timeout)
            except AnswerRefused as error:
                refused = refused or error
                log.info("openai.dialect_refused", dialect=number)
            else:
                self._dialect = number
                return answer
        raise refused or AnswerRefused("the endpoint refused", where=self._url)

    def _ask(self, messages: list[dict[str, str]], request: dict[str, Any]) -> tuple[str, str]:
        self.used = 0
        with translated(self._url, self.model):
            if self._client is None:
                self._client = client(self._url, self._api_key, self._timeout)
            stream = self._client.chat.completions.create(
                model=self.model, messages=messages, stream=True, stream_options={"include_usage": True}, **request
            )
            with stream:
                return self._collect(stream)

    def _collect(self, stream: Iterable[Any]) -> tuple[str, str]:
        """The whole answer and why it ended. A stream that trickles past the deadline, or just stops, is no answer."""
        deadline = time.monotonic() + self._timeout
        parts: list[str] = []
        reason = ""
        for chunk in stream:
            for choice in chunk.choices or ():
                parts.append((choice.delta.content if choice.delta else "") or "")
                reason = choice.finish_reason or reason
            if chunk.usage:
                self.used = chunk.usage.total_tokens or 0
            if time.monotonic() > deadline:
                said = f"the endpoint did not finish in {self._timeout:g} s"
                raise VendorSlow(said, where=self._url, fix=more_time(self._timeout))
        if not reason:
            raise VendorBusy("the endpoint stopped in the middle of an answer", where=self._url)
        return "".join(parts), reason

    def _sizes(self) -> list[int]:
        """Every size of a window that the server tells of: in its list of models, and in llama.cpp's `/props`."""
        with translated(self._url, self.model):
            asked = client(self._url, self._api_key, _LOOK_SECONDS)
            listed = asked.models.list().data
        ours = [entry for entry in listed if entry.id == self.model] or (listed if len(listed) == 1 else [])
        told = [entry.model_dump() for entry in ours]
        told += [model["meta"] for model in told if isinstance(model.get("meta"), dict)]
        try:
            with translated(self._url, self.model):
                props = asked.get(urljoin(self._url, "/props"), cast_to=object)
            told.append(props.get("default_generation_settings") if isinstance(props, dict) else {})
        except NeuralStreamError:
            log.debug("openai.no_props")
        sizes = [one.get(name) for one in told if isinstance(one, dict) for name in _SIZES]
        return [size for size in sizes if isinstance(size, int) and size > 0]


def found(url: str, model: str, api_key: str = "", timeout: float = 2.0) -> str:
    """The model to ask; without a name the only one there. Raises VendorAway and AnswerRefused, with what mends it."""
    with translated(url, model):
        names = [entry.id for entry in client(url, api_key, timeout).models.list().data]
    if model and (model in names or not names):  # some endpoints list nothing
        return model
    if not model and len(names) == 1:
        return str(names[0])
    have, fix = ", ".join(names[:5]) or "none", "neuralstream config set openai_model NAME"
    said = f"the endpoint has no model {model}" if model else "no openai_model is set"
    raise VendorRefused(f"{said}; it has {have}: {fix}", where=url, fix=fix)
