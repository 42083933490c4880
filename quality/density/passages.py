"""Uninformative passages: encoded data, logs, menus, licences."""

from __future__ import annotations

import re
from itertools import filterfalse

from slowwave.quality._lexicons import (
    FILLER_PHRASES,
    LICENCE_PHRASES,
    LICENCE_WORDS,
    MENU_PHRASES,
    MENU_WORDS,
)
from slowwave.quality.density.statistics import falling, rising
from slowwave.quality.density.text_counts import Kinds, TextCounts
from slowwave.quality.density.words import ONE_IN_FEW
from slowwave.quality.legal_notices import is_licence_notice, is_page_notice

_LONG_TOKEN = re.compile(r"[a-z0-9+/=_-]{20,}")


_DATA = re.compile(r"data:[\w.+-]+/[\w.+-]+;base64,")


_LETTER_DIGIT = re.compile(r"(?<=[a-z])(?=[0-9])|(?<=[0-9])(?=[a-z])")


_DIGIT = re.compile(r"\d")


_LOG_MARK = re.compile(
    r"\d{4}[-/.]\d\d[-/.]\d\d[T _]+\d\d:\d\d|\d\d?[/.]\w{2,3}[/.]\d{2,4}[: ]\d\d:\d\d|\d\d:\d\d:\d\d"
    r"|\b1\d{9}\b|\blevel\"?[=:]"
)


_LOG_START = re.compile(
    r"\W{0,3}(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR|FATAL|CRITICAL|SEVERE)\b"
    r"|\[ *\d+\.\d+\]|[VDIWEF]/\w+"
)


_BAR_CHARACTERS = "|·•›»→"


_BARS = str.maketrans(dict.fromkeys(_BAR_CHARACTERS, "\n"))


_SEPARATOR = re.compile(r" [>/:~\-–—]+ ")


_SEPARATOR_BEGINS = tuple(f" {mark}" for mark in ">/:~-–—")


_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\n]*\)")


_NUMBER_OR_STOP = re.compile(r"\d|[.!?](?:\s|$)")


_BAR = re.compile(r"[|·•›»→]| > ")


_BULLET = re.compile(r"^[\s>#*+\-–|\d.)(\[\]]+|[\s|]+$")


_EVERY_BAR = tuple(_BAR_CHARACTERS), _SEPARATOR_BEGINS
_ASCII_BARS = tuple(tuple(filter(str.isascii, marks)) for marks in _EVERY_BAR)
"""Bars and beginnings of separators."""


def encoding_of(counts: TextCounts) -> float:
    """Score the absence of encoded data: 1 without any, less with more."""
    if counts.ascii is not None and not counts.ascii.digits:
        return 1.0  # all encoded data has digits
    tokens = counts.tokens
    encoded = 0
    for long in [token for token in tokens if len(token) >= 20] if max(map(len, tokens)) >= 20 else ():
        if _DATA.match(long):
            encoded += len(long)
            continue
        for token in _LONG_TOKEN.findall(long):
            if len(_LETTER_DIGIT.findall(token)) >= len(token) / 14:
                encoded += len(token)
    coded = list(filter(str.isalnum, filterfalse(str.isalpha, tokens)))
    digits = sum(map(str.isdecimal, coded))
    mixed = (len(coded) - digits) / len(tokens)
    if mixed > 0.1:  # hexadecimal bytes are often digits only
        mixed += digits / len(tokens) / 2
    size = len(counts.solid)
    return falling(encoded / size, 0.3, 0.7) * (falling(mixed, 0.22, 0.4) if len(tokens) >= 8 else 1.0)


def prose_of(text: str, kinds: Kinds) -> float:
    """Score the absence of program output: 1 without log lines, less with more."""
    # A chat has times, too, but people use function words and programs do not.
    conversational = rising(kinds.function / max(kinds.total, 1), 0.25, 0.4)
    if conversational == 1.0:
        return 1.0
    lines = [line for line in text.splitlines() if line and not line.isspace()]
    logged, others = 0, 0
    for line in lines:
        if _is_log_line(line):
            logged += 1
        elif (others := others + 1) >= 0.65 * len(lines):
            return 1.0
    return max(falling(logged / len(lines), 0.35, 0.7), conversational) if logged >= 2 else 1.0


def _is_log_line(line: str) -> bool:
    head = line[:60]
    # The first checks are only for speed: every mark has one of each.
    may_be = (":" in head or "=" in head or "1" in head) and ("level" in head or _DIGIT.search(head))
    marked = may_be and _LOG_MARK.search(head)
    return bool(marked or _LOG_START.match(head))


def substance_of(counts: TextCounts) -> float:
    """Return the share of informative words beside filler, in [0, 1]."""
    folded, kinds = counts.folded, counts.kinds
    if counts.unspaced:
        covered = sum(len(phrase) * folded.count(phrase) for phrase in FILLER_PHRASES)
        return falling(covered / max(len(counts.letters), 1), 0.2, 0.36)
    if kinds.total < 6:
        return 1.0
    content = kinds.total - kinds.function
    # In a sentence with few content words, a vague one may be its subject.
    if content and content == kinds.vague + kinds.soft and not any(map(str.isdecimal, folded)):
        return 0.0
    clear = content - kinds.vague + (ONE_IN_FEW if content - kinds.vague > 0 else 0.0)
    clear_share = clear / (content + ONE_IN_FEW) if content else 0.0
    return falling(kinds.lorem / kinds.total, 0.2, 0.4) * rising(clear_share, 0.42, 0.64)


def menu_of(folded: str) -> float:
    """Score the absence of menus and page notices, in [0, 1].

    A menu has short items between separators or on lines, with words of menus.
    """
    if is_page_notice(folded):
        return 0.0
    pieces = _LINK.split(folded) if "](" in folded else [folded]  # text, label, text, label, text
    plain, links = "".join(pieces), len(pieces) // 2
    bars, separators = _ASCII_BARS if plain.isascii() else _EVERY_BAR
    barred = any(map(plain.__contains__, bars))
    cut = plain.translate(_BARS) if barred else plain
    if any(map(cut.__contains__, separators)):
        cut = _SEPARATOR.sub("\n", cut)
    if cut.count("\n") < _FEW_ITEMS - 1:
        return 1.0
    items = [item for item in cut.split("\n") if item and not item.isspace()]
    if len(items) < _FEW_ITEMS:
        return 1.0
    short = [_unmarked(item) for item in items if len(item) <= 40 and item.count(" ") <= 6]
    short = [item for item in short if item and item.count(" ") <= 3 and not item.endswith(".")]
    named = sum(item in MENU_PHRASES or not MENU_WORDS.isdisjoint(item.split()) for item in short)
    # A line of short items with bars or arrows between them is a menu, whatever its words.
    joined = 0.0
    if barred or " > " in plain:
        joined = sum(len(line) for line in plain.splitlines() if _BAR.search(line) and _is_chain(line))
        joined /= len(plain)
    shape = (0.3 * min(links / len(items), 1.0) + 0.4 * joined) * len(short) / len(items)
    return falling(named / len(items) + shape, 0.25, 0.5)


_FEW_ITEMS = 3


def _unmarked(item: str) -> str:
    """Return an item without list marks around it."""
    return item if item[0].isalpha() and item[-1].isalnum() else _BULLET.sub("", item)


def _is_chain(line: str) -> bool:
    parts = _BAR.split(line) if not line.lstrip().startswith("|") else []
    return len(parts) > 2 and not _NUMBER_OR_STOP.search(line) and max(map(len, parts)) <= 30


def licence_of(folded: str, words: list[str], kinds: Kinds) -> float:
    """Score the absence of licence text: 1 without any, less with more."""
    if is_licence_notice(folded):
        return 0.0
    if kinds.total < 4:
        return 1.0
    if kinds.legal < 4 and _PHRASE_WORDS.isdisjoint(words):
        return 1.0
    distinct = set(words)
    likely = [phrase for phrase, word in _LICENCE_PHRASES if word in distinct]
    flat = " ".join(words) if likely else ""
    phrases = sum(map(flat.count, likely))
    if kinds.total < _SHORT_NOTICE and words[0] not in _NOTICE_BEGINS:
        phrases = 0  # a sentence about a licence names it
    if len(LICENCE_WORDS & distinct) + 2 * phrases < 4:
        return 1.0
    return falling((kinds.legal + 5 * phrases) / kinds.total, 0.12, 0.24)


_SHORT_NOTICE = 20


_NOTICE_BEGINS = LICENCE_WORDS | {
    "all", "free", "c", "spdx", "mit", "apache", "in", "neither", "unless", "without",
}  # fmt: skip


# Each phrase with the word that is looked up first.
_LICENCE_PHRASES = [(phrase, max(phrase.split(), key=len)) for phrase in LICENCE_PHRASES]
_PHRASE_WORDS = frozenset(word for _, word in _LICENCE_PHRASES)
