"""Terms, sentences, language and script of a text: English, Chinese and Russian at par, the rest by script."""

from __future__ import annotations

from openclaw_neuralstream.text.lexicon._bodily import concerns_body
from openclaw_neuralstream.text.lexicon._calendar import A_MONTH_EN, A_MONTH_RU, MONTHS_EN, MONTHS_RU
from openclaw_neuralstream.text.lexicon._conditions import harms_the_house, names_harm
from openclaw_neuralstream.text.lexicon._irregular import bases, past_forms
from openclaw_neuralstream.text.lexicon._narrated import CLAUSE, NARRATED, RELAYED, numbered
from openclaw_neuralstream.text.lexicon._off_record import off_record
from openclaw_neuralstream.text.lexicon._planted import INJECTION
from openclaw_neuralstream.text.lexicon._polarity import HATED, LIKED, NEGATED, REVOKED, signs
from openclaw_neuralstream.text.lexicon._rare import affordable
from openclaw_neuralstream.text.lexicon._scripts import WORDLESS, language_of, script_of
from openclaw_neuralstream.text.lexicon._sentences import first_sentence, sentences
from openclaw_neuralstream.text.lexicon._tastes import tells_of_another
from openclaw_neuralstream.text.lexicon._terms import content_terms, is_stop, speaks_of, stem, terms

__all__ = [
    "A_MONTH_EN",
    "A_MONTH_RU",
    "CLAUSE",
    "HATED",
    "INJECTION",
    "LIKED",
    "MONTHS_EN",
    "MONTHS_RU",
    "NARRATED",
    "NEGATED",
    "RELAYED",
    "REVOKED",
    "WORDLESS",
    "affordable",
    "bases",
    "concerns_body",
    "content_terms",
    "first_sentence",
    "harms_the_house",
    "is_stop",
    "language_of",
    "names_harm",
    "numbered",
    "off_record",
    "past_forms",
    "script_of",
    "sentences",
    "signs",
    "speaks_of",
    "stem",
    "tells_of_another",
    "terms",
]
