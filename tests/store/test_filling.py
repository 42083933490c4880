"""Partitions that hold nothing are filled, and others replaced; many rows are read part by part."""

from __future__ import annotations

import polars as pl
import pytest

from slowwave.store import Store, reading
from slowwave.store.append_only import fill_or_replace
from slowwave.store.fragments import has_rows, rows_in
from slowwave.store.reading import distinct, matching, parts


def signals(*rows: tuple[str, str], verdict: str = "used") -> pl.DataFrame:
    return pl.DataFrame(
        [{"signal_id": name, "day": day, "namespace": "ada", "verdict": verdict} for name, day in rows]
    )


def held(store: Store) -> list[tuple]:
    return sorted(store.read("usage_signals", columns=["signal_id", "day", "verdict"]).rows())


def test_an_empty_partition_is_filled_in_one_commit_and_a_full_one_replaced(store):
    before = store.table("usage_signals").version
    written = fill_or_replace(store, "usage_signals", signals(("a", "d1"), ("b", "d1")), ["d1", "d2"])
    assert (written.inserted, written.updated, written.deleted) == (2, 0, 0)
    assert store.table("usage_signals").version == written.version == before + 1
    again = fill_or_replace(store, "usage_signals", signals(("a", "d1"), ("b", "d1")), ["d1", "d2"])
    assert (again.inserted, store.table("usage_signals").version) == (0, written.version)
    fill_or_replace(
        store, "usage_signals", signals(("a", "d1"), ("c", "d2"), verdict="ignored"), ["d1", "d2"]
    )
    assert held(store) == [("a", "d1", "ignored"), ("c", "d2", "ignored")]
    fill_or_replace(store, "usage_signals", signals(("e", "d3")), ["d3"])
    assert held(store)[-1] == ("e", "d3", "used")
    fill_or_replace(store, "usage_signals", signals(("e", "d3")).clear(), ["d3"])
    assert len(held(store)) == 2


def test_of_equal_keys_the_last_is_kept_and_a_stray_row_refused(store):
    fill_or_replace(store, "usage_signals", signals(("a", "d1"), ("a", "d1")), ["d1"])
    assert len(held(store)) == 1
    with pytest.raises(ValueError, match="d9"):
        fill_or_replace(store, "usage_signals", signals(("b", "d9")), ["d2"])


@pytest.mark.parametrize("where", [None, "day = 'd1'", "day = 'd0'"])
def test_parts_and_distinct_rows_are_those_of_a_read(store, monkeypatch, where):
    monkeypatch.setattr(reading, "ROWS_AT_ONCE", 2)
    for day in ("d1", "d2"):
        fill_or_replace(store, "usage_signals", signals(*((f"{day}{n}", day) for n in range(5))), [day])
    columns = ["signal_id", "day"]
    wanted = store.read("usage_signals", where, columns=columns).sort(columns)
    for reader in (store, store.of("ada")):
        assert pl.concat(parts(reader, "usage_signals", where, columns=columns)).sort(columns).equals(wanted)
        found = distinct(reader, "usage_signals", where, columns=["day"])
        assert found.sort("day").equals(wanted.select("day").unique().sort("day"))
        if where:
            assert matching(reader, "usage_signals", where, columns=columns).sort(columns).equals(wanted)
    assert pl.concat(parts(store.of("bob"), "usage_signals", where, columns=columns)).is_empty()


def test_rows_of_partitions_are_those_of_a_read_whatever_the_fragments(store):
    name, columns = "usage_signals", ["signal_id", "day", "verdict"]
    asked = [["d1"], ["d2", "d3"], ["d1", "d4"], ["d9"], ["d1", "d2", "d3", "d4", "d5"]]

    def compare() -> None:
        for days in asked:
            listed = ", ".join(f"'{day}'" for day in days)
            wanted = store.read(name, f"day IN ({listed})", columns=columns).sort("signal_id")
            assert rows_in(store, name, days, columns=columns).sort("signal_id").equals(wanted)
            assert has_rows(store, name, days) == (wanted.height > 0)
        every = store.read(name).sort("signal_id")
        assert rows_in(store, name, asked[-1]).sort("signal_id").equals(every)

    compare()  # of no rows
    for days in (["d1", "d2"], ["d3"], ["d4"]):
        rows = signals(*((f"{day}{n}", day) for day in days for n in range(4)))
        fill_or_replace(store, name, rows, days)
        compare()
    fill_or_replace(store, name, signals(("d2x", "d2"), verdict="ignored"), ["d2"])
    compare()
    store.delete(name, "day = 'd3'")
    compare()
    fill_or_replace(store, name, signals(("d3y", "d3"), ("d5y", "d5")), ["d3", "d5"])
    compare()
    store.table(name).optimize()
    compare()


def test_batches_of_days_are_read_without_the_rest_of_the_table(store):
    """A run over a year would else read the year for each batch."""
    name = "usage_signals"
    for day in ("d1", "d2", "d3"):
        fill_or_replace(store, name, signals((f"{day}a", day)), [day])
    rows_in(store, name, ["d1"])
    before = dict(store.partitions_of_fragments[name])
    assert sorted(before.values(), key=sorted) == [{"d1"}, {"d2"}, {"d3"}]
    fill_or_replace(store, name, signals(("d4a", "d4")), ["d4"])
    assert rows_in(store, name, ["d4"])["signal_id"].to_list() == ["d4a"]
    added = store.partitions_of_fragments[name].keys() - before.keys()
    assert [store.partitions_of_fragments[name][files] for files in added] == [{"d4"}]
