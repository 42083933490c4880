"""Whether two texts are about the same subject, so that the newer may replace the older (rule 2.3).

A superseded memory leaves default search: when in doubt, the answer is no.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import PurePosixPath

from slowwave.quality.divergence.comparing import compare
from slowwave.quality.divergence.difference import Difference
from slowwave.quality.divergence.naming import name_different_things
from slowwave.quality.divergence.tokens import Traits, traits
from slowwave.scoring.wordlists import words as word_list

# Share of the words outside the exchanged values that both statements hold, of those of the shorter one.
FRAME = 0.6
# The same for two texts that one title or one source already ties together.
TIED_FRAME = 0.3
_VALUES = frozenset({"number", "unit", "date", "time", "version", "negation"})
_GENERIC = frozenset(word_list("slowwave.quality", "generic"))
_CHANGED = re.compile(
    r"\b(?:since|as of|no longer|any ?more|now|from now on|instead|changed (?:to|from)|moved (?:to|from)"
    r"|switched|replaces|replaced|used to|updated|corrected|starting (?:on|from|in|with)"
    r"|effective (?:from|on)|seit|ab sofort|nicht mehr|désormais|ahora|ya no)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Subject:
    """What a memory is about, as far as its words say: title, source (path or empty), and its traits."""

    title: str
    source: str
    text: Traits


def same_subject(left: Subject, right: Subject, differences: tuple[Difference, ...] | None = None) -> bool:
    """Whether one of two memories replaces what the other states. Symmetric; precision before recall.

    True for one source, for one specific title, or for one statement with another value (number, date, time,
    version) that names the same thing or says itself that something changed. A different name, letter,
    identifier or number that names a thing (flat 8) in the title or the statement makes it another subject,
    and so does the same file name in another folder.

    Args:
        left: one of them.
        right: the other.
        differences: ``compare(left.text, right.text)``, where that is known already.
    """
    if different_places((left.title, left.source), (right.title, right.source)):
        return False
    if differences is None:
        differences = compare(left.text, right.text)
    shared = _frame(left.text, right.text, differences)
    if left.source and left.source == right.source:
        return shared >= TIED_FRAME
    if name_different_things(left.text, right.text):
        return False
    if any(one.kind in {"entity", "identifier", "path", "url", "order"} for one in differences):
        return False
    one_title = _folded(left.title) == _folded(right.title) and _specific(left.title)
    if one_title and not (left.source and right.source):
        return shared >= TIED_FRAME
    return shared >= FRAME and _same_statement(left.text, right.text, differences)


def different_places(left: tuple[str, str], right: tuple[str, str]) -> bool:
    """Whether titles and sources alone tell two memories (title, source) apart."""
    return _siblings(left[1], right[1]) or _titles_differ(left[0], right[0])


def _same_statement(left: Traits, right: Traits, differences: tuple[Difference, ...]) -> bool:
    exchanged = [one for one in differences if (one.left and one.right) or one.kind == "negation"]
    if not exchanged or any(one.kind not in _VALUES for one in exchanged):
        return False
    # What a statement begins with is what it is about; "Ada" alone there may be any capitalised word.
    opening = [[token.key for token in side.tokens[:2]] for side in (left, right)]
    named = any(_names(token.kind) for side in (left, right) for token in side.tokens[:2])
    # A dated or timed thing may well happen again: that it was moved must be said.
    dated = any(one.kind in {"date", "time"} for one in exchanged)
    about_one = named and opening[0] == opening[1] and not dated
    return about_one or any(_CHANGED.search(side.text) for side in (left, right))


def _names(kind: str) -> bool:
    return kind in {"entity", "identifier", "camel", "url", "path"}


def _frame(left: Traits, right: Traits, differences: tuple[Difference, ...]) -> float:
    """Share of the shorter text's words, the exchanged values aside, that the other text has too."""
    exchanged = [one for one in differences if one.left and one.right]
    sides = [
        Counter(token.key for token in side.tokens if (token.start, token.end) not in spans)
        for side, spans in (
            (left, {span for one in exchanged for span in one.left_at}),
            (right, {span for one in exchanged for span in one.right_at}),
        )
    ]
    least = min(side.total() for side in sides)
    return (sides[0] & sides[1]).total() / least if least else 0.0


def _siblings(left: str, right: str) -> bool:
    """The same file name in two folders: two versions of a page, both of them current."""
    return bool(left and right) and left != right and PurePosixPath(left).name == PurePosixPath(right).name


def _titles_differ(left: str, right: str) -> bool:
    if not left or not right or not (_specific(left) and _specific(right)):
        return False
    return any(one.left and one.right for one in compare(traits(left), traits(right)))


def _specific(title: str) -> bool:
    """Whether a title names something: a generic word, a bare date or a number does not."""
    words = [token for token in traits(title).tokens if token.kind not in {"date", "time", "number", "one"}]
    return any(token.form not in _GENERIC for token in words)


def _folded(title: str) -> str:
    return " ".join(title.casefold().split())
