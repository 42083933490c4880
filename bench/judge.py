"""Agreement of the default judge with people (rule 6.2).

    python bench/judge.py --data FOLDER [FOLDER ...] [--fit NAME ...] [--esci FILE [--products FILE]]
                          [--queries N] [--cache FOLDER]

Of some queries of each collection in BEIR form, the pairs are

==========  ============================================================================================
``shown``   the first ten results of a search; what nobody judged is taken for not relevant
``judged``  pairs of the collection's judgments, all relevant in a collection that has no others
``rest``    results that nobody judged: not relevant as far as the collection is complete
==========  ============================================================================================

Half of the queries (every second one) of the collections of ``--fit`` (all) fit thresholds; all figures are
of the other halves. ``judge`` is the default judge as it is in force. The baselines: ``majority`` gives every
pair the grade that most pairs of the set have; ``words`` (share of the query's stems) and ``cosine`` (of the
best chunk) give 3 from a threshold on, fitted by kappa, else 0.

Grades are 0 to 3; relevant in a collection that only knows yes and no is 3. ``exact`` and ``tolerant`` (at
most one apart) are shares of pairs, ``kappa`` is Cohen's of the grades; ``binary`` and ``kappa_binary`` are
of relevant (1 to 3) or not. ``low`` and ``high`` of exact and of kappa_binary are 95 % bootstrap intervals
over queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from _graded import Graded, of_collection, of_esci, signals
from _report import UnusableError, bench, existing_file, existing_folder, options, positive, report

from slowwave.evaluation.judging.default_judge import THRESHOLDS, Signal
from slowwave.views.terminal import bars

BAR = 0.80
DRAWS = 2_000
GRID = np.round(np.arange(0.02, 1.0, 0.02), 2)
GRADES = 4
SHARES = (0.50, 0.55, 0.60)
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_NEAR = np.abs(np.subtract.outer(np.arange(GRADES), np.arange(GRADES))) <= 1


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    parser = options(__doc__)
    parser.add_argument(
        "--data", type=existing_folder, nargs="*", default=[], help="folders of the collections"
    )
    parser.add_argument("--fit", nargs="*", default=[], help="collections to fit on; default: all")
    parser.add_argument(
        "--esci", type=existing_file, help="judgments of products, as the workbench imports them"
    )
    parser.add_argument("--products", type=existing_file, help="JSON lines with the products' texts")
    parser.add_argument("--queries", type=positive, default=150, help="at most so many of each collection")
    parser.add_argument("--pairs", type=positive, default=1_500, help="at most so many ESCI pairs")
    parser.add_argument("--model", default="bge-small-en-v1.5", help="embedding model of the searches")
    parser.add_argument("--cache", type=Path, help="keep the collections and signals here, for the next time")
    arguments = parser.parse_args(argv)
    if not arguments.data and arguments.esci is None:
        parser.error("give --data or --esci")
    if odd := [name for name in arguments.fit if name not in {folder.name for folder in arguments.data}]:
        parser.error(f"--fit: {odd} is no folder of --data")
    notes, pairs = [], list[Graded]()
    for folder in arguments.data:
        with bars():
            pairs += of_collection(folder, arguments.model, arguments.cache, arguments.queries)
    if arguments.esci is not None:
        found, lacking = of_esci(arguments.esci, arguments.products, arguments.pairs)
        pairs += found
        notes.append(f"ESCI: {lacking:,} judged pairs have no product text here and cannot be graded")
    if not pairs:
        raise UnusableError(f"no pair can be graded; {'; '.join(notes)}")
    seen = signals(pairs, arguments.cache)
    rows, fitted = measured(pairs, seen, arguments.fit or [folder.name for folder in arguments.data])
    notes.append(f"thresholds in force {THRESHOLDS}; fitted here: {fitted}")
    report("judge", rows, note="\n".join(notes))


def measured(
    pairs: Sequence[Graded], seen: Sequence[Signal], fit: Sequence[str]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """A row per set, kind of pairs and run, and the thresholds that were fitted."""
    collection = np.array([one.collection for one in pairs])
    half = np.array([one.half for one in pairs])
    gold = np.array([one.grade for one in pairs])
    shown = np.array([one.shown for one in pairs])
    judged = np.array([one.judged for one in pairs])
    queries = np.array([one.query_id for one in pairs])
    values = {
        "judge": np.array([one.value for one in seen]),
        "words": np.array([one.words for one in seen]),
        "cosine": np.array([one.cosine for one in pairs]),
    }
    halves = [one for one in (shown & (half == 0) & (collection == name) for name in fit) if one.any()]
    fitted: dict[str, Any] = {name: _best(value, gold > 0, halves) for name, value in values.items()}
    fitted["judge by shares"] = [_share(values["judge"], gold > 0, halves, share) for share in SHARES]
    given = {
        "judge": np.searchsorted(THRESHOLDS, values["judge"], side="right"),
        **{name: np.where(values[name] >= fitted[name], 3, 0) for name in ("words", "cosine")},
    }
    rows = []
    for name in dict.fromkeys(collection):
        kinds = {"shown": shown, "judged": judged, "rest": ~judged}
        for kind, mask in kinds.items():
            some = mask & (half == 1) & (collection == name)
            if not some.any():
                continue
            before = gold[mask & (half == 0) & (collection == name)]
            majority = np.full(len(pairs), np.bincount(before, minlength=1).argmax())
            runs = {"judge": given["judge"], "majority": majority, **given} if kind == "shown" else given
            rows += [
                {"set": name, "pairs": kind, "run": run, **_figures(gold[some], grade[some], queries[some])}
                for run, grade in runs.items()
                if kind == "shown" or run == "judge"
            ]
    if not rows:
        raise UnusableError("no set has two queries: one half fits thresholds, the other is measured")
    return rows, fitted


def _best(value: Floats, relevant: Bools, halves: Sequence[Bools]) -> float:
    """The threshold with the highest kappa of relevant or not, as the mean of the sets."""

    def score(threshold: float) -> float:
        tables = [_table(relevant[half] * 3, (value[half] >= threshold) * 3) for half in halves]
        return float(np.mean([_kappa(_binary(table[None]))[0] for table in tables]))

    return float(max(GRID, key=score)) if halves else 0.5


def _share(value: Floats, relevant: Bools, halves: Sequence[Bools], share: float) -> float:
    """The least threshold from which this share is relevant, as the mean of the sets."""
    for threshold in GRID:
        above = [relevant[half & (value >= threshold)] for half in halves]
        if above and all(len(some) for some in above) and np.mean([some.mean() for some in above]) >= share:
            return float(threshold)
    return 1.0


def _figures(gold: Ints, given: Ints, queries: npt.NDArray[np.str_]) -> dict[str, Any]:
    """Measures of agreement with their intervals."""
    _, numbers = np.unique(queries, return_inverse=True)
    tables = np.zeros((numbers.max() + 1, GRADES, GRADES))
    np.add.at(tables, (numbers, gold, given), 1)
    draws = np.random.default_rng(0).multinomial(len(tables), np.full(len(tables), 1 / len(tables)), DRAWS)
    drawn = np.tensordot(draws, tables, axes=1)
    whole = tables.sum(axis=0)[None]
    exact, binary = _exact(whole)[0], _exact(_binary(whole))[0]
    kappa, kappa_binary = _kappa(whole)[0], _kappa(_binary(whole))[0]
    low, high = np.percentile(_exact(drawn), [2.5, 97.5])
    lowest, highest = np.percentile(_kappa(_binary(drawn)), [2.5, 97.5])
    return {
        "n": len(gold),
        "relevant": int((gold > 0).sum()),
        "exact": round(float(exact), 3),
        "low": round(float(low), 3),
        "high": round(float(high), 3),
        "tolerant": round(float((whole[0] * _NEAR).sum() / whole.sum()), 3),
        "kappa": round(float(kappa), 3),
        "binary": round(float(binary), 3),
        "kappa_binary": round(float(kappa_binary), 3),
        "kappa_low": round(float(lowest), 3),
        "kappa_high": round(float(highest), 3),
        "bar": "met" if exact >= BAR else "not met",
    }


def _table(gold: Ints, given: Ints) -> Floats:
    table = np.zeros((GRADES, GRADES))
    np.add.at(table, (gold, given), 1)
    return table


def _binary(tables: Floats) -> Floats:
    """Tables (n, 2, 2) of relevant or not."""
    parts = (slice(0, 1), slice(1, None))
    return np.stack(
        [np.stack([tables[:, a, b].sum(axis=(1, 2)) for b in parts], axis=1) for a in parts], axis=1
    )


def _exact(tables: Floats) -> Floats:
    return np.trace(tables, axis1=1, axis2=2) / tables.sum(axis=(1, 2))


def _kappa(tables: Floats) -> Floats:
    """Cohen's kappa of each table; 0 where all grades are one."""
    total = tables.sum(axis=(1, 2))
    expected = (tables.sum(axis=1) * tables.sum(axis=2)).sum(axis=1) / total**2
    return np.where(expected < 1, (_exact(tables) - expected) / np.where(expected < 1, 1 - expected, 1), 0.0)


if __name__ == "__main__":
    main()
