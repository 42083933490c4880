from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.common import ids
from slowwave.journal.entry_builders import entries_frame
from slowwave.lifecycle import ingest_pipeline
from slowwave.notes.chunking import Chunker
from slowwave.store import staging

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
    return staging.stage(entries_frame(acts))


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
    from slowwave.journal.entry_builders import save_entry
    from slowwave.notes.reading import plain_note

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
    chunks = ingest_pipeline.cut(rows, CHUNKER, "m")
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
    assert ingest_pipeline.cut(staged(act("a.md", " \n ")), CHUNKER, "m").height == 0


# -- embed -----------------------------------------------------------------------------------------


def test_equal_text_is_embedded_once(act, store, hash_embedder):
    embedder = hash_embedder()
    chunks = ingest_pipeline.cut(
        staged(act("a.md", SHORT, title="T"), act("b.md", SHORT, title="T"), act("c.md", LONG, title="T")),
        CHUNKER,
        embedder.name,
    )
    rows = ingest_pipeline.embed(store, embedder, chunks)
    assert sorted(embedder.embedded) == sorted(chunks["search_text"].unique())
    assert rows["chunk_id"].to_list() == chunks["chunk_id"].to_list()
    for text, vector in rows.select("search_text", "vector").rows():
        assert np.array_equal(vector, embedder.embed_query(text))


def test_known_vectors_are_used_again(act, store, hash_embedder):
    """A save of few chunks computes them: that is as cheap as asking whether they are known."""
    many = "\n\n".join(
        f"{paragraph} In week {week}." for week in range(3) for paragraph in LONG.split("\n\n")
    )
    assert len(CHUNKER.split(many)) >= ingest_pipeline.LOOK_UP_FROM

    def taken_in(embedder, *acts) -> None:
        for one in acts:
            chunks = ingest_pipeline.embed(
                store, embedder, ingest_pipeline.cut(staged(one), CHUNKER, embedder.name)
            )
            store.upsert("chunks", chunks)

    taken_in(hash_embedder(), act("a.md", many, title="T"))
    embedder = hash_embedder()
    taken_in(embedder, act("b.md", many, title="T"), act("a.md", many, title="T", at=NOON + HOUR))
    assert embedder.embedded == []
    taken_in(embedder, act("c.md", f"{many}\n\n{SHORT}", title="T"))
    assert embedder.embedded == [f"T\n{SHORT}"]


def test_a_day_is_embedded_once_and_keeps_only_its_own_chunks(act, store, hash_embedder):
    embedder = hash_embedder()
    day = "2026-03-01"
    first = staged(act("a.md", LONG, title="T"), act("b.md", SHORT, title="T"))
    done = ingest_pipeline.embed_days(store, embedder, CHUNKER, first, [day])
    assert (done.chunks, done.computed) == (store.count("embedded_chunks"), len(embedder.embedded))
    version = store.table("embedded_chunks").version
    again = ingest_pipeline.embed_days(store, embedder, CHUNKER, first, [day])
    assert (again.chunks, again.computed) == (done.chunks, 0)
    assert store.table("embedded_chunks").version == version

    changed = staged(act("a.md", SHORT, title="T", at=NOON + HOUR))
    other = staged(act("b.md", SHORT, title="T", at=NOON + DAY))
    ingest_pipeline.embed_days(store, embedder, CHUNKER, other, ["2026-03-02"])
    ingest_pipeline.embed_days(store, embedder, CHUNKER, changed, [day])
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

    monkeypatch.setattr(ingest_pipeline, "CHUNKS_PER_COMMIT", 2)
    notes = staged(*(act(f"{name}.md", LONG + name, title="T" + name) for name in "abc"))
    dying, embedder = Dying(), hash_embedder()
    with pytest.raises(KeyboardInterrupt):
        ingest_pipeline.embed_days(store, dying, CHUNKER, notes, ["2026-03-01"])
    assert store.count("embedded_chunks") == len(dying.embedded) == 2
    done = ingest_pipeline.embed_days(store, embedder, CHUNKER, notes, ["2026-03-01"])
    assert not set(dying.embedded) & set(embedder.embedded)
    assert done.chunks == store.count("embedded_chunks") == done.computed + 2
