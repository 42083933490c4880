"""Where a home was before it was moved, and the refusal of whoever would go on there.

A move leaves the old place as it was. A process that has the settings of before would open it, or make it
anew once it is removed, and nothing that it saves there would be in the home. So the home keeps the names of
all places that it has left, also after what they had is removed, and whoever opens a part looks there first.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from slowwave.errors import SettingsError, StoreError
from slowwave.home.model import MOVED_FROM

if TYPE_CHECKING:
    from slowwave.settings import Settings

Part = Literal["tables", "journal"]
PARTS: tuple[Part, ...] = ("tables", "journal")
_LEFT = "left"


def places(settings: Settings, parts: Iterable[Part]) -> dict[str, str]:
    """Where parts of a home are, without a password."""
    from slowwave.settings.shown import covered

    known = {"tables": settings.store_uri, "journal": settings.journal.url or str(settings.journal_file)}
    return {part: str(covered(known[part])) for part in parts}


def told_by(settings: Settings) -> dict[str, Any]:
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
        _ = str(told["home"]), all_left(told)
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
    """The last places in it that are not removed, without a password."""
    from slowwave.settings.shown import covered

    found: dict[str, str] = {}
    if "tables" in told:
        _ = dict(told["tables"]["options"])
        found["tables"] = str(covered(told["tables"]["uri"]))
    if "journal" in told:
        found["journal"] = str(covered(told["journal"]["url"] or told["journal"]["file"]))
    return found


def all_left(told: Mapping[str, Any]) -> dict[str, list[str]]:
    """Every place in it that each part has left, without a password."""
    before, last = dict(told.get(_LEFT, {})), places_of(told)
    return {part: sorted({*before.get(part, ()), *([last[part]] if part in last else ())}) for part in PARTS}


def without_places(told: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept once nothing is left at the last places: that they were left."""
    return {"home": told["home"], _LEFT: all_left(told)}


def refuse_stale(settings: Settings) -> None:
    """Refuse a process that still has the settings that this home had before it was moved.

    Raises:
        StoreError: it says where the home is now.
        SettingsError: the settings file, which says that, cannot be read.
    """
    try:
        told = told_by(settings)
    except StoreError:
        return  # whoever needs it says so
    if not is_own(settings, told):
        return
    left, here = all_left(told), places(settings, PARTS)
    behind = [part for part in PARTS if here[part] in left[part]]
    if not behind:
        return
    now = here | places(_as_filed(settings), behind)
    if now != here:
        raise StoreError(
            f"This home was moved meanwhile: its tables and journal are at {', '.join(now.values())} now. "
            f"Start this process again, or run the command again{_without(behind)}."
        )


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


def _without(parts: Iterable[Part]) -> str:
    """What else has to be done where variables say where these parts are."""
    import os

    from slowwave.settings.shown import variable_of

    names = {"tables": variable_of(("store", "uri")), "journal": variable_of(("journal", "url"))}
    said = [names[part] for part in parts if names[part] in {name.upper() for name in os.environ}]
    return f", without the variable {' and '.join(said)}, which says the old place" if said else ""
