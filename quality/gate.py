"""The save gate: one verdict per note, with every reason (rule 1).

The night runs it on a day's batch, `Memory.save` on a batch of one; both call :func:`judge`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import polars as pl

from quality.duplicates import exact_duplicates
from quality.structure import structure_faults

PASS = "pass"  # noqa: S105 - a verdict, not a password
REFUSE = "refuse"
RETIRE = "retire"

VERDICT_SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "memory_id": pl.String,
    "verdict": pl.String,
    "reasons": pl.List(pl.String),
    "duplicate_of": pl.String,
}


@dataclass(frozen=True, slots=True)
class GatePolicy:
    """What the gate asks for."""

    mode: Literal["off", "enforce"] = "enforce"
    min_characters: int = 50


def judge(staged: pl.DataFrame, live: pl.DataFrame, policy: GatePolicy) -> pl.DataFrame:
    """Verdicts on staged notes, one row each, in their order.

    Args:
        staged: one row per memory: act (save, forget, unreadable), reason (of an unreadable note) and the
            columns of a note. The order of the rows is the order in which they may enter.
        live: namespace, memory_id, content_hash of the memories that are live before this batch.
        policy: with mode ``off`` everything that could be read passes.

    Returns:
        memory_id; verdict: pass, refuse or retire; reasons: all of them; duplicate_of.
    """
    act = pl.col("act")
    faults = pl.concat_list(pl.col("reason"))  # what reading said, for the unreadable
    checked = staged.select("memory_id", "namespace", "content_hash", "act", reasons=faults)
    duplicates = pl.DataFrame(schema={"memory_id": pl.String, "duplicate_of": pl.String})
    if policy.mode != "off":
        found = structure_faults(staged, min_characters=policy.min_characters)
        checked = checked.with_columns(
            reasons=pl.when(act == "save").then(pl.Series("found", found)).otherwise(pl.col("reasons"))
        )
        sound = checked.filter((act == "save") & (pl.col("reasons").list.len() == 0))
        duplicates = _duplicates(sound, live, forgotten=staged.filter(act == "forget"))
    return (
        checked.join(duplicates, on="memory_id", how="left", maintain_order="left")
        .with_columns(
            reasons=pl.when(act == "forget")
            .then(pl.lit([], dtype=pl.List(pl.String)))
            .when(pl.col("duplicate_of").is_not_null())
            .then(pl.concat_list("reasons", pl.lit("exact_duplicate")))
            .when((act == "save") & (policy.mode == "off"))
            .then(pl.lit([], dtype=pl.List(pl.String)))
            .otherwise(pl.col("reasons"))
            .list.drop_nulls()
        )
        .select(
            "memory_id",
            verdict=pl.when(act == "forget")
            .then(pl.lit(RETIRE))
            .when(pl.col("reasons").list.len() > 0)
            .then(pl.lit(REFUSE))
            .otherwise(pl.lit(PASS)),
            reasons="reasons",
            duplicate_of="duplicate_of",
        )
        .cast(VERDICT_SCHEMA)  # type: ignore[arg-type]
    )


def _duplicates(sound: pl.DataFrame, live: pl.DataFrame, *, forgotten: pl.DataFrame) -> pl.DataFrame:
    """Exact duplicates among the sound notes and what stays live beside them.

    What a note said before leaves only if its new text enters: one that is refused as a duplicate keeps its
    old text, which may make another one a duplicate. What stays only grows, so this comes to an end.
    """
    unchanged = live.join(sound, on=["namespace", "memory_id", "content_hash"], how="semi")
    touched = pl.concat([sound.select("memory_id"), forgotten.select("memory_id")])
    staying = pl.concat([live.join(touched, on="memory_id", how="anti"), unchanged])
    while True:
        found = exact_duplicates(sound, staying)
        kept = live.join(found, on="memory_id", how="semi").join(staying, on="memory_id", how="anti")
        if kept.is_empty():
            return found
        staying = pl.concat([staying, kept])


def live_at(history: pl.DataFrame) -> pl.DataFrame:
    """What was live after these verdicts: namespace, memory_id, content_hash.

    A refused note changes nothing: what was accepted of it before stays.
    """
    return (
        history.filter(pl.col("verdict") != REFUSE)
        .sort("revision")
        .unique("memory_id", keep="last", maintain_order=True)
        .filter(pl.col("verdict") == PASS)
        .select("namespace", "memory_id", "content_hash")
    )


def judge_days(staged: pl.DataFrame, live: pl.DataFrame, policy: GatePolicy) -> pl.DataFrame:
    """Verdicts on a range of days, each day judged by what was live when it began.

    Args:
        staged: rows of ``staged_notes`` of any days.
        live: what was live before the first of them, as from :func:`live_at`.
        policy: what the gate asks for.

    Returns:
        Rows of ``gate_verdicts``; the same whether the days are judged at once or one by one.
    """
    carried = ("day", "namespace", "memory_id", "revision", "content_hash")
    known = live.select("namespace", "memory_id", "content_hash").with_columns(
        verdict=pl.lit(PASS), revision=pl.lit("")
    )
    done = []
    for _, day in staged.sort("day", maintain_order=True).group_by("day", maintain_order=True):
        ordered = day.sort(pl.col("origin") != "", "created_at", "memory_id")
        verdicts = judge(ordered, live_at(known), policy).join(
            ordered.select(carried), on="memory_id", how="left", maintain_order="left"
        )
        done.append(verdicts)
        known = pl.concat([known, verdicts.select(known.columns)])
    columns = ("verdict_id", *carried, "verdict", "reasons", "duplicate_of")
    if not done:
        return pl.DataFrame(schema={name: VERDICT_SCHEMA.get(name, pl.String) for name in columns})
    return (
        pl.concat(done)
        .with_columns(verdict_id=pl.concat_str("day", pl.lit(":"), "memory_id"))
        .select(columns)
    )
