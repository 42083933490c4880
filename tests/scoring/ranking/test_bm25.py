from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.scoring.ranking.bm25 import K1, B, Bm25, WordIndex

texts = st.lists(st.lists(st.integers(0, 6), max_size=8), max_size=12)
pieces = st.lists(texts, max_size=6)
queries = st.lists(st.integers(0, 8), max_size=4)


def appended(index: WordIndex, said: list[list[int]]) -> WordIndex:
    terms = [term for text in said for term in text]
    rows = [row for row, text in enumerate(said) for _ in text]
    return index.appended(np.array(terms, dtype=np.int64), np.array(rows, dtype=np.int64), len(said))


def by_hand(said: list[list[int]], alive: list[bool], query: list[int]) -> list[float]:
    """The formula, text by text."""
    there = [text for text, lives in zip(said, alive, strict=True) if lives]
    if not there:
        return [0.0] * len(said)
    mean = sum(map(len, there)) / len(there)
    scores = []
    for text, lives in zip(said, alive, strict=True):
        score = 0.0
        for term in query:
            found = sum(term in one for one in there)
            if lives and term in text:
                idf = math.log(1 + (len(there) - found + 0.5) / (found + 0.5))
                times = text.count(term)
                score += idf * times * (K1 + 1) / (times + K1 * (1 - B + B * len(text) / mean))
        scores.append(score)
    return scores


def test_golden_numbers():
    index = appended(WordIndex(), [[0, 1, 2, 0, 3], [4, 0, 5], [5, 4, 6, 7, 2, 2], [0]])
    alive = np.ones(4, dtype=np.bool_)
    # Three of four say 0: ln(1 + 1.5 / 3.5) = .35667; mean length 15/4; the last one: 2.2 / (1 + 1.2 · .45).
    last = 0.35667494 * 2.2 / (1 + 1.2 * (0.25 + 0.75 / 3.75))
    assert Bm25(index, alive).scores([0])[0][3] == pytest.approx(last)
    assert Bm25(index, alive).scores([9])[0].tolist() == [0, 0, 0, 0]


@given(pieces, queries, st.randoms(use_true_random=False))
def test_it_is_the_formula_however_the_rows_came(parts, query, random):
    index, said = WordIndex(), []
    for part in parts:
        index, said = appended(index, part), said + part
    alive = [random.random() < 0.7 for _ in said]
    scores, _ = Bm25(index, np.array(alive, dtype=np.bool_)).scores(query)
    assert scores.tolist() == pytest.approx(by_hand(said, alive, query))
    assert len(index.blocks) <= 2 + math.log2(1 + sum(map(len, said)))


def test_a_longer_index_leaves_the_shorter_one_as_it_is():
    first = appended(WordIndex(), [[0], [1]])
    before = Bm25(first, np.ones(2, dtype=np.bool_)).scores([0])[0].tolist()
    appended(first, [[0, 0]] * 5)
    assert Bm25(first, np.ones(2, dtype=np.bool_)).scores([0])[0].tolist() == before


def test_what_no_row_exceeds():
    """By hand: two rows alive, of two terms each: the norm is 1.2, and a term said once has 1 of 2.2."""
    words = Bm25(appended(WordIndex(), [[0, 1], [0, 2], [3]]), np.array([True, True, False]))
    common, one, none = math.log(1 + 0.5 / 2.5), math.log(1 + 1.5 / 1.5), math.log(1 + 2.5 / 0.5)
    assert words.scores([0])[1] == pytest.approx(common)
    assert words.scores([0, 1, 1])[1] == pytest.approx(common + 2 * one)
    assert words.scores([0], unsaid=2)[1] == pytest.approx(common + 2 * 2.2 * none)
    assert words.scores([3])[1] == pytest.approx(2.2 * none)  # the one that says it is there no longer
    assert words.scores([])[1] == 0
    often = Bm25(appended(WordIndex(), [[0, 0, 0, 1], [0, 2]]), np.ones(2, dtype=np.bool_))
    assert often.scores([0])[1] == often.scores([0])[0].max()


@given(
    st.lists(st.lists(st.integers(0, 6), max_size=30), max_size=12), st.lists(st.integers(0, 8), max_size=6)
)
def test_no_row_exceeds_it(said: list[list[int]], query: list[int]):
    scores, bound = Bm25(appended(WordIndex(), said), np.ones(len(said), dtype=np.bool_)).scores(query)
    assert (scores <= bound + 1e-9).all()


@given(texts, st.lists(st.integers(0, 8), max_size=4), st.randoms(use_true_random=False))
def test_shared_terms_count_by_their_rarity(said, asked, random):
    alive = [random.random() < 0.7 for _ in said]
    rows, rarity = Bm25(appended(WordIndex(), said), np.array(alive, dtype=np.bool_)).shared(asked)
    found = dict(zip(rows.tolist(), rarity.tolist(), strict=True))
    for row, text in enumerate(said):
        expected = sum(
            1
            - math.log(max(sum(term in one for one, lives in zip(said, alive, strict=True) if lives), 1))
            / math.log(100)
            for term in set(asked) & set(text)
        )
        assert found.get(row, 0.0) == pytest.approx(expected)


def test_a_common_term_is_not_shared():
    texts_of_rows = [[0, 1] if row < 2 else [0] if row < 20 else [2] for row in range(200)]
    rows, rarity = Bm25(appended(WordIndex(), texts_of_rows), np.ones(200, dtype=np.bool_)).shared([0, 1])
    assert rows.tolist() == [0, 1], "twenty of 200 have the other term"
    assert rarity.tolist() == pytest.approx([1 - math.log(2) / math.log(200)] * 2)
