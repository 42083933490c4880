"""Notices of the save gate for users and assistants, around its start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

import polars as pl

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace

LOUD: Final = 0.05
"""Share of refused (or would-be refused) notes above which the notice is loud."""
NEAR: Final = timedelta(days=7)
"""Time around the gate's start in which assistants get the notice; also the span of `lately`."""


@dataclass(frozen=True, slots=True)
class Count:
    """Counts of notes: all, refused, and refused by an enforcing gate only."""

    notes: int
    refused: int
    would: int

    @property
    def share(self) -> float:
        """Share of the notes that were refused or would have been, in [0, 1]."""
        return (self.refused + self.would) / self.notes if self.notes else 0.0


@dataclass(frozen=True, slots=True)
class Notice:
    """State of the save gate of a home.

    Attributes:
        mode: Setting: off, warn or enforce.
        begins: Start of enforcement of a gate of mode warn, future or past; None if unknown.
        enforced: Whether it refuses now.
        since: Notes since the activation; of the last week if the gate enforces or the activation is
            unknown.
        lately: Notes of the last week.
        reasons: Counts of reasons of refused (or would-be refused) notes since then, the most frequent
            first.
    """

    mode: str
    begins: datetime | None
    as_of: datetime
    enforced: bool
    since: Count
    lately: Count
    reasons: Mapping[str, int]

    @property
    def near(self) -> bool:
        """Whether the gate begins within a week, or began within the last one."""
        return is_near(self.begins, self.as_of)

    @property
    def loud(self) -> bool:
        """Whether many notes (`LOUD`), and not just one, are or would be refused.

        Never for a mode that the user set.
        """
        counted, notes = (
            (self.lately.refused, self.lately.notes)
            if self.enforced
            else (self.since.would, self.since.notes)
        )
        return self.begins is not None and counted > max(LOUD * notes, 1)

    @property
    def headline(self) -> str:
        """State of the gate in words, without counts."""
        if self.mode != "warn":
            return {"off": "off: every note that can be read enters"}.get(self.mode, "enforces, as set")
        if self.begins is None:
            return "warns; its fortnight begins with the first note"
        if self.enforced:
            return f"enforces since {self.begins:%F %H:%M} UTC"
        return f"warns, begins to refuse on {self.begins:%F} at {self.begins:%H:%M} UTC"

    @property
    def counted(self) -> str:
        """Counts of refused or would-be refused notes, with the reasons, in words."""
        if not self.since.notes:
            return "no notes were judged yet"
        if self.enforced:
            text = f"{_of(self.lately.refused, self.lately.notes)} of the last 7 days were refused"
        else:
            text = (
                f"{_of(self.since.would, self.since.notes)} since it was activated would have been refused, "
                f"{_of(self.lately.would, self.lately.notes)} of the last 7 days"
            )
        why = ", ".join(f"{name} {count:,}" for name, count in self.reasons.items())
        return f"{text} ({why})" if why else text

    @property
    def commands(self) -> str:
        """Commands that the user can run; empty if there is nothing to do."""
        if self.mode != "warn" or self.begins is None:
            return "slowwave quarantine list" if self.lately.refused else ""
        put_off = "slowwave gate postpone --days 14 puts it off"
        if self.enforced:
            return f"slowwave quarantine list shows them, release ID lets one in; {put_off}"
        return f"slowwave gate preview lists them; {put_off}"

    @property
    def words(self) -> str:
        """Whole notice in one line for users."""
        if self.mode == "off":
            return f"The save gate is {self.headline}."
        aloud = "MANY NOTES ARE REFUSED. " if self.enforced else "MANY NOTES WOULD BE REFUSED. "
        many = aloud if self.loud else ""
        what_to_do = f" {self.commands}." if self.commands else ""
        return f"{many}The save gate {self.headline}: {self.counted}.{what_to_do}"

    @property
    def for_assistants(self) -> str:
        """Notice for assistants, in the week before and after the start; else empty."""
        if not self.near or self.begins is None:
            return ""
        put_off = "`slowwave gate postpone --days 14` puts the gate off"
        what = "this memory refuses notes that its save gate has something against"
        if self.enforced:
            refused = _of(self.lately.refused, self.lately.notes)
            return (
                f"Since {self.begins:%F} {what}: {refused} of the last 7 days. They are kept in quarantine. "
                f"Tell the user: `slowwave quarantine list` shows them, {put_off}."
            )
        would = _of(self.since.would, self.since.notes)
        return (
            f"From {self.begins:%F} on {what}: {would} so far would have been. Tell the user: "
            f"`slowwave gate preview` lists them, {put_off}."
        )


def is_near(begins: datetime | None, as_of: datetime) -> bool:
    """Whether the gate begins within a week of a moment, or began within one."""
    return begins is not None and abs(begins - as_of) <= NEAR


def notice_without_counts(space: Workspace, as_of: datetime) -> Notice:
    """Return the state of the save gate of a home at a moment; no note is judged for it."""
    space.look_at_gate()
    policy, none = space.gate_policy, Count(0, 0, 0)
    is_on = policy.mode != "off"
    return Notice(
        policy.mode, policy.enforces_from if is_on else None, as_of,
        enforced=is_on and policy.enforces_at(as_of), since=none, lately=none, reasons={},
    )  # fmt: skip


def notice(space: Workspace, as_of: datetime, namespace: str | None = None) -> Notice:
    """Return the state of the save gate at a moment, with counts of notes.

    Args:
        namespace: Namespace whose notes are counted; None is all.
    """
    from slowwave.lifecycle.gate_notes import judged_notes

    uncounted = notice_without_counts(space, as_of)
    if uncounted.mode == "off":
        return uncounted
    week = (as_of - NEAR).date().isoformat()
    enforced, began = uncounted.enforced, space.gate_policy.activated_at
    # Until the gate enforces, would-be refusals since its activation matter; then the last week.
    started = week if began is None or enforced else began.date().isoformat()
    notes = judged_notes(space, namespace, min(started, week), as_of)
    since, lately = notes.filter(pl.col("day") >= started), notes.filter(pl.col("day") > week)
    shown = lately.filter("refused") if enforced else since.filter("would")
    reasons = (
        shown["reasons"]
        .explode()
        .drop_nulls()
        .value_counts(name="notes")
        .sort("notes", "reasons", descending=[True, False])
    )
    return replace(
        uncounted, since=_counted(since), lately=_counted(lately), reasons=dict(reasons.iter_rows())
    )


def _counted(notes: pl.DataFrame) -> Count:
    return Count(notes.height, int(notes["refused"].sum()), int(notes["would"].sum()))


def _of(part: int, whole: int) -> str:
    """Format a part of the notes with its share."""
    return f"{part:,} of {whole:,} notes" + (f" ({part / whole:.1%})" if whole else "")
