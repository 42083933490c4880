"""Tokenising patterns of the divergence guard, with text normalisation."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from slowwave.quality.divergence.lexicon_numbers import CARDINALS, MONTHS, SCALES, UNITS
from slowwave.scoring.lazy_pattern import lazy_pattern


def _marks() -> str:
    r"""Return combining marks as ranges of a character class; Python's \w does not match them."""
    codes = [
        code
        for span in (
            range(0x300, 0x2100),
            range(0x3099, 0x309B),
            range(0xA600, 0xAC00),
            range(0xFE00, 0xFE30),
        )
        for code in span
        if unicodedata.category(chr(code))[0] == "M"
    ]
    ranges: list[list[int]] = []
    for code in codes:
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"\\u{low:04x}-\\u{high:04x}" for low, high in ranges)


_MARK = _marks()
_CLUSTER = lazy_pattern(f".[{_MARK}]+|[\u1100-\u11ff]+|[^\\x00-\\x7f]", re.DOTALL)
_TYPOGRAPHY = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′＇ʼ´", "'"),
        **dict.fromkeys("“”„‟″", '"'),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        "⁄": "/",
        "İ": "I",
        "ı": "i",
    }
)
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_LETTER = f"(?-i:[^\\W_{_UNSPACED}])"  # wide ranges without case: ignoring it would only compile slowly
_WORD = f"(?:{_LETTER}[{_MARK}]*)"
MONTH = "(?:" + "|".join(sorted(MONTHS, key=len, reverse=True)) + r")\.?(?![^\W\d_])"
_DAY = r"(?:[0-3]?\d)(?:st|nd|rd|th)?(?!\d)"
_CARDINAL = "|".join(sorted(CARDINALS, key=len, reverse=True))
_UNIT = "|".join(re.escape(unit) for unit in sorted(UNITS, key=len, reverse=True))
_SCALE = "|".join(sorted(SCALES, key=len, reverse=True))
_ISO_TIME = r"(?:T|\s{1,9})(?P<isotime>[0-2]\d:[0-5]\d(?::[0-5]\d)?)(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?"
# No two alternatives begin alike, and runs are bounded, so the scan is linear.
_DATES = rf"""
      (?P<url>(?:(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{{1,12}}://|(?<!\w)www\.)[^\s<>"'|\]}}]+)
    | (?P<email>(?<![\w.+-])[\w.+-]{{1,64}}@[\w-]{{1,64}}(?:\.[\w-]{{1,64}})+)
    | (?P<iso>(?<![\w.-])\d{{4}}-[01]\d-[0-3]\d(?!\d)(?:{_ISO_TIME})?)
    | (?P<dmy>(?<!\w){_DAY}\s{{1,9}}(?:of\s{{1,9}})?{MONTH},?\s{{1,9}}\d{{4}}(?!\w))
    | (?P<mdy>(?<!\w){MONTH}\s{{1,9}}{_DAY},?\s{{1,9}}\d{{4}}(?!\w))
    | (?P<dm>(?<!\w){_DAY}\s{{1,9}}(?:of\s{{1,9}})?{MONTH}(?!\w))
    | (?P<md>(?<!\w){MONTH}\s{{1,9}}{_DAY}(?![\w:]))
    | (?P<my>(?<!\w){MONTH},?\s{{1,9}}\d{{4}}(?!\w))
    | (?P<dots>(?<![\w./])(?:[0-3]?\d\.[01]?\d\.\d{{4}}|[0-3]?\d/[0-3]?\d/\d{{4}})(?![\w/]))
"""
_PATH = r"""
    | (?P<path>(?<![\w.\-/\\~:])(?:~|\.{1,2}|[a-z]:)?(?:[/\\]|[\w.-]{1,80}[/\\])[\w./\\-]{1,400})
"""
_REST = rf"""
    | (?P<flag>(?<![\w-])--[a-z][\w-]*|(?<=[ \t(`"'\[])-[a-z][\w-]*)
    | (?P<ticket>(?<![\w-])[a-z][a-z0-9]+-\d+(?![\w.-]*\w))
    | (?P<hex>(?<!\w)(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{{7,}}(?:-[0-9a-f]{{4,}})*(?!\w))
    | (?P<clock>(?<![\w.:])[0-2]?\d(?::[0-5]\d){{1,2}}(?:\s{{0,9}}[ap]\.?m\b\.?)?(?![\w:])
            |(?<![\w.:])1?\d(?:\.[0-5]\d)?\s{{0,9}}[ap]\.?m\b\.?)
    | (?P<version>(?<![\w.])v?\d+(?:\.\d+){{2,}}(?:-?[a-z]+\.?\d*)?(?!\w)|(?<!\w)v\d+(?:\.\d+)*(?!\w))
    | (?P<ordinal>(?<!\w)\d+(?:st|nd|rd|th)(?!\w))
    | (?P<number>(?:(?P<currency>[$€£¥])\s{{0,9}}|(?<!\w))(?P<sign>(?<![^\s(])-)?
        (?P<digits>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?(?![\d,]\d)|\d+(?:[.,]\d+)*)
        (?:\s{{0,9}}(?P<scale>{_SCALE})(?!\w))?
        (?:(?:\s{{0,9}}|-)(?P<unit>{_UNIT})(?!\w|/(?!(?:s|h|min|day)\b)))?)
    | (?P<spelled>(?<!\w)(?:{_CARDINAL})(?:(?:\s{{1,9}}|-)(?:and\s{{1,9}})?(?:{_CARDINAL}))*
        (?:\s{{1,9}}(?P<wordscale>{_SCALE}))?(?!\w)
        (?:(?:\s{{1,9}}|-)(?P<wordunit>{_UNIT})(?!\w|/(?!(?:s|h|min|day)\b)))?)
    | (?P<pairof>(?<!\w)(?:pair|couple)\s{{1,9}}of(?!\w))
    | (?P<language>(?<!\w)[a-z](?:\#|\+\+)(?!\w))
    | (?P<acronym>(?<!\w)(?:[a-z]\.){{2,}})
    | (?P<file>(?<![\w./\\])[\w-]{{1,60}}(?:\.[\w-]{{1,30}}){{0,3}}\.[a-z][a-z0-9_]{{0,30}}(?![\w-]|\.\w))
    | (?P<word>{_WORD}+(?:(?:_+{_WORD}+)+|(?:'{_WORD}+))?)
    | (?P<operator>(?<![=<>!-])(?:[!=]==?|[<>+*/-]=|[=<>≠≤≥])(?![=<>-])
            |(?<=\s)(?:<--?|--?>)(?=\s)|&&|\|\||(?<![\w!])!(?=[a-z])|\+(?!\w)
            |(?<=[\w)"'\]][ ])[*/^%](?=[ ]\w))
    | (?P<question>\?(?!\?)(?![\w.]))
    | (?P<pictograph>[\u2190-\u21ff\u2600-\u27bf\u2b00-\u2bff\U0001f300-\U0001faff])
    | (?P<unspaced>(?-i:[{_UNSPACED}])[{_MARK}]*)
"""
# Most tokens are plain words: matching them first makes the scan three times as fast.
_SPECIAL = "|".join(sorted({*MONTHS, *CARDINALS, "pair", "couple", "www"}, key=len, reverse=True))
_PLAIN = rf"""
    (?![\s,;()"'\#\[\]{{}}])(?:
      (?P<plain>(?<![\w.+/\\~:-])(?!(?:{_SPECIAL})\b)[a-z]+(?=[\s,;)!?"]|\.\s|\Z))
    | """
TOKEN = lazy_pattern(_PLAIN + _DATES + _PATH + _REST + ")", re.VERBOSE | re.IGNORECASE)
PIECE = lazy_pattern(_DATES + _REST, re.VERBOSE | re.IGNORECASE)
LIST_NUMBER = lazy_pattern(r"(?m)^[ \t>]*\d{1,3}[.)](?=[ \t])")
PASSIVE = lazy_pattern(
    r"\b(?:is|are|was|were|be|been|being)\s+(?:being\s+)?(?:\w+ly\s+)?(?!\w+ing\b)\w+\s+(?:\w+\s+){0,8}?by\b",
    re.IGNORECASE,
)
LABELS = frozenset({"a", "i", "us", "it", "who"})
# French and Italian words that lose their vowel: l'eau, n'est, qu'il, dell'arte.
ELIDED = frozenset(["l", "d", "n", "qu", "s", "j", "m", "t", "c", "dell", "all", "nell", "sull"])
MONTH_CUES = frozenset(
    {
        "in", "since", "until", "by", "of", "from", "during", "last", "next", "this", "early", "late", "mid",
        "before", "after",
    }
)  # fmt: skip


def normalise(text: str) -> tuple[str, list[int], list[int]]:
    """Normalise a text to NFKC with plain quotes and dashes.

    Invisible characters are removed.

    Returns:
        The text, and two lists of equal length: offsets in it, and the matching offsets in the original.
    """
    pieces: list[str] = []
    at, offsets, original, length = 0, [0], [0], 0
    for match in _CLUSTER.finditer(text) if not text.isascii() else ():
        before = text[at : match.start()]
        replacement = _cluster(match.group())
        pieces += (before, replacement)
        at = match.end()
        length += len(before) + len(replacement)
        if len(replacement) != len(match.group()):
            offsets.append(length)
            original.append(at)
    pieces.append(text[at:])
    return "".join(pieces), offsets, original


@lru_cache(maxsize=8_192)
def _cluster(cluster: str) -> str:
    if all(unicodedata.category(character) in {"Cf", "Cs"} for character in cluster):
        return ""
    return unicodedata.normalize("NFKC", cluster).translate(_TYPOGRAPHY)
