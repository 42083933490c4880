"""The neighbours of a batch from blocks of products are those that each pair by itself gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.quality import neighbours
from slowwave.quality.neighbours import EXCLUDED, MAX_KEPT, ExtraVectors, Neighbours, coded

NONE = ExtraVectors([], np.zeros((0, 4), np.float32))


def unit(random: np.random.Generator, count: int) -> np.ndarray:
    rows = random.normal(size=(count, 4)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbours, "_ROWS_AT_ONCE", 3)
    monkeypatch.setattr(neighbours, "_COLUMNS_AT_ONCE", 5)


@pytest.mark.usefixtures("small_blocks")
@given(st.integers(0, 40), st.integers(0, 12), st.integers(0, 2**32), st.floats(-0.5, 0.95))
def test_blocks_find_what_every_pair_by_itself_gives(there: int, asked: int, seed: int, floor: float) -> None:
    random = np.random.default_rng(seed)
    names, batch_names = [f"m{at}" for at in range(there)], [f"n{at}" for at in range(asked)]
    matrix, batch = unit(random, there), unit(random, asked)
    kinds = random.integers(EXCLUDED, 2, there).astype(np.int32)
    batch_kinds = random.integers(0, 2, asked).astype(np.int32)
    found = Neighbours(
        [*names, "came meanwhile"], matrix, batch_names, batch, floor, groups=kinds, batch_groups=batch_kinds
    )
    for row, name in enumerate(batch_names):
        near = []
        for other, vector, kind in [
            *zip(names, matrix, kinds, strict=True),
            *zip(batch_names[:row], batch[:row], batch_kinds[:row], strict=True),
        ]:
            cosine = round(float(batch[row].astype(np.float64) @ vector.astype(np.float64)), 6)
            if kind == batch_kinds[row] and cosine >= floor:
                near.append((other, cosine))
        near.sort(key=lambda one: (-one[1], one[0]))
        nearest = found.nearest(name, batch[row], count=10, usable=lambda *_: True, also=NONE)
        assert nearest == near[:10]


def test_more_than_are_kept_are_looked_for_again_when_those_have_gone() -> None:
    count = 3 * MAX_KEPT
    names = [f"m{at:03}" for at in range(count)]
    angles = np.linspace(0.01, 0.2, count)
    matrix = np.column_stack([np.cos(angles), np.sin(angles), 0 * angles, 0 * angles]).astype(np.float32)
    note = np.array([[1, 0, 0, 0]], np.float32)
    found = Neighbours(names, matrix, ["n"], note, 0.5)
    kept = found.nearest("n", note[0], count=2, usable=lambda *_: True, also=NONE)
    assert [name for name, _ in kept] == names[:2]
    gone = set(names[: 2 * MAX_KEPT])
    later = found.nearest("n", note[0], count=2, usable=lambda name, _: name not in gone, also=NONE)
    assert [name for name, _ in later] == names[2 * MAX_KEPT : 2 * MAX_KEPT + 2]


def test_the_same_kind_has_the_same_code_in_each_list() -> None:
    one, two, nothing = coded(["b", "a", "b"], ["a", "c"], [])
    assert one.tolist() == [1, 0, 1]
    assert two.tolist() == [0, 2]
    assert nothing.tolist() == []
