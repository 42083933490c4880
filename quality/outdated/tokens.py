"""Tokens of a sentence: values of each kind, content words, and words of change (rule 3.12)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from slowwave.quality.divergence.lexicon import FOREIGN_WORDS, FUNCTION_WORDS, NEGATIONS, word_key
from slowwave.quality.divergence.lexicon_numbers import CARDINALS, MONTHS, WEEKDAY_KEYS
from slowwave.scoring.wordlists import lines, words

_LETTERS = re.compile(r"[^\W\d_]+")


def _tables() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = defaultdict(set)
    for line in lines("slowwave.quality", "changing"):
        name, _, rest = line.partition(":")
        table[name].update(rest.split())
    return {name: frozenset(words) for name, words in table.items()}


TABLES: Final = _tables()


def _by_word(table: str, place: int) -> dict[str, list[list[str]]]:
    """Return the phrases of a table by their word at a place."""
    phrases = [phrase.split("+") for phrase in TABLES[table]]
    return {word: [one for one in phrases if one[place] == word] for word in {one[place] for one in phrases}}


_FORMER: Final = _by_word("former", -1)
PHRASES: Final = _by_word("phrases", 0)


def _named(table: str, known: Mapping[str, Any]) -> dict[str, Any]:
    """Return names with what they mean, those of other languages like those of English."""
    pairs = (entry.split("=") for entry in TABLES[table])
    return {**known, **{name: known[english] for name, english in pairs}}


DAY_KEYS: Final[dict[str, str]] = _named("day", WEEKDAY_KEYS)
MONTH_KEYS: Final[dict[str, int]] = _named("month", MONTHS)
MONTH = "(?:" + "|".join(sorted(MONTH_KEYS, key=len, reverse=True)) + r")\b\.?"
_TOKEN = re.compile(
    rf"""
      (?P<iso>\b\d{{4}}-\d\d-\d\d\b)
    | (?P<date>(?=[^\W\d_]+\.?\s+\d)\b{MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s+\d{{4}})?\b
        | \b\d{{1,2}}(?:st|nd|rd|th)?\.?\s+(?:(?:of|de)\s+)?{MONTH}(?:,?\s+\d{{4}}\b)?)
    | (?P<clock>\b\d{{1,2}}(?::\d\d)?\s*[ap]\.?m\b\.? | \b\d{{1,2}}:\d\d\b)
    | (?P<version>\bv?\d+(?:\.\d+){{2,}}\b | \bv\d+(?:\.\d+)*\b)
    | (?P<number>(?<![\w.,/-])[$€£]?\d+(?:[.,]\d{{3}})*(?:[.,]\d+)?(?![\d/]|[-–]\d))
      (?P<unit>\s?(?:%|°\w?)|[a-z]{{1,4}}\b)?
    | (?P<word>[^\W\d_][\w'’]*)
    | (?P<mark>[,;:()"“”=])
    """,
    re.VERBOSE | re.IGNORECASE,
)


_CUES: Final = frozenset().union(
    *(TABLES[name] for name in ("verbs", "now", "new", "reached", "change", "after"))
)
CHANGES: Final = _CUES.union(TABLES["since"], _FORMER, (one.split("+")[-1] for one in TABLES["phrases"]))
"""Words of change; a text with none of them says of no value that it is new."""
_FUNCTION: Final = frozenset().union(
    *(FUNCTION_WORDS, FOREIGN_WORDS, NEGATIONS, TABLES["to"], TABLES["idle"]),
    words("slowwave.scoring", "function"),
)
GENERAL: Final = frozenset(map(word_key, TABLES["general"]))
"""Keys of words that name no subject by themselves."""
FORMERLY: Final = frozenset(map(word_key, ("old", "former", "previous")))
"""Keys of words that name an earlier one of two things."""
IGNORED: Final = _FUNCTION | _CUES
"""Words that say nothing about what a value belongs to."""
_PLACING: Final = TABLES["to"] | {"in", "from", "at", "of"}
_RELATIVE: Final = frozenset({"last", "next", "this", "letzten", "nächsten"})


@dataclass(slots=True)
class ValueToken:
    """Word, value or mark of a sentence.

    Attributes:
        low: Its text in lower case.
        key: By which a content word is compared; empty for others.
        value: Normalised; empty for a word that is no value.
        is_possessive: Whether it ends with 's.
        ends: Last word of a phrase that says that what follows no longer holds: the phrase; else empty.
    """

    kind: str
    text: str
    low: str = ""
    key: str = ""
    value: str = ""
    unit: str = ""
    ends: str = ""
    is_capital: bool = False
    is_possessive: bool = False


def tokens_of(sentence: str) -> list[ValueToken]:
    """Return the tokens of a sentence."""
    tokens: list[ValueToken] = []
    for match in _TOKEN.finditer(sentence):
        kind = match.lastgroup or ""
        text = match[0]
        if kind == "word":
            token = _word(text, tokens)
        elif kind == "mark":
            token = ValueToken("mark", text, text)
        elif kind in {"number", "unit"}:
            unit = (match["unit"] or "").strip().casefold()
            number = match["number"]
            if number[0] in "$€£":
                unit, number = number[0], number[1:]
            token = ValueToken("number", text, text.casefold(), value=_number(number), unit=unit)
        else:
            kind = "date" if kind == "iso" else kind
            token = ValueToken(kind, text, text.casefold(), value=_normal(kind, text))
        tokens.append(token)
        if token.low in _FORMER:
            token.ends = _former_phrase(tokens)
        if token.low in TABLES["not"] and len(tokens) > 1 and tokens[-2].text == ",":
            token.ends = "not"  # "on Tuesday, not Monday"
    return tokens


def _former_phrase(tokens: Sequence[ValueToken]) -> str:
    """Return a phrase of former values that the tokens end with; empty without one."""
    for phrase in _FORMER[tokens[-1].low]:
        if [token.low for token in tokens[-len(phrase) :]] == phrase:
            return " ".join(phrase)
    return ""


def _word(text: str, before: Sequence[ValueToken]) -> ValueToken:
    full = text.casefold().replace("’", "'")
    if full in DAY_KEYS and not (before and before[-1].low in _RELATIVE):
        return ValueToken("weekday", text, full, value=DAY_KEYS[full])
    if full in CARDINALS and full not in {"one", "hundred", "twice"}:
        return ValueToken("number", text, full, value=str(CARDINALS[full]))
    low = full.removesuffix("'s")
    if low in _FUNCTION:
        return ValueToken("function", low, low)
    token = ValueToken("word", low, low, is_capital=text[0].isupper(), is_possessive=low != full)
    if low not in _CUES and len(low) > 1:
        token.key = word_key(low)
    if token.is_capital and before and not text.isupper():
        token.kind = "name"
        if before[-1].low in _PLACING or is_former(before, len(before)):
            token.value = low
    return token


def _number(text: str) -> str:
    plain = re.sub(r"[.,](?=\d{3}(?!\d))", "", text).replace(",", ".")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def _normal(kind: str, text: str) -> str:
    low = text.casefold()
    if kind == "clock":
        hour, minute = [*re.findall(r"\d+", low), "0"][:2]
        late = "p" in low and int(hour) < 12
        return f"{int(hour) % 24 + 12 * late}:{int(minute)}"
    if kind == "date":
        iso = re.fullmatch(r"\d{4}-(\d\d)-(\d\d)", low)
        if iso:
            return f"{int(iso[1])}-{int(iso[2])}"
        month = next((MONTH_KEYS[word] for word in _LETTERS.findall(low) if word in MONTH_KEYS), 0)
        day = re.search(r"\b\d{1,2}(?!\d)", low)
        return f"{month}-{int(day[0]) if day else 0}"
    return low


def is_former(tokens: Sequence[ValueToken], at: int) -> bool:
    """Whether words before a token say that it no longer holds; "from" has to be next to it."""
    return bool(at and tokens[at - 1].ends) or any(
        token.ends not in {"", "from"} for token in tokens[max(0, at - 3) : max(0, at - 1)]
    )
