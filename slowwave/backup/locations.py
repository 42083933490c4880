"""From what a person or the settings say to the place and the key of backups."""

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
    """Where backups are.

    Attributes:
        place: the folder or bucket.
        key: that they are encrypted with, if they are.
        spared: files that are in no backup: the key.
    """

    place: FileStorage
    key: Key | None
    spared: Sequence[Path]

    def archive(self) -> Archive:
        """The backups that are there."""
        return Archive(self.place, self.key)


def backup_location(
    settings: Settings, given: str = "", key_file: Path | None = None, *, make: bool = False
) -> BackupLocation:
    """The place of backups and their key.

    Args:
        settings: of the home; they say what is not given.
        given: a folder or URL; empty: that of the settings.
        key_file: of the key; None: that of the settings.
        make: make the folder if it is not there.

    Raises:
        BackupError: nobody says where, or the key cannot be used.
    """
    own = settings.backup
    uri = given or place_of(settings)
    if not uri:
        raise BackupError(
            "Which place? Give a folder or s3://bucket/prefix, or set backup.uri. `slowwave help backup` "
            "tells more."
        )
    named = key_file or (settings.in_home(Path(own.key_file)) if own.key_file else None)
    options = own.storage_options or (settings.store.storage_options if "://" in settings.store.uri else {})
    place = FileStorage(uri, options if "://" in uri else None, make=make)
    return BackupLocation(
        place, None if named is None else read_key_file(named), () if named is None else (named,)
    )
