"""Texts, cells and tables of a cycle's report, for terminal and page."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping

import polars as pl

from slowwave.common.pluralize import counted
from slowwave.scoring.evaluation import Comparison, MeanInterval
from slowwave.views.cycle import LOGGED, MAIN, METRICS, CycleReport, VariantResult
from slowwave.views.section import Column, Mark, Table, verdict

TITLE = METRICS[MAIN]
_ROLES = {
    "in force": "policy in force, replayed", "shadow": "shadow policy", "baseline": "trivial baseline",
    "channel": "in force without a channel", "stage": "in force without a stage",
}  # fmt: skip

_Row = Mapping[str, object]
_OF_VARIANTS = {
    "ranking": Column("ranking", least=12), "verdict": Column("verdict"),
    "mean": Column(TITLE, "number"), "mean_ends": Column("95 %", "number"),
    "judged": Column("judged@10", "number"),
    "difference": Column("difference", "number"), "difference_ends": Column("95 %", "number"),
    "counts": Column("won/tied/lost", "number"), "p": Column("p", "number"),
    "needed": Column("needed", "number"),
}  # fmt: skip
_OF_CHANNELS = {
    "channel": Column("channel"), "results": Column("results", "number"),
    "covered": Column("covered", "number"), "exclusive": Column("exclusive", "number"),
    "coverage": Column("coverage", "number"), "ecr": Column("ECR", "number"),
    "ends": Column("95 %", "number"),
}  # fmt: skip


def headline(report: CycleReport) -> str:
    """Return the period and counts of a cycle in a line."""
    until = report.closed_on or "now"
    return (
        f"{report.opened_on} to {until} ({counted(report.days, 'day')}): "
        f"{counted(report.searches, 'search', 'searches')} of "
        f"{counted(report.queries, 'distinct query', 'distinct queries')}."
    )


def unfinished(report: CycleReport) -> str:
    """Return a warning for an open cycle, else ""."""
    if report.status == "closed":
        return ""
    return "This cycle is still open. Its figures are not final: do not decide anything by them."


def outcome(report: CycleReport) -> str:
    """Return the counts of verdicts in a line."""
    verdicts = [variant.against[MAIN].verdict for variant in report.variants if MAIN in variant.against]
    if not verdicts:
        return "Nothing was compared."
    words = {
        "better": "better than the returned results", "worse": "worse",
        "equivalent": "equivalent within the margin",
        "insufficient evidence": "undecided",
    }  # fmt: skip
    parts = [f"{verdicts.count(name)} {label}" for name, label in words.items() if name in verdicts]
    return f"By {TITLE}, of {counted(len(verdicts), 'ranking')}: " + ", ".join(parts) + "."


def facts(report: CycleReport) -> list[tuple[str, str]]:
    """Return the facts that identify a cycle, as (name, value)."""
    closed = "" if report.closed_at is None else f"{report.closed_at:%Y-%m-%d %H:%M} UTC"
    rows = [
        ("namespace", report.namespace),
        ("cycle", f"{report.number} ({report.status})"),
        ("days", f"{report.opened_on} to {report.closed_on or 'now'} ({report.days:,})"),
        ("searches", f"{report.searches:,}"),
        ("distinct queries", f"{report.queries:,}"),
        ("judgments", f"{report.grades.height:,}, version {report.judgment_version or 'unknown'}"),
        ("code", report.code_version),
        ("closed at", closed),
        ("margin", f"± {report.margin:g} of a metric does not matter"),
    ]
    return [(name, value) for name, value in rows if value]


def role(variant: VariantResult) -> str:
    """Return the reason why a variant was evaluated."""
    return "returned results" if variant.name == LOGGED else _ROLES.get(variant.role, variant.role)


def number(value: float | None, *, signed: bool = False) -> str:
    """Return a metric or a difference as text; a dash for none."""
    if value is None or not math.isfinite(value):
        return "–"
    if not signed:
        return f"{value:.3f}"
    rounded = round(value, 3)
    return f"{rounded:+.3f}".replace("-", "−") if rounded else "0.000"  # a zero has no sign


def then_and_now(row: Mapping[str, float], metric: str) -> str:
    """Return a metric of the previous cycle and of this one."""
    return f"{number(row[f'{metric}_before'])} → {number(row[metric])}"


def interval(bounds: MeanInterval | Comparison, *, signed: bool = False) -> str:
    """Return the bounds of an interval."""
    return ends(bounds.low, bounds.high, signed=signed)


def ends(low: float | None, high: float | None, *, signed: bool = False) -> str:
    """Return two numbers as an interval."""
    first, last = (number(value, signed=signed) for value in (low, high))
    return "–" if first == "–" else f"{first} … {last}"


def probability(value: float) -> str:
    """Return a p-value as text."""
    return "< .001" if value < 0.001 else f"{value:.3f}".removeprefix("0")


def needed(variant: VariantResult) -> str:
    """Return the number of queries that a verdict needs."""
    if variant.name == LOGGED or variant.needed == 0:
        return ""
    return "unknown" if variant.needed is None else f"~{variant.needed:,}"


def plain_rows(figures: Mapping[str, object], before: str = "") -> list[tuple[str, str]]:
    """Return nested figures as rows of (name, value)."""
    rows: list[tuple[str, str]] = []
    for name, value in figures.items():
        words = f"{before}{name.replace('_', ' ')}"
        if isinstance(value, Mapping):
            rows += plain_rows(value, f"{words}: ")
        else:
            rows.append((words, shown(value)))
    return rows


def shown(value: object) -> str:
    """Return any plain value as text."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "–"}[value]
    if isinstance(value, float):
        return number(value)
    if isinstance(value, list):
        if len(value) == 3 and all(isinstance(item, float) for item in value):
            return f"{number(value[0])} ({ends(*value[1:])})"
        return ", ".join(map(shown, value))
    return f"{value:,}" if isinstance(value, int) else str(value)


def since(report: CycleReport) -> list[str]:
    """Return the changes since the previous cycle, in lines."""
    changed = report.changed
    if changed is None:
        return ["This is the first cycle of the namespace: there is no previous one to compare with."]
    pairs = changed.judgments
    lines = [
        f"Judgments since cycle {changed.number}: {pairs['added']:,} pairs added, {pairs['removed']:,} "
        f"removed, {pairs['regraded']:,} regraded."
    ]
    if changed.same_queries is None:
        return [*lines, "The two cycles have no query in common."]
    comparison = changed.same_queries[MAIN]
    fell = changed.moved.filter(pl.col("change") < 0).height
    difference = f"{number(comparison.difference, signed=True)}, {interval(comparison, signed=True)}"
    return [
        *lines,
        f"On the {counted(changed.shared, 'query', 'queries')} that both have, {TITLE} of the returned "
        f"results went from {number(comparison.baseline)} to {number(comparison.candidate)} ({difference}): "
        f"{comparison.verdict}.",
        f"{changed.moved.height - fell:,} of them rose, {fell:,} fell.",
    ]


def found_by(report: CycleReport) -> str:
    """Return the number of channels that found results, or ""."""
    counts_by = report.found_by
    if not counts_by.get("results"):
        return ""
    parts = {"single": "by one channel", "multi": "by several", "unattributed": "by none"}
    counts = ", ".join(f"{counts_by.get(name, 0):,} {label}" for name, label in parts.items())
    return f"Of {counted(counts_by['results'], 'result')} in the top ten: {counts}."


# -- tables ----------------------------------------------------------------------------------------


def variants(report: CycleReport, columns: Collection[str]) -> Table:
    """Return the table of policies, compared with the returned results on the same queries.

    Args:
        report: the cycle.
        columns: of ranking, verdict, mean, mean_ends, judged, difference, difference_ends, counts, p, needed.
    """
    return _of(_OF_VARIANTS, columns, [_variant(variant) for variant in report.variants])


def _variant(variant: VariantResult) -> _Row:
    mean, comparison = variant.means[MAIN], variant.against.get(MAIN)
    cells: dict[str, object] = {
        "ranking": Mark(variant.name, note="(baseline)" if variant.role == "baseline" else ""),
        "mean": number(mean.mean),
        "mean_ends": interval(mean),
        "judged": number(variant.judged),
    }
    if comparison is None:
        return cells
    return cells | {
        "verdict": verdict(comparison.verdict),
        "difference": number(comparison.difference, signed=True),
        "difference_ends": interval(comparison, signed=True),
        "counts": f"{comparison.wins:,}/{comparison.ties:,}/{comparison.losses:,}",
        "p": probability(comparison.p_value),
        "needed": needed(variant),
    }


def channels(report: CycleReport, columns: Collection[str]) -> Table:
    """Return the table of channels.

    Args:
        report: the cycle.
        columns: of channel, results, covered, exclusive, coverage, ecr, ends.
    """
    rows: list[_Row] = [
        {name: shown(row[name]) for name in row}
        | {"channel": row["channel"], "ends": ends(row["ecr_low"], row["ecr_high"])}
        for row in report.channels.iter_rows(named=True)
    ]
    return _of(_OF_CHANNELS, columns, rows)


def _of(all_columns: Mapping[str, Column], wanted: Collection[str], rows: Iterable[_Row]) -> Table:
    return Table(
        [all_columns[name] for name in wanted], [[row.get(name, "") for name in wanted] for row in rows]
    )
