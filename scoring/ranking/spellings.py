"""Fast checks before the pattern of one identifier is compiled (rule 3.11).

Compiling a pattern costs more than searching a hundred texts by it, and most identifiers are asked for once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_SEPARATORS = re.compile("[ ./:()_-]+")  # as `regrouping.BETWEEN`
AFTER = re.compile(r"(?![A-Za-z0-9]|\.\d|,\d{1,3}(?!\d))", re.IGNORECASE)
_LISTED = re.compile(r"(?<!\d)\d{4,}(?:,\d{4,})*,$")
SHORT: Final = 6
"""Maximum digits of a number that may be a group of a longer one (count)."""
LEAST_OF_GROUPS: Final = 9
"""Minimum digits of a number in groups, such as of a phone (count)."""
_GROUPS_BEFORE = re.compile(r"(?:\+|(?<!\w)\(?0|(?<!\w)[A-Z]{2}(?=\d))\d*[ ./()-]{1,2}(?:\d+[ ./()-]{1,2})*$")
_DATE = re.compile(r"(?:19|20)\d\d[-/.]\d|\d[-/.](?:19|20)\d\d")
_GROUPS_AFTER = re.compile(r"(?:[ ./()-]{1,2}\d{2,})+")
LOOKED_BACK = 64  # characters before a number
_LONGER = re.compile(r"[A-Za-z0-9]", re.IGNORECASE)


def may_have_letters(letters: str, plain: str) -> bool:
    """Whether a text may have these lower-case letters in any case; a text of other scripts may."""
    return not plain.isascii() or letters in plain.lower().replace("-", "")


def may_be_regrouped(characters: str, plain: str) -> bool:
    """Whether a text may have these lower-case characters in some grouping."""
    return not plain.isascii() or characters in _SEPARATORS.sub("", plain.lower())


def starts_of(number: str, plain: str) -> Iterator[int]:
    """Yield where a whole number begins in a text, with zeros before it.

    It is not a part of a longer number, nor of one with decimals.
    """
    for at, start in _occurrences(number, plain):
        before = plain[max(0, start - 2) : start]
        in_number = before[-1:].isdecimal() or (before[-1:] in (".", ",") and before[:1].isdecimal())
        if in_number and before[-1:] == "," and at + len(number) - start > 3:  # 4821,4822 is a list
            in_number = not _LISTED.search(plain, max(0, start - LOOKED_BACK), start)
        if not in_number and AFTER.match(plain, at + len(number)):
            yield start


def is_group(number: str, plain: str, start: int) -> bool:
    """Whether a number is a group of a phone number or an account.

    Such a number begins with +, 0, or a country: others in a row may be a list.

    Args:
        number: Digits, without zeros before them.
        plain: Text.
        start: Place of the number, with zeros before it.
    """
    before = _GROUPS_BEFORE.search(plain, max(0, start - LOOKED_BACK), start)
    if before is None or _DATE.search(before[0]):
        return False
    after = _GROUPS_AFTER.match(plain, plain.find(number, start) + len(number))
    others = sum(map(str.isdecimal, f"{before[0]}{after[0] if after else ''}"))
    return others + len(number) >= LEAST_OF_GROUPS


def begins_longer(number: str, plain: str) -> bool:
    """Whether a longer code in a text begins with a number, perhaps after zeros."""
    return any(
        plain[start - 1 : start] not in tuple("0123456789.,") and _LONGER.match(plain, at + len(number))
        for at, start in _occurrences(number, plain)
    )


def _occurrences(number: str, plain: str) -> Iterator[tuple[int, int]]:
    """Yield each place of a number, and that of the zeros before it."""
    at = plain.find(number)
    while at >= 0:
        start = at
        while start and plain[start - 1] == "0":
            start -= 1
        yield at, start
        at = plain.find(number, at + 1)
