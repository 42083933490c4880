"""What learned terms cost a search: none, and as many as --sizes says in the namespace, side by side.

    python bench/learned_overhead.py [--chunks 20000] [--searches 300] [--sizes 1000,100000]

Homes with the same chunks (see bench/_chunks.py) are searched turn about with the same queries. Every term is
live, taught by two questions, and of words as common as those of the queries. ``terms`` finds the memories of
a query's terms; ``matching`` is all that a search does for them beside: whether the table or the approval has
changed, the proof that no full-text search reaches them. ``search`` is `Memory.search` with its journal, in
which matching runs beside the embedding of the query. ``first`` is the first matching of a process: reading
the rows, putting the terms together and the proof. ``added`` and ``ratio`` compare with the home that learned
nothing.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from _chunks import CHUNKS_PER_MEMORY, NAMESPACE, WORDS, asked, fill, vocabulary
from _report import bench, numbers, options, positive, report
from rich.progress import track

import slowwave
from slowwave.common import ids
from slowwave.learning import acts
from slowwave.learning.isolation import prove
from slowwave.search.opened import knowledge_in

WARM_UP = 20
MOST = 0.1  # of all pairs of a memory and a word that can be learned: more are not drawn in time
DAYS = 30


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Measure the homes turn about."""
    parser = options(__doc__)
    parser.add_argument("--chunks", type=positive, default=20_000)
    parser.add_argument("--searches", type=positive, default=300)
    parser.add_argument("--model", default="bge-small-en-v1.5")
    parser.add_argument("--sizes", type=numbers, default="1000,100000", help="learned terms, with commas")
    given = parser.parse_args(argv)
    memories = -(-given.chunks // CHUNKS_PER_MEMORY)
    if max(given.sizes) > MOST * memories * WORDS:
        parser.error(f"--sizes: {memories:,} memories learn at most {int(MOST * memories * WORDS):,} terms")
    sizes = (0, *sorted(set(given.sizes)))
    groups: dict[str, Any] = {
        "embedding": {"model": given.model},
        "learning": {"enabled": True, "interleave": 0.0},
    }
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        first = Path(folder) / "0"
        with slowwave.open(first, namespace=NAMESPACE, **groups) as memory:
            fill(memory, given.chunks)
        for size in sizes[1:]:
            shutil.copytree(first, Path(folder) / str(size))
        homes = {
            size: stack.enter_context(slowwave.open(Path(folder) / str(size), namespace=NAMESPACE, **groups))
            for size in sizes
        }
        for size, memory in homes.items():
            _teach(memory, size, memories)
        report("learned_overhead", _measured(homes, given.searches), note="times in ms")


def _teach(memory: slowwave.Memory, size: int, memories: int) -> None:
    """Make so many pairs of a memory and a word learned, and approve them."""
    if not size:
        return
    random = np.random.default_rng(2)
    words, share = vocabulary()
    pairs: set[tuple[int, int]] = set()
    while len(pairs) < size:
        numbers = random.integers(0, memories, size).tolist()
        picked = random.choice(len(words), size=size, p=share).tolist()
        pairs |= set(zip(numbers, picked, strict=True))
    kept = sorted(pairs)
    kept = [kept[at] for at in random.permutation(len(kept))[:size]]
    now = datetime.now(UTC)
    taught = [now - timedelta(seconds=float(age)) for age in random.uniform(60, (DAYS - 1) * 86_400, size)]
    rows = pl.DataFrame(
        {
            "memory_id": [ids.memory_id(NAMESPACE, str(number)) for number, _ in kept],
            "term": [str(words[at]) for _, at in kept],
            "added_at": pl.Series(taught, dtype=pl.Datetime("us", "UTC")),
        }
    ).with_columns(
        namespace=pl.lit(NAMESPACE),
        principal=pl.lit("ann"),
        search_id=pl.lit("search"),
        weight=pl.lit(1.0),
        expires_at=pl.col("added_at") + timedelta(days=DAYS),
        day=pl.col("added_at").dt.strftime("%Y-%m-%d"),
    )
    for question in ("first", "second"):
        key = pl.concat_str("memory_id", "term", pl.lit(question), separator=":")
        memory.store.upsert("learned_triggers", rows.with_columns(question=pl.lit(question), trigger_id=key))
    memory.store.table("learned_triggers").optimize()
    acts.write_act(memory.journal, NAMESPACE, acts.APPROVE, who="bench", why="to measure", at=now, detail={})


def _measured(memories: dict[int, slowwave.Memory], searches: int) -> list[dict[str, Any]]:
    queries = asked(searches + WARM_UP)
    now = datetime.now(UTC)
    first = {size: _took(_match, memory, queries[0], now) for size, memory in memories.items()}
    proof = {size: _took(prove, memory.store) for size, memory in memories.items()}
    times: dict[tuple[str, int], list[float]] = {}
    for turn, query in enumerate(track(queries, description="searching")):
        order = list(memories.items())
        for size, memory in order[turn % len(order) :] + order[: turn % len(order)]:
            held = knowledge_in(memory.home)._learned._held.get(NAMESPACE)
            taken = {
                "terms": _took(held.terms.match, query, now) if held else 0.0,
                "matching": _took(_match, memory, query, now),
                "search": _took(memory.search, query),
            }
            for name, value in taken.items():
                times.setdefault((name, size), []).append(value)
    rows = [{"terms": size, "run": "first", "p50_ms": value} for size, value in first.items()]
    rows += [{"terms": size, "run": "proof", "p50_ms": value} for size, value in proof.items()]
    kept = {key: np.array(values[WARM_UP:]) for key, values in times.items()}
    for (name, size), values in sorted(kept.items()):
        none = kept[name, 0]
        row = {
            "terms": size,
            "run": name,
            "p50_ms": float(np.median(values)),
            "p95_ms": float(np.percentile(values, 95)),
        }
        if name != "terms":
            row["added_p50_ms"] = float(np.median(values) - np.median(none))
            row["added_p95_ms"] = float(np.percentile(values, 95) - np.percentile(none, 95))
            row["ratio_p50"] = float(np.median(values) / np.median(none))
        rows.append(row)
    return rows


def _match(memory: slowwave.Memory, query: str, now: datetime) -> object:
    return knowledge_in(memory.home).learned(NAMESPACE, query, now)


def _took(act: Callable[..., object], *given: object) -> float:
    """Milliseconds of an act."""
    start = time.perf_counter()
    act(*given)
    return (time.perf_counter() - start) * 1e3


if __name__ == "__main__":
    main()
