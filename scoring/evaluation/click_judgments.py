"""What use says of how well a memory answers a query (rule 6.1 B): clicks over expected clicks.

A click is a result that was used in an answer or rated helpful. Results shown at the top are used more often
only because they are at the top; so what counts is the clicks of a pair of query and memory over those that
an average result would have got at the very ranks where this one was shown. Average results of a good
ranking are better at its top, which is held against what stands there: the measure is fair to memories that
were shown at several ranks, and severe to one that is always first and used as often as others there.

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
    """How use becomes a grade.

    Attributes:
        first_guess: click rate before anything was seen, in [0, 1].
        guess_weight: of `first_guess`, in impressions.
        rank_weight: with which the rate of a rank is drawn to that of all ranks, in impressions.
        pair_weight: with which clicks over expected clicks are drawn to 1, in expected clicks.
        none_up_to: clicks over expected clicks up to which the grade is 0; above it and up to 1 there is no
            opinion, so that one careless click makes nothing relevant.
        much_from: the same from which the grade is 3.
        sure_clicks: clicks that grades 2 and 3 need; with fewer, above 1, the grade is 1.
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
    """Grade each pair of query and memory as of the end of each day on which it was shown.

    A day's rows follow from the impressions of its namespace up to that day alone, in any order: the same
    days computed at once or one by one give the same rows, to the last bit. The expected clicks of all
    impressions of a pair are those by the ranks' rates as of that day, so they get better as more is seen.
    ``coec`` is (clicks + w) / (expected + w) with w = `pair_weight`. Grades: 0 used clearly less than an
    average result at its ranks; 1 more, but once only; 2 more, again and again; 3 at least twice as often.
    Null is no opinion: a pair without a click, for instance, until a third of a click was to be expected.

    Args:
        impressions: one row a result shown: day (YYYY-MM-DD), namespace, query_id, query, memory_id, rank
            (from 1; what is deeper than 50 counts as 50), clicked (0 or 1, or a flag). Only of searches that
            got any feedback: where nobody looked, no click says nothing.
        first_day: first day to give rows of; impressions before it count all the same.
        last_day: last one; impressions after it do not count.
        policy: weights and thresholds.

    Returns:
        day, namespace, query_id, query, memory_id, impressions, clicks (counts so far), expected (clicks),
        coec, grade (0 to 3; null: no opinion); sorted by day, namespace, query_id and memory_id.

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
    made = pair_days.select("day", "query", "at").with_columns(
        impressions=pl.Series(shown), clicks=pl.Series(clicked), expected=pl.Series(expected),
        coec=pl.Series(coec), grade=_grades(coec, clicked, rules),
    ).filter(pl.col("day") >= first)  # fmt: skip
    keys = rows[made["at"]].select("namespace", "query_id", "memory_id")
    return (
        made.select("impressions", "clicks", "expected", "coec", "grade")
        .with_columns(keys, day=days[made["day"]], query=texts[made["query"]])
        .select(*_SCHEMA)
        .sort("day", "namespace", "query_id", "memory_id")
    )


def _coded(rows: pl.DataFrame, days: pl.Series, texts: pl.Series) -> pl.DataFrame:
    """Impressions as numbers; ``at`` is where the impression stands."""
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
    """Impressions and clicks by pair, day and rank, of the pairs shown from day `first` on; in this order."""
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
    """Rates by rank of each namespace as of each of its days, and where to find them: (namespaces, days)."""
    space, day, rank = (coded[name].to_numpy() for name in ("space", "day", "rank"))
    days = int(day.max()) + 1
    there, row = np.unique(space * days + day, return_inverse=True)
    cells, size = row * DEEPEST + rank, len(there) * DEEPEST
    shown = np.bincount(cells, minlength=size)
    clicked = np.bincount(cells, coded["clicked"].to_numpy(), minlength=size).astype(np.int64)
    counts = np.stack([shown, clicked]).reshape(2, -1, DEEPEST)
    spaces = there // days
    so_far = np.cumsum(counts, axis=1)
    so_far -= (so_far - counts)[:, np.searchsorted(spaces, spaces)]
    place = np.full((int(spaces.max()) + 1, days), -1)
    place[spaces, there % days] = np.arange(len(there))
    rates = position_prior(
        *so_far, weight=rules.rank_weight, first_guess=rules.first_guess, guess_weight=rules.guess_weight
    )
    return rates, place


def _so_far(
    cells: pl.DataFrame, pair_days: pl.DataFrame, priors: Floats, place: Integers
) -> tuple[Floats, Integers, Integers]:
    """Expected clicks, impressions and clicks of each pair up to each of its days."""
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
        for at in range(int(rank[inside].max()) + 1):  # in the order of the ranks: the same sum on every day
            expected[low:high] += so_far[at] * priors[prior[low:high], at]
    clicked = np.cumsum(clicks)
    return expected, total, clicked - (clicked - clicks)[start]


def _blocks(start: Integers) -> list[tuple[int, int]]:
    """Parts of about `_BLOCK` rows that keep the rows of a pair together; `start` is where its rows begin."""
    cuts = np.unique(np.append(start[::_BLOCK], len(start)))
    return list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))


def _grades(coec: Floats, clicked: Integers, rules: SelectionPolicy) -> pl.Series:
    sure = clicked >= rules.sure_clicks
    grade = 1.0 + sure + (sure & (coec >= rules.much_from))
    grade[coec <= 1] = np.nan
    grade[coec <= rules.none_up_to] = 0.0
    return pl.Series(grade).fill_nan(None)


def _places(values: pl.Series, names: pl.Series) -> pl.Series:
    """Where each text stands in `names`."""
    return values.cast(pl.Enum(names)).to_physical().cast(pl.Int64)
