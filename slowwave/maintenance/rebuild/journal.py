"""Letting a journal know again what it lost and the tables still hold."""

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
    """What became of a journal.

    Attributes:
        lost: acts on memories that it had no more (count); their texts are recorded from the tables.
        aside: where a file that cannot be read was put.
        gone: what only the journal knew, where it knew less than the tables do, in sentences.
    """

    lost: int
    aside: str = ""
    gone: tuple[str, ...] = ()


GONE = (
    "Searches and feedback that no night had folded, and texts that were replaced, are in no table.",
    "Which folders are watched: take each in again (slowwave ingest FOLDER).",
    "What people said of learning: what was approved has to be approved again (slowwave learning status).",
    "What was erased: its files in a folder that is taken in again come back (erase them again).",
)


def mend_journal(space: Workspace) -> Mended:
    """Record all that the tables hold in the journal; one that cannot be read is set aside for a new one.

    What is in no table is lost with it, and `Mended.gone` says what that may be.

    Raises:
        SlowwaveError: the journal is a server's, which has copies of its own; or an erasure is not finished.
        DamageError: a table cannot be read either.
    """
    from slowwave.maintenance.erasure.running import records

    aside = _set_aside(space)
    journal = space.journal
    if any(not one.finished for one in records(space)):  # or what is half erased would be put back
        raise SlowwaveError("An erasure is not finished. Finish it first: slowwave erase --finish")
    with space.exclusively():
        store = bare_store(space.settings, space.embedder)
        store.refresh()
        with underway.maintenance_op(journal, "the mending of the journal", COMMAND, space.now()):
            revisions = [one for one in store.read("memories", columns=["revision"])["revision"] if one]
            events = sorted({ids.event_of(one) for one in revisions})
            lost = sorted(set(events) - journal.entries(events).keys())
            backfill_existing(store, journal, first=not has_records(journal))
            journal.append([_told(lost, space.now())])
    space.reopen()
    return Mended(len(lost), aside, GONE if lost or aside else ())


def _told(lost: list[str], as_of: datetime) -> Entry:
    """That the journal knows of acts which it does not have."""
    event_id = ids.new_event_id()
    told = WorkEnded(ends=event_id, lost=lost)
    return Entry(event_id, WORK, EVERYBODY, "lost acts", as_of, "", payload=told)


def _set_aside(space: Workspace) -> str:
    """Put a file that is no journal aside, with what SQLite keeps beside it; where it is now."""
    try:
        problem = "; ".join(space.journal.check())
    except JournalError as error:
        problem = str(error)
    if not problem:
        return ""
    file = space.settings.journal_file
    if space.settings.journal.url or not file.exists():
        raise SlowwaveError(f"The journal cannot be used, and it is no file of this home: {problem}")
    if "journal" in space.__dict__:
        space.journal.close()
        del space.__dict__["journal"]
    aside = file.with_name(f"{file.name}.damaged-{space.now():%Y%m%dT%H%M%S}")
    for part, target in zip(journal_files(file), journal_files(aside), strict=True):
        if part.exists():
            part.rename(target)
    return str(aside)
