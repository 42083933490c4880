"""Latency and content of the wake-up packet.

    python bench/wakeup.py [--notes 5000] [--budget 2000]
    python bench/wakeup.py --homes

The home holds that many notes of one chunk each, of every memory type and tier. ``read`` is the floor: the
same columns of the same rows read from the table, and nothing else; measured turn about in one run.

``--homes`` measures the content instead, on 36 small homes of different people (wakeup_homes.txt). Each
has four notes or so that the packet must have (``must``), junk that it must never have, and messages of
chats, which may not displace what it must have (``displaced``). The budget holds half of a home. The packet
stands beside packets that anybody would think of: the newest notes, the longest ones, the last ingested.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl
from _report import bench, options, positive, ratio, report, spread
from _wakeup_homes import BUDGET, figures, fill_home, part_of, read_homes

import slowwave
from slowwave.common import ids
from slowwave.scoring.ranking.wakeup import PRIORITIES, SECTIONS, TIERS
from slowwave.search import Filters
from slowwave.search.wakeup import COLUMNS

TEXT = (
    "The crew that visits the station checks the battery, the float and the radio link before the tide turns."
)


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    parser = options(__doc__)
    parser.add_argument("--notes", type=positive, default=5_000, help="notes in the home")
    parser.add_argument("--budget", type=positive, default=2_000, help="tokens of the packet")
    parser.add_argument("--times", type=positive, default=50, help="packets measured")
    parser.add_argument("--homes", action="store_true", help="measure the content on 36 homes instead")
    parser.add_argument("--first", type=positive, default=36, help="only so many of these homes")
    arguments = parser.parse_args(argv)
    if arguments.homes:
        content(arguments.first)
        return
    with (
        tempfile.TemporaryDirectory() as home,
        slowwave.open(Path(home), namespace="bench", embedding={"model": "wordllama-256"}) as memory,
    ):
        fill(memory, arguments.notes)
        times: dict[str, list[float]] = {"read": [], "wakeup": []}
        for _ in range(arguments.times + 3):
            start = time.perf_counter()
            memory.store.read("memories", Filters().where("bench"), columns=COLUMNS)
            times["read"].append((time.perf_counter() - start) * 1e3)
            start = time.perf_counter()
            packet = memory.wakeup(budget=arguments.budget)
            times["wakeup"].append((time.perf_counter() - start) * 1e3)
    floor = float(np.median(times["read"][3:]))
    rows = [
        {
            "notes": arguments.notes,
            "run": name,
            **spread(values[3:]),
            "ratio": ratio(np.median(values[3:]), floor, 2),
        }
        for name, values in times.items()
    ]
    shown = sum(len(section.items) for section in packet.sections)
    report("wakeup", rows, note=f"{shown} memories in about {packet.tokens:,} of {packet.budget:,} tokens")


def content(first: int) -> None:
    """Report what the packets of the homes have."""
    sums: dict[tuple[str, str], Counter[str]] = {}
    homes = read_homes()[:first]
    with (
        tempfile.TemporaryDirectory() as folder,
        slowwave.open(Path(folder), namespace="bench", embedding={"model": "wordllama-256"}) as memory,
    ):
        for number, home in enumerate(homes):
            own = slowwave.Memory(memory.settings, namespace=f"home{number}", space=memory.home)
            fill_home(own, home)
            part = part_of(number)
            for name, counts in figures(own, home).items():
                sums.setdefault((part, name), Counter()).update(counts)
    rows = [
        {
            "homes": part,
            "chosen": name,
            "must_have": ratio(found["hits"], found["must"], 3),
            "junk": found["junk"],
            "displaced": found["displaced"],
            "tokens": round(found["tokens"] / found["homes"]),
        }
        for (part, name), found in sums.items()
    ]
    report("wakeup", rows, note=f"{len(homes)} homes, {BUDGET} tokens each; junk and displaced in notes")


def fill(memory: slowwave.Memory, count: int) -> None:
    """Put notes into the tables."""
    now = datetime(2026, 1, 1, tzinfo=UTC)
    vector = pl.Series(
        np.random.default_rng(0).normal(size=(count, 256)).astype(np.float32), dtype=pl.Array(pl.Float32, 256)
    )
    names = [ids.memory_id("bench", f"note {number}") for number in range(count)]
    types, tiers, priorities = list(SECTIONS), list(TIERS), list(PRIORITIES)
    rows = pl.DataFrame(
        {
            "memory_id": names,
            "title": [f"Note {number}" for number in range(count)],
            "source": [f"vault/note {number}.md" for number in range(count)],
            "memory_type": [types[number % len(types)] for number in range(count)],
            "importance_tier": [tiers[number // 7 % len(tiers)] for number in range(count)],
            "retrieval_priority": [priorities[number // 3 % len(priorities)] for number in range(count)],
            "updated_at": [now - timedelta(hours=number) for number in range(count)],
            "vector": vector,
        }
    ).with_columns(
        namespace=pl.lit("bench"), status=pl.lit("live"), revision=pl.lit("0"), origin=pl.lit("vault"),
        sensitivity=pl.lit("internal"), state=pl.lit("accepted"), source_kind=pl.lit("manual"),
        source_of_truth=pl.lit(value=False), content=pl.lit(TEXT), created_at="updated_at",
    )  # fmt: skip
    memory.store.upsert("memories", rows)
    chunks = rows.drop("content").with_columns(
        chunk_id=pl.col("memory_id") + ":00000", ordinal=pl.lit(0, pl.Int32), chunk_count=pl.lit(1, pl.Int32),
        text=pl.lit(TEXT), search_text=pl.lit(TEXT),
    )  # fmt: skip
    memory.store.upsert("chunks", chunks)


if __name__ == "__main__":
    main()
