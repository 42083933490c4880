"""Signal density: how much of a text says something (rule 1, L2).

A text is scored on nine parts, each in [0, 1], and the density is their product: one clear sign of junk is
enough. Most parts look at statistics that every writing system shares; the lexicons are short lists of words
that menus, licences and placeholders are made of, in some large languages.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import filterfalse
from math import log, prod, sqrt

import numpy as np
import numpy.typing as npt

from slowwave.quality._lexicons import (
    FILLER_PHRASES,
    FILLER_STEMS,
    FILLER_WORDS,
    FUNCTION_CHARACTERS,
    FUNCTION_WORDS,
    KEY_ROWS,
    LICENCE_PHRASES,
    LICENCE_WORDS,
    LOREM_WORDS,
    MENU_PHRASES,
    MENU_WORDS,
    SOFT_WORDS,
    VOWELS,
)
from slowwave.quality.notices import is_licence_notice, is_page_notice
from slowwave.quality.spelling import likeness

INSPECTED = 6_000
"""Characters that are looked at: of a longer text its beginning, middle and end, a third each."""

_ASCII_WORD = re.compile(r"[a-z]+(?:'[a-z]*)*")  # _WORD in a folded text of ASCII, in half the time
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019\u0300-\u036f\u0900-\u0903\u093a-\u094f\u0e31-\u0e4e][^\W\d_]*)*")
_LONG_TOKEN = re.compile(r"[a-z0-9+/=_-]{20,}")
_DATA = re.compile(r"data:[\w.+-]+/[\w.+-]+;base64,")
_LETTER_DIGIT = re.compile(r"(?<=[a-z])(?=[0-9])|(?<=[0-9])(?=[a-z])")
_LOG_MARK = re.compile(
    r"\d{4}[-/.]\d\d[-/.]\d\d[T _]+\d\d:\d\d|\d\d?[/.]\w{2,3}[/.]\d{2,4}[: ]\d\d:\d\d|\d\d:\d\d:\d\d"
    r"|\b1\d{9}\b|\blevel\"?[=:]"
)
_LOG_START = re.compile(
    r"\W{0,3}(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR|FATAL|CRITICAL|SEVERE)\b"
    r"|\[ *\d+\.\d+\]|[VDIWEF]/\w+"
)
_BARS = str.maketrans(dict.fromkeys("|·•›»→", "\n"))
_SEPARATOR = re.compile(r" [>/:~\-–—]+ ")
_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\n]*\)")
_NUMBER_OR_STOP = re.compile(r"\d|[.!?](?:\s|$)")
_BAR = re.compile(r"[|·•›»→]| > ")
_BULLET = re.compile(r"^[\s>#*+\-–|\d.)(\[\]]+|[\s|]+$")
_STOPS = str.maketrans(dict.fromkeys(".!?\u061f\u06d4\u0964\u3002\uff01\uff1f", "\n"))
_IDEOGRAPHS = (0x3400, 0x9FFF)
_HANGUL = (0xAC00, 0xD7A3)
_KANA = (0x3041, 0x30FF)
_SOUTH_EAST_ASIA = (0x0E00, 0x0EFF)

_Array = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class DensityParts:
    """What a density is made of; each part in [0, 1], 1 is the best.

    Attributes:
        novelty: passages that were not said before: distinct shingles, lines and sentences.
        vocabulary: distinct words for the length of the text, and compressed size.
        spelling: words that could be words: letters as uneven as in a language, vowels, no runs of keys.
        syntax: a mix of function and content words of varied lengths, as sentences have.
        encoding: share of the text outside base64, hexadecimal and other encoded data.
        prose: share of the text outside log lines.
        substance: share of the text outside placeholders and lorem ipsum.
        menu: share of the text outside menus, link lists and breadcrumbs.
        licence: share of the text outside licence notices.
    """

    novelty: float
    vocabulary: float
    spelling: float
    syntax: float
    encoding: float
    prose: float
    substance: float
    menu: float
    licence: float


_NOTHING = DensityParts(*([0.0] * 9))


def signal_density(text: str) -> float:
    """How much of a text says something, in [0, 1] (rule 1, L2).

    Real notes mostly score 0.6 and above, filler and other junk mostly 0.2 and below. Time grows with the
    length up to `INSPECTED` characters.
    """
    return float(prod(density_parts(text).values()))


def density_parts(text: str) -> dict[str, float]:
    """The parts of `signal_density` by name, each in [0, 1]; see `DensityParts`."""
    return asdict(_parts(text))


def _parts(text: str) -> DensityParts:
    seen = _inspected(text)
    folded = unicodedata.normalize("NFC", seen).casefold()
    solid = _codes("".join(folded.split()))
    if len(solid) == 0:
        return _NOTHING
    words = (_ASCII_WORD if folded.isascii() else _WORD).findall(folded)
    letters = _codes("".join(words))
    unspaced = _unspaced(letters)
    kinds = _kinds(words)
    tokens = folded.split()
    novelty, vocabulary = _novelty(folded, tokens), _vocabulary(folded, words, letters, unspaced)
    if novelty * vocabulary < 1.0 and not unspaced:
        # A reference page says the same in many places, and much besides.
        breadth = _breadth(" ".join(tokens), words)
        novelty, vocabulary = max(novelty, breadth), max(vocabulary, breadth)
    return DensityParts(
        novelty=novelty,
        vocabulary=vocabulary,
        spelling=_spelling(words, letters, solid, kinds, unspaced),
        syntax=_syntax(folded, words, letters, len(solid), kinds, unspaced) * _ordered(kinds),
        encoding=_encoding(tokens, len(solid)),
        prose=_prose(seen, kinds),
        substance=_substance(folded, letters, kinds, unspaced),
        menu=_menu(folded),
        licence=_licence(folded, words, kinds),
    )


@dataclass(frozen=True, slots=True)
class _Kinds:
    """How many words of a text are of each kind, and how many there are."""

    total: int
    function: int
    lorem: int
    vague: int
    soft: int
    legal: int
    shaped: int
    odd: int
    clustered: int


_FUNCTION, _LOREM, _VAGUE, _SOFT, _LEGAL, _SHAPED, _ODD, _CLUSTERED = (1 << bit for bit in range(8))
_REMEMBERED = 1 << 15
_LONGEST_REMEMBERED = 32


def _kinds(words: list[str]) -> _Kinds:
    # The same words come again and again, in a text and in the next one.
    kind = _kind if max(map(len, words), default=0) <= _LONGEST_REMEMBERED else _kind.__wrapped__
    tally = np.bincount(np.fromiter(map(kind, words), np.int64, len(words)), minlength=len(_BITS))
    return _Kinds(len(words), *(tally @ _BITS).tolist())


_BITS = np.array([[kinds >> bit & 1 for bit in range(8)] for kinds in range(1 << 8)])


@lru_cache(maxsize=_REMEMBERED)
def _kind(word: str) -> int:
    """What is known of a word, as bits."""
    kinds = _shape(word) if len(word) >= 4 else 0
    if word in FUNCTION_WORDS:
        kinds |= _FUNCTION
    elif word in FILLER_WORDS or word[:5] in FILLER_STEMS:
        kinds |= _VAGUE
    elif word in SOFT_WORDS:
        kinds |= _SOFT
    if word in LOREM_WORDS:
        kinds |= _LOREM
    return kinds | _LEGAL if word in LICENCE_WORDS else kinds


def _shape(word: str) -> int:
    """Whether a longer word of an alphabet that writes vowels looks like one that could be spoken."""
    shape = word.translate(_SHAPES)
    if not shape.isascii():
        return 0
    odd = "ccccc" in shape or "vvvvv" in shape or "v" not in shape
    return _SHAPED | (_ODD if odd else 0) | (_CLUSTERED if "cccc" in shape else 0)


def _inspected(text: str) -> str:
    if len(text) <= INSPECTED:
        return text
    third = INSPECTED // 3
    middle = (len(text) - third) // 2
    return "\n".join((text[:third], text[middle : middle + third], text[-third:]))


def _codes(text: str) -> _Array:
    """Code points of a text; lone surrogates are as good as any."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.int64)


def _rising(value: float, low: float, high: float) -> float:
    """0 up to `low`, 1 from `high` on, a straight line between."""
    return min(1.0, max(0.0, (value - low) / (high - low)))


def _falling(value: float, low: float, high: float) -> float:
    """1 up to `low`, 0 from `high` on, a straight line between."""
    return 1.0 - _rising(value, low, high)


def _share_between(codes: _Array, *ranges: tuple[int, int]) -> float:
    if len(codes) == 0:
        return 0.0
    highest = int(codes.max())
    inside = sum(int(((codes >= low) & (codes <= high)).sum()) for low, high in ranges if low <= highest)
    return inside / len(codes)


def _unspaced(letters: _Array) -> bool:
    """Whether the text is in a script that puts no spaces between words."""
    return _share_between(letters, _IDEOGRAPHS, _KANA, _SOUTH_EAST_ASIA) > 0.4


def _novelty(folded: str, tokens: list[str]) -> float:
    """Distinct shingles of 16 characters, and distinct sentences, weighted by their length."""
    shingles = _shingles(" ".join(tokens))
    distinct = _distinct(shingles) / len(shingles)
    sentences = [part for found in folded.translate(_STOPS).split("\n") if len(part := found.strip()) >= 8]
    said = sum(map(len, sentences))
    new = sum(map(len, set(sentences))) / said if said else 1.0
    return _rising(distinct, 0.42, 0.62) * _rising(new, 0.45, 0.65)


def _shingles(text: str) -> npt.NDArray[np.uint64]:
    hashed = _codes(text).astype(np.uint64)
    for width, factor in _SHINGLES:
        if len(hashed) <= width:
            break
        hashed = hashed[:-width] * factor + hashed[width:]
    return hashed


def _breadth(text: str, words: list[str]) -> float:
    """How much a text says in all, whatever it says again: distinct shingles and words of content."""
    known = set(words)
    content = sum(len(word) > 1 and not _kind(word) & (_FUNCTION | _VAGUE | _LOREM) for word in known)
    if content < _FEW_WORDS:
        return 0.0
    return _rising(_distinct(_shingles(text)), 900, 1800) * _rising(content, _FEW_WORDS, 45)


_FEW_WORDS = 25
_FEWEST_REPEATED = 8
_STRUCTURED = re.compile(r"[\d:`\[\]{}$<>|=/_#*-]")
REPEATED_SHARE = 0.45
"""Distinct words of a short text below which it says the same again (share)."""

# A polynomial over 16 characters, doubled in length four times.
_SHINGLES = [(width, np.uint64(pow(0x9E3779B97F4A7C15, width, 1 << 64))) for width in (1, 2, 4, 8)]


def _vocabulary(folded: str, words: list[str], letters: _Array, unspaced: bool) -> float:
    """Herdan's C (log of distinct over log of all words; of letter pairs in unspaced scripts), and zlib."""
    units: list[str] | list[int] = words
    low, high = 0.7, 0.78
    if unspaced:
        units = (letters[:-1] * 0x110000 + letters[1:]).tolist()
        low, high = 0.75, 0.84
    richness = log(len(set(units))) / log(len(units)) if len(units) >= 30 else 1.0
    if _FEWEST_REPEATED <= len(units) < 30 and len(set(units)) < REPEATED_SHARE * len(units):
        richness = 1.0 if unspaced or _STRUCTURED.search(folded) else 0.0
    size = len(folded)
    # The share of a text that is new to zlib falls with its length; below 400 characters it says little.
    packed = len(zlib.compress(folded[:8000].encode("utf-8", "surrogatepass"), 1)) / min(size, 8000)
    floor = 0.1 + 1.5 / sqrt(max(size, 400))
    packing = _rising(packed / floor, 0.75, 1.25) if size >= 400 else 1.0
    return _rising(richness, low, high) * packing


def _distinct(values: npt.NDArray[np.uint64]) -> int:
    ordered = np.sort(values)
    return 1 + int((ordered[1:] != ordered[:-1]).sum())


def _unevenness(codes: _Array) -> float:
    """Index of coincidence times the size of the alphabet: 1 for random letters, 1.4 to 2 in a language."""
    total = len(codes)
    if total < 2:
        return 1.0
    tally = np.bincount(codes)
    counts = tally[tally > 0].astype(np.float64)
    return float((counts * (counts - 1)).sum() / (total * (total - 1)) * len(counts))


def _spelling(words: list[str], letters: _Array, solid: _Array, kinds: _Kinds, unspaced: bool) -> float:
    if len(letters) < 0.3 * len(solid):
        # Tables of numbers are real, rows of symbols are not.
        alphanumeric = (len(letters) + _share_between(solid, (48, 57)) * len(solid)) / len(solid)
        return _rising(alphanumeric, 0.15, 0.4)
    size = len(letters)
    if _share_between(letters, _IDEOGRAPHS, _HANGUL) > 0.75:
        # The longer the text, the more characters come again: in any text, but sooner in a real one.
        return _rising(_unevenness(letters), 0.06 + size / 5000, 0.2 + size / 2500) if size >= 40 else 1.0
    if unspaced:
        return 1.0
    return min(_natural(letters), _natural(solid)) * _keys(letters) * _speakable(kinds) * _paired(words, size)


def _paired(words: list[str], size: int) -> float:
    """Letters that follow each other as in words; a longer text has statistics."""
    alike = likeness(words) if size <= _FEW_LETTERS else None
    return 1.0 if alike is None else _rising(alike, -0.95, -0.55)


_FEW_LETTERS = 400


def _natural(codes: _Array) -> float:
    # A short text has no letter often: measured on real texts of 50 to 10,000 characters. Of a few letters
    # hardly any comes twice, in whatever language, so they tell nothing.
    high = 1.45 - 38 / max(len(codes), 30)
    known = _rising(len(codes), *_LETTERS_THAT_TELL)
    return 1.0 - known * (1.0 - _rising(_unevenness(codes), high - 0.2, high))


_LETTERS_THAT_TELL = (20, 50)
"""Letters and digits up to which their frequencies tell nothing, and from which they tell all they can."""


def _keys(letters: _Array) -> float:
    """Runs along a row of a keyboard: share of neighbouring letters that are neighbouring keys."""
    table = _key_table()
    places = table[np.minimum(letters, len(table) - 1)]
    pairs = (places[:-1] > 0) & (places[1:] > 0)
    known = int(pairs.sum())
    if known < 20:
        return 1.0
    steps = np.abs(np.diff(places))[pairs]
    return _falling(float((steps == 1).mean()), 0.28, 0.42) * _falling(float((steps < 20).mean()), 0.68, 0.85)


@lru_cache(maxsize=1)
def _key_table() -> _Array:
    table = np.zeros(0x700, np.int64)
    for row, keys in enumerate(KEY_ROWS):
        for column, key in enumerate(keys):
            if not table[ord(key)]:
                table[ord(key)] = 100 * (row + 1) + column
    return table


def _speakable(kinds: _Kinds) -> float:
    """Longer words without four consonants in a row, in alphabets that write vowels."""
    if kinds.shaped < 5:
        return 1.0
    return _falling((kinds.odd + kinds.clustered) / 2 / kinds.shaped, 0.14, 0.3)


def _shapes() -> dict[int, str]:
    """Letters of the Latin, Greek and Cyrillic alphabets to c or v."""
    table = {}
    for code in (*range(0x61, 0x250), *range(0x370, 0x530), *range(0x1E00, 0x2000)):
        letter = chr(code)
        if letter.isalpha():
            table[code] = "v" if unicodedata.normalize("NFD", letter)[0] in VOWELS else "c"
    return table


_SHAPES = _shapes()


def _syntax(
    folded: str, words: list[str], letters: _Array, size: int, kinds: _Kinds, unspaced: bool
) -> float:
    """Neither function words alone nor content words alone: the share of the first, and word lengths."""
    if len(letters) < 40:
        return 1.0
    if unspaced:
        function = sum(map(folded.count, _FUNCTION_CHARACTERS)) / len(letters)
        grammar = _share_between(letters, (0x3041, 0x309F)) + function
        return _falling(grammar, 0.78, 0.92)
    if len(words) < 15:
        return 1.0
    lengths = np.fromiter(map(len, words), np.int64, len(words))
    spread = float(lengths.std() / lengths.mean())
    function = kinds.function / kinds.total
    varied = _rising(spread, 0.25, 0.36)
    linked = _rising(function, 0.04, 0.16)
    if len(words) > 60 or _share_between(letters, (0x21, 0x2AF), (0x370, 0x52F), (0x600, 0x6FF)) < 0.5:
        # In a longer text, or a script without a list here, word lengths say it.
        linked = max(linked, _rising(spread, 0.34, 0.46))
    # Numbers, marks and links are what lists and code have in place of function words.
    marks = size - len(letters) - sum(map(folded.count, _SENTENCE_MARKS))
    marked = _rising(marks / size, 0.05, 0.15)
    alone = _falling(function, 0.7, 0.84)
    return alone * min(1.0, 0.9 * max(linked, marked) + 0.25 * varied)


_SENTENCE_MARKS = ".,!?;:'\"…،؟。、"
_FUNCTION_CHARACTERS = frozenset(FUNCTION_CHARACTERS)


def _encoding(tokens: list[str], size: int) -> float:
    encoded = 0
    for long in (token for token in tokens if len(token) >= 20):
        if _DATA.match(long):
            encoded += len(long)
            continue
        for token in _LONG_TOKEN.findall(long):
            if len(_LETTER_DIGIT.findall(token)) >= len(token) / 14:
                encoded += len(token)
    coded = list(filter(str.isalnum, filterfalse(str.isalpha, tokens)))
    digits = sum(map(str.isdecimal, coded))
    mixed = (len(coded) - digits) / len(tokens)
    if mixed > 0.1:  # bytes in hexadecimal are often digits only
        mixed += digits / len(tokens) / 2
    return _falling(encoded / size, 0.3, 0.7) * (_falling(mixed, 0.22, 0.4) if len(tokens) >= 8 else 1.0)


def _prose(text: str, kinds: _Kinds) -> float:
    # People talk in a chat with times; programs do not.
    spoken = _rising(kinds.function / max(kinds.total, 1), 0.25, 0.4)
    if spoken == 1.0:
        return 1.0
    lines = [line for line in text.splitlines() if line and not line.isspace()]
    logged, others = 0, 0
    for line in lines:
        if _is_log_line(line):
            logged += 1
        elif (others := others + 1) >= 0.65 * len(lines):
            return 1.0
    return max(_falling(logged / len(lines), 0.35, 0.7), spoken) if logged >= 2 else 1.0


def _is_log_line(line: str) -> bool:
    head = line[:60]
    # The first look is only for speed: every mark has one of these.
    marked = (":" in head or "=" in head or "1" in head) and _LOG_MARK.search(head)
    return bool(marked or _LOG_START.match(head))


def _substance(folded: str, letters: _Array, kinds: _Kinds, unspaced: bool) -> float:
    if unspaced:
        covered = sum(len(phrase) * folded.count(phrase) for phrase in FILLER_PHRASES)
        return _falling(covered / max(len(letters), 1), 0.2, 0.36)
    if kinds.total < 6:
        return 1.0
    content = kinds.total - kinds.function
    # In a sentence with few words of content one that is known as vague may be what it is about.
    if content and content == kinds.vague + kinds.soft and not any(map(str.isdecimal, folded)):
        return 0.0
    clear = content - kinds.vague + (_ONE_IN_FEW if content - kinds.vague > 0 else 0.0)
    said = clear / (content + _ONE_IN_FEW) if content else 0.0
    return _falling(kinds.lorem / kinds.total, 0.2, 0.4) * _rising(said, 0.42, 0.64)


_ONE_IN_FEW = 1.0


def _ordered(kinds: _Kinds) -> float:
    """Whether a text too short for `_syntax` has a word that is no function word, beside one that is cut.

    Content words alone are not held against so short a text: terse notes and lists are made of them.
    """
    if not _FEWEST_WORDS <= kinds.total < _MANY_WORDS:
        return 1.0
    return _falling(kinds.function / kinds.total, 0.88, 0.95)


_FEWEST_WORDS, _MANY_WORDS = 8, 15


def _menu(folded: str) -> float:
    """Short items between separators or on lines, named as menus name them, and notices of a page."""
    if is_page_notice(folded):
        return 0.0
    pieces = _LINK.split(folded) if "](" in folded else [folded]  # text, label, text, label, text
    plain, links = "".join(pieces), len(pieces) // 2
    items = [
        item
        for item in _SEPARATOR.sub("\n", plain.translate(_BARS)).split("\n")
        if item and not item.isspace()
    ]
    if len(items) < _FEW_ITEMS:
        return 1.0
    short = [_unmarked(item) for item in items if len(item) <= 40 and item.count(" ") <= 6]
    short = [item for item in short if item and item.count(" ") <= 3]
    named = sum(item in MENU_PHRASES or not MENU_WORDS.isdisjoint(item.split()) for item in short)
    # A line of short items with bars or arrows between is a menu even if its words are not known.
    joined = 0.0
    if _BAR.search(plain):
        joined = sum(len(line) for line in plain.splitlines() if _BAR.search(line) and _is_chain(line))
        joined /= len(plain)
    shape = (0.3 * min(links / len(items), 1.0) + 0.4 * joined) * len(short) / len(items)
    return _falling(named / len(items) + shape, 0.25, 0.5)


_FEW_ITEMS = 3


def _unmarked(item: str) -> str:
    """An item without the marks of a list around it."""
    return item if item[0].isalpha() and item[-1].isalnum() else _BULLET.sub("", item)


def _is_chain(line: str) -> bool:
    parts = _BAR.split(line) if not line.lstrip().startswith("|") else []
    return len(parts) > 2 and not _NUMBER_OR_STOP.search(line) and max(map(len, parts)) <= 30


def _licence(folded: str, words: list[str], kinds: _Kinds) -> float:
    if is_licence_notice(folded):
        return 0.0
    if kinds.total < 4:
        return 1.0
    distinct = set(words)
    likely = [phrase for phrase, word in _LICENCE_PHRASES if word in distinct]
    flat = " ".join(words) if likely else ""
    phrases = sum(map(flat.count, likely))
    if kinds.total < _SHORT_NOTICE and words[0] not in _NOTICE_BEGINS:
        phrases = 0  # a sentence about a licence names it
    if len(LICENCE_WORDS & distinct) + 2 * phrases < 4:
        return 1.0
    return _falling((kinds.legal + 5 * phrases) / kinds.total, 0.12, 0.24)


_SHORT_NOTICE = 20
_NOTICE_BEGINS = LICENCE_WORDS | {
    "all",
    "free",
    "c",
    "spdx",
    "mit",
    "apache",
    "in",
    "neither",
    "unless",
    "without",
}

# Each with the word to look up before the text is searched for the phrase.
_LICENCE_PHRASES = [(phrase, max(phrase.split(), key=len)) for phrase in LICENCE_PHRASES]
