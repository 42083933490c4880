"""What it costs a search to keep all that it considered, so that other rankings can be tried on it later.

    python bench/shadow_logging.py --data FOLDER [--queries 300]

A memory of the documents of FOLDER (BEIR form) is searched; the entry of each search is written to a journal
once whole and once without its candidates, turn about: made, compressed, appended. `candidates` is the
difference of the two, which is what shadow scoring costs a search; nothing else of it happens by day.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from _report import report

from slowwave.common import ids
from slowwave.common.progress import task
from slowwave.journal import Entry, Journal
from slowwave.scoring.ranking import rank
from slowwave.search.log import logged
from slowwave.search.opened import searcher_in
from slowwave.tuning import opened, read_collection
from slowwave.views.terminal import bars


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--model", default="wordllama-256")
    given = parser.parse_args()
    collection = read_collection(given.data)
    rows = []
    with bars(), opened(collection, given.model) as memories, tempfile.TemporaryDirectory() as folder:
        memory = next(iter(memories.values()))
        asked = [one["text"] for one in collection.queries[: given.queries]]
        found = [searcher_in(memory.home).find(memory.namespace, text, 100) for text in asked]
        for durability in ("full", "normal"):
            with Journal.open_path(Path(folder) / f"{durability}.db", durability=durability) as journal:
                taken: dict[str, list[float]] = {"whole": [], "without candidates": []}
                with task(f"writing ({durability})", len(asked)) as advance:
                    for number, (text, one) in enumerate(zip(asked, found, strict=True)):
                        now = datetime.now(UTC)
                        ranking = rank(one.candidates, memory.policy, as_of=now, limit=10)
                        order = list(taken) if number % 2 else list(taken)[::-1]
                        for name in order:
                            start = time.perf_counter()
                            payload = logged(
                                ranking, one, memory.policy, query=text, limit=10, as_of=now, filters={}
                            )
                            if name != "whole":
                                del payload["candidates"]
                            event = ids.new_event_id()
                            entry = Entry(event, "search", "bench", event, now, "bench", payload=payload)
                            journal.append([entry])
                            taken[name].append((time.perf_counter() - start) * 1e3)
                        advance(1)
                whole, bare = (np.array(values) for values in taken.values())
                for name, values in (*taken.items(), ("candidates", whole - bare)):
                    p50, p95 = np.percentile(values, [50, 95])
                    rows.append({"durability": durability, "what": name, "p50_ms": p50, "p95_ms": p95})
    chunks = int(np.median([len(one.candidates) for one in found]))
    report("shadow_logging", rows, note=f"{len(asked)} searches, {chunks} candidates each (median)")


if __name__ == "__main__":
    main()
