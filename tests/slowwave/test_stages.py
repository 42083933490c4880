from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import permutations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slowwave import ids, stages
from slowwave.chunking import Chunker
from slowwave.entries import entries_frame
from slowwave.store import one_of

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
CHUNKER = Chunker(10, 20)
LONG = "\n\n".join(
    f"Paragraph {name} says a different thing about the harbour, its gauges and the people there."
    for name in "abcd"
)
SHORT = "One paragraph about the lighthouse keeper and nothing else at all."


def staged(*acts) -> pl.DataFrame:
    return stages.stage(entries_frame(acts))


def take_in(store, embedder, *acts) -> stages.Applied:
    """Apply these acts one after the other, as a day's saves and forgets would be."""
    done = stages.Applied()
    for one in acts:
        rows = staged(one)
        if one.kind == "forget":
            done += stages.retire(store, rows)
            continue
        new = stages.outdated(store, rows)
        done += stages.Applied(unchanged=rows.height - new.height)
        if new.height:
            chunks = stages.cut(new, CHUNKER, embedder.name)
            done += stages.apply(store, new, stages.embed(store, embedder, chunks))
    return done


def whole(store) -> dict[str, pl.DataFrame]:
    return {name: store.read(name).sort(store.specs[name].key) for name in ("memories", "chunks")}


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


# -- stage -----------------------------------------------------------------------------------------


def test_staging_keeps_the_last_act_on_a_memory_per_day(act):
    morning, evening = act("a.md", "first", at=NOON), act("a.md", "second", at=NOON + HOUR)
    tomorrow, gone = act("a.md", "third", at=NOON + DAY), act("b.md", at=NOON)
    rows = staged(evening, tomorrow, morning, gone)
    assert rows.select("day", "source", "act", "content").sort("day", "source").rows() == [
        ("2026-03-01", "a.md", "save", "second"),
        ("2026-03-01", "b.md", "forget", None),
        ("2026-03-02", "a.md", "save", "third"),
    ]
    assert rows["staged_id"].to_list() == [
        f"{day}:{memory}" for day, memory in rows.select("day", "memory_id").rows()
    ]
    assert rows.filter(pl.col("content") == "second")["revision"].item() == ids.revision(
        NOON + HOUR, evening.event_id
    )
    assert rows.filter(source="b.md")["memory_id"].item() == ids.memory_id("ada", "b.md")


def test_acts_of_one_moment_are_told_apart_by_their_event_id(act):
    one, other = act("a.md", "one", event_id="1"), act("a.md", "other", event_id="2")
    assert staged(other, one)["content"].to_list() == ["other"]
    assert staged(one, other)["content"].to_list() == ["other"]


def test_staging_orders_direct_saves_first_then_by_creation_then_by_id(act):
    rows = staged(
        act("vault/old.md", "x", origin="vault", created_at=NOON - 9 * DAY),
        act("new", "x", at=NOON + HOUR),
        act("vault/new.md", "x", origin="vault"),
        act("old", "x", at=NOON),
    )
    assert rows["source"].to_list() == ["old", "new", "vault/old.md", "vault/new.md"]
    tied = staged(*(act(name, "x") for name in "abcdef"))
    assert tied["memory_id"].to_list() == sorted(tied["memory_id"])


def test_staging_keeps_namespaces_apart(act):
    rows = staged(act("a.md", "x", namespace="ada"), act("a.md", "x", namespace="bob"))
    assert rows.height == 2
    assert rows["memory_id"].n_unique() == 2


def test_staging_nothing_gives_no_rows_with_all_columns(act, store):
    rows = staged()
    assert rows.height == 0
    assert rows.columns == staged(act("a.md", "x")).columns
    store.upsert("staged_notes", rows)


def test_staged_rows_fit_their_table(act, store):
    rows = staged(act("a.md", LONG), act("b.md"))
    store.upsert("staged_notes", rows)
    back = store.read("staged_notes").sort("staged_id")
    assert back.equals(rows.select(back.columns).cast(dict(back.schema)).sort("staged_id"))


@given(st.permutations(range(6)))
def test_staging_does_not_depend_on_the_order_of_arrival(order):
    from slowwave.entries import save_entry
    from slowwave.notes import plain_note

    acts = [
        save_entry(
            plain_note(f"text {number}", source=f"{number % 3}.md"),
            namespace="ada",
            source=f"{number % 3}.md",
            origin="",
            occurred_at=NOON + number * HOUR,
            principal="test",
            event_id=str(number),
        )
        for number in range(6)
    ]
    assert staged(*(acts[at] for at in order)).drop("seq").equals(staged(*acts).drop("seq"))


# -- cut -------------------------------------------------------------------------------------------


def test_cutting_gives_exact_slices_with_their_headings(act):
    content = f"# Harbour\n\n{LONG}\n\n## Lighthouse\n\n{SHORT}"
    rows = staged(act("a.md", content, title="Harbour"))
    chunks = stages.cut(rows, CHUNKER, "m")
    memory = rows["memory_id"].item()
    assert chunks.height > 2
    assert chunks["chunk_id"].to_list() == [ids.chunk_id(memory, at) for at in range(chunks.height)]
    assert chunks["chunk_count"].unique().to_list() == [chunks.height]
    for row in chunks.iter_rows(named=True):
        assert content[row["start"] : row["end"]] == row["text"]
        assert row["search_text"].endswith(row["text"])
        assert row["embedding_hash"] == ids.embedding_hash("m", row["search_text"])
        assert row["revision"] == rows["revision"].item()
    last = chunks.row(-1, named=True)
    assert last["headings"] == ["Harbour", "Lighthouse"]


def test_cutting_a_blank_note_gives_no_chunks(act):
    assert stages.cut(staged(act("a.md", " \n ")), CHUNKER, "m").height == 0


# -- embed -----------------------------------------------------------------------------------------


def test_equal_text_is_embedded_once(act, store, hash_embedder):
    embedder = hash_embedder()
    chunks = stages.cut(
        staged(act("a.md", SHORT, title="T"), act("b.md", SHORT, title="T"), act("c.md", LONG, title="T")),
        CHUNKER,
        embedder.name,
    )
    rows = stages.embed(store, embedder, chunks)
    assert sorted(embedder.embedded) == sorted(chunks["search_text"].unique())
    assert rows["chunk_id"].to_list() == chunks["chunk_id"].to_list()
    for text, vector in rows.select("search_text", "vector").rows():
        assert np.array_equal(vector, embedder.embed_query(text))


def test_known_vectors_are_used_again(act, store, hash_embedder):
    """A save of few chunks computes them: that is as cheap as asking whether they are known."""
    many = "\n\n".join(
        f"{paragraph} In week {week}." for week in range(3) for paragraph in LONG.split("\n\n")
    )
    assert len(CHUNKER.split(many)) >= stages.LOOK_UP_FROM
    take_in(store, hash_embedder(), act("a.md", many, title="T"))
    embedder = hash_embedder()
    take_in(store, embedder, act("b.md", many, title="T"), act("a.md", many, title="T", at=NOON + HOUR))
    assert embedder.embedded == []
    take_in(store, embedder, act("c.md", f"{many}\n\n{SHORT}", title="T"))
    assert embedder.embedded == [f"T\n{SHORT}"]


def test_a_day_is_embedded_once_and_keeps_only_its_own_chunks(act, store, hash_embedder):
    embedder = hash_embedder()
    day = "2026-03-01"
    first = staged(act("a.md", LONG, title="T"), act("b.md", SHORT, title="T"))
    done = stages.embed_days(store, embedder, CHUNKER, first, [day])
    assert (done.chunks, done.computed) == (store.count("embedded_chunks"), len(embedder.embedded))
    version = store.table("embedded_chunks").version
    again = stages.embed_days(store, embedder, CHUNKER, first, [day])
    assert (again.chunks, again.computed) == (done.chunks, 0)
    assert store.table("embedded_chunks").version == version

    changed = staged(act("a.md", SHORT, title="T", at=NOON + HOUR))
    other = staged(act("b.md", SHORT, title="T", at=NOON + DAY))
    stages.embed_days(store, embedder, CHUNKER, other, ["2026-03-02"])
    stages.embed_days(store, embedder, CHUNKER, changed, [day])
    rows = store.read("embedded_chunks").sort("day")
    assert rows["day"].to_list() == [day, "2026-03-02"]
    assert rows["revision"].to_list() == [changed["revision"].item(), other["revision"].item()]
    assert rows["embedded_id"].to_list() == [f"{d}:{c}" for d, c in rows.select("day", "chunk_id").rows()]


def test_embedding_goes_on_where_a_killed_run_stopped(act, store, hash_embedder, monkeypatch):
    class Dying(hash_embedder):
        def embed_documents(self, texts: Sequence[str], progress=None):
            if self.embedded:
                raise KeyboardInterrupt
            return super().embed_documents(texts, progress)

    monkeypatch.setattr(stages, "CHUNKS_PER_COMMIT", 2)
    notes = staged(*(act(f"{name}.md", LONG + name, title="T" + name) for name in "abc"))
    dying, embedder = Dying(), hash_embedder()
    with pytest.raises(KeyboardInterrupt):
        stages.embed_days(store, dying, CHUNKER, notes, ["2026-03-01"])
    assert store.count("embedded_chunks") == len(dying.embedded) == 2
    done = stages.embed_days(store, embedder, CHUNKER, notes, ["2026-03-01"])
    assert not set(dying.embedded) & set(embedder.embedded)
    assert done.chunks == store.count("embedded_chunks") == done.computed + 2


# -- apply -----------------------------------------------------------------------------------------


def test_a_new_note_becomes_a_live_memory_with_its_chunks(act, store, hash_embedder):
    assert take_in(store, hash_embedder(), act("a.md", LONG, title="Harbour")) == stages.Applied(added=1)
    row = store.read("memories").row(0, named=True)
    assert row["memory_id"] == ids.memory_id("ada", "a.md")
    assert (row["status"], row["title"], row["content"], row["frequency"]) == ("live", "Harbour", LONG, 1)
    assert row["created_at"] == row["updated_at"] == NOON
    assert row["chunk_count"] == len(CHUNKER.split(LONG))
    assert_consistent(store)


@pytest.mark.parametrize(("before", "after"), [(LONG, SHORT), (SHORT, LONG)])
def test_a_changed_note_replaces_its_chunks_and_leaves_none_behind(act, store, hash_embedder, before, after):
    acts = act("a.md", before), act("a.md", after, at=NOON + HOUR)
    assert take_in(store, hash_embedder(), *acts) == stages.Applied(added=1, changed=1)
    assert store.read("memories")["content"].to_list() == [after]
    assert_consistent(store)


def test_a_change_keeps_when_the_note_was_created(act, store, hash_embedder):
    take_in(store, hash_embedder(), act("a.md", SHORT), act("a.md", LONG, at=NOON + DAY))
    row = store.read("memories").row(0, named=True)
    assert (row["created_at"], row["updated_at"]) == (NOON, NOON + DAY)
    said = NOON - 30 * DAY
    take_in(store, hash_embedder(), act("a.md", LONG, at=NOON + 2 * DAY, created_at=said))
    row = store.read("memories").row(0, named=True)
    assert (row["created_at"], row["updated_at"]) == (said, NOON + 2 * DAY)
    assert set(store.read("chunks")["created_at"]) == {said}


def test_an_older_act_changes_nothing(act, store, hash_embedder):
    embedder = hash_embedder()
    take_in(store, embedder, act("a.md", LONG, at=NOON + HOUR))
    before = whole(store)
    assert take_in(store, embedder, act("a.md", SHORT)) == stages.Applied(unchanged=1)
    assert take_in(store, embedder, act("a.md")) == stages.Applied(unchanged=1)
    assert_same(before, whole(store))


def test_the_same_act_twice_changes_nothing(act, store, hash_embedder):
    take_in(store, hash_embedder(), act("a.md", LONG))
    before = whole(store)
    assert take_in(store, hash_embedder(), act("a.md", LONG)) == stages.Applied(unchanged=1)
    assert_same(before, whole(store))


@settings(max_examples=8)
@given(st.permutations(range(4)))
def test_the_last_revision_wins_in_any_order(make_store, act, hash_embedder, order):
    """Saves and a forget in the middle, arriving in any order, leave the last save's memory and chunks."""
    acts = [
        act("a.md", SHORT, at=NOON),
        act("a.md", LONG, at=NOON + HOUR),
        act("a.md", at=NOON + 2 * HOUR),
        act("a.md", f"{SHORT} At last.", at=NOON + 3 * HOUR),
    ]
    store = make_store()
    take_in(store, hash_embedder(), *(acts[at] for at in order))
    row = store.read("memories").row(0, named=True)
    assert row["revision"] == ids.revision(NOON + 3 * HOUR, acts[3].event_id)
    assert (row["status"], row["content"]) == ("live", f"{SHORT} At last.")
    assert store.count("memories") == 1
    assert_consistent(store)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_a_forget_of_the_last_moment_wins_in_any_order(store, act, hash_embedder, order):
    acts = [act("a.md", SHORT), act("a.md", LONG, at=NOON + HOUR), act("a.md", at=NOON + 2 * HOUR)]
    take_in(store, hash_embedder(), *(acts[at] for at in order))
    assert store.read("memories")["status"].to_list() == ["retired"]
    assert set(store.read("chunks")["status"]) <= {"retired"}


@pytest.mark.parametrize("order", [(1, 0, 2), (1, 2, 0)])
def test_a_forget_that_arrives_first_leaves_nothing_to_a_later_save(store, act, hash_embedder, order):
    acts = [act("a.md", SHORT), act("a.md", at=NOON + HOUR), act("a.md", LONG, at=NOON + 2 * HOUR)]
    take_in(store, hash_embedder(), *(acts[at] for at in order))
    row = store.read("memories").row(0, named=True)
    assert (row["status"], row["content"], row["frequency"]) == ("live", LONG, 1)


def test_applying_many_notes_at_once_equals_one_by_one(make_store, act, hash_embedder):
    acts = [act(f"{number}.md", f"{LONG} {number}", title=f"T{number}") for number in range(5)]
    one_by_one, at_once, embedder = make_store(), make_store(), hash_embedder()
    take_in(one_by_one, embedder, *acts)
    rows = staged(*acts)
    stages.embed_days(at_once, embedder, CHUNKER, rows, ["2026-03-01"])
    assert stages.apply_days(at_once, rows, ["2026-03-01"]) == stages.Applied(added=5)
    assert stages.apply_days(at_once, rows, ["2026-03-01"]) == stages.Applied(unchanged=5)
    assert_same(whole(one_by_one), whole(at_once))


def test_applying_a_day_uses_only_chunks_of_the_notes_revision(store, act, hash_embedder):
    embedder = hash_embedder()
    old, new = staged(act("a.md", LONG)), staged(act("a.md", SHORT, at=NOON + DAY))
    stages.embed_days(store, embedder, CHUNKER, old, ["2026-03-01"])
    stages.embed_days(store, embedder, CHUNKER, new, ["2026-03-02"])
    stages.apply_days(store, new, ["2026-03-01", "2026-03-02"])
    assert_consistent(store)
    assert store.read("memories")["content"].to_list() == [SHORT]


# -- retire ----------------------------------------------------------------------------------------


def test_forgetting_takes_a_memory_out_of_the_search_and_erases_nothing(store, act, hash_embedder):
    embedder = hash_embedder()
    take_in(store, embedder, act("a.md", LONG), act("b.md", SHORT))
    assert take_in(store, embedder, act("a.md", at=NOON + HOUR)) == stages.Applied(retired=1)
    rows = {row["source"]: row for row in store.read("memories").iter_rows(named=True)}
    assert (rows["a.md"]["status"], rows["a.md"]["content"]) == ("retired", LONG)
    assert rows["a.md"]["retired_at"] == rows["a.md"]["updated_at"] == NOON + HOUR
    assert (rows["b.md"]["status"], rows["b.md"]["retired_at"]) == ("live", None)
    assert set(store.read("chunks", "status = 'live'")["memory_id"]) == {ids.memory_id("ada", "b.md")}
    assert_consistent(store)


def test_forgetting_what_is_not_there_or_twice_changes_nothing(store, act, hash_embedder):
    assert take_in(store, hash_embedder(), act("b.md")) == stages.Applied(unchanged=1)
    row = store.read("memories").row(0, named=True)
    assert (row["status"], row["content"], row["chunk_count"]) == ("retired", "", 0)
    take_in(store, hash_embedder(), act("a.md", LONG), act("a.md", at=NOON + HOUR))
    before = whole(store)
    assert take_in(store, hash_embedder(), act("a.md", at=NOON + 2 * HOUR)) == stages.Applied(unchanged=1)
    assert_same(before, whole(store))


def test_saving_again_revives_a_forgotten_memory(store, act, hash_embedder):
    acts = act("a.md", LONG), act("a.md", at=NOON + HOUR), act("a.md", LONG, at=NOON + 2 * HOUR)
    assert take_in(store, hash_embedder(), *acts) == stages.Applied(added=1, changed=1, retired=1)
    row = store.read("memories").row(0, named=True)
    assert (row["status"], row["retired_at"], row["created_at"]) == ("live", None, NOON)
    assert_consistent(store)


# -- reconcile -------------------------------------------------------------------------------------


def test_reconciling_what_is_in_order_writes_nothing(store, act, hash_embedder):
    embedder = hash_embedder()
    take_in(store, embedder, act("a.md", LONG), act("b.md", SHORT), act("b.md", at=NOON + HOUR))
    embedder.embedded.clear()
    versions = store.table("chunks").version, store.table("memories").version
    assert stages.reconcile(store, CHUNKER, embedder) == stages.Reconciled(0, 0)
    assert (store.table("chunks").version, store.table("memories").version) == versions
    assert embedder.embedded == []


def test_reconciling_makes_missing_chunks_again(store, act, hash_embedder):
    embedder = hash_embedder()
    take_in(store, embedder, act("a.md", LONG), act("b.md", SHORT))
    before = whole(store)
    lost = store.read("chunks", columns=["chunk_id"])["chunk_id"].sort()[1]
    store.delete("chunks", one_of("chunk_id", [lost]))
    assert stages.reconcile(store, CHUNKER, embedder).remade_memories == 1
    assert_same(before, whole(store))


def test_reconciling_removes_chunks_of_another_revision_and_of_no_memory(store, act, hash_embedder):
    embedder = hash_embedder()
    take_in(store, embedder, act("a.md", LONG))
    before = whole(store)
    stale = store.read("chunks").head(2).with_columns(
        chunk_id=pl.Series([ids.chunk_id(ids.memory_id("ada", "a.md"), 77), "nobody:00000"]),
        memory_id=pl.Series([ids.memory_id("ada", "a.md"), "nobody"]),
        revision=pl.lit("0000"),
    )  # fmt: skip
    store.upsert("chunks", stale)
    assert stages.reconcile(store, CHUNKER, embedder) == stages.Reconciled(2, 0)
    assert_same(before, whole(store))


def test_reconciling_follows_the_memory_after_a_write_that_stopped_between_the_tables(
    store, act, hash_embedder, monkeypatch
):
    """The memory has the new text, its chunks are still those of the old one."""
    embedder = hash_embedder()
    take_in(store, embedder, act("a.md", LONG))
    upsert = store.upsert

    def dies_before_chunks(name, *args, **options):
        if name == "chunks":
            raise KeyboardInterrupt
        return upsert(name, *args, **options)

    monkeypatch.setattr(store, "upsert", dies_before_chunks)
    with pytest.raises(KeyboardInterrupt):
        take_in(store, embedder, act("a.md", SHORT, at=NOON + HOUR))
    monkeypatch.undo()
    assert store.read("memories")["content"].to_list() == [SHORT]
    done = stages.reconcile(store, CHUNKER, embedder)
    assert done.remade_memories == 1
    assert_consistent(store)


def test_reconciling_brings_chunks_to_their_memorys_status(store, act, hash_embedder):
    embedder = hash_embedder()
    take_in(store, embedder, act("a.md", LONG), act("b.md", SHORT))
    row = store.read("memories", one_of("memory_id", [ids.memory_id("ada", "a.md")]))
    store.upsert("memories", row.with_columns(status=pl.lit("retired")))
    assert stages.reconcile(store, CHUNKER, embedder).remade_memories == 1
    assert_consistent(store)
    assert set(store.read("chunks", "status = 'live'")["source"]) == {"b.md"}


def test_reconciling_some_memories_leaves_the_others_alone(store, act, hash_embedder):
    embedder = hash_embedder()
    take_in(store, embedder, act("a.md", LONG), act("b.md", SHORT))
    store.delete("chunks", "true")
    mine = ids.memory_id("ada", "b.md")
    assert stages.reconcile(store, CHUNKER, embedder, memory_ids=[mine]) == stages.Reconciled(0, 1)
    assert set(store.read("chunks")["memory_id"]) == {mine}


# -- quarantine ------------------------------------------------------------------------------------


def verdicts(rows: pl.DataFrame, verdict: str) -> pl.DataFrame:
    reasons = [["too_short", "bad_path"] if verdict == "refuse" else []] * rows.height
    return rows.select("memory_id", "revision").with_columns(
        verdict=pl.lit(verdict),
        reasons=pl.Series(reasons, dtype=pl.List(pl.String)),
        duplicate_of=pl.lit(None, dtype=pl.String),
    )


def test_a_refused_note_is_kept_whole_and_once(store, act):
    rows = staged(act("a.md", "täglich", title="T"))
    for _ in range(2):
        assert stages.quarantine(store, rows, verdicts(rows, "refuse")) == 1
    row = store.read("quarantine").row(0, named=True)
    assert store.count("quarantine") == 1
    assert (row["content"], row["title"], row["source"], row["status"]) == ("täglich", "T", "a.md", "held")
    assert row["reasons"] == ["too_short", "bad_path"]
    assert (row["size_bytes"], row["day"], row["occurred_at"]) == (8, "2026-03-01", NOON)


def test_a_note_that_passes_later_is_no_longer_held(store, act):
    old, new = staged(act("a.md", "short")), staged(act("a.md", LONG, at=NOON + DAY))
    other = staged(act("b.md", "short"))
    for rows in (old, other):
        stages.quarantine(store, rows, verdicts(rows, "refuse"))
    assert stages.quarantine(store, new, verdicts(new, "pass")) == 0
    found = store.read("quarantine", columns=["source", "status"])
    assert sorted(found.rows()) == [("a.md", "resolved"), ("b.md", "held")]
    stages.quarantine(store, old, verdicts(old, "refuse"))  # the old day, once more
    assert sorted(store.read("quarantine", columns=["source", "status"]).rows()) == sorted(found.rows())


def test_an_old_pass_does_not_release_a_newer_refusal(store, act):
    old, new = staged(act("a.md", LONG)), staged(act("a.md", "short", at=NOON + DAY))
    stages.quarantine(store, new, verdicts(new, "refuse"))
    stages.quarantine(store, old, verdicts(old, "pass"))
    assert store.read("quarantine")["status"].to_list() == ["held"]
