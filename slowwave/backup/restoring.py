"""Restore of a backup into an empty home.

A marker file in the home exists from the first step until after the last. Nobody else opens the home
meanwhile, and after a kill the same command resumes. Every step is idempotent: files are written atomically,
and existing journal rows are compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from slowwave.backup import catalog, rows
from slowwave.backup.archive import Archive
from slowwave.backup.blob_encryption import DamagedError
from slowwave.backup.files import is_left_out, leftovers
from slowwave.backup.model import Backup, File
from slowwave.backup.settings_file import with_own_places
from slowwave.backup.storage import FileStorage
from slowwave.common import progress
from slowwave.common.files import replace_file
from slowwave.common.permissions import file_mode, make_home, make_private, mask_of
from slowwave.errors import BackupError
from slowwave.home.connections import open_journal
from slowwave.home.embedding_model import RESTORING as MARKER
from slowwave.journal.schema import SCHEMA_VERSION
from slowwave.journal.transfer import Digest
from slowwave.settings import CONFIG_FILE, Settings

if TYPE_CHECKING:
    from slowwave.journal import Journal


@dataclass(frozen=True, slots=True)
class Restored:
    """Result of a restore.

    Attributes:
        backup: The restored backup.
        home: Folder.
        tables: Place of the tables now.
        journal: Place of the journal now, without a password.
        digest: Hash of the journal's entries in the home now.
        changed: Settings of places that differ from the backup.
    """

    backup: Backup
    home: str
    tables: str
    journal: str
    digest: str
    changed: tuple[str, ...]


def restore(settings: Settings, archive: Archive, at: str = "") -> Restored:
    """Restore a backup into an empty home.

    Args:
        settings: Of the new home; they decide the places of tables and journal.
        archive: The backups.
        at: Name of the backup, its prefix, or a time; empty: the latest.

    Raises:
        BackupError: The home is not empty, or pieces of the backup are damaged or missing.
        NotFoundError: There is no such backup.
    """
    backup = archive.named(at)
    if backup.journal.schema > SCHEMA_VERSION:
        raise BackupError(
            f"The journal of this backup has schema version {backup.journal.schema}, but this Slowwave "
            f"supports version {SCHEMA_VERSION}. Restore it with Slowwave {backup.slowwave} or newer."
        )
    home = settings.home
    goes_on = _begun(home, backup)
    if not goes_on:
        _refuse_nonempty(settings)
    make_home(home)
    replace_file(home / MARKER, [orjson.dumps({"backup": backup.name})], file_mode(home))
    if "://" not in settings.store_uri:
        make_private(Path(settings.store_uri), home, folder=True)
    tables = FileStorage(settings.store_uri, settings.store.storage_options)
    with open_journal(settings, "normal" if settings.journal.url else settings.journal.durability) as journal:
        if not goes_on and journal.rows.count():
            (home / MARKER).unlink()
            raise BackupError(
                f"The journal {_place_of_journal(settings)} has entries already. Choose an empty one, or "
                f"another home."
            )
        _tables(archive, backup, tables)
        digest = _acts(archive, backup, journal)
    changed = _files(archive, backup, settings)
    catalog.write(home, catalog.of_restored(archive, backup))
    (home / MARKER).unlink()
    return Restored(backup, str(home), settings.store_uri, _place_of_journal(settings), digest, changed)


def _place_of_journal(settings: Settings) -> str:
    from slowwave.settings.display import covered

    return str(covered(settings.journal.url or str(settings.journal_file)))


def _begun(home: Path, backup: Backup) -> bool:
    """Whether a restore of this backup has begun here.

    Raises:
        BackupError: A restore of another backup has begun.
    """
    try:
        begun = orjson.loads((home / MARKER).read_bytes()).get("backup", "?")
    except FileNotFoundError:
        return False
    except ValueError:
        begun = "?"
    if begun != backup.name:
        raise BackupError(
            f"A restore of the backup {begun} has begun in {home} and not ended. Finish it with "
            f"--at {begun}, or remove the folder."
        )
    return True


def _refuse_nonempty(settings: Settings) -> None:
    home = settings.home
    if unexpected := leftovers(settings):
        raise BackupError(
            f"The home {home} is not empty ({', '.join(unexpected[:3])}). Restore into a new folder: "
            f"slowwave --home FOLDER restore …"
        )
    tables = FileStorage(settings.store_uri, settings.store.storage_options)
    if existing := tables.list():
        raise BackupError(
            f"There are tables at {tables.uri} already ({sorted(existing)[0]}, …). Set store.uri to an empty "
            f"place."
        )


def _content(archive: Archive, pieces: Iterable[str], what: str) -> Iterator[bytes]:
    for piece in pieces:
        try:
            yield archive.get(piece)
        except DamagedError as error:
            raise BackupError(
                f"Cannot restore {what}: piece {piece[:12]}… of the backup {error}. `slowwave verify` lists "
                f"the intact backups; restore one of them with --at."
            ) from None


def _tables(archive: Archive, backup: Backup, place: FileStorage) -> None:
    existing = place.list()
    named = {f"{table}.lance/{file.name}" for table, part in backup.tables.items() for file in part.files}
    if others := existing.keys() - named:
        raise BackupError(
            f"{place.uri} has files of other tables ({sorted(others)[0]}). Choose an empty place."
        )

    def restore_file(item: tuple[str, File]) -> None:
        table, file = item
        path = f"{table}.lance/{file.name}"
        stored = existing.get(path)
        if stored is None or stored.size != file.size:
            parts = _content(archive, file.pieces, f"Table {table}, {file.name}")
            place.put(path, next(parts) if len(file.pieces) == 1 else parts)

    # Data files come before the version that names them; meta, which describes all tables, comes last.
    items = [(table, file) for table, part in backup.tables.items() for file in part.files]
    items.sort(key=lambda item: (item[0] == "meta", item[1].name.startswith(("_versions/", "_refs/"))))
    progress.map_in_threads("tables", restore_file, items)


def _acts(archive: Archive, backup: Backup, journal: Journal) -> str:
    part, digest = backup.journal, Digest()
    with progress.task("journal", len(part.pages)) as advance:
        for page in part.pages:
            what = f"Journal, entries {page.first:,} to {page.last:,}"
            page_rows = rows.unpacked(b"".join(_content(archive, page.pieces, what)))
            journal.rows.put(page_rows)
            digest.add(page_rows)
            advance(1)
    journal.rows.put_sources(part.sources)
    if journal.rows.digest() != digest.value():
        raise BackupError(
            "The journal differs from that of the backup, because another process wrote to it. Remove the "
            "restored home, and start again."
        )
    return digest.value()


def _files(archive: Archive, backup: Backup, settings: Settings) -> tuple[str, ...]:
    home, mask = settings.home, mask_of(settings.home)
    changed: tuple[str, ...] = ()
    own = [file for file in backup.files if not is_left_out(Path(file.name))]  # else it could hide the tables
    with progress.task("files", len(own)) as advance:
        for file in sorted(own, key=lambda item: item.name == CONFIG_FILE):
            content = _content(archive, file.pieces, f"File {file.name}")
            if file.name == CONFIG_FILE:
                text, changed = with_own_places(b"".join(content).decode(), home)
                content = iter([text.encode()])
            path = home / file.name
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, content, file.mode & ~mask)
            advance(1)
    return changed
