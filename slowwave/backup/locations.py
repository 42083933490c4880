"""Resolution of the place and the key of backups, from arguments and settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from slowwave.backup.archive import Archive
from slowwave.backup.catalog import place_of
from slowwave.backup.keys import Key, read_key_file
from slowwave.backup.storage import FileStorage
from slowwave.errors import BackupError
from slowwave.settings import Settings


@dataclass(frozen=True, slots=True)
class BackupLocation:
    """Place and key of backups.

    Attributes:
        place: Folder or bucket.
        key: Encryption key, if encrypted.
        spared: Files excluded from backups: the key.
    """

    place: FileStorage
    key: Key | None
    spared: Sequence[Path]

    def archive(self) -> Archive:
        """Open the archive at the place."""
        return Archive(self.place, self.key)


def backup_location(
    settings: Settings, given: str = "", key_file: Path | None = None, *, make: bool = False
) -> BackupLocation:
    """Resolve the place of backups and their key.

    Args:
        settings: Of the home; defaults for the other arguments.
        given: A folder or URL; empty: that of the settings.
        key_file: None: that of the settings.
        make: Create the folder if missing.

    Raises:
        BackupError: No place is given or set, or the key cannot be used.
    """
    own = settings.backup
    uri = given or place_of(settings)
    if not uri:
        raise BackupError(
            "No place of backups is given. Give a folder or s3://bucket/prefix, or set backup.uri. See "
            "`slowwave help backup`."
        )
    named = key_file or (settings.in_home(Path(own.key_file)) if own.key_file else None)
    options = own.storage_options or (settings.store.storage_options if "://" in settings.store.uri else {})
    place = FileStorage(uri, options if "://" in uri else None, make=make)
    return BackupLocation(
        place, None if named is None else read_key_file(named), () if named is None else (named,)
    )
