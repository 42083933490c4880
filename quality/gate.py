"""The save gate's verdict on a note by itself: L1 structure, L2 content and the named kinds of junk (rule 1).

What a note is to the others (L3: duplicates) is decided in :mod:`quality.admission`, one note after the
other, because it needs vectors and depends on the order. The night judges a day's batch, `Memory.save` a
batch of one; both call :func:`judge`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain
from typing import Literal

import orjson
import polars as pl

from quality.content import LOW_CONTENT, parts_of
from quality.divergence import compare, says_more, traits
from quality.echo import ECHO, echoes
from quality.junk import junk_reasons
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
    reasons: list[list[str]] = [[]] * staged.height
    scores: list[list[float]] | None = None
    if policy.mode != "off" and not staged.is_empty():
        scores = parts_of(staged).tolist()
        reasons = _reasons(staged, [parts[-1] for parts in scores], policy, served)
    columns = ("memory_id", "act", "reason", "released", "occurred_at")
    acts = list(zip(*(staged[name].to_list() for name in columns), strict=True))
    judged = [
        (
            memory_id,
            *_verdict(act, reason, released=bool(released), moment=moment, found=found, policy=policy),
        )
        for (memory_id, act, reason, released, moment), found in zip(acts, reasons, strict=True)
    ]
    asked = [
        (parts[-1], _as_json(parts)) if act == "save" else (None, None)
        for (_, act, *_), parts in zip(acts, scores or [], strict=scores is not None)
    ] or [(None, None)] * len(acts)
    rows = [(*verdict, *score) for verdict, score in zip(judged, asked, strict=True)]
    return pl.DataFrame(rows, schema=VERDICT_SCHEMA, orient="row")


def _verdict(
    act: str, reason: str | None, *, released: bool, moment: datetime, found: list[str], policy: GatePolicy
) -> tuple[str, list[str]]:
    """The verdict on one act, and the reasons that count for it."""
    if act == "unreadable":
        return REFUSE, [reason] if reason is not None else []
    if act != "save":
        return VERDICT_OF_ACT.get(act, PASS), []
    always = [name for name in found if name in ALWAYS_REFUSED]
    if released:
        return (REFUSE if always else PASS), always
    refused = found if policy.enforces_at(moment) else always
    return (REFUSE if refused else PASS), found


def _as_json(parts: list[float]) -> str:
    return orjson.dumps(dict(zip(PARTS, parts, strict=False))).decode()


def _reasons(
    staged: pl.DataFrame, scores: list[float], policy: GatePolicy, served: pl.DataFrame | None
) -> list[list[str]]:
    """Every fault of each note, in the order of the layers."""
    layers = zip(
        structure_faults(staged, min_characters=policy.min_characters).to_list(),
        [[LOW_CONTENT] if score < policy.min_quality else [] for score in scores],
        junk_reasons(staged).to_list(),
        _echo(staged, policy, served),
        strict=True,
    )
    return [list(dict.fromkeys(chain.from_iterable(found))) for found in layers]


def _echo(staged: pl.DataFrame, policy: GatePolicy, served: pl.DataFrame | None) -> list[list[str]]:
    """`echo` for each note that only repeats what a search showed lately.

    A note that repeats much and says something more, or something else, is no echo: it would be lost.
    """
    if served is None or served.is_empty() or not policy.echo_window:
        return [[]] * staged.height
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
    return [[ECHO] if name in repeats else [] for name in staged["memory_id"]]


def _only_repeats(content: str, passages: Sequence[str]) -> bool:
    """Whether each line of a note is said by one of the passages, whole."""
    known = [traits(passage) for passage in passages]
    for line in filter(str.strip, content.split("\n")):
        said = traits(line)
        found = (compare(said, passage) for passage in known)
        if not any(not differences or says_more(differences) == "right" for differences in found):
            return False
    return True
