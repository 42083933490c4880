"""Cost of learning for a search: nothing learned, and as much as --sizes and --keys say.

    python bench/learned_overhead.py [--what both|words|keys|ratings] [--chunks 20000] [--searches 300]
        [--sizes 1000,100000] [--keys 1000,10000,100000] [--night 10000] [--quick]

Homes with the same chunks (see bench/_chunks.py) are searched turn about with the same queries. Every term is
live, taught by two questions, and of words as common as those of the queries. ``terms`` finds the memories of
a query's terms; ``matching`` is all that a search does for them beside: whether the table or the approval has
changed, the proof that no full-text search reaches them. ``search`` is `Memory.search` with its journal, in
which matching runs beside the embedding of the query. ``first`` is the first matching of a process: reading
the rows, putting the terms together and the proof. ``added`` and ``ratio`` compare with the home that learned
nothing.

Of search keys (`_keys.py`) there are homes with learning off and with so many past questions in force, each
of which led to one of five results; what is asked is near to some forty of them. ``find`` is all that a
search does but the embedding of the query, whose vector is given; ``leading`` is what of it keys are, and
``nearest`` what of that is no look whether anything has changed.
Of ratings (rule 8) there are homes in which nobody rated and with so many rated questions (``--keys``), made
alike. ``rated`` is what finds and weighs the ratings of similar questions.
*memory*: the first search of a process (``first``), of which ``index`` puts the keys together, and what the
process holds of it. *disk*: bytes of the tables after compaction, and what a year of searches takes of each,
where all are of different questions (rows of ``search_keys`` go with their expiry, the others stay). *night*:
how long rows of ``search_views`` take of searches of one day that all are new questions; the feedback job
before it is what the night does in any case.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from _chunks import CHUNKS_PER_MEMORY, NAMESPACE, asked, fill, vocabulary
from _chunks import WORDS as WORDS_IN_ALL
from _keys import Given, forget_lookup, on_disk, put_together, queries, rate, teach, told
from _keys import night as keys_of_a_night
from _processes import child
from _report import bench, numbers, options, positive, reports
from rich.progress import track

import slowwave
from slowwave.common import ids
from slowwave.learning import events
from slowwave.learning.isolation import prove
from slowwave.scoring.feedback.learned import KEYS, RATINGS, WORDS
from slowwave.scoring.feedback.policy import KeyTeaching
from slowwave.search.searcher import searcher_in
from slowwave.search.signals import signals_in

BOTH = "both"
WARM_UP = 20
MOST = 0.1  # of all pairs of a memory and a word that can be learned: more are not drawn in time
DAYS = 30
FOUND = 30  # chunks of each channel (count)
A_DAY = (20, 10_000)  # searches, of which the storage of a year is told
YEAR = 365
ALONE = ("terms", "nearest")  # that a home which learned nothing does not do


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Measure the homes turn about."""
    parser = options(__doc__)
    parser.add_argument("--chunks", type=positive, default=20_000)
    parser.add_argument("--searches", type=positive, default=300)
    parser.add_argument("--model", default="bge-small-en-v1.5")
    parser.add_argument("--what", choices=(WORDS, KEYS, RATINGS, BOTH), default=BOTH)
    parser.add_argument("--sizes", type=numbers, default="1000,100000", help="learned terms, with commas")
    parser.add_argument("--keys", type=numbers, default="1000,10000,100000", help="search keys, with commas")
    parser.add_argument("--night", type=positive, default=10_000, help="searches of a night")
    parser.add_argument("--quick", action="store_true", help="fewer of everything")
    parser.add_argument("--home", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args(argv)
    if given.home:
        with slowwave.open(given.home, namespace=NAMESPACE, **_groups(given.model, on=True)) as memory:
            print(told(put_together(memory)))
        return
    if given.quick:
        given.chunks, given.searches, given.night = 60, 4, 10
        given.sizes, given.keys = [20], [60, 120]
    memories = -(-given.chunks // CHUNKS_PER_MEMORY)
    if max(given.sizes) > MOST * memories * WORDS_IN_ALL:
        parser.error(
            f"--sizes: {memories:,} memories learn at most {int(MOST * memories * WORDS_IN_ALL):,} terms"
        )
    with tempfile.TemporaryDirectory() as folder:
        first = Path(folder) / "0"
        with slowwave.open(first, namespace=NAMESPACE, **_groups(given.model, on=True)) as memory:
            fill(memory, given.chunks)
        tables: dict[str, tuple[list[dict[str, Any]], str]] = {}
        if given.what in (WORDS, BOTH):
            tables["words"] = _of_words(first, given, memories), "times in ms"
        if given.what in (KEYS, BOTH):
            tables |= _of_keys(first, given, memories)
        if given.what in (RATINGS, BOTH):
            tables["ratings"] = _of_ratings(first, given, memories), "times in ms; rated 0: nobody rated"
    reports("learned_overhead", tables)


def _groups(model: str, *, on: bool) -> dict[str, Any]:
    return {"embedding": {"model": model}, "learning": {"enabled": on, "interleave": 0.0}}


def _of_words(first: Path, given: argparse.Namespace, memories: int) -> list[dict[str, Any]]:
    sizes = (0, *sorted(set(given.sizes)))
    groups = _groups(given.model, on=True)
    places = {size: first.parent / f"words-{size}" for size in sizes}
    for place in places.values():
        shutil.copytree(first, place)
    with ExitStack() as stack:
        homes = {
            size: stack.enter_context(slowwave.open(place, namespace=NAMESPACE, **groups))
            for size, place in places.items()
        }
        for size, memory in homes.items():
            _teach(memory, size, memories)
        return _measured(homes, given.searches)


def _of_keys(
    first: Path, given: argparse.Namespace, memories: int
) -> dict[str, tuple[list[dict[str, Any]], str]]:
    sizes = sorted(set(given.keys))
    places = {size: first.parent / f"keys-{size}" for size in (0, *sizes)}
    disk, held = [], []
    for size, place in places.items():
        shutil.copytree(first, place)
        if size:
            with slowwave.open(place, namespace=NAMESPACE, **_groups(given.model, on=True)) as memory:
                teach(memory, size, memories)
            disk.append(_stored(on_disk(place), size))
            held.append({"keys": size} | child(__file__, "--home", place, "--model", given.model))
    with ExitStack() as stack:
        homes = {
            size: stack.enter_context(
                slowwave.open(place, namespace=NAMESPACE, **_groups(given.model, on=size > 0))
            )
            for size, place in places.items()
        }
        times = _led(homes, given.searches)
    night = keys_of_a_night(first.parent / "night", given.model, given.night)
    return {
        "keys": (times, "times in ms; keys 0: learning is off"),
        "memory": (held, ""),
        "disk": (disk, "bytes; a year: GB"),
        "night": ([night], "seconds"),
    }


def _of_ratings(first: Path, given: argparse.Namespace, memories: int) -> list[dict[str, Any]]:
    """Searches with a vector given, turn about, where nobody rated and with so many rated questions."""
    sizes = (0, *sorted(set(given.keys)))
    with ExitStack() as stack:
        homes = {}
        for size in sizes:
            place = first.parent / f"ratings-{size}"
            shutil.copytree(first, place)
            groups = _groups(given.model, on=False)
            homes[size] = stack.enter_context(slowwave.open(place, namespace=NAMESPACE, **groups))
            if size:
                rate(homes[size], size, memories)
        texts = asked(given.searches + WARM_UP)
        now = datetime.now(UTC)
        vectors = queries(homes[0].embedder.dimension, len(texts))
        known = dict(zip(texts, vectors, strict=True))
        search = {size: searcher_in(memory.home) for size, memory in homes.items()}
        times: dict[tuple[str, int], list[float]] = {}
        rows, among = [], {ids.memory_id(NAMESPACE, str(number)) for number in range(FOUND)}
        for size, memory in homes.items():
            search[size]._embedder = Given(search[size]._embedder, known)
            first_ms = _took(signals_in(memory.home).rated, NAMESPACE, vectors[0], among)
            rows.append({"rated": size, "run": "first", "p50_ms": first_ms})
        hit: dict[int, list[int]] = {size: [] for size in sizes}
        for turn, text in enumerate(track(texts, description="searching")):
            order = list(homes.items())
            for size, memory in order[turn % len(order) :] + order[: turn % len(order)]:
                forget_lookup(memory.home)
                taken = {"find": _took(search[size].find, NAMESPACE, text, FOUND, None, now)}
                forget_lookup(memory.home)
                taken["rating"] = _took(signals_in(memory.home).rated, NAMESPACE, known[text], among)
                for name, value in taken.items():
                    times.setdefault((name, size), []).append(value)
                hit[size].append(len(signals_in(memory.home).rated(NAMESPACE, known[text], among)))
        rows += [
            _row("rated", size, name, values[WARM_UP:], times[name, 0][WARM_UP:])
            | {"memories": round(float(np.mean(hit[size])), 1)}
            for (name, size), values in sorted(times.items())
        ]
    return rows


def _stored(sizes: Mapping[str, int], searches: int) -> dict[str, Any]:
    """Bytes of the tables of so many searches, and what a year takes."""
    each = {name: size / searches for name, size in sizes.items()}
    kept = {name: KeyTeaching().ttl_days if name == "search_keys" else YEAR for name in sizes}
    row: dict[str, Any] = {"searches": searches, **sizes, "bytes a search": round(sum(each.values()))}
    for a_day in A_DAY:
        row[f"a year at {a_day:,} a day"] = sum(each[name] * kept[name] * a_day for name in sizes) / 1e9
    return row


def _led(memories: dict[int, slowwave.Memory], searches: int) -> list[dict[str, Any]]:
    """Searches with a vector given, turn about, where learning is off and where keys are in force."""
    texts = asked(searches + WARM_UP)
    now = datetime.now(UTC)
    vectors = queries(next(iter(memories.values())).embedder.dimension, len(texts))
    known = dict(zip(texts, vectors, strict=True))
    search = {size: searcher_in(memory.home) for size, memory in memories.items()}
    for one in search.values():
        one._embedder = Given(one._embedder, known)
    times: dict[tuple[str, int], list[float]] = {}
    for memory in memories.values():
        signals_in(memory.home).led(NAMESPACE, vectors[0], now)
    index = {
        size: signals_in(memory.home)._keys._held[NAMESPACE].learned
        for size, memory in memories.items()
        if size
    }
    hit: dict[int, list[int]] = {size: [] for size in memories}
    for turn, text in enumerate(track(texts, description="searching")):
        order = list(memories.items())
        for size, memory in order[turn % len(order) :] + order[: turn % len(order)]:
            taken = {
                "find": _took(search[size].find, NAMESPACE, text, FOUND, None, now),
                "leading": _after_forgetting(
                    memory, signals_in(memory.home).led, NAMESPACE, known[text], now
                ),
                "nearest": _after_forgetting(memory, index[size].led, known[text]) if size else 0.0,
            }
            for name, value in taken.items():
                times.setdefault((name, size), []).append(value)
            hit[size].append(len(signals_in(memory.home).led(NAMESPACE, known[text], now)))
    return [
        _row("keys", size, name, values[WARM_UP:], times[name, 0][WARM_UP:])
        | {"lifted": round(float(np.mean(hit[size])), 1)}
        for (name, size), values in sorted(times.items())
    ]


def _row(what: str, size: int, run: str, values: Sequence[float], none: Sequence[float]) -> dict[str, Any]:
    row = {
        what: size,
        "run": run,
        "p50_ms": float(np.median(values)),
        "p95_ms": float(np.percentile(values, 95)),
    }
    if run not in ALONE:
        row["added_p50_ms"] = float(np.median(values) - np.median(none))
        row["added_p95_ms"] = float(np.percentile(values, 95) - np.percentile(none, 95))
        row["ratio_p50"] = float(np.median(values) / np.median(none))
    return row


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
    events.write_event(
        memory.journal, NAMESPACE, events.APPROVE, who="bench", why="to measure", at=now, detail={}
    )


def _measured(memories: dict[int, slowwave.Memory], searches: int) -> list[dict[str, Any]]:
    queries = asked(searches + WARM_UP)
    now = datetime.now(UTC)
    first = {size: _took(_match, memory, queries[0], now) for size, memory in memories.items()}
    proof = {size: _took(prove, memory.store) for size, memory in memories.items()}
    times: dict[tuple[str, int], list[float]] = {}
    for turn, query in enumerate(track(queries, description="searching")):
        order = list(memories.items())
        for size, memory in order[turn % len(order) :] + order[: turn % len(order)]:
            held = signals_in(memory.home)._learned._held.get(NAMESPACE)
            taken = {
                "terms": _took(held.learned.match, query, now) if held else 0.0,
                "matching": _took(_match, memory, query, now),
                "search": _took(memory.search, query),
            }
            for name, value in taken.items():
                times.setdefault((name, size), []).append(value)
    rows = [{"terms": size, "run": "first", "p50_ms": value} for size, value in first.items()]
    rows += [{"terms": size, "run": "proof", "p50_ms": value} for size, value in proof.items()]
    kept = {key: values[WARM_UP:] for key, values in times.items()}
    rows += [_row("terms", size, name, one, kept[name, 0]) for (name, size), one in sorted(kept.items())]
    return rows


def _match(memory: slowwave.Memory, query: str, now: datetime) -> object:
    return signals_in(memory.home).learned(NAMESPACE, query, now)


def _after_forgetting(memory: slowwave.Memory, act: Callable[..., object], *given: object) -> float:
    """Milliseconds of an act that looks past questions up anew."""
    forget_lookup(memory.home)
    return _took(act, *given)


def _took(act: Callable[..., object], *given: object) -> float:
    """Milliseconds of an act."""
    start = time.perf_counter()
    act(*given)
    return (time.perf_counter() - start) * 1e3


if __name__ == "__main__":
    main()
