"""Making a home out of a backup, where there is none.

A file in the home says that it is being made, from the first step to after the last: nobody else opens the
home meanwhile, and whoever was killed goes on by the same command. Every step can be done again: files are
there whole or not at all, and rows of the journal that are there are compared.
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
    """What became of a restore.

    Attributes:
        backup: that the home was made of.
        home: the folder.
        tables: where the tables are now.
        journal: where the journal is now, without a password.
        digest: hash of the acts of the journal, as they are in the home now.
        changed: settings that are other ones than in the backup, as they are about places.
    """

    backup: Backup
    home: str
    tables: str
    journal: str
    digest: str
    changed: tuple[str, ...]


def restore(settings: Settings, archive: Archive, at: str = "") -> Restored:
    """Make an empty home equal to the one that a backup is of.

    Args:
        settings: of the home that is to be; where tables and journal go is as they say.
        archive: the backups.
        at: which one: a name, its beginning, or a moment; empty: the last one.

    Raises:
        BackupError: the home is not empty, or pieces of the backup are damaged or missing.
        NotFoundError: there is no such backup.
    """
    backup = archive.named(at)
    if backup.journal.schema > SCHEMA_VERSION:
        raise BackupError(
            f"The journal of this backup has schema version {backup.journal.schema}, and this Slowwave "
            f"knows version {SCHEMA_VERSION}: restore it with Slowwave {backup.slowwave} or newer."
        )
    home = settings.home
    goes_on = _begun(home, backup)
    if not goes_on:
        _refuse_what_is_there(settings)
    make_home(home)
    replace_file(home / MARKER, [orjson.dumps({"backup": backup.name})], file_mode(home))
    if "://" not in settings.store_uri:
        make_private(Path(settings.store_uri), home, folder=True)
    tables = FileStorage(settings.store_uri, settings.store.storage_options)
    with open_journal(settings, "normal" if settings.journal.url else settings.journal.durability) as journal:
        if not goes_on and journal.rows.count():
            (home / MARKER).unlink()
            raise BackupError(
                f"The journal {_place_of_journal(settings)} has acts already; give an empty one, or "
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
    """Whether a restore of this backup was begun here.

    Raises:
        BackupError: one of another backup was.
    """
    try:
        begun = orjson.loads((home / MARKER).read_bytes()).get("backup", "?")
    except FileNotFoundError:
        return False
    except ValueError:
        begun = "?"
    if begun != backup.name:
        raise BackupError(
            f"A restore of the backup {begun} was begun in {home} and has not ended. Finish it with "
            f"--at {begun}, or remove the folder."
        )
    return True


def _refuse_what_is_there(settings: Settings) -> None:
    home = settings.home
    if left := leftovers(settings):
        raise BackupError(
            f"The home {home} is not empty ({', '.join(left[:3])}). Restore into a folder that is not there: "
            f"slowwave --home FOLDER restore …"
        )
    tables = FileStorage(settings.store_uri, settings.store.storage_options)
    if there := tables.list():
        raise BackupError(
            f"There are tables at {tables.uri} already ({sorted(there)[0]}, …). Give an empty place in "
            f"store.uri."
        )


def _content(archive: Archive, pieces: Iterable[str], what: str) -> Iterator[bytes]:
    for piece in pieces:
        try:
            yield archive.get(piece)
        except DamagedError as error:
            raise BackupError(
                f"{what} cannot be restored: piece {piece[:12]}… of the backup {error}. `slowwave verify` "
                f"says which backups are whole; --at restores one of them."
            ) from None


def _tables(archive: Archive, backup: Backup, place: FileStorage) -> None:
    there = place.list()
    named = {f"{table}.lance/{file.name}" for table, part in backup.tables.items() for file in part.files}
    if strange := there.keys() - named:
        raise BackupError(
            f"{place.uri} has files of other tables ({sorted(strange)[0]}). Give an empty place."
        )

    def one(item: tuple[str, File]) -> None:
        table, file = item
        path = f"{table}.lance/{file.name}"
        found = there.get(path)
        if found is None or found.size != file.size:
            parts = _content(archive, file.pieces, f"Table {table}, {file.name}")
            place.put(path, next(parts) if len(file.pieces) == 1 else parts)

    # What a version is made of comes before it, and the table that says what all the others are comes last.
    items = [(table, file) for table, part in backup.tables.items() for file in part.files]
    items.sort(key=lambda item: (item[0] == "meta", item[1].name.startswith(("_versions/", "_refs/"))))
    progress.map_in_threads("tables", one, items)


def _acts(archive: Archive, backup: Backup, journal: Journal) -> str:
    told, digest = backup.journal, Digest()
    with progress.task("journal", len(told.pages)) as advance:
        for page in told.pages:
            what = f"Journal, acts {page.first:,} to {page.last:,}"
            found = rows.unpacked(b"".join(_content(archive, page.pieces, what)))
            journal.rows.put(found)
            digest.add(found)
            advance(1)
    journal.rows.put_sources(told.sources)
    if journal.rows.digest() != digest.value():
        raise BackupError(
            "The journal is another one than that of the backup: somebody wrote to it meanwhile. Remove what "
            "was restored, and begin anew."
        )
    return digest.value()


def _files(archive: Archive, backup: Backup, settings: Settings) -> tuple[str, ...]:
    home, mask = settings.home, mask_of(settings.home)
    changed: tuple[str, ...] = ()
    own = [file for file in backup.files if not is_left_out(Path(file.name))]  # or it would hide the tables
    with progress.task("files", len(own)) as advance:
        for file in sorted(own, key=lambda one: one.name == CONFIG_FILE):
            content = _content(archive, file.pieces, f"File {file.name}")
            if file.name == CONFIG_FILE:
                text, changed = with_own_places(b"".join(content).decode(), home)
                content = iter([text.encode()])
            path = home / file.name
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, content, file.mode & ~mask)
            advance(1)
    return changed
