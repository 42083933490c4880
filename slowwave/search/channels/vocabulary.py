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
MOST_ASKED = 10_000
"""Words that queries have and texts have not, which are kept (count)."""
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
        self._numbers: dict[str, int] = {}  # of terms
        self._terms: dict[str, str | None] = {}  # of words of texts
        self._asked: dict[str, str | None] = {}  # of other words of queries
        self._lock = threading.Lock()

    def of_texts(self, texts: pl.Series, table: Tokenizer) -> tuple[Ints, Ints]:
        """Pairs of a term and the row of a text, each as often as it is said.

        Args:
            texts: (n,).
            table: its index makes terms of words that are new.
        """
        said = texts.str.extract_all(WORD).to_frame("word").with_row_index("row").explode("word").drop_nulls()
        distinct = said["word"].unique()
        with self._lock:
            made = self._made_of(distinct.to_list(), self._terms, table)
            known = self._numbers
            numbers = [NONE if term is None else known.setdefault(term, len(known)) for term in made]
        terms = said["word"].replace_strict(distinct, numbers, return_dtype=pl.Int64).to_numpy()
        there = terms != NONE
        return terms[there], said["row"].to_numpy().astype(np.int64)[there]

    def of_query(self, query: str, table: Tokenizer) -> list[int]:
        """The terms of a query that texts have, each as often as it is said."""
        words = _words(as_asked(query))
        with self._lock:
            if len(self._asked) > MOST_ASKED:
                self._asked.clear()
            self._made_of([word for word in words if word not in self._terms], self._asked, table)
            terms = [self._terms[word] if word in self._terms else self._asked[word] for word in words]
            return [self._numbers[term] for term in terms if term is not None and term in self._numbers]

    def _made_of(
        self, words: Sequence[str], known: dict[str, str | None], table: Tokenizer
    ) -> list[str | None]:
        """The term of each word; those that are not known are asked for, and known from then on."""
        if new := [word for word in dict.fromkeys(words) if word not in known]:
            known.update(zip(new, self._made(new, table), strict=True))
        return [known[word] for word in words]

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
