"""Previous places of a moved home, and the refusal of processes that still use them.

A move leaves the old place unchanged. A process with the old settings would open it, or recreate it after
its removal, and nothing saved there would be in the home. So the home keeps the names of all its previous
places, also after their content is removed. Opening a part checks them first.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from slowwave.errors import HomeMovedError, SettingsError, StoreError
from slowwave.home.embedding_model import MOVED_FROM
from slowwave.journal.maintenance_ops import describe_op

if TYPE_CHECKING:
    from slowwave.settings import Settings

Part = Literal["tables", "journal"]
PARTS: tuple[Part, ...] = ("tables", "journal")
_LEFT = "left"
SETTINGS_OF: dict[Part, tuple[tuple[str, str], ...]] = {
    "tables": (("store", "uri"), ("store", "storage_options")),
    "journal": (("journal", "url"),),
}
"""Settings of each part's place, by group and name; the first one is its address."""


def places(settings: Settings, parts: Iterable[Part]) -> dict[str, str]:
    """Return the place of each part of a home, without passwords."""
    from slowwave.settings.display import covered

    addresses = {"tables": settings.store_uri, "journal": settings.journal.url or str(settings.journal_file)}
    return {part: describe_op(str(covered(addresses[part]))) for part in parts}


def relocated_to(settings: Settings) -> dict[str, Any]:
    """Return the home's record of its previous places; empty if it was never moved.

    Raises:
        StoreError: The record cannot be read.
    """
    path = settings.home / MOVED_FROM
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise _unreadable(settings, error) from None
    import orjson

    try:
        record: dict[str, Any] = orjson.loads(content)
        _ = str(record["home"]), all_old_places(record)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _unreadable(settings, error) from None
    return record


def _unreadable(settings: Settings, error: Exception) -> StoreError:
    path = settings.home / MOVED_FROM
    return StoreError(
        f"Cannot read {path}, which has the previous places of this home: {error!r}. Check whether anything "
        f"is left there, remove it by hand, then delete this file: rm {shlex.quote(str(path))}"
    )


def is_own(settings: Settings, record: Mapping[str, Any]) -> bool:
    """Whether the record belongs to this home, not to one that was copied here."""
    return bool(record) and record["home"] == str(settings.home.resolve())


def places_of(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the last previous place of each part that is not removed, without passwords."""
    from slowwave.settings.display import covered

    last: dict[str, str] = {}
    if "tables" in record:
        _ = dict(record["tables"]["options"])
        last["tables"] = describe_op(str(covered(record["tables"]["uri"])))
    if "journal" in record:
        last["journal"] = describe_op(str(covered(record["journal"]["url"] or record["journal"]["file"])))
    return last


def all_old_places(record: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return every previous place of each part, without passwords."""
    before, last = dict(record.get(_LEFT, {})), places_of(record)
    return {part: sorted({*before.get(part, ()), *([last[part]] if part in last else ())}) for part in PARTS}


def without_places(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record after the last places were removed: they stay refused."""
    return {"home": record["home"], _LEFT: all_old_places(record)}


def without_present(record: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Return the record without the places where the home is now.

    A home may have come back to one of them, or a part may never have left.
    """
    here, last = places(settings, PARTS), places_of(record)
    old = {part: [place for place in all_old_places(record)[part] if place != here[part]] for part in PARTS}
    elsewhere = {part: record[part] for part, place in last.items() if place != here[part]}
    return {"home": record["home"], **elsewhere, _LEFT: old}


def require_current(settings: Settings) -> None:
    """Refuse a process with settings from before the home was moved.

    Raises:
        HomeMovedError: The home was moved; the message says where it is now.
        SettingsError: The settings file, which names the present place, cannot be read.
    """
    try:
        record = relocated_to(settings)
    except StoreError:
        return  # the caller that needs the record reports this
    if not is_own(settings, record):
        return
    old, here = all_old_places(record), places(settings, PARTS)
    behind = [part for part in PARTS if here[part] in old[part]]
    if not behind:
        return
    now = here | places(_as_filed(settings), behind)
    if now == here:
        return
    if any(now[part] in old[part] for part in behind):  # a process that has the places in variables only
        names = ", ".join(".".join(SETTINGS_OF[part][0]) for part in behind)
        raise HomeMovedError(
            f"This home was moved meanwhile: it is no longer at {', '.join(here[part] for part in behind)}, "
            f"and its settings file does not name the new place. Set {names}, in the file or in a "
            f"variable, and start this process again."
        )
    raise HomeMovedError(
        f"This home was moved meanwhile: its tables and journal are at {', '.join(now.values())} now. "
        f"Start this process again, or run the command again{_without(behind)}."
    )


class MoveWatch:
    """Check as `require_current`, repeated only if a file changed since the last call.

    It may run with every call: it costs one stat of a file that most homes do not have.

    Args:
        settings: Settings of the process.
    """

    def __init__(self, settings: Settings) -> None:
        from slowwave.settings import CONFIG_FILE

        self._settings = settings
        self._left, self._file = (os.fspath(settings.home / name) for name in (MOVED_FROM, CONFIG_FILE))
        self._seen: object = None

    def __call__(self) -> None:
        """Check.

        Raises:
            HomeMovedError: See `require_current`.
            SettingsError: See `require_current`.
        """
        state = _state(self._left)
        now = None if state is None else (state, _state(self._file))
        if now != self._seen:
            require_current(self._settings)
            self._seen = now


def _state(file: str) -> tuple[int, int, int] | None:
    """Return inode, modification time (ns) and size of a file, which reveal a change; None if missing."""
    try:
        stat = os.stat(file)  # noqa: PTH116 - half the time of a path's
    except OSError:
        return None
    return stat.st_ino, stat.st_mtime_ns, stat.st_size


def _as_filed(settings: Settings) -> Settings:
    """Return the settings with the places of the file: a variable may still have the old ones."""
    import tomllib

    from slowwave.settings import CONFIG_FILE

    path = settings.home / CONFIG_FILE
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} is not valid TOML: {error}. Fix that line.") from None
    groups = {group: values for group, values in content.items() if isinstance(values, dict)}
    store = settings.store.model_copy(update={"uri": str(groups.get("store", {}).get("uri", ""))})
    journal = settings.journal.model_copy(update={"url": str(groups.get("journal", {}).get("url", ""))})
    return settings.model_copy(update={"store": store, "journal": journal})


def variables(*paths: tuple[str, str]) -> list[str]:
    """Return the environment variables that set one of these settings.

    A setting may have its own variable, or be in its group's as JSON.
    """
    from slowwave.settings.display import variable_of

    environment = {name.upper(): value for name, value in os.environ.items()}
    names = []
    for group, name in paths:
        own, whole = variable_of((group, name)), variable_of((group,))
        names += [own] if own in environment else []
        names += [whole] if f'"{name}"' in environment.get(whole, "") else []
    return names


def _without(parts: Iterable[Part]) -> str:
    """Return the advice for variables or program arguments that still set the old places."""
    settings = [SETTINGS_OF[part][0] for part in parts]
    if stale := variables(*settings):
        return f", without the variable {' and '.join(stale)}, which has the old place"
    names = " or ".join(".".join(setting) for setting in settings)
    return f", or change the program that sets {names}"
