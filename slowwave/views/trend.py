"""Is it getting better: the sentence and the table of weeks, the same in the terminal and on pages."""

from __future__ import annotations

from functools import partial
from itertools import chain
from typing import Any

import polars as pl

from slowwave.evaluation.trend import Trend
from slowwave.scoring.evaluation.trend import HIT, Course, short, signed
from slowwave.scoring.evaluation.unused_baseline import ALL, RATED
from slowwave.scoring.feedback.learned import USE
from slowwave.scoring.measures import MRR, Measure
from slowwave.views.section import ANY, Column, Mark, Paragraph, Part, Picture, Section, Table, numbers
from slowwave.views.trend_plots import by_week

TITLE = "Is it getting better?"
_WITHOUT = {"use": "any use", "ratings": "ratings", "words": "learned words", "keys": "search keys"}
_VERDICTS = {
    "better": "better", "worse": "worse", "equivalent": "the same within the margin",
    "insufficient evidence": "not surely better or worse",
}  # fmt: skip
NOTE = "by week (Monday, UTC), of all days"
TOO_FEW = "too few"
NOT_OVER = "so far"
SHOWN = 12  # weeks of a table in the terminal
ON_A_PAGE = 26
_MIDDLE, _WIDE = 108, 128  # from which there is room for counts, and for two figures
_HOW = (
    "The judged searches of a week, ranked without what was learned and with it; where nothing was applied, "
    "as it would have been. Each question counts once; the bar on a point, and the brackets, are the 95 % "
    "interval of the difference. No two weeks have the same questions, and judgments from use favour what "
    "was shown."
)


def section(trend: Trend, *, width: int = ANY, most: int = SHOWN, drawn: bool = False) -> Section:
    """The sentence and the weeks of one namespace.

    Args:
        trend: of one namespace.
        width: characters that there is room for; the narrower, the fewer columns.
        most: weeks, the last ones.
        drawn: with a picture of the weeks and how to read it.
    """
    what = "Hit rate at 1, MRR@5, changed searches and comparisons by week"
    shown: list[list[Part]] = [
        [*([Picture(partial(by_week, mine), what)] if drawn else []), week_table(mine, width, most)]
        for mine in _weeks(trend)
    ]
    parts = [*never_used(trend), *_beside(_said(trend), shown)]
    how = [Paragraph(_HOW, "faint")] if drawn and len(parts) > 1 else []
    return Section(TITLE, [*parts, *how], NOTE)


def never_used(trend: Trend) -> list[Part]:
    """The searches of one namespace beside those of a memory that nobody used (rule 8.3), if they differ."""
    rows = trend.beside.filter(pl.col("changed").sum().over("kind") > 0, pl.col("questions") > 0)
    told = [f"{text[0].upper()}{text[1:]}." for text in comparisons(trend)]
    if not told:
        return []
    columns = [Column("without", whole=True), Column("answers", whole=True), *numbers("questions", "changed")]
    columns += [*numbers(str(MRR)), Column("difference (95 %)", whole=True)]
    cells: list[list[object]] = [
        [
            _WITHOUT[row["kind"]], row["answers"], f"{row['questions']:,}", f"{row['changed']:,}",
            f"{short(row['without'])} → {short(row['with'])}", _span(row),
        ]
        for row in rows.iter_rows(named=True)
    ]  # fmt: skip
    return [*(Paragraph(text) for text in told), Table(columns, cells)]


def comparisons(trend: Trend) -> list[str]:
    """Whether use makes searches better than if nobody had ever given feedback, a sentence for each group."""
    rows = trend.beside.filter((pl.col("kind") == USE) & (pl.col("questions") > 0))
    if not rows["changed"].sum():
        return []
    found = []
    for row in rows.filter(pl.col("answers") != RATED).iter_rows(named=True):
        whose = "" if row["answers"] == ALL else " of answers that had no feedback before"
        ends = f"{signed(row['low'])} to {signed(row['high'])}"
        found.append(
            f"beside a memory nobody used, searches{whose} are {_VERDICTS[row['verdict']]}: {MRR} "
            f"{signed(row['difference'])} ({ends}, {row['questions']:,} questions)"
        )
    return found


def _span(row: dict[str, Any]) -> object:
    mark = "better" if row["low"] > 0 else "worse" if row["high"] < 0 else ""
    return Mark(f"{signed(row['difference'])} ({signed(row['low'])} to {signed(row['high'])})", mark)


def _weeks(trend: Trend) -> list[pl.DataFrame]:
    """The weeks of each kind of which anything is said."""
    told = _told(trend)
    return [mine for kind, mine in trend.kinds().items() if kind in told or not told]


def _beside(said: list[Part], shown: list[list[Part]]) -> list[Part]:
    """What is said of each kind before what is shown of it."""
    if len(said) != len(shown):
        return [*said, *chain.from_iterable(shown)]
    return list(chain.from_iterable([one, *parts] for one, parts in zip(said, shown, strict=True)))


def sentences(trend: Trend) -> list[str]:
    """What may be said of the whole, a sentence for each kind of what is learned."""
    if not trend.courses:
        return ["too little evidence: no search has been judged"]
    told = _told(trend)
    several = len(told) > 1
    return [one.describe(named=several) for one in trend.courses if one.kind in told]


def _told(trend: Trend) -> list[str]:
    """Kinds of what is learned that anything is said of: not one that changed nothing beside one that did."""
    kinds = list(dict.fromkeys(one.kind for one in trend.courses))
    weeks = trend.weeks.filter((pl.col("changed") + pl.col("would_change") + pl.col("applied")) > 0)
    acted = [kind for kind in kinds if kind in weeks["kind"]]
    return acted or kinds


def plain(trend: Trend) -> dict[str, Any]:
    """For programs."""
    return {
        "weeks": trend.weeks.drop("namespace").to_dicts(),
        "course": [_figures(one) for one in trend.courses],
        "sentences": [*comparisons(trend), *sentences(trend)],
        "beside_never_used": trend.beside.drop("namespace").to_dicts(),
    }


def _figures(one: Course) -> dict[str, Any]:
    from dataclasses import asdict

    return {"direction": one.direction, **asdict(one)}


def _said(trend: Trend) -> list[Part]:
    return [Paragraph(f"{text[0].upper()}{text[1:]}.") for text in sentences(trend)]


def week_table(weeks: pl.DataFrame, width: int = ANY, most: int = ON_A_PAGE) -> Table:
    """The last weeks of one namespace and kind; of the columns those that there is room for."""
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
        cells += [_apart(row, MRR), _changed(row)]
        cells += [_percent(row["changed_of_all"])] if wide else []
        cells += [_won(row)] if middle else []
        rows.append(cells)
    return Table(columns, rows, left_out=max(weeks.height - most, 0), option="the earlier ones: --json")


def _both(row: dict[str, Any], one: Measure) -> object:
    """A figure without what was learned, and with it."""
    without, learned = row[one.column], row[f"{one.column}_learned"]
    return Mark(TOO_FEW, "faint") if without is None else f"{short(without)} → {short(learned)}"


def _apart(row: dict[str, Any], one: Measure) -> object:
    """Their difference, with its interval."""
    apart, low, high = (row[f"{one.column}_{part}"] for part in ("difference", "low", "high"))
    if apart is None:
        return ""
    mark = "better" if low > 0 else "worse" if high < 0 else ""
    same = not (apart or low or high)
    return Mark("the same" if same else f"{signed(apart)} ({signed(low)} to {signed(high)})", mark)


def _changed(row: dict[str, Any]) -> object:
    """Of the judged searches; also of how many it would change if all of it were applied."""
    whole = (row["changed"] + row["would_change"]) / max(row["measured"], 1)
    if not row["would_change"]:
        return _percent(row["changed_of_measured"])
    if not row["applied"]:
        return Mark(f"would: {_percent(whole)}", "faint")
    return f"{100 * row['changed_of_measured']:.0f} of {_percent(whole)}"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f} %"


def _won(row: dict[str, Any]) -> str:
    """Of the searches that showed both in turn, where any did."""
    shown = row["wins"] + row["ties"] + row["losses"]
    return f"{row['wins']:,} – {row['losses']:,} of {shown:,}" if shown else ""
