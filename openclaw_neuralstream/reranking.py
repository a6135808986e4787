"""A chat model as a reranker: it names the records that help, best first, and nothing that it says is believed but ids."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from openclaw_neuralstream.errors import AnswerRefused
from openclaw_neuralstream.model import Record
from openclaw_neuralstream.ports import Completion
from openclaw_neuralstream.render import Templates

SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {"order": {"type": "array", "items": {"type": "integer", "minimum": 1}}},
    "required": ["order"],
    "additionalProperties": False,
}
_CHARS = 600  # of a record's text that the model reads
_QUESTION_CHARS = 2_000


class ModelReranker:
    """Asks a chat model; made anew for each question, so that a model that went away is noticed.

    complete: gives the completion to ask. Raises VendorAway.
    """

    def __init__(self, complete: Callable[[], Completion], templates: Templates) -> None:
        self._complete = complete
        self._templates = templates

    def order(self, question: str, records: Sequence[Record]) -> list[str]:
        """The ids of the records that help, best first. Raises VendorAway, and AnswerRefused for another form."""
        completion = self._complete()
        items = [{"number": place, "text": record.text[:_CHARS]} for place, record in enumerate(records, start=1)]
        prompt = self._templates.render("rerank_prompt", question=question[:_QUESTION_CHARS], items=items)
        numbers = _numbers(completion.complete(self._templates.render("rerank_system"), prompt, schema=SCHEMA))
        unknown = [number for number in numbers if not 1 <= number <= len(records)]
        if unknown or len(set(numbers)) != len(numbers):
            raise AnswerRefused("the reranking model named records that it was not shown, or one twice")
        return [records[number - 1].id for number in numbers]


def _numbers(answer: str) -> list[int]:
    try:
        found = json.loads(answer[answer.index("{") : answer.rindex("}") + 1])["order"]
    except (ValueError, KeyError, TypeError) as error:
        raise AnswerRefused("the reranking model did not answer with an order") from error
    if not isinstance(found, list) or not all(isinstance(n, int) and not isinstance(n, bool) for n in found):
        raise AnswerRefused("the reranking model did not answer with numbers")
    return found
