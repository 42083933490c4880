"""Identifiers, and the texts that mention them in any usual spelling (rule 3.11)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from slowwave.scoring.ranking.amounts import IS_YEAR, UNIT_WORDS
from slowwave.scoring.ranking.identifier_nouns import (
    ANY_KIND,
    NUMBER_WORD,
    group_of,
    head_of_list,
    is_after_another,
    is_noun,
    is_of_kind,
    without_number_word,
)
from slowwave.scoring.ranking.regrouping import in_groups, regrouped
from slowwave.scoring.ranking.spellings import (
    AFTER,
    LOOKED_BACK,
    SHORT,
    begins_longer,
    is_group,
    may_be_regrouped,
    may_have_letters,
    starts_of,
)

WIDE = "[\uff10-\uff5a\u0660-\u0669\u06f0-\u06f9\u0966-\u096f]"
"""Pattern of letters and digits that `Identifier.is_in` reads as ASCII: full width, Arabic, Devanagari."""
_ZEROS = ("\u0660", "\u06f0", "\u0966")  # Arabic, Persian, Devanagari
_NATIVE = {ord(zero) + digit: str(digit) for zero in _ZEROS for digit in range(10)}
_WIDE = re.compile(WIDE)
_DASHES = re.compile("[\u2010-\u2015\u2212]")
_NUMERO = re.compile(r"№\s?|(?<!\w)[Nn]\.?[°º]\.?\s?")
_HEX = re.compile(r"[0-9a-f]+", re.IGNORECASE)
_WORD_AND_NUMBER = re.compile(r"(?:^[a-z]+(?=\d{2,}$))|.+")
_BETWEEN = rf"(?:[\W_]{{0,3}}|[\W_]{{1,2}}{NUMBER_WORD}[\W_]{{1,2}})"
_BEFORE = re.compile(r"([^\W\d_]+)([\W_]{0,4})$")
MIN_PART = 3
"""Minimum characters of a part that words and labels are searched for (count)."""


@dataclass(frozen=True, slots=True)
class Identifier:
    """Identifier of a question.

    Attributes:
        text: As asked.
        words: Words of an index, lower case: a text with it has one of each set.
        part: Characters, lower case, within a word of every text with it, or with one that begins with it.
        code: Its letters before the number; empty for a number alone.
        kind: Noun before the number in the question, such as "invoice".
        may_be_short: Whether it may stand for a longer one that begins with it, as the start of a hash does.
        joined: Its lower-case letters and digits if a text may group them in any way; else empty.
        leading: Pattern of what a text may have before it.
        products: Names in lower case of what it is a version of; a text that mentions it has one.
        glued: Its characters within a word or a label, if its parts are too short to look for; else empty.
        alike: Pattern of its code with any number. If no text has one, the question meant no identifier.
    """

    text: str
    words: tuple[frozenset[str], ...]
    part: str
    code: str = ""
    kind: str = ""
    may_be_short: bool = False
    joined: str = ""
    leading: str = ""
    products: tuple[str, ...] = ()
    glued: str = ""
    alike: str = ""
    _parts: tuple[str, ...] = field(default=(), repr=False, compare=False)
    _whole: str = field(default="", repr=False, compare=False)
    _longer: str = field(default="", repr=False, compare=False)
    _number: str = field(default="", repr=False, compare=False)

    @property
    def is_bare(self) -> bool:
        """Whether it is a number alone, which may stand behind letters in a word."""
        return bool(self._number) and not self.code

    @property
    def in_other_scripts(self) -> tuple[str, ...]:
        """Its digits in other scripts; empty unless it is a number alone."""
        digits = self._number if self.is_bare else ""
        return tuple("".join(chr(ord(zero) + int(one)) for one in digits) for zero in _ZEROS if digits)

    def is_in(self, text: str) -> bool:
        """Whether a text mentions it, however it is spelled there."""
        if not self._may_be_in(text):
            return False
        plain = plain_text(text)
        if self._whole and may_have_letters(self.code, plain):
            matches = _pattern(self._whole).finditer(plain)
            if any(not self.products or not self._is_of_another(plain, match.start()) for match in matches):
                return True
        return bool(self._number) and self._has(starts_of(self._number, plain), plain)

    def is_regrouped_in(self, text: str) -> bool:
        """Whether a text mentions it in any grouping."""
        if not self.joined or not may_be_regrouped(self.joined, plain := plain_text(text)):
            return False
        matches = _pattern(in_groups(self.joined, self.leading)).finditer(plain)
        return any(matches) if self.code else self._has((match.start() for match in matches), plain)

    def is_in_any_grouping(self, text: str) -> bool:
        """Whether a text mentions it in any spelling or grouping."""
        return self.is_in(text) or self.is_regrouped_in(text)

    def begins_in(self, text: str) -> bool:
        """Whether a text mentions a longer identifier that begins with it."""
        if not self._may_be_in(text) or not may_have_letters(self.code, plain := plain_text(text)):
            return False
        if self.is_bare:
            return begins_longer(self._number, plain)
        return bool(self._longer) and _pattern(self._longer).search(plain) is not None

    def _may_be_in(self, text: str) -> bool:
        """Whether a text has all characters, perhaps of full width; no pattern is compiled for others."""
        lower = text.lower()
        if self.products and not any(product in lower for product in self.products):
            return False
        return all(part in lower for part in (self.part, *self._parts)) or bool(_WIDE.search(text))

    def has_alike(self, text: str) -> bool:
        """Whether a text has its code with any number."""
        return _pattern(self.alike, 0).search(text) is not None

    def _has(self, starts: Iterable[int], plain: str) -> bool:
        """Whether what stands before one of these places makes it this number."""
        return any(
            self._counts(plain[max(0, start - LOOKED_BACK) : start])
            and not (len(self._number) <= SHORT and is_group(self._number, plain, start))
            for start in starts
        )

    def _is_of_another(self, plain: str, start: int) -> bool:
        """Whether a version in a text is that of another product."""
        return is_after_another(self.products, plain[max(0, start - LOOKED_BACK) : start])

    def _counts(self, before: str) -> bool:
        """Whether what stands before a number in a text makes it this one."""
        listed = head_of_list(before, len(self._number))
        noun = without_number_word(listed)
        match = _BEFORE.search(noun)
        word, gap = (match[1] or "", match[2] or "") if match else ("", "")
        spelled, mark = word.lower(), before.rstrip().endswith("#") or (noun != listed and not word)
        group = group_of(spelled)
        if self.code:  # the text has the number without the code
            if group is not None:
                return is_of_kind(self.code, group)
            return mark or (spelled == self.code and listed != before)
        own = group_of(self.kind)
        if word and group is None and (gap in ("", "-", "_", "/", ".") or (gap == " " and word.isupper())):
            return is_of_kind(spelled, own)
        return own in (None, ANY_KIND) or group in (None, ANY_KIND, own)


def version(
    text: str, number: str, products: tuple[str, ...] = (), before: str = "", at: str = ""
) -> Identifier:
    """Build a version; a text with one of its series (2.3.1 of 2.3) mentions it.

    Args:
        products: Names of what it is a version of, in lower case; empty: any.
        before: Word of what comes before its release, as in 2.4.1-rc3.
        at: Number of that.
    """
    first, *others = parts = number.split(".")
    sets = [frozenset({first, f"v{first}", *(f"{name}{first}" for name in products)})]
    sets += [frozenset({part}) for part in others]
    glued = "".join(rf"|(?<={re.escape(name)})" for name in products)
    whole = rf"(?:(?<![A-Za-z0-9.])v?{glued}){re.escape(number)}(?!\d)"
    if before:
        whole += rf"[-.]?{before}[-.]?{at}(?!\d)"
    if len(parts) == 2:  # else an amount may be spelled so
        whole = rf"(?<![$€£¥₹])(?<![$€£¥₹]\s){whole}(?!\s?{UNIT_WORDS}(?!\w))"
    return Identifier(text, tuple(sets), number, products=products, _whole=whole)


def numbered(text: str, digits: str, *, code: str = "", kind: str = "", alike: str = "") -> Identifier:
    """Build a number, with the letters or the noun before it."""
    code, bare = code.lower(), digits.lstrip("0") or digits
    options = {digits, bare, f"{code or kind}{digits}"}
    if is_noun(code):  # ticket-4821
        code, kind = "", code
    letters = "-?".join(map(re.escape, code))  # B-MW 4711
    begins = rf"(?<![A-Za-z0-9]){letters}{_BETWEEN}0*{bare}" if code else ""
    whole = f"{begins}{AFTER.pattern}" if code else ""
    longer = rf"{begins}[A-Za-z0-9]" if code else ""
    joined = regrouped(digits if code else bare, code)
    return Identifier(
        text, (frozenset(options),), bare, code, kind.lower(), joined=joined, alike=alike,
        _whole=whole, _longer=longer, _number=bare,
    )  # fmt: skip


def segmented(text: str, segments: list[str], *, leading: str = "", padded: bool = False) -> Identifier:
    """Build an identifier of segments, which a text may join, perhaps behind a `leading` pattern.

    Args:
        padded: Numbers may have a zero before them (seat 7A, 07A).
    """
    if padded:
        segments = [segment.lstrip("0") or segment for segment in segments]
    elif len(segments) > 1:  # B-MW4711
        segments = [run for segment in segments for run in _WORD_AND_NUMBER.findall(segment)]

    def rarity(at: int) -> tuple[bool, bool, int]:
        part = segments[at]
        return any(map(str.isdigit, part)), IS_YEAR.fullmatch(part) is None, len(part)

    key = max(range(len(segments)), key=rarity)
    spellings = [segments]
    if padded:
        spellings.append([*segments[:key], f"0{segments[key]}", *segments[key + 1 :]])
    joins = (
        "".join(parts[i:j])
        for parts in spellings
        for i in range(key + 1)
        for j in range(key + 1, len(parts) + 1)
    )
    zero = "0?" if padded else ""
    spelled = r"[\W_]{0,2}".join(
        f"{zero if segment.isdigit() else ''}{re.escape(segment)}" for segment in segments
    )
    whole = rf"(?<![A-Za-z0-9]){leading}{spelled}(?![A-Za-z0-9])"
    longer = rf"(?<![A-Za-z0-9]){leading}{spelled}[A-Za-z0-9]"
    joined = "".join(segments)
    glued = joined if len(segments) > 1 and len(segments[key]) < MIN_PART else ""
    is_hash = len(segments) == 1 and _HEX.fullmatch(text) is not None
    return Identifier(
        text, (frozenset(joins),), segments[key], may_be_short=is_hash, joined=regrouped(joined), glued=glued,
        leading=leading, _parts=tuple(segments), _whole=whole, _longer=longer,
    )  # fmt: skip


@lru_cache(maxsize=1_024)
def _pattern(pattern: str, flags: int = re.IGNORECASE) -> re.Pattern[str]:
    """Compile a pattern at its first use: the text of most chunks lacks the identifier's part."""
    return re.compile(pattern, flags)


def plain_text(text: str) -> str:
    """Return a text with the characters of its identifiers in their plain form."""
    return text if text.isascii() else in_one_form(text).translate(_NATIVE)


def in_one_form(text: str) -> str:
    """Return a text with one form of its dashes, marks and wide characters; digits keep their script."""
    return _DASHES.sub("-", unicodedata.normalize("NFKC", _NUMERO.sub("#", text)))
