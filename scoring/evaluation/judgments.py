"""Judgment list: one grade for each pair of query and memory (rule 6.1)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import polars as pl

from slowwave.scoring.evaluation.digest import digest

MANUAL = "manual"
JUDGE = "judge"
SOURCES = (MANUAL, JUDGE, "selections", "triggers")
"""Sources of grades, the most trusted first; its grade decides."""
HIGHEST = 3
"""Highest grade: 0 is not relevant, 1 about the subject, 2 answers in part, 3 answers."""
GRADED = "graded"
STATES = (GRADED, "unrateable", "later")
"""States of a judgment: graded, cannot be graded, or postponed."""
CONFLICT = 1.0

PAIR = ["namespace", "query_id", "memory_id"]
"""Columns that identify the judged pair."""

_GRADES = pl.Schema(
    {
        "namespace": pl.String, "query_id": pl.String, "memory_id": pl.String, "grade": pl.Float64,
        "source": pl.String, "judgments": pl.Int32,
    }
)  # fmt: skip
_CONFLICTS = pl.Schema(
    {
        "namespace": pl.String, "query_id": pl.String, "memory_id": pl.String, "source": pl.String,
        "grade": pl.Float64, "other_source": pl.String, "other_grade": pl.Float64,
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Judgments:
    """Judgment list at a moment.

    Attributes:
        grades: namespace, query_id, memory_id, grade (0 to 3), source (the deciding one), judgments (averaged
            grades, count); one row a pair, sorted by it.
        conflicts: pairs on which two sources are 1 grade or more apart: namespace, query_id, memory_id,
            source and grade of the more trusted one, other_source and other_grade; sorted.
        version: 32 hex digits that depend on grades and sources only.
    """

    grades: pl.DataFrame
    conflicts: pl.DataFrame
    version: str


def resolve(rows: pl.DataFrame, *, admitted: Collection[str] = ()) -> Judgments:
    """Resolve all judgments to one grade a pair.

    Within a source, the newest judgment of each user counts. If it has no grade (*unrateable*, *later*,
    none), none of that user's counts. Grades of one source are averaged. Then the most trusted source
    decides: labels by hand, judge, selections, trigger phrases.

    Args:
        rows: of ``judgments`` up to the moment: judgment_id, day, namespace, query_id, memory_id, source,
            grade, state, judge, principal, made_at.
        admitted: judges (as in column ``judge``) with proven agreement. Judgments of others do not count, nor
            do they replace those of an admitted judge under the same principal.

    Raises:
        ValueError: a source is not one of `SOURCES`, or a grade is not in [0, 3].
    """
    _check(rows)
    counted = rows.filter(
        (pl.col("source") != "judge") | pl.col("judge").is_in(sorted(admitted)).fill_null(value=False)
    )
    latest = (
        counted.with_columns(pl.col("principal").fill_null(""))
        .sort("day", "made_at", "judgment_id")
        .unique([*PAIR, "source", "principal"], keep="last", maintain_order=True)
        .filter((pl.col("state") == GRADED) & pl.col("grade").is_not_null())
    )
    of_source = (
        latest.sort("principal")
        .group_by(*PAIR, "source", maintain_order=True)
        .agg(pl.col("grade").mean().round(9), judgments=pl.len().cast(pl.Int32))
        .with_columns(trust=pl.col("source").replace_strict(list(SOURCES), range(len(SOURCES))))
        .sort(*PAIR, "trust")
    )
    grades = of_source.unique(PAIR, keep="first", maintain_order=True).select(*_GRADES)
    return Judgments(grades, _conflicts(of_source), version(grades))


def version(grades: pl.DataFrame) -> str:
    """Return the digest of a judgment list: namespace, query_id, memory_id, grade, source.

    Rows may be in any order.
    """
    rows = grades.select(*PAIR, "grade", "source").sort(PAIR)
    return digest(str(value) for row in rows.iter_rows() for value in row)


def _check(rows: pl.DataFrame) -> None:
    unknown = rows.filter(~pl.col("source").is_in(SOURCES))["source"]
    if len(unknown):
        raise ValueError(f"source = {unknown[0]!r} is not one of {', '.join(SOURCES)}")
    outside = rows.filter(~pl.col("grade").is_between(0, 3) | pl.col("grade").is_nan())["grade"]
    if len(outside):
        raise ValueError(f"grade = {outside[0]} is not in [0, 3]")


def _conflicts(of_source: pl.DataFrame) -> pl.DataFrame:
    others = of_source.select(*PAIR, other_source="source", other_grade="grade", other_trust="trust")
    apart = (pl.col("grade") - pl.col("other_grade")).abs() >= CONFLICT - 1e-9
    return (
        of_source.join(others, on=PAIR)
        .filter((pl.col("trust") < pl.col("other_trust")) & apart)
        .select(*_CONFLICTS)
        .sort(*PAIR, "source", "other_source")
    )
