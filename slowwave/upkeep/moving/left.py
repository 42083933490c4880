"""The switch of a home to its new place, and what is left at the old one."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from slowwave.backup.place import Place
from slowwave.common.permissions import make_private
from slowwave.errors import SettingsError, StoreError
from slowwave.home.model import MOVED_FROM
from slowwave.search.channels.mapped import FOLDER as SNAPSHOTS
from slowwave.settings import CONFIG_FILE, Settings, load
from slowwave.settings.shown import covered
from slowwave.upkeep.moving.files import of_tables
from slowwave.upkeep.moving.targets import Part, Targets, places

LEFT = MOVED_FROM
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
    told = _told(settings)
    if not _is_own(settings, told):  # what the home has left that this one is a copy of is not its own
        told = {"home": str(settings.home.resolve())}
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


def _told(settings: Settings) -> dict[str, Any]:
    """What the home keeps of its last place; empty where it was not moved.

    Raises:
        StoreError: it cannot be read.
    """
    path = settings.home / LEFT
    try:
        told: dict[str, Any] = orjson.loads(path.read_bytes())
        _ = str(told["home"]), _places_of(told)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(
            f"{path}, which says where this home was before it was moved, cannot be read ({error!r}). Look "
            f"whether anything is left there, remove it by hand, then delete this file: rm "
            f"{shlex.quote(str(path))}"
        ) from None
    return told


def _is_own(settings: Settings, told: dict[str, Any]) -> bool:
    """Whether it is about this home, and not about one that this is a copy of."""
    return bool(told) and told["home"] == str(settings.home.resolve())


def _places_of(told: dict[str, Any]) -> dict[str, str]:
    """The places in it, without a password."""
    found: dict[str, str] = {}
    if "tables" in told:
        _ = dict(told["tables"]["options"])
        found["tables"] = str(covered(told["tables"]["uri"]))
    if "journal" in told:
        found["journal"] = str(covered(told["journal"]["url"] or told["journal"]["file"]))
    return found


def old_places(settings: Settings) -> dict[str, str]:
    """Where parts of this home were before they were moved, as long as what they left there is not removed.

    A copy of a home has left nothing, nor has a move that was killed before its switch: the home is there.

    Raises:
        StoreError: what the home keeps of it cannot be read.
    """
    told = _told(settings)
    if not _is_own(settings, told):
        return {}
    here = places(settings, ("tables", "journal"))
    return {part: place for part, place in _places_of(told).items() if place != here[part]}


def refuse_stale(settings: Settings) -> None:
    """Refuse a process that still has the settings that this home had before it was moved.

    Raises:
        StoreError: it says where the home is now.
    """
    try:
        told = _told(settings)
    except StoreError:
        return  # whoever needs it says so
    if not _is_own(settings, told):
        return
    here, now = (places(one, ("tables", "journal")) for one in (settings, load(settings.home)))
    if any(place == here[part] != now[part] for part, place in _places_of(told).items()):
        raise StoreError(
            f"This home is moved to another place: its tables and journal are at {', '.join(now.values())} "
            f"now. Nothing was done; start this process again."
        )


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
        told, old = _told(settings), old_places(settings)
    except StoreError as error:
        return [str(error)]
    if told and not _is_own(settings, told) and not Path(told["home"]).is_dir():  # a copy, or renamed
        return [
            f"{place}, where the home {told['home']} was before it was moved, may still have what was "
            f"erased. If that home is no more, remove it by hand."
            for place in _places_of(told).values()
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
    told = _told(settings)
    if told and not _is_own(settings, told):
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
    old, told = to_remove(settings), _told(settings)
    if "tables" in old:
        _remove_tables(Place(told["tables"]["uri"], told["tables"]["options"]))
    if "journal" in old:
        _remove_journal(told["journal"])
    (settings.home / LEFT).unlink()
    return old


def _remove_tables(place: Place) -> None:
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
