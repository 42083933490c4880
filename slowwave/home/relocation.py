"""Where a home was before it was moved, and the refusal of whoever would go on there.

A move leaves the old place as it was. A process that has the settings of before would open it, or make it
anew once it is removed, and nothing that it saves there would be in the home. So the home keeps the names of
all places that it has left, also after what they had is removed, and whoever opens a part looks there first.
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
"""Settings that say where each part is, by group and name; the first of them is its address."""


def places(settings: Settings, parts: Iterable[Part]) -> dict[str, str]:
    """Where parts of a home are, without a password, as `spelled`."""
    from slowwave.settings.display import covered

    known = {"tables": settings.store_uri, "journal": settings.journal.url or str(settings.journal_file)}
    return {part: describe_op(str(covered(known[part]))) for part in parts}


def relocated_to(settings: Settings) -> dict[str, Any]:
    """What the home keeps of its last place; empty where it was not moved.

    Raises:
        StoreError: it cannot be read.
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
        told: dict[str, Any] = orjson.loads(content)
        _ = str(told["home"]), all_old_places(told)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _unreadable(settings, error) from None
    return told


def _unreadable(settings: Settings, error: Exception) -> StoreError:
    path = settings.home / MOVED_FROM
    return StoreError(
        f"{path}, which says where this home was before it was moved, cannot be read ({error!r}). Look "
        f"whether anything is left there, remove it by hand, then delete this file: rm "
        f"{shlex.quote(str(path))}"
    )


def is_own(settings: Settings, told: Mapping[str, Any]) -> bool:
    """Whether it is about this home, and not about one that this is a copy of."""
    return bool(told) and told["home"] == str(settings.home.resolve())


def places_of(told: Mapping[str, Any]) -> dict[str, str]:
    """The last places in it that are not removed, without a password, as `spelled`."""
    from slowwave.settings.display import covered

    found: dict[str, str] = {}
    if "tables" in told:
        _ = dict(told["tables"]["options"])
        found["tables"] = describe_op(str(covered(told["tables"]["uri"])))
    if "journal" in told:
        found["journal"] = describe_op(str(covered(told["journal"]["url"] or told["journal"]["file"])))
    return found


def all_old_places(told: Mapping[str, Any]) -> dict[str, list[str]]:
    """Every place in it that each part has left, without a password."""
    before, last = dict(told.get(_LEFT, {})), places_of(told)
    return {part: sorted({*before.get(part, ()), *([last[part]] if part in last else ())}) for part in PARTS}


def without_places(told: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept once nothing is left at the last places: that they were left."""
    return {"home": told["home"], _LEFT: all_old_places(told)}


def without_present(told: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """What it says of other places than those where the home is: to one it came back, or it never left it."""
    here, last = places(settings, PARTS), places_of(told)
    left = {part: [place for place in all_old_places(told)[part] if place != here[part]] for part in PARTS}
    elsewhere = {part: told[part] for part, place in last.items() if place != here[part]}
    return {"home": told["home"], **elsewhere, _LEFT: left}


def require_current(settings: Settings) -> None:
    """Refuse a process that still has the settings that this home had before it was moved.

    Raises:
        HomeMovedError: it says where the home is now.
        SettingsError: the settings file, which says that, cannot be read.
    """
    try:
        told = relocated_to(settings)
    except StoreError:
        return  # whoever needs it says so
    if not is_own(settings, told):
        return
    left, here = all_old_places(told), places(settings, PARTS)
    behind = [part for part in PARTS if here[part] in left[part]]
    if not behind:
        return
    now = here | places(_as_filed(settings), behind)
    if now == here:
        return
    if any(now[part] in left[part] for part in behind):  # who keeps places in variables alone
        names = ", ".join(".".join(SETTINGS_OF[part][0]) for part in behind)
        raise HomeMovedError(
            f"This home was moved meanwhile: it is no longer at {', '.join(here[part] for part in behind)}, "
            f"and its settings file does not say where it is. Let {names} say that, in the file or in a "
            f"variable, and start this process again."
        )
    raise HomeMovedError(
        f"This home was moved meanwhile: its tables and journal are at {', '.join(now.values())} now. "
        f"Start this process again, or run the command again{_without(behind)}."
    )


class MoveWatch:
    """Refuses as `require_current`, and reads only what was written since it looked the last time.

    So it may be asked with every call, which costs one look at a file that most homes do not have.

    Args:
        settings: of the process.
    """

    def __init__(self, settings: Settings) -> None:
        from slowwave.settings import CONFIG_FILE

        self._settings = settings
        self._left, self._file = (os.fspath(settings.home / name) for name in (MOVED_FROM, CONFIG_FILE))
        self._seen: object = None

    def __call__(self) -> None:
        """Look.

        Raises:
            HomeMovedError: as `require_current`.
            SettingsError: as `require_current`.
        """
        left = _state(self._left)
        now = None if left is None else (left, _state(self._file))
        if now != self._seen:
            require_current(self._settings)
            self._seen = now


def _state(file: str) -> tuple[int, int, int] | None:
    """What tells a file from what it was before; None where there is none."""
    try:
        found = os.stat(file)  # noqa: PTH116 - half the time of a path's
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _as_filed(settings: Settings) -> Settings:
    """Settings with the places that the file says: a variable may say the old ones still."""
    import tomllib

    from slowwave.settings import CONFIG_FILE

    path = settings.home / CONFIG_FILE
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} is not valid TOML: {error}. Mend that line.") from None
    said = {group: values for group, values in told.items() if isinstance(values, dict)}
    store = settings.store.model_copy(update={"uri": str(said.get("store", {}).get("uri", ""))})
    journal = settings.journal.model_copy(update={"url": str(said.get("journal", {}).get("url", ""))})
    return settings.model_copy(update={"store": store, "journal": journal})


def variables(*paths: tuple[str, str]) -> list[str]:
    """Variables of this process that say one of these settings, by its name or in its group as JSON."""
    from slowwave.settings.display import variable_of

    said = {name.upper(): value for name, value in os.environ.items()}
    found = []
    for group, name in paths:
        own, whole = variable_of((group, name)), variable_of((group,))
        found += [own] if own in said else []
        found += [whole] if f'"{name}"' in said.get(whole, "") else []
    return found


def _without(parts: Iterable[Part]) -> str:
    """What else has to be done where variables, or a program's own words, say where these parts are."""
    settings = [SETTINGS_OF[part][0] for part in parts]
    if said := variables(*settings):
        return f", without the variable {' and '.join(said)}, which says the old place"
    names = " or ".join(".".join(one) for one in settings)
    return f", or change the program that gives {names} by itself"
