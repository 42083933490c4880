"""The switch of a home to its new place, and what is left at the old one."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from slowwave.backup.place import Place
from slowwave.common.permissions import make_private
from slowwave.errors import SettingsError, StoreError
from slowwave.settings import CONFIG_FILE, Settings
from slowwave.upkeep.moving.files import of_tables
from slowwave.upkeep.moving.targets import Targets, places

LEFT = "moved-from.json"
"""Where the home was before, with what is needed to get there: as private as the settings file."""


def switch(settings: Settings, targets: Targets) -> None:
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
        name = "store" if part == "tables" else "journal"
        group = document.setdefault(name, tomlkit.table())
        for key, value in values.items():
            if value:
                group[key] = value
            else:
                group.pop(key, None)
        if not group:
            del document[name]
    _replace(path, settings.home, tomlkit.dumps(document).encode())


def _remember(settings: Settings, targets: Targets) -> None:
    try:
        told: dict[str, Any] = orjson.loads((settings.home / LEFT).read_bytes())
    except FileNotFoundError:
        told = {}
    if "tables" in targets.parts:
        told["tables"] = {"uri": settings.store_uri, "options": dict(settings.store.storage_options)}
    if "journal" in targets.parts:
        told["journal"] = {"url": settings.journal.url, "file": str(settings.journal_file)}
    _replace(settings.home / LEFT, settings.home, orjson.dumps(told))


def _replace(path: Path, home: Path, content: bytes) -> None:
    beside = path.with_name(f".{path.name}.partial")
    beside.unlink(missing_ok=True)
    make_private(beside, home)
    with beside.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def remove(settings: Settings) -> dict[str, str]:
    """Remove what is left at the place where the home was before; the places, by part.

    Raises:
        StoreError: nothing is left, or the home is there.
    """
    try:
        told = orjson.loads((settings.home / LEFT).read_bytes())
    except FileNotFoundError:
        raise StoreError(
            "This home was not moved, or what it left is removed: there is nothing to remove."
        ) from None
    removed = {}
    here = places(settings, ("tables", "journal"))
    if "tables" in told:
        _refuse_own(told["tables"]["uri"], here["tables"])
    if "journal" in told:
        _refuse_own(_journal_place(told["journal"]), here["journal"])
    if "tables" in told:
        _remove_tables(Place(told["tables"]["uri"], told["tables"]["options"]))
        removed["tables"] = told["tables"]["uri"]
    if "journal" in told:
        removed["journal"] = _remove_journal(told["journal"])
    (settings.home / LEFT).unlink()
    return removed


def _refuse_own(place: str, here: str) -> None:
    if place == here:
        raise StoreError(f"{here} is where the home is; it was not removed.")


def _remove_tables(place: Place) -> None:
    if place.folder is None:
        place.delete(of_tables(place))
        return
    for table in place.folder.glob("*.lance"):
        shutil.rmtree(table)
    shutil.rmtree(f"{place.folder}.wal", ignore_errors=True)
    with suppress(OSError):  # somebody keeps something else there
        place.folder.rmdir()


def _journal_place(told: dict[str, str]) -> str:
    from slowwave.settings.shown import covered

    return str(covered(told["url"] or told["file"]))


def _remove_journal(told: dict[str, str]) -> str:
    from slowwave.journal.connection import Connections
    from slowwave.journal.fencing import unfence
    from slowwave.journal.schema import metadata

    if told["url"]:
        connections = Connections(told["url"], "full")
        try:
            with connections.writing() as connection:
                unfence(connection)
                metadata.drop_all(connection)
        finally:
            connections.close()
    else:
        file = Path(told["file"])
        for name in (file.name, f"{file.name}-wal", f"{file.name}-shm"):
            file.with_name(name).unlink(missing_ok=True)
    return _journal_place(told)
