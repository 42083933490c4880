"""Cost of reconsolidation: notes that enter a memory of many, as one nightly batch.

    python bench/reconsolidate.py --memories 1000,10000,100000 [--notes 1000] [--policy guarded]

The memories are made up: vectors in clusters, so that a good part of the notes has neighbours in every
band, and texts of about 40 words; nothing is embedded, so the figures are those of deciding and writing
alone. Each row is one call of ``settle``, the very function that the night calls: neighbours, guard,
decision log, memories, chunks. The second row of each size is the floor: reading the vectors and one
matrix product.
"""

from __future__ import annotations

import hashlib
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from _report import bench, numbers, options, report

from slowwave.common import ids
from slowwave.home.workspace import Workspace
from slowwave.journal.entry_builders import entries_frame, save_entry
from slowwave.lifecycle import ingest_pipeline
from slowwave.lifecycle.admission import admit_batch
from slowwave.notes.reading import plain_note
from slowwave.settings import load
from slowwave.store import staging
from slowwave.store.vectors import mean_vectors

DIMENSION = 384
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
WORDS = """
gauge pier battery lantern harbour ferry tide storm mast cable winter summer report repair captain seal
radar sensor logger uplink datum offset linkspan buoy survey release broker token rota index partition
""".split()


class Clustered:
    """A made-up model: texts of one cluster, named by their first word, lie near each other."""

    name = "clustered"
    dimension = DIMENSION

    def embed_documents(
        self, texts: Sequence[str], progress: Callable[[int], None] | None = None
    ) -> np.ndarray:
        """Unit vectors (n, dimension)."""
        return np.array([self.embed_query(text) for text in texts], dtype=np.float32).reshape(-1, DIMENSION)

    def embed_query(self, text: str) -> np.ndarray:
        """Unit vector (dimension,)."""
        words = text.split()
        vector = _noise(" ".join(words[:2])) + 0.55 * _noise(text)
        return (vector / np.linalg.norm(vector)).astype(np.float32)


def _noise(text: str) -> np.ndarray:
    seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
    vector = np.random.default_rng(seed).normal(size=DIMENSION)
    return np.asarray(vector / np.linalg.norm(vector))


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    parser = options(__doc__)
    parser.add_argument("--memories", type=numbers, default="1000,10000,100000", help="sizes, with commas")
    parser.add_argument("--notes", type=numbers, default="250,1000", help="new notes per batch, with commas")
    parser.add_argument("--policy", default="guarded", choices=("off", "guarded", "literal"))
    arguments = parser.parse_args(argv)
    rows: list[dict[str, Any]] = []
    for size in arguments.memories:
        with tempfile.TemporaryDirectory() as home:
            space = _filled(Path(home), size, arguments.policy)
            for turn, count in enumerate(arguments.notes):
                rows += _measure(space, size, count, arguments.policy, start=10_000_000 * (turn + 1))
            space.close()
    report("reconsolidate", rows, note=f"policy {arguments.policy}, {DIMENSION} numbers a vector")


def _text(number: int) -> str:
    """About 40 words; every tenth cluster is small enough for its texts to be near each other."""
    chance = random.Random(number)
    cluster = f"{WORDS[number % len(WORDS)]} {chance.randrange(2_000)}"
    return f"{cluster} " + " ".join(chance.choice(WORDS) for _ in range(38))


def _filled(home: Path, size: int, policy: str) -> Workspace:
    """A home with so many memories of one chunk each."""
    settings = load(home, reconsolidation={"policy": policy}, gate={"mode": "enforce"})
    space = Workspace(settings)
    space.__dict__["embedder"] = Clustered()
    store = space.store
    for start in range(0, size, 10_000):
        staged = _staged(range(start, min(start + 10_000, size)), NOON - timedelta(days=30))
        chunks = _embedded(space, staged)
        memories = staged.join(mean_vectors(chunks, DIMENSION), on="memory_id", how="left").with_columns(
            status=pl.lit("live"), frequency=pl.lit(1, pl.Int32), chunk_count=pl.lit(1, pl.Int32),
            absorbed=pl.lit([], dtype=pl.List(pl.String)), updated_at="occurred_at",
            dated=pl.when("dated").then("created_at"),
        )  # fmt: skip
        columns = [name for name in store.specs["memories"].schema.names if name in memories.columns]
        store.upsert("memories", memories.select(columns))
        store.upsert("chunks", chunks.with_columns(status=pl.lit("live")))
    return space


def _staged(numbers: range, at: datetime) -> pl.DataFrame:
    entries = [
        save_entry(
            plain_note(_text(number), source=f"n/{number}"), namespace="ada", source=f"n/{number}", origin="",
            occurred_at=at + timedelta(microseconds=number % 1_000_000), principal="bench",
            event_id=ids.digest("bench", str(number)),
        )
        for number in numbers
    ]  # fmt: skip
    return staging.stage(entries_frame(entries))


def _embedded(space: Workspace, staged: pl.DataFrame) -> pl.DataFrame:
    chunks = ingest_pipeline.cut(staged, space.chunker, "clustered")
    vectors = space.embedder.embed_documents(chunks["embedded_text"].to_list())
    return chunks.drop("embedded_text").with_columns(
        vector=pl.Series(vectors, dtype=pl.Array(pl.Float32, DIMENSION))
    )


def _measure(space: Workspace, size: int, count: int, policy: str, *, start: int) -> list[dict[str, Any]]:
    staged = _staged(range(start, start + count), NOON)
    chunks = _embedded(space, staged)
    begin = time.perf_counter()
    done = admit_batch(space, staged, lambda _: chunks)
    seconds = time.perf_counter() - begin
    begin = time.perf_counter()
    rows = space.store.read("memories", "status = 'live'", columns=["memory_id", "vector"])
    product = np.asarray(chunks["vector"].to_numpy()) @ rows["vector"].to_numpy().T
    floor = time.perf_counter() - begin
    assert product.shape[0] == count
    told = {"memories": size, "notes": count}
    return [
        {
            **told, "what": "settle", "seconds": seconds, "decisions_per_second": count / seconds,
            "merged": done.merged, "superseded": done.superseded, "related": done.related,
            "refused": done.refused,
        },
        {**told, "what": "vectors and one product", "seconds": floor, "decisions_per_second": count / floor},
    ]  # fmt: skip


if __name__ == "__main__":
    main()
