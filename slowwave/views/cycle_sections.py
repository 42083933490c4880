"""Report of an evaluation cycle as sections, for terminal and page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import polars as pl

from slowwave.common.pluralize import counted
from slowwave.scoring.evaluation import Comparison
from slowwave.views import cycle_plots
from slowwave.views import cycle_text as words
from slowwave.views.cycle import LOGGED, MAIN, METRICS, Changed, CycleReport
from slowwave.views.html import page
from slowwave.views.section import (
    ANY,
    Column,
    Expandable,
    Paragraph,
    Part,
    Picture,
    Section,
    Table,
    in_terminal,
    numbers,
    on_page,
    verdict,
)

DETAILED = 50  # queries at each end that are shown with details
LISTED = 2_000  # queries in the long table
MOVED = 10  # queries with the largest changes
_GRADES = 30  # judgments of one query
_QUERY = 300  # characters of a query
_WORST = 5  # queries in the terminal
_WIDE = 110  # characters of a terminal that fits every column

_STYLE = """
:root { --better: #00704f; --worse: #b34700; --same: #005f99; }
@media (prefers-color-scheme: dark) { :root { --better: #3ddc97; --worse: #ff9d5c; --same: #6cc5ff; } }
.better { color: var(--better); font-weight: 600; }
.worse { color: var(--worse); font-weight: 600; }
.equivalent { color: var(--same); font-weight: 600; }
.undecided { color: var(--faint); }
main { max-width: 1180px; }
th, td { padding: 5px 8px; }
img { max-width: 840px; margin: 12px auto; }
details { background: var(--card); border: 1px solid var(--line); border-radius: 6px; margin: 4px 0; }
summary { padding: 6px 10px; cursor: pointer; overflow-wrap: anywhere; }
details > div, details > p { padding: 0 10px; margin: 6px 0; }
h3 { font-size: 15px; margin: 16px 0 6px; }
"""
_MARKS = {"better": "▲", "worse": "▼", "equivalent": "=", "insufficient evidence": "?"}


def sections(report: CycleReport, *, width: int = ANY) -> list[Part]:
    """Return all sections of the report.

    Args:
        report: the cycle.
        width: available characters; a narrow terminal gets fewer columns.
    """
    judges = words.plain_rows(report.judges, "judge ")
    return [
        on_page(Paragraph(words.headline(report))),
        Paragraph(words.unfinished(report), "waits"),
        Paragraph(words.outcome(report)),
        on_page(Table([Column(""), Column("", "text")], words.facts(report))),
        *_variants(report, width),
        on_page(_metrics(report)),
        *_channels(report),
        in_terminal(*(Paragraph(f"{name} {value}") for name, value in judges)),
        *_course(report),
        *_judges(report),
        *_compared("Shadow", "distance of other policies' results from the returned results", report.shadow),
        *_compared(
            "Interleaving", "which policy's results were used when two were interleaved", report.interleaving
        ),
        *_queries(report, width),
        on_page(_policies(report)),
    ]


def cycle_page(report: CycleReport) -> str:
    """Render the report as one HTML page: embedded plots, no script, no network access.

    Raises:
        SlowwaveError: Matplotlib or Jinja2 is not installed.
    """
    title = f"Evaluation of {report.namespace}, cycle {report.number}"
    return page(title, sections(report), style=_STYLE)


def _variants(report: CycleReport, width: int) -> Iterator[Part]:
    if report.variants:
        more = ("difference_ends", "counts", "p") if width >= _WIDE else ()
        columns = ("ranking", "mean", "judged", "difference", *more, "verdict", "needed")
        yield in_terminal(words.variants(report, columns))
    whole = (
        "ranking", "verdict", "mean", "mean_ends", "difference", "difference_ends", "judged", "counts", "p",
        "needed",
    )  # fmt: skip
    explained = Paragraph(
        "judged@10 is the share of judged results among the first ten. Unjudged results count as not "
        "relevant, so a policy with a lower share is undervalued. Needed: additional queries until a "
        "verdict, if mean and spread stay the same. A baseline is a trivial ranking without Slowwave.",
        "faint",
    )
    picture = Picture(
        partial(cycle_plots.differences, report), "Difference of each policy to the returned results"
    )
    note = f"{words.TITLE}, compared with the returned results on the same queries"
    yield on_page(Section("Policies compared", [words.variants(report, whole), explained, picture], note))


def _metrics(report: CycleReport) -> Section:
    marks = " · ".join(f"{mark} {name}" for name, mark in _MARKS.items())
    rows = []
    for variant in report.variants:
        row: list[object] = [variant.name]
        for metric, mean in variant.means.items():
            row += [_marked(words.number(mean.mean), variant.against.get(metric)), words.interval(mean)]
        rows.append(row)
    table = Table(
        ["ranking", *numbers(*(part for title in METRICS.values() for part in (title, "95 %")))], rows
    )
    note = f"mean over queries, its 95 % interval, and comparison with the returned results: {marks}"
    picture = Picture(partial(cycle_plots.distribution, report), "Queries by quality of the returned results")
    return Section("Every metric", [table, picture], note)


def _marked(value: str, comparison: Comparison | None) -> object:
    if comparison is None:
        return f"{value} \N{FIGURE SPACE}"
    return verdict(comparison.verdict)._replace(text=f"{value} {_MARKS[comparison.verdict]}")


def _channels(report: CycleReport) -> Iterator[Part]:
    columns = ("channel", "results", "covered", "exclusive", "coverage", "ecr", "ends")
    if not report.channels.is_empty():
        yield in_terminal(
            words.channels(report, [column for column in columns if column not in ("coverage", "ends")])
        )
    parts = (
        Picture(partial(cycle_plots.channels, report), "Contribution of the channels"),
        words.channels(report, columns),
        Paragraph(words.found_by(report), "faint"),
    )
    note = "results found by each channel, and by only one (ECR: exclusive contribution rate)"
    yield on_page(Section("Channels", parts, note))


def _course(report: CycleReport) -> Iterator[Part]:
    since = [Paragraph(line) for line in words.since(report)]
    yield in_terminal(*since)
    parts: list[Part] = [
        *since,
        Picture(partial(cycle_plots.course, report), "Returned results, by cycle"),
        *(_changed(report.changed) if report.changed else ()),
    ]
    yield on_page(Section("Since the previous cycle", parts, "each cycle has its own queries"))


def _changed(changed: Changed) -> Iterator[Part]:
    rows = [
        [row["variant"], *(words.then_and_now(row, metric) for metric in METRICS)]
        for row in changed.metrics.iter_rows(named=True)
    ]
    yield Table(["ranking", *numbers(*METRICS.values())], rows)
    fell = changed.moved.filter(pl.col("change") < 0).head(MOVED)
    rose = changed.moved.filter(pl.col("change") > 0).reverse().head(MOVED)
    for title, moved in (("Fell most", fell), ("Rose most", rose)):
        cells = [
            [_cut(row["query"]), words.number(row["before"]), words.number(row["now"]),
             words.number(row["change"], signed=True)]
            for row in moved.iter_rows(named=True)
        ]  # fmt: skip
        if cells:
            yield Section(title, [Table(["query", *numbers("before", "now", "change")], cells)])


def _judges(report: CycleReport) -> Iterator[Part]:
    if report.judges:
        table = Table([Column(""), Column("", "number")], words.plain_rows(report.judges))
        yield on_page(Section("Judges", [table], "agreement with labels by hand, and its 95 % interval"))


def _compared(title: str, note: str, figures: dict[str, dict[str, Any]]) -> Iterator[Part]:
    if figures:
        names = list(dict.fromkeys(name for row in figures.values() for name in row))
        rows = [
            [variant, *(words.shown(row.get(name)) for name in names)] for variant, row in figures.items()
        ]
        columns = numbers(*(name.replace("_", " ") for name in names))
        yield on_page(Section(title, [Table(["ranking", *columns], rows)], note))


# -- queries ---------------------------------------------------------------------------------------


def _queries(report: CycleReport, width: int) -> Iterator[Part]:
    logged = report.scores.filter(pl.col("variant") == LOGGED).sort(MAIN, "query_id")
    if not report.scores.is_empty():
        yield in_terminal(_worst(logged, width))
    if not logged.is_empty():
        yield on_page(*_every_query(report, logged))


def _worst(logged: pl.DataFrame, width: int) -> Table:
    """Return the worst queries as a table."""
    room = max(20, width - len(words.TITLE) - 3)
    rows = [
        [_cut(query, room, " …"), words.number(value)]
        for query, value in logged.head(_WORST).select("query", MAIN).iter_rows()
    ]
    return Table([Column("worst queries", whole=True, cut=True), Column(words.TITLE, "number")], rows)


def _every_query(report: CycleReport, logged: pl.DataFrame) -> Iterator[Section]:
    """Yield the worst and best queries with details, and a list of all.

    Args:
        report: the cycle.
        logged: scores of the returned results, worst first.
    """
    worst = logged.head(DETAILED)
    best = logged.slice(DETAILED).reverse().head(DETAILED)
    by_query = _QueryDetails(report, [*worst["query_id"], *best["query_id"]])
    for title, rows in ((f"The {worst.height} worst queries", worst), (f"The {best.height} best", best)):
        if not rows.is_empty():
            parts = [by_query.details(row) for row in rows.iter_rows(named=True)]
            yield Section(title, parts, f"by {words.TITLE} of the returned results")
    shown = logged.head(LISTED)
    note = "" if shown.height == logged.height else f"the {LISTED:,} worst of {logged.height:,}"
    cells = [
        [_cut(row["query"]), words.shown(row["searches"]), words.shown(row["relevant"]),
         *(words.number(row[name]) for name in ("judged_10", *METRICS))]
        for row in shown.iter_rows(named=True)
    ]  # fmt: skip
    listed = Table(["query", *numbers("searches", "relevant", "judged@10", *METRICS.values())], cells)
    line = f"{counted(shown.height, 'query', 'queries')}, worst first"
    yield Section("All queries", [Expandable(line, [listed])], note)


class _QueryDetails:
    """Scores and grades of some queries, read once."""

    def __init__(self, report: CycleReport, names: list[str]) -> None:
        self._order = {variant.name: at for at, variant in enumerate(report.variants)}
        self._scores = _grouped(report.scores, names)
        self._grades = _grouped(report.grades, names)

    def details(self, logged: dict[str, Any]) -> Expandable:
        """Return one query with every policy's metrics and its judgments."""
        rows = sorted(self._scores.get(logged["query_id"], []), key=lambda row: self._order[row["variant"]])
        metrics = [
            [row["variant"], *(words.number(row[name]) for name in (*METRICS, "judged_10"))] for row in rows
        ]
        grades = self._grades.get(logged["query_id"], [])
        judged = [
            [row["title"], "–" if row["grade"] is None else f"{row['grade']:g}", row["source"],
             row["memory_id"]]
            for row in grades[:_GRADES]
        ]  # fmt: skip
        more = f"… and {len(grades) - _GRADES:,} more judgments." if len(grades) > _GRADES else ""
        inside = (
            Table(["ranking", *numbers(*METRICS.values(), "judged@10")], metrics),
            Table(["title", Column("grade", "number"), "from", "memory"], judged),
            Paragraph(more if judged else "No judgments.", "faint"),
        )
        return Expandable(_cut(logged["query"]), inside, figure=words.number(logged[MAIN]))


def _grouped(rows: pl.DataFrame, names: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows.filter(pl.col("query_id").is_in(list(names))).iter_rows(named=True):
        groups.setdefault(row["query_id"], []).append(row)
    return groups


def _policies(report: CycleReport) -> Section:
    rows = [
        [variant.name, words.role(variant), list(variant.without), variant.policy_version]
        for variant in report.variants
    ]
    table = Table(["ranking", "role", "without channels", "policy"], rows)
    return Section("Policies", [table], "a policy is identified by its hash")


def _cut(query: str | None, most: int = _QUERY, end: str = "…") -> str:
    """Return a query in a line of at most `most` characters."""
    text = " ".join((query or "").split())
    return text if len(text) <= most else text[: most - len(end)] + end
