"""Making a backup of a home that is in use."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from slowwave.backup import catalog, files, rows
from slowwave.backup.archive import Archive, is_name, new_name, pieces_of
from slowwave.backup.consistent_snapshot import HomeSnapshot, MovedError, files_of, holding
from slowwave.backup.keys import Key
from slowwave.backup.model import Backup, File, JournalPage, JournalPart, TablePart
from slowwave.backup.storage import FileStorage, StoredFile
from slowwave.common import progress
from slowwave.common.version import VERSION
from slowwave.errors import BackupError
from slowwave.home.connections import table_folders
from slowwave.journal.schema import SCHEMA_VERSION
from slowwave.journal.transfer import Digest
from slowwave.settings.display import covered

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace

PIECE_BYTES = 16 * 2**20
"""Largest piece: a larger file is several (bytes)."""

_TRIES = 3


@dataclass(frozen=True, slots=True)
class Made:
    """What became of making a backup.

    Attributes:
        backup: the new one.
        place: where it is.
        backups: how many are there now (count).
        removed: names of those that were taken away.
        freed: bytes that this gave free.
        encrypted: whether nobody can read it without the key.
    """

    backup: Backup
    place: str
    backups: int
    removed: tuple[str, ...]
    freed: int
    encrypted: bool


def make(
    space: Workspace, place: FileStorage, key: Key | None, *, keep: int = 0, forget_erased: bool = False,
    spared: Sequence[Path] = (), adopt: bool = False,
) -> Made:  # fmt: skip
    """Make a backup, and take old ones away.

    Args:
        space: the home; it may be in use.
        place: where backups of this home are, or an empty one.
        key: that they are encrypted with, if they are.
        keep: how many of the newest stay (count); 0: all.
        forget_erased: also take away those that were made before something was erased.
        spared: files that are in no backup: the key.
        adopt: go on with backups that another home made which was this one once.

    Raises:
        BackupError: another backup of this home is under way, or the place cannot be used.
        UnfinishedError: a work on the whole home has begun and not ended.
    """
    if keep < 0:
        raise BackupError(f"keep is {keep}; give a count of backups, or 0 to keep them all")
    with space.journal.exclusive("backup", until=lambda: True) as mine:
        if not mine:
            raise BackupError("Another backup of this home is being made. Wait for it, then run it again.")
        home = space.settings.home
        remembered = catalog.read(home)
        if adopt:
            remembered = replace(remembered, home=Archive(place, key).home or remembered.home)
        archive = Archive.make(place, key, remembered.home)
        if not adopt:
            _refuse_another(archive, remembered)
        catalog.write(home, remembered)  # its id, before anything is there
        made = _whole(space, archive, [*spared, *_own(space, place)])
        removed, freed = _prune(archive, made, keep, forget_erased=forget_erased)
        left, _ = archive.backups()
        catalog.note(home, remembered, place.uri, catalog.LastBackup(
            made.name, made.at, made.journal.erasures, min(one.journal.erasures for one in left), len(left),
            made.sent, made.seconds,
        ))  # fmt: skip
    return Made(made, place.uri, len(left), removed, freed, key is not None)


def _refuse_another(archive: Archive, remembered: catalog.BackupCatalog) -> None:
    """A copy of a home, or one that was restored beside it, does not go on with the backups of the other."""
    newest = next(filter(is_name, reversed(archive.names())), "")
    last = remembered.places.get(archive.place.uri)  # or the place has another name now
    mine = [last.name] if last else [one.name for one in remembered.places.values()]
    mine += [name for names in remembered.begun.values() for name in names]
    if newest > max(mine, default=""):  # names sort by time
        raise BackupError(
            f"The newest backup at {archive.place.uri}, {newest}, was made by another home that was this one "
            f"once: one of the two is a copy, or was restored. Give this one a place of its own; or, if the "
            f"other one is no more, go on here with --adopt."
        )


def _own(space: Workspace, place: FileStorage) -> list[Path]:
    """What is in the home's folder and is kept otherwise, or is no part of it."""
    mine = table_folders(space.settings.store_uri)
    mine += [Path(uri) for uri in catalog.read(space.settings.home).places if "://" not in uri]
    mine += files.old_places(space.settings.home)
    return mine if place.folder is None else [*mine, place.folder]


def _whole(space: Workspace, archive: Archive, spared: Sequence[Path]) -> Backup:
    """A backup of one state; begun anew where an erasure or a rebuilding came in between."""
    for _ in range(_TRIES - 1):
        with suppress(MovedError):
            return _copied(space, archive, spared)
    return _copied(space, archive, spared)


def _copied(space: Workspace, archive: Archive, spared: Sequence[Path]) -> Backup:
    begun, at = time.monotonic(), space.now()
    before = _before(archive)
    name = new_name(at, next(filter(is_name, reversed(archive.names())), ""))
    catalog.note_begun(space.settings.home, archive.place.uri, name)
    with holding(space, name) as cut:
        tables = _tables(space, archive, cut, before)
        journal, journal_bytes = _journal(space, archive, cut, before)
        kept = _files(space, archive, spared, before)
        if space.journal.rows.erasures() != cut.erasures:
            raise MovedError("Something was erased while it was copied. Run the backup again.")
    settings = space.settings
    every = [*kept, *(file for part in tables.values() for file in part.files)]
    backup = Backup(
        name=name,
        at=at,
        home=archive.home,
        folder=str(settings.home),
        places={
            "store": settings.store.uri or "lance",
            "journal": str(covered(settings.journal.url or "journal.db")),
        },
        slowwave=VERSION,
        journal=journal,
        tables=tables,
        files=kept,
        size=journal_bytes + sum(file.size for file in every),
        sent=archive.sent,
        seconds=round(time.monotonic() - begun, 3),
    )
    archive.add(backup)
    return backup


def _before(archive: Archive) -> Backup | None:
    """The last backup that can be read: what has not changed since is not read again."""
    there = archive.stored()
    newest_first = reversed(archive.backups()[0])
    return next((one for one in newest_first if all(piece in there for piece, _ in one.pieces())), None)


# -- the parts -----------------------------------------------------------------------------------


def _tables(
    space: Workspace, archive: Archive, cut: HomeSnapshot, before: Backup | None
) -> dict[str, TablePart]:
    store = space.store
    source = FileStorage(store.uri, store.storage_options)
    versions = cut.tables.items()
    try:
        wanted = [(table, name) for table, version in versions for name in files_of(store, table, version)]
    except (OSError, RuntimeError, ValueError) as error:
        raise _moved(space, cut, error) from error
    there = source.list()
    old = {
        (table, file.name): file
        for table, part in (before.tables.items() if before else ())
        for file in part.files
    }

    def kept(one: tuple[str, str]) -> File:
        table, name = one
        path = f"{table}.lance/{name}"
        found = there.get(path)
        if found is None:
            raise FileNotFoundError(path)
        return _same_or_sent(name, found, old.get(one), lambda: source.parts(path, PIECE_BYTES), archive)

    try:
        done = progress.map_in_threads("tables", kept, wanted)
    except FileNotFoundError as error:
        raise _moved(space, cut, error) from error
    parts: dict[str, list[File]] = {table: [] for table in cut.tables}
    for (table, _), file in zip(wanted, done, strict=True):
        parts[table].append(file)
    return {table: TablePart(cut.tables[table], tuple(parts[table])) for table in parts}


def _moved(space: Workspace, cut: HomeSnapshot, error: Exception) -> BackupError:
    """What a file that went away means: a table was made anew, or its files are damaged."""
    rows = space.journal.rows
    if rows.erasures() != cut.erasures or rows.last_seq() != cut.until:
        return MovedError(
            f"The tables were changed as a whole while they were copied ({error}). Run it again."
        )
    return BackupError(f"A file of the tables is missing: {error}. slowwave doctor says what to do.")


def _same_or_sent(
    name: str, found: StoredFile, old: File | None, parts: Callable[[], Iterator[bytes]], archive: Archive,
    mode: int = 0o600,
) -> File:  # fmt: skip
    """A file that has not changed since the last backup is not read again."""
    if old is not None and old.mark == found.mark and old.size == found.size:
        return replace(old, mode=mode)
    pieces, size = pieces_of(parts(), archive)
    return File(name, size, pieces, found.mark, mode)


def _journal(
    space: Workspace, archive: Archive, cut: HomeSnapshot, before: Backup | None
) -> tuple[JournalPart, int]:
    """The journal up to the cut, and the bytes of its pages that were read anew."""
    source = space.journal.rows
    old = _unchanged(space, cut, before)
    pages, size, last = list[JournalPage](), 0, ""
    places = list(rows.bounds(cut.until))
    with progress.task("journal", len(places)) as advance:
        for first, end in places:
            known_page = old.get((first, end))
            if known_page is not None and end != cut.until:
                pages.append(known_page)
            else:
                found = rows.page_of(source, first, end)
                pieces, page_bytes = pieces_of(_slices(rows.packed(found)), archive)
                pages.append(JournalPage(first, end, len(found), pieces))
                size += page_bytes
                if found:
                    last = _hash(found[-1])
            advance(1)
    part = JournalPart(
        until=cut.until,
        rows=sum(page.rows for page in pages),
        erasures=cut.erasures,
        schema=SCHEMA_VERSION,
        last=last,
        pages=tuple(pages),
        sources=tuple(source.sources()),
    )
    return part, size


def _unchanged(
    space: Workspace, cut: HomeSnapshot, before: Backup | None
) -> dict[tuple[int, int], JournalPage]:
    """Pages of the last backup that are as they were: nothing was erased, and the journal is the same."""
    if before is None or before.journal.erasures != cut.erasures or before.journal.schema != SCHEMA_VERSION:
        return {}
    told = before.journal
    row = rows.page_of(space.journal.rows, told.until, told.until)
    if not row or _hash(row[0]) != told.last:
        return {}
    return {(page.first, page.last): page for page in told.pages}


def _hash(row: tuple[object, ...]) -> str:
    digest = Digest()
    digest.add([row])
    return digest.value()


def _slices(content: bytes) -> Iterator[bytes]:
    for start in range(0, len(content), PIECE_BYTES):
        yield content[start : start + PIECE_BYTES]


def _files(
    space: Workspace, archive: Archive, spared: Sequence[Path], before: Backup | None
) -> tuple[File, ...]:
    home = space.settings.home
    old = {file.name: file for file in before.files} if before else {}
    kept = list[File]()
    for inside in files.of_home(space.settings, spared):
        path = home / inside
        try:
            told = path.stat()
            found = StoredFile(told.st_size, f"{told.st_ino}-{told.st_mtime_ns}")
            file = _same_or_sent(
                str(inside), found, old.get(str(inside)), lambda path=path: _parts(path), archive,  # type: ignore[misc]
                told.st_mode & 0o777,
            )  # fmt: skip
        except FileNotFoundError:  # whoever had it took it away meanwhile
            continue
        except PermissionError as error:
            raise BackupError(f"{path} cannot be read: {error.strerror}. Check its owner.") from None
        kept.append(file)
    return tuple(kept)


def _parts(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield file.read(PIECE_BYTES)  # of an empty file, too
        yield from iter(partial(file.read, PIECE_BYTES), b"")


# -- old ones ------------------------------------------------------------------------------------


def _prune(archive: Archive, made: Backup, keep: int, *, forget_erased: bool) -> tuple[tuple[str, ...], int]:
    """Take old backups away, and what nobody names; their names, and the bytes that it gave free."""
    backups, _ = archive.backups()
    old = backups[: max(len(backups) - keep, 0)] if keep else []
    if forget_erased:
        old += [one for one in backups if one.journal.erasures != made.journal.erasures]
    names = sorted({one.name for one in old} - {made.name})
    archive.remove(names)
    return tuple(names), archive.sweep()
