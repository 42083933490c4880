from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import permutations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slowwave import ids, stages
from slowwave.admission import Settled, settle
from slowwave.chunking import Chunker
from slowwave.entries import entries_frame
from slowwave.quarantine import hold
from slowwave.reconcile import Reconciled, reconcile
from slowwave.store import one_of
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
