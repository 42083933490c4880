"""Statement check: whether a text has something to remember (rule 1, L2).

A statement has at least two items: content words, names or values; or one of them and its subject ("I'm
vegan"). In scripts without spaces the items are letters. Greetings, thanks, assent, a single word, a test,
random keys and forms without content (:mod:`slowwave.quality.boilerplate`) are no statements.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise

from slowwave.quality._lexicons import FUNCTION_WORDS, KEY_ROWS, LOREM_WORDS, VOWELS
from slowwave.quality._social import (
    CARRYING,
    CONTENT_TOO,
    GREETINGS,
    LEFT_OUT,
    SOCIAL_PHRASES,
    SOCIAL_WORDS,
    SUBJECTS,
)
from slowwave.quality.boilerplate import is_boilerplate
from slowwave.scoring.ranking.words import is_function_word

NO_STATEMENT = "no_statement"
"""Fault of a text without a statement."""

ENOUGH = 2
"""Minimum items of a statement (count)."""
ENOUGH_LETTERS = 3
"""Distinct letters of a script without spaces that count as two items, social phrases aside (count)."""
NO_NAMES = frozenset({"may"})
"""Capitalised function words that are no names: a month."""
GLANCE = 300
"""Characters checked first: nearly every text states something in them."""
LOOKED_AT = 4_000
"""Maximum checked characters."""

# Letters of scripts without spaces: Thai, Lao, Myanmar, Khmer; kana; ideographs.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_ALONE = re.compile(rf"[{_UNSPACED}]+")
_WORD = re.compile(
    rf"(?:(?![{_UNSPACED}])[\w@])(?:(?![{_UNSPACED}])[\w'’@.+/:\-\u0300-\u036f\u0900-\u0dff])*"
)
_PIECE = re.compile(r"[^\W_]+(?:['’\u0300-\u036f\u0900-\u0dff][^\W_]*)*")
_ADDRESS = re.compile(r"(?i)\A(?:https?://|www\.)\S+\.\S+|[\w.+-]+@[\w-]+\.\w|(?:[\w.~-]*/){2,}[\w.-]+\Z")
_PHRASES = re.compile(
    "|".join(
        re.escape(unicodedata.normalize("NFKC", one)) for one in sorted(SOCIAL_PHRASES, key=len, reverse=True)
    )
)
_FUNCTION_LETTERS = frozenset(
    "的是了在和就都而及与着或一个没有我们你们他她它这那因为所以但不也之其把被很吗呢吧啊嘛哦のはがをにでとへもやねよかなた"
)
_SUBJECT_LETTERS = frozenset("我他她私僕俺彼")
_NAMES = FUNCTION_WORDS - NO_NAMES
_ASKING = ("?", "？", "؟")
_QUOTES = " \"'”’»)*_`"
_SENTENCE_END = re.compile(r"(?<=[.!?。！？؟…])[\"'”’»)*_`]*\s+|(?<=[。！？])|\n+")
_LONGEST_REMEMBERED = 32
_REMEMBERED = 1 << 15


def states_something(text: str | None, *, title: str = "") -> bool:
    """Whether a text has something to remember.

    Args:
        text: content of a note.
        title: its title if a person or an assistant set it: it names the subject, so the text needs only one
            item.
    """
    titled = bool(title) and _things(title, 1) >= 1
    needed = 1 if titled else ENOUGH
    return _things(text or "", needed) >= needed and not is_boilerplate(text or "", titled=titled)


def only_asks(text: str) -> bool:
    """Whether every sentence of a text is a question.

    A sentence ends with a mark and a space, or with the line.
    """
    sentences = [sentence.strip() for sentence in _SENTENCE_END.split(text) if sentence.strip(_QUOTES)]
    return bool(sentences) and all(sentence.rstrip(_QUOTES).endswith(_ASKING) for sentence in sentences)


def _things(text: str, wanted: int) -> int:
    """Count the distinct items of a text, up to `wanted`."""
    count = 0
    for looked_at in (text[:GLANCE], text[:LOOKED_AT])[: 1 + (len(text) > GLANCE)]:
        folded = unicodedata.normalize("NFKC", looked_at)
        count = max(count, _letters(folded))
        if count >= wanted or (count := _words(folded, wanted, count)) >= wanted:
            return wanted
    return count


def _words(text: str, wanted: int, letters: int) -> int:
    """Count the items among words, added to the letters of scripts without spaces."""
    things: set[str] = set()
    numbers = subject = carried = greeted = named = False
    for match in _WORD.finditer(text):
        token = match[0].strip("'’.:/-+_")
        if _ADDRESS.search(token):
            return wanted
        for piece in _PIECE.findall(token):
            word = piece.replace("’", "'").casefold()
            if word.isdecimal():
                numbers = True
            elif item := _says(word):
                things.add(item)
            elif piece[0].isupper() and word in _NAMES and not is_function_word(word):
                named = True  # Ada is a name, and also a Malay word
            subject = (
                subject
                or word.split("'")[0] in SUBJECTS
                or (word in LEFT_OUT and not text[: match.start()].strip())
            )
            carried = carried or word in CARRYING
            greeted = greeted or word in GREETINGS
        if letters + len(things) + bool(things and (numbers or subject or named)) >= wanted:
            return wanted
    count = letters + len(things)
    if count == 0:
        return numbers + (subject or named) if numbers else 0
    return count + (numbers or subject or named or (carried and not greeted))


def _letters(text: str) -> int:
    """Count the items among letters of scripts without spaces."""
    if text.isascii() or _ALONE.search(text) is None:
        return 0
    letters = "".join(_ALONE.findall(_PHRASES.sub(" ", text)))
    if not letters:
        return 0
    distinct = {letter for letter in letters if unicodedata.category(letter) == "Lo"} - _FUNCTION_LETTERS
    has_subject = bool(_SUBJECT_LETTERS & set(letters))
    return ENOUGH if len(distinct) + has_subject >= ENOUGH_LETTERS else min(len(distinct), 1)


def _says(word: str) -> str:
    """Return the item of a word; empty for social words and non-words."""
    return _known(word) if len(word) <= _LONGEST_REMEMBERED else word


@lru_cache(maxsize=_REMEMBERED)
def _known(word: str) -> str:
    stem = word.removesuffix("'s").replace("'", "")
    if len(stem) < 2 or word in SOCIAL_WORDS or stem in SOCIAL_WORDS or word in LOREM_WORDS:
        return ""
    if is_drummed(stem) or ((word in FUNCTION_WORDS or stem in FUNCTION_WORDS) and word not in CONTENT_TOO):
        return ""
    return stem


def is_drummed(word: str) -> bool:
    """Whether a word is random keys: one letter repeated, a run of keys, no vowel."""
    size = len(word)
    distinct = len(set(word))
    if distinct == 1 or (size >= 5 and distinct <= 2) or (size >= 6 and word in (word + word)[1:-1]):
        return True
    if size < 3 or not word.isalpha():
        return False
    steps = [_KEYS.get(a, 0) - _KEYS.get(b, 0) if a in _KEYS and b in _KEYS else 9 for a, b in pairwise(word)]
    if set(steps) in ({1}, {-1}) or (size >= 4 and {abs(step) for step in steps} == {1}):
        return True
    latin = word.isascii()
    return latin and size >= 5 and not set(word) & VOWELS


_KEYS = {
    key: 100 * row + place
    for row, keys in enumerate(KEY_ROWS)
    for place, key in reversed(list(enumerate(keys)))
}
