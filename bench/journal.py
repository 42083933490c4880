"""Cost of one durable journal write, beside a bare write of the same bytes to the same disk.

    python bench/journal.py [--folder DIR] [--processes 1,2,4] [--writes 300] [--entries 100000]

``journal`` is ``Journal.append`` of one entry: a rating of a result, or a search with all that it considered,
as one over the example vault writes it. ``bare`` is an INSERT and a COMMIT of as many bytes into a table of
one column, by the database's own driver with the same settings; ``fsync`` is a write and an fsync of them at
the end of a file. They are measured turn about in blocks, by all processes at once, in a journal that holds
entries already. ``full`` waits for the disk; ``normal`` survives the end of the process and not a power cut
(of PostgreSQL: ``synchronous_commit = off``). PostgreSQL is a server of the script's own, on a socket.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from _postgres import server, version
from _report import (
    UnusableError,
    bench,
    existing_folder,
    numbers,
    options,
    positive,
    ratio,
    report,
    spread,
)
from rich.progress import track

import slowwave
from slowwave.common import ids
from slowwave.journal import Entry, Journal
from slowwave.journal.codec import encode

VAULT = Path(__file__).parents[1] / "examples" / "vault"
QUERY = "how long does the battery of a gauge last in winter?"
DATABASES = ("sqlite", "postgresql")
BLOCK = 20  # writes of one kind in a row
WARM_UP = 2  # blocks
BATCH = 1_000


@dataclass(frozen=True)
class Place:
    """A database to write to."""

    database: str
    durability: str
    url: str
    folder: str


@dataclass(frozen=True)
class Turn:
    """One block of writes by one process: when it began and ended, and each write (seconds)."""

    run: str
    block: int
    start: float
    end: float
    times: list[float]


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Measure every combination."""
    parser = options(__doc__)
    parser.add_argument("--folder", type=existing_folder, help="where the databases are; else temporary")
    parser.add_argument("--processes", type=numbers, default="1,2,4", help="how many write at once")
    parser.add_argument("--writes", type=positive, default=300, help="measured, of each kind and process")
    parser.add_argument("--entries", type=int, default=100_000, help="that the journal has before")
    parser.add_argument("--databases", default=",".join(DATABASES), help="of these, with commas")
    parser.add_argument("--acts", default="feedback,search", help="of these, with commas")
    arguments = parser.parse_args(argv)
    databases, acts = arguments.databases.split(","), arguments.acts.split(",")
    if odd := [name for name in databases if name not in DATABASES]:
        parser.error(f"--databases: {odd} is none of {DATABASES}")
    if odd := [name for name in acts if name not in PAYLOADS]:
        parser.error(f"--acts: {odd} is none of {list(PAYLOADS)}")
    libraries = [f"SQLite {sqlite3.sqlite_version}"]
    if "postgresql" in databases:
        try:
            libraries.append(version())
        except FileNotFoundError as error:
            raise UnusableError(f"{error}, or give --databases sqlite") from None
    kinds = {act: PAYLOADS[act]() for act in acts}
    sizes = {kind: len(_bytes(_entry(kind, payload))) for kind, payload in kinds.items()}
    cells = [(kind, count) for kind in kinds for count in arguments.processes]
    rows: list[dict[str, Any]] = []
    for database in databases:
        with _places(database, arguments.folder) as places:
            for place in places:
                _fill(place, arguments.entries)
                name = f"{database}, {place.durability}"
                for kind, count in track(cells, description=name):
                    rows += _measure(place, kind, kinds[kind], count, -(-arguments.writes // BLOCK))
    told = ", ".join(f"a {kind} is {size:,} bytes" for kind, size in sizes.items())
    report(
        "journal",
        rows,
        note=f"{told} as stored; {arguments.entries:,} entries before; ratio: p50 over bare. "
        + ", ".join(libraries),
    )


@contextlib.contextmanager
def _places(database: str, folder: Path | None) -> Iterator[list[Place]]:
    with tempfile.TemporaryDirectory(prefix="journal", dir=folder) as home:
        if database == "sqlite":
            yield [
                Place(database, durability, f"sqlite:///{home}/{durability}.db", home)
                for durability in ("full", "normal")
            ]
            return
        with server(folder) as url:
            yield [
                Place(database, "full", url, home),
                Place(database, "normal", f"{url}&options=-csynchronous_commit%3Doff", home),
            ]


def _rating() -> dict[str, Any]:
    memory = ids.memory_id("bench", "note")
    return {"memory_id": memory, "chunk_id": ids.chunk_id(memory, 0), "rating": "helpful"}


def _search() -> dict[str, Any]:
    """What a search over the example vault writes."""
    notes = [
        {"content": path.read_text(), "key": path.stem}
        for path in sorted(VAULT.rglob("*.md"))
        if "inbox" not in path.parts  # has notes that cannot be read, on purpose
    ]
    model = {"model": "wordllama-256"}
    with (
        tempfile.TemporaryDirectory() as home,
        slowwave.open(Path(home), namespace="bench", embedding=model) as memory,
    ):
        memory.save_many(notes)
        found = memory.search(QUERY)
        entry = memory.journal.get(found.search_id)
    assert entry is not None
    return dict(entry.payload)


PAYLOADS: dict[str, Callable[[], dict[str, Any]]] = {"feedback": _rating, "search": _search}


def _entry(kind: str, payload: dict[str, Any]) -> Entry:
    """A new act."""
    event_id, search_id = ids.new_event_id(), ids.new_event_id()
    subject = event_id if kind == "search" else search_id
    return Entry(event_id, kind, "bench", subject, datetime.now(UTC), "ann", origin="noust", payload=payload)


def _bytes(entry: Entry) -> bytes:
    """As many bytes as the entry's row has."""
    texts = (entry.event_id, entry.kind, entry.namespace, entry.subject, entry.principal, entry.origin)
    return "".join(texts).encode() + bytes(26) + encode(entry.payload, entry.event_id)


def _fill(place: Place, count: int) -> None:
    payload = _rating()
    with Journal(place.url, durability="normal") as journal:
        for at in range(0, count, BATCH):
            journal.append([_entry("feedback", payload) for _ in range(min(BATCH, count - at))])


def _measure(
    place: Place, kind: str, payload: dict[str, Any], processes: int, blocks: int
) -> list[dict[str, Any]]:
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(processes)
    with tempfile.TemporaryDirectory(dir=place.folder) as results:
        writers = [
            context.Process(
                target=_write, args=(place, kind, payload, blocks + WARM_UP, barrier, f"{results}/{number}")
            )
            for number in range(processes)
        ]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        turns = [
            Turn(**turn)
            for path in Path(results).iterdir()
            for turn in orjson.loads(path.read_bytes())
            if turn["block"] >= WARM_UP
        ]
    if len(turns) % processes or not turns:
        raise SystemExit("A writer failed; its error is above.")
    by_run = {run: _of(turns, run) for run in dict.fromkeys(turn.run for turn in turns)}
    bare = by_run["bare"]["p50_ms"]
    return [
        {
            "database": place.database if run != "fsync" else "file",
            "durability": place.durability,
            "entry": kind,
            "processes": processes,
            "run": run,
            **figures,
            "ratio": ratio(figures["p50_ms"], bare, 2),
        }
        for run, figures in by_run.items()
    ]


def _of(turns: list[Turn], run: str) -> dict[str, Any]:
    mine = [turn for turn in turns if turn.run == run]
    blocks = {turn.block for turn in mine}
    taken = sum(
        max(turn.end for turn in mine if turn.block == block)
        - min(turn.start for turn in mine if turn.block == block)
        for block in blocks
    )
    times = 1e3 * np.concatenate([turn.times for turn in mine])
    return {
        "writes_per_second": round(len(times) / taken),
        **spread(times, 3),
    }


def _write(
    place: Place, kind: str, payload: dict[str, Any], blocks: int, barrier: Barrier, results: str
) -> None:
    """One process: blocks of writes of each kind, begun together with the others'."""
    size = len(_bytes(_entry(kind, payload)))
    durability: Any = place.durability
    turns: list[dict[str, Any]] = []
    with contextlib.ExitStack() as stack:
        journal = stack.enter_context(Journal(place.url, durability=durability))
        runs: dict[str, Callable[[], object]] = {
            "journal": lambda: journal.append([_entry(kind, payload)]),
            "bare": stack.enter_context(_bare(place, os.urandom(size))),
        }
        if (place.database, place.durability) == ("sqlite", "full"):
            runs["fsync"] = stack.enter_context(_fsync(f"{results}.bytes", os.urandom(size)))
        for block in range(blocks):
            for run, write in runs.items():
                barrier.wait()
                times = []
                start = time.monotonic()
                for _ in range(BLOCK):
                    before = time.perf_counter()
                    write()
                    times.append(time.perf_counter() - before)
                turns.append(
                    {"run": run, "block": block, "start": start, "end": time.monotonic(), "times": times}
                )
    Path(f"{results}.bytes").unlink(missing_ok=True)
    Path(results).write_bytes(orjson.dumps(turns))


@contextlib.contextmanager
def _bare(place: Place, data: bytes) -> Iterator[Callable[[], object]]:
    """An INSERT and a COMMIT, by the database's own driver."""
    if place.database == "postgresql":
        import psycopg

        with psycopg.connect(place.url.replace("+psycopg", ""), autocommit=True) as server_connection:
            with contextlib.suppress(psycopg.errors.UniqueViolation):  # another process is making it
                server_connection.execute(
                    "CREATE TABLE IF NOT EXISTS bare (seq bigserial PRIMARY KEY, body bytea)"
                )
            insert = "INSERT INTO bare (body) VALUES (%s)"
            yield lambda: server_connection.execute(insert, (data,), prepare=True)
        return
    path = f"{place.folder}/bare-{place.durability}.db"
    with contextlib.closing(sqlite3.connect(path, isolation_level=None, timeout=30)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {place.durability}")
        connection.execute("CREATE TABLE IF NOT EXISTS bare (seq INTEGER PRIMARY KEY, body BLOB)")

        def write() -> None:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT INTO bare (body) VALUES (?)", (data,))
            connection.execute("COMMIT")

        yield write


@contextlib.contextmanager
def _fsync(path: str, data: bytes) -> Iterator[Callable[[], object]]:
    """A write at the end of a file and an fsync."""
    with Path(path).open("ab", buffering=0) as file:

        def write() -> None:
            file.write(data)
            os.fsync(file.fileno())

        yield write


if __name__ == "__main__":
    main()
