"""The judgments that count at the end of a day, and which judges have earned that theirs do (rule 6.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl

from slowwave.scoring.evaluation import Agreement, Judgments, agreement, resolve
from slowwave.scoring.evaluation.comparison import DRAWS
from slowwave.store.frames import quote

if TYPE_CHECKING:
    from slowwave.store import Store

_PAIR = ["namespace", "query_id", "memory_id"]
_RESOLVED = (
    "judgment_id", "day", *_PAIR, "source", "grade", "state", "judge", "principal", "made_at",
)  # fmt: skip


def said_until(store: Store, day: str, *, namespace: str | None = None, own: bool = False) -> pl.DataFrame:
    """Everything that was said of pairs of query and memory up to the end of a day.

    Args:
        store: has the judgments.
        day: the last one.
        namespace: only of this one; None is all.
        own: without what rests on anything imported: all that the learning gate may hear (rule 7.7).
    """
    mine = "" if namespace is None else f" AND namespace = {quote(namespace)}"
    mine += " AND imported IS NOT TRUE" if own else ""
    return store.scan("judgments", f"day <= {quote(day)}{mine}", columns=_RESOLVED)


def agreements(said: pl.DataFrame, *, n_draws: int = DRAWS) -> dict[tuple[str, str], Agreement]:
    """How far each judge agrees with people on the pairs that both graded, by namespace and judge.

    Labels of several people are averaged and rounded, a half up. A judge without such a pair is there, with
    n = 0.

    Args:
        said: up to a moment.
        n_draws: of the intervals of the coefficients.
    """
    people = resolve(said.filter(pl.col("source") == "manual")).grades
    found = {}
    for (namespace, judge), rows in said.filter(pl.col("source") == "judge").group_by("namespace", "judge"):
        theirs = resolve(rows, admitted=[str(judge)]).grades.join(people, on=_PAIR, suffix="_people")
        found[str(namespace), str(judge)] = agreement(
            theirs["grade_people"], theirs["grade"], n_draws=n_draws
        )
    return found


def settled(said: pl.DataFrame, bar: float, about: pl.DataFrame | None = None) -> Judgments:
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
    from slowwave.scoring.evaluation.judgments import version

    grades = pl.concat([part.grades for part in parts])
    return Judgments(grades, pl.concat([part.conflicts for part in parts]), version(grades))


def settled_by_day(said: pl.DataFrame, asked: pl.DataFrame, bar: float) -> Mapping[str, Judgments]:
    """What was known at the end of each day of the queries that were asked on it.

    Args:
        said: up to the last of these days.
        asked: day, namespace and query_id.
        bar: agreement with people from which a judge is heard.
    """
    return {
        str(day): settled(said.filter(pl.col("day") <= day), bar, queries)
        for (day,), queries in asked.group_by("day")
    }
