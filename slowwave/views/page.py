"""The feedback report as one page that needs nothing but itself."""

from __future__ import annotations

from html import escape

import polars as pl

from slowwave.views import plots, wording
from slowwave.views.feedback import FeedbackReport
from slowwave.views.html import document, image, paragraph, table


def feedback_page(report: FeedbackReport) -> str:
    """The report as HTML: pictures and tables inside it, no script, nothing from the network.

    Raises:
        SlowwaveError: Matplotlib is not installed.
    """
    days = report.days
    body = [
        paragraph(wording.period(report) + f", as of {report.as_of:%Y-%m-%d %H:%M} UTC", "faint"),
        paragraph(wording.summary(report)),
        paragraph(wording.waiting(report), "waits"),
        image(plots.acts_by_day(report.acts, days), "Acts of feedback by tier and day"),
        _verdicts(report),
        image(plots.rates_by_day(report.verdicts, days), "Shown memories used, cited and ignored by day"),
        _rates(report),
        image(plots.effectiveness(report.effectiveness), "Memories by effectiveness"),
        image(plots.strength(report.strength), "Memories by present strength"),
    ]
    body += [_listing(one) for one in wording.listings(report)]
    body.append(image(plots.promotions_by_day(report.reasons, days), "Decisions about promotion by day"))
    title = f"Feedback of namespace {report.namespace}"
    return document(title, body)


def _verdicts(report: FeedbackReport) -> str:
    total = max(int(report.acts["acts"].sum()), 1)
    counted = report.acts.group_by("tier", "verdict").agg(pl.col("acts", "imported").sum())
    rows = counted.sort("tier", "acts", "verdict", descending=[False, True, False])
    cells = [
        [tier, verdict, f"{acts:,}", f"{100 * acts / total:.1f} %", f"{imported:,}"]
        for tier, verdict, acts, imported in rows.iter_rows()
    ]
    return table(["tier", "verdict", "acts", "share", "imported"], cells, numbers=[2, 3, 4])


def _rates(report: FeedbackReport) -> str:
    cells = [
        [
            row["what"], f"{100 * row['rate']:.1f} %", f"{100 * row['low']:.1f} – {100 * row['high']:.1f} %",
            f"{row['count']:,}",
        ]
        for row in report.rates.iter_rows(named=True)
        if row["rate"] is not None
    ]  # fmt: skip
    heading = paragraph(f"All days together: {wording.judged(report)}.", "faint") if cells else ""
    return heading + table(["", "share", "95 % interval", "memories"], cells, numbers=[1, 2, 3])


def _listing(one: wording.Listing) -> str:
    heading = f"<h2>{escape(one.title)} <small>{escape(one.note)}</small></h2>\n"
    return heading + table(wording.headings(one.columns), one.cells(), numbers=one.numeric())
