"""Which extractor distils now, and why: an endpoint, Ollama, the host's own model, or rules; and the day's cap on cost."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Protocol

from openclaw_neuralstream import ollama_client
from openclaw_neuralstream.embed.embedded import EmbeddedEmbedder
from openclaw_neuralstream.errors import VendorAway
from openclaw_neuralstream.extract.rules import RulesExtractor
from openclaw_neuralstream.extract.spend import Grace, Ledger, Metered
from openclaw_neuralstream.ports import Choice, Completion, Extractor, Spent, TokenCounter
from openclaw_neuralstream.render import Templates
from openclaw_neuralstream.settings import Settings
from openclaw_neuralstream.tokens import BestCounter

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
        self._rules = RulesExtractor(EmbeddedEmbedder())
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
                found, _ = ask()
                if found is not None:
                    return Metered(found, self._ledger, self._counter)
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
        missing: list[str] = []
        for name, ask in (("openai", self._openai), ("ollama", self._ollama)):
            if wanted not in ("auto", name) or (wanted == "auto" and name == "openai" and not self._knobs.openai_url):
                continue
            completion, problem = ask()
            if completion is not None:
                self._grace.served(name)
                why = f"{'auto: ' if wanted == 'auto' else ''}{problem}"
                return self._model(completion, name, completion.window()), Choice(name, why)
            missing.append(problem)
        said = "; ".join(missing)
        if wanted != "auto":
            where = self._knobs.openai_url if wanted == "openai" else self._knobs.ollama_url
            raise VendorAway(said, where=where, fix=_remedy(self._knobs))
        if until := self._grace.until():
            self.choice = Choice("waiting", f"auto: {said}; rules distil from {until:%Y-%m-%d %H:%M} UTC (model_grace)")
            raise VendorAway(
                f"{said}; turns wait until {until:%H:%M} UTC",
                fix="start it, or: neuralstream config set extractor rules",
            )
        return self._rules, Choice("rules", f"auto: {said}")

    def _ollama(self) -> tuple[Served | None, str]:
        """The completion and what to say of it, or None and why not."""
        knobs = self._knobs
        missing = ollama_client.missing(knobs.ollama_url, knobs.gem_model, _PROBE_SECONDS)
        if missing:
            return None, missing
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

    def _openai(self) -> tuple[Served | None, str]:
        """The completion and what to say of it, or None and why not."""
        from openclaw_neuralstream.extract import openai

        knobs = self._knobs
        if not knobs.openai_url:
            return None, "no openai_url is set"
        model, missing = openai.resolve(knobs.openai_url, knobs.openai_model, self._api_key, _PROBE_SECONDS)
        if missing:
            return None, missing
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
            history_tokens=self._knobs.history_tokens,
            count=self._count,
        )


def _remedy(knobs: Settings) -> str:
    if knobs.extractor == "ollama":
        return f"ollama serve, then ollama pull {knobs.gem_model}; or: neuralstream config set extractor auto"
    if not knobs.openai_url:
        return "neuralstream config set openai_url http://HOST:PORT/v1"
    return f"start the server at {knobs.openai_url}; or: neuralstream config set extractor auto"
