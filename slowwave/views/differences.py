"""Two texts side by side: which words each has that the other has not."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Final, NamedTuple

_PIECES: Final = re.compile(r"\s+|[^\W_]+(?:['’.\-][^\W_]+)*|.", re.DOTALL)
MOST: Final = 1_500  # pieces of a text that are compared; the rest is taken as it is (count)


class Piece(NamedTuple):
    """A part of a text, and whether only this text has it."""

    text: str
    own: bool


def apart(first: str, second: str) -> tuple[list[Piece], list[Piece]]:
    """Both texts in pieces; put together again they are what they were."""
    one, two = _PIECES.findall(first), _PIECES.findall(second)
    left: list[Piece] = []
    right: list[Piece] = []
    matcher = SequenceMatcher(None, one[:MOST], two[:MOST], autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        own = kind != "equal"
        if a < b:
            left.append(Piece("".join(one[a:b]), own))
        if c < d:
            right.append(Piece("".join(two[c:d]), own))
    left += [Piece("".join(one[MOST:]), own=False)] if one[MOST:] else []
    right += [Piece("".join(two[MOST:]), own=False)] if two[MOST:] else []
    return left, right
