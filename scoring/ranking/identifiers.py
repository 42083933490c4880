"""Identifiers in a question: tickets, customer numbers, versions, codes (rule 3.11).

A vector places INC-4821 beside every other incident, so characters decide: a text mentions an identifier in a
usual spelling (INC 4821, inc-4821, INC4821, #4821), or not at all.

The shape of a token decides, in the order of `_FINDERS`. Dates, times, amounts, units, years, short ordinals
and names that are used as words (COVID-19) identify nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from operator import itemgetter

from slowwave.scoring.ranking.amounts import AMOUNTS, IS_YEAR, MAX_YEAR, UNIT, YEAR
from slowwave.scoring.ranking.regrouping import accounts, in_groups, regrouped
from slowwave.scoring.ranking.spellings import begins_longer, may_be_regrouped, may_have_letters, starts_of
from slowwave.scoring.wordlists import lines, words

MAX_IDENTIFIERS = 8
"""Maximum identifiers of one question (count)."""

_GROUPS = [line.split() for line in lines("slowwave.scoring", "identifier_kinds")]
_GROUP_OF = {word: at for at, line in reversed(list(enumerate(_GROUPS))) for word in line}
_ANY_KIND = 0  # group that goes with every other
_COUNTED = frozenset(_GROUP_OF[word] for word in ("ticket", "pr"))
"""Groups of nouns with short numbers."""
_COMMON = frozenset(words("slowwave.scoring", "identifier_common"))

_KIND = "|".join(
    re.escape(word).replace(r"\-", r"[\s-]") for word in sorted(_GROUP_OF, key=len, reverse=True)
)
_NUMBER_WORD = r"(?:number|numbers|num|no|nos|nr|n°|id|ids|code|ref|key|nummer|numero|numéro|número)"
WIDE = "[\uff10-\uff5a]"
"""Pattern of letters and digits of full width, which `Identifier.is_in` reads as the others."""
_WIDE = re.compile(WIDE)
_DASHES = re.compile("[\u2010-\u2015\u2212]")
_TOKEN = re.compile(r"(?<![A-Za-z0-9])(#?)([A-Za-z0-9]+(?:[-_./][A-Za-z0-9]+)*)(?![A-Za-z0-9])")
_OF_KIND = re.compile(
    rf"(?<![\w-])(?P<kind>(?:{_KIND})s?|\w+nummer)(?P<number>[\s.]{{1,2}}{_NUMBER_WORD}\.?)?(?P<mark>[\s:.]{{0,2}}#)?[\s:]*"
    r"(?P<digits>(?<!\d)\d{2,})(?![\w-]|[.,:]\d)",
    re.IGNORECASE,
)
_SPACED = re.compile(
    rf"(?<![\w-])(?!(?:THE|IN|OF|AND|OR|AT|BY|FOR|TO)\s)([A-Z]{{2,6}})\s#?(?!{YEAR}\b)(\d{{3,}})(?![\w-]|[.,:]\d)"
)
_VERSION = re.compile(
    r"(?<![\w.-])(?:(?:version|release|firmware|ver\.?|rev\.?)\s+v?|v)(\d+(?:\.\d+)+)(?![\w]|\.\d)",
    re.IGNORECASE,
)
_DOTTED = re.compile(r"(?<![\w.-])(\d+(?:\.\d+){2,})(?![\w]|\.\d)")
_SPELLED = re.compile(
    r"(?<!\w)(?:code|reference|ref|pnr|voucher|coupon|sku|confirmation|serial)(?:\s(?:number|no|code|is))?\W{1,2}"
    r"([A-Z]{5,12})(?![\w-])"
)  # fmt: skip
_NAMED_HASH = re.compile(
    r"(?<!\w)(?:commit|hash|digest|sha|checksum|revision)\W{1,2}([0-9a-f]{7,64})(?![\w-])"
    r"|(?<![\w:])((?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2})(?![\w:])",
    re.IGNORECASE,
)
_GROUPED = re.compile(r"(?<![\w.,+-])(\(?\+?\d{1,5}\)?(?:[ /-]\(?\d{2,8}\)?){1,7})(?![\w:/-]|[.,]\w)")
_LEADING = r"(?:[A-Za-z]{2}\d\d)?\d{0,3}[\W_]{0,2}"  # of an account, a country
_HEX = re.compile(r"[0-9a-f]+", re.IGNORECASE)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_RUNS = re.compile(r"[a-z]+|\d+")
_BETWEEN = rf"(?:[\W_]{{0,3}}|[\W_]{{1,2}}{_NUMBER_WORD}[\W_]{{1,2}})"
_BEFORE = re.compile(r"([^\W\d_]+)([\W_]{0,4})$")
_LOOKED_BACK = 32  # characters before a number


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
    """

    text: str
    words: tuple[frozenset[str], ...]
    part: str
    code: str = ""
    kind: str = ""
    may_be_short: bool = False
    joined: str = ""
    leading: str = ""
    _parts: tuple[str, ...] = field(default=(), repr=False, compare=False)
    _whole: str = field(default="", repr=False, compare=False)
    _longer: str = field(default="", repr=False, compare=False)
    _number: str = field(default="", repr=False, compare=False)

    @property
    def is_bare(self) -> bool:
        """Whether it is a number alone, which may stand behind letters in a word."""
        return bool(self._number) and not self.code

    def is_in(self, text: str) -> bool:
        """Whether a text mentions it, however it is spelled there."""
        if not self._may_be_in(text):
            return False
        plain = _plain(text)
        if self._whole and may_have_letters(self.code, plain) and _pattern(self._whole).search(plain):
            return True
        return bool(self._number) and self._has(starts_of(self._number, plain), plain)

    def is_regrouped_in(self, text: str) -> bool:
        """Whether a text mentions it in any grouping."""
        if not self.joined or not may_be_regrouped(self.joined, plain := _plain(text)):
            return False
        matches = _pattern(in_groups(self.joined, self.leading)).finditer(plain)
        return any(matches) if self.code else self._has((match.start() for match in matches), plain)

    def begins_in(self, text: str) -> bool:
        """Whether a text mentions a longer identifier that begins with it."""
        if not self._may_be_in(text) or not may_have_letters(self.code, plain := _plain(text)):
            return False
        if self.is_bare:
            return begins_longer(self._number, plain)
        return bool(self._longer) and _pattern(self._longer).search(plain) is not None

    def _may_be_in(self, text: str) -> bool:
        """Whether a text has all characters, perhaps of full width; no pattern is compiled for others."""
        lower = text.lower()
        return all(part in lower for part in (self.part, *self._parts)) or bool(_WIDE.search(text))

    def _has(self, starts: Iterable[int], plain: str) -> bool:
        """Whether what stands before one of these places makes it this number."""
        return any(self._counts(plain[max(0, start - _LOOKED_BACK) : start]) for start in starts)

    def _counts(self, before: str) -> bool:
        """Whether what stands before a number in a text makes it this one."""
        match = _BEFORE.search(before)
        word, gap = (match[1] or "", match[2] or "") if match else ("", "")
        spelled, mark = word.lower(), before.rstrip().endswith("#")
        group = _group_of(spelled)
        if self.code:  # the text has the number without the code
            if group is not None:
                return group == _ANY_KIND or self.code[0] == spelled[0] or "ticket" in _GROUPS[group]
            return mark
        own = _group_of(self.kind.lower())
        if word and group is None and (gap in ("", "-", "_", "/", ".") or (gap == " " and word.isupper())):
            return own in (None, _ANY_KIND) or spelled[0] == self.kind[0].lower()
        return own in (None, _ANY_KIND) or group in (None, _ANY_KIND, own)


def identifiers(question: str) -> tuple[Identifier, ...]:
    """Return the identifiers of a question in order, each once.

    Args:
        question: Text of any script; only ASCII letters and digits make an identifier.
    """
    if not _may_have(question):
        return ()
    return _identifiers(question)


def _may_have(question: str) -> bool:
    """Whether a question has a digit, or names a code or a hash without one."""
    return any(map(str.isdigit, question)) or bool(_SPELLED.search(question) or _NAMED_HASH.search(question))


@lru_cache(maxsize=256)
def _identifiers(question: str) -> tuple[Identifier, ...]:
    shown = text = _plain(question)
    if text.isascii() and text.isupper() and text.count(" ") > 1:  # capitals say nothing there
        text = text.lower()
    found: dict[int, Identifier] = {}
    for finder in _FINDERS:
        for start, end, identifier in finder(text):
            found[start] = replace(identifier, text=" ".join(shown[start:end].split()))
            text = text[:start] + " " * (end - start) + text[end:]
        if finder is _kinds:
            text = AMOUNTS.sub(lambda match: " " * len(match[0]), text)
    by_text: dict[str, Identifier] = {}
    for _, identifier in sorted(found.items(), key=itemgetter(0)):
        by_text.setdefault(identifier.text.lower(), identifier)
    return tuple(by_text.values())[:MAX_IDENTIFIERS]


Found = Iterator[tuple[int, int, Identifier]]


def _versions(text: str) -> Found:
    for match in _VERSION.finditer(text):
        yield match.start(), match.end(), _version(match[0], match[1])
    for match in _DOTTED.finditer(text):
        groups = match[1].split(".")
        if regrouped("".join(groups)) and min(map(len, groups[1:])) >= 3:  # no version has such parts
            if not (groups[-1] == "000" or UNIT.match(text, match.end())):
                yield match.start(), match.end(), _segments(match[0], groups)
        elif not AMOUNTS.fullmatch(match[0]):
            yield match.start(), match.end(), _version(match[0], match[1])


def _kinds(text: str) -> Found:
    for match in _OF_KIND.finditer(text):
        digits, noun = match["digits"], match["kind"].lower()
        sure = match["mark"] or match["number"] or "nummer" in noun
        least = 2 if _group_of(noun) in _COUNTED else 3
        if not sure and (len(digits) < least or noun.endswith("s") or IS_YEAR.fullmatch(digits)):
            continue
        if sure or not UNIT.match(text, match.end()):
            yield match.start(), match.end(), _numbered(match[0], digits, kind=_singular(noun))


def _hashes(text: str) -> Found:
    for match in _NAMED_HASH.finditer(text):
        group = match.lastindex or 1
        yield match.start(group), match.end(group), _segments(match[group], _split(match[group]))


def _grouped(text: str) -> Found:
    """Find numbers written in groups, as of an account, a phone or a card."""
    for start, end in accounts(text):
        yield start, end, _segments(text[start:end], text[start:end].lower().split())
        text = text[:start] + " " * (end - start) + text[end:]
    for match in _GROUPED.finditer(text):
        groups = re.findall(r"\d+", match[0])
        if match[0].lstrip("(")[0] == "+":  # a text may have another prefix
            groups = groups[1:]
        elif groups[0][0] == "0":
            groups[0] = groups[0].lstrip("0") or "0"
        if sum(map(len, groups)) >= 9 and max(map(len, groups)) >= 4:
            yield match.start(), match.end(), _segments(match[0], groups, leading=_LEADING)
        elif [len(group) for group in groups] == [4, 4] and not any(
            IS_YEAR.fullmatch(group) or group.endswith("00") for group in groups
        ):
            yield match.start(), match.end(), _segments(match[0], groups)


def _spaced(text: str) -> Found:
    for match in _SPACED.finditer(text):
        if f"{match[1]}-{match[2]}".lower() not in _COMMON:
            yield match.start(), match.end(), _numbered(match[0], match[2], code=match[1])


def _spelled(text: str) -> Found:
    for match in _SPELLED.finditer(text):
        yield match.start(1), match.end(1), _segments(match[1], [match[1].lower()])


def _tokens(text: str) -> Found:
    for match in _TOKEN.finditer(text):
        start = match.start(2)
        for piece in re.finditer(r"[^./]+", match[2]):
            mark = "#" if match[1] and not piece.start() else ""
            if identifier := _of_token(mark, piece[0]):
                yield start + piece.start() - len(mark), start + piece.end(), identifier


def _of_token(mark: str, token: str) -> Identifier | None:
    """Return the identifier that a token of letters, digits, hyphens and underscores is, if any."""
    lower, segments = token.lower(), _split(token)
    if not any(map(str.isdigit, token)) or not segments or lower.replace("_", "-") in _COMMON:
        return None
    if token.isdigit():
        wanted = len(token) >= 3 if mark else len(token) >= 5 and not token.endswith("000")
        return _numbered(f"{mark}{token}", token) if wanted else None
    if len(segments) > 1:
        return _segments(token, segments) if _UUID.fullmatch(token) else _joined(token, segments)
    runs = _RUNS.findall(lower)
    if len(runs) == 2 and runs[1].isdigit():
        year = IS_YEAR.fullmatch(runs[1]) is not None
        if len(runs[1]) >= 3 and not (year and len(runs[0]) > 3) and len(runs[0]) <= 10:
            return _numbered(token, runs[1], code=runs[0])
        return None
    return _segments(token, segments) if _is_mixed(token, runs) else None


def _split(token: str) -> list[str]:
    return [segment for segment in re.split("[-_:]", token.lower()) if segment]


def _joined(token: str, segments: list[str]) -> Identifier | None:
    """Return the identifier that segments joined by hyphens are, if any."""
    first, last = segments[0], segments[-1]
    if all(map(str.isdigit, segments)):
        years = len(segments) == 2 and first[0] != "0" != last[0] and int(first) < int(last) <= MAX_YEAR
        return _segments(token, segments) if sum(map(len, segments)) >= 7 and not years else None
    capitals = [part for part in re.split("[-_]", token) if part.isalpha() and part.isupper()]
    if len(segments) == 2 and first.isalpha() and last.isdigit():
        year = IS_YEAR.fullmatch(last) is not None
        long = len(last) >= 3 and not (year and not capitals)
        if long or last[0] == "0" or (capitals and len(first) > 1):
            return _numbered(token, last, code=first)
        return None
    if first.isdigit() and not token.isupper():  # 5-year-old
        return (
            _segments(token, segments)
            if any(_is_mixed(part, _RUNS.findall(part)) for part in segments)
            else None
        )
    if last.isdigit() or capitals or any(_is_mixed(part, _RUNS.findall(part)) for part in segments):
        digits = sum(map(str.isdigit, token))
        return _segments(token, segments) if digits >= 2 or len(segments) > 2 else None
    return None


def _is_mixed(token: str, runs: list[str]) -> bool:
    """Whether letters and digits of a token alternate as in a code."""
    digits = sum(len(run) for run in runs if run.isdigit())
    letters = [run for run in runs if run.isalpha()]
    if not digits or not letters:
        return False
    if len(runs) == 2:  # 4821b; a unit was no token
        return runs[0].isdigit() and digits >= 3 and (len(runs[1]) <= 2 or not token.islower())
    if _HEX.fullmatch(token) and len(token) >= 4:
        return len(token) > 5 or letters != ["e"]  # 1e10
    return len(token) >= 5 and digits >= 2 and (not token.islower() or max(map(len, letters)) < 4)


_FINDERS = (_hashes, _versions, _kinds, _grouped, _spaced, _spelled, _tokens)


# -- spellings ------------------------------------------------------------------------------------


def _version(text: str, number: str) -> Identifier:
    """Build a version; a text with one of its series (2.3.1 of 2.3) mentions it."""
    parts = number.split(".")
    sets = [frozenset({parts[0], f"v{parts[0]}"}), *(frozenset({part}) for part in parts[1:])]
    whole = rf"(?<![A-Za-z0-9.])v?{re.escape(number)}(?!\d)"
    return Identifier(text, tuple(sets), number, _whole=whole)


def _numbered(text: str, digits: str, *, code: str = "", kind: str = "") -> Identifier:
    """Build a number, with the letters or the noun before it."""
    code, bare = code.lower(), digits.lstrip("0") or digits
    if code in _GROUP_OF:  # ticket-4821
        code, kind = "", code
    options = {digits, bare} | ({f"{code}{digits}"} if code else set())
    begins = rf"(?<![A-Za-z0-9]){re.escape(code)}{_BETWEEN}0*{bare}" if code else ""
    whole = rf"{begins}(?![A-Za-z0-9]|[.,]\d)" if code else ""
    longer = rf"{begins}[A-Za-z0-9]" if code else ""
    return Identifier(
        text, (frozenset(options),), bare, code, kind, joined=regrouped(bare, code),
        _whole=whole, _longer=longer, _number=bare,
    )  # fmt: skip


def _segments(text: str, segments: list[str], *, leading: str = "") -> Identifier:
    """Build an identifier of segments, which a text may join, perhaps behind a `leading` pattern."""

    def rarity(at: int) -> tuple[bool, bool, int]:
        part = segments[at]
        return any(map(str.isdigit, part)), IS_YEAR.fullmatch(part) is None, len(part)

    key = max(range(len(segments)), key=rarity)
    joins = ("".join(segments[i:j]) for i in range(key + 1) for j in range(key + 1, len(segments) + 1))
    spelled = r"[\W_]{0,2}".join(map(re.escape, segments))
    whole = rf"(?<![A-Za-z0-9]){leading}{spelled}(?![A-Za-z0-9])"
    longer = rf"(?<![A-Za-z0-9]){leading}{spelled}[A-Za-z0-9]"
    is_hash = len(segments) == 1 and _HEX.fullmatch(text) is not None
    return Identifier(
        text, (frozenset(joins),), segments[key], may_be_short=is_hash, joined=regrouped("".join(segments)),
        leading=leading, _parts=tuple(segments), _whole=whole, _longer=longer,
    )  # fmt: skip


@lru_cache(maxsize=1_024)
def _pattern(pattern: str) -> re.Pattern[str]:
    """Compile a pattern at its first use: the text of most chunks lacks the identifier's part."""
    return re.compile(pattern, re.IGNORECASE)


def _group_of(word: str) -> int | None:
    """Return the group of a noun, singular or plural; None for any other word."""
    if word.endswith("nummer"):
        return _ANY_KIND
    return _GROUP_OF.get(word, _GROUP_OF.get(word.removesuffix("s")))


def _singular(kind: str) -> str:
    word = re.sub(r"\s", "-", kind)
    return word if word in _GROUP_OF else word.removesuffix("s")


def _plain(text: str) -> str:
    """Return a text with the characters of its identifiers in their plain form."""
    if text.isascii():
        return text
    return _DASHES.sub("-", unicodedata.normalize("NFKC", text.replace("№", "#")))


def sentence(unknown: tuple[str, ...]) -> str:
    """Return the sentence that no memory mentions these; empty without any."""
    before = ", ".join(unknown[:-1])
    return f"Nothing here mentions {before}{' or ' if before else ''}{unknown[-1]}." if unknown else ""
