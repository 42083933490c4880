"""One finding of doctor, and the findings about files that are lost or damaged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from slowwave.common.pluralize import counted

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    subject: str
    ok: bool
    message: str
    advice: str = ""

    @classmethod
    def checked(cls, subject: str, ok: bool, message: str, advice: str) -> Self:
        """A finding with advice only where something is wrong."""
        return cls(subject, ok, message, "" if ok else advice)


def of_log(space: Workspace, *, repair: bool) -> Iterator[Finding]:
    """Files of saves that are damaged, and acts of the journal that the tables lack."""
    from slowwave.lifecycle.recovery import lacking
    from slowwave.lifecycle.write_path import apply_lost_entries

    wal = space.store.wal
    aside = wal.set_aside(look=True) if wal is not None else ()
    lacks = len(lacking(space))
    told = [f"{counted(len(aside), 'file')} of saves set aside, damaged"] if aside else []
    if lacks:
        told.append(f"{counted(lacks, 'act')} of the journal not in the tables yet: searches lack them")
    if told and repair:
        mended = f"{'; '.join(told)} (mended: {counted(apply_lost_entries(space), 'act')} taken in)"
        yield Finding("write-ahead log", True, mended)
    elif told:
        advice = "slowwave doctor --repair, or slowwave night"
        yield Finding("write-ahead log", False, "; ".join(told), advice)


def of_search_files(space: Workspace, *, repair: bool) -> Iterator[Finding]:
    """Files that searches map and that are damaged; without one the table is read."""
    from slowwave.index.mmap_snapshot import damaged

    if wrong := damaged(space.store):
        for one in wrong if repair else ():
            one.unlink(missing_ok=True)
        told = f"{counted(len(wrong), 'file')} that searches map: damaged{' (mended: taken away)' * repair}"
        advice = "slowwave doctor --repair; searches read the table meanwhile"
        yield Finding.checked("search files", repair, told, advice)
