"""Backfill of a year of feedback as one run, beside the bare group-by of the same events.

    python bench/feedback.py --days 365 --events 10000

Writes a journal of that many days, then folds it as one run of the job `feedback` (from the journal to what
ranking reads, everything written to LanceDB), and once more day by day, each in a process of its own.
`events` are pieces of evidence on a memory: verdicts of observed answers, and ratings. `group-by` is one
Polars group-by of the same events, in memory, by day and memory; `folds` is what the rules make of them, in
memory. `ratio` is to the group-by of the same days.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from _processes import child, peak_mb
from _report import bench, options, positive, report

from slowwave.common import ids
from slowwave.journal import Entry, Journal

FIRST = date(2025, 1, 1)
SHOWN = 8
LEAST_EVENTS = 10  # one answer with its results, and its ratings
RATED = 0.2  # share of the events that are ratings; the others are verdicts
MEMORIES, PRINCIPALS = 10_000, 20
MODEL = "wordllama-256"
NOTE = (
    "seconds of one run and of day by day: from the journal to memory_state, all tables written; "
    "ratio: to the group-by."
)


def day_entries(day: date, events: int, seed: int) -> Iterator[Entry]:
    """Searches, observed answers and ratings of one day; popular memories are shown much more often."""
    draw = np.random.default_rng([seed, day.toordinal()])
    answers = int(events * (1 - RATED)) // SHOWN
    votes = events - answers * SHOWN
    start = datetime(day.year, day.month, day.day, tzinfo=UTC)
    moments = np.sort(draw.integers(0, 86_000_000_000, answers))
    shown = (MEMORIES * draw.random((answers, SHOWN)) ** 3).astype(int)
    used = draw.random((answers, SHOWN)) < 0.4
    who = draw.integers(0, PRINCIPALS, answers)
    rated = draw.integers(0, answers, votes)
    said = draw.choice(["helpful", "neutral", "unhelpful"], votes, p=[0.6, 0.1, 0.3])
    place = draw.integers(0, SHOWN, votes)
    names = [f"{day}-{n}" for n in range(answers)]
    for n in range(answers):
        at, principal = start + timedelta(microseconds=int(moments[n])), f"assistant-{who[n]}"
        memories = [NAMES[one] for one in dict.fromkeys(shown[n].tolist())]
        rows = [
            {"memory_id": one, "rank": rank, "score": 0.5, "channels": ["vector"], "best": f"{one}:00000"}
            for rank, one in enumerate(memories, start=1)
        ]
        search = {"query": "when do we deploy?", "limit": SHOWN, "shown": rows, "policy_version": "bench"}
        yield Entry(names[n], "search", "bench", names[n], at, principal, payload=search)
        verdicts = [
            {"memory_id": one, "chunk_id": f"{one}:00000", "verdict": "used" if used[n][rank] else "ignored",
             "evidence": "words", "keywords": 40, "ratio": 0.5 if used[n][rank] else 0.1,
             "ratio_beyond_query": 0.45 if used[n][rank] else 0.1, "similarity": None}
            for rank, one in enumerate(memories)
        ]  # fmt: skip
        payload = {"response": ids.digest(names[n]), "verdicts": verdicts}
        yield Entry(
            f"{names[n]}-o",
            "observation",
            "bench",
            names[n],
            at + timedelta(seconds=5),
            principal,
            payload=payload,
        )
    for n in range(votes):
        search_at = rated[n]
        memory = NAMES[shown[search_at][place[n]]]
        at = start + timedelta(microseconds=int(moments[search_at])) + timedelta(seconds=9)
        payload = {"memory_id": memory, "chunk_id": f"{memory}:00000", "rating": str(said[n])}
        yield Entry(
            f"{day}-v{n}",
            "feedback",
            "bench",
            names[search_at],
            at,
            f"assistant-{who[search_at]}",
            payload=payload,
        )


NAMES = [ids.memory_id("bench", f"m{n}") for n in range(MEMORIES)]


def write_journal(home: Path, days: int, events: int, seed: int) -> None:
    """Make the home and its journal."""
    from rich.progress import track

    home.mkdir()
    (home / "slowwave.toml").write_text(f'[embedding]\nmodel = "{MODEL}"\n[night]\nfirst_day = "{FIRST}"\n')
    with Journal.open_path(home / "journal.db", durability="normal") as journal:
        for number in track(range(days), "writing the journal", transient=True):
            journal.append(list(day_entries(FIRST + timedelta(days=number), events, seed)))


def run(home: Path, ranges: list[tuple[str, str]]) -> dict[str, Any]:
    """Fold ranges of days, one run each; seconds of all of them, and the peak of this process."""
    import dagster as dg

    from slowwave.assets.resources import SlowwaveResource
    from slowwave.orchestration.definitions import definitions

    job = definitions(SlowwaveResource(home=str(home))).resolve_job_def("feedback")
    quiet = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
    steps: dict[str, float] = {}
    start = time.perf_counter()
    with dg.DagsterInstance.ephemeral() as instance:
        for first, last in ranges:
            tags = {"dagster/asset_partition_range_start": first, "dagster/asset_partition_range_end": last}
            done = job.execute_in_process(instance=instance, run_config=quiet, tags=tags)
            assert done.success
            for event in done.all_events:
                if event.is_step_success:
                    name = event.step_key
                    steps[name] = steps.get(name, 0.0) + event.step_success_data.duration_ms / 1e3
    return {"seconds": time.perf_counter() - start, "peak_mb": peak_mb(), "steps": steps}


def in_memory(home: Path) -> dict[str, Any]:
    """The bare group-by and the rules on the same signals, alternating, the best of three each."""
    from slowwave.feedback.rows import FOLDED
    from slowwave.home.workspace import Workspace
    from slowwave.scoring.feedback.effectiveness import fold_effectiveness
    from slowwave.scoring.feedback.policy import FeedbackPolicy
    from slowwave.scoring.feedback.strength import fold_strength
    from slowwave.settings import load

    store, policy = Workspace(load(home)).store, FeedbackPolicy()
    signals = store.read("usage_signals", columns=FOLDED)
    no_effects, no_strengths = store.empty("effectiveness"), store.empty("strength")
    explicit = signals.clear()
    bare, folds = [], []
    for _ in range(3):
        start = time.perf_counter()
        weighed = pl.col("weight") * pl.col("value")
        signals.group_by("day", "memory_id").agg(
            pl.len(), pl.col("weight").sum(), weighed.sum().alias("value")
        )
        bare.append(time.perf_counter() - start)
        start = time.perf_counter()
        fold_effectiveness(signals, no_effects, explicit, policy)
        fold_strength(signals, no_strengths, policy)
        folds.append(time.perf_counter() - start)
    return {"events": signals.height, "bare": min(bare), "folds": min(folds), "peak_mb": peak_mb()}


def slowest(steps: dict[str, float]) -> str:
    """Seconds by asset, the slowest first."""
    ordered = sorted(steps.items(), key=lambda step: -step[1])
    return ", ".join(f"{name} {seconds:.1f}" for name, seconds in ordered)


def measure(days: int, events: int, seed: int, *, daily: bool) -> list[dict[str, Any]]:
    """All rows of a number of days."""
    last = FIRST + timedelta(days=days - 1)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        write_journal(home, days, events, seed)
        whole = child(__file__, "--home", home, "--ranges", json.dumps([(str(FIRST), str(last))]))
        memory = child(__file__, "--home", home, "--in-memory")
        bare = memory["bare"]
        common = {"days": days, "events": memory["events"]}
        rows = [
            {**common, "what": "group-by", "seconds": bare, "ratio": 1.0, "peak_mb": None},
            {**common, "what": "folds", "seconds": memory["folds"], "ratio": memory["folds"] / bare,
             "peak_mb": memory["peak_mb"]},
            {**common, "what": "one run", "seconds": whole["seconds"], "ratio": whole["seconds"] / bare,
             "peak_mb": whole["peak_mb"], "steps": slowest(whole["steps"])},
        ]  # fmt: skip
        if daily:
            other = Path(folder) / "daily"
            write_journal(other, days, events, seed)
            each = [str(FIRST + timedelta(days=n)) for n in range(days)]
            done = child(__file__, "--home", other, "--ranges", json.dumps([(day, day) for day in each]))
            rows.append(
                {**common, "what": "day by day", "seconds": done["seconds"], "ratio": done["seconds"] / bare,
                 "peak_mb": done["peak_mb"], "steps": slowest(done["steps"])}
            )  # fmt: skip
    return rows


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = options(__doc__)
    parser.add_argument("--days", type=positive, default=365)
    parser.add_argument("--events", type=positive, default=10_000, help="pieces of evidence per day")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-daily", action="store_true", help="leave the day-by-day runs out")
    parser.add_argument("--home", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--ranges", help=argparse.SUPPRESS)
    parser.add_argument("--in-memory", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args(argv)
    if given.events < LEAST_EVENTS:
        parser.error(f"--events {given.events}: a day has at least {LEAST_EVENTS}")
    if given.home:
        print(
            json.dumps(
                in_memory(given.home) if given.in_memory else run(given.home, json.loads(given.ranges))
            )
        )
        return
    sizes = sorted({30, 90, given.days} if given.days > 90 else {given.days})
    rows = [
        row for days in sizes for row in measure(days, given.events, given.seed, daily=not given.no_daily)
    ]
    for row in rows:
        row.setdefault("steps", "")
    report("feedback", rows, note=NOTE)


if __name__ == "__main__":
    main()
