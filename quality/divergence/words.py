"""Kinds and comparison keys of words, numbers, units and times."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal, localcontext
from functools import lru_cache

from slowwave.quality.divergence.lexicon import FUNCTION_WORDS, NEGATIONS, word_key
from slowwave.quality.divergence.lexicon_numbers import (
    CARDINALS,
    MONTHS,
    ORDINALS,
    SCALES,
    UNITS,
    WEEKDAY_KEYS,
)  # fmt: skip
from slowwave.quality.divergence.lexicon_small import LIGHT

_TIMES = {"noon": "t:12:00", "midnight": "t:0:00"}


@lru_cache(maxsize=65_536)
def classified(folded: str) -> tuple[str, str]:
    """Return the kind of a word and its key."""
    if folded in NEGATIONS:
        return "negation", ""
    if folded in MONTHS:
        return "month", f"m:{MONTHS[folded]}"
    if folded in LIGHT:
        return "light", ":".join(LIGHT[folded])
    if folded in FUNCTION_WORDS:
        return "function", ""
    if folded in WEEKDAY_KEYS:
        return "date", "wd:" + WEEKDAY_KEYS[folded]
    if folded in ORDINALS:
        return "number", f"o:{ORDINALS[folded]}"
    if folded in _TIMES:
        return "time", _TIMES[folded]
    return "content", "w:" + word_key(folded)


def unit_of(written: str) -> tuple[str, Decimal]:
    """Return base unit and factor.

    Capitals count where they make another unit: mW and MW, Mb and MB.
    """
    if re.fullmatch(r"M(?:W|V|A|Pa|g|m|l|s|N|J)", written) or re.fullmatch(r"[kMGT]i?b", written):
        return written, Decimal(1)
    return UNITS[written.casefold()]


def is_camel(written: str) -> bool:
    """Whether a word is written in camelCase."""
    return written[1:] != written[1:].lower() and not written.isupper()


def plain_digits(digits: str) -> str:
    """Remove thousands separators from digits; "3.10" stays, it may be a version."""
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", digits):
        return digits.replace(",", "")
    return digits


def spelled_value(words: Iterable[str]) -> int:
    """Return the number that cardinals name: "two hundred and five" is 205."""
    value = 0
    for word in words:
        value = max(value, 1) * 100 if word == "hundred" else value + CARDINALS.get(word, 0)
    return value


def quantity_key(digits: str, scale: str | None, unit: str | None) -> str:
    """Return the key of a number in its base unit, if the conversion is certain."""
    if not scale and not unit:
        return digits
    base, factor = unit_of(unit) if unit else ("", Decimal(1))
    if scale:
        factor *= SCALES[scale.casefold()]
    if len(digits) > 24 or digits.count(".") > 1 or "," in digits:
        return f"{digits}{factor}{base}"
    with localcontext() as context:
        context.prec = 60
        return format((Decimal(digits) * factor).normalize(), "f") + base


def clock_key(written: str) -> str:
    """Return the key of a time of day in 24-hour form."""
    numbers = [int(number) for number in re.findall(r"\d+", written)]
    folded = written.casefold()
    if "p" in folded and numbers[0] < 12:
        numbers[0] += 12
    if "a" in folded and numbers[0] == 12:
        numbers[0] = 0
    if len(numbers) == 1:
        numbers.append(0)
    while len(numbers) > 2 and numbers[-1] == 0:
        numbers.pop()
    return "t:" + ":".join(f"{number:02}" if at else str(number) for at, number in enumerate(numbers))
