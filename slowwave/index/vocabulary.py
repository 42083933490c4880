"""The terms that texts and queries have in common with the full-text index.

LanceDB makes a term of a word; here texts are cut into words, and each distinct word is asked for once. So
what a snapshot says of a text is what the index says of it.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from slowwave.index.mapped_file import Texts
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


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Words of texts and their terms in a file that is mapped; it never changes.

    Attributes:
        words: of texts.
        number_of_word: that of its term, `NONE` of a stop word, (words,).
        terms: distinct.
        number_of_term: from 0 on, each once, (terms,).
    """

    words: Texts
    number_of_word: npt.NDArray[np.int32]
    terms: Texts
    number_of_term: npt.NDArray[np.int32]

    def word(self, word: str) -> int | None:
        """Number of the term of a word; None where no text says it."""
        at = self.words.find(word)
        return None if at is None else int(self.number_of_word[at])

    def term(self, term: str) -> int | None:
        """Number of a term; None where no text has it."""
        at = self.terms.find(term)
        return None if at is None else int(self.number_of_term[at])


class Vocabulary:
    """Numbers of terms; it grows.

    Args:
        column: whose index makes terms of words.
        said: what texts said before.
    """

    def __init__(self, column: str = "search_text", *, said: Lexicon | None = None) -> None:
        self._column = column
        self._said = said
        self._numbers: dict[str, int] = {}  # of terms
        self._words: dict[str, int] = {}  # of texts: number of the term
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
            numbers = self._numbered(distinct.to_list(), table)
        terms = said["word"].replace_strict(distinct, numbers, return_dtype=pl.Int64).to_numpy()
        there = terms != NONE
        return terms[there], said["row"].to_numpy().astype(np.int64)[there]

    def of_query(self, query: str, table: Tokenizer) -> tuple[list[int], int]:
        """The terms of a query that texts have, each as often as it is said, and how many no text has."""
        words = query_words(query)
        with self._lock:
            if len(self._asked) > MOST_ASKED:
                self._asked.clear()
            known = {word: self._word(word) for word in words}
            fresh = [word for word, number in known.items() if number is None and word not in self._asked]
            self._asked.update(zip(fresh, self._made(fresh, table), strict=True))
            for word, number in known.items():
                if number is None:
                    term = self._asked[word]
                    known[word] = NONE if term is None else self._term(term)
            numbers = [known[word] for word in words]
        there = [number for number in numbers if number is not None and number != NONE]
        return there, numbers.count(None)

    def said(self) -> tuple[dict[str, int], dict[str, int]]:
        """Number of the term of each word that texts say, and of each term, but for what a file had."""
        return self._words, self._numbers

    def _numbered(self, words: Sequence[str], table: Tokenizer) -> list[int]:
        """Number of the term of each word of texts; `NONE` of a stop word."""
        numbers = [self._word(word) for word in words]
        fresh = [word for word, number in zip(words, numbers, strict=True) if number is None]
        for word, term in zip(fresh, self._made(fresh, table), strict=True):
            self._words[word] = NONE if term is None else self._number(term)
        return [self._words[word] if one is None else one for word, one in zip(words, numbers, strict=True)]

    def _word(self, word: str) -> int | None:
        found = self._words.get(word)
        return self._said.word(word) if found is None and self._said is not None else found

    def _term(self, term: str) -> int | None:
        found = self._numbers.get(term)
        return self._said.term(term) if found is None and self._said is not None else found

    def _number(self, term: str) -> int:
        """Of a term; a new one has the next."""
        if (found := self._term(term)) is None:
            found = len(self._numbers) + (0 if self._said is None else len(self._said.terms))
            self._numbers[term] = found
        return found

    def _made(self, words: Sequence[str], table: Tokenizer) -> list[str | None]:
        """The term of each word, None of a stop word and of one that is too long for the index."""
        terms: list[str | None] = [None] * len(words)
        if not words:
            return terms
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


def query_words(query: str) -> list[str]:
    """The words of a query as the full-text index cuts them."""
    text = as_asked(query)
    if text.isascii():
        return [part for word in _IN_QUERY.findall(text) for part in word.split("_") if part]
    found: list[str] = pl.Series([text]).str.extract_all(WORD).explode().drop_nulls().to_list()
    return found
