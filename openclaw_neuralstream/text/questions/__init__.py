"""What a question is made of, in any language: the words a person would name, what they are about, and its hash."""

from openclaw_neuralstream.text.questions.hashing import BANDS, NEAR, bands, distance, likeness, question_hash
from openclaw_neuralstream.text.questions.leaning import leans, pointed_at
from openclaw_neuralstream.text.questions.pointing import acts, only_nods, only_points, points_back, thanks
from openclaw_neuralstream.text.questions.thesaurus import topics_of
from openclaw_neuralstream.text.questions.topics import asked_topics
from openclaw_neuralstream.text.questions.words import words_of

__all__ = [
    "BANDS",
    "NEAR",
    "acts",
    "asked_topics",
    "bands",
    "distance",
    "leans",
    "likeness",
    "only_nods",
    "only_points",
    "pointed_at",
    "points_back",
    "question_hash",
    "thanks",
    "topics_of",
    "words_of",
]
