"""Bulk import: batches through the same gate as any save, with a resume point.

After each batch its position is written to a file in the home. Killed at any moment, the same command resumes
there; what the interrupted batch had saved is recognised by its keys.
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
from slowwave.imports.run_import import MAX_LEADING_ERRORS, ImportOptions, run_import
from slowwave.lifecycle import write_path

if TYPE_CHECKING:
    from slowwave.memory import Memory

ROWS_AT_ONCE: Final = 2_000
"""Rows per batch (count), read, judged, embedded and committed together."""
FOLDER: Final = "imports"


@dataclass(frozen=True)
class _RowBatch(ImportSource):
    """Export that consists of the items of some rows."""

    title, expected = "rows", "rows with a text"

    items: Sequence[ImportItem] = ()

    def read(self) -> Iterator[Read]:
        """Yield each item as a thread of its own."""
        for item in self.items:
            yield (item,)


class _Resume:
    """Resume point of an import, in a file of the home.

    Args:
        home: Folder.
        about: Identifies the import.
    """

    def __init__(self, home: Path, about: object) -> None:
        self._home = home
        self._file = home / FOLDER / f"{ids.digest(FOLDER, orjson.dumps(about).decode())[:20]}.json"

    def read(self) -> tuple[int, int] | None:
        """Return the index of the file and its imported rows; None: nothing to resume."""
        try:
            point = orjson.loads(self._file.read_bytes())
            return int(point["file"]), int(point["rows"])
        except (FileNotFoundError, orjson.JSONDecodeError, KeyError, TypeError, ValueError):
            return None

    def write(self, file: int, count: int) -> None:
        """Write the resume point."""
        make_private(self._file.parent, self._home, folder=True)
        partial = self._file.with_suffix(".partial")
        make_private(partial, self._home)
        partial.write_bytes(orjson.dumps({"file": file, "rows": count}))
        partial.replace(self._file)

    def forget(self) -> None:
        """Delete the resume point."""
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
    """Import the rows of some files into a namespace.

    Args:
        memory: The namespace.
        files: Read in order.
        fields: Column mapping.
        name: Prefix of the keys.
        dry_run: Read, map and judge, but write nothing.
        at_once: Rows per batch (count).

    Raises:
        ImportFailedError: A file is damaged, or its first rows have no text.
    """
    total = NoteImportReport(name, memory.namespace, dry_run)
    place = _Resume(memory.settings.home, [memory.namespace, name, fields, [asdict(file) for file in files]])
    begun = None if dry_run else place.read()
    first, after = begun or (0, 0)
    interrupted = begun is not None
    if begun is not None:
        total.notes.append(f"Resumed after row {after:,} of {files[first].path}.")
    with progress.task("importing rows") as advance, ExitStack() as failing:
        if begun is None and not dry_run:
            failing.enter_context(_forgotten_if_nothing(place, total))
        for number, file in enumerate(files[first:], start=first):
            if not dry_run:
                place.write(number, after)
            for last, batch in rows(file, after, at_once):
                items = _items(memory, total, batch, fields, name, f"{file.path}:", last - len(batch))
                with progress.listening(None):  # the bar of all rows is enough
                    if interrupted:
                        _finish(memory, items)
                        interrupted = False
                    batch_read = _RowBatch(name, "", memory.home.now(), 0, items=items)
                    total.add(run_import(memory, batch_read, ImportOptions(dry_run=dry_run)))
                _refuse_nothing(total, begun, minimum=MAX_LEADING_ERRORS)
                if not dry_run:
                    place.write(number, last)
                advance(len(batch))
            after = 0
        _refuse_nothing(total, begun, minimum=1)
    if not dry_run:
        place.forget()
    return total


@contextmanager
def _forgotten_if_nothing(place: _Resume, total: NoteImportReport) -> Iterator[None]:
    """Delete the resume point if the import fails without a readable row."""
    try:
        yield
    except ImportFailedError:
        if not total.found:
            place.forget()
        raise


def _refuse_nothing(total: NoteImportReport, begun: object, *, minimum: int) -> None:
    """Refuse an import whose first rows are all unusable, unless it is resumed."""
    if begun is not None or total.found or total.unread < minimum:
        return
    first = total.problems[0]
    raise ImportFailedError(
        f"None of the first {total.unread:,} rows can be imported: {first.place}: {first.why}. "
        f"Map the columns with --map, for example --map text=body."
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
    """Return the readable rows as items; count the others."""
    now = memory.home.now()
    items: list[ImportItem] = []
    for number, row in enumerate(batch, start=before + 1):
        item = item_of(row, fields, name, f"{where}{number}", now) if isinstance(row, dict) else row
        if isinstance(item, ImportItem):
            items.append(item)
        elif isinstance(item, Unread):
            total.problem(item.place, item.why)
    return items


def _finish(memory: Memory, items: Sequence[ImportItem]) -> None:
    """Apply events of a killed batch that reached only the journal."""
    latest = memory.journal.latest(memory.namespace, [item.key for item in items])
    saves = [entry for entry in latest.values() if entry.kind == "save"]
    names = [ids.memory_id(memory.namespace, entry.subject) for entry in saves]
    existing = set()
    for table in ("memories", "quarantine"):
        existing |= set(memory.store.read_by(table, "memory_id", names, columns=["memory_id"])["memory_id"])
    write_path.apply(
        memory.home, [entry for entry, name in zip(saves, names, strict=True) if name not in existing]
    )
