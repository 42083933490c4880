from __future__ import annotations

from functools import cache
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.scoring.ranking import maxscore as module
from slowwave.scoring.ranking.bm25 import K1, B, Bm25, Postings, WordIndex
from slowwave.scoring.ranking.maxscore import maxscore_rows


def index_of(seed: int, rows: int, terms: int, blocks: int = 3) -> WordIndex:
    """Texts of Zipf's words, in several blocks."""
    random = np.random.default_rng(seed)
    share = 1 / np.arange(1, terms + 1)
    index = WordIndex()
    for size in np.diff(np.linspace(0, rows, blocks + 1).astype(int)):
        lengths = random.integers(1, 30, size)
        said = random.choice(terms, lengths.sum(), p=share / share.sum())
        index = index.appended(said, np.repeat(np.arange(size), lengths), int(size))
    return index


def best_by_scoring_all(words: Bm25, query: list[int], passing: np.ndarray, size: int):
    """The best of all rows, each scored: those that score as much as the last of them are among them."""
    scores, _ = words.scores(query)
    rows = np.flatnonzero((scores > 0) & passing)
    if len(rows) > size:
        least = np.sort(scores[rows])[len(rows) - size] if size else np.inf
        rows = rows[scores[rows] >= least]
    return {int(row): float(scores[row]) for row in rows}


@given(
    st.integers(0, 50), st.lists(st.integers(0, 70), min_size=1, max_size=9), st.integers(0, 60),
    st.floats(0.2, 1.0), st.floats(0.2, 1.0), st.sampled_from([4, 2_048]), st.sampled_from([0, 16]),
)  # fmt: skip
def test_the_best_are_those_of_scoring_every_row_to_the_last_bit(
    seed, query, size, lives, passes, sample, look_up
):
    index = index_of(seed, 400, 60)
    random = np.random.default_rng(seed + 1)
    alive = random.random(400) < lives
    passing = alive & (random.random(400) < passes)
    words = Bm25(index, alive)
    with patch.multiple(module, SAMPLE_ROWS=sample, LOOK_UP=look_up):
        rows, scores = maxscore_rows(words, words.said(query)[0], passing, size)
    assert rows.tolist() == sorted(rows.tolist())
    found = dict(zip(rows.tolist(), scores.tolist(), strict=True))
    wanted = best_by_scoring_all(words, query, passing, size)
    assert {row: found[row] for row in wanted} == wanted  # the same floats
    least = min(wanted.values(), default=0.0)
    assert all(score < least or row in wanted for row, score in found.items())
    assert wanted or not size or not found


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("look_up", [0, 16, 1_000])
def test_they_are_among_many_rows_too(seed, look_up):
    """Of 20,000 rows words are looked up, sampled and left out."""
    index = many_rows()
    random = np.random.default_rng(seed)
    alive = random.random(20_000) < 0.9
    passing = alive & (random.random(20_000) < 0.8)
    words = Bm25(index, alive)
    for _ in range(8):
        query = random.integers(0, random.choice([8, 60, 400]), random.integers(1, 16)).tolist()
        size = int(random.choice([1, 10, 100]))
        with patch.multiple(module, SAMPLE_ROWS=int(random.choice([16, 2_048])), LOOK_UP=look_up):
            rows, scores = maxscore_rows(words, words.said(query)[0], passing, size)
        found = dict(zip(rows.tolist(), scores.tolist(), strict=True))
        wanted = best_by_scoring_all(words, query, passing, size)
        assert {row: found.get(row) for row in wanted} == wanted


@cache
def many_rows() -> WordIndex:
    return index_of(7, 20_000, 400, 4)


def test_a_common_word_is_looked_up_only_in_rows_that_a_rare_one_brought(monkeypatch):
    """1,000 of 1,000 rows say 0, three say 1: what 0 adds at most lifts no other row to these three."""
    terms = [*[0] * 1_000, *[1] * 3]
    index = WordIndex().appended(terms, [*range(1_000), 5, 6, 7], 1_000)
    words = Bm25(index, np.ones(1_000, dtype=np.bool_))
    looked: list[int] = []
    shares = words.shares
    monkeypatch.setattr(words, "shares", lambda rows, times: looked.append(len(rows)) or shares(rows, times))
    rows, scores = maxscore_rows(words, words.said([0, 1])[0], np.ones(1_000, dtype=np.bool_), 3)
    assert rows.tolist() == [5, 6, 7]
    assert len(set(scores.tolist())) == 1
    assert max(looked) <= 3


def test_the_peak_of_a_term_is_the_best_row_whatever_the_mean_length():
    counts, lengths = [3, 1, 2, 3, 1], [9, 2, 4, 12, 8]
    postings = Postings.of([4] * 5, range(5), counts)
    rows = postings.peak(4, slice(0, 5), np.array(lengths, dtype=np.int32))
    assert rows.tolist() == [1, 2, 0]  # once in 2 words, twice in 4, 3 times in 9; the others are exceeded
    for mean in (0.5, 5.0, 500.0):
        share = [n / (n + K1 * (1 - B + B * size / mean)) for n, size in zip(counts, lengths, strict=True)]
        assert max(share) == pytest.approx(max(share[row] for row in rows))


def test_the_bound_is_that_of_the_rows_that_are_alive():
    index = WordIndex().appended([0, 0, 0, 1], [0, 0, 1, 2], 3)
    alive = np.array([False, True, True])  # the row that says it twice is gone
    words = Bm25(index, alive)
    scores, bound = words.scores([0])
    assert bound == pytest.approx(scores[1])
    assert bound == pytest.approx(np.log1p(1.5 / 1.5) * (K1 + 1) / (1 + K1))


@pytest.mark.parametrize("longest", [200, 300, 70_000])
def test_lengths_are_kept_in_few_bytes_and_whole(longest):
    index = WordIndex().appended([0, 1], [0, 1], 2).appended([0] * longest, [0] * longest, 1)
    assert index.lengths.tolist() == [1, 1, longest]
    assert index.lengths.dtype == np.min_scalar_type(longest)
    words = Bm25(index, np.ones(3, dtype=np.bool_))
    norm = K1 * (1 - B + B * longest / ((longest + 2) / 3))
    assert words.scores([0])[0][2] == pytest.approx(
        np.log1p(1.5 / 2.5) * (K1 + 1) * longest / (longest + norm), rel=1e-6
    )


def test_rows_that_do_not_pass_do_not_raise_what_is_asked_of_others():
    """A hundred rows say the rare word and do not pass; of those that say the common one two do."""
    index = WordIndex().appended([*[0] * 100, *[1] * 400], [*range(100), *range(100, 500)], 500)
    passing = np.zeros(500, dtype=np.bool_)
    passing[[120, 130]] = True
    words = Bm25(index, np.ones(500, dtype=np.bool_))
    assert maxscore_rows(words, words.said([0, 1])[0], passing, 2)[0].tolist() == [120, 130]
