"""Kinds of identifiers by the noun or the code before a number (rule 3.11).

"Ticket 4821" and INC-4821 are one kind. An order with the same number is another matter.
"""

from __future__ import annotations

import re
from typing import Final

from slowwave.scoring.ranking.words import FUNCTION_ELSEWHERE, FUNCTION_WORDS
from slowwave.scoring.wordlists import lines, words

NUMBER_WORD: Final = (
    r"(?:number|numbers|num|no|nos|nr|n°|id|ids|code|ref|key|nummer|numero|numéro|número|番号|编号|号|رقم|"
    r"संख्या|नंबर)"
)
"""Pattern of a word that only says that a number follows."""
ANY_KIND: Final = 0
"""Group that goes with every other."""
_KINDS = [line.split() for line in lines("slowwave.scoring", "identifier_kinds")]
_PLACES = [line.split() for line in lines("slowwave.scoring", "identifier_places")]
_GROUPS = _KINDS + _PLACES
_GROUP_OF: dict[str, int] = {}
for _at, _nouns in enumerate(_GROUPS):
    for _noun in _nouns:
        _GROUP_OF.setdefault(_noun, _at)
COUNTED: Final = frozenset(
    _GROUP_OF[word] for word in ("ticket", "pr", "room", "locker", "platform", "flat", "gate")
)
"""Groups of nouns with short numbers."""
ROOMS: Final = _GROUP_OF["room"]
"""Group of a noun with a number of floor and room (3.07)."""
SEATED: Final = _GROUP_OF["seat"]
"""Group of a noun that is a verb before an amount."""
_ANY_CODE = frozenset(_GROUP_OF[word] for word in ("ticket", "flight", "room"))
_CODES: dict[str, set[int]] = {}
for _noun, *_codes in map(str.split, lines("slowwave.scoring", "identifier_codes")):
    for _code in _codes:
        _CODES.setdefault(_code, set()).add(_GROUP_OF[_noun])
_FUNCTION = FUNCTION_ELSEWHERE | FUNCTION_WORDS
_WITHOUT_SPACES = re.compile("[\u3040-\u30ff\u3400-\u9fff]")


def _either(nouns: list[str]) -> str:
    """Return the pattern of any of some nouns, longest first."""
    return "|".join(re.escape(noun).replace(r"\-", r"[\s-]") for noun in sorted(nouns, key=len, reverse=True))


KIND: Final = _either([noun for noun in _GROUP_OF if not _WITHOUT_SPACES.search(noun)])
"""Pattern of a noun between spaces."""
JOINED_KIND: Final = _either([noun for noun in _GROUP_OF if _WITHOUT_SPACES.search(noun)])
"""Pattern of a noun of a script without spaces."""
PLACE: Final = _either([noun for nouns in _PLACES for noun in nouns])
"""Pattern of a place that a short code names one of."""
PRODUCTS: Final = {
    name: tuple(line.split())
    for line in lines("slowwave.scoring", "identifier_products")
    for name in line.split()
}
"""Names of each product, by each of them."""
PRODUCT: Final = _either(list(PRODUCTS))
"""Pattern of the name of a product."""
_PRODUCT = re.compile(rf"(?<![^\W\d_])(?:{PRODUCT})(?![^\W\d_])", re.IGNORECASE)
_AND = _either([*words("slowwave.scoring", "identifier_lists")])
_VERSIONS = re.compile(rf"[\W_]*(?:version|release|v)?[\W_]*(?:v?\d+(?:[\W_]|{_AND})+)*v?", re.IGNORECASE)
BETWEEN_LISTED: Final = rf"(?:\s?[,;/&+、，]\s?#?|,?\s?(?<![^\W\d])(?:{_AND})(?![^\W\d])\s?#?|\s[-–]\s)"
"""Pattern between two numbers of a list."""
_LISTED = re.compile(rf"(?:\d{{2,}}{BETWEEN_LISTED})+$", re.IGNORECASE)
_NUMBER_BEFORE = re.compile(rf"(?<![^\W\d]){NUMBER_WORD}[\W_]{{0,3}}$", re.IGNORECASE)


def group_of(word: str) -> int | None:
    """Return the group of a lower-case noun, singular or plural; None for any other word."""
    if word.endswith("nummer"):
        return ANY_KIND
    singulars = (word.removesuffix(ending) for ending in ("", "s", "n", "en", "e"))
    group = next((_GROUP_OF[noun] for noun in singulars if noun in _GROUP_OF), None)
    if group is None and _WITHOUT_SPACES.search(word):  # a clause is one word there
        return next((_GROUP_OF[word[at:]] for at in range(len(word)) if word[at:] in _GROUP_OF), None)
    return group


def singular(noun: str) -> str:
    """Return a noun of a question as the list has it."""
    word = re.sub(r"\s", "-", noun)
    return word if word in _GROUP_OF else word.removesuffix("s")


def is_noun(word: str) -> bool:
    """Whether a lower-case word is a listed noun, in the singular."""
    return word in _GROUP_OF


def is_code(word: str) -> bool:
    """Whether a lower-case word is a usual code before a number, and no function word."""
    return word in _CODES and word not in _FUNCTION


def is_foreign_function(word: str) -> bool:
    """Whether a lower-case word is a function word of a language other than English."""
    return word in FUNCTION_ELSEWHERE and word not in FUNCTION_WORDS


def may_be_code(word: str) -> bool:
    """Whether a lower-case word may be a code of tickets before a number."""
    return word not in _FUNCTION and group_of(word) is None


def is_of_kind(code: str, group: int | None) -> bool:
    """Whether a lower-case code stands for a group of nouns: INC for tickets, K for Kunde.

    A project of a tracker has any letters, so an unlisted code may be a ticket's.
    """
    if group in (None, ANY_KIND):
        return True
    if (listed := _CODES.get(code)) is not None:
        return group in listed
    return group in _ANY_CODE or any(_abbreviates(code, noun) for noun in _GROUPS[group or 0])


def head_of_list(before: str, size: int) -> str:
    """Return the text before a number without earlier numbers of its list.

    Args:
        before: Text before the number.
        size: Digits of the number; those of a list have about as many.
    """
    match = _LISTED.search(before)
    if match and all(abs(len(one) - size) <= 1 for one in re.findall(r"\d+", match[0])):
        return before[: match.start()]
    return before


def without_number_word(before: str) -> str:
    """Return the text before a number without a word that only says that one follows."""
    match = _NUMBER_BEFORE.search(before)
    return before[: match.start()] if match else before


def is_after_another(products: tuple[str, ...], before: str) -> bool:
    """Whether a text ends in the name of another product and perhaps its other versions.

    Args:
        products: Lower-case names of the product.
        before: Text before a version.
    """
    *_, last = [None, *_PRODUCT.finditer(before)]
    if last is None or last[0].lower() in products or before.lower().rstrip(" v=-").endswith(products):
        return False
    return _VERSIONS.fullmatch(before, last.end()) is not None


def _abbreviates(code: str, noun: str) -> bool:
    """Whether a noun has the letters of a code in order, the first one first."""
    letters = iter(noun)
    return noun[:1] == code[:1] and all(letter in letters for letter in code)
