"""Whether a text states something: what the gate asks of a short text in place of a length (rule 1, L1).

A statement has at least two things to remember: words of content, a name, a value; or one of them and who it
is about ("I'm vegan"). In scripts without spaces they are letters. What is no statement are greetings,
thanks, assent, a single word, a test, a drum on the keys, and forms without content
(:mod:`slowwave.quality.boilerplate`).
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
"""Fault of a note whose text states nothing."""

ENOUGH = 2
"""Things that a statement needs (count)."""
ENOUGH_LETTERS = 3
"""Distinct letters of a script without spaces that count as two of them, besides talk (count)."""
NO_NAMES = frozenset({"may"})
"""Words without content that are written with a capital and are no names: a month."""
GLANCE = 300
"""Characters that are looked at first: nearly every text states something in them."""
LOOKED_AT = 4_000
"""Characters in which a statement is looked for."""

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
    """Whether a text has something in it to remember.

    Args:
        text: content of a note.
        title: its title if a person or an assistant gave one: it names what the text is about, so the text
            has to bring one thing of its own only.
    """
    titled = bool(title) and _things(title, 1) >= 1
    asked = 1 if titled else ENOUGH
    return _things(text or "", asked) >= asked and not is_boilerplate(text or "", titled=titled)


def only_asks(text: str) -> bool:
    """Whether every sentence of a text is a question; a sentence ends with a mark and a space, or the line.

    Args:
        text: as somebody wrote it.
    """
    said = [one.strip() for one in _SENTENCE_END.split(text) if one.strip(_QUOTES)]
    return bool(said) and all(one.rstrip(_QUOTES).endswith(_ASKING) for one in said)


def _things(text: str, wanted: int) -> int:
    """Distinct things to remember in a text, up to `wanted`."""
    found = 0
    for looked_at in (text[:GLANCE], text[:LOOKED_AT])[: 1 + (len(text) > GLANCE)]:
        folded = unicodedata.normalize("NFKC", looked_at)
        found = max(found, _letters(folded))
        if found >= wanted or (found := _words(folded, wanted, found)) >= wanted:
            return wanted
    return found


def _words(text: str, wanted: int, letters: int) -> int:
    """The same of what its words come to, beside its letters of scripts without spaces."""
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
            elif says := _says(word):
                things.add(says)
            elif piece[0].isupper() and word in _NAMES and not is_function_word(word):
                named = True  # Ada is a name, and a word of Malay
            subject = (
                subject
                or word.split("'")[0] in SUBJECTS
                or (word in LEFT_OUT and not text[: match.start()].strip())
            )
            carried = carried or word in CARRYING
            greeted = greeted or word in GREETINGS
        if letters + len(things) + bool(things and (numbers or subject or named)) >= wanted:
            return wanted
    said = letters + len(things)
    if said == 0:
        return numbers + (subject or named) if numbers else 0
    return said + (numbers or subject or named or (carried and not greeted))


def _letters(text: str) -> int:
    """What the letters of scripts without spaces come to, as things."""
    if text.isascii():
        return 0
    said = "".join(_ALONE.findall(_PHRASES.sub(" ", text)))
    if not said:
        return 0
    distinct = {letter for letter in said if unicodedata.category(letter) == "Lo"} - _FUNCTION_LETTERS
    about = bool(_SUBJECT_LETTERS & set(said))
    return ENOUGH if len(distinct) + about >= ENOUGH_LETTERS else min(len(distinct), 1)


def _says(word: str) -> str:
    """What a word counts as; empty if it is one of talk or no word at all."""
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
    """Whether a word is fingers on a keyboard: one letter again and again, a run of keys, no vowel."""
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
