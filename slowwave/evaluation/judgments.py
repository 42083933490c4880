"""The judgments that count at the end of a day; a judge is heard once it agrees with people (rule 6.2)."""

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
    """Everything that was said of pairs of query and memory up to the end of a day.

    Args:
        store: has the judgments.
        day: the last one.
        namespace: only of this one; None is all.
        own: without what rests on anything imported: all that the learning gate may hear (rule 7.7).
    """
    where = f"day <= {quote(day)}" + (" AND imported IS NOT TRUE" if own else "")
    rows = store if namespace is None else store.of(namespace)
    return rows.scan("judgments", where, columns=_RESOLVED)


def judgment_list(said: pl.DataFrame, bar: float, about: pl.DataFrame | None = None) -> Judgments:
    """One grade a pair; a judge below the bar is not heard (rule 6.2).

    Args:
        said: up to a moment, of any namespaces.
        bar: agreement with people from which a judge is heard.
        about: namespace and query_id of the queries that are wanted; None is all.
    """
    heard: dict[str, list[str]] = {}
    for (namespace, judge), found in agreements(said, n_draws=1).items():
        if found.meets(bar):
            heard.setdefault(namespace, []).append(judge)
    if about is not None:
        said = said.join(about, on=["namespace", "query_id"], how="semi")
    parts = [
        resolve(rows, admitted=heard.get(str(namespace), []))
        for (namespace,), rows in said.sort("namespace").group_by("namespace", maintain_order=True)
    ]
    if not parts:
        return resolve(said)
    grades = pl.concat([part.grades for part in parts])
    return Judgments(grades, pl.concat([part.conflicts for part in parts]), version(grades))


def daily_grades(said: pl.DataFrame, asked: pl.DataFrame, bar: float) -> pl.DataFrame:
    """Return the grades that were known at the end of each day, of the queries that were asked on it.

    Args:
        said: Judgments up to the last of these days.
        asked: Columns day, namespace and query_id.
        bar: Agreement with people from which a judge is heard.

    Returns:
        Rows of `Judgments.grades`, with their day.
    """
    by_day = [
        judgment_list(said.filter(pl.col("day") <= day), bar, queries).grades.with_columns(day=pl.lit(day))
        for (day,), queries in asked.group_by("day")
    ]
    return pl.concat([resolve(said.clear()).grades.with_columns(day=pl.lit("")), *by_day])
