"""Creation of a backup while the home is in use."""

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
"""Maximum size of a piece (bytes); a larger file has several."""

_TRIES = 3


@dataclass(frozen=True, slots=True)
class Made:
    """Result of a backup run.

    Attributes:
        backup: The new backup.
        place: Its place.
        backups: Backups there now (count).
        removed: Names of deleted backups.
        freed: Bytes freed by that.
        encrypted: Whether reading it needs the key.
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
    """Create a backup, and delete old ones.

    Args:
        space: The home; it may be in use.
        place: With backups of this home, or empty.
        key: Encryption key, if encrypted.
        keep: Latest backups to keep (count); 0: all.
        forget_erased: Also delete backups that are older than the latest erasure.
        spared: Files excluded from backups: the key.
        adopt: Continue the backups of another home that this one once was.

    Raises:
        BackupError: Another backup of this home is in progress, or the place cannot be used.
        PendingOpError: An operation on the whole home has begun and not ended.
    """
    if keep < 0:
        raise BackupError(f"keep is {keep}. Give a count of backups, or 0 to keep all.")
    with space.journal.exclusive("backup", until=lambda: True) as locked:
        if not locked:
            raise BackupError("Another backup of this home is being made. Wait for it, then run it again.")
        home = space.settings.home
        known_backups = catalog.read(home)
        if adopt:
            known_backups = replace(known_backups, home=Archive(place, key).home or known_backups.home)
        archive = Archive.make(place, key, known_backups.home)
        if not adopt:
            _refuse_another(archive, known_backups)
        catalog.write(home, known_backups)  # the home's id, before any backup exists
        made = _whole(space, archive, [*spared, *_own(space, place)])
        removed, freed = _prune(archive, made, keep, forget_erased=forget_erased)
        existing, _ = archive.backups()
        catalog.note(home, known_backups, place.uri, catalog.LastBackup(
            made.name, made.at, made.journal.erasures, min(found.journal.erasures for found in existing),
            len(existing), made.sent, made.seconds,
        ))  # fmt: skip
    return Made(made, place.uri, len(existing), removed, freed, key is not None)


def _refuse_another(archive: Archive, known_backups: catalog.BackupCatalog) -> None:
    """Refuse a copied or restored home that would continue the backups of its original."""
    newest = next(filter(is_name, reversed(archive.names())), "")
    last = known_backups.places.get(archive.place.uri)  # None also if the place was renamed
    own_names = [last.name] if last else [known.name for known in known_backups.places.values()]
    own_names += [name for names in known_backups.begun.values() for name in names]
    if newest > max(own_names, default=""):  # names sort by time
        raise BackupError(
            f"The newest backup at {archive.place.uri}, {newest}, was made by another copy of this home. "
            "One of the two was copied or restored. Give this one a place of its own. If the other no "
            f"longer exists, continue here with --adopt."
        )


def _own(space: Workspace, place: FileStorage) -> list[Path]:
    """Return paths in the home's folder that are backed up separately, or not at all."""
    excluded = table_folders(space.settings.store_uri)
    excluded += [Path(uri) for uri in catalog.read(space.settings.home).places if "://" not in uri]
    excluded += files.old_places(space.settings.home)
    return excluded if place.folder is None else [*excluded, place.folder]


def _whole(space: Workspace, archive: Archive, spared: Sequence[Path]) -> Backup:
    """Copy one state; restart if an erasure or a rebuild came in between."""
    for _ in range(_TRIES - 1):
        with suppress(MovedError):
            return _copied(space, archive, spared)
    return _copied(space, archive, spared)


def _copied(space: Workspace, archive: Archive, spared: Sequence[Path]) -> Backup:
    begun, at = time.monotonic(), space.now()
    before = _previous(archive)
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


def _previous(archive: Archive) -> Backup | None:
    """Return the latest readable backup; files unchanged since are not read again."""
    stored = archive.stored()
    newest_first = reversed(archive.backups()[0])
    return next(
        (backup for backup in newest_first if all(piece in stored for piece, _ in backup.pieces())), None
    )


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
    existing = source.list()
    old = {
        (table, file.name): file
        for table, part in (before.tables.items() if before else ())
        for file in part.files
    }

    def kept(key: tuple[str, str]) -> File:
        table, name = key
        path = f"{table}.lance/{name}"
        stored = existing.get(path)
        if stored is None:
            raise FileNotFoundError(path)
        return _same_or_sent(name, stored, old.get(key), lambda: source.parts(path, PIECE_BYTES), archive)

    try:
        done = progress.map_in_threads("tables", kept, wanted)
    except FileNotFoundError as error:
        raise _moved(space, cut, error) from error
    parts: dict[str, list[File]] = {table: [] for table in cut.tables}
    for (table, _), file in zip(wanted, done, strict=True):
        parts[table].append(file)
    return {table: TablePart(cut.tables[table], tuple(parts[table])) for table in parts}


def _moved(space: Workspace, cut: HomeSnapshot, error: Exception) -> BackupError:
    """Return the error for a file that disappeared: a table was recreated, or its files are damaged."""
    rows = space.journal.rows
    if rows.erasures() != cut.erasures or rows.last_seq() != cut.until:
        return MovedError(
            f"The tables were changed as a whole while they were copied ({error}). Run it again."
        )
    return BackupError(f"A file of the tables is missing: {error}. Run slowwave doctor for the next step.")


def _same_or_sent(
    name: str, stored: StoredFile, old: File | None, parts: Callable[[], Iterator[bytes]], archive: Archive,
    mode: int = 0o600,
) -> File:  # fmt: skip
    """Store a file, reusing its pieces if unchanged since the last backup."""
    if old is not None and old.mark == stored.mark and old.size == stored.size:
        return replace(old, mode=mode)
    pieces, size = pieces_of(parts(), archive)
    return File(name, size, pieces, stored.mark, mode)


def _journal(
    space: Workspace, archive: Archive, cut: HomeSnapshot, before: Backup | None
) -> tuple[JournalPart, int]:
    """Store the journal up to the cut. Return it, and the bytes of new pages."""
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
                page_rows = rows.page_of(source, first, end)
                pieces, page_bytes = pieces_of(_slices(rows.packed(page_rows)), archive)
                pages.append(JournalPage(first, end, len(page_rows), pieces))
                size += page_bytes
                if page_rows:
                    last = _hash(page_rows[-1])
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
    """Return pages of the previous backup that are still valid: nothing was erased since, same journal."""
    if before is None or before.journal.erasures != cut.erasures or before.journal.schema != SCHEMA_VERSION:
        return {}
    previous = before.journal
    row = rows.page_of(space.journal.rows, previous.until, previous.until)
    if not row or _hash(row[0]) != previous.last:
        return {}
    return {(page.first, page.last): page for page in previous.pages}


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
            stat = path.stat()
            stored = StoredFile(stat.st_size, f"{stat.st_ino}-{stat.st_mtime_ns}")
            file = _same_or_sent(
                str(inside), stored, old.get(str(inside)), lambda path=path: _parts(path), archive,  # type: ignore[misc]
                stat.st_mode & 0o777,
            )  # fmt: skip
        except FileNotFoundError:  # deleted meanwhile
            continue
        except PermissionError as error:
            raise BackupError(f"Cannot read {path}: {error.strerror}. Check its owner.") from None
        kept.append(file)
    return tuple(kept)


def _parts(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield file.read(PIECE_BYTES)  # also for an empty file
        yield from iter(partial(file.read, PIECE_BYTES), b"")


# -- old ones ------------------------------------------------------------------------------------


def _prune(archive: Archive, made: Backup, keep: int, *, forget_erased: bool) -> tuple[tuple[str, ...], int]:
    """Delete old backups and unnamed pieces. Return the names, and the freed bytes."""
    backups, _ = archive.backups()
    old = backups[: max(len(backups) - keep, 0)] if keep else []
    if forget_erased:
        old += [backup for backup in backups if backup.journal.erasures != made.journal.erasures]
    names = sorted({backup.name for backup in old} - {made.name})
    archive.remove(names)
    return tuple(names), archive.sweep()
