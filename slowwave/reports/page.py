"""The feedback report as one page that needs nothing but itself."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape
from string import Template

import polars as pl

from slowwave.reports import plots, wording
from slowwave.reports.feedback import FeedbackReport

_PAGE = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<title>$title</title>
<style>
:root {
  color-scheme: light dark;
  --ink: #24292f; --faint: #656d76; --line: #d8dee4; --ground: #f6f8fa; --card: #fff;
}
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --faint: #8d96a0; --line: #30363d; --ground: #0d1117; --card: #161b22; }
}
body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 840px; margin: 0 auto; padding: 24px 16px 64px; }
h1 { font-size: 24px; margin: 0 0 4px; }
h2 { font-size: 17px; margin: 32px 0 8px; }
p { margin: 0 0 8px; }
.faint, small { color: var(--faint); font-weight: normal; }
.waits { border-left: 4px solid #e69f00; padding: 6px 12px; background: var(--card); }
img { display: block; width: 100%; height: auto; margin: 12px 0; }
img { border: 1px solid var(--line); border-radius: 6px; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; background: var(--card); font-size: 14px; }
th, td { text-align: left; padding: 5px 10px; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { color: var(--faint); font-weight: 600; }
.text { white-space: normal; overflow-wrap: anywhere; min-width: 9em; }
.n { text-align: right; font-variant-numeric: tabular-nums; }
td.id { font: 12px ui-monospace, monospace; }
</style>
</head>
<body>
<main>
<h1>$title</h1>
$body
</main>
</body>
</html>
""")
_KINDS = {"title": ' class="text"', "memory": ' class="id"'}


def feedback_page(report: FeedbackReport) -> str:
    """The report as HTML: pictures and tables inside it, no script, nothing from the network.

    Raises:
        SlowwaveError: Matplotlib is not installed.
    """
    days = report.days
    body = [
        _paragraph(wording.period(report) + f", as of {report.as_of:%Y-%m-%d %H:%M} UTC", "faint"),
        _paragraph(wording.summary(report)),
        _paragraph(wording.waiting(report), "waits"),
        _image(plots.acts_by_day(report.acts, days), "Acts of feedback by tier and day"),
        _verdicts(report),
        _image(plots.rates_by_day(report.verdicts, days), "Shown memories used, cited and ignored by day"),
        _rates(report),
        _image(plots.effectiveness(report.effectiveness), "Memories by effectiveness"),
        _image(plots.strength(report.strength), "Memories by present strength"),
    ]
    body += [_listing(one) for one in wording.listings(report)]
    body.append(_image(plots.promotions_by_day(report.reasons, days), "Decisions about promotion by day"))
    title = f"Feedback of namespace {report.namespace}"
    return _PAGE.substitute(title=escape(title), body="\n".join(filter(None, body)))


def _verdicts(report: FeedbackReport) -> str:
    total = max(int(report.acts["acts"].sum()), 1)
    counted = report.acts.group_by("tier", "verdict").agg(pl.col("acts", "imported").sum())
    rows = counted.sort("tier", "acts", "verdict", descending=[False, True, False])
    cells = [
        [tier, verdict, f"{acts:,}", f"{100 * acts / total:.1f} %", f"{imported:,}"]
        for tier, verdict, acts, imported in rows.iter_rows()
    ]
    return _table(["tier", "verdict", "acts", "share", "imported"], cells, numbers=[2, 3, 4])


def _rates(report: FeedbackReport) -> str:
    cells = [
        [
            row["what"], f"{100 * row['rate']:.1f} %", f"{100 * row['low']:.1f} – {100 * row['high']:.1f} %",
            f"{row['count']:,}",
        ]
        for row in report.rates.iter_rows(named=True)
        if row["rate"] is not None
    ]  # fmt: skip
    heading = _paragraph(f"All days together: {wording.judged(report)}.", "faint") if cells else ""
    return heading + _table(["", "share", "95 % interval", "memories"], cells, numbers=[1, 2, 3])


def _listing(one: wording.Listing) -> str:
    heading = f"<h2>{escape(one.title)} <small>{escape(one.note)}</small></h2>\n"
    return heading + _table(wording.headings(one.columns), one.cells(), numbers=one.numeric())


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Sequence[int]) -> str:
    """A table with the columns `numbers` set to the right."""
    kinds = {at: _KINDS[name] for at, name in enumerate(columns) if name in _KINDS}
    kinds |= dict.fromkeys(numbers, ' class="n"')

    def line(tag: str, cells: Sequence[str]) -> str:
        inner = "".join(f"<{tag}{kinds.get(at, '')}>{escape(text)}</{tag}>" for at, text in enumerate(cells))
        return f"<tr>{inner}</tr>"

    body = [line("td", row) for row in rows]
    lines = "\n".join([line("th", columns), *body])
    return f'<div class="scroll"><table>\n{lines}\n</table></div>' if body else ""


def _paragraph(text: str, kind: str = "") -> str:
    if not text:
        return ""
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def _image(svg: bytes, alt: str) -> str:
    data = base64.b64encode(svg).decode()
    return f'<img alt="{escape(alt)}" src="data:image/svg+xml;base64,{data}">'
