"""Which extractor distils now, and why: an endpoint, Ollama, the host's own model, or rules; and the day's cap on cost."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Protocol

from openclaw_neuralstream import ollama_client
from openclaw_neuralstream.embed.embedded import EmbeddedEmbedder
from openclaw_neuralstream.errors import NeuralStreamError, VendorAway
from openclaw_neuralstream.extract.learned import LearnedExtractor
from openclaw_neuralstream.extract.spend import Grace, Ledger, Metered
from openclaw_neuralstream.plugins.templates import Templates
from openclaw_neuralstream.ports import Choice, Completion, Extractor, Spent, TokenCounter
from openclaw_neuralstream.settings import Settings
from openclaw_neuralstream.text.tokens import BestCounter

_PROBE_SECONDS = 1.5  # how long a service may take to show itself
_COUNTER_SECONDS = 10.0  # how long the first batch of a process waits for the tokenizer: it loads in half a second


class Served(Completion, Protocol):
    """A completion of a server that tells how large its window is."""

    def window(self) -> int:
        """Tokens of context that may be used."""


class ChooseExtractor:
    """`auto`: the endpoint of openai_url, else Ollama, each while it answers and has the model, else rules.

    Where a model has served before, rules wait `model_grace` seconds: turns that wait lose nothing, gems by rules stay.
    A named extractor is never replaced by another, except by rules when the day's tokens are spent. The host's own
    model costs its owner money: it is used where it is named.
    """

    def __init__(
        self,
        knobs: Settings,
        templates: Templates,
        counter: TokenCounter,
        host_completion: Completion | None,
        *,
        ledger: Ledger,
        grace: Grace,
        environ: Mapping[str, str],
        count: Callable[[str, int], None] = lambda _name, _by: None,
    ) -> None:
        self._knobs = knobs
        self._templates = templates
        self._counter = counter
        self._host = host_completion
        self._ledger = ledger
        self._grace = grace
        self._api_key = environ.get(knobs.openai_api_key_env, "") if knobs.openai_api_key_env else ""
        self._count = count
        self._rules = LearnedExtractor(EmbeddedEmbedder())
        self._served: dict[str, Served] = {}  # a completion is kept: it knows the server's window and dialect
        self.choice = Choice(
            knobs.extractor, "chosen when the first turns are distilled: a model where one answers, else the rules"
        )

    def __call__(self) -> Extractor:
        """The extractor for the next batch."""
        extractor, self.choice = self._choose()
        return extractor

    def named(self, name: str) -> Extractor:
        """The extractor of this name, for one piece of work; the settings stay. Raises VendorAway, never another one."""
        other = copy.copy(self)
        other._knobs = self._knobs.model_copy(update={"extractor": name})  # noqa: SLF001  a copy of ourselves
        extractor = other()
        if name not in ("auto", other.choice.name):
            raise VendorAway(f"{name} cannot be used: {other.choice.why}")
        return extractor

    def completion(self) -> Completion:
        """The chat model that `extractor` means, for something else than extraction. Raises VendorAway without one."""
        wanted = self._knobs.extractor
        if self._ledger.today().exhausted:
            raise VendorAway("the day's tokens are spent", fix="neuralstream config set model_daily_tokens 0")
        if wanted == "host" and self._host is not None:
            return Metered(self._host, self._ledger, self._counter)
        for name, ask in (("openai", self._openai), ("ollama", self._ollama)):
            if wanted in ("auto", name):
                with suppress(NeuralStreamError):
                    return Metered(ask()[0], self._ledger, self._counter)
        raise VendorAway("no model answers that could rerank", fix="neuralstream models shows who answers")

    def spent(self) -> Spent:
        """What models have cost today."""
        return self._ledger.today()

    def _choose(self) -> tuple[Extractor, Choice]:
        wanted = self._knobs.extractor
        if wanted == "rules":
            return self._rules, Choice("rules", "the setting extractor is rules")
        spent = self._ledger.today()
        if spent.exhausted:
            why = f"the {spent.cap:,} tokens of {spent.day} (UTC) are spent: {spent.tokens:,}; a model again tomorrow"
            return self._rules, Choice("rules", why)
        if wanted == "host":
            if self._host is None:
                raise VendorAway("the host's model is not connected", fix="start the OpenClaw gateway")
            return self._model(self._host, "host", self._knobs.gem_context), Choice(
                "host", "the setting extractor is host"
            )
        return self._first_that_answers(wanted)

    def _first_that_answers(self, wanted: str) -> tuple[Extractor, Choice]:
        failed: list[NeuralStreamError] = []
        for name, ask in (("openai", self._openai), ("ollama", self._ollama)):
            if wanted not in ("auto", name) or (wanted == "auto" and name == "openai" and not self._knobs.openai_url):
                continue
            try:
                completion, why = ask()
            except NeuralStreamError as error:
                failed.append(error)
                continue
            self._grace.served(name)
            why = f"{'auto: ' if wanted == 'auto' else ''}{why}"
            return self._model(completion, name, completion.window()), Choice(name, why)
        said = "; ".join(error.what for error in failed)
        if wanted != "auto":
            fix = f"{failed[0].fix or 'neuralstream doctor'}; or: neuralstream config set extractor auto"
            raise VendorAway(said, where=failed[0].where, fix=fix) from failed[0]
        if until := self._grace.until():
            self.choice = Choice("waiting", f"auto: {said}; rules distil from {until:%Y-%m-%d %H:%M} UTC (model_grace)")
            raise VendorAway(
                f"{said}; turns wait until {until:%H:%M} UTC",
                fix="start it, or: neuralstream config set extractor rules",
            )
        return self._rules, Choice("rules", f"auto: {said}")

    def _ollama(self) -> tuple[Served, str]:
        """The completion and what to say of it. Raises VendorAway and AnswerRefused."""
        knobs = self._knobs
        ollama_client.look(knobs.ollama_url, knobs.gem_model, _PROBE_SECONDS)
        if "ollama" not in self._served:
            from openclaw_neuralstream.extract.ollama import OllamaCompletion

            self._served["ollama"] = OllamaCompletion(
                knobs.ollama_url,
                knobs.gem_model,
                counter=self._counter,
                context=knobs.gem_context,
                timeout=knobs.model_timeout,
                keep_alive=knobs.model_keep_alive,
            )
        return self._served["ollama"], f"Ollama has {knobs.gem_model}"

    def _openai(self) -> tuple[Served, str]:
        """The completion and what to say of it. Raises VendorAway and AnswerRefused."""
        from openclaw_neuralstream.extract import openai

        knobs = self._knobs
        if not knobs.openai_url:
            fix = "neuralstream config set openai_url http://HOST:PORT/v1"
            raise VendorAway("no openai_url is set", fix=fix)
        model = openai.found(knobs.openai_url, knobs.openai_model, self._api_key, _PROBE_SECONDS)
        known = self._served.get("openai")
        if known is None or known.model != model:
            self._served["openai"] = openai.OpenAICompletion(
                knobs.openai_url,
                model,
                context=knobs.gem_context,
                timeout=knobs.model_timeout,
                api_key=self._api_key,
            )
        return self._served["openai"], f"the endpoint serves {model}"

    def _model(self, completion: Completion, name: str, context: int) -> Extractor:
        from openclaw_neuralstream.extract.model import ModelExtractor

        if isinstance(self._counter, BestCounter):  # by its formula a small window has no room for the examples
            self._counter.wait(_COUNTER_SECONDS)
        return ModelExtractor(
            Metered(completion, self._ledger, self._counter),
            name=name,
            templates=self._templates,
            counter=self._counter,
            context=context,
            count=self._count,
        )
