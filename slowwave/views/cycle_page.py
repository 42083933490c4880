"""The report of an evaluation cycle as one page that needs nothing but itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import polars as pl

from slowwave.scoring.evaluation import Comparison
from slowwave.views import cycle_plots
from slowwave.views import cycle_wording as words
from slowwave.views.cycle import LOGGED, MAIN, METRICS, CycleReport, Standing
from slowwave.views.html import Cell, document, escape, image, paragraph, table

DETAILED = 50  # queries at each end that are shown with everything
LISTED = 2_000  # queries in the long table
MOVED = 10  # queries that rose or fell most
_GRADES = 30  # judgments of one query
_QUERY = 300  # characters of a query

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
_VERDICTS = {"insufficient evidence": "undecided"}
_MARKS = {"better": "▲", "worse": "▼", "equivalent": "=", "insufficient evidence": "?"}


def cycle_page(report: CycleReport) -> str:
    """The report as HTML: pictures and tables inside it, no script, nothing from the network.

    Raises:
        SlowwaveError: Matplotlib is not installed.
    """
    body = [
        paragraph(words.headline(report)),
        paragraph(words.unfinished(report), "waits"),
        paragraph(words.outcome(report)),
        table(["", ""], [(name, (told, "text")) for name, told in words.facts(report)], numbers=[]),
        *_variants(report),
        image(cycle_plots.differences(report), "Difference of each ranking to what was shown"),
        *_metrics(report),
        *_channels(report),
        *_course(report),
        *_judges(report),
        *_compared("Shadow", "how far other rankings' results are from those that were shown", report.shadow),
        *_compared("Interleaving", "whose results were used when two took turns", report.interleaving),
        *_queries(report),
        *_policies(report),
    ]
    return document(f"Evaluation of {report.namespace}, cycle {report.number}", body, style=_STYLE)


def _variants(report: CycleReport) -> Iterator[str]:
    yield _heading("Rankings", f"{words.TITLE}, beside what searches showed on the same queries")
    columns = (
        "ranking", "verdict", words.TITLE, "95 %", "difference", "95 %", "judged@10", "won/tied/lost",
        "p", "needed",
    )  # fmt: skip
    yield table(columns, [_variant(one) for one in report.variants], numbers=range(2, len(columns)))
    yield paragraph(
        "judged@10 is the share of the first ten results that anybody judged: what is not judged counts as "
        "not relevant, so a ranking with a lower share is undervalued. Needed: how many more queries would "
        "decide, if mean and spread stay as they are. A baseline is trivial: had without this project.",
        "faint",
    )


def _variant(one: Standing) -> list[Cell]:
    mean, found = one.means[MAIN], one.against.get(MAIN)
    name = f"{one.name} (baseline)" if one.role == "baseline" else one.name
    measured, judged = (words.number(mean.mean), words.interval(mean)), words.number(one.judged)
    if found is None:
        return [name, "", *measured, "", "", judged, "", "", ""]
    return [
        name, _verdict(found.verdict), *measured, words.number(found.difference, signed=True),
        words.interval(found, signed=True), judged, f"{found.wins:,}/{found.ties:,}/{found.losses:,}",
        words.probability(found.p_value), words.needed(one),
    ]  # fmt: skip


def _verdict(verdict: str) -> tuple[str, str]:
    return verdict, _VERDICTS.get(verdict, verdict)


def _metrics(report: CycleReport) -> Iterator[str]:
    marks = " · ".join(f"{mark} {verdict}" for verdict, mark in _MARKS.items())
    yield _heading(
        "Every metric", f"mean over queries, its 95 % interval, and beside what was shown: {marks}"
    )
    columns = ["ranking", *(part for title in METRICS.values() for part in (title, "95 %"))]
    rows = []
    for one in report.variants:
        row: list[Cell] = [one.name]
        for metric, mean in one.means.items():
            row += [_marked(words.number(mean.mean), one.against.get(metric)), words.interval(mean)]
        rows.append(row)
    yield table(columns, rows, numbers=range(1, len(columns)))
    yield image(cycle_plots.distribution(report), "Queries by what was shown of them")


def _marked(value: str, found: Comparison | None) -> Cell:
    if found is None:
        return f"{value} \N{FIGURE SPACE}"
    return f"{value} {_MARKS[found.verdict]}", _verdict(found.verdict)[1]


def _channels(report: CycleReport) -> Iterator[str]:
    yield _heading("Channels", "which found what was shown, and what only one of them found (ECR)")
    yield image(cycle_plots.channels(report), "Contribution of the channels")
    names = ("results", "covered", "exclusive", "coverage", "ecr")
    rows = [
        [
            row["channel"],
            *(words.shown(row[name]) for name in names),
            words.ends(row["ecr_low"], row["ecr_high"]),
        ]
        for row in report.channels.iter_rows(named=True)
    ]
    columns = ["channel", "results", "covered", "exclusive", "coverage", "ECR", "95 %"]
    yield table(columns, rows, numbers=range(1, len(columns)))
    yield paragraph(words.found_by(report), "faint")


def _course(report: CycleReport) -> Iterator[str]:
    yield _heading("Since the cycle before", "each cycle has the queries of its own days")
    yield from (paragraph(line) for line in words.since(report))
    yield image(cycle_plots.course(report), "What was shown, by cycle")
    changed = report.changed
    if changed is None:
        return
    rows = [
        [row["variant"], *(words.then_and_now(row, metric) for metric in METRICS)]
        for row in changed.metrics.iter_rows(named=True)
    ]
    yield table(["ranking", *METRICS.values()], rows, numbers=range(1, len(METRICS) + 1))
    fell = changed.moved.filter(pl.col("change") < 0).head(MOVED)
    rose = changed.moved.filter(pl.col("change") > 0).reverse().head(MOVED)
    for title, moved in (("Fell most", fell), ("Rose most", rose)):
        cells = [
            [_cut(row["query"]), words.number(row["before"]), words.number(row["now"]),
             words.number(row["change"], signed=True)]
            for row in moved.iter_rows(named=True)
        ]  # fmt: skip
        if cells:
            yield f"<h3>{title}</h3>"
            yield table(["query", "before", "now", "change"], cells, numbers=[1, 2, 3])


def _judges(report: CycleReport) -> Iterator[str]:
    if report.judges:
        yield _heading("Judges", "agreement with labels by hand, and its 95 % interval")
        yield table(["", ""], words.plain_rows(report.judges), numbers=[1])


def _compared(title: str, note: str, told: dict[str, dict[str, Any]]) -> Iterator[str]:
    if not told:
        return
    names = list(dict.fromkeys(name for one in told.values() for name in one))
    rows = [[variant, *(words.shown(one.get(name)) for name in names)] for variant, one in told.items()]
    yield _heading(title, note)
    columns = ["ranking", *(name.replace("_", " ") for name in names)]
    yield table(columns, rows, numbers=range(1, len(columns)))


# -- queries ---------------------------------------------------------------------------------------


def _queries(report: CycleReport) -> Iterator[str]:
    logged = report.scores.filter(pl.col("variant") == LOGGED).sort(MAIN, "query_id")
    if logged.is_empty():
        return
    worst = logged.head(DETAILED)
    best = logged.slice(DETAILED).reverse().head(DETAILED)
    by_query = _Rows(report, [*worst["query_id"], *best["query_id"]])
    for title, rows in ((f"The {worst.height} worst queries", worst), (f"The {best.height} best", best)):
        if not rows.is_empty():
            yield _heading(title, f"by {words.TITLE} of what was shown")
            yield from (by_query.details(row) for row in rows.iter_rows(named=True))
    shown = logged.head(LISTED)
    note = "" if shown.height == logged.height else f"the {LISTED:,} worst of {logged.height:,}"
    yield _heading("All queries", note)
    columns = ["query", "searches", "relevant", "judged@10", *METRICS.values()]
    cells = (
        [_cut(row["query"]), words.shown(row["searches"]), words.shown(row["relevant"]),
         *(words.number(row[name]) for name in ("judged_10", *METRICS))]
        for row in shown.iter_rows(named=True)
    )  # fmt: skip
    listed = table(columns, cells, numbers=range(1, len(columns)))
    yield f"<details><summary>{shown.height:,} queries, the worst first</summary>{listed}</details>"


class _Rows:
    """What is known of some queries, read once."""

    def __init__(self, report: CycleReport, names: list[str]) -> None:
        self._order = {one.name: at for at, one in enumerate(report.variants)}
        self._scores = _grouped(report.scores, names)
        self._grades = _grouped(report.grades, names)

    def details(self, logged: dict[str, Any]) -> str:
        """One query with every ranking's metrics and its judgments."""
        rows = sorted(self._scores.get(logged["query_id"], []), key=lambda row: self._order[row["variant"]])
        metrics = [
            [row["variant"], *(words.number(row[name]) for name in (*METRICS, "judged_10"))] for row in rows
        ]
        grades = self._grades.get(logged["query_id"], [])
        judged = [
            [
                row["title"] or "",
                "–" if row["grade"] is None else f"{row['grade']:g}",
                row["source"] or "",
                row["memory_id"],
            ]
            for row in grades[:_GRADES]
        ]
        more = f"… and {len(grades) - _GRADES:,} more judgments." if len(grades) > _GRADES else ""
        inside = [
            table(["ranking", *METRICS.values(), "judged@10"], metrics, numbers=range(1, len(METRICS) + 2)),
            table(["title", "grade", "from", "memory"], judged, numbers=[1])
            or paragraph("No judgments.", "faint"),
            paragraph(more, "faint"),
        ]  # fmt: skip
        head = f"<b>{words.number(logged[MAIN])}</b> {escape(_cut(logged['query']))}"
        return f"<details><summary>{head}</summary>{''.join(inside)}</details>"


def _grouped(rows: pl.DataFrame, names: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows.filter(pl.col("query_id").is_in(list(names))).iter_rows(named=True):
        found.setdefault(row["query_id"], []).append(row)
    return found


def _policies(report: CycleReport) -> Iterator[str]:
    yield _heading("Policies", "a ranking is known by the hash of its policy")
    rows = [
        [one.name, words.role(one), ", ".join(one.without), one.policy_version] for one in report.variants
    ]
    yield table(["ranking", "why", "without channels", "policy"], rows, numbers=[])


# -- pieces ----------------------------------------------------------------------------------------


def _heading(title: str, note: str) -> str:
    return f"<h2>{escape(title)}" + (f" <small>{escape(note)}</small></h2>" if note else "</h2>")


def _cut(query: str | None) -> str:
    text = " ".join((query or "").split())
    return text if len(text) <= _QUERY else text[: _QUERY - 1] + "…"
