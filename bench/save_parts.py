"""CPU of one save by part, beside the floor of each part that has one.

    python bench/save_parts.py --chunks 5000,50000 [--saves 60]

A home of varied texts (`_scale_home.py`) gets one note of 80 words after the other, by `Memory.save` in one
process. The embedding is not counted in ``save``. A part is timed by wrapping its functions with the clock of
the thread: ``inside`` names the part that it belongs to, so ``save`` is no sum of all rows. ``first save`` is
the first of a home that is opened again, with the memories of the namespace that it reads and without the
imports of a process.

Floors, in the same process: one INSERT and COMMIT of SQLite with as many bytes, one append of a row to a
LanceDB table, one product of a vector with those of all memories. ``fsyncs`` are counted apart:
``strace -f -c -e trace=fsync,fdatasync python bench/save_parts.py --chunks 5000``.
"""

from __future__ import annotations

import sqlite3
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import lancedb
import numpy as np
import pyarrow as pa
from _part_timer import Parts, time_parts
from _report import bench, numbers, options, positive, report, spread
from _scale_home import MINE, Source, build, index, settings_of

import slowwave
from slowwave.home.workspace import Workspace
from slowwave.journal import Journal
from slowwave.journal.group_commit_queue import GroupCommitQueue
from slowwave.lifecycle import ingest_pipeline, write_path
from slowwave.lifecycle.admission import new_note
from slowwave.lifecycle.admission.context_loader import ContextLoader
from slowwave.quality.divergence.guard import DivergenceGuard
from slowwave.store import Store
from slowwave.store.wal import WriteAheadLog

WARM_UP = 5
OTHERS = 1_000_000  # numbers of the notes that are saved: none of them is in the home
PARTS: Parts = {
    "journal append": ("save", ((Journal, "append_next"),)),
    "queue": ("save", ((GroupCommitQueue, "waiting"),)),
    "checks": ("save", ((Workspace, "refresh_if_changed"), (Workspace, "activate_gate"))),
    "gate": ("save", ((write_path, "judge"),)),
    "echo": ("save", ((write_path, "_served_before"),)),
    "embedding": ("", ((ingest_pipeline, "embed_few"),)),
    "admission": ("save", ((write_path, "admit_new_note"),)),
    "snapshot": ("admission", ((ContextLoader, "__init__"),)),
    "neighbours": ("admission", ((ContextLoader, "neighbours"),)),
    "decisions": ("admission", ((new_note, "admit"),)),
    "divergence guard": ("decisions", ((DivergenceGuard, "compare"),)),
    "rows": ("admission", ((Store, "upsert"),)),
    "write-ahead log": ("admission", ((WriteAheadLog, "append"),)),
    "commits": ("save", ((Store, "settle"),)),
}  # fmt: skip


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Measure at each size."""
    parser = options(__doc__)
    parser.add_argument("--chunks", type=numbers, default="5000,50000", help="sizes of the home, in chunks")
    parser.add_argument("--saves", type=positive, default=60, help="saves measured per size")
    arguments = parser.parse_args(argv)
    source = Source.of(None)
    rows: list[dict[str, Any]] = []
    for size in arguments.chunks:
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder) / "home"
            build(home, size, 1, source)
            index(settings_of(home))
            rows += measured(home, size, source, arguments.saves)
    report("save_parts", rows, note="ms of CPU; mean: over all saves, also those that a part has no work in")


def measured(home: Path, size: int, source: Source, saves: int) -> list[dict[str, Any]]:
    """Rows of a home: the whole save, its parts and the floors."""
    texts = [source.note(OTHERS + at).split("\n\n")[0].replace("\0", "") for at in range(saves + WARM_UP + 1)]
    with slowwave.Memory(settings_of(home), namespace=MINE) as memory:
        memory.save("The first change of a home also puts its tables on record.")
    with slowwave.Memory(settings_of(home), namespace=MINE) as memory:
        first = cpu(lambda: memory.save(texts[0]))
        with time_parts(PARTS, time.thread_time) as spent:
            whole: list[float] = []
            of_part: dict[str, list[float]] = {name: [] for name in PARTS}
            for text in texts[1:]:
                spent.clear()
                whole.append(cpu(lambda text=text: memory.save(text)))  # type: ignore[misc]
                for name, times in of_part.items():
                    times.append(spent.get(name, 0.0) * 1e3)
        floors = floors_of(memory, Path(home).parent, saves)
    save = np.array(whole[WARM_UP:]) - np.array(of_part["embedding"][WARM_UP:])
    rows = [
        {"chunks": size, "part": "first save", "mean_ms": round(first, 2)},
        {"chunks": size, "part": "save", "mean_ms": round(float(save.mean()), 2), **spread(save)},
    ]
    for name, (inside, _) in PARTS.items():
        times = of_part[name][WARM_UP:]
        mean = round(float(np.mean(times)), 3)
        rows.append({"chunks": size, "part": name, "inside": inside, "mean_ms": mean, **spread(times, 3)})
    return rows + [
        {"chunks": size, "part": name, "inside": "floor", "mean_ms": round(float(np.mean(times)), 3),
         **spread(times, 3)}
        for name, times in floors.items()
    ]  # fmt: skip


def cpu(act: Callable[[], object]) -> float:
    """Milliseconds of CPU of the process that an act takes."""
    start = time.process_time()
    act()
    return (time.process_time() - start) * 1e3


def floors_of(memory: slowwave.Memory, folder: Path, times: int) -> dict[str, list[float]]:
    """Return the cost of the bare parts: SQLite, LanceDB and a product over the vectors of the memories."""
    data, dimension = bytes(1_000), memory.store.identity.dimension
    vectors = np.random.default_rng(0).random((memory.store.count("memories"), dimension), dtype=np.float32)
    table = lancedb.connect(folder / "floor.lance").create_table(
        "rows", schema=pa.schema([("id", pa.string()), ("vector", pa.list_(pa.float32(), dimension))])
    )
    row = pa.table({"id": ["a"], "vector": [vectors[0]]}, schema=table.schema)
    with closing(sqlite3.connect(folder / "floor.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = full")
        connection.execute("CREATE TABLE bare (seq INTEGER PRIMARY KEY, body BLOB)")

        def insert() -> None:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT INTO bare (body) VALUES (?)", (data,))
            connection.execute("COMMIT")

        acts: dict[str, Callable[[], object]] = {
            "SQLite commit": insert,
            "LanceDB append": lambda: table.add(row),
            "product over the vectors": lambda: vectors @ vectors[0],
        }
        return {name: [cpu(act) for _ in range(min(times, 30))] for name, act in acts.items()}


if __name__ == "__main__":
    main()
