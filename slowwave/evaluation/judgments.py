"""Judgments in force at the end of a day; a judge counts once it agrees with people (rule 6.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from slowwave.evaluation.judging.agreement import agreements
from slowwave.scoring.evaluation import Judgments, resolve
from slowwave.scoring.evaluation.judgments import PAIR, version
from slowwave.store.frames import quote

if TYPE_CHECKING:
    from slowwave.store import Store

_RESOLVED = (
    "judgment_id", "day", *PAIR, "source", "grade", "state", "judge", "principal", "made_at",
)  # fmt: skip


def judgments_until(
    store: Store, day: str, *, namespace: str | None = None, own: bool = False
) -> pl.DataFrame:
    """Return all judgments of query-memory pairs up to the end of a day.

    Args:
        store: Store with the judgments.
        day: Last day (YYYY-MM-DD).
        namespace: Only of this namespace; None is all.
        own: Without judgments that rest on imports: all that the learning gate accepts (rule 7.7).
    """
    where = f"day <= {quote(day)}" + (" AND imported IS NOT TRUE" if own else "")
    rows = store if namespace is None else store.of(namespace)
    return rows.scan("judgments", where, columns=_RESOLVED)


def judgment_list(judgments: pl.DataFrame, bar: float, queries: pl.DataFrame | None = None) -> Judgments:
    """Resolve judgments to one grade per pair, ignoring judges below the bar (rule 6.2).

    Args:
        judgments: Judgments up to a moment, of any namespaces.
        bar: Minimum agreement with people for a judge to count.
        queries: namespace and query_id of the wanted queries; None is all.
    """
    admitted: dict[str, list[str]] = {}
    for (namespace, judge), agreement in agreements(judgments, n_draws=1).items():
        if agreement.meets(bar):
            admitted.setdefault(namespace, []).append(judge)
    if queries is not None:
        judgments = judgments.join(queries, on=["namespace", "query_id"], how="semi")
    parts = [
        resolve(rows, admitted=admitted.get(str(namespace), []))
        for (namespace,), rows in judgments.sort("namespace").group_by("namespace", maintain_order=True)
    ]
    if not parts:
        return resolve(judgments)
    grades = pl.concat([part.grades for part in parts])
    return Judgments(grades, pl.concat([part.conflicts for part in parts]), version(grades))


def daily_grades(judgments: pl.DataFrame, searched: pl.DataFrame, bar: float) -> pl.DataFrame:
    """Return the grades known at each day's end, of that day's queries.

    Args:
        judgments: Judgments up to the last of these days.
        searched: Columns day, namespace and query_id.
        bar: Minimum agreement with people for a judge to count.

    Returns:
        Rows of `Judgments.grades`, with their day.
    """
    by_day = [
        judgment_list(judgments.filter(pl.col("day") <= day), bar, queries).grades.with_columns(
            day=pl.lit(day)
        )
        for (day,), queries in searched.group_by("day")
    ]
    return pl.concat([resolve(judgments.clear()).grades.with_columns(day=pl.lit("")), *by_day])
