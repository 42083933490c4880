"""Evaluation cycles as the tables hold them, with scores that differ as those of real rankings do."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import polars as pl
from warehouse_rows import put

from slowwave.store import Store

# Mean nDCG that a variant gains on the logged ranking, how often it differs, and why it was tried.
VARIANTS: dict[str, tuple[float, float, str]] = {
    "in force": (0.0, 0.02, "in force"),
    "patient": (0.09, 0.5, "shadow"),
    "cautious": (0.012, 0.3, "shadow"),
    "BM25 alone": (-0.12, 0.8, "baseline"),
    "vectors alone": (-0.05, 0.6, "baseline"),
    "RRF": (-0.02, 0.5, "baseline"),
    "without vector": (-0.15, 0.8, "channel"),
    "without bm25": (-0.06, 0.5, "channel"),
    "without trigger": (0.0, 0.05, "channel"),
    "no MPAB": (0.0, 0.0, "stage"),
    "no effectiveness": (-0.03, 0.4, "stage"),
}
WORDS = ("deploy", "ferry", "gauge", "ledger", "relay", "radar", "tide", "survey", "battery", "mast")
CHANNELS = {
    "vector": {
        "results": 900,
        "covered": 700,
        "exclusive": 250,
        "ecr": 0.278,
        "ecr_low": 0.25,
        "ecr_high": 0.3,
    },
    "bm25": {"results": 900, "covered": 520, "exclusive": 140, "ecr": 140 / 900},
    "trigger": {"results": 900, "covered": 90, "exclusive": 9, "ecr": 0.01},
}
SUMMARY: dict[str, Any] = {
    "channels": CHANNELS,
    "found_by": {"results": 900, "single": 399, "multi": 490, "unattributed": 11},
    "judges": {"default": {"pairs": 60, "meets": True, "kappa": [0.61, 0.44, 0.75], "drift": {"changed": 1}}},
    "interleaving": {
        "patient": {"searches": 80, "preferred": 0.1, "low": 0.02, "high": 0.2, "verdict": "better"}
    },
    "shadow": {
        name: {"overlap": 0.9, "rank_correlation": 0.8, "searches": 400} for name in ("patient", "cautious")
    },
}


def query_of(number: int) -> str:
    return f"when does the {WORDS[number % 10]} of {WORDS[number // 10 % 10]} {number} change?"


def put_cycle(
    store: Store, number: int, *, first: int = 0, queries: int = 130, namespace: str = "ada", seed: int = 0,
    status: str = "closed", summary: dict[str, Any] | None = None,
) -> str:  # fmt: skip
    """Write a cycle of some queries, `first` being the number of the first; its id."""
    cycle_id, rng = f"{namespace}#{number}", np.random.default_rng(seed + number)
    closed = datetime(2026, 3, 1, tzinfo=UTC) + timedelta(days=14 * number)
    tried = {
        name: {"role": role, "policy": {}, "policy_version": f"{at:08x}",
               "without": [name.split()[1]] if role == "channel" else []}
        for at, (name, (_, _, role)) in enumerate(VARIANTS.items())
    }  # fmt: skip
    put(store, "evaluation_cycles", [{
        "cycle_id": cycle_id, "namespace": namespace, "number": number, "status": status,
        "opened_on": f"{closed - timedelta(days=14):%F}",
        "closed_on": f"{closed:%F}" if status == "closed" else None,
        "days": 14, "searches": 3 * queries, "queries": queries, "judgment_version": f"j{number}",
        "code_version": "0.1.0", "variants": json.dumps(tried),
        "summary": json.dumps(SUMMARY if summary is None else summary),
        "closed_at": closed if status == "closed" else None,
    }])  # fmt: skip
    rows = _scores(rng, first, queries)
    named = pl.format(f"{cycle_id}:{{}}:{{}}", "variant", "query_id")
    store.upsert("cycle_scores", rows.with_columns(
        cycle_score_id=named, cycle_id=pl.lit(cycle_id), namespace=pl.lit(namespace)
    ))  # fmt: skip
    put(store, "cycle_judgments", [
        {"cycle_judgment_id": f"{cycle_id}:{at}:{which}", "cycle_id": cycle_id, "namespace": namespace,
         "query_id": f"q{at}", "memory_id": f"memory-{at}-{which}", "source": "manual" if which else "judge",
         "grade": float((at + which + (number if at % 10 == 0 else 0)) % 4)}
        for at in range(first, first + queries) for which in range(3)
    ])  # fmt: skip
    return cycle_id


def _scores(rng: np.random.Generator, first: int, queries: int) -> pl.DataFrame:
    logged = np.clip(rng.normal(0.6, 0.25, queries), 0, 1)
    logged[rng.random(queries) < 0.06] = 0.0
    frames = []
    for name, (gain, often, _) in {"logged": (0.0, 0.0, ""), **VARIANTS}.items():
        moved = rng.random(queries) < often
        change = np.where(moved, rng.normal(gain / max(often, 0.01), 0.12, queries), 0.0)
        value = np.clip(logged + change, 0, 1)
        frames.append(pl.DataFrame({
            "variant": [name] * queries, "query_id": [f"q{at}" for at in range(first, first + queries)],
            "query": [query_of(at) for at in range(first, first + queries)], "searches": [3] * queries,
            "mrr_5": np.clip(value * 1.1, 0, 1), "ndcg_10": value, "recall_20": np.clip(value + 0.2, 0, 1),
            "hit_rate_1": (value > 0.6).astype(float), "judged_10": np.clip(0.8 + change, 0, 1),
            "relevant": [2] * queries,
        }, schema_overrides={"searches": pl.Int32, "relevant": pl.Int32}))  # fmt: skip
    return pl.concat(frames)
