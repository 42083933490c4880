"""The save gate's verdict on a note by itself: L1 structure, L2 content and the named kinds of junk (rule 1).

What a note is to the others (L3: duplicates) is decided in :mod:`quality.admission`, one note after the
other, because it needs vectors and depends on the order. The night judges a day's batch, `Memory.save` a
batch of one; both call :func:`judge`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

import polars as pl

from quality.content import LOW_CONTENT, content_scores
from quality.divergence import compare, says_more, traits
from quality.junk import ECHO, echoes, junk_reasons
from quality.structure import structure_faults

PASS = "pass"  # noqa: S105 - a verdict, not a password
REFUSE = "refuse"
RETIRE = "retire"
UNDO = "undo"
VERDICT_OF_ACT = {"forget": RETIRE, "undo": UNDO}

ALWAYS_REFUSED = frozenset({"bad_namespace"})
"""Faults with which a note cannot be stored, whatever the mode."""

PARTS = ("title", "triggers", "length", "anchors", "metadata", "density")
VERDICT_SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "memory_id": pl.String,
    "verdict": pl.String,
    "reasons": pl.List(pl.String),
    "score": pl.Float64,
    "parts": pl.String,
}
SERVED_SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "namespace": pl.String,
    "memory_id": pl.String,
    "text": pl.String,
    "search_id": pl.String,
    "shown_at": pl.Datetime("us", "UTC"),
}
"""Passages that searches showed: what :func:`judge` looks for echoes of."""


@dataclass(frozen=True, slots=True)
class GatePolicy:
    """What the gate asks for.

    Attributes:
        mode: off (everything readable passes), warn (the gate enforces when `warn_days` have passed since
            `activated_at`; until then it only records what it would refuse) or enforce.
        min_characters: least length of the trimmed content.
        min_quality: least L2 score, in [0, 1].
        echo_window: for how long a text that a search showed is an echo; zero looks for none.
        echo_share: share of a note that has to come from what was shown.
    """

    mode: Literal["off", "warn", "enforce"] = "enforce"
    min_characters: int = 50
    min_quality: float = 0.40
    activated_at: datetime | None = None
    warn_days: float = 14.0
    echo_window: timedelta = timedelta(hours=24)
    echo_share: float = 0.8

    @property
    def enforces_from(self) -> datetime | None:
        """The moment from which refusals count; None while the gate is off or was never activated."""
        if self.mode != "warn" or self.activated_at is None:
            return None
        return self.activated_at + timedelta(days=self.warn_days)

    def enforces_at(self, moment: datetime) -> bool:
        """Whether a note of this moment that has faults is refused."""
        start = self.enforces_from
        return self.mode == "enforce" or (start is not None and moment >= start)


def judge(staged: pl.DataFrame, policy: GatePolicy, served: pl.DataFrame | None = None) -> pl.DataFrame:
    """Verdicts on staged notes, one row each, in their order.

    Args:
        staged: one row per memory: act (save, forget, undo, unreadable), occurred_at, released, reason (of an
            unreadable note) and the columns of a note.
        policy: what the gate asks for.
        served: passages that searches showed lately, as in `SERVED_SCHEMA`.

    Returns:
        memory_id; verdict: pass, refuse, retire or undo; reasons: all of them (a note that passes with
        reasons is one that the gate would refuse if it did more than warn); score: L2, null where it was not
        asked; parts: the six parts of the score, as JSON.
    """
    act = pl.col("act")
    reasons = pl.Series("reasons", [[]] * staged.height, dtype=pl.List(pl.String))
    scores = pl.DataFrame(
        {name: pl.Series([None] * staged.height, dtype=pl.Float64) for name in (*PARTS, "score")}
    )
    if policy.mode != "off" and not staged.is_empty():
        scores = content_scores(staged)
        reasons = _reasons(staged, scores["score"], policy, served)
    judged = pl.concat([staged.drop(scores.columns, strict=False), scores], how="horizontal").with_columns(
        found=reasons,
        warned=~(pl.col("released").fill_null(value=False)) & ~_enforced(policy),
    )
    nothing = pl.lit([], dtype=pl.List(pl.String))
    always = pl.col("found").list.set_intersection(pl.lit(sorted(ALWAYS_REFUSED), dtype=pl.List(pl.String)))
    counted = (
        pl.when(act == "unreadable")
        .then(pl.concat_list("reason").list.drop_nulls())
        .when(act != "save")
        .then(nothing)
        .when(pl.col("released").fill_null(value=False))
        .then(always)
        .otherwise("found")
    )
    refused = (act == "unreadable") | (
        (act == "save")
        & pl.when("warned").then(always.list.len() > 0).otherwise(pl.col("reasons").list.len() > 0)
    )
    asked = (act == "save") & pl.col("score").is_not_null()
    return (
        judged.with_columns(reasons=counted)
        .select(
            "memory_id",
            verdict=pl.when(refused)
            .then(pl.lit(REFUSE))
            .otherwise(act.replace_strict(VERDICT_OF_ACT, default=PASS, return_dtype=pl.String)),
            reasons="reasons",
            score=pl.when(asked).then("score"),
            parts=pl.when(asked).then(pl.struct(PARTS).struct.json_encode()),
        )
        .cast(VERDICT_SCHEMA)  # type: ignore[arg-type]
    )


def _enforced(policy: GatePolicy) -> pl.Expr:
    """Whether refusals count at each note's moment."""
    start = policy.enforces_from
    if start is None:
        return pl.lit(value=policy.mode == "enforce")
    return pl.col("occurred_at") >= pl.lit(start)


def _reasons(
    staged: pl.DataFrame, scores: pl.Series, policy: GatePolicy, served: pl.DataFrame | None
) -> pl.Series:
    """Every fault of each note, in the order of the layers."""
    notes = staged.with_columns(
        structure=structure_faults(staged, min_characters=policy.min_characters),
        junk=junk_reasons(staged),
        poor=pl.when(scores < policy.min_quality).then(pl.lit(LOW_CONTENT)),
    ).with_columns(echo=_echo(staged, policy, served))
    return notes.select(
        reasons=pl.concat_list("structure", pl.concat_list("poor"), "junk", pl.concat_list("echo"))
        .list.drop_nulls()
        .list.unique(maintain_order=True)
    )["reasons"]


def _echo(staged: pl.DataFrame, policy: GatePolicy, served: pl.DataFrame | None) -> pl.Series:
    """`echo` for each note that only repeats what a search showed lately, else null.

    A note that repeats much and says something more, or something else, is no echo: it would be lost.
    """
    if served is None or served.is_empty() or not policy.echo_window:
        return pl.Series("echo", [None] * staged.height, dtype=pl.String)
    found = echoes(staged, served, window=policy.echo_window, share=policy.echo_share)
    passages = {
        (namespace, search): texts
        for namespace, search, texts in served.join(
            found.select("search_id").unique(), on="search_id", how="semi"
        )
        .group_by("namespace", "search_id")
        .agg(pl.col("text").unique(maintain_order=True))
        .iter_rows()
    }
    suspects = found.join(staged.select("memory_id", "namespace", "content"), on="memory_id")
    repeats = {
        name
        for name, namespace, search, content in suspects.select(
            "memory_id", "namespace", "search_id", "content"
        ).iter_rows()
        if _only_repeats(content, passages[namespace, search])
    }
    marks = pl.DataFrame({"memory_id": sorted(repeats)}, schema={"memory_id": pl.String})
    return staged.join(
        marks.with_columns(echo=pl.lit(ECHO)), on="memory_id", how="left", maintain_order="left"
    )["echo"]


def _only_repeats(content: str, passages: Sequence[str]) -> bool:
    """Whether each line of a note is said by one of the passages, whole."""
    known = [traits(passage) for passage in passages]
    for line in filter(str.strip, content.split("\n")):
        said = traits(line)
        found = (compare(said, passage) for passage in known)
        if not any(not differences or says_more(differences) == "right" for differences in found):
            return False
    return True
