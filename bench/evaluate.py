"""Duration of replaying and scoring policies on logged searches, beside ranx on the same runs.

    python bench/evaluate.py --queries 1000,10000,30000 [--candidates 100] [--repeat 3]

Searches are made up: memories with scores, words, states, votes, neighbours and trigger phrases; a share of
what they consider is judged. Beyond 2,000 the same candidates come again, under other judgments.

``decode`` is from payloads as the journal keeps them to columns (of at most 2,000, scaled up). ``replay``
ranks every search under 4 rankings: the default, the seeds', and the default without the vector and without
the full-text channel. ``score`` computes the five default measures of all of them, ``shadow`` compares each
with the first. ``ranx`` computes MRR@5, nDCG@10, Recall@20 and HitRate@1 of the same runs (it has no
``judged@k``): the first time it compiles; then from the frames that ``score`` reads; then from its own ready
``Run`` objects. Each time is the best of the repetitions. A size is measured in a process of its own.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import orjson
import polars as pl
from _processes import peak_mb
from _report import bench, numbers, options, positive, report

from slowwave.common import ids
from slowwave.evaluation.query_log import SEARCHES_AT_ONCE, of_entries
from slowwave.scoring.evaluation.evaluate import evaluate_frame
from slowwave.scoring.evaluation.ranking_divergence import compare_results
from slowwave.scoring.evaluation.replay import Batch, Variant, replay
from slowwave.scoring.ranking import SEEDS, RankingPolicy
from slowwave.scoring.ranking.columns import concatenated

NOW = datetime(2026, 3, 1, tzinfo=UTC)
MEMORIES = 20_000
JUDGED = 12  # memories of a query, half of them found by it
VARIANTS = (
    Variant("default", RankingPolicy()),
    Variant("seeds", SEEDS),
    Variant("without vector", RankingPolicy(), frozenset({"vector"})),
    Variant("without bm25", RankingPolicy(), frozenset({"bm25"})),
)
RANX = {"MRR@5": "mrr@5", "nDCG@10": "ndcg@10", "Recall@20": "recall@20", "HitRate@1": "hit_rate@1"}


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Measure each size in a process of its own."""
    parser = options(__doc__)
    parser.add_argument("--queries", type=numbers, default="1000,10000,30000", help="numbers of searches")
    parser.add_argument("--candidates", type=positive, default=100, help="chunks that each search considers")
    parser.add_argument("--repeat", type=positive, default=3, help="of each, of which the best time counts")
    arguments = parser.parse_args(argv)
    if odd := [size for size in arguments.queries if size > SEARCHES_AT_ONCE and size % SEARCHES_AT_ONCE]:
        parser.error(f"{odd}: above {SEARCHES_AT_ONCE} give multiples of it")
    rows: list[dict[str, Any]] = []
    context = multiprocessing.get_context("spawn")
    for size in arguments.queries:
        with context.Pool(1) as pool:
            rows += pool.apply(measure, (size, arguments.candidates, arguments.repeat))
    report(
        "evaluate",
        rows,
        note=f"seconds, {len(VARIANTS)} rankings of each search; peak: of the process, before ranx",
    )


def measure(queries: int, candidates: int, repeat: int) -> list[dict[str, Any]]:
    """Times of one size."""
    rng = np.random.default_rng(0)
    sample = min(queries, SEARCHES_AT_ONCE)
    entries, judged = _entries(rng, sample, candidates)
    took, logged = _best(repeat, lambda: of_entries(entries).batch)
    found = {"decode": took * queries / sample}
    copies = queries // sample
    batch = Batch(
        concatenated([logged.columns] * copies),
        np.tile(logged.limit, copies),
        pl.concat([logged.memory_ids] * copies),
    )
    judgments = _judgments(judged, queries)
    names = [variant.name for variant in VARIANTS]
    rankings = pl.DataFrame({"search": pl.int_range(queries, eager=True), "variant": [names] * queries})
    rankings = rankings.explode("variant").with_columns(query_id=pl.format("q{}", "search"))
    before = peak_mb()
    found["replay"], results = _best(repeat, lambda: replay(batch, VARIANTS))
    found["score"], scores = _best(repeat, lambda: evaluate_frame(rankings, results, judgments))
    shown = results.filter(pl.col("variant") == names[0]).drop("variant")
    lists = rankings.select("search", "variant")
    found["shadow"], _ = _best(repeat, lambda: compare_results(lists, shown, results))
    ours = peak_mb()
    found |= _ranx(results, judgments, scores, repeat)
    about = {"queries": queries, "candidates": candidates, "results": results.height}
    rows = [about | {"run": run, "seconds": round(took, 3)} for run, took in found.items()]
    rows[0] |= {"peak_mb": ours, "before_replay_mb": before}
    return rows


def _ranx(
    results: pl.DataFrame, judgments: pl.DataFrame, scores: pl.DataFrame, repeat: int
) -> dict[str, float]:
    """Times of ranx on the same runs, and that it says the same."""
    import ranx

    def made() -> tuple[Any, list[Any]]:
        relevant = judgments.with_columns(pl.col("grade").cast(pl.Int64))
        qrels = ranx.Qrels(_nested(relevant, "grade"))
        runs = [
            ranx.Run(
                _nested(
                    results.filter(pl.col("variant") == variant.name).select(
                        "memory_id",
                        query_id=pl.format("q{}", "search"),
                        score=-pl.col("rank").cast(pl.Float64),
                    ),
                    "score",
                )
            )
            for variant in VARIANTS
        ]
        return qrels, runs

    def scored(qrels: Any, runs: list[Any]) -> list[dict[str, float]]:  # noqa: ANN401 - ranx has no types
        return [ranx.evaluate(qrels, run, list(RANX.values()), make_comparable=True) for run in runs]

    start = time.perf_counter()
    first = made()
    scored(*first)
    cold = time.perf_counter() - start
    making, (qrels, runs) = _best(repeat, made)
    took, theirs = _best(repeat, lambda: scored(qrels, runs))
    for variant, values in zip(VARIANTS, theirs, strict=True):
        means = scores.filter(pl.col("variant") == variant.name).select(pl.col(list(RANX)).mean()).row(0)
        np.testing.assert_allclose(means, [values[name] for name in RANX.values()], atol=1e-9)
    return {"ranx, first time": cold, "ranx, from frames": making + took, "ranx": took}


def _nested(rows: pl.DataFrame, value: str) -> dict[str, dict[str, float]]:
    grouped = rows.group_by("query_id", maintain_order=True).agg("memory_id", value)
    return {query: dict(zip(names, values, strict=True)) for query, names, values in grouped.iter_rows()}


def _best(repeat: int, run: Callable[[], Any]) -> tuple[float, Any]:
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        found = run()
        times.append(time.perf_counter() - start)
    return min(times), found


def _judgments(judged: list[list[str]], queries: int) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    memories = [judged[at % len(judged)] for at in range(queries)]
    return (
        pl.DataFrame({"query_id": [f"q{at}" for at in range(queries)], "memory_id": memories})
        .explode("memory_id")
        .with_columns(grade=pl.Series(rng.integers(0, 4, queries * JUDGED)).cast(pl.Float64))
    )


def _entries(rng: np.random.Generator, queries: int, size: int) -> tuple[pl.DataFrame, list[list[str]]]:
    """Journal entries of searches, and the memories that are judged for each."""
    names = [ids.memory_id("bench", str(at)) for at in range(MEMORIES)]
    payloads, judged = [], []
    for at in range(queries):
        memories = [names[one] for one in rng.choice(MEMORIES, (size + 1) // 2, replace=False)]
        chunks = [ids.chunk_id(memories[one // 2], one % 2) for one in range(size)]
        cosine = np.round(np.sort(rng.beta(8, 4, size))[::-1], 6)
        bm25 = np.where(rng.random(size) < 0.5, np.round(rng.gamma(2, 4, size), 6), -1.0)
        by_words = np.where(bm25 > 0, np.argsort(np.argsort(-bm25)) + 1, 0)
        by_vector = np.where(rng.random(size) < 0.6, np.arange(1, size + 1), 0)
        neither = (by_words == 0) & (by_vector == 0)
        by_vector[neither] = np.arange(1, size + 1)[neither]
        used = memories[:10]
        candidates = {
            "chunk_id": chunks,
            "cosine": cosine.tolist(),
            "bm25": [value if value > 0 else None for value in bm25.tolist()],
            "vector_rank": by_vector.tolist(),
            "bm25_rank": by_words.tolist(),
            "chunk_count": [2] * size,
            "title": (np.round(rng.random(size), 2) * (rng.random(size) < 0.1)).tolist(),
            "coverage": (np.round(rng.random(size), 2) * (rng.random(size) < 0.2)).tolist(),
            "triggers": {memories[0]: ["a phrase", 0.5]} if rng.random() < 0.1 else {},
            "follows": dict([memories[2:0:-1]]) if len(memories) > 2 else {},
            "confidence": {
                name: ["high", 6, "state"] if place == 3 else ["medium", 0, ""]
                for place, name in enumerate(memories)
            },
            "states": {
                name: {
                    "effectiveness": float(rng.random()), "feedback_count": int(rng.integers(0, 6)),
                    "not_useful_at": [
                        (NOW - timedelta(days=float(age))).isoformat() for age in rng.uniform(0, 90, at % 3)
                    ],
                    "learned": 0.0, "strength": 1.0,
                }
                for name in used
            },
        }  # fmt: skip
        said = {
            "query": f"query {at}", "limit": 10, "as_of": NOW.isoformat(), "policy_version": "0", "shown": [],
            "abstained": False, "signal": 0.5, "policy": RankingPolicy().to_dict(), "candidates": candidates,
        }  # fmt: skip
        payloads.append(orjson.dumps(said, option=orjson.OPT_SORT_KEYS))
        judged.append([*memories[: JUDGED // 2], *(names[one] for one in rng.choice(MEMORIES, 30))])
        judged[-1] = list(dict.fromkeys(judged[-1]))[:JUDGED]
    entries = pl.DataFrame({"payload": payloads}).with_columns(
        seq=pl.int_range(pl.len()), event_id=pl.format("search {}", pl.int_range(pl.len())),
        day=pl.lit(NOW.date().isoformat()), namespace=pl.lit("bench"), principal=pl.lit("bench"),
        occurred_at=pl.lit(NOW),
    )  # fmt: skip
    return entries, judged


if __name__ == "__main__":
    main()
