"""Word differences of two texts."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Final, NamedTuple

_PIECES: Final = re.compile(r"\s+|[^\W_]+(?:['’.\-][^\W_]+)*|.", re.DOTALL)
MAX_COMPARED: Final = 1_500  # words and signs of a text that are compared (count); the rest is unmarked


class Piece(NamedTuple):
    """Part of a text, and whether only this text has it."""

    text: str
    own: bool


def apart(first: str, second: str) -> tuple[list[Piece], list[Piece]]:
    """Split both texts into common and own pieces; joined they are the original texts."""
    first_words, second_words = _PIECES.findall(first), _PIECES.findall(second)
    first_pieces: list[Piece] = []
    second_pieces: list[Piece] = []
    matcher = SequenceMatcher(None, first_words[:MAX_COMPARED], second_words[:MAX_COMPARED], autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        own = kind != "equal"
        if a < b:
            first_pieces.append(Piece("".join(first_words[a:b]), own))
        if c < d:
            second_pieces.append(Piece("".join(second_words[c:d]), own))
    for words, pieces in ((first_words, first_pieces), (second_words, second_pieces)):
        if rest := "".join(words[MAX_COMPARED:]):
            pieces.append(Piece(rest, own=False))
    return first_pieces, second_pieces
