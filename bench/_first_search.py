"""First search of a namespace in a process, as `latency.py` starts it: time, work and memory.

The process has opened the home and searched another, small namespace before, so that the model, the libraries
and the connection are there. Anonymous memory is what no other process shares; that of files that are mapped
is not in it.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from _chunks import NAMESPACE, asked

import slowwave

SMALL = "small"


def anonymous_kb() -> int:
    """Memory of this process that is of no file, in KB; Linux tells it."""
    gc.collect()
    with Path("/proc/self/smaps_rollup").open() as rollup:
        return next(int(line.split()[1]) for line in rollup if line.startswith("Anonymous:"))


def main(argv: Sequence[str]) -> None:
    """Measure in a home with a model, and say so in one line."""
    home, model = argv
    query, other = asked(2)
    with slowwave.open(Path(home), namespace=SMALL, embedding={"model": model}) as small:
        small.search(query)
        small.search(other)
        memory = slowwave.Memory(small.settings, namespace=NAMESPACE, space=small.home)
        before = anonymous_kb()
        start, work = time.perf_counter(), time.process_time()
        found = memory.search(query)
        took, worked = time.perf_counter() - start, time.process_time() - work
        grown = anonymous_kb() - before
    told = {"ms": took * 1e3, "cpu_ms": worked * 1e3, "private_mb": grown / 1024, "base_mb": before / 1024}
    print(json.dumps({**told, "found": [one.memory_id for one in found]}))


if __name__ == "__main__":
    main(sys.argv[1:])
