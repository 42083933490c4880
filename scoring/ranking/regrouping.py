"""Identifiers in another grouping: 44772210 as 4477 2210, 4477-2210 or 44.772.210 (rule 3.11).

Phone numbers, accounts and cards are written in groups that nobody agrees on, so their characters alone
decide, with at most two separators between any two.
"""

from __future__ import annotations

import re
from typing import Final

MIN_DIGITS: Final = 7
"""Minimum digits of an identifier whose grouping does not matter (count)."""
MAX_CHARACTERS: Final = 40
"""Maximum characters of one (count); an account number has up to 34."""
MIN_CODE: Final = 5
"""Minimum characters of letters and digits whose grouping does not matter (count)."""
MIN_CODE_DIGITS: Final = 2
"""Minimum digits among them (count)."""
MIN_MIXED: Final = 6
"""The same of letters before or after a number (count)."""
MIN_MIXED_DIGITS: Final = 3
"""Minimum digits of that number (count)."""
MIN_HEX: Final = 8
"""The same if no letter is behind F, as in the beginning of a hash (count)."""
_HEX = re.compile("[0-9a-f]+")
PHONE: Final = 9  # characters from which one digit may be the first or last group: 1 800 555 2671 (count)
MAX_GROUP: Final = 12  # characters of the first and of the last group (count)
SEPARATOR: Final = "[ ./:()_-]"
"""Pattern of a character between two groups."""
BETWEEN: Final = f"{SEPARATOR}{{0,2}}"
"""Pattern of what may stand between any two characters."""
COUNTRY_CODE: Final = r"(?:1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|\d{3})"
"""Pattern of the code of a country at the beginning of a phone number."""
_ACCOUNT = re.compile(
    r"(?<![\w-])(?:[a-z]{2}\d\d(?: [a-z0-9]{4}){2,7}(?: [a-z0-9]{1,3})?|1z(?: [a-z0-9]{2,4}){4,7})(?![\w-])",
    re.IGNORECASE,
)
_ACCOUNT_DIGITS = 12  # minimum digits of an account (count)
_COUNTRY = rf"(?:(?:\+|00)\d{{1,3}}{BETWEEN}(?:\(0\))?{BETWEEN})?"
RUNS = re.compile(r"[a-z]+|\d+")


def regrouped(characters: str, code: str = "") -> str:
    """Return the lower-case characters of an identifier if its grouping does not matter; else empty.

    Args:
        characters: Digits, or letters and digits of an account such as GB29NWBK60161331926819.
        code: Letters before them.
    """
    digits = sum(map(str.isdigit, characters))
    if not code and _is_code(characters.lower(), digits):
        return characters.lower()
    least = MIN_DIGITS - len(code[:1])  # one letter stands for a digit
    if not least <= digits <= len(code) + len(characters) <= MAX_CHARACTERS:
        return ""
    is_account = digits >= _ACCOUNT_DIGITS and characters[:2].isalpha() and characters[2:4].isdigit()
    return f"{code}{characters}".lower() if digits == len(characters) or is_account else ""


def _is_code(characters: str, digits: int) -> bool:
    """Whether letters and digits make a code, not the beginning of a hash."""
    runs = RUNS.findall(characters)
    if not MIN_CODE <= len(characters) <= MAX_CHARACTERS:
        return False
    if len(runs) < 3:
        return len(runs) > 1 and digits >= MIN_MIXED_DIGITS and len(characters) >= MIN_MIXED
    is_hex = len(characters) < MIN_HEX and _HEX.fullmatch(characters) is not None
    return digits >= MIN_CODE_DIGITS and (not is_hex or 2 * len(runs) <= len(characters))


def accounts(text: str) -> list[tuple[int, int]]:
    """Return the spans of account and parcel numbers in groups."""
    spans = (match.span() for match in _ACCOUNT.finditer(text))
    return [span for span in spans if sum(map(str.isdigit, text[slice(*span)])) >= _ACCOUNT_DIGITS]


def in_groups(characters: str, leading: str = "") -> str:
    """Return the pattern of `regrouped` characters, whatever their groups.

    Neither side has more digits of the same number: 4477 2210 is not the beginning of 4477 2210 9981.

    Args:
        characters: Letters and digits.
        leading: Pattern of what a text may have before them, such as the prefix of a country.
    """
    zeros = f"(?:0{BETWEEN}){{0,2}}" if characters.isdigit() else ""
    first = r"(?<!\d[-./])" if characters[0].isdigit() else ""
    before = rf"(?<![A-Za-z0-9]){first}{_COUNTRY}{zeros}{leading}"
    return rf"{before}{BETWEEN.join(characters)}(?![A-Za-z0-9]|[-./]\d| \d{{3}})"


def edges(characters: str) -> tuple[list[str], list[str]]:
    """Return the words that the first and the last group can be; the first may begin with a 0.

    Args:
        characters: Letters and digits.
    """
    sizes = range(2, min(MAX_GROUP, len(characters) - 1) + 1)
    first = [characters[:size] for size in sizes]
    if len(characters) >= PHONE or characters[:1].isdigit() != characters[1:2].isdigit():
        first.append(characters[:1])
    if characters.isdigit():
        first += [f"0{word}" for word in first]
    last = [characters[-size:] for size in sizes]
    if len(characters) >= PHONE or characters[-2:-1].isdigit() != characters[-1:].isdigit():
        last.append(characters[-1:])
    return first, last
