"""What is near is found among few and among many."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.scoring.ranking import nearest
from slowwave.scoring.ranking.nearest import Nearest

DIMENSION = 64


def unit(vectors: np.ndarray) -> np.ndarray:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def beside(vectors: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Vectors whose cosines with these are .85 to .95."""
    noise = random.normal(size=vectors.shape)
    noise = unit(noise - (noise * vectors).sum(axis=1, keepdims=True) * vectors)
    cosine = random.uniform(0.85, 0.95, (len(vectors), 1))
    return unit(cosine * vectors + np.sqrt(1 - cosine**2) * noise)


def clustered(rows: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Questions about twenty-odd times fewer subjects, and other questions about these."""
    subjects = unit(random.normal(size=(rows // 20, DIMENSION)))
    asked = beside(subjects[random.integers(0, len(subjects), rows)], random)
    return asked, beside(subjects[random.integers(0, len(subjects), 200)], random)


def uniform(rows: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Questions that have nothing to do with each other, and others that resemble one of them."""
    asked = unit(random.normal(size=(rows, DIMENSION)))
    return asked, beside(asked[random.integers(0, rows, 200)], random)


@pytest.mark.parametrize("made", [clustered, uniform])
@pytest.mark.parametrize("threshold", [0.8, 0.85, 0.9])
def test_groups_find_what_one_by_one_finds(made, threshold):
    asked, queries = made(nearest.EXACT + 4_000, np.random.default_rng(3))
    index, cosines = Nearest(asked), queries @ asked.T
    near = found = 0
    for row, query in zip(cosines, queries, strict=True):
        there = set(np.argsort(-row)[:50][np.sort(row)[::-1][:50] >= threshold].tolist())
        place, cosine = index.find(query, threshold, 50)
        assert cosine == pytest.approx(row[place], abs=1e-5)
        assert cosine.tolist() == sorted(cosine, reverse=True)
        assert len(set(place.tolist())) == len(place)
        near, found = near + len(there), found + len(there & set(place.tolist()))
    assert near > 0
    assert found >= 0.98 * near


@given(st.integers(0, 60), st.integers(0, 2**32), st.floats(-1, 1), st.integers(1, 8))
def test_few_are_compared_one_by_one(rows, seed, threshold, most):
    random = np.random.default_rng(seed)
    asked, query = unit(random.normal(size=(rows, 4)) + 1e-3), unit(random.normal(size=(1, 4)))[0]
    place, cosine = Nearest(asked).find(query, threshold, most)
    every = np.vecdot(asked, query)
    best = np.lexsort((np.arange(rows), -every))
    assert place.tolist() == [one for one in best.tolist() if every[one] >= threshold][:most]
    assert cosine == pytest.approx(every[place])


def test_the_same_vectors_are_laid_out_the_same(monkeypatch):
    monkeypatch.setattr(nearest, "EXACT", 100)
    asked, queries = clustered(2_000, np.random.default_rng(5))
    one, other = Nearest(asked), Nearest(asked.copy())
    for query in queries:
        for mine, its in zip(one.find(query, 0.75, 50), other.find(query, 0.75, 50), strict=True):
            assert mine.tolist() == its.tolist()


def test_all_alike_are_all_near(monkeypatch):
    monkeypatch.setattr(nearest, "EXACT", 100)
    asked = np.tile(unit(np.ones((1, 8))), (500, 1))
    place, _ = Nearest(asked).find(asked[0], 0.99, 50)
    assert place.tolist() == list(range(50))


def test_what_makes_no_sense_is_named():
    with pytest.raises(ValueError, match=r"vectors of shape \(3,\)"):
        Nearest(np.zeros(3, dtype=np.float32))
    index = Nearest(np.eye(3, dtype=np.float32))
    with pytest.raises(ValueError, match=r"query of shape \(2,\)"):
        index.find(np.zeros(2), 0.8, 5)
    with pytest.raises(ValueError, match="most = 0"):
        index.find(np.zeros(3), 0.8, 0)
