"""Detection of queries that give orders to an assistant; they teach nothing (rules 5, 7.5)."""

from __future__ import annotations

import re

_INSTRUCTIONS = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,60}\b(?:instruct\w*|prompts?|rules?|context|guidelines?"
    r"|above|previous|prior|earlier)\b"
    r"|\byou (?:are now|must|should|will) (?:always|never|now|only)\b|\byou are now\b"
    r"|\b(?:always|never|only) (?:show|return|rank|answer|reply|respond|recommend|use|mention|say|tell|prefer"
    r"|trust|reveal)\b"
    r"|\b(?:system|developer|hidden) (?:prompt|message|instructions?)\b|\bact as (?:an?|the|if)\b|\bpretend\b"
    r"|\bnew instructions?\b|\bdo not (?:tell|mention|reveal|show)\b|\bfrom now on\b"
    r"|<\|?\s*/?\s*(?:system|im_start|im_end|instructions?|tool_call)\b|\[/?(?:system|inst)\]"
    r"|^\s*(?:system|assistant)\s*:",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)


def is_instruction(text: str) -> bool:
    """Whether a query gives orders to an assistant: "ignore previous instructions"."""
    return _INSTRUCTIONS.search(text) is not None
