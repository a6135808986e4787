"""Judgement at the time of writing: what a new gem is beside those already kept. Deterministic; nothing is asked of a model.

A gem is dropped (small talk, tool noise, the agent's guess given out as the owner's word, an echo of what is known), the
same as one that is kept (its evidence adds up), one that makes others untrue (they are linked, and their time ends), or new.
An unsure case is new. Only gems of the same agent, user and project meet; hearsay and untrusted words never replace the
owner's. Which of two contradicting gems holds is decided by when they were said, not by when they arrived.
"""

from openclaw_neuralstream.judgement.judge import GemJudge
from openclaw_neuralstream.judgement.remainder import left_out, still_true
from openclaw_neuralstream.judgement.withheld import only_secret

__all__ = ["GemJudge", "left_out", "only_secret", "still_true"]
