"""Selection of lasting statements in a message, by their own words.

A session is full of requests ("fix the test"), questions and pasted text, which would harm a memory. So a
sentence is selected only if its words mark it as a fact about the user or project, a decision, a preference
or a rule, and if it is clear without the conversation. This misses much, on purpose. The phrases are English.
The save gate validates selected statements like any other note.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

MIN_CHARACTERS, MAX_CHARACTERS = 20, 400  # of a sentence


def _any(*phrases: str) -> re.Pattern[str]:
    return re.compile("|".join(phrases), re.IGNORECASE)


def _words(words: Sequence[str]) -> str:
    return rf"\b(?:{'|'.join(words)})\b"


_BLOCKS = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_NOT_PROSE = _any(  # quotations, tables, shells, code, traces, diffs, logs; indented lines
    r"\s*(?:>|\||\$ |#!|\{|\}|at \S+\(|Traceback|File \"|[-+]{3} |@@|\d{4}-\d\d-\d\d[T ]\d\d:)",
    r"\t",
    r" {4}",
)
_LIST_MARK = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s+")
_ENDS = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]?[A-Z0-9])|\n+")

_SPEAKER = r"(?:i|we|our team|the team)"
_DO = r"(?:use|deploy|ship|release|change|merge|touch|add|break|store|send|log|depend|exceed)"
_KINDS = (
    ("decision", _any(
        rf"\b{_SPEAKER}(?:'ve| have)? (?:finally |just )?(?:decided|agreed|settled|chose|opted)\b",
        rf"\b{_SPEAKER}(?:'re| are| will be|'ll be) (?:going with|switching to|moving to|migrating to)\b",
        r"\bfrom now on\b",
        r"\bthe decision (?:is|was)\b",
    )),
    ("preference", _any(
        r"\bi (?:strongly |really |generally |usually |always |much )?prefer\b",
        r"\bi(?:'d| would) (?:rather|prefer)\b",
        r"\bi (?:don't|do not|never) (?:like|want|use)\b(?! to (?:see|know)\b)",
        r"\bi (?:always|usually|never) (?:use|want|write|work|read|like)\b",
        r"\bmy (?:favou?rite|preferred|preference)\b",
    )),
    ("constraint", _any(
        r"^(?:please )?(?:always|never)\b",
        rf"\b{_SPEAKER} (?:must|must not|mustn't|may not|cannot|can't) (?:ever )?{_DO}\b",
        r"\b(?:is|are) (?:not allowed|forbidden|mandatory|off limits)\b",
    )),
    ("fact", _any(
        r"^(?:please )?(?:remember|note|keep in mind|for the record|fyi)\b[:,]?(?: that)?\b",
        r"\bmy name is\b",
        r"^(?:i am|i'm) (?:a|an|the|based|responsible|vegan|vegetarian|allergic)\b",
        r"^(?:i|we) (?:live|work|deploy|release|host|run|use|keep|store|meet|own|maintain)\b",
        r"^(?:our|my) \w[\w -]{1,40}? (?:is|are|runs?|lives?|uses?|has|have)\b",
    )),
)  # fmt: skip

_WHICH = ("first", "second", "third", "last", "other", "former", "latter", "previous", "same")
_CHOSEN = ("prefer", "use", "with", "want", "like", "always", "never", "do", "choose", "chose", "on", "to")
_NOT_KEPT = (
    _any(  # it refers to something outside, which is unknown later
        _words(["this", "these", "those", "here", "above", "below", "attached", "following"]),
        r"^(?:it|that|they|he|she|them|so)\b",
        rf"{_words(_WHICH)} (?:one|option|approach|version|way|solution)\b",
        rf"{_words(_CHOSEN)} (?:it|that|them|one)\b(?! \w+s\b)",
    ),
    _any(  # question, proposal or doubt
        r"^(?:can|could|would|will|do|does|did|should|is|are|why|what|how|where|when|who|which|let's|lets)\b",
        r"^(?:maybe|perhaps|i think|i guess|i'm not sure|not sure)\b",
    ),
    _any(  # temporary
        _words(["for now", "right now", "just now", "today", "tonight", "at the moment", "for a second"]),
        _words(["currently", "temporarily", "broken", "fail(?:s|ed|ing)?", "errors?", "crash(?:es|ed|ing)?"]),
        _words(["(?:not|doesn't|don't|isn't) work(?:ing)?", "wrong", "stuck", "keep getting", "run into"]),
    ),
    _any(  # may contain a secret
        _words(["passwords?", "passphrase", "passwd", "secret", "api[ _-]?keys?", "access[ _-]?keys?"]),
        _words(["tokens?", "credentials?", "private key", "pin"]),
        r"-----BEGIN",
        r"\b(?:sk|pk|ghp|gho|xox[abp]|glpat|AKIA)[-_A-Za-z0-9]{12,}",
        r"\b[A-Za-z0-9+/_-]{32,}\b",
        r"://[^\s/]+:[^\s/]+@",
    ),
)


@dataclass(frozen=True, slots=True)
class SaidStatement:
    """Selected sentence.

    Attributes:
        number: of the statement in its message, from 1.
        text: as it was written.
        kind: decision, preference, constraint or fact: a type of memory.
    """

    number: int
    text: str
    kind: str


def statements(text: str) -> list[SaidStatement]:
    """Return the lasting statements of a message.

    Args:
        text: of a user, with code and quotations.
    """
    selected: list[SaidStatement] = []
    for sentence in _sentences(text):
        kind = _kind(sentence)
        if kind and all(statement.text != sentence for statement in selected):
            selected.append(SaidStatement(len(selected) + 1, sentence, kind))
    return selected


def _sentences(text: str) -> list[str]:
    """Split a text into sentences, without code, quotations, logs and list marks."""
    prose = [line for line in _BLOCKS.sub("\n", text).splitlines() if not _NOT_PROSE.match(line)]
    lines = "\n".join(_LIST_MARK.sub("", line) for line in prose)
    return [" ".join(sentence.split()) for sentence in _ENDS.split(lines) if sentence.strip()]


def _kind(sentence: str) -> str:
    """Return the kind of a sentence; "" if it is not selected."""
    plain = sentence.replace("’", "'")
    if not MIN_CHARACTERS <= len(plain) <= MAX_CHARACTERS or plain.endswith(("?", ":", ",")):
        return ""
    if any(rule.search(plain) for rule in _NOT_KEPT):
        return ""
    return next((kind for kind, phrases in _KINDS if phrases.search(plain)), "")
