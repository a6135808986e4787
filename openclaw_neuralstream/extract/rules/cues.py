"""What a language gives away about a sentence: one bundle of patterns per language, tried on a normalised sentence."""

from __future__ import annotations

import re
from dataclasses import dataclass

from openclaw_neuralstream.patterns import lazy


@dataclass(frozen=True, slots=True)
class Cues:
    """Patterns of one language. `lead` and `remember` match at the start, the others anywhere unless anchored.

    address: speaks to the agent, so that it makes no fact. aside: a request at the end of a statement, cut off.
    offer: a question of the agent whose answer says nothing about the person. norm: a rule in words that are nobody's.
    clause: it has a verb, so that it is a statement and not a title. change: it says that something is other than it was.
    timed: its weekday makes a statement of it where a verb is missed. placed: it tells where a thing belongs.
    """

    # not worth remembering
    question: re.Pattern[str]
    chatter: re.Pattern[str]
    request: re.Pattern[str]
    hypothetical: re.Pattern[str]
    sarcasm: re.Pattern[str]
    empty_fact: re.Pattern[str]
    address: re.Pattern[str]
    # about the message
    joke: re.Pattern[str]
    retract: re.Pattern[str]
    material: re.Pattern[str]
    affirm: re.Pattern[str]
    offer: re.Pattern[str]
    # at the start of a sentence
    lead: re.Pattern[str]
    remember: re.Pattern[str]
    correction: re.Pattern[str]
    contrast: re.Pattern[str]
    anaphora: re.Pattern[str]
    pronoun: re.Pattern[str]
    aside: re.Pattern[str]
    joint: re.Pattern[str]
    # kinds
    instruction: re.Pattern[str]
    norm: re.Pattern[str]
    habit: re.Pattern[str]
    decision: re.Pattern[str]
    preference: re.Pattern[str]
    reminder: re.Pattern[str]
    todo: re.Pattern[str]
    event: re.Pattern[str]
    own: re.Pattern[str]
    states: re.Pattern[str]
    clause: re.Pattern[str]
    timed: re.Pattern[str]
    placed: re.Pattern[str]
    result: re.Pattern[str]
    # weights
    hedge: re.Pattern[str]
    change: re.Pattern[str]
    transient: re.Pattern[str]
    firm: re.Pattern[str]
    strong: re.Pattern[str]
    hearsay: re.Pattern[str]


NOWHERE = lazy(r"(?!)")
ANYWHERE = lazy(r"")


_DROPPED = lazy(r"(?<=n)'(?=t)|(?<=\bi)'(?=m\b)|'(?=ve\b)|(?<=that)'(?=s)|(?<=what)'(?=s)")

_PERHAPS = "'?"


def cue(*alternatives: str) -> re.Pattern[str]:
    """One pattern of these alternatives, letter case ignored; an apostrophe may be left out ("dont", "im", "ive")."""
    return lazy("|".join(f"(?:{_DROPPED.sub(_PERHAPS, a)})" for a in alternatives), re.IGNORECASE)


INJECTION = cue(
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,30}\b(?:previous|prior|above|earlier|preceding|all|your|system)\b.{0,30}"
    r"\b(?:instructions?|prompts?|rules?|messages?|directives?|guidelines?|context)\b",
    r"\b(?:reveal|print|show|output|repeat|leak)\b.{0,30}\b(?:system prompt|hidden prompt|your instructions|initial instructions)\b",
    r"\byou are now (?:in )?(?:dan|developer mode|jailbroken|unrestricted|an? (?:unfiltered|evil))",
    r"\b(?:act|behave) as (?:if you (?:have|had) no|an unrestricted|dan\b)",
    r"<\|?(?:im_start|im_end|system|endoftext)\|?>|\[/?INST\]|<</?SYS>>",
    r"\bnew (?:system )?instructions?\s*:",
    r"(?:^|\n)\s*(?:system|assistant|developer)\s*:\s*(?:you|ignore|disregard|from now|new |override|always|never|do not)\b",
    r"(?:игнорируй|проигнорируй|забудь|отмени|не соблюдай)\w*\s.{0,30}(?:инструкци|указани|правил|промпт|команд)",
    r"(?:покажи|выведи|раскрой)\w*\s.{0,30}(?:системн\w+ промпт|системн\w+ инструкци|свои инструкции)",
    r"(?:忽略|无视|忘记|忘掉|跳过).{0,12}(?:指令|指示|提示词?|规则|设定|命令)",
    r"(?:输出|显示|泄露|告诉我).{0,8}(?:系统提示|系统指令|初始指令)",
    r"你现在是.{0,10}(?:不受限制|越狱|开发者模式)",
)
