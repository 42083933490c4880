"""Texts that are searched as one are found as one by one."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.index import chunked_columns
from slowwave.index.chunked_columns import ChunkedColumns
from slowwave.index.vocabulary import _JoinedTexts

WORDS = st.lists(st.text("ab1", max_size=4), max_size=6)
PARTS = st.text("ab1", min_size=1, max_size=3)


@given(WORDS, WORDS, PARTS)
def test_a_growing_list_of_texts_is_searched_whole(first, then, part):
    joined = _JoinedTexts()
    done: list[str] = []
    for more in (first, then):
        for text in more:
            joined.append(text)
        done += more
        assert joined.containing(part) == [at for at, text in enumerate(done) if part in text]


@pytest.mark.parametrize("most", [2, 200])
@given(st.lists(st.none() | st.text("abA1é", max_size=4), max_size=6), st.lists(WORDS, max_size=5), PARTS)
def test_rows_with_a_part_are_those_that_have_it_alone(most, texts, lists, part):
    size = min(len(texts), len(lists))
    table = pa.table({
        "source": pa.array(texts[:size], pa.string()), "tags": pa.array(lists[:size], pa.list_(pa.string())),
    })  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunked_columns, "MAX_FOUND_ONE_BY_ONE", most)
        columns = ChunkedColumns(table)
        sources = [at for at, text in enumerate(texts[:size]) if part in (text or "").lower()]
        assert columns.matching("source", part).tolist() == sources
        tagged = [at for at, tags in enumerate(lists[:size]) if any(part in tag for tag in tags)]
        assert np.unique(columns.matching("tags", part)).tolist() == tagged
