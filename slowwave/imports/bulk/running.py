"""One bulk import: batch after batch through the very same gate as any save.

After each batch its place is written down in the home. Killed at any moment, the same command goes on there;
what the batch that was under way had saved is known by its keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import orjson

from slowwave.common import ids, progress
from slowwave.common.permissions import make_private
from slowwave.imports.bulk.files import Input, rows
from slowwave.imports.bulk.rows import Fields, item_of
from slowwave.imports.model import ImportFailedError, ImportItem, ImportSource, Read, Unread
from slowwave.imports.report import NoteImportReport
from slowwave.imports.run_import import MAX_WAIT_SECONDS, ImportOptions, run_import
from slowwave.lifecycle import write_path

if TYPE_CHECKING:
    from slowwave.memory import Memory

ROWS_AT_ONCE: Final = 2_000
"""Rows of a batch (count): read, judged, embedded and committed together."""
FOLDER: Final = "imports"


@dataclass(frozen=True)
class _RowBatch(ImportSource):
    """The items of some rows as an export."""

    title, expected = "rows", "rows with a text"

    items: Sequence[ImportItem] = ()

    def read(self) -> Iterator[Read]:
        """Each stands alone."""
        for item in self.items:
            yield (item,)


class _Resume:
    """How far an import is, in a file of the home.

    Args:
        home: its folder.
        about: what makes it this import and no other.
    """

    def __init__(self, home: Path, about: object) -> None:
        self._home = home
        self._file = home / FOLDER / f"{ids.digest(FOLDER, orjson.dumps(about).decode())[:20]}.json"

    def read(self) -> tuple[int, int] | None:
        """Number of the file, and rows of it that were taken in; None: it was not begun."""
        try:
            found = orjson.loads(self._file.read_bytes())
            return int(found["file"]), int(found["rows"])
        except (FileNotFoundError, orjson.JSONDecodeError, KeyError, TypeError, ValueError):
            return None

    def write(self, file: int, count: int) -> None:
        """So far it is."""
        make_private(self._file.parent, self._home, folder=True)
        beside = self._file.with_suffix(".partial")
        make_private(beside, self._home)
        beside.write_bytes(orjson.dumps({"file": file, "rows": count}))
        beside.replace(self._file)

    def forget(self) -> None:
        """It is done."""
        self._file.unlink(missing_ok=True)


def take_rows(
    memory: Memory,
    files: Sequence[Input],
    fields: Fields,
    *,
    name: str,
    dry_run: bool = False,
    at_once: int = ROWS_AT_ONCE,
) -> NoteImportReport:
    """Take the rows of some files into a namespace.

    Args:
        memory: the namespace.
        files: read one after the other.
        fields: which columns are what.
        name: what stands before the keys.
        dry_run: read, map and judge, but write nothing.
        at_once: rows of a batch (count).

    Raises:
        ImportFailedError: a file is damaged, or its first rows have no text.
    """
    total = NoteImportReport(name, memory.namespace, dry_run)
    place = _Resume(memory.settings.home, [memory.namespace, name, fields, [asdict(one) for one in files]])
    begun = None if dry_run else place.read()
    first, after = begun or (0, 0)
    interrupted = begun is not None
    if begun is not None:
        total.notes.append(f"Went on after row {after:,} of {files[first].path}, where it was stopped.")
    with progress.task("taking in rows") as advance, ExitStack() as failing:
        if begun is None and not dry_run:
            failing.enter_context(_forgotten_if_nothing(place, total))
        for number, one in enumerate(files[first:], start=first):
            if not dry_run:
                place.write(number, after)
            for last, batch in rows(one, after, at_once):
                items = _items(memory, total, batch, fields, name, f"{one.path}:", last - len(batch))
                with progress.listening(None):  # the bar of all rows says enough
                    if interrupted:
                        _finish(memory, items)
                        interrupted = False
                    batch_read = _RowBatch(name, "", memory.home.now(), 0, items=items)
                    total.add(run_import(memory, batch_read, ImportOptions(dry_run=dry_run)))
                _refuse_nothing(total, begun, least=MAX_WAIT_SECONDS)
                if not dry_run:
                    place.write(number, last)
                advance(len(batch))
            after = 0
        _refuse_nothing(total, begun, least=1)
    if not dry_run:
        place.forget()
    return total


@contextmanager
def _forgotten_if_nothing(place: _Resume, total: NoteImportReport) -> Iterator[None]:
    """An import of which nothing could be read was not begun."""
    try:
        yield
    except ImportFailedError:
        if not total.found:
            place.forget()
        raise


def _refuse_nothing(total: NoteImportReport, begun: object, *, least: int) -> None:
    """Where none of the first rows can be taken in it is no import; one that goes on was one before."""
    if begun is not None or total.found or total.unread < least:
        return
    first = total.problems[0]
    raise ImportFailedError(
        f"Of the first {total.unread:,} rows none can be taken in: {first.place}: {first.why}. "
        f"--map says which column is what, as in --map text=body."
    )


def _items(
    memory: Memory,
    total: NoteImportReport,
    batch: Sequence[object],
    fields: Fields,
    name: str,
    where: str,
    before: int,
) -> list[ImportItem]:
    """The rows that can be read; the others are counted."""
    now = memory.home.now()
    items: list[ImportItem] = []
    for number, row in enumerate(batch, start=before + 1):
        found = item_of(row, fields, name, f"{where}{number}", now) if isinstance(row, dict) else row
        if isinstance(found, ImportItem):
            items.append(found)
        elif isinstance(found, Unread):
            total.problem(found.place, found.why)
    return items


def _finish(memory: Memory, items: Sequence[ImportItem]) -> None:
    """Let happen what a batch that was killed had written to the journal and not to the tables."""
    latest = memory.journal.latest(memory.namespace, [one.key for one in items])
    saves = [act for act in latest.values() if act.kind == "save"]
    names = [ids.memory_id(memory.namespace, act.subject) for act in saves]
    there = set()
    for table in ("memories", "quarantine"):
        there |= set(memory.store.read_by(table, "memory_id", names, columns=["memory_id"])["memory_id"])
    write_path.apply(memory.home, [act for act, name in zip(saves, names, strict=True) if name not in there])
