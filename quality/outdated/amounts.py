"""Amounts and times of a sentence in one spelling (rule 3.12)."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from typing import Final

from slowwave.quality.divergence.lexicon_numbers import CARDINALS
from slowwave.quality.outdated.scope_words import NUMBERS, SCOPE

SCALES: Final = {word: int(number) for word, number in NUMBERS["scale"].items()}
WORDS: Final = {
    **{word: number for word, number in CARDINALS.items() if word not in {"one", "twice", "thrice"}},
    **{word: int(number) for word, number in NUMBERS["cardinal"].items()},
}
"""Number words with their numbers; "one" counts only before "thousand" and the like."""
_HOUR = "|".join(sorted(map(re.escape, SCOPE["hour"]), key=len, reverse=True))
_SPACES = r".,'’\ \u202f\u00a0"  # between thousands
_AMOUNT = re.compile(
    rf"""(?P<hour>\d{{1,2}})(?:[:.h](?P<minute>\d\d))?\s?
        (?:(?P<half>[ap])\.?m\b\.?|(?:{_HOUR})\b(?:\s?(?P<late>\d\d)\b)?)
    |(?P<clock>\d{{1,2}}[:h]\d\d)\b(?:\s(?:{_HOUR})\b)?
    |(?P<number>(?:\d{{1,3}}(?:[{_SPACES}]\d{{3}}(?!\d))+|\d+)(?:[.,]\d+)?)
        (?:\s?(?P<scale>{"|".join(SCALES)})(?!\w))?
    |(?P<word>[^\W\d_]+)(?:\s(?P<times>{"|".join(one for one in SCALES if len(one) > 1)})\b)?""",
    re.VERBOSE,
)


@lru_cache(maxsize=2_048)
def amounts_of(lowered: str) -> tuple[str, ...]:
    """Return the numbers and times of a sentence in lower case, each in one spelling."""
    return tuple(filter(None, map(_amount, _AMOUNT.finditer(lowered))))


def _amount(match: re.Match[str]) -> str:
    if match["hour"]:
        late = 12 if match["half"] == "p" and int(match["hour"]) < 12 else 0
        return _time(int(match["hour"]) + late, match["minute"] or match["late"] or "0")
    if match["clock"]:
        return _time(*match["clock"].replace("h", ":").split(":"))
    if match["number"]:
        plain = re.sub(rf"[{_SPACES}](?=\d{{3}}(?!\d))", "", match["number"]).replace(",", ".")
        scale = SCALES.get(match["scale"] or "", 1)
        return str(Decimal(plain)) if scale == 1 else f"{(Decimal(plain) * scale).normalize():f}"
    number = 1 if match["word"] in {"one", "a"} and match["times"] else WORDS.get(match["word"])
    return "" if number is None else str(number * SCALES.get(match["times"] or "", 1))


def _time(hour: int | str, minute: str) -> str:
    return f"{int(hour) % 24}:{int(minute):02}"
