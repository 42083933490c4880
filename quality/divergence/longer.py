"""Long texts: what they have in common is set aside before they are compared (rule 2.3).

Two notes of several pages are either versions of one text, and then nearly all their lines are equal, or
different texts, and then it does not take a close reading to see it.
"""

from __future__ import annotations

import re
from collections import Counter

from slowwave.quality.divergence.difference import Difference

LONG = 1_500
"""Length of the shorter text from which these shortcuts are taken (characters)."""
PLAINLY = 0.25
"""Share of its words that each of two texts must have for itself to be plainly different."""
PLAINLY_WORDS = 12
"""The same as a count, so that a few words in a short rest are read closely."""
_LONGEST_WORD = 12  # characters on average; above it the script has no spaces, and its "words" are sentences
_SHOWN = 5
_WORD = re.compile(r"\w+")


def words_of(text: str) -> frozenset[str]:
    """The distinct words of a text, without case."""
    return frozenset(_WORD.findall(text.casefold()))


def plainly_different(left: frozenset[str], right: frozenset[str]) -> tuple[Difference, ...]:
    """A difference in words, if each side has at least `PLAINLY` of its words for itself; else nothing."""
    only_left, only_right = left - right, right - left
    if min(len(only_left), len(only_right)) < PLAINLY_WORDS:
        return ()
    shares = len(only_left) / len(left), len(only_right) / len(right)
    unspaced = sum(map(len, only_left)) > _LONGEST_WORD * len(only_left)
    if min(shares) < PLAINLY or unspaced:
        return ()
    shown = [
        tuple(sorted(side, key=lambda word: (-len(word), word))[:_SHOWN]) for side in (only_left, only_right)
    ]
    return (Difference("word", shown[0], shown[1], (), ()),)


def without_common_lines(left: str, right: str) -> tuple[str, str]:
    """Both texts without the lines that the other one has too, as often as it has them."""
    lines = [[line.strip() for line in text.split("\n")] for text in (left, right)]
    common = Counter(lines[0]) & Counter(lines[1])
    rest = []
    for side in lines:
        left_over = Counter(common)
        kept = []
        for line in side:
            if left_over[line] > 0:
                left_over[line] -= 1
            else:
                kept.append(line)
        rest.append("\n".join(kept))
    return rest[0], rest[1]
