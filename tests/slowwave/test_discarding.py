"""Discarded notes are in no list and no count; undo, rebuild, backfill and erasure know them."""

from __future__ import annotations

import polars as pl
import pytest
from admission_helpers import DAY, LONG, NOON, staged, take_in

from slowwave.errors import NotFoundError, SlowwaveError
from slowwave.journal.entry import DISCARD
from slowwave.lifecycle.discarding import apply_discards
from slowwave.lifecycle.quarantine import held_files, hold, label_of
from slowwave.maintenance.rebuild import rebuild
from slowwave.vaults import vault


def statuses(memory) -> dict[str, str]:
    return dict(memory.store.read("quarantine", columns=["memory_id", "status"]).rows())


@pytest.fixture
def refused(memory) -> list[str]:
    """Two notes without a statement, and one of a tool."""
    log = "\n".join(f"2026-03-01T10:00:0{n}Z host app[7]: INFO frame accepted seq={n}" for n in range(5))
    return [memory.save(text).memory_id for text in ("ok thanks", "hello there", log)]


def test_a_discarded_note_is_listed_no_more_and_comes_back(memory, refused):
    first, *others = refused
    (row,) = memory.discard(first)
    assert (row["memory_id"], row["label"], row["status"]) == (first, "ok thanks", "discarded")
    assert {row["memory_id"] for row in memory.quarantine()} == set(others)
    assert {row["memory_id"] for row in memory.quarantine(status="discarded")} == {first}
    assert len(memory.quarantine(status="")) == 3
    (row,) = memory.restore_discarded(first)
    assert row["status"] == "held"
    assert len(memory.quarantine()) == 3
    events = memory.journal.read(kinds=(DISCARD,))
    assert events["principal"].to_list() == [memory.principal] * 2


def test_all_of_a_reason_are_discarded(memory, refused):
    rows = memory.discard(reason="no_statement")
    assert {row["memory_id"] for row in rows} == set(refused[:2])
    assert [row["memory_id"] for row in memory.quarantine()] == refused[2:]
    with pytest.raises(NotFoundError, match="no_statement"):
        memory.discard(reason="no_statement")
    with pytest.raises(NotFoundError, match="discarded with the reason 'tool_output'"):
        memory.restore_discarded(reason="tool_output")
    restored = memory.restore_discarded(reason="no_statement")
    assert {row["memory_id"] for row in restored} == set(refused[:2])
    assert len(memory.quarantine()) == 3


def test_nothing_is_discarded_if_one_cannot_be(memory, refused):
    memory.discard(refused[0])
    for names in ((refused[1], refused[0]), (refused[1], "nobody"), ()):
        with pytest.raises(SlowwaveError):
            memory.discard(*names)
    with pytest.raises(SlowwaveError, match="not discarded"):
        memory.restore_discarded(refused[1])
    with pytest.raises(SlowwaveError, match="either"):
        memory.discard(refused[1], reason="no_statement")
    assert statuses(memory)[refused[1]] == "held"


def test_a_discarded_note_is_released_only_after_its_restore(memory, refused):
    memory.discard(refused[0])
    with pytest.raises(SlowwaveError, match="quarantine restore"):
        memory.release(refused[0])
    memory.restore_discarded(refused[0])
    assert memory.release(refused[0]).status == "live"


def test_the_journal_says_what_is_discarded(memory, refused):
    memory.discard(*refused[:2])
    memory.restore_discarded(refused[1])
    rows = memory.store.read("quarantine")
    memory.store.upsert("quarantine", rows.with_columns(status=pl.lit("held")))  # an older checkpoint
    assert apply_discards(memory.home) == 1
    assert apply_discards(memory.home) == 0
    assert statuses(memory) == dict(zip(refused, ("discarded", "held", "held"), strict=True))


def test_a_rebuilt_quarantine_has_the_same_discards(memory, refused):
    memory.discard(*refused[:2])
    memory.restore_discarded(refused[1])
    before = statuses(memory)
    rebuild(memory.home, ["quarantine"])
    assert statuses(memory) == before
    assert before[refused[0]] == "discarded"


def test_a_note_that_is_held_again_stays_discarded(space, act):
    rows = staged(act("a.md", "short"))
    refused = rows.select("memory_id", "revision", reasons=pl.lit(["too_short"]))
    hold(space.store, rows, refused)
    held = space.store.read("quarantine")
    space.store.upsert("quarantine", held.with_columns(status=pl.lit("discarded")))
    for again in (False, True):
        hold(space.store, rows, refused, again=again)
        assert space.store.read("quarantine")["status"].to_list() == ["discarded"]
    take_in(space, act("a.md", LONG, at=NOON + DAY))
    assert space.store.read("quarantine")["status"].to_list() == ["resolved"]


def test_an_erased_note_leaves_no_discard_behind(memory, refused):
    memory.discard(refused[0])
    memory.erase(refused[0])
    assert refused[0] not in statuses(memory)
    assert apply_discards(memory.home) == 0
    assert b"thanks" not in b"".join(memory.journal.read(kinds=(DISCARD,))["payload"])


@pytest.mark.parametrize(
    ("row", "label"),
    [
        ({"title": " Pump\nnorth ", "content": "x"}, "Pump north"),
        ({"title": "", "content": "ok  thanks"}, "ok thanks"),
        ({"title": None, "content": "word " * 40}, "word " * 12 + "…"),
        ({"title": None, "content": None}, "notes/a.md"),
    ],
)
def test_a_note_is_named_by_its_title_or_its_first_words(row, label):
    assert label_of(row | {"source": "notes/a.md", "memory_id": "m1"}) == label


def test_files_of_vaults_in_quarantine_are_named(space, act, tmp_path):
    for name in ("notes", "work"):
        (tmp_path / name).mkdir()
        vault.watch(space.journal, "ada", tmp_path / name, name="", as_of=NOON, principal="test")
    sources = [f"notes/{number}.md" for number in range(3)] + ["work/plan.md", "saved/1", "notesmore/x.md"]
    rows = staged(*(act(source, "short") for source in sources))
    hold(space.store, rows, rows.select("memory_id", "revision", reasons=pl.lit(["too_short"])))
    lines = held_files(space, namespace="ada")
    assert len(lines) == 4
    assert any(line.startswith("work/plan.md: too_short (slowwave quarantine show ") for line in lines)
    assert len(held_files(space, vault="work")) == 1
    assert held_files(space, namespace="bob") == []
    assert held_files(space, vault="notes", limit=1)[1:] == ["and 2 more"]
