"""One home of `scale.py` in a separate process: cost of a first search, searches and saves."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from _processes import peak_mb
from _report import spread
from _scale_home import MINE, settings_of

import slowwave
from slowwave.search import Filters
from slowwave.search.searcher import searcher_in

WARM_UP = 10
NEAREST = 50
HANDLES = Path("/proc/self/fd")


def main(argv: Sequence[str]) -> None:
    """Measure in a home: its folder, a file with what is asked and saved, and the memory for snapshots."""
    home, asked, snapshot_mb = argv
    told: dict[str, Any] = json.loads(Path(asked).read_text(encoding="utf-8"))
    spaces: list[str] = told["namespaces"]
    settings = settings_of(Path(home), snapshot_mb=float(snapshot_mb))
    with slowwave.Memory(settings, namespace=MINE) as opened:
        tenants = [slowwave.Memory(settings, namespace=one, space=opened.home) for one in spaces]
        opened.embedder.embed_query("warm")
        queries: list[str] = told["queries"]
        first = timed(lambda: tenants[0].search(queries[0]))
        each = [
            timed(lambda query=query, at=at: tenants[at % len(tenants)].search(query))  # type: ignore[misc]
            for at, query in enumerate(queries)
        ][WARM_UP:]
        recall = found_of_exact(opened, spaces[0], queries[WARM_UP:])
        saves = [timed(lambda note=note: tenants[0].save(note))[1] for note in told["notes"]]  # type: ignore[misc]
        saved = spread(saves[1:], suffix="_cpu_ms")  # the first reads what is standing
        rows = {
            "first_ms": first[0],
            "first_cpu_ms": first[1],
            **spread([wall for wall, _ in each]),
            **spread([cpu for _, cpu in each], suffix="_cpu_ms"),
            **recall,
            **{f"save_{name}": value for name, value in saved.items()},
            "peak_mb": peak_mb(),
            "files": sum(1 for _ in HANDLES.iterdir()) if HANDLES.exists() else 0,
        }
    print(json.dumps(rows))


def timed(act: Callable[[], Any]) -> tuple[float, float]:
    """Milliseconds that an act takes, by the wall and of CPU."""
    start, work = time.perf_counter(), time.process_time()
    act()
    return (time.perf_counter() - start) * 1e3, (time.process_time() - work) * 1e3


def found_of_exact(memory: slowwave.Memory, namespace: str, queries: Sequence[str]) -> dict[str, float]:
    """Share of the nearest 10 that a search looks at; nothing where the table is searched."""
    channels = searcher_in(memory.home)._channels(namespace)
    if not hasattr(channels, "vectors"):
        return {}
    where, shares = Filters().where(namespace), []
    for query in queries:
        vector = memory.embedder.embed_query(query).astype(np.float32)
        found = channels.nearest(vector, where, NEAREST).rows[:10].tolist()
        near = np.where(channels.passing(where), channels.vectors.times(vector), -np.inf)
        exact = np.argsort(-near, kind="stable")[: len(found)].tolist()
        shares.append(len(set(exact) & set(found)) / max(1, len(exact)))
    return {"recall@10": round(float(np.mean(shares)), 4)}


if __name__ == "__main__":
    main(sys.argv[1:])
