"""Numbers, dates and versions that name the subject: flat 8, the third floor (rule 2.3).

Statements with different names have different subjects: "the rent of flat 8 is 650 euros since Monday" does
not replace a rent of flat 1. The position of a number decides. Before the verb it is a name, unless it counts
or measures something. After the verb it is the value, unless it is in "of flat 8" or "for flat 8", or beside
another value that changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from slowwave.quality.divergence.lexicon_naming import (
    BEFORE_A_VALUE,
    CUES,
    GOVERNING,
    MARKS,
    PRONOUNS,
    THE,
    VERBS,
)
from slowwave.quality.divergence.token_collector import Token
from slowwave.quality.divergence.tokens import Traits


def _words(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True)).replace(r"\ ", r"\s+")


_NEAR, _FAR = 40, 160  # characters around a number that are checked
_MOST = 400  # maximum numbers of a text (count): a longer list names nothing
_KINDS = frozenset({"number", "version", "date", "time"})
_VERB = re.compile(rf"(?<![\w#-])(?:{_words(VERBS)})(?![\w-])", re.IGNORECASE)
_DIVIDER = re.compile(r"\s?[:=→]\s|\s[-–—]\s")
_SENTENCE = re.compile(r"[.!?;]\s+(?=[^\W\d_])|\n")
_CUE = re.compile(rf"(?:(?<!\w)(?:{_words(CUES)})(?:\s+(?:{_words(THE)}))*\s*|\()$", re.IGNORECASE)
_MARK = rf"(?:{_words(MARKS)})\s?"
_NOMINAL = re.compile(rf"(?<![\w'-])(?P<noun>[^\W\d_][\w'-]*)\s?(?P<mark>{_MARK})?$", re.IGNORECASE)
_MARKED = re.compile(rf"(?<!\w){_MARK}$", re.IGNORECASE)
_GOVERNED = re.compile(rf"(?<!\w)(?:{_words(GOVERNING)})\s+(?:(?:{_words(THE)})\s+)?$", re.IGNORECASE)
_ATTRIBUTE = re.compile(rf"(?<!\w)(?:{_words(THE)})\s+$", re.IGNORECASE)
_GOES_ON = re.compile(rf"\s+(?!(?:now|{_words(CUES)})(?!\w))[^\W\d_]+\s+\w", re.IGNORECASE)
_NEXT = re.compile(r"[ -](?P<noun>[^\W\d_]{3,})(?!\w)")
_MEASURED = re.compile(r"[%°$€£¥]|\d(?:\s?[^\W\d_]{2,}|\s[^\W\d_])$|[^\W\d_]\s\S+$")
_ORDINAL = re.compile(r"\d(?:st|nd|rd|th)$", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_][\w'-]*")
_CLAUSE = re.compile(r"[,.;!?](?=\s)")
_WHO = re.compile(rf"(?<![\w'-])(?:{_words(PRONOUNS)})(?![\w-])", re.IGNORECASE)
_ACTS = re.compile(r"[^\W\d_](?<![sui])s\s+$")  # "manages 12 pages", not "class 5"
_LETTER = re.compile(r"[^\W\d_](?!\w)")


def name_different_things(left: Traits, right: Traits) -> bool:
    """Whether numbers, dates or versions name different things in two texts."""
    if max(len(_stated(left)), len(_stated(right))) > _MOST:
        return False
    (left_names, left_values), (right_names, right_values) = (
        _parted(side, sure=True) for side in (left, right)
    )
    if left_names - right_names and right_names - left_names:
        return True
    (left_names, left_values), (right_names, right_values) = (
        _parted(side, sure=False) for side in (left, right)
    )
    return all(
        (
            left_names - right_names,
            right_names - left_names,
            left_values - right_values,
            right_values - left_values,
        )
    )


def _parted(side: Traits, *, sure: bool) -> tuple[set[str], set[str]]:
    """Split numbers, dates and versions into names of things and others.

    With `sure`, only certain names.
    """
    parts: tuple[set[str], set[str]] = (set(), set())
    for token in _stated(side):
        parts[not _names(side.text, token, sure=sure)].add(_key(side.text, token))
    return parts


def _stated(side: Traits) -> list[Token]:
    """Return numbers, dates and versions, except limits of validity ("since Monday")."""
    return [token for token in side.tokens if token.kind in _KINDS and not _is_when(side.text, token)]


def _key(text: str, token: Token) -> str:
    """Return the key of a token, with the letter that follows it: 5a."""
    return token.key + (letter[0] if (letter := _LETTER.match(text, token.end)) else "")


def _is_when(text: str, token: Token) -> bool:
    """Whether a token limits the validity of a statement."""
    return _CUE.search(text[max(0, token.start - _NEAR) : token.start]) is not None


def _names(text: str, token: Token, *, sure: bool) -> bool:
    """Whether a number, date or version names a thing; without `sure`, possibly."""
    before = _SENTENCE.split(text[max(0, token.start - _FAR) : token.start])[-1]
    written, after = text[token.start : token.end], text[token.end : token.end + _FAR]
    marked, noun = _MARKED.search(before) is not None, _NOMINAL.search(before)
    nominal = marked or (noun is not None and _is_noun(noun["noun"]))
    first = _is_in_front(before, after)
    counted = _is_plural(after) and not (nominal and first and not _ACTS.search(before))
    if token.kind == "number" and not marked and (counted or _is_measured(written)):
        return False
    if not nominal and not _is_attribute(before, written, after):
        dated = token.kind in ("date", "time") and _VERB.search(after) is not None
        return first and dated and any(map(_is_noun, _WORD.findall(before)))  # not: 5 pm is the time
    governed = _GOVERNED.search(before[: noun.start()] if noun and nominal else before)
    dotted = nominal and (token.kind == "version" or "." in written)  # Python 3.11 alone is a value
    return (first and not dotted) or governed is not None or not sure


def _is_noun(word: str) -> bool:
    return word.casefold() not in BEFORE_A_VALUE and word.casefold() not in THE and not _VERB.fullmatch(word)


def _is_in_front(before: str, after: str) -> bool:
    """Whether the position is before the verb.

    No verb or pronoun precedes, and a verb, colon or dash follows in the same clause.
    """
    if _VERB.search(before) or _DIVIDER.search(before) or _WHO.search(before):
        return False
    after = _CLAUSE.split(after, maxsplit=1)[0]
    return (_VERB.search(after) or _DIVIDER.match(after) or _GOES_ON.match(after)) is not None


def _is_measured(written: str) -> bool:
    """Whether a number has a unit or a currency: 713 euros, 40 %, 30 s."""
    return _MEASURED.search(written) is not None and not _ORDINAL.search(written)


def _is_plural(after: str) -> bool:
    following = _NEXT.match(after)
    return (
        following is not None
        and following["noun"].casefold().endswith("s")
        and not _VERB.fullmatch(following["noun"])
    )


def _is_attribute(before: str, written: str, after: str) -> bool:
    """Whether a number precedes the noun that it names: the third floor, the 12 bus."""
    following = _NEXT.match(after)
    if following is None or _VERB.fullmatch(following["noun"]):
        return False
    ordinal = _ORDINAL.search(written) is not None or "." in written or written.isalpha()
    return ordinal or (_ATTRIBUTE.search(before) is not None and not _is_plural(after))
