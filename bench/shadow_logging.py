"""Cost of logging all candidates of a search, which replay needs.

    python bench/shadow_logging.py --data FOLDER [--queries 300]

A memory of the documents of FOLDER (BEIR form) is searched; the entry of each search is written to a journal
once whole and once without its candidates, turn about: made, compressed, appended. `candidates` is the
difference of the two, which is what shadow scoring costs a search; nothing else of it happens by day.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from _data import labelled, space_of
from _report import bench, existing_folder, options, positive, report, spread

from slowwave.common import ids
from slowwave.common.progress import task
from slowwave.journal import Entry, Journal
from slowwave.scoring.ranking import rank
from slowwave.search.log import logged
from slowwave.search.searcher import searcher_in
from slowwave.tuning import opened
from slowwave.views.terminal import bars


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = options(__doc__)
    parser.add_argument("--data", type=existing_folder, required=True)
    parser.add_argument("--queries", type=positive, default=300)
    parser.add_argument("--model", default="wordllama-256")
    given = parser.parse_args(argv)
    collection = labelled(given.data)
    rows = []
    with bars(), opened(collection, given.model) as memories, tempfile.TemporaryDirectory() as folder:
        memory = next(iter(memories.values()))
        asked = [one["text"] for one in collection.queries if space_of(one) == memory.namespace]
        asked = asked[: given.queries] or [one["text"] for one in collection.queries[: given.queries]]
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
                    rows.append({"durability": durability, "what": name, **spread(values, 4)})
    chunks = int(np.median([len(one.candidates) for one in found]))
    report("shadow_logging", rows, note=f"{len(asked)} searches, {chunks} candidates each (median)")


if __name__ == "__main__":
    main()
