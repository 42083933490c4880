"""Search latency by part, beside the two bare LanceDB queries that it needs.

    python bench/latency.py --chunks 5000,100000 [--searches 200]

The store is filled with chunks of a Zipf vocabulary and clustered vectors, indexed as the night indexes it.
``bare`` runs the vector and the full-text query one after the other, for ids and scores only, with the filter
and the limit of a search. ``search`` is ``Memory.search``, the journal included. They are measured turn
about in one run; ``ratio`` is search without embedding the query over bare, at p50. ``cpu, vector given`` is
the CPU time of the process for a search with the vector of the query at hand, of as many other queries.

``first search`` is that of a process that has searched another namespace before (`_first_search.py`), with
the file that the night leaves for all processes and without it: p50 of some processes, with the CPU time and
the memory that is the process's own.

``mcp`` is what an assistant waits for, by a server of its own over standard input and output
(`_mcp_search.py`): the answer to ``initialize``, and the first search beside the second, `--pause` seconds
after the session began and at once. p50 of some processes; ratio: over the second search after the pause.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from _chunks import NAMESPACE, asked, fill
from _first_search import SMALL
from _keys import Given
from _mcp_search import searches as searches_over_mcp
from _processes import child
from _report import UnusableError, bench, numbers, options, positive, ratio, report, spread
from rich.progress import track

import slowwave
from slowwave.index.lancedb_channels import PROBES
from slowwave.scoring.ranking import rank
from slowwave.search import Filters
from slowwave.search.searcher import searcher_in

WARM_UP = 20
FIRST = ("cpu_ms", "private_mb", "base_mb")


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Measure at each size."""
    parser = options(__doc__)
    parser.add_argument("--chunks", type=numbers, default="5000,100000", help="sizes of the store, in chunks")
    parser.add_argument("--searches", type=positive, default=200, help="searches measured per size")
    parser.add_argument(
        "--processes", type=positive, default=5, help="processes that search for the first time"
    )
    parser.add_argument("--pause", type=float, default=5.0, help="seconds before an assistant searches")
    parser.add_argument("--model", default="bge-small-en-v1.5", help="embedding model of the queries")
    arguments = parser.parse_args(argv)
    rows: list[dict[str, Any]] = []
    for size in arguments.chunks:
        with (
            tempfile.TemporaryDirectory() as home,
            slowwave.open(Path(home), namespace=NAMESPACE, embedding={"model": arguments.model}) as memory,
        ):
            fill(memory, size)
            rows += _measure(memory, size, arguments.searches)
            rows += _first(memory, size, arguments.model, arguments.processes)
            rows += _over_mcp(memory, size, arguments.model, arguments.processes, arguments.pause)
    report(
        "latency",
        rows,
        note="times in ms; parts may overlap (full text runs while embedding); ratio: p50 over bare",
    )


def _measure(memory: slowwave.Memory, size: int, searches: int) -> list[dict[str, Any]]:
    asked_in_all = asked(2 * (searches + WARM_UP))
    queries, others = asked_in_all[: searches + WARM_UP], asked_in_all[searches + WARM_UP :]
    index = memory.store.get_meta("vector_index")
    probes = index["probes"] if index else PROBES
    times: dict[str, list[float]] = {
        name: [] for name in ("bare", "embedding", "candidates", "scoring", "journal", "total")
    }
    for query in track(queries, description=f"searching {size:,}"):
        vector = memory.embedder.embed_query(query)
        start = time.perf_counter()
        _bare(memory, query, vector, probes)
        times["bare"].append((time.perf_counter() - start) * 1e3)
        timings = memory.search(query).timings
        for name in ("embedding", "candidates", "scoring", "journal", "total"):
            times[name].append(getattr(timings, name))
    times["cpu, vector given"] = _cpu(memory, others)
    kept = {name: np.array(values[WARM_UP:]) for name, values in times.items()}
    kept["without embedding"] = kept["total"] - kept["embedding"]
    bare = float(np.median(kept["bare"]))
    return [
        {
            "chunks": size,
            "run": name,
            **spread(values),
            "ratio": ratio(np.median(values), bare, 2),
        }
        for name, values in kept.items()
    ] + [_scoring(memory, size, queries[0])]


def _cpu(memory: slowwave.Memory, queries: Sequence[str]) -> list[float]:
    """CPU time of the process (ms) for each search, with the vectors of the queries at hand."""
    searcher = searcher_in(memory.home)
    embedder, known = searcher._embedder, {one: memory.embedder.embed_query(one) for one in queries}
    searcher._embedder, taken = Given(embedder, known), []  # type: ignore[assignment]
    for query in queries:
        busy = time.process_time()
        memory.search(query)
        taken.append((time.process_time() - busy) * 1e3)
    searcher._embedder = embedder
    return taken


def _first(memory: slowwave.Memory, size: int, model: str, processes: int) -> list[dict[str, Any]]:
    """The first search of a process, turn about with and without the file of the night."""
    from slowwave.index import mmap_snapshot
    from slowwave.index.incremental_snapshot import leave_files

    home = memory.settings.home
    with slowwave.open(home, namespace=SMALL, embedding={"model": model}) as small:
        small.save("The boat lies at the pier in winter, and Ruaridh looks after it.")
    measured: dict[str, list[dict[str, Any]]] = {"first search": [], "first search, no file": []}
    for _ in range(processes):
        for name, done in measured.items():
            if name == "first search":
                leave_files(memory.store, int(memory.settings.store.snapshot_mb * 2**20), fewest=1)
            else:
                mmap_snapshot.forget(memory.store, NAMESPACE)
            done.append(child(str(Path(__file__).with_name("_first_search.py")), home, model))
    if len({tuple(one["found"]) for done in measured.values() for one in done}) > 1:
        raise UnusableError("The first searches of some processes found different memories.")
    return [
        {
            "chunks": size,
            "run": name,
            **spread([one["ms"] for one in done]),
            **{part: round(float(np.median([one[part] for one in done])), 1) for part in FIRST},
        }
        for name, done in measured.items()
    ]


def _over_mcp(
    memory: slowwave.Memory, size: int, model: str, processes: int, pause: float
) -> list[dict[str, Any]]:
    """What an assistant waits for: the first search beside the second, after a pause and without one."""
    home, queries = memory.settings.home, asked(2)
    waited: dict[str, list[float]] = {}
    for _ in range(processes):
        for said, seconds in (("", pause), (", at once", 0.0)):
            taken = searches_over_mcp(home, NAMESPACE, model, queries, seconds)
            for name, run in (("initialize", "initialize"), ("1", "first search"), ("2", "second search")):
                waited.setdefault(f"mcp {run}{said}", []).append(taken[name])
    return [
        {
            "chunks": size, "run": run, **spread(times),
            "ratio": ratio(np.median(times), np.median(waited["mcp second search"]), 2),
        }
        for run, times in waited.items()
    ]  # fmt: skip


def _scoring(memory: slowwave.Memory, size: int, query: str) -> dict[str, Any]:
    """Ranking 100 candidates alone: the pure function, nothing read and nothing shown."""
    found = searcher_in(memory.home).find(memory.namespace, query, 50)
    now = datetime.now(UTC)
    times = []
    for _ in range(300):
        start = time.perf_counter()
        rank(found.candidates, memory.policy, as_of=now, limit=10)
        times.append((time.perf_counter() - start) * 1e3)
    return {
        "chunks": size,
        "run": f"rank {len(found.candidates)} candidates",
        **spread(times, 3),
    }


def _bare(memory: slowwave.Memory, query: str, vector: np.ndarray, probes: int) -> None:
    """The two queries, one after the other, for nothing but ids and scores."""
    from lancedb.query import MatchQuery

    table = memory.store.table("chunks")
    where = Filters().where(NAMESPACE)
    limit = memory.settings.ranking.candidates
    nearest = table.search(vector).distance_type("cosine").nprobes(probes)
    nearest.where(where).limit(limit).select(["chunk_id", "_distance"]).to_arrow()
    text = table.search(MatchQuery(query, "search_text"), query_type="fts")
    text.where(where).limit(limit).select(["chunk_id", "_score"]).to_arrow()


if __name__ == "__main__":
    main()
