"""Acts that are taken in, and what the tables have to look like afterwards."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import polars as pl

from slowwave.common import ids
from slowwave.journal.entry_builders import entries_frame
from slowwave.lifecycle import ingest_pipeline
from slowwave.lifecycle.admission import AdmissionReport, admit_batch
from slowwave.notes.chunking import Chunker
from slowwave.store import staging

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


def staged(*acts) -> pl.DataFrame:
    return staging.stage(entries_frame(acts))


def take_in(space, *acts) -> AdmissionReport:
    """Let these acts happen one after the other, as a day's saves and forgets do."""

    def chunks_of(notes: pl.DataFrame) -> pl.DataFrame:
        cut = ingest_pipeline.cut(notes, space.chunker, space.embedder.name)
        return ingest_pipeline.embed(space.store, space.embedder, cut)

    done = AdmissionReport()
    for one in acts:
        done += admit_batch(space, staged(one), chunks_of)
    return done


def counts(done: AdmissionReport) -> dict[str, int]:
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


def by_night(space, *acts, again: bool = True) -> AdmissionReport:
    """Let these acts happen as a night does: embedded first, whole days at once."""
    rows = staged(*acts)
    days = sorted(set(rows["day"]))
    saves = rows.filter(act="save")
    ingest_pipeline.embed_days(space.store, space.embedder, space.chunker, saves, days)

    def embedded(notes: pl.DataFrame) -> pl.DataFrame:
        found = space.store.read_by("embedded_chunks", "memory_id", notes["memory_id"].to_list())
        return found.drop("embedded_id", "day", "cutter").unique(["chunk_id", "revision"])

    return admit_batch(space, rows, embedded, again=again)
