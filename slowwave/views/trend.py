"""Quality trend by week: sentences and table, for terminal and pages."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from itertools import chain
from typing import Any

import polars as pl

from slowwave.common.pluralize import counted
from slowwave.evaluation.trend import Trend
from slowwave.scoring.evaluation.comparison import TIE
from slowwave.scoring.evaluation.trend import HIT, short, signed
from slowwave.scoring.evaluation.unused_baseline import ALL, RATED
from slowwave.scoring.feedback.learned import USE
from slowwave.scoring.measures import MRR, Measure
from slowwave.views.section import ANY, Column, Mark, Paragraph, Part, Picture, Section, Table, numbers
from slowwave.views.trend_plots import UNUSED, by_week

TITLE = "Is it getting better?"
_WITHOUT = {"use": UNUSED, "ratings": "ratings", "words": "learned words", "keys": "search keys"}
_HEADLINES = {
    "better": f"Searches{{}} are better than {UNUSED}",
    "worse": f"Searches{{}} are worse than {UNUSED}",
    "equivalent": f"No difference found: searches{{}} are as good as {UNUSED}",
    "insufficient evidence": f"No difference found yet between searches{{}} and those {UNUSED}",
}
_MEASURE = f"{MRR} is 1 if a right memory comes first, 0.5 if second, 0 if not among five."
NOTE = "by week (Monday, UTC), of all days"
TOO_FEW = "too few"
NOT_OVER = "so far"
SHOWN = 12  # weeks of a table in the terminal
ON_A_PAGE = 26
_MIDDLE, _WIDE = 108, 128  # minimum width for counts, and for two figures (characters)
_HOW = (
    "The judged searches of a week, ranked without learned data and with it; if nothing was applied, "
    "as it would have been. Each question counts once. The bar on a point, and the brackets, are the 95 % "
    "interval of the difference. Weeks have different questions, and judgments from use favour the "
    "returned results."
)


def section(trend: Trend, *, width: int = ANY, most: int = SHOWN, drawn: bool = False) -> Section:
    """Return sentences and weeks of one namespace.

    Args:
        trend: of one namespace.
        width: available characters; a narrow terminal gets fewer columns.
        most: number of weeks, the latest.
        drawn: include a plot of the weeks and how to read it.
    """
    alt = "Hit rate at 1, MRR@5, changed searches and comparisons by week"
    shown: list[list[Part]] = [
        [*([Picture(partial(by_week, weeks), alt)] if drawn else []), week_table(weeks, width, most)]
        for weeks in _weeks(trend)
    ]
    parts = [*never_used(trend), *_interleave(_paragraphs(trend), shown)]
    how = [Paragraph(_HOW, "faint")] if drawn and len(parts) > 1 else []
    return Section(TITLE, [*parts, *how], NOTE)


def never_used(trend: Trend) -> list[Part]:
    """Compare a namespace's searches with those if nobody had ever rated (rule 8.3).

    Empty if they do not differ.
    """
    rows = trend.beside.filter(pl.col("changed").sum().over("kind") > 0, pl.col("questions") > 0)
    if not (texts := comparisons(trend)):
        return []
    texts = [f"{texts[0]}. {_MEASURE}", *(f"{text}." for text in texts[1:])]
    columns = [Column("without", whole=True), Column("answers", whole=True), *numbers("questions", "changed")]
    columns += [*numbers(str(MRR)), Column("difference (95 %)", whole=True)]
    cells: list[list[object]] = [
        [
            _WITHOUT[row["kind"]], row["answers"], f"{row['questions']:,}", f"{row['changed']:,}",
            f"{short(row['without'])} → {short(row['with'])}",
            _change(row["difference"], row["low"], row["high"]),
        ]
        for row in rows.iter_rows(named=True)
    ]  # fmt: skip
    return [*(Paragraph(text) for text in texts), Table(columns, cells)]


def unused_weeks(trend: Trend) -> pl.DataFrame | None:
    """Return the weeks of one namespace beside those if nobody had ever rated; None if none differs."""
    weeks = trend.kinds().get(USE)
    return weeks if weeks is not None and _effect(weeks) else None


def weeks_to_show(trend: Trend) -> pl.DataFrame | None:
    """Return the weeks of the one picture: of all use, else of the first kind of learning with an effect."""
    weeks, kinds = unused_weeks(trend), kinds_to_plot(trend)
    return trend.kinds()[kinds[0]] if weeks is None and kinds else weeks


def headline(trend: Trend) -> str:
    """Say whether searches are better than if nobody had ever rated (rule 8.3).

    While nothing has changed a judged search, it says that both are the same, and what would change.
    """
    weeks, texts = unused_weeks(trend), comparisons(trend)
    if weeks is None or not texts:
        return _unchanged(trend)
    difference = weeks[f"{MRR.column}_difference"].drop_nulls()
    better, worse = int((difference > TIE).sum()), int((difference < -TIE).sum())
    by_week = f" By week: better in {better:,}, worse in {worse:,}, of {difference.len():,}."
    return f"{texts[0]}. {_MEASURE}{by_week if difference.len() else ''}"


def _unchanged(trend: Trend) -> str:
    """Say what learned data changed, or would change, where ratings changed no judged search."""
    kinds = trend.kinds()
    of = f"of {max((weeks['measured'].sum() for weeks in kinds.values()), default=0):,} judged searches"
    counts = {
        column: " and ".join(
            f"{'use' if kind == USE else _WITHOUT[kind]} {verb} {int(count):,}"
            for kind, weeks in kinds.items()
            if (count := weeks[column].sum())
        )
        for column, verb in (("changed", "changed"), ("would_change", "would change"))
    }
    changed, would = counts["changed"], counts["would_change"]
    if changed:
        return (
            f"It is not sure yet whether searches are better than {UNUSED}: {changed} {of}"
            f"{f', and if all were applied, {would}' if would else ''}."
        )
    same = f"Searches are as {UNUSED}: nothing has changed a judged search."
    return f"{same} If it were applied, {would} {of}." if would else same


def comparisons(trend: Trend) -> list[str]:
    """Return whether ratings and use improve searches, a sentence per group of answers."""
    rows = trend.beside.filter((pl.col("kind") == USE) & (pl.col("questions") > 0))
    if not rows["changed"].sum():
        return []
    texts = []
    for row in rows.filter(pl.col("answers") != RATED).iter_rows(named=True):
        group = "" if row["answers"] == ALL else " of answers without earlier feedback"
        earlier, later = row["improved"], row["changed"] - row["improved"]
        texts.append(
            f"{_HEADLINES[row['verdict']].format(group)}: a right memory came earlier for {earlier:,} of "
            f"{counted(row['questions'], 'judged question')}, later for {later:,} ({MRR} "
            f"{signed(row['difference'])}, 95 % interval {signed(row['low'])} to {signed(row['high'])})"
        )
    return texts


def _change(difference: float, low: float, high: float) -> Mark:
    """Return a difference with its interval."""
    mark = "better" if low > 0 else "worse" if high < 0 else ""
    return Mark(f"{signed(difference)} ({signed(low)} to {signed(high)})", mark)


def _weeks(trend: Trend) -> list[pl.DataFrame]:
    """Return the weeks of each kind that is shown."""
    kinds = _kinds_shown(trend)
    return [own for kind, own in trend.kinds().items() if kind in kinds or not kinds]


def _interleave(texts: list[Part], shown: list[list[Part]]) -> list[Part]:
    """Put the text of each kind before its tables."""
    if len(texts) != len(shown):
        return [*texts, *chain.from_iterable(shown)]
    return list(chain.from_iterable([text, *parts] for text, parts in zip(texts, shown, strict=True)))


def sentences(trend: Trend) -> list[str]:
    """Return the conclusion about each kind of learning."""
    if not trend.courses:
        return ["too little evidence: no search has been judged"]
    kinds = _kinds_shown(trend)
    several = len(kinds) > 1
    return [course.describe(named=several) for course in trend.courses if course.kind in kinds]


def kinds_to_plot(trend: Trend) -> list[str]:
    """Return the kinds of learning that changed a judged search, or would have; else a plot is empty."""
    return [
        kind
        for kind, weeks in trend.kinds().items()
        if _effect(weeks) or weeks.select("applied").sum().item()
    ]


def _effect(weeks: pl.DataFrame) -> int:
    """Count the judged searches that were changed, or would have been."""
    return int(weeks.select((pl.col("changed") + pl.col("would_change")).sum()).item())


def _kinds_shown(trend: Trend) -> list[str]:
    """Return the kinds with an effect; if none has one, all kinds."""
    kinds = list(dict.fromkeys(course.kind for course in trend.courses))
    acted = kinds_to_plot(trend)
    return [kind for kind in kinds if kind in acted] or kinds


def plain(trend: Trend) -> dict[str, Any]:
    """Return JSON data of a trend."""
    return {
        "weeks": trend.weeks.drop("namespace").to_dicts(),
        "course": [{"direction": course.direction, **asdict(course)} for course in trend.courses],
        "sentences": [*comparisons(trend), *sentences(trend)],
        "beside_never_used": trend.beside.drop("namespace").to_dicts(),
    }


def _paragraphs(trend: Trend) -> list[Part]:
    return [Paragraph(f"{text[0].upper()}{text[1:]}.") for text in sentences(trend)]


def week_table(weeks: pl.DataFrame, width: int = ANY, most: int = ON_A_PAGE) -> Table:
    """Return the table of the last weeks of one namespace and kind.

    A narrow terminal gets fewer columns.
    """
    middle, wide = width >= _MIDDLE, width >= _WIDE
    columns = [Column("week", whole=True), *numbers(*(["judged"] if middle else []), "questions")]
    columns += numbers(*([str(HIT)] if wide else []), str(MRR))
    columns += [Column("difference (95 %)", whole=True), *numbers("changed")]
    columns += numbers(*(["of all"] if wide else []), *(["won – lost"] if middle else []))
    rows: list[list[object]] = []
    for row in weeks.tail(most).iter_rows(named=True):
        cells: list[object] = [Mark(f"{row['week']}", note="" if row["over"] else NOT_OVER)]
        cells += [f"{row['measured']:,} of {row['searches']:,}"] if middle else []
        cells += [f"{row['questions']:,}", *([_both(row, HIT)] if wide else []), _both(row, MRR)]
        cells += [_difference(row), _changed(row)]
        cells += [_percent(row["changed_of_all"])] if wide else []
        cells += [_won(row)] if middle else []
        rows.append(cells)
    return Table(columns, rows, left_out=max(weeks.height - most, 0), option="the earlier ones: --json")


def _both(row: dict[str, Any], measure: Measure) -> object:
    """Return a figure without learned data, and with it."""
    without, learned = row[measure.column], row[f"{measure.column}_learned"]
    return Mark(TOO_FEW, "faint") if without is None else f"{short(without)} → {short(learned)}"


def _difference(row: dict[str, Any]) -> object:
    """Return the difference of MRR@5, with its interval."""
    figures = [row[f"{MRR.column}_{part}"] for part in ("difference", "low", "high")]
    if figures[0] is None:
        return ""
    return _change(*figures) if any(figures) else Mark("the same")


def _changed(row: dict[str, Any]) -> object:
    """Return the share of judged searches changed, and how many full application would change."""
    whole = (row["changed"] + row["would_change"]) / max(row["measured"], 1)
    if not row["would_change"]:
        return _percent(row["changed_of_measured"])
    if not row["applied"]:
        return Mark(f"would: {_percent(whole)}", "faint")
    return f"{100 * row['changed_of_measured']:.0f} of {_percent(whole)}"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f} %"


def _won(row: dict[str, Any]) -> str:
    """Return wins and losses of interleaved searches, or ""."""
    shown = row["wins"] + row["ties"] + row["losses"]
    return f"{row['wins']:,} – {row['losses']:,} of {shown:,}" if shown else ""
