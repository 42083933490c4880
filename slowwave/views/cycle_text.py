"""The words, cells and tables of a cycle's report, the same in the terminal and on its page."""

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
    "in force": "the ranking in force, replayed", "shadow": "a candidate", "baseline": "trivial baseline",
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
    """What the cycle was, in a line."""
    until = report.closed_on or "now"
    return (
        f"{report.opened_on} to {until} ({counted(report.days, 'day')}): "
        f"{counted(report.searches, 'search', 'searches')} of "
        f"{counted(report.queries, 'distinct query', 'distinct queries')}."
    )


def unfinished(report: CycleReport) -> str:
    """What an open cycle lacks, or nothing."""
    if report.status == "closed":
        return ""
    return "This cycle is still open: its figures are not final, and nothing may be decided by them."


def outcome(report: CycleReport) -> str:
    """What the cycle says of the variants, in a line."""
    told = [one.against[MAIN].verdict for one in report.variants if MAIN in one.against]
    if not told:
        return "Nothing was compared."
    words = {
        "better": "better than what was shown", "worse": "worse",
        "equivalent": "equivalent within the margin",
        "insufficient evidence": "undecided",
    }  # fmt: skip
    parts = [f"{told.count(name)} {said}" for name, said in words.items() if name in told]
    return f"By {TITLE}, of {counted(len(told), 'ranking')}: " + ", ".join(parts) + "."


def facts(report: CycleReport) -> list[tuple[str, str]]:
    """What the cycle is bound to, so that it can be told from any other."""
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


def role(one: VariantResult) -> str:
    """Why a variant was tried."""
    return "what searches showed" if one.name == LOGGED else _ROLES.get(one.role, one.role)


def number(value: float | None, *, signed: bool = False) -> str:
    """A metric, or a difference of two; a dash where there is none."""
    if value is None or not math.isfinite(value):
        return "–"
    if not signed:
        return f"{value:.3f}"
    rounded = round(value, 3)
    return f"{rounded:+.3f}".replace("-", "−") if rounded else "0.000"  # a zero has no sign


def then_and_now(row: Mapping[str, float], metric: str) -> str:
    """A metric in the cycle before, and in this one."""
    return f"{number(row[f'{metric}_before'])} → {number(row[metric])}"


def interval(found: MeanInterval | Comparison, *, signed: bool = False) -> str:
    """The ends of an interval."""
    return ends(found.low, found.high, signed=signed)


def ends(low: float | None, high: float | None, *, signed: bool = False) -> str:
    """Two numbers as an interval."""
    first, last = (number(value, signed=signed) for value in (low, high))
    return "–" if first == "–" else f"{first} … {last}"


def probability(value: float) -> str:
    """A p-value."""
    return "< .001" if value < 0.001 else f"{value:.3f}".removeprefix("0")


def needed(one: VariantResult) -> str:
    """How many queries a verdict lacks."""
    if one.name == LOGGED or one.needed == 0:
        return ""
    return "unknown" if one.needed is None else f"~{one.needed:,}"


def plain_rows(told: Mapping[str, object], before: str = "") -> list[tuple[str, str]]:
    """What a cycle tells of its judges, name by name, whatever it is."""
    rows: list[tuple[str, str]] = []
    for name, value in told.items():
        words = f"{before}{name.replace('_', ' ')}"
        if isinstance(value, Mapping):
            rows += plain_rows(value, f"{words}: ")
        else:
            rows.append((words, shown(value)))
    return rows


def shown(value: object) -> str:
    """Any plain value as text."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "–"}[value]
    if isinstance(value, float):
        return number(value)
    if isinstance(value, list):
        if len(value) == 3 and all(isinstance(one, float) for one in value):
            return f"{number(value[0])} ({ends(*value[1:])})"
        return ", ".join(map(shown, value))
    return f"{value:,}" if isinstance(value, int) else str(value)


def since(report: CycleReport) -> list[str]:
    """What is other than in the cycle before, in lines."""
    changed = report.changed
    if changed is None:
        return ["This is the first cycle of the namespace: there is none to compare it with."]
    pairs = changed.judgments
    lines = [
        f"Judgments since cycle {changed.number}: {pairs['added']:,} pairs added, {pairs['removed']:,} gone, "
        f"{pairs['regraded']:,} graded otherwise."
    ]
    if changed.same_queries is None:
        return [*lines, "The two cycles have no query in common."]
    found = changed.same_queries[MAIN]
    fell = changed.moved.filter(pl.col("change") < 0).height
    difference = f"{number(found.difference, signed=True)}, {interval(found, signed=True)}"
    return [
        *lines,
        f"On the {counted(changed.shared, 'query', 'queries')} that both have, {TITLE} of what was shown "
        f"went from {number(found.baseline)} to {number(found.candidate)} ({difference}): {found.verdict}.",
        f"{changed.moved.height - fell:,} of them rose, {fell:,} fell.",
    ]


def found_by(report: CycleReport) -> str:
    """By how many channels results were found, or nothing."""
    told = report.found_by
    if not told.get("results"):
        return ""
    parts = {"single": "by one channel", "multi": "by several", "unattributed": "by none"}
    counts = ", ".join(f"{told.get(name, 0):,} {said}" for name, said in parts.items())
    return f"Of {counted(told['results'], 'result')} in the top ten: {counts}."


# -- tables ----------------------------------------------------------------------------------------


def variants(report: CycleReport, columns: Collection[str]) -> Table:
    """The rankings, beside what searches showed on the same queries.

    Args:
        report: the cycle.
        columns: of ranking, verdict, mean, mean_ends, judged, difference, difference_ends, counts, p, needed.
    """
    return _of(_OF_VARIANTS, columns, [_variant(one) for one in report.variants])


def _variant(one: VariantResult) -> _Row:
    mean, found = one.means[MAIN], one.against.get(MAIN)
    known: dict[str, object] = {
        "ranking": Mark(one.name, note="(baseline)" if one.role == "baseline" else ""),
        "mean": number(mean.mean),
        "mean_ends": interval(mean),
        "judged": number(one.judged),
    }
    if found is None:
        return known
    return known | {
        "verdict": verdict(found.verdict),
        "difference": number(found.difference, signed=True),
        "difference_ends": interval(found, signed=True),
        "counts": f"{found.wins:,}/{found.ties:,}/{found.losses:,}",
        "p": probability(found.p_value),
        "needed": needed(one),
    }


def channels(report: CycleReport, columns: Collection[str]) -> Table:
    """Which channel found what was shown.

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


def _of(known: Mapping[str, Column], wanted: Collection[str], rows: Iterable[_Row]) -> Table:
    return Table([known[name] for name in wanted], [[row.get(name, "") for name in wanted] for row in rows])
