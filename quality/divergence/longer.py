"""Shortcuts for long texts: common lines are set aside before the comparison (rule 2.3).

Two notes of several pages are either versions of one text, with nearly all lines equal, or plainly different
texts.
"""

from __future__ import annotations

import re
from collections import Counter

from slowwave.quality.divergence.difference import Difference

LONG = 1_500
"""Minimum length of the shorter text for these shortcuts (characters)."""
PLAINLY = 0.25
"""Minimum share of exclusive words on each side of plainly different texts."""
PLAINLY_WORDS = 12
"""Minimum count of exclusive words, so that a short rest is compared in full."""
_LONGEST_WORD = 12  # average characters; above it the script has no spaces, and "words" are sentences
_SHOWN = 5
_WORD = re.compile(r"\w+")


def plainly_different(left: frozenset[str], right: frozenset[str]) -> tuple[Difference, ...]:
    """Return a difference in words if both sides have many exclusive words; else nothing."""
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
    """Remove the lines that both texts have, as often as both have them."""
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
