"""Cutover of a home to its new place, and removal of the old one."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import orjson

from slowwave.backup.storage import FileStorage
from slowwave.common.files import replace_file
from slowwave.common.permissions import file_mode
from slowwave.errors import SettingsError, StoreError
from slowwave.home.connections import journal_files
from slowwave.home.embedding_model import MOVED_FROM
from slowwave.home.relocation import (
    PARTS,
    SETTINGS_OF,
    Part,
    is_own,
    places,
    places_of,
    relocated_to,
    without_places,
    without_present,
)
from slowwave.index.mmap_snapshot import FOLDER as SNAPSHOTS
from slowwave.maintenance.moving.files import of_tables
from slowwave.maintenance.moving.targets import MoveTargets
from slowwave.settings import CONFIG_FILE, Settings

LEFT = MOVED_FROM
"""File with the previous places of the home and their access options, as private as the settings file."""


def switch(settings: Settings, targets: MoveTargets) -> None:
    """Write the new places to the settings file, atomically."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    _remember(settings, targets)
    path = settings.home / CONFIG_FILE
    try:
        document: Any = tomlkit.parse(path.read_text(encoding="utf-8") if path.exists() else "")
    except (TOMLKitError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} is not valid TOML: {error}. Fix that line.") from None
    for part, values in targets.values.items():
        name = SETTINGS_OF[part][0][0]
        group = document.setdefault(name, tomlkit.table())
        for key, value in values.items():
            if value:
                group[key] = value
            else:
                group.pop(key, None)
        if not group:
            del document[name]
    replace_file(path, [tomlkit.dumps(document).encode()], file_mode(settings.home))
    settle(targets.settings)


def settle(settings: Settings) -> None:
    """Drop records of the home's current places, after a move back or a cancellation.

    Args:
        settings: Of the home's current place.

    Raises:
        StoreError: The record of its places cannot be read.
    """
    record = relocated_to(settings)
    if is_own(settings, record):
        _write_record(settings, without_present(record, settings))


def _remember(settings: Settings, targets: MoveTargets) -> None:
    record = relocated_to(settings)
    if is_own(settings, record):
        record |= without_places(record)  # else the next move would lose the previous places
    else:  # a copied home does not own the places of its original
        record = {"home": str(settings.home.resolve())}
    if "tables" in targets.parts:
        record["tables"] = {"uri": settings.store_uri, "options": dict(settings.store.storage_options)}
    if "journal" in targets.parts:
        record["journal"] = {"url": settings.journal.url, "file": str(settings.journal_file)}
    _write_record(settings, record)


def _write_record(settings: Settings, record: dict[str, Any]) -> None:
    replace_file(settings.home / LEFT, [orjson.dumps(record)], file_mode(settings.home))


def old_places(settings: Settings) -> dict[str, str]:
    """Return previous places of this home that still have its data, by part.

    A copied home has left none, nor has a move that was killed before its cutover.

    Raises:
        StoreError: The record of its places cannot be read.
    """
    record = relocated_to(settings)
    if not is_own(settings, record):
        return {}
    here = places(settings, PARTS)
    return {part: place for part, place in places_of(record).items() if place != here[part]}


def refuse_second(settings: Settings, parts: Sequence[Part]) -> None:
    """Refuse to move parts whose previous place still has data: the record would lose it.

    Raises:
        StoreError: Names the place and the command that removes it.
    """
    old = old_places(settings)
    for part in parts:
        if part in old:
            raise StoreError(
                f"This home was moved before, and its old {part} are still at {old[part]}. Remove "
                f"them first: slowwave move --remove-source"
            )


def still_there(settings: Settings) -> list[str]:
    """Return sentences about previous places of the home, which an erasure does not reach."""
    try:
        record, old = relocated_to(settings), old_places(settings)
    except StoreError as error:
        return [str(error)]
    if record and not is_own(settings, record) and not Path(record["home"]).is_dir():  # a copy, or renamed
        return [
            f"{place}, the previous place of the home {record['home']}, may still have erased texts. "
            f"If that home no longer exists, remove it by hand."
            for place in places_of(record).values()
        ]
    return [
        f"The previous place of this home, {place}, may still have erased texts. Remove it: "
        f"slowwave move --remove-source"
        for place in old.values()
    ]


def to_remove(settings: Settings) -> dict[str, str]:
    """Return the places that `remove` would remove, by part.

    Raises:
        StoreError: Nothing is left, or it is not this home's.
    """
    record = relocated_to(settings)
    if places_of(record) and not is_own(settings, record):
        raise StoreError(
            f"{settings.home / LEFT} belongs to another home ({record['home']}), and this one is a copy of "
            f"it. Remove the old place from that home. Nothing was removed."
        )
    if not (old := old_places(settings)):
        raise StoreError(
            "This home was not moved, or its old place is removed already: there is nothing to remove."
        )
    return old


def remove(settings: Settings) -> dict[str, str]:
    """Remove the data at the home's previous place. Return the places, by part.

    Raises:
        StoreError: Nothing is left, or it is not this home's.
    """
    old, record = to_remove(settings), relocated_to(settings)
    if "tables" in old:
        _remove_tables(FileStorage(record["tables"]["uri"], record["tables"]["options"]))
    if "journal" in old:
        _remove_journal(record["journal"])
    _write_record(settings, without_places(record))
    return old


def _remove_tables(place: FileStorage) -> None:
    if place.folder is None:
        place.delete(of_tables(place))
        return
    for table in place.folder.glob("*.lance"):
        shutil.rmtree(table)
    for beside in (place.folder / SNAPSHOTS, f"{place.folder}.wal"):
        shutil.rmtree(beside, ignore_errors=True)
    with suppress(OSError):  # the folder has other files
        place.folder.rmdir()


def _remove_journal(place: dict[str, str]) -> None:
    from slowwave.journal.connection import Connections
    from slowwave.journal.fencing import unfence
    from slowwave.journal.schema import metadata

    if place["url"]:
        with closing(Connections(place["url"], "full")) as connections, connections.writing() as connection:
            unfence(connection)
            metadata.drop_all(connection)
    else:
        for file in journal_files(Path(place["file"])):
            file.unlink(missing_ok=True)
