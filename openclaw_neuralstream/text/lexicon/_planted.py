"""Orders to a model that were planted in a text, told by the phrases that such orders use."""

from __future__ import annotations

import re

from openclaw_neuralstream.patterns import lazy

_PHRASES = (
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,30}\b(?:previous|prior|above|earlier|preceding|all|your|system)\b.{0,30}\b(?:instructions?|prompts?|rules?|messages?|directives?|guidelines?|context)\b",
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

INJECTION = lazy("|".join(f"(?:{one})" for one in _PHRASES), re.IGNORECASE)
