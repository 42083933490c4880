"""LanceDB's own operations beside ours: nearest chunks of a namespace, and one small write.

    python bench/engines.py --chunks 5000,50000 [--searches 200] [--writes 200]

``nearest`` gives the 64 chunks nearest to a query, turn about: by the snapshot of the namespace, by a
query of LanceDB for `_rowid` and `_distance` alone (exact, and with an IVF index), by that query and a
read of the columns that a ranking needs, and by one query for all of them. Each looks first whether the
table has changed. ``first after a write`` is the same right after one chunk was written, which has to be
among those found (the snapshot follows all six that were written since its last search). ``mb`` is what
the process grows by at the first search.

``write`` puts one chunk with its vector where the next read of its process finds it, one after another:
into the write-ahead log of the home, into the table by a commit of LanceDB, and into Lance's MemWAL with
its defaults, with a shorter interval between flushes, and without waiting for one. ``after a pause`` is a
write that comes alone. ``seen`` says whether another process then reads the chunk: at once, or only when
the writer is closed.

Times are ms; ``cpu`` is the CPU time of the process for each.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import lancedb
import numpy as np
import polars as pl
import pyarrow as pa
from _chunks import NAMESPACE, asked, fill
from _report import UnusableError, bench, numbers, options, positive, reports, spread
from rich.progress import track

import slowwave
from slowwave.index.channels import SHOWN
from slowwave.index.incremental_snapshot import Snapshots
from slowwave.search import Filters
from slowwave.store.frames import to_schema
from slowwave.store.indexes import refresh_vector_index

WARM_UP, SIZE, MODEL = 20, 64, "wordllama-256"
AFTER_PAUSE, PAUSE_S = 20, 0.2  # writes that come alone (count), and seconds before each
MEMWAL = {
    "MemWAL": {},
    "MemWAL, flushed every 1 ms": {"max_wal_flush_interval_ms": "1"},
    "MemWAL, not durable": {"durable_write": "false"},
}
_READER = """
import sys, lancedb
uri, key = sys.argv[1:]
found = lancedb.connect(uri).open_table("chunks").search().where(f"chunk_id = '{key}'").select(["chunk_id"])
print(found.to_arrow().num_rows)
"""

_HOME_READER = f"""
import sys, slowwave
from pathlib import Path
with slowwave.open(Path(sys.argv[1]), namespace={NAMESPACE!r}, embedding={{"model": {MODEL!r}}}) as memory:
    print(memory.store.read("chunks", f"chunk_id = '{{sys.argv[2]}}'").height)
"""

Nearest = Callable[[np.ndarray], Any]


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Measure at each size."""
    parser = options(__doc__)
    parser.add_argument("--chunks", type=numbers, default="5000,50000", help="sizes of the store, in chunks")
    parser.add_argument("--searches", type=positive, default=200, help="searches measured per size")
    parser.add_argument("--writes", type=positive, default=200, help="writes measured per size")
    arguments = parser.parse_args(argv)
    nearest: list[dict[str, Any]] = []
    writes: list[dict[str, Any]] = []
    for size in arguments.chunks:
        with (
            tempfile.TemporaryDirectory() as home,
            slowwave.open(Path(home), namespace=NAMESPACE, embedding={"model": MODEL}) as memory,
        ):
            fill(memory, size)
            refresh_vector_index(memory.store, minimum_rows=1, wanted_recall=0.99)
            nearest += _nearest(memory, size, arguments.searches)
            writes += _writes(memory, size, arguments.writes)
    reports("engines", {"nearest": (nearest, ""), "write": (writes, "")})


def _nearest(memory: slowwave.Memory, size: int, searches: int) -> list[dict[str, Any]]:
    store, grown = memory.store, dict[str, float]()
    ways = _ways(memory)
    queries = [memory.embedder.embed_query(one).astype(np.float32) for one in asked(searches + WARM_UP)]
    for name, way in ways.items():
        before = _resident_mb()
        way(queries[0])
        grown[name] = _resident_mb() - before
    times: dict[str, list[float]] = {name: [] for name in ways}
    cpu: dict[str, list[float]] = {name: [] for name in ways}
    for query in track(queries, description=f"nearest of {size:,}"):
        for name, way in ways.items():
            begun, busy = time.perf_counter(), time.process_time()
            way(query)
            times[name].append((time.perf_counter() - begun) * 1e3)
            cpu[name].append((time.process_time() - busy) * 1e3)
    known = store.read("chunks", f"namespace = '{NAMESPACE}'").head(1)
    fresh: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(10):
        for name, way in ways.items():
            row = _row(known, f"{name} {number}", queries[number])
            store.upsert("chunks", row)
            begun = time.perf_counter()
            found = way(queries[number])
            fresh[name].append((time.perf_counter() - begun) * 1e3)
            if isinstance(found, list) and row["chunk_id"][0] not in found:
                raise UnusableError(f"{name} did not find what was written just before.")
    return [
        {
            "chunks": size, "run": name, **spread(times[name][WARM_UP:]),
            "p50_cpu_ms": round(float(np.median(cpu[name][WARM_UP:])), 2), "mb": round(grown[name], 1),
            "first after a write, p50_ms": round(float(np.median(fresh[name])), 2),
        }
        for name in ways
    ]  # fmt: skip


def _ways(memory: slowwave.Memory) -> dict[str, Nearest]:
    store, where = memory.store, Filters().where(NAMESPACE)
    snapshots = Snapshots(store, 2**40)
    index = store.get_meta("vector_index")
    assert index is not None

    def snapshot(query: np.ndarray) -> Sequence[str]:
        there = snapshots.of(NAMESPACE)
        assert there is not None
        found = there.nearest(query, where, SIZE)
        return there.columns.select(SHOWN).take(found.rows).column("chunk_id").to_pylist()

    def asks(query: np.ndarray, *, indexed: bool) -> Any:  # noqa: ANN401 - LanceDB's query
        search = store.table("chunks").search(query).distance_type("cosine").where(where).limit(SIZE)
        return search.nprobes(index["probes"]) if indexed else search.bypass_vector_index()

    def two_columns(query: np.ndarray, *, indexed: bool) -> pa.Table:
        return asks(query, indexed=indexed).select(["_distance"]).with_row_id(True).to_arrow()

    def taken(query: np.ndarray, *, indexed: bool) -> Sequence[str]:
        rows = two_columns(query, indexed=indexed).column("_rowid").to_pylist()
        found = store.table("chunks").take_row_ids(rows).select(list(SHOWN)).to_arrow()
        return found.column("chunk_id").to_pylist()

    return {
        "snapshot, all columns": snapshot,
        "LanceDB exact, _rowid and _distance": lambda query: two_columns(query, indexed=False),
        "LanceDB index, _rowid and _distance": lambda query: two_columns(query, indexed=True),
        "LanceDB exact, then the columns of 64": lambda query: taken(query, indexed=False),
        "LanceDB index, then the columns of 64": lambda query: taken(query, indexed=True),
        "LanceDB index, all columns at once": lambda query: (
            asks(query, indexed=True).select([*SHOWN, "_distance"]).to_arrow().column("chunk_id").to_pylist()
        ),
    }


def _writes(memory: slowwave.Memory, size: int, writes: int) -> list[dict[str, Any]]:
    store = memory.store
    assert store.wal is not None
    vector = memory.embedder.embed_query("a boat").astype(np.float32)
    known = store.read("chunks", f"namespace = '{NAMESPACE}'").head(1)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        writers: dict[str, Callable[[pa.Table], None]] = {
            "log of the home": lambda row: store.wal.append({"chunks": row}),  # type: ignore[union-attr]
            "LanceDB, a commit each": lambda row: (
                store.table("chunks")
                .merge_insert("chunk_id")
                .when_not_matched_insert_all()
                .use_index(False)
                .execute(row)
            ),
        }
        tables = {}
        for name, given in MEMWAL.items():
            uri = Path(folder, name.replace(" ", "").replace(",", ""))
            whole = store.dataset("chunks").to_table()
            tables[name] = table = lancedb.connect(uri).create_table("chunks", whole, schema=whole.schema)
            spec = lancedb.LsmWriteSpec.unsharded().with_maintained_indexes([])
            table.set_lsm_write_spec(spec.with_writer_config_defaults(given))
            writers[name] = partial(_upserted, table)
        times: dict[str, list[float]] = {name: [] for name in writers}
        cpu: dict[str, list[float]] = {name: [] for name in writers}
        last: dict[str, str] = {}
        for name, write in track(writers.items(), description=f"writes beside {size:,}"):
            for number in range(writes + WARM_UP + AFTER_PAUSE):
                row = to_schema(_row(known, f"{name} {number}", vector), store.specs["chunks"].schema)
                last[name] = row.column("chunk_id")[0].as_py()
                time.sleep(PAUSE_S if number >= writes + WARM_UP else 0)
                begun, busy = time.perf_counter(), time.process_time()
                write(row)
                times[name].append((time.perf_counter() - begun) * 1e3)
                cpu[name].append((time.process_time() - busy) * 1e3)
        for name in writers:
            table = tables.get(name)
            seen = "at once" if _seen(memory, table, last[name]) else ""
            if table is not None and not seen:
                table.close_lsm_writers()
                seen = "when the writer is closed" if _seen(memory, table, last[name]) else "not"
            rows.append(
                {
                    "chunks": size, "run": name, **spread(times[name][WARM_UP:-AFTER_PAUSE]),
                    "p50_cpu_ms": round(float(np.median(cpu[name][WARM_UP:-AFTER_PAUSE])), 2),
                    "after a pause, p50_ms": round(float(np.median(times[name][-AFTER_PAUSE:])), 2),
                    "seen by another process": seen,
                }
            )  # fmt: skip
    return rows


def _upserted(table: Any, row: pa.Table) -> None:  # noqa: ANN401 - lancedb.Table
    merge = table.merge_insert("chunk_id").when_matched_update_all().when_not_matched_insert_all()
    merge.execute(row)


def _seen(memory: slowwave.Memory, table: Any, chunk_id: str) -> bool:  # noqa: ANN401 - lancedb.Table
    """Whether another process reads a chunk now: by the home's own read, or by LanceDB's of a table."""
    ask, uri = _READER, "" if table is None else table._conn.uri
    if table is None:
        ask, uri = _HOME_READER, str(memory.settings.home)
    told = subprocess.run([sys.executable, "-c", ask, uri, chunk_id], capture_output=True, text=True)
    if told.returncode:
        raise UnusableError(told.stderr[-500:])
    return told.stdout.split()[-1] != "0"


def _row(known: pl.DataFrame, name: str, vector: np.ndarray) -> pl.DataFrame:
    """A chunk like the one that is known, as near to a vector as can be."""
    key = pl.lit(f"engines-{name}")
    return known.with_columns(
        chunk_id=key, memory_id=key, vector=pl.Series([vector], dtype=known.schema["vector"])
    )


def _resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20


if __name__ == "__main__":
    main()
