from __future__ import annotations

import sys
import threading
from datetime import UTC, datetime, timedelta
from itertools import permutations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quality.gate import judge
from slowwave import ids, stages
from slowwave.admission import Settled, settle
from slowwave.chunking import Chunker
from slowwave.entries import entries_frame
from slowwave.errors import NotFoundError, SlowwaveError
from slowwave.journal import payload_of
from slowwave.memory import Memory, Saved
from slowwave.quarantine import hold
from slowwave.reconcile import Reconciled, reconcile
from slowwave.store import one_of
from slowwave.store.checkpoints import list_checkpoints, restore_checkpoint
from slowwave.workspace import Workspace

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
CHUNKS = {"min_words": 10, "max_words": 20}
CHUNKER = Chunker(10, 20)
LONG = "\n\n".join(
    f"Paragraph {name} says a different thing about the harbour, its gauges and the people there."
    for name in "abcd"
)
SHORT = "One paragraph about the lighthouse keeper and nothing else at all."


@pytest.fixture
def space(make_space) -> Workspace:
    """An empty home whose model is made of hashes."""
    return make_space(chunks=CHUNKS)


def staged(*acts) -> pl.DataFrame:
    return stages.stage(entries_frame(acts))


def take_in(space, *acts) -> Settled:
    """Let these acts happen one after the other, as a day's saves and forgets do."""

    def chunks_of(notes: pl.DataFrame) -> pl.DataFrame:
        cut = stages.cut(notes, space.chunker, space.embedder.name)
        return stages.embed(space.store, space.embedder, cut)

    done = Settled()
    for one in acts:
        done += settle(space, staged(one), chunks_of)
    return done


def counts(done: Settled) -> dict[str, int]:
    """What happened, without what did not."""
    names = (
        "added",
        "changed",
        "unchanged",
        "retired",
        "merged",
        "superseded",
        "refused",
        "related",
        "undone",
    )
    return {name: getattr(done, name) for name in names if getattr(done, name)}


def whole(store, *names: str) -> dict[str, pl.DataFrame]:
    return {name: store.read(name).sort(store.specs[name].key) for name in names or ("memories", "chunks")}


def everything(space) -> dict[str, pl.DataFrame]:
    return whole(space.store, "memories", "chunks", "decisions", "edges", "quarantine")


def assert_same(first: dict[str, pl.DataFrame], second: dict[str, pl.DataFrame]) -> None:
    for name, frame in first.items():
        assert frame.equals(second[name]), name


def assert_consistent(store) -> None:
    """Every live memory has exactly its own chunks, of its own revision and status."""
    memories = store.read(
        "memories", columns=["memory_id", "revision", "status", "content", "title", "chunk_count"]
    )
    chunks = store.read("chunks")
    assert set(chunks["memory_id"]) <= set(memories["memory_id"])
    for memory, revision, status, content, title, count in memories.iter_rows():
        mine = chunks.filter(pl.col("memory_id") == memory).sort("ordinal")
        pieces = CHUNKER.split(content)
        assert mine["text"].to_list() == [piece.text for piece in pieces]
        assert mine["chunk_id"].to_list() == [ids.chunk_id(memory, at) for at in range(len(pieces))]
        assert mine["ordinal"].to_list() == list(range(len(pieces)))
        assert set(mine["revision"]) == {revision}
        assert set(mine["status"]) == {status}
        assert set(mine["title"]) == {title}
        assert set(mine["chunk_count"]) == {count} == {len(pieces)}


# -- acts ------------------------------------------------------------------------------------------


def test_a_new_note_becomes_a_live_memory_with_its_chunks(act, space):
    assert counts(take_in(space, act("a.md", LONG, title="Harbour"))) == {"added": 1}
    row = space.store.read("memories").row(0, named=True)
    assert row["memory_id"] == ids.memory_id("ada", "a.md")
    assert (row["status"], row["title"], row["content"], row["frequency"]) == ("live", "Harbour", LONG, 1)
    assert row["created_at"] == row["updated_at"] == NOON
    assert row["chunk_count"] == len(CHUNKER.split(LONG))
    assert_consistent(space.store)


@pytest.mark.parametrize(("before", "after"), [(LONG, SHORT), (SHORT, LONG)])
def test_a_changed_note_replaces_its_chunks_and_leaves_none_behind(act, space, before, after):
    acts = act("a.md", before), act("a.md", after, at=NOON + HOUR)
    assert counts(take_in(space, *acts)) == {"added": 1, "changed": 1}
    assert space.store.read("memories")["content"].to_list() == [after]
    assert_consistent(space.store)


def test_a_change_keeps_when_the_note_was_created(act, space):
    take_in(space, act("a.md", SHORT), act("a.md", LONG, at=NOON + DAY))
    row = space.store.read("memories").row(0, named=True)
    assert (row["created_at"], row["updated_at"]) == (NOON, NOON + DAY)
    said = NOON - 30 * DAY
    take_in(space, act("a.md", LONG, at=NOON + 2 * DAY, created_at=said))
    row = space.store.read("memories").row(0, named=True)
    assert (row["created_at"], row["updated_at"]) == (said, NOON + 2 * DAY)
    assert set(space.store.read("chunks")["created_at"]) == {said}


def test_an_older_act_changes_nothing(act, space):
    take_in(space, act("a.md", LONG, at=NOON + HOUR))
    before = whole(space.store)
    assert counts(take_in(space, act("a.md", SHORT))) == {"unchanged": 1}
    assert counts(take_in(space, act("a.md"))) == {"unchanged": 1}
    assert_same(before, whole(space.store))


def test_the_same_act_twice_changes_nothing(act, space):
    take_in(space, act("a.md", LONG))
    before = whole(space.store)
    assert counts(take_in(space, act("a.md", LONG))) == {"unchanged": 1}
    assert_same(before, whole(space.store))


@settings(max_examples=8)
@given(st.permutations(range(4)))
def test_the_last_revision_wins_in_any_order(make_space, act, order):
    """Saves and a forget in the middle, arriving in any order, leave the last save's memory and chunks."""
    acts = [
        act("a.md", SHORT, at=NOON),
        act("a.md", LONG, at=NOON + HOUR),
        act("a.md", at=NOON + 2 * HOUR),
        act("a.md", f"{SHORT} At last.", at=NOON + 3 * HOUR),
    ]
    space = make_space(chunks=CHUNKS)
    take_in(space, *(acts[at] for at in order))
    row = space.store.read("memories").row(0, named=True)
    assert row["revision"] == ids.revision(NOON + 3 * HOUR, acts[3].event_id)
    assert (row["status"], row["content"]) == ("live", f"{SHORT} At last.")
    assert space.store.count("memories") == 1
    assert_consistent(space.store)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_a_forget_of_the_last_moment_wins_in_any_order(space, act, order):
    acts = [act("a.md", SHORT), act("a.md", LONG, at=NOON + HOUR), act("a.md", at=NOON + 2 * HOUR)]
    take_in(space, *(acts[at] for at in order))
    assert space.store.read("memories")["status"].to_list() == ["retired"]
    assert set(space.store.read("chunks")["status"]) <= {"retired"}


@pytest.mark.parametrize("order", [(1, 0, 2), (1, 2, 0)])
def test_a_forget_that_arrives_first_leaves_nothing_to_a_later_save(space, act, order):
    acts = [act("a.md", SHORT), act("a.md", at=NOON + HOUR), act("a.md", LONG, at=NOON + 2 * HOUR)]
    take_in(space, *(acts[at] for at in order))
    row = space.store.read("memories").row(0, named=True)
    assert (row["status"], row["content"], row["frequency"]) == ("live", LONG, 1)


def by_night(space, *acts, again: bool = True) -> Settled:
    """Let these acts happen as a night does: embedded first, whole days at once."""
    rows = staged(*acts)
    days = sorted(set(rows["day"]))
    saves = rows.filter(act="save")
    stages.embed_days(space.store, space.embedder, space.chunker, saves, days)

    def embedded(notes: pl.DataFrame) -> pl.DataFrame:
        found = space.store.read_by("embedded_chunks", "memory_id", notes["memory_id"].to_list())
        return found.drop("embedded_id", "day", "cutter").unique(["chunk_id", "revision"])

    return settle(space, rows, embedded, again=again)


def test_many_notes_at_once_equal_one_by_one(make_space, act):
    acts = [act(f"{number}.md", f"{LONG} {number}", title=f"T{number}") for number in range(12)]
    one_by_one, at_once = make_space(chunks=CHUNKS), make_space(chunks=CHUNKS)
    take_in(one_by_one, *acts)
    assert counts(by_night(at_once, *acts)) == {"added": 12}
    assert counts(by_night(at_once, *acts)) == {"unchanged": 12}
    assert_same(whole(one_by_one.store), whole(at_once.store))


def test_a_day_uses_only_chunks_of_the_notes_revision(space, act):
    old, new = act("a.md", LONG), act("a.md", SHORT, at=NOON + DAY)
    stages.embed_days(space.store, space.embedder, space.chunker, staged(old), ["2026-03-01"])
    by_night(space, new)
    assert_consistent(space.store)
    assert space.store.read("memories")["content"].to_list() == [SHORT]
    by_night(space, old, new)
    assert_consistent(space.store)
    assert space.store.read("memories")["content"].to_list() == [SHORT]


# -- retire ----------------------------------------------------------------------------------------


def test_forgetting_takes_a_memory_out_of_the_search_and_erases_nothing(space, act):
    take_in(space, act("a.md", LONG), act("b.md", SHORT))
    assert counts(take_in(space, act("a.md", at=NOON + HOUR))) == {"retired": 1}
    rows = {row["source"]: row for row in space.store.read("memories").iter_rows(named=True)}
    assert (rows["a.md"]["status"], rows["a.md"]["content"]) == ("retired", LONG)
    assert rows["a.md"]["retired_at"] == rows["a.md"]["updated_at"] == NOON + HOUR
    assert (rows["b.md"]["status"], rows["b.md"]["retired_at"]) == ("live", None)
    assert set(space.store.read("chunks", "status = 'live'")["memory_id"]) == {ids.memory_id("ada", "b.md")}
    assert_consistent(space.store)


def test_forgetting_what_is_not_there_or_twice_changes_nothing(space, act):
    assert counts(take_in(space, act("b.md"))) == {}
    row = space.store.read("memories").row(0, named=True)
    assert (row["status"], row["content"], row["chunk_count"]) == ("retired", "", 0)
    take_in(space, act("a.md", LONG), act("a.md", at=NOON + HOUR))
    before = whole(space.store)
    assert counts(take_in(space, act("a.md", at=NOON + 2 * HOUR))) == {"unchanged": 1}
    assert_same(before, whole(space.store))


def test_saving_again_revives_a_forgotten_memory(space, act):
    acts = act("a.md", LONG), act("a.md", at=NOON + HOUR), act("a.md", LONG, at=NOON + 2 * HOUR)
    assert counts(take_in(space, *acts)) == {"added": 1, "changed": 1, "retired": 1}
    row = space.store.read("memories").row(0, named=True)
    assert (row["status"], row["retired_at"], row["created_at"]) == ("live", None, NOON)
    assert_consistent(space.store)


# -- reconcile -------------------------------------------------------------------------------------


def test_reconciling_what_is_in_order_writes_nothing(space, act):
    take_in(space, act("a.md", LONG), act("b.md", SHORT), act("b.md", at=NOON + HOUR))
    space.embedder.embedded.clear()
    versions = space.store.table("chunks").version, space.store.table("memories").version
    assert reconcile(space.store, space.chunker, space.embedder) == Reconciled(0, 0)
    assert (space.store.table("chunks").version, space.store.table("memories").version) == versions
    assert space.embedder.embedded == []


def test_reconciling_makes_missing_chunks_again(space, act):
    take_in(space, act("a.md", LONG), act("b.md", SHORT))
    before = whole(space.store)
    lost = space.store.read("chunks", columns=["chunk_id"])["chunk_id"].sort()[1]
    space.store.delete("chunks", one_of("chunk_id", [lost]))
    assert reconcile(space.store, space.chunker, space.embedder).remade_memories == 1
    assert_same(before, whole(space.store))


def test_reconciling_removes_chunks_of_another_revision_and_of_no_memory(space, act):
    take_in(space, act("a.md", LONG))
    before = whole(space.store)
    stale = space.store.read("chunks").head(2).with_columns(
        chunk_id=pl.Series([ids.chunk_id(ids.memory_id("ada", "a.md"), 77), "nobody:00000"]),
        memory_id=pl.Series([ids.memory_id("ada", "a.md"), "nobody"]),
        revision=pl.lit("0000"),
    )  # fmt: skip
    space.store.upsert("chunks", stale)
    assert reconcile(space.store, space.chunker, space.embedder) == Reconciled(2, 0)
    assert_same(before, whole(space.store))


def test_reconciling_follows_the_memory_after_a_write_that_stopped_between_the_tables(
    space, act, monkeypatch
):
    """The memory has the new text, its chunks are still those of the old one."""
    take_in(space, act("a.md", LONG))
    upsert = space.store.upsert

    def dies_before_chunks(name, *args, **options):
        if name == "chunks":
            raise KeyboardInterrupt
        return upsert(name, *args, **options)

    monkeypatch.setattr(space.store, "upsert", dies_before_chunks)
    with pytest.raises(KeyboardInterrupt):
        take_in(space, act("a.md", SHORT, at=NOON + HOUR))
    monkeypatch.undo()
    assert space.store.read("memories")["content"].to_list() == [SHORT]
    done = reconcile(space.store, space.chunker, space.embedder)
    assert done.remade_memories == 1
    assert_consistent(space.store)


def test_reconciling_brings_chunks_to_their_memorys_status(space, act):
    take_in(space, act("a.md", LONG), act("b.md", SHORT))
    row = space.store.read("memories", one_of("memory_id", [ids.memory_id("ada", "a.md")]))
    space.store.upsert("memories", row.with_columns(status=pl.lit("retired")))
    assert reconcile(space.store, space.chunker, space.embedder).remade_memories == 1
    assert_consistent(space.store)
    assert set(space.store.read("chunks", "status = 'live'")["source"]) == {"b.md"}


def test_reconciling_some_memories_leaves_the_others_alone(space, act):
    take_in(space, act("a.md", LONG), act("b.md", SHORT))
    space.store.delete("chunks", "true")
    mine = ids.memory_id("ada", "b.md")
    assert reconcile(space.store, space.chunker, space.embedder, memory_ids=[mine]) == Reconciled(0, 1)
    assert set(space.store.read("chunks")["memory_id"]) == {mine}


# -- quarantine ------------------------------------------------------------------------------------


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


# -- duplicates ------------------------------------------------------------------------------------


def test_an_exact_duplicate_is_held_with_the_one_it_equals_and_logged(space, act):
    first, twin = act("a.md", LONG), act("b.md", LONG, at=NOON + HOUR)
    assert counts(take_in(space, first, twin)) == {"added": 1, "refused": 1}
    original, other = (ids.memory_id("ada", name) for name in ("a.md", "b.md"))
    row = space.store.read("quarantine").row(0, named=True)
    assert (row["memory_id"], row["duplicate_of"], row["reasons"], row["content"]) == (
        other, original, ["exact_duplicate"], LONG,
    )  # fmt: skip
    (decision,) = space.store.read("decisions").to_dicts()
    assert (decision["memory_id"], decision["other_memory"], decision["outcome"], decision["refused"]) == (
        other, original, "duplicate", True,
    )  # fmt: skip
    assert decision["decision_id"] == ids.decision_id(other, ids.revision(NOON + HOUR, twin.event_id))
    assert (decision["decided_at"], decision["day"], decision["reasons"]) == (
        NOON + HOUR, "2026-03-01", ["exact_duplicate"],
    )  # fmt: skip
    assert space.store.read("memories")["source"].to_list() == ["a.md"]


def test_with_the_policy_off_only_duplicates_are_logged(space, act):
    take_in(space, *(act(f"{number}.md", f"{SHORT} {number}") for number in range(3)))
    assert space.store.count("decisions") == 0
    take_in(space, act("copy.md", f"{SHORT} 1", at=NOON + HOUR))
    assert space.store.read("decisions")["outcome"].to_list() == ["duplicate"]
    assert space.store.count("edges") == 0


def test_namespaces_never_see_each_other(space, act):
    acts = [act("a.md", LONG, namespace=name) for name in ("ada", "bob", "ada/b")]
    assert counts(by_night(space, *acts)) == {"added": 3}
    assert counts(take_in(space, act("b.md", LONG, namespace="bob", at=NOON + HOUR))) == {"refused": 1}
    held = space.store.read("quarantine").row(0, named=True)
    assert (held["namespace"], held["duplicate_of"]) == ("bob", ids.memory_id("bob", "a.md"))


def test_a_text_that_left_is_free(space, act):
    take_in(space, act("a.md", LONG), act("a.md", SHORT, at=NOON + HOUR))
    assert counts(take_in(space, act("b.md", LONG, at=NOON + 2 * HOUR))) == {"added": 1}
    take_in(space, act("b.md", at=NOON + 3 * HOUR))
    assert counts(take_in(space, act("c.md", LONG, at=NOON + 4 * HOUR))) == {"added": 1}


def test_a_text_that_leaves_with_the_batch_is_free(space, act):
    take_in(space, act("a.md", LONG), act("c.md", SHORT))
    night = [act("a.md", at=NOON + HOUR), act("b.md", LONG, at=NOON + HOUR)]
    assert counts(by_night(space, *night)) == {"added": 1, "retired": 1}


def test_a_vault_changes_as_a_whole_so_a_file_that_was_renamed_is_no_duplicate(space, act):
    """What a note said before it changed counts for nobody, whatever the order of the ids."""
    for first, second in (("a.md", "b.md"), ("d.md", "c.md")):
        text = f"{SHORT} {first}"
        take_in(space, act(first, text, origin="vault"))
        swap = [
            act(first, f"{LONG} {first}", origin="vault", at=NOON + DAY),
            act(second, text, origin="vault", at=NOON + DAY),
        ]
        assert counts(by_night(space, *swap)) == {"added": 1, "changed": 1}


def test_a_refused_change_keeps_the_old_text_which_then_still_counts(space, act):
    take_in(space, act("a.md", LONG, origin="vault"), act("z.md", SHORT, origin="vault"))
    night = [
        act("a.md", SHORT, origin="vault", at=NOON + DAY),  # says what z.md says already
        act("b.md", LONG, origin="vault", at=NOON + DAY),  # says what a.md goes on saying
    ]
    assert counts(by_night(space, *night)) == {"refused": 2}
    assert sorted(space.store.read("memories", columns=["source", "content"]).rows()) == [
        ("a.md", LONG), ("z.md", SHORT),
    ]  # fmt: skip
    held = dict(space.store.read("quarantine", columns=["source", "duplicate_of"]).rows())
    assert held == {"a.md": ids.memory_id("ada", "z.md"), "b.md": ids.memory_id("ada", "a.md")}


def test_a_day_that_is_run_again_asks_a_refused_note_nothing_and_changes_nothing(space, act):
    acts = [act("a.md", LONG), act("b.md", LONG, at=NOON + HOUR)]
    by_night(space, *acts)
    names = ("memories", "chunks", "decisions", "quarantine", "edges")
    before, versions = everything(space), [space.store.table(name).version for name in names]
    assert counts(by_night(space, *acts)) == {"unchanged": 2}
    assert_same(before, everything(space))
    assert [space.store.table(name).version for name in names] == versions


twins = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from(["1", "2", "3", ""]), st.integers(0, 2)),
    min_size=1,
    max_size=8,
    unique_by=lambda one: (one[0], one[2]),
)


@settings(max_examples=10)
@given(twins)
def test_a_range_of_days_at_once_equals_one_day_after_the_other(make_space, act, found):
    acts = [
        act(f"{name}.md", f"{SHORT} {text}" if text else None, at=NOON + day * DAY)
        for name, text, day in found
    ]
    at_once, by_day = make_space(chunks=CHUNKS), make_space(chunks=CHUNKS)
    by_night(at_once, *acts)
    for day in sorted({one.occurred_at for one in acts}):
        by_night(by_day, *(one for one in acts if one.occurred_at == day))
    assert_same(everything(at_once), everything(by_day))


def test_while_the_gate_warns_a_duplicate_is_stored_and_the_reason_is_in_the_log(make_space, act):
    space = make_space(chunks=CHUNKS, gate={"mode": "warn"})
    acts = [act("a.md", LONG, at=datetime.now(UTC)), act("b.md", LONG, at=datetime.now(UTC) + HOUR)]
    assert counts(take_in(space, *acts)) == {"added": 2}
    (decision,) = space.store.read("decisions").to_dicts()
    assert (decision["reasons"], decision["refused"]) == (["exact_duplicate"], False)
    assert space.store.count("quarantine") == 0


def test_with_the_gate_off_nobody_looks_for_duplicates(make_space, act):
    space = make_space(chunks=CHUNKS, gate={"mode": "off"})
    assert counts(by_night(space, *(act(f"{name}.md", LONG) for name in "abc"))) == {"added": 3}
    assert space.store.count("decisions") == 0


# -- reconsolidation, and taking it back -----------------------------------------------------------

TUESDAY = "We deploy on Tuesday at nine in the morning, everybody is there."
THURSDAY = TUESDAY.replace("Tuesday", "Thursday")
BATTERY = "The battery of the northern gauge lasts eleven weeks in winter, and nineteen in summer."
CHANGED = "It is changed by Ruaridh."
ROTA = "Ishbel is on call in odd weeks, Ruaridh in even ones; both phones ring at night."
TABLES = ("memories", "chunks", "edges")


@pytest.fixture
def guarded(open_memory) -> Memory:
    """An empty memory that reconsolidates with the guard."""
    return open_memory(reconsolidation={"policy": "guarded"})


def supersede(memory: Memory, **labels) -> tuple[Saved, Saved]:
    """A memory and the one that supersedes it."""
    old = memory.save(TUESDAY, title="Deploy day", **labels)
    new = memory.save(THURSDAY, title="Deploy day")
    assert (new.status, new.outcome, new.other) == ("live", "supersede", old.memory_id)
    return old, new


def merge(memory: Memory, **labels) -> tuple[Saved, Saved]:
    """A memory and the one that it absorbed."""
    target = memory.save(BATTERY, title="Battery", **labels)
    part = memory.save(f"{BATTERY}\n{CHANGED}", title="Battery")
    assert (part.status, part.outcome, part.other) == ("merged", "merge", target.memory_id)
    return target, part


def status(memory: Memory, *saved: Saved) -> list[str]:
    return [memory.get(one.memory_id).status for one in saved]


def found(memory: Memory, query: str) -> list[str]:
    return [result.memory_id for result in memory.search(query)]


def decision(memory: Memory, one: Saved) -> dict:
    (row,) = [row for row in memory.decisions(outcome="any") if row["decision_id"] == one.decision_id]
    return row


def replayed(memory: Memory, other: Memory) -> Memory:
    """Another home, whose tables are made from the journal of the first, day by day, as nights do."""
    kinds = ["save", "forget", "undo", "unreadable"]
    space, entries = other._space, memory.journal.read(kinds=kinds)
    for (_,), day in entries.sort("day").group_by("day", maintain_order=True):
        rows = stages.stage(day)
        verdicts = judge(rows, space.gate_policy).with_columns(rows["revision"])
        hold(space.store, rows, verdicts.filter(verdict="refuse"))
        let_in = rows.join(verdicts.filter(pl.col("verdict") != "refuse"), on="memory_id", how="semi")

        def chunks_of(notes: pl.DataFrame) -> pl.DataFrame:
            cut = stages.cut(notes, space.chunker, space.embedder.name)
            return stages.embed(space.store, space.embedder, cut)

        settle(space, let_in, chunks_of, again=True)
    return other


def said(memory: Memory) -> list[tuple]:
    columns = ["source", "status", "content", "replaced_by", "absorbed", "revision"]
    return sorted(memory.store.read("memories", columns=columns).rows())


def assert_chunks_follow(memory: Memory) -> None:
    assert reconcile(memory.store, memory._space.chunker, memory.embedder) == Reconciled(0, 0)


def test_a_newer_fact_supersedes_the_older_one_which_stays_readable(guarded):
    old, new = supersede(guarded)
    assert status(guarded, old, new) == ["superseded", "live"]
    assert found(guarded, "on which day do we deploy?") == [new.memory_id]
    record = guarded.get(old.memory_id)
    assert (record.content, record.replaced_by) == (TUESDAY, new.memory_id)
    (edge,) = guarded.store.read("edges").to_dicts()
    assert (edge["from_memory"], edge["to_memory"], edge["kind"], edge["strength"]) == (
        new.memory_id, old.memory_id, "supersedes", 1.0,
    )  # fmt: skip
    row = decision(guarded, new)
    assert (edge["decision_id"], edge["similarity"], edge["evidence"]) == (
        row["decision_id"], row["similarity"], row["evidence"],
    )  # fmt: skip
    assert 0.75 <= row["similarity"] < 1
    assert "Thursday" in row["evidence"]
    assert_chunks_follow(guarded)


def test_a_merged_note_is_found_through_the_memory_that_absorbed_it(guarded):
    target, part = merge(guarded)
    guarded.save(ROTA, title="Rota")
    record = guarded.get(target.memory_id)
    assert record.content == f"{BATTERY}\n{CHANGED}"
    assert (record.absorbed, record.frequency) == ((part.memory_id,), 2)
    assert guarded.get(part.memory_id).replaced_by == target.memory_id
    assert decision(guarded, part)["appended"] == [CHANGED]
    assert found(guarded, "changed by Ruaridh")[0] == target.memory_id
    assert part.memory_id not in found(guarded, "changed by Ruaridh")
    assert guarded.store.count("chunks", f"memory_id = '{part.memory_id}'") == 0
    assert guarded.store.count("edges", f"from_memory = '{part.memory_id}'") == 0
    assert guarded.count() == 2
    assert_chunks_follow(guarded)


@pytest.mark.parametrize("make", [supersede, merge])
def test_undoing_brings_memories_chunks_and_edges_back_exactly(guarded, make):
    """As they were before the decision but for the note that it was about, which is as if stored alone."""
    guarded.save(ROTA, title="Rota")
    first = guarded.save(TUESDAY if make is supersede else BATTERY, title="Deploy day")
    before = whole(guarded.store, *TABLES)
    text = THURSDAY if make is supersede else f"{BATTERY}\n{CHANGED}"
    second = guarded.save(text, title="Deploy day")
    assert second.outcome == ("supersede" if make is supersede else "merge")
    decided = whole(guarded.store, *TABLES)
    others = pl.col("memory_id") != second.memory_id
    assert not before["memories"].equals(decided["memories"].filter(others))

    row = guarded.undo(second.decision_id)
    assert (row["undone_why"], row["undone_by"]) == ("undo", "application")
    assert row["undone_at"] is not None
    after = whole(guarded.store, *TABLES)
    for name in ("memories", "chunks"):
        assert after[name].filter(others).equals(before[name]), name
    assert after["edges"].equals(before["edges"])
    assert status(guarded, first, second) == ["live", "live"]
    record = guarded.get(second.memory_id)
    assert (record.content, record.replaced_by, record.absorbed, record.frequency) == (text, None, (), 1)
    own = after["memories"].filter(~others)["revision"].item()
    assert ids.note_revision(own) == own == row["revision"]
    assert_chunks_follow(guarded)
    with pytest.raises(SlowwaveError, match="holds no longer"):
        guarded.undo(second.decision_id)


@pytest.mark.parametrize("make", [supersede, merge])
def test_a_person_who_parted_two_memories_is_not_asked_again(guarded, make):
    _, second = make(guarded)
    guarded.undo(second.decision_id)
    text, title = (THURSDAY, "Deploy day") if make is supersede else (f"{BATTERY}\n{CHANGED}", "Battery")
    again = guarded.save(f"{text}\n", title=title, key=second.source)
    assert (again.status, again.outcome) == ("live", "")
    assert guarded.count() == 2


@pytest.mark.parametrize("make", [supersede, merge])
def test_the_undo_is_in_the_journal_and_the_history(guarded, make):
    _, second = make(guarded)
    guarded.undo(second.decision_id)
    entries = guarded.journal.read(kinds=["undo"])
    assert entries["subject"].to_list() == [second.decision_id]
    events = [event["event"] for event in guarded.history(second.memory_id)]
    assert events == ["saved", second.outcome, f"{second.outcome} undone"]


@pytest.mark.parametrize("make", [supersede, merge])
def test_a_decision_survives_a_rebuild_of_the_tables_from_the_journal(guarded, open_memory, tmp_path, make):
    make(guarded)
    other = open_memory(path=tmp_path / "other", reconsolidation={"policy": "guarded"})
    assert said(replayed(guarded, other)) == said(guarded)


@pytest.mark.parametrize("make", [supersede, merge])
def test_an_undo_survives_a_rebuild_of_the_tables_from_the_journal(guarded, open_memory, tmp_path, make):
    _, second = make(guarded)
    guarded.undo(second.decision_id)
    other = open_memory(path=tmp_path / "other", reconsolidation={"policy": "guarded"})
    assert said(replayed(guarded, other)) == said(guarded)


def test_a_released_duplicate_enters_is_journalled_and_survives_a_rebuild(guarded, open_memory, tmp_path):
    first = guarded.save(BATTERY, title="Battery", key="first")
    twin = guarded.save(BATTERY, title="Battery", key="twin")
    assert (twin.status, twin.duplicate_of, twin.reasons) == (
        "quarantined", first.memory_id, ("exact_duplicate",),
    )  # fmt: skip
    (held,) = guarded.quarantine()
    assert (held["memory_id"], held["duplicate_of"], held["content"]) == (
        twin.memory_id, first.memory_id, BATTERY,
    )  # fmt: skip
    assert decision(guarded, twin)["refused"]

    released = guarded.release(held["quarantine_id"])
    assert (released.memory_id, released.status) == (twin.memory_id, "live")
    assert status(guarded, first, twin) == ["live", "live"]
    assert guarded.quarantine() == []
    assert [row["status"] for row in guarded.quarantine(status="")] == ["resolved"]
    last = guarded.journal.read(kinds=["save"]).sort("seq").row(-1, named=True)
    assert (last["subject"], payload_of(last["payload"])["released"]) == ("twin", True)
    with pytest.raises(SlowwaveError, match="not held"):
        guarded.release(held["quarantine_id"])
    other = open_memory(path=tmp_path / "other", reconsolidation={"policy": "guarded"})
    assert said(replayed(guarded, other)) == said(guarded)


def test_undoing_the_refusal_of_a_duplicate_releases_it(guarded):
    first = guarded.save(BATTERY, title="Battery")
    twin = guarded.save(BATTERY, title="Battery")
    row = guarded.undo(twin.decision_id)
    assert row["undone_why"] == "undo"
    assert status(guarded, first, twin) == ["live", "live"]


# -- what dissolves a decision ---------------------------------------------------------------------


def texts(memory: Memory) -> set[str]:
    """Everything that can be found, line by line."""
    live = memory.store.read("memories", "status = 'live'")["content"]
    return {line for content in live for line in content.split("\n")}


@pytest.mark.parametrize("make", [supersede, merge])
def test_forgetting_the_note_that_acted_dissolves_its_decision(guarded, make):
    first, second = make(guarded)
    before = guarded.get(first.memory_id)
    guarded.forget(second.memory_id)
    assert status(guarded, first, second) == ["live", "retired"]
    assert decision(guarded, second)["undone_why"] == "forgotten"
    assert guarded.store.count("edges") == 0
    assert guarded.get(first.memory_id).content == (TUESDAY if make is supersede else BATTERY)
    assert before.memory_id in found(guarded, "on which day do we deploy?, how long does the battery last?")
    assert_chunks_follow(guarded)


@pytest.mark.parametrize("make", [supersede, merge])
def test_forgetting_the_memory_that_was_acted_on_loses_nothing_of_the_other(guarded, make):
    first, second = make(guarded)
    guarded.forget(first.memory_id)
    assert status(guarded, first, second) == ["retired", "live"]
    assert decision(guarded, second)["undone_why"] == "forgotten"
    assert guarded.get(second.memory_id).content == (
        THURSDAY if make is supersede else f"{BATTERY}\n{CHANGED}"
    )
    assert guarded.store.count("edges") == 0
    assert found(guarded, "Thursday" if make is supersede else "changed by Ruaridh") == [second.memory_id]
    assert_chunks_follow(guarded)


@pytest.mark.parametrize("make", [supersede, merge])
def test_saving_the_note_that_acted_again_dissolves_its_decision(guarded, make):
    first, second = make(guarded)
    guarded.save(ROTA, title="Rota", key=second.source)
    assert status(guarded, first, second) == ["live", "live"]
    assert decision(guarded, second)["undone_why"] == "changed"
    assert texts(guarded) == {TUESDAY if make is supersede else BATTERY, ROTA}
    assert guarded.store.count("edges") == 0
    assert_chunks_follow(guarded)


def test_saving_a_superseded_memory_again_makes_it_live(guarded):
    old, new = supersede(guarded)
    guarded.save(ROTA, title="Rota", key=old.source)
    assert status(guarded, old, new) == ["live", "live"]
    assert decision(guarded, new)["undone_why"] == "changed"
    assert texts(guarded) == {THURSDAY, ROTA}
    assert_chunks_follow(guarded)


def test_saving_a_memory_that_absorbed_another_again_keeps_what_it_absorbed(guarded):
    target, part = merge(guarded)
    new = f"{BATTERY}\nIt weighs as much as Ishbel."
    guarded.save(new, title="Battery", key=target.source)
    assert status(guarded, target, part) == ["live", "merged"]
    assert {*new.split("\n"), CHANGED} <= set(guarded.get(target.memory_id).content.split("\n"))
    guarded.undo(part.decision_id)
    assert guarded.get(target.memory_id).content == new
    assert guarded.get(part.memory_id).content == f"{BATTERY}\n{CHANGED}"
    assert_chunks_follow(guarded)


def test_what_a_memory_absorbed_is_on_its_own_again_when_the_new_text_contradicts_it(guarded):
    target, part = merge(guarded)
    new = BATTERY.replace("northern", "southern")
    guarded.save(new, title="Battery", key=target.source)
    assert status(guarded, target, part) == ["live", "live"]
    assert decision(guarded, part)["undone_why"] == "changed"
    assert texts(guarded) == {new, BATTERY, CHANGED}
    assert_chunks_follow(guarded)


# -- what is never decided -------------------------------------------------------------------------

PROTECTED = [{"importance_tier": "critical"}, {"source_of_truth": True}]


@pytest.mark.parametrize("labels", PROTECTED)
def test_a_protected_memory_is_never_superseded_or_merged_into(guarded, labels):
    saved = [
        guarded.save(TUESDAY, title="Deploy day", **labels),
        guarded.save(BATTERY, title="Battery", **labels),
    ]
    before = guarded.store.read("memories").sort("memory_id")
    new = guarded.save(THURSDAY, title="Deploy day")
    more = guarded.save(f"{BATTERY}\n{CHANGED}", title="Battery")
    assert [(one.status, one.outcome, one.other) for one in (new, more)] == [
        ("live", "related", one.memory_id) for one in saved
    ]
    after = guarded.store.read("memories").sort("memory_id")
    assert after.join(before, on="memory_id", how="semi").equals(before)
    for one in (new, more):
        assert "a person has to decide" in decision(guarded, one)["evidence"]
    assert set(guarded.store.read("edges")["kind"]) == {"related"}


@pytest.mark.parametrize("labels", PROTECTED)
def test_a_protected_note_is_not_merged_away(guarded, labels):
    first = guarded.save(BATTERY, title="Battery")
    second = guarded.save(f"{BATTERY}\n{CHANGED}", title="Battery", **labels)
    assert (second.status, second.outcome) == ("live", "related")
    assert guarded.get(first.memory_id).content == BATTERY


def test_no_namespace_is_reconsolidated_with_another(guarded, open_memory):
    other = open_memory("bob", reconsolidation={"policy": "guarded"})
    guarded.save(TUESDAY, title="Deploy day")
    guarded.save(BATTERY, title="Battery")
    new = other.save(THURSDAY, title="Deploy day")
    more = other.save(f"{BATTERY}\n{CHANGED}", title="Battery")
    assert [(one.status, one.outcome, one.other) for one in (new, more)] == [("live", "", None)] * 2
    assert (guarded.count(), other.count()) == (2, 2)
    assert other.store.count("edges") == 0
    deploys = guarded.save(THURSDAY, title="Deploy day")
    assert deploys.outcome == "supersede"
    for call in (other.undo, other.history):
        with pytest.raises(NotFoundError):
            call(deploys.decision_id)
    assert deploys.decision_id not in {row["decision_id"] for row in other.decisions(outcome="any")}


def test_with_the_policy_off_nothing_is_merged_or_superseded(memory):
    saved = [
        memory.save(TUESDAY, title="Deploy day"), memory.save(THURSDAY, title="Deploy day"),
        memory.save(BATTERY, title="Battery"), memory.save(f"{BATTERY}\n{CHANGED}", title="Battery"),
    ]  # fmt: skip
    assert status(memory, *saved) == ["live"] * 4
    assert memory.decisions(outcome="any") == []
    twin = memory.save(ROTA), memory.save(ROTA)
    assert [row["decision_id"] for row in memory.decisions(outcome="any")] == [twin[1].decision_id]
    assert list_checkpoints(memory.store) == []


# -- literally by similarity -----------------------------------------------------------------------


def test_the_literal_policy_goes_by_the_thresholds_alone(open_memory, tmp_path):
    bands = {"duplicate": 0.999, "merge": 0.99, "conflict": 0.5}
    memory = open_memory(reconsolidation={"policy": "literal", **bands})
    first = memory.save(TUESDAY, title="Deploy day")
    second = memory.save(THURSDAY, title="Deploy day")
    assert (second.outcome, second.other) == ("supersede", first.memory_id)
    similarity = decision(memory, second)["similarity"]
    for bands, outcome in (
        ({"duplicate": 0.999, "merge": similarity, "conflict": 0.5}, "merge"),
        ({"duplicate": 0.999, "merge": similarity + 1e-6, "conflict": similarity}, "supersede"),
        ({"duplicate": 0.999, "merge": 0.998, "conflict": similarity + 1e-6}, ""),
        ({"duplicate": similarity - 1e-5, "merge": 0.5, "conflict": 0.5}, "duplicate"),
    ):
        again = open_memory(path=tmp_path / outcome / "x", reconsolidation={"policy": "literal", **bands})
        again.save(TUESDAY, title="Deploy day")
        assert again.save(THURSDAY, title="Deploy day").outcome == outcome, bands


# -- warning only ----------------------------------------------------------------------------------


def test_while_the_gate_warns_everything_is_stored_with_its_reasons(open_memory):
    memory = open_memory(gate={"mode": "warn", "min_quality": 0.4})
    saved = [
        memory.save("short", title="memory"),
        memory.save(BATTERY, title="Battery"),
        memory.save(BATTERY, title="Battery"),
        memory.save(f"{BATTERY}\nSo it is.", title="Battery"),
    ]
    assert status(memory, *saved) == ["live"] * 4
    assert set(saved[0].reasons) == {"too_short", "low_quality"}
    assert "exact_duplicate" in saved[2].reasons
    assert "near_duplicate" in saved[3].reasons
    assert memory.quarantine(status="") == []
    rows = {row["memory_id"]: row for row in memory.decisions(outcome="any")}
    assert rows[saved[2].memory_id]["reasons"] == ["exact_duplicate"]
    assert rows[saved[3].memory_id]["reasons"] == ["near_duplicate"]
    assert not any(row["refused"] for row in rows.values())


# -- the checkpoint before the first change --------------------------------------------------------


def test_a_checkpoint_is_made_before_the_first_note_that_is_reconsolidated(open_memory):
    memory = open_memory()
    memory.save(TUESDAY, title="Deploy day")
    assert list_checkpoints(memory.store) == []
    memory.close()
    guarded = open_memory(reconsolidation={"policy": "guarded"})
    before = whole(guarded.store, "memories", "chunks")
    new = guarded.save(THURSDAY, title="Deploy day")
    assert (new.outcome, new.warnings) == ("supersede", ())
    (checkpoint,) = list_checkpoints(guarded.store)
    assert checkpoint.name == "before-reconsolidation"
    assert set(checkpoint.tables) == set(guarded.store.specs)
    guarded.save(ROTA)
    assert list_checkpoints(guarded.store) == [checkpoint]
    restore_checkpoint(guarded.store, checkpoint.name)
    assert_same(before, whole(guarded.store, "memories", "chunks"))


def test_without_a_checkpoint_nothing_is_changed_and_the_warning_says_why(guarded, monkeypatch):
    module = sys.modules["slowwave.store.checkpoints"]

    def fails(*_args: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(module, "create_checkpoint", fails)
    old, new = guarded.save(TUESDAY, title="Deploy day"), guarded.save(THURSDAY, title="Deploy day")
    assert status(guarded, old, new) == ["live", "live"]
    assert new.outcome == ""
    (warning,) = new.warnings
    assert "no space left on device" in warning
    assert "Nothing was merged or superseded" in warning
    assert guarded.decisions(outcome="any") == []
    assert guarded.save(TUESDAY, title="Deploy day").reasons == ("exact_duplicate",)  # the gate goes on
    monkeypatch.undo()
    late = guarded.save(TUESDAY.replace("Tuesday", "Monday"), title="Deploy day")
    assert (late.outcome, late.warnings) == ("supersede", ())


# -- from several writers --------------------------------------------------------------------------


def test_of_equal_notes_that_are_saved_at_once_one_enters(open_memory):
    memories = [open_memory() for _ in range(3)]
    outcomes: list[Saved] = []

    def save(memory: Memory) -> None:
        outcomes.append(memory.save(BATTERY, title="Battery"))

    threads = [threading.Thread(target=save, args=(memory,)) for memory in memories]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(one.status for one in outcomes) == ["live", "quarantined", "quarantined"]
    (live,) = [one.memory_id for one in outcomes if one.status == "live"]
    assert {one.duplicate_of for one in outcomes if one.status != "live"} == {live}
    assert memories[0].count() == 1
