"""The tables of a cycle's report: all of their columns for the page, some for the terminal."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import polars as pl

from slowwave.views import cycle_wording as words
from slowwave.views.cycle import LOGGED, MAIN, CycleReport, Standing
from slowwave.views.section import Column, Mark, Table, verdict

_Row = Mapping[str, object]
_VARIANTS = {
    "ranking": Column("ranking", least=12), "verdict": Column("verdict"),
    "mean": Column(words.TITLE, "number"), "mean_ends": Column("95 %", "number"),
    "judged": Column("judged@10", "number"),
    "difference": Column("difference", "number"), "difference_ends": Column("95 %", "number"),
    "counts": Column("won/tied/lost", "number"), "p": Column("p", "number"),
    "needed": Column("needed", "number"),
}  # fmt: skip
_CHANNELS = {
    "channel": Column("channel"), "results": Column("results", "number"),
    "covered": Column("covered", "number"), "exclusive": Column("exclusive", "number"),
    "coverage": Column("coverage", "number"), "ecr": Column("ECR", "number"),
    "ends": Column("95 %", "number"),
}  # fmt: skip


def variants(report: CycleReport, columns: Collection[str]) -> Table:
    """The rankings, beside what searches showed on the same queries.

    Args:
        report: the cycle.
        columns: of ranking, verdict, mean, mean_ends, judged, difference, difference_ends, counts, p, needed.
    """
    return _of(_VARIANTS, columns, [_variant(one) for one in report.variants])


def _variant(one: Standing) -> _Row:
    mean, found = one.means[MAIN], one.against.get(MAIN)
    known: dict[str, object] = {
        "ranking": Mark(one.name, note="(baseline)" if one.role == "baseline" else ""),
        "mean": words.number(mean.mean),
        "mean_ends": words.interval(mean),
        "judged": words.number(one.judged),
    }
    if found is None:
        return known
    return known | {
        "verdict": verdict(found.verdict),
        "difference": words.number(found.difference, signed=True),
        "difference_ends": words.interval(found, signed=True),
        "counts": f"{found.wins:,}/{found.ties:,}/{found.losses:,}",
        "p": words.probability(found.p_value),
        "needed": words.needed(one),
    }


def channels(report: CycleReport, columns: Collection[str]) -> Table:
    """Which channel found what was shown.

    Args:
        report: the cycle.
        columns: of channel, results, covered, exclusive, coverage, ecr, ends.
    """
    rows: list[_Row] = [
        {name: words.shown(row[name]) for name in row}
        | {"channel": row["channel"], "ends": words.ends(row["ecr_low"], row["ecr_high"])}
        for row in report.channels.iter_rows(named=True)
    ]
    return _of(_CHANNELS, columns, rows)


def logged(report: CycleReport) -> pl.DataFrame:
    """The scores of what was shown, the worst first."""
    return report.scores.filter(pl.col("variant") == LOGGED).sort(MAIN, "query_id")


def _of(known: Mapping[str, Column], wanted: Collection[str], rows: Iterable[_Row]) -> Table:
    return Table([known[name] for name in wanted], [[row.get(name, "") for name in wanted] for row in rows])
