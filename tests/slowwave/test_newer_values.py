"""Newer values of memories: one mark for a memory, whatever else is asked, and no word of closed ones."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from page_home import THURSDAY, TUESDAY

from slowwave.home.channels import channels_in
from slowwave.index.channels import Channels
from slowwave.index.lancedb_channels import TableChannels
from slowwave.index.near_passages import near_passages
from slowwave.lifecycle.browse import SORTS, BrowseOptions, browse
from slowwave.lifecycle.newer_values import NEAR, NewerValue, newer_values, with_newer_values
from slowwave.memory import Memory
from slowwave.store import one_of

MARCH, APRIL, MAY = (datetime(2026, month, 2, tzinfo=UTC) for month in (3, 4, 5))
LOW = "The rate limit is 100 requests a minute."
HIGH = "The rate limit was raised to 200 requests a minute."
HIGHER = "The rate limit was raised to 300 requests a minute."
HARBOURS = ("Skerry", "Ness", "Voe", "Holm", "Geo", "Wick", "Firth", "Brae")


def marks(memory: Memory, *names: str) -> dict[str, NewerValue]:
    """Marks that nothing remembered."""
    memory.home._parts.pop("newer values", None)
    return newer_values(memory.tenant, names)


@pytest.fixture
def harbours(memory) -> list[str]:
    """Memories of more harbours than a passage has near ones, each with three values."""
    names = []
    for at, place in enumerate(HARBOURS):
        for month, text in enumerate(
            (
                f"The berth fee of {place} harbour is {at + 20} crowns a night.",
                f"The berth fee of {place} harbour was raised to {at + 50} crowns a night.",
                f"The harbour of {place} is lit by {at + 3} lamps.",
            )
        ):
            made = MARCH + timedelta(days=31 * month + at)
            names.append(memory.save(text, created_at=made).memory_id)
    assert len(names) > 2 * NEAR
    return names


def test_a_mark_is_the_same_on_any_page(memory, harbours):
    together = marks(memory, *harbours)
    assert len(together) >= len(HARBOURS)

    @settings(max_examples=25, deadline=None)
    @given(
        st.sampled_from(SORTS), st.booleans(), st.integers(1, 9), st.integers(0, len(harbours) - 1),
        st.sampled_from(["", "2026-04-01"]),
    )  # fmt: skip
    def same(sort: str, reverse: bool, limit: int, skip: int, since: str) -> None:
        options = BrowseOptions(
            sort=sort, reverse=reverse, limit=limit, skip=skip, since=since, date="created"
        )
        rows, _ = browse(memory.tenant, options)
        names = [row["memory_id"] for row in rows]
        found = marks(memory, *names)
        assert found == {name: together[name] for name in names if name in together}
        for row in with_newer_values(memory.tenant, rows):
            mark = together.get(row["memory_id"])
            assert row["outdated_by"] == (mark.memory_id if mark else "")
            assert row["valid_until"] == (mark.until if mark else None)

    same()


def test_every_harbour_has_its_own_newer_fee(memory, harbours):
    found = marks(memory, *harbours)
    for at in range(len(HARBOURS)):
        old, new, lamps = harbours[3 * at : 3 * at + 3]
        assert (found[old].memory_id, found[old].until) == (new, MARCH + timedelta(days=31 + at))
        assert new not in found
        assert lamps not in found


def test_the_list_of_outdated_memories_has_those_that_lists_mark(memory, harbours):
    marked = marks(memory, *harbours)
    rows, total = browse(memory.tenant, BrowseOptions("outdated", limit=1000))
    assert {row["memory_id"] for row in rows} == set(marked)
    assert total == len(rows)
    assert all(row["outdated_by"] for row in with_newer_values(memory.tenant, rows))


def test_the_table_says_what_the_snapshot_says(memory, harbours, open_memory):
    table = open_memory(store={"snapshot_mb": 0})
    assert marks(table, *harbours) == marks(memory, *harbours)


def test_near_passages_do_not_depend_on_what_else_is_asked_and_are_those_of_the_table(memory, harbours):
    snapshot, table = channels_in(memory.home)(memory.namespace), TableChannels(memory.store, "ada")
    where = memory.tenant.mine("status = 'live'")

    def near(channels: Channels[Any], *names: str) -> dict[str, list[str]]:
        found = near_passages(channels, names, where, own=1, near=3, is_asked=lambda _: True)
        ids = found.table.column("memory_id").to_pylist()
        return {name: [ids[row] for row in found.near[name]] for name in names}

    together = near(snapshot, *harbours)
    for name in harbours:
        assert near(snapshot, name)[name] == together[name]
        assert len(together[name]) == 3
        assert name not in together[name]
    assert near(table, *harbours) == together


def test_only_passages_that_are_asked_have_near_ones_and_only_rows_that_pass_are_found(memory, harbours):
    snapshot, one = channels_in(memory.home)(memory.namespace), harbours[0]
    where = memory.tenant.mine(one_of("memory_id", harbours[:2]))
    found = near_passages(
        snapshot, harbours[:3], where, own=1, near=5, is_asked=lambda text: "raised" in text
    )
    ids = found.table.column("memory_id").to_pylist()
    assert {name: [ids[row] for row in rows] for name, rows in found.own.items()} == {
        name: [name] for name in harbours[:2]
    }
    assert {name: [ids[row] for row in rows] for name, rows in found.near.items()} == {
        one: [], harbours[1]: [one]
    }  # fmt: skip


def test_each_value_of_a_chain_holds_until_the_next_and_names_the_last(memory):
    low, high, higher = (
        memory.save(text, created_at=at, title=title).memory_id
        for text, at, title in ((LOW, MARCH, ""), (HIGH, APRIL, ""), (HIGHER, MAY, "Third"))
    )
    found = marks(memory, low)
    assert found == {low: NewerValue(higher, "Third", APRIL, high)}
    assert marks(memory, high, higher) == {high: NewerValue(higher, "Third", MAY, higher)}


def test_the_date_that_a_text_begins_with_decides(memory):
    low = memory.save(LOW, created_at=MARCH).memory_id
    high = memory.save(f"[2026-04-09] {HIGH}", created_at=MAY).memory_id
    assert marks(memory, low)[low].until == datetime(2026, 4, 9, tzinfo=UTC)
    assert marks(memory, high) == {}


def test_a_supersession_has_the_date_of_the_newer_memory(guarded):
    old = guarded.save(TUESDAY, title="Deploy day", created_at=MARCH).memory_id
    saved = guarded.save(THURSDAY, title="Deploy day", created_at=APRIL)
    assert saved.outcome == "supersede"
    assert marks(guarded, old) == {old: NewerValue(saved.memory_id, "Deploy day", APRIL, saved.memory_id)}
    guarded.forget(saved.memory_id)
    assert marks(guarded, old) == {}


def test_what_a_reader_may_not_see_replaces_nothing_and_is_not_replaced(memory, open_memory):
    low = memory.save(LOW, created_at=MARCH).memory_id
    secret = memory.save(HIGH, created_at=APRIL, sensitivity="secret").memory_id
    older = memory.save("The rate limit is 70 requests a minute.", created_at=MARCH, sensitivity="secret")
    other = open_memory("bob")
    higher = other.save(HIGHER, created_at=MAY).memory_id
    assert marks(memory, low, secret, older.memory_id, higher) == {}
    assert marks(other, low, higher) == {}
    high = memory.save(HIGH, created_at=APRIL).memory_id
    assert marks(memory, low)[low].memory_id == high
    memory.forget(high)
    assert marks(memory, low) == {}
    memory.unforget(high)
    memory.forget(low)
    assert marks(memory, low) == {}


def test_a_text_of_a_day_to_come_replaces_nothing_yet(memory):
    low = memory.save(LOW, created_at=MARCH).memory_id
    memory.save(f"[2999-01-01] {HIGH}", created_at=APRIL)
    assert marks(memory, low) == {}


def test_what_was_found_is_forgotten_with_the_next_write(memory):
    low = memory.save(LOW, created_at=MARCH).memory_id
    assert newer_values(memory.tenant, [low]) == {}
    high = memory.save(HIGH, created_at=APRIL).memory_id
    assert newer_values(memory.tenant, [low])[low].memory_id == high
    memory.forget(high)
    assert newer_values(memory.tenant, [low]) == {}


def test_a_search_dates_later_parts_of_a_long_note_as_lists_do(memory):
    low = memory.save(LOW, title="Limits", created_at=MARCH).memory_id
    story = " ".join(f"The gauge of station {at} was cleaned and painted by the crew." for at in range(60))
    high = memory.save(f"[2026-04-09] {story}\n\n## Limits\n\n{HIGH}", title="Limits", created_at=MAY)
    assert memory.get(high.memory_id).chunk_count > 1
    (hit,) = [one for one in memory.search("What is the rate limit?", limit=5) if one.memory_id == low]
    assert (hit.outdated_by, hit.valid_until) == (high.memory_id, datetime(2026, 4, 9, tzinfo=UTC))
