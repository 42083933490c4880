"""Subject comparison: whether the newer text may replace the older (rule 2.3).

A superseded memory is hidden from default search, so the answer is no when in doubt.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import PurePosixPath

from slowwave.quality.divergence.comparing import compare
from slowwave.quality.divergence.difference import Difference, exchanged_values
from slowwave.quality.divergence.naming import name_different_things
from slowwave.quality.divergence.tokens import Traits, traits
from slowwave.scoring.wordlists import words as word_list

# Minimum common share of the shorter statement's words, exchanged values aside.
FRAME = 0.6
# The same for two texts with one title or one source.
TIED_FRAME = 0.3
VALUES = frozenset({"number", "unit", "date", "time", "version", "negation"})
_GENERIC = frozenset(word_list("slowwave.quality", "generic"))
_CHANGED = re.compile(
    r"\b(?:since|as of|no longer|any ?more|now|from now on|instead|changed (?:to|from)|moved (?:to|from)"
    r"|switched|replaces|replaced|used to|updated|corrected|starting (?:on|from|in|with)"
    r"|effective (?:from|on)|seit|ab sofort|nicht mehr|désormais|ahora|ya no)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Subject:
    """Subject of a memory by its words: title, source (path or empty), and traits."""

    title: str
    source: str
    text: Traits


def same_subject(left: Subject, right: Subject, differences: tuple[Difference, ...] | None = None) -> bool:
    """Whether one of two memories replaces the other; symmetric, precision before recall.

    True for the same source, the same specific title, or the same statement with another value (number, date,
    time, version) that names the same thing or says that something changed. Another name, letter, identifier
    or naming number (flat 8) in title or statement makes another subject. So does the same file name in
    another folder.

    Args:
        left: first memory.
        right: second memory.
        differences: ``compare(left.text, right.text)``, if computed already.
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
    if any(difference.kind in {"entity", "identifier", "path", "url", "order"} for difference in differences):
        return False
    one_title = _folded(left.title) == _folded(right.title) and _specific(left.title)
    if one_title and not (left.source and right.source):
        return shared >= TIED_FRAME
    return shared >= FRAME and _same_statement(left.text, right.text, differences)


def different_places(left: tuple[str, str], right: tuple[str, str]) -> bool:
    """Whether titles and sources alone distinguish two memories (title, source)."""
    return _siblings(left[1], right[1]) or _titles_differ(left[0], right[0])


def _same_statement(left: Traits, right: Traits, differences: tuple[Difference, ...]) -> bool:
    exchanged = exchanged_values(differences)
    if not exchanged or any(difference.kind not in VALUES for difference in exchanged):
        return False
    # A statement's first words are its subject; "Ada" alone may be any capitalised word.
    opening = [[token.key for token in side.tokens[:2]] for side in (left, right)]
    named = any(_names(token.kind) for side in (left, right) for token in side.tokens[:2])
    # An event with a date may recur, so the text has to say that it was moved.
    dated = any(difference.kind in {"date", "time"} for difference in exchanged)
    about_one = named and opening[0] == opening[1] and not dated
    return about_one or any(_CHANGED.search(side.text) for side in (left, right))


def _names(kind: str) -> bool:
    return kind in {"entity", "identifier", "camel", "url", "path"}


def _frame(left: Traits, right: Traits, differences: tuple[Difference, ...]) -> float:
    """Return the common share of the shorter text's words, exchanged values aside."""
    exchanged = [difference for difference in differences if difference.left and difference.right]
    sides = [
        Counter(token.key for token in side.tokens if (token.start, token.end) not in spans)
        for side, spans in (
            (left, {span for difference in exchanged for span in difference.left_at}),
            (right, {span for difference in exchanged for span in difference.right_at}),
        )
    ]
    least = min(side.total() for side in sides)
    return (sides[0] & sides[1]).total() / least if least else 0.0


def _siblings(left: str, right: str) -> bool:
    """Whether two sources are the same file name in two folders.

    These are two current versions of a page.
    """
    return bool(left and right) and left != right and PurePosixPath(left).name == PurePosixPath(right).name


def _titles_differ(left: str, right: str) -> bool:
    if not left or not right or not (_specific(left) and _specific(right)):
        return False
    return any(difference.left and difference.right for difference in compare(traits(left), traits(right)))


def _specific(title: str) -> bool:
    """Whether a title is specific: more than generic words, dates and numbers."""
    words = [token for token in traits(title).tokens if token.kind not in {"date", "time", "number", "one"}]
    return any(token.form not in _GENERIC for token in words)


def _folded(title: str) -> str:
    return " ".join(title.casefold().split())
