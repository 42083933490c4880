"""The feedback report as one page that needs nothing but itself."""

from __future__ import annotations

import polars as pl

from slowwave.views import plots, trend, wording
from slowwave.views.feedback import FeedbackReport
from slowwave.views.html import page
from slowwave.views.section import Column, Paragraph, Part, Picture, Table, numbers


def feedback_page(report: FeedbackReport) -> str:
    """The report as HTML: pictures and tables inside it, no script, nothing from the network.

    Raises:
        SlowwaveError: Matplotlib or Jinja2 is not installed.
    """
    days = report.days
    parts: list[Part] = [
        Paragraph(wording.period(report) + f", as of {report.as_of:%Y-%m-%d %H:%M} UTC", "faint"),
        Paragraph(wording.summary(report)),
        Paragraph(wording.waiting(report), "waits"),
        *trend.page_parts(report.trend),
        Picture(plots.acts_by_day(report.acts, days), "Acts of feedback by tier and day"),
        _verdicts(report),
        Picture(plots.rates_by_day(report.verdicts, days), "Shown memories used, cited and ignored by day"),
        *_rates(report),
        Picture(plots.effectiveness(report.effectiveness), "Memories by effectiveness"),
        Picture(plots.strength(report.strength), "Memories by present strength"),
        *wording.listings(report),
        Picture(plots.promotions_by_day(report.reasons, days), "Decisions about promotion by day"),
    ]
    return page(f"Feedback of namespace {report.namespace}", parts)


def _verdicts(report: FeedbackReport) -> Table:
    total = max(int(report.acts["acts"].sum()), 1)
    counted = report.acts.group_by("tier", "verdict").agg(pl.col("acts", "imported").sum())
    rows = counted.sort("tier", "acts", "verdict", descending=[False, True, False])
    cells = [
        [tier, verdict, acts, f"{100 * acts / total:.1f} %", imported]
        for tier, verdict, acts, imported in rows.iter_rows()
    ]
    return Table(["tier", "verdict", "acts", Column("share", "number"), "imported"], cells)


def _rates(report: FeedbackReport) -> list[Part]:
    cells = [
        [
            row["what"], f"{100 * row['rate']:.1f} %", f"{100 * row['low']:.1f} – {100 * row['high']:.1f} %",
            row["count"],
        ]
        for row in report.rates.iter_rows(named=True)
        if row["rate"] is not None
    ]  # fmt: skip
    if not cells:
        return []
    measured = numbers("share", "95 % interval", "memories")
    together = Paragraph(f"All days together: {wording.judged(report)}.", "faint")
    return [together, Table([Column(""), *measured], cells)]
