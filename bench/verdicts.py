"""Error rates of policy comparisons: false verdicts without a difference, power with one.

    python bench/verdicts.py [--trials N] [--draws N] [--sizes N,N] [--effects X X]

Queries are simulated: each has a difficulty, two policies rank its one answer by chance at a place that
depends on it, and on the share ``--same`` of the queries both show the same. Values are reciprocal ranks, 0
below rank 5 (as MRR@5). In a share of the queries, chosen to give the ``effect`` on the mean, the candidate
puts the answer first instead. A row gives the share of comparisons with each verdict, and what
`queries_needed` says where the evidence is insufficient: its median, and how often a new comparison with that
many queries more is ``settled`` (of the first eighth of ``--trials``).
"""

from __future__ import annotations

import argparse
import statistics
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from _report import bench, numbers, options, positive, ratio, report

from slowwave.scoring.evaluation import compare
from slowwave.scoring.intervals import wilson

SIZES, EFFECTS = "50,100,200,400", (0.0, 0.02, 0.05, 0.10)


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    parser = options(__doc__)
    parser.add_argument("--trials", type=positive, default=400, help="comparisons a row")
    parser.add_argument("--draws", type=positive, default=1_000, help="draws of each bootstrap and test")
    parser.add_argument("--margin", type=float, default=0.02, help="difference that does not matter")
    parser.add_argument("--same", type=float, default=0.5, help="share of queries with equal results")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sizes", type=numbers, default=SIZES, help="queries of a comparison, with commas")
    parser.add_argument("--effects", type=float, nargs="+", default=EFFECTS, help="mean differences")
    arguments = parser.parse_args(argv)
    rows = [
        row(n, effect, arguments, np.random.default_rng([arguments.seed, n, int(effect * 1_000)]))
        for effect in arguments.effects
        for n in arguments.sizes
    ]
    note = (
        f"{arguments.trials} comparisons a row; false better, 95 % interval of all rows without an effect: "
    )
    null = [one for one in rows if one["effect"] == 0]
    low, high = wilson(
        round(sum(one["better"] for one in null) * arguments.trials), len(null) * arguments.trials
    )
    report("verdicts", rows, note=f"{note}{low:.4f} to {high:.4f}")


def row(n: int, effect: float, arguments: argparse.Namespace, rng: np.random.Generator) -> dict[str, Any]:
    """One row: many comparisons over n queries each."""
    found, needed, settled = Counter[str](), [], []
    for seed in range(arguments.trials):
        one = compare(
            *pair(n, effect, arguments.same, rng), margin=arguments.margin, n_draws=arguments.draws, seed=seed
        )
        found[one.verdict] += 1
        if one.queries_needed:
            needed.append(one.queries_needed)
            if len(settled) < arguments.trials // 8 and one.queries_needed < 20_000:
                again = pair(n + one.queries_needed, effect, arguments.same, rng)
                more = compare(*again, margin=arguments.margin, n_draws=arguments.draws, seed=seed)
                settled.append(more.verdict != "insufficient evidence")
    shares = {name.split()[0]: found[name] / arguments.trials for name in ("better", "worse", "equivalent")}
    return {
        "effect": effect, "n": n, **shares, "insufficient": found["insufficient evidence"] / arguments.trials,
        "needed": round(statistics.median(needed)) if needed else None,
        "settled": ratio(sum(settled), len(settled)),
    }  # fmt: skip


def pair(n: int, effect: float, same: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Reciprocal ranks of two policies on n queries; the second's are higher by `effect` on average."""
    ease = rng.beta(1, 1, n)
    ranks = rng.geometric(0.1 + 0.8 * ease, (2, n))
    values = np.where(ranks <= 5, 1 / ranks, 0.0)
    before, after = values[0], np.where(rng.random(n) < same, values[0], values[1])
    lifted = rng.random(n) < effect / (1 - _MEAN)
    return before, np.where(lifted, 1.0, after)


def _mean_value() -> float:
    ease = np.linspace(0, 1, 100_001)
    chance = 0.1 + 0.8 * ease
    return float(sum((chance * (1 - chance) ** (rank - 1) / rank).mean() for rank in range(1, 6)))


_MEAN = _mean_value()


if __name__ == "__main__":
    main()
