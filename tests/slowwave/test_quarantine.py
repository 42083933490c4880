"""Refused notes are kept until something else becomes of them."""

from __future__ import annotations

import polars as pl
from admission_helpers import DAY, LONG, NOON, staged, take_in

from slowwave.lifecycle.quarantine import hold


def refuse(space, rows: pl.DataFrame) -> int:
    reasons = pl.Series([["too_short", "bad_path"]] * rows.height, dtype=pl.List(pl.String))
    return hold(space.store, rows, rows.select("memory_id", "revision").with_columns(reasons=reasons))


def held_now(space) -> list[tuple]:
    return sorted(space.store.read("quarantine", columns=["source", "status"]).rows())


def test_a_refused_note_is_kept_whole_and_once(space, act):
    rows = staged(act("a.md", "täglich", title="T"))
    for _ in range(2):
        assert refuse(space, rows) == 1
    row = space.store.read("quarantine").row(0, named=True)
    assert space.store.count("quarantine") == 1
    assert (row["content"], row["title"], row["source"], row["status"]) == ("täglich", "T", "a.md", "held")
    assert row["reasons"] == ["too_short", "bad_path"]
    assert (row["size_bytes"], row["day"], row["occurred_at"]) == (8, "2026-03-01", NOON)


def test_a_note_that_enters_later_is_no_longer_held(space, act):
    old, other = staged(act("a.md", "short")), staged(act("b.md", "short"))
    for rows in (old, other):
        refuse(space, rows)
    take_in(space, act("a.md", LONG, at=NOON + DAY))
    assert held_now(space) == [("a.md", "resolved"), ("b.md", "held")]
    refuse(space, old)  # the old day, once more
    assert held_now(space) == [("a.md", "resolved"), ("b.md", "held")]


def test_a_note_that_is_forgotten_later_is_no_longer_held(space, act):
    refuse(space, staged(act("a.md", "short")))
    take_in(space, act("a.md", at=NOON + DAY))
    assert held_now(space) == [("a.md", "resolved")]


def test_an_old_text_that_enters_does_not_release_a_newer_refusal(space, act):
    refuse(space, staged(act("a.md", "short", at=NOON + DAY)))
    take_in(space, act("a.md", LONG))
    assert held_now(space) == [("a.md", "held")]
