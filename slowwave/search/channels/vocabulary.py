"""The terms that texts and queries have in common with the full-text index.

LanceDB makes a term of a word; here texts are cut into words, and each distinct word is asked for once. So
what a snapshot says of a text is what the index says of it.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from slowwave.scoring.ranking.words import as_asked

WORD = r"[\p{Alphabetic}\p{N}]+"
"""Where LanceDB's simple tokenizer cuts: at each character that Rust does not call alphanumeric."""
NONE = -1
Ints = npt.NDArray[np.int64]
_EDGE = "0edge0"


class Tokenizer(Protocol):
    """A table with a full-text index."""

    def tokenize(self, query: str, *, column: str) -> Sequence[Any]:
        """Terms with their position among the words of a text; stop words have a position and no term."""


class Vocabulary:
    """Numbers of terms; it grows.

    Args:
        column: whose index makes terms of words.
    """

    def __init__(self, column: str = "search_text") -> None:
        self._column = column
        self._terms: dict[str, int] = {}
        self._words: dict[str, int] = {}
        self._lock = threading.Lock()

    def of_texts(self, texts: pl.Series, table: Tokenizer) -> tuple[Ints, Ints]:
        """Pairs of a term and the row of a text, each as often as it is said.

        Args:
            texts: (n,).
            table: its index makes terms of words that are new.
        """
        said = texts.str.extract_all(WORD).to_frame("word").with_row_index("row").explode("word").drop_nulls()
        distinct = said["word"].unique()
        numbers = self._numbers(distinct.to_list(), table)
        terms = said["word"].replace_strict(distinct, numbers, return_dtype=pl.Int64).to_numpy()
        there = terms != NONE
        return terms[there], said["row"].to_numpy().astype(np.int64)[there]

    def of_query(self, query: str, table: Tokenizer) -> list[int]:
        """The terms of a query, each as often as it is said."""
        found = self._numbers(_words(as_asked(query)), table)
        return [number for number in found if number != NONE]

    def _numbers(self, words: Sequence[str], table: Tokenizer) -> list[int]:
        with self._lock:
            if new := [word for word in dict.fromkeys(words) if word not in self._words]:
                for word, term in zip(new, self._made(new, table), strict=True):
                    self._words[word] = (
                        NONE if term is None else self._terms.setdefault(term, len(self._terms))
                    )
            return [self._words[word] for word in words]

    def _made(self, words: Sequence[str], table: Tokenizer) -> list[str | None]:
        """The term of each word, None of a stop word and of one that is too long for the index."""
        terms: list[str | None] = [None] * len(words)
        # Positions are told from the first term on, so that there has to be one before the words.
        found = list(table.tokenize(" ".join([_EDGE, *words, _EDGE]), column=self._column))
        if found[-1].position == len(words) + 1:
            for one in found[1:-1]:
                terms[one.position - 1] = one.text
            return terms
        if len(words) == 1:  # the index cuts it otherwise: it is known by its first part
            return [found[1].text]
        half = len(words) // 2
        return self._made(words[:half], table) + self._made(words[half:], table)


_IN_QUERY = re.compile(r"\w+")


def _words(text: str) -> list[str]:
    if text.isascii():
        return [part for word in _IN_QUERY.findall(text) for part in word.split("_") if part]
    found: list[str] = pl.Series([text]).str.extract_all(WORD).explode().drop_nulls().to_list()
    return found
