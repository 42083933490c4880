"""Repair of a journal that lost entries which the tables still hold."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from slowwave.change_log import backfill_existing
from slowwave.change_log.recorder import has_records
from slowwave.common import ids
from slowwave.errors import SlowwaveError
from slowwave.home.connections import bare_store, journal_files
from slowwave.journal import Entry, JournalError
from slowwave.journal import maintenance_ops as underway
from slowwave.journal.entry import EVERYBODY, WORK
from slowwave.journal.kinds.home import WorkEnded

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace

COMMAND = "slowwave rebuild --journal"


@dataclass(frozen=True, slots=True)
class Mended:
    """Result of a journal repair.

    Attributes:
        lost: Entries about memories that the journal was missing (count); their texts are recorded from the
            tables.
        aside: Path of the unreadable file that was set aside.
        gone: Sentences about data that only the journal had, if it knew less than the tables.
    """

    lost: int
    aside: str = ""
    gone: tuple[str, ...] = ()


GONE = (
    "Searches and feedback that no nightly job had processed, and previous texts, are in no table.",
    "The list of watched folders: add each again (slowwave ingest FOLDER).",
    "Decisions about learning: approvals have to be given again (slowwave learning status).",
    "Erasures: erased texts come back from files of a folder that is added again (erase them again).",
)


def mend_journal(space: Workspace) -> Mended:
    """Record everything that the tables hold in the journal; set an unreadable journal aside first.

    Data that no table holds is lost; `Mended.gone` says what that may be.

    Raises:
        SlowwaveError: The journal is on a server, which has backups of its own; or an erasure is not
            finished.
        DamageError: A table cannot be read either.
    """
    from slowwave.maintenance.erasure.running import records

    aside = _set_aside(space)
    journal = space.journal
    if any(not erasure.finished for erasure in records(space)):  # else half-erased texts would come back
        raise SlowwaveError("An erasure is not finished. Finish it first: slowwave erase --finish")
    with space.exclusively():
        store = bare_store(space.settings, space.embedder)
        store.refresh()
        with underway.maintenance_op(journal, "the repair of the journal", COMMAND, space.now()):
            revisions = [
                revision for revision in store.read("memories", columns=["revision"])["revision"] if revision
            ]
            events = sorted({ids.event_of(revision) for revision in revisions})
            lost = sorted(set(events) - journal.entries(events).keys())
            backfill_existing(store, journal, first=not has_records(journal))
            journal.append([_lost_entries(lost, space.now())])
    space.reopen()
    return Mended(len(lost), aside, GONE if lost or aside else ())


def _lost_entries(lost: list[str], as_of: datetime) -> Entry:
    """Return the journal's record of entries that it has lost."""
    event_id = ids.new_event_id()
    payload = WorkEnded(ends=event_id, lost=lost)
    return Entry(event_id, WORK, EVERYBODY, "lost acts", as_of, "", payload=payload)


def _set_aside(space: Workspace) -> str:
    """Rename an unreadable journal file and its SQLite side files. Return the new path."""
    try:
        problem = "; ".join(space.journal.check())
    except JournalError as error:
        problem = str(error)
    if not problem:
        return ""
    file = space.settings.journal_file
    if space.settings.journal.url or not file.exists():
        raise SlowwaveError(
            f"The journal is unusable and not a file of this home, so it cannot be rebuilt here: {problem}"
        )
    if "journal" in space.__dict__:
        space.journal.close()
        del space.__dict__["journal"]
    aside = file.with_name(f"{file.name}.damaged-{space.now():%Y%m%dT%H%M%S}")
    for part, target in zip(journal_files(file), journal_files(aside), strict=True):
        if part.exists():
            part.rename(target)
    return str(aside)
