"""Findings of doctor, with those about lost or damaged files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import polars as pl

from slowwave.common.pluralize import counted
from slowwave.notes.fields import CREATED_INVALID, DAMAGED, LEFT_OUT
from slowwave.quality.admission.statuses import RETIRED
from slowwave.store.frames import quote

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace

_NAMED: Final = 5  # notes in a message


@dataclass(frozen=True, slots=True)
class Finding:
    """Result of one check."""

    subject: str
    ok: bool
    message: str
    advice: str = ""

    @classmethod
    def checked(cls, subject: str, ok: bool, message: str, advice: str) -> Self:
        """Return a finding, with advice only if something is wrong."""
        return cls(subject, ok, message, "" if ok else advice)


def of_log(space: Workspace, *, repair: bool) -> Iterator[Finding]:
    """Yield damaged files of the write-ahead log, and journal entries that the tables are missing."""
    from slowwave.lifecycle.recovery import lacking
    from slowwave.lifecycle.write_path import apply_lost_entries

    wal = space.store.wal
    aside = wal.set_aside(look=True) if wal is not None else ()
    missing = len(lacking(space))
    problems = [f"{counted(len(aside), 'damaged file')} of saves set aside"] if aside else []
    if missing:
        problems.append(
            f"{counted(missing, 'journal entry', 'journal entries')} not in the tables yet, so not searchable"
        )
    if problems and repair:
        applied = counted(apply_lost_entries(space), "entry", "entries")
        yield Finding("write-ahead log", True, f"{'; '.join(problems)} (fixed: {applied} applied)")
    elif problems:
        advice = "slowwave doctor --repair, or slowwave night"
        yield Finding("write-ahead log", False, "; ".join(problems), advice)


def of_search_files(space: Workspace, *, repair: bool) -> Iterator[Finding]:
    """Yield damaged snapshot files; searches read the table instead."""
    from slowwave.index.mmap_snapshot import damaged

    if wrong := damaged(space.store):
        for path in wrong if repair else ():
            path.unlink(missing_ok=True)
        message = f"{counted(len(wrong), 'damaged snapshot file')}{' (fixed: removed)' * repair}"
        advice = "slowwave doctor --repair; until then searches read the table"
        yield Finding.checked("search files", repair, message, advice)


def of_labels(space: Workspace) -> Iterator[Finding]:
    """Yield notes of vaults with labels or characters that could not be read; secret ones without a name."""
    for subject, marks, what, advice in (
        (
            "labels",
            (LEFT_OUT, CREATED_INVALID),
            "labels that could not be read",
            "correct their front matter",
        ),
        ("characters", (DAMAGED,), "damaged characters", "save their files as UTF-8"),
    ):
        marked = " OR ".join(f"metadata LIKE '%\"{mark}\"%'" for mark in marks)
        where = f"origin <> '' AND status <> {quote(RETIRED)} AND ({marked})"
        rows = space.store.scan("memories", where, columns=["source", "sensitivity"])
        if rows.is_empty():
            continue
        names = sorted(rows.filter(pl.col("sensitivity") != "secret")["source"].to_list())[:_NAMED]
        rest = rows.height - len(names)
        shown = [*names, *([f"{rest:,} {'more' if names else 'secret'}"] if rest else [])]
        message = f"{counted(rows.height, 'note')} with {what}: {', '.join(shown)}"
        yield Finding(subject, True, message, f"{advice}; their text is searchable")
