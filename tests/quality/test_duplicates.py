from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from quality.duplicates import exact_duplicates

COLUMNS = ("namespace", "memory_id", "content_hash")


def frame(*rows: tuple[str, str, str]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.String), orient="row")


def found(notes, live=()) -> dict[str, str]:
    return dict(exact_duplicates(frame(*notes), frame(*live)).rows())


def test_of_equal_notes_the_first_one_enters():
    assert found([("n", "b", "1"), ("n", "a", "1"), ("n", "c", "1"), ("n", "d", "2")]) == {"a": "b", "c": "b"}


def test_what_is_live_already_wins_over_the_batch():
    assert found([("n", "b", "1"), ("n", "a", "1")], [("n", "z", "1")]) == {"b": "z", "a": "z"}


def test_of_several_live_ones_the_least_id_is_named():
    assert found([("n", "a", "1")], [("n", "z", "1"), ("n", "x", "1")]) == {"a": "x"}


def test_a_memory_is_no_duplicate_of_itself():
    assert found([("n", "a", "1")], [("n", "a", "1")]) == {}


def test_a_note_is_no_duplicate_of_what_it_says_already():
    assert found([("n", "a", "1")], [("n", "a", "1")]) == {}
    assert found([("n", "b", "1")], [("n", "a", "1")]) == {"b": "a"}


def test_another_namespace_never_counts():
    assert found([("n", "a", "1"), ("m", "b", "1")], [("o", "c", "1")]) == {}


def test_nothing_gives_nothing():
    assert found([]) == {}
    assert exact_duplicates(frame(), frame(("n", "a", "1"))).columns == ["memory_id", "duplicate_of"]


@given(st.lists(st.tuples(st.sampled_from("nm"), st.sampled_from("123")), max_size=12), st.integers(0, 12))
def test_what_is_let_in_is_distinct_and_every_duplicate_names_one_that_is(contents, split):
    rows = [(space, f"{at:02}", content) for at, (space, content) in enumerate(contents)]
    live, seen = [], set()
    for row in rows[:split]:
        if (row[0], row[2]) not in seen:
            seen.add((row[0], row[2]))
            live.append(row)
    notes = rows[split:]
    duplicates = found(notes, live)
    by_id = {memory: (space, content) for space, memory, content in rows}
    kept = live + [row for row in notes if row[1] not in duplicates]
    assert len({(space, content) for space, _, content in kept}) == len(kept)
    kept_ids = {memory for _, memory, _ in kept}
    for memory, other in duplicates.items():
        assert other in kept_ids
        assert by_id[memory] == by_id[other]
    assert {by_id[memory] for memory in kept_ids} == {
        by_id[memory] for memory in [row[1] for row in live + notes]
    }
