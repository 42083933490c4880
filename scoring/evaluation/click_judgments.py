"""Click judgments: clicks over expected clicks, by query and memory (rule 6.1 B).

A click is a result that was used in an answer or rated helpful. Top results are clicked more often only
because of their position (position bias). So the measure divides the clicks of a pair of query and memory by
the clicks of an average result at the same ranks. Average results at the top of a good ranking are better. So
the measure is fair to memories returned at several ranks, and strict with one that is always first and used
as often as others there.

Source: Zhang and Jones, "Comparing Click Logs and Editorial Labels for Training Query Rewriting" (2007).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from slowwave.scoring.arrays import Floats, Integers
from slowwave.scoring.evaluation.position_prior import position_prior
from slowwave.scoring.feedback.columns import codes

DEEPEST = 50
_BLOCK = 100_000  # pairs and days at a time, each with a count for every rank
_SCHEMA = {
    "day": pl.String, "namespace": pl.String, "query_id": pl.String, "query": pl.String,
    "memory_id": pl.String, "impressions": pl.Int64, "clicks": pl.Int64, "expected": pl.Float64,
    "coec": pl.Float64, "grade": pl.Float64,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class SelectionPolicy:
    """Constants of click judgments.

    Attributes:
        first_guess: prior click rate, in [0, 1].
        guess_weight: weight of `first_guess`, in impressions.
        rank_weight: weight with which the rate of a rank shrinks to that of all ranks, in impressions.
        pair_weight: weight with which clicks over expected clicks shrink to 1, in expected clicks.
        none_up_to: clicks over expected clicks up to which the grade is 0. From there to 1 there is no grade,
            so one careless click makes nothing relevant.
        much_from: clicks over expected clicks from which the grade is 3.
        sure_clicks: clicks that grades 2 and 3 need; with fewer the grade above 1 is 1.
    """

    first_guess: float = 0.1
    guess_weight: float = 10.0
    rank_weight: float = 20.0
    pair_weight: float = 1.0
    none_up_to: float = 0.75
    much_from: float = 2.0
    sure_clicks: int = 2


def click_judgments(
    impressions: pl.DataFrame,
    *,
    first_day: str | None = None,
    last_day: str | None = None,
    policy: SelectionPolicy | None = None,
) -> pl.DataFrame:
    """Grade pairs of query and memory at the end of each day with impressions.

    The rows of a day depend only on the impressions of its namespace up to that day, in any order. The same
    days computed together or one by one give the same rows, to the last bit. Expected clicks use the ranks'
    rates as of that day, so they improve with more data. ``coec`` is (clicks + w) / (expected + w) with w =
    `pair_weight`.

    Grades: 0 clearly fewer clicks than an average result at its ranks; 1 more, but once only; 2 more,
    repeatedly; 3 at least twice as many. Null is no grade: for instance a pair without a click and with less
    than a third of an expected click.

    Args:
        impressions: one row a returned result: day (YYYY-MM-DD), namespace, query_id, query, memory_id, rank
            (from 1; ranks beyond 50 count as 50), clicked (0 or 1, or a flag). Only of searches with
            feedback: without any observation, a missing click is no evidence.
        first_day: first day of the result; earlier impressions count.
        last_day: last day; later impressions do not count.
        policy: weights and thresholds.

    Returns:
        day, namespace, query_id, query, memory_id, impressions, clicks (counts so far), expected (clicks),
        coec, grade (0 to 3; null: none); sorted by day, namespace, query_id and memory_id.

    Raises:
        ValueError: a rank is below 1, or `clicked` is neither 0 nor 1.
    """
    rules = policy or SelectionPolicy()
    rows = impressions if last_day is None else impressions.filter(pl.col("day") <= last_day)
    if rows.is_empty():
        return pl.DataFrame(schema=_SCHEMA)
    days, texts = rows["day"].unique().sort(), rows["query"].fill_null("").unique().sort()
    first = 0 if first_day is None else int((days < first_day).sum())
    coded = _coded(rows, days, texts)
    cells = _cells(coded, first)
    if cells.is_empty():
        return pl.DataFrame(schema=_SCHEMA)
    priors, place = _priors(coded, rules)
    pair_days = cells.group_by("pair", "day", maintain_order=True).agg(
        pl.col("at").first(), pl.col("query").min(), pl.col("space").first(), rows=pl.len()
    )
    expected, shown, clicked = _so_far(cells, pair_days, priors, place)
    coec = (clicked + rules.pair_weight) / (expected + rules.pair_weight)
    judged = pair_days.select("day", "query", "at").with_columns(
        impressions=pl.Series(shown), clicks=pl.Series(clicked), expected=pl.Series(expected),
        coec=pl.Series(coec), grade=_grades(coec, clicked, rules),
    ).filter(pl.col("day") >= first)  # fmt: skip
    keys = rows[judged["at"]].select("namespace", "query_id", "memory_id")
    return (
        judged.select("impressions", "clicks", "expected", "coec", "grade")
        .with_columns(keys, day=days[judged["day"]], query=texts[judged["query"]])
        .select(*_SCHEMA)
        .sort("day", "namespace", "query_id", "memory_id")
    )


def _coded(rows: pl.DataFrame, days: pl.Series, texts: pl.Series) -> pl.DataFrame:
    """Return impressions as numbers; ``at`` is the row of the impression."""
    right = (pl.col("rank") >= 1) & pl.col("clicked").cast(pl.Int64).is_in([0, 1])
    wrong = rows.filter(~right.fill_null(value=False))
    if wrong.height:
        rank, clicked = wrong.select("rank", "clicked").row(0)
        raise ValueError(f"rank = {rank} and clicked = {clicked}: ranks start at 1, clicked is 0 or 1")
    return pl.DataFrame(
        {
            "pair": codes(rows, "namespace", "query_id", "memory_id"),
            "space": codes(rows, "namespace"),
            "day": _places(rows["day"], days),
            "rank": rows["rank"].cast(pl.Int64).clip(1, DEEPEST) - 1,
            "query": _places(rows["query"].fill_null(""), texts),
            "clicked": rows["clicked"].cast(pl.Int64),
        }
    ).with_row_index("at")


def _cells(coded: pl.DataFrame, first: int) -> pl.DataFrame:
    """Count impressions and clicks by pair, day and rank, sorted.

    Only pairs with an impression from day `first` on.
    """
    if first:
        pairs = coded["pair"].to_numpy()
        wanted = np.unique(pairs[coded["day"].to_numpy() >= first])
        place = np.searchsorted(wanted, pairs)
        coded = coded.filter(np.append(wanted, -1)[place] == pairs)
    return (
        coded.group_by("pair", "day", "rank")
        .agg(
            pl.col("at", "query").min(), pl.col("space").first(), pl.col("clicked").sum(), shown=pl.len()
        )
        .sort("pair", "day", "rank")
    )  # fmt: skip


def _priors(coded: pl.DataFrame, rules: SelectionPolicy) -> tuple[Floats, Integers]:
    """Return click rates by rank of each namespace and day, and their rows.

    The rows are a (namespaces, days) table.
    """
    space, day, rank = (coded[name].to_numpy() for name in ("space", "day", "rank"))
    days = int(day.max()) + 1
    used_cells, row = np.unique(space * days + day, return_inverse=True)
    cells, size = row * DEEPEST + rank, len(used_cells) * DEEPEST
    shown = np.bincount(cells, minlength=size)
    clicked = np.bincount(cells, coded["clicked"].to_numpy(), minlength=size).astype(np.int64)
    counts = np.stack([shown, clicked]).reshape(2, -1, DEEPEST)
    spaces = used_cells // days
    so_far = np.cumsum(counts, axis=1)
    so_far -= (so_far - counts)[:, np.searchsorted(spaces, spaces)]
    place = np.full((int(spaces.max()) + 1, days), -1)
    place[spaces, used_cells % days] = np.arange(len(used_cells))
    rates = position_prior(
        *so_far, weight=rules.rank_weight, first_guess=rules.first_guess, guess_weight=rules.guess_weight
    )
    return rates, place


def _so_far(
    cells: pl.DataFrame, pair_days: pl.DataFrame, priors: Floats, place: Integers
) -> tuple[Floats, Integers, Integers]:
    """Return expected clicks, impressions and clicks of each pair up to each of its days."""
    lengths = pair_days["rows"].to_numpy()
    row = np.repeat(np.arange(len(lengths)), lengths)
    rank, shown = cells["rank"].to_numpy(), cells["shown"].to_numpy()
    clicks = np.bincount(row, cells["clicked"].to_numpy(), minlength=len(lengths)).astype(np.int64)
    pair = pair_days["pair"].to_numpy()
    start = np.searchsorted(pair, pair)
    prior = place[pair_days["space"].to_numpy(), pair_days["day"].to_numpy()]
    expected, total = np.zeros(len(lengths)), np.zeros(len(lengths), dtype=np.int64)
    for low, high in _blocks(start):
        inside = slice(*np.searchsorted(row, [low, high]))
        counts = np.zeros((DEEPEST, high - low), dtype=np.int64)
        counts[rank[inside], row[inside] - low] = shown[inside]
        so_far = np.cumsum(counts, axis=1)
        so_far -= (so_far - counts)[:, start[low:high] - low]
        total[low:high] = so_far.sum(axis=0)
        for at in range(
            int(rank[inside].max()) + 1
        ):  # in the order of ranks, so the sum is the same on every day
            expected[low:high] += so_far[at] * priors[prior[low:high], at]
    clicked = np.cumsum(clicks)
    return expected, total, clicked - (clicked - clicks)[start]


def _blocks(start: Integers) -> list[tuple[int, int]]:
    """Split rows into blocks of about `_BLOCK` that keep a pair together.

    `start` is the first row of each row's pair.
    """
    cuts = np.unique(np.append(start[::_BLOCK], len(start)))
    return list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))


def _grades(coec: Floats, clicked: Integers, rules: SelectionPolicy) -> pl.Series:
    sure = clicked >= rules.sure_clicks
    grade = 1.0 + sure + (sure & (coec >= rules.much_from))
    grade[coec <= 1] = np.nan
    grade[coec <= rules.none_up_to] = 0.0
    return pl.Series(grade).fill_nan(None)


def _places(values: pl.Series, names: pl.Series) -> pl.Series:
    """Return the place of each text in `names`."""
    return values.cast(pl.Enum(names)).to_physical().cast(pl.Int64)
