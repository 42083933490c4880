"""The switch of a home to its new place, and what is left at the old one."""

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
"""Where the home was before, with what is needed to get there: as private as the settings file."""


def switch(settings: Settings, targets: MoveTargets) -> None:
    """Let the settings file say the new places, in one step."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    _remember(settings, targets)
    path = settings.home / CONFIG_FILE
    try:
        document: Any = tomlkit.parse(path.read_text(encoding="utf-8") if path.exists() else "")
    except (TOMLKitError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} is not valid TOML: {error}. Mend that line.") from None
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
    """Let no place count as left where the home is: it may have come back there, or its move was given up.

    Args:
        settings: of the home where it is.

    Raises:
        StoreError: what the home keeps of its places cannot be read.
    """
    told = relocated_to(settings)
    if is_own(settings, told):
        _keep(settings, without_present(told, settings))


def _remember(settings: Settings, targets: MoveTargets) -> None:
    told = relocated_to(settings)
    if is_own(settings, told):
        told |= without_places(told)  # or the places of before would be forgotten with the next one
    else:  # what the home has left that this one is a copy of is not its own
        told = {"home": str(settings.home.resolve())}
    if "tables" in targets.parts:
        told["tables"] = {"uri": settings.store_uri, "options": dict(settings.store.storage_options)}
    if "journal" in targets.parts:
        told["journal"] = {"url": settings.journal.url, "file": str(settings.journal_file)}
    _keep(settings, told)


def _keep(settings: Settings, told: dict[str, Any]) -> None:
    replace_file(settings.home / LEFT, [orjson.dumps(told)], file_mode(settings.home))


def old_places(settings: Settings) -> dict[str, str]:
    """Where parts of this home were before they were moved, as long as what they left there is not removed.

    A copy of a home has left nothing, nor has a move that was killed before its switch: the home is there.

    Raises:
        StoreError: what the home keeps of it cannot be read.
    """
    told = relocated_to(settings)
    if not is_own(settings, told):
        return {}
    here = places(settings, PARTS)
    return {part: place for part, place in places_of(told).items() if place != here[part]}


def refuse_second(settings: Settings, parts: Sequence[Part]) -> None:
    """Refuse to move parts that have left something at a place before, of which nobody would know any more.

    Raises:
        StoreError: it says where, and what removes it.
    """
    old = old_places(settings)
    for part in parts:
        if part in old:
            raise StoreError(
                f"This home was moved before, and what its {part} left at {old[part]} is still there. Remove "
                f"it first: slowwave move --remove-source"
            )


def still_there(settings: Settings) -> list[str]:
    """Sentences about places that the home has left, which an erasure does not reach."""
    try:
        told, old = relocated_to(settings), old_places(settings)
    except StoreError as error:
        return [str(error)]
    if told and not is_own(settings, told) and not Path(told["home"]).is_dir():  # a copy, or renamed
        return [
            f"{place}, where the home {told['home']} was before it was moved, may still have what was "
            f"erased. If that home is no more, remove it by hand."
            for place in places_of(told).values()
        ]
    return [
        f"What was left at {place} by the move of this home may still have what was erased: "
        f"slowwave move --remove-source"
        for place in old.values()
    ]


def to_remove(settings: Settings) -> dict[str, str]:
    """What `remove` would remove: the places, by part.

    Raises:
        StoreError: nothing is left, or it is not this home's.
    """
    told = relocated_to(settings)
    if places_of(told) and not is_own(settings, told):
        raise StoreError(
            f"{settings.home / LEFT} is about another home ({told['home']}), and this one is a copy of it: "
            f"what is left there is not this home's to remove. Nothing was removed."
        )
    if not (old := old_places(settings)):
        raise StoreError("This home was not moved, or what it left is removed: there is nothing to remove.")
    return old


def remove(settings: Settings) -> dict[str, str]:
    """Remove what is left at the place where the home was before; the places, by part.

    Raises:
        StoreError: nothing is left, or it is not this home's.
    """
    old, told = to_remove(settings), relocated_to(settings)
    if "tables" in old:
        _remove_tables(FileStorage(told["tables"]["uri"], told["tables"]["options"]))
    if "journal" in old:
        _remove_journal(told["journal"])
    _keep(settings, without_places(told))
    return old


def _remove_tables(place: FileStorage) -> None:
    if place.folder is None:
        place.delete(of_tables(place))
        return
    for table in place.folder.glob("*.lance"):
        shutil.rmtree(table)
    for beside in (place.folder / SNAPSHOTS, f"{place.folder}.wal"):
        shutil.rmtree(beside, ignore_errors=True)
    with suppress(OSError):  # somebody keeps something else there
        place.folder.rmdir()


def _remove_journal(told: dict[str, str]) -> None:
    from slowwave.journal.connection import Connections
    from slowwave.journal.fencing import unfence
    from slowwave.journal.schema import metadata

    if told["url"]:
        with closing(Connections(told["url"], "full")) as connections, connections.writing() as connection:
            unfence(connection)
            metadata.drop_all(connection)
    else:
        for file in journal_files(Path(told["file"])):
            file.unlink(missing_ok=True)
