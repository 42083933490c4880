"""Terms of texts and queries, as the full-text index cuts them.

LanceDB stems words to terms; here texts are split into words, and each distinct word is looked up once. So a
snapshot scores a text exactly as the index does.
"""

from __future__ import annotations

import re
import threading
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from slowwave.index.mapped_file import Texts
from slowwave.scoring.ranking.word_pieces import pieces
from slowwave.scoring.ranking.words import as_asked, stem

WORD = r"[\p{Alphabetic}\p{N}]+"
"""Words of LanceDB's simple tokenizer, which cuts at each character that Rust calls non-alphanumeric."""
NONE = -1
Ints = npt.NDArray[np.int64]
MAX_QUERY_WORDS = 10_000
"""Maximum cached query words that no text has (count)."""
LONG_WORD = 40
"""Characters from which the index leaves a word out (count)."""
_EDGE = "0edge0"


class Tokenizer(Protocol):
    """Table with a full-text index."""

    def tokenize(self, query: str, *, column: str) -> Sequence[Any]:
        """Return terms with their word positions; stop words have a position and no term."""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Words of texts and their terms in a mapped file; immutable.

    Attributes:
        words: Words of texts.
        number_of_word: Number of each word's term, `NONE` for a stop word, (words,).
        terms: Distinct terms.
        number_of_term: Number from 0, each once, (terms,).
    """

    words: Texts
    number_of_word: npt.NDArray[np.int32]
    terms: Texts
    number_of_term: npt.NDArray[np.int32]

    def word(self, word: str) -> int | None:
        """Return the number of a word's term; None if no text has the word."""
        at = self.words.find(word)
        return None if at is None else int(self.number_of_word[at])

    def term(self, term: str) -> int | None:
        """Return the number of a term; None if no text has it."""
        at = self.terms.find(term)
        return None if at is None else int(self.number_of_term[at])

    def containing(self, part: str) -> list[int]:
        """Return the numbers of terms that contain a part."""
        numbers: list[int] = self.number_of_term[self.terms.containing(part)].tolist()
        return numbers


class TermsOfQuery(NamedTuple):
    """Terms of a query, as `Bm25.scores` takes them.

    Attributes:
        terms: Known terms, with repetitions.
        unknown: Words that no text has (count).
        pieces: Those of `terms` that are pieces of words. One that no text has is left out.
    """

    terms: list[int]
    unknown: int
    pieces: frozenset[int]


class _JoinedTexts:
    """Growing list of texts that are searched as one: a search of all is fast, one of each is slow."""

    def __init__(self) -> None:
        self._waiting: list[str] = []
        self._whole, self._starts, self._size = "\n", [0], 1

    def append(self, text: str) -> None:
        """Append a text."""
        self._waiting.append(text)

    def containing(self, part: str) -> list[int]:
        """Return the places of the texts that contain a part, ascending."""
        if self._waiting:
            for text in self._waiting:
                self._starts.append(self._size)
                self._size += len(text) + 1
            self._whole += "".join(f"{text}\n" for text in self._waiting)
            self._waiting = []
        found, at = [], self._whole.find(part)
        while at >= 0:
            place = bisect_right(self._starts, at) - 1
            found.append(place - 1)
            following = self._starts[place + 1] if place + 1 < len(self._starts) else self._size
            at = self._whole.find(part, following)
        return found


class Vocabulary:
    """Growing numbering of terms.

    Args:
        column: Column whose index turns words into terms.
        said: Words of earlier texts.
    """

    def __init__(self, column: str = "search_text", *, file: Lexicon | None = None) -> None:
        self._column = column
        self._file = file
        self._numbers: dict[str, int] = {}  # of terms
        self._words: dict[str, int] = {}  # of texts: number of the term
        self._query_words: dict[str, str | None] = {}  # of other words of queries
        self._with_digits: list[int] = []  # numbers of terms added since the file
        self._digits = _JoinedTexts()
        self._lock = threading.Lock()

    def of_texts(self, texts: pl.Series, table: Tokenizer) -> tuple[Ints, Ints]:
        """Return pairs of term and text row, each as often as it occurs.

        Args:
            texts: Texts, (n,).
            table: Table whose index turns new words into terms.
        """
        words = (
            texts.str.extract_all(WORD).to_frame("word").with_row_index("row").explode("word").drop_nulls()
        )
        distinct = words["word"].unique()
        with self._lock:
            numbers = self._numbered(distinct.to_list(), table)
        terms = words["word"].replace_strict(distinct, numbers, return_dtype=pl.Int64).to_numpy()
        has_term = terms != NONE
        return terms[has_term], words["row"].to_numpy().astype(np.int64)[has_term]

    def of_query(self, query: str, table: Tokenizer, *, in_pieces: bool = False) -> TermsOfQuery:
        """Return the terms of a query.

        Args:
            query: Words.
            table: Table whose index turns new words into terms.
            in_pieces: Whether to add the pieces of its words.
        """
        words = query_words(query)
        cut = list(pieces(query)) if in_pieces else []
        with self._lock:
            if len(self._query_words) > MAX_QUERY_WORDS:
                self._query_words.clear()
            by_word = {word: self._word(word) for word in (*words, *cut)}
            fresh = [
                word for word, number in by_word.items() if number is None and word not in self._query_words
            ]
            self._query_words.update(zip(fresh, self._terms_asked(fresh, table), strict=True))
            for word, number in by_word.items():
                if number is None:
                    term = self._query_words[word]
                    by_word[word] = NONE if term is None else self._term(term)
        numbers = [by_word[word] for word in words]
        of_pieces = [number for piece in cut if (number := by_word[piece]) is not None]
        known = [number for number in (*numbers, *of_pieces) if number is not None and number != NONE]
        return TermsOfQuery(known, numbers.count(None), frozenset(of_pieces))

    def numbers_of(self, terms: Sequence[str]) -> list[int]:
        """Return the numbers of those terms that a text has."""
        with self._lock:
            return [number for term in terms if (number := self._term(term)) is not None]

    def containing(self, part: str) -> list[int]:
        """Return the numbers of terms with a digit that contain a part.

        Args:
            part: Lower-case letters and digits.
        """
        of_file = [] if self._file is None else self._file.containing(part)
        with self._lock:
            return of_file + [self._with_digits[at] for at in self._digits.containing(part)]

    def added(self) -> tuple[dict[str, int], dict[str, int]]:
        """Return the numbers of words and of terms added since the mapped file."""
        return self._words, self._numbers

    def _numbered(self, words: Sequence[str], table: Tokenizer) -> list[int]:
        """Return the term number of each word of texts; `NONE` for a stop word."""
        numbers = [self._word(word) for word in words]
        fresh = [word for word, number in zip(words, numbers, strict=True) if number is None]
        for word, term in zip(fresh, self._terms_of(fresh, table), strict=True):
            self._words[word] = NONE if term is None else self._number(term)
        return [
            self._words[word] if known_number is None else known_number
            for word, known_number in zip(words, numbers, strict=True)
        ]

    def _word(self, word: str) -> int | None:
        number = self._words.get(word)
        return self._file.word(word) if number is None and self._file is not None else number

    def _term(self, term: str) -> int | None:
        number = self._numbers.get(term)
        return self._file.term(term) if number is None and self._file is not None else number

    def _number(self, term: str) -> int:
        """Return the number of a term; a new one gets the next."""
        if (number := self._term(term)) is None:
            number = len(self._numbers) + (0 if self._file is None else len(self._file.terms))
            self._numbers[term] = number
            if not term.isalpha():
                self._with_digits.append(number)
                self._digits.append(term)
        return number

    def _terms_asked(self, words: Sequence[str], table: Tokenizer) -> list[str | None]:
        """Return what `_terms_of` does; words with a digit, mostly identifiers, do not wait for the table."""
        stemmed = {word: stem(word.lower()) for word in words if _is_stemmed_here(word)}
        others = [word for word in words if word not in stemmed]
        terms = dict(zip(others, self._terms_of(others, table), strict=True))
        return [stemmed[word] if word in stemmed else terms[word] for word in words]

    def _terms_of(self, words: Sequence[str], table: Tokenizer) -> list[str | None]:
        """Return the term of each word; None for stop words and overlong words."""
        terms: list[str | None] = [None] * len(words)
        if not words:
            return terms
        # Positions count from the first term, so one has to stand before the words.
        tokens = list(table.tokenize(" ".join([_EDGE, *words, _EDGE]), column=self._column))
        if tokens[-1].position == len(words) + 1:
            for token in tokens[1:-1]:
                terms[token.position - 1] = token.text
            return terms
        if len(words) == 1:  # the index splits it further: use its first part
            return [tokens[1].text]
        half = len(words) // 2
        return self._terms_of(words[:half], table) + self._terms_of(words[half:], table)


def _is_stemmed_here(word: str) -> bool:
    """Whether a word's term is its stem: ASCII with a digit, so no stop word, and not long."""
    return len(word) < LONG_WORD and word.isascii() and word.isalnum() and any(map(str.isdigit, word))


_IN_QUERY = re.compile(r"\w+")


def query_words(query: str) -> list[str]:
    """Return the words of a query as the full-text index cuts them."""
    text = as_asked(query)
    if text.isascii():
        return [part for word in _IN_QUERY.findall(text) for part in word.split("_") if part]
    parts: list[str] = pl.Series([text]).str.extract_all(WORD).explode().drop_nulls().to_list()
    return parts
