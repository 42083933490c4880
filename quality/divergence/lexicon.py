"""Word lists of the divergence guard: general linguistics, no domain vocabulary.

A word is *function* (ignored), *light* (counts only if exchanged for another of its group: on/off, he/she,
must/may), a *negation*, or *content*. Content words are compared by a key: the Snowball stem after
normalising irregular forms, British spelling and everyday synonyms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

from py_rust_stemmers import SnowballStemmer  # type: ignore[import-untyped]

from slowwave.scoring.wordlists import lines, words

_STEMMERS: dict[str, Callable[[str], str]] = {
    name: SnowballStemmer(name).stem_word for name in ("english", "russian", "greek", "arabic")
}


_ROOM = "slowwave.quality"


def _words(name: str) -> frozenset[str]:
    return frozenset(words(_ROOM, name))


ENGLISH_WORDS = _words("compared_english")
FUNCTION_WORDS = ENGLISH_WORDS | _words("compared_others")

FOREIGN_WORDS = _words("compared_foreign")

NEGATIONS = _words("negations")
NEGATIONS_UNSPACED = lines(_ROOM, "negations_unspaced")
_IRREGULAR = words(_ROOM, "irregular")
_SPELLING = words(_ROOM, "spelling")
_SYNONYMS = words(_ROOM, "synonyms")
_DEMONYMS = words(_ROOM, "demonyms")


def _table(entries: Iterable[str]) -> dict[str, str]:
    return {
        form: head
        for entry in entries
        for head, _, forms in [entry.partition(":")]
        for form in forms.split(",")
    }


_FORMS = _table(_IRREGULAR) | _table(_SPELLING)
# Irregular forms, and verb forms that can only be past tense.
IRREGULAR_FORMS = frozenset(_table(_IRREGULAR))
PAST = _words("past")
DEGREES = {
    **dict.fromkeys(("better", "worse", "bigger"), "comparative"),
    **dict.fromkeys(("best", "worst", "biggest"), "superlative"),
}


def _stem(word: str) -> str:
    first = ord(word[0])
    if first < 0x250:
        return _STEMMERS["english"](word)
    if 0x370 <= first < 0x400:
        return _STEMMERS["greek"](word)
    if 0x400 <= first < 0x530:
        return _STEMMERS["russian"](word)
    if 0x600 <= first < 0x700:
        return _STEMMERS["arabic"](word)
    return word


def _spelled(word: str) -> str:
    word = _FORMS.get(word, word)
    if len(word) > 6:
        for british in ("isation", "ise", "ised", "ising", "lyse", "lysed", "lysing"):
            if word.endswith(british):
                return word[: -len(british)] + british.replace("s", "z")
        for british in ("lled", "lling", "ller"):
            if word.endswith(british):
                return word[: -len(british)] + british[1:]
    return word


_SYNONYM_STEMS = {
    _stem(form): _stem(_spelled(head)) for form, head in _table(_SPELLING + _SYNONYMS + _DEMONYMS).items()
}


def stem_key(word: str) -> str:
    """Return the key of a folded word without synonyms: one key for all forms of a verb."""
    return _stem(_FORMS.get(base, base)) if (base := _spelled(word)) else word


@lru_cache(maxsize=65_536)
def word_key(word: str) -> str:
    """Return the key by which a folded content word is compared."""
    stem = stem_key(word)
    return _SYNONYM_STEMS.get(stem, stem)


_LONG = 7  # shorter words become other words: untied and united, silver and sliver


def mistyped(first_word: str, second_word: str) -> bool:
    """Whether two long words differ by swapped neighbours or one doubled letter.

    A doubled consonant before an ending is no typo, because it makes another word (scraping, scrapping).
    """
    if (
        first_word[:1] != second_word[:1]
        or first_word[-1:] != second_word[-1:]
        or min(len(first_word), len(second_word)) < _LONG
    ):
        return False
    at = next((at for at, (a, b) in enumerate(zip(first_word, second_word, strict=False)) if a != b), -1)
    if len(first_word) == len(second_word):
        turned = (
            first_word[:at] + first_word[at + 1 : at + 2] + first_word[at : at + 1] + first_word[at + 2 :]
        )
        return (turned == second_word and len(first_word) > _LONG) or (
            turned == second_word and {*first_word[at : at + 2]} == {"e", "i"}
        )
    short, long = sorted((first_word, second_word), key=len)
    doubled = long[:at] + long[at + 1 :] == short and long[at] == long[at - 1]
    return doubled and not long.endswith(("ing", "ed", "er", "ers", "ings", "erts"))
