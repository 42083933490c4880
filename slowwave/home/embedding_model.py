"""Embedding model of a home: the configured one, else that of its tables, else the default."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from slowwave.common.permissions import make_home
from slowwave.errors import StoreError
from slowwave.settings.first_file import model_said, write_first

if TYPE_CHECKING:
    from slowwave.settings import InForce, Settings

RESTORING = "restoring.json"
"""Marker file of a home that is being restored from a backup; see `slowwave.backup.restoring`."""
MOVED_FROM = "moved-from.json"
"""File with the previous places of a moved home; applies to this folder, not to a copy of it."""
STORE = "the store"
"""Origin of a model that no setting names and the tables record."""


def chosen(settings: Settings) -> str:
    """Return the model that an argument, variable or settings file names; empty if none does."""
    return settings.embedding.model if "model" in settings.embedding.model_fields_set else ""


def model_of(settings: Settings) -> str:
    """Return the model of a home: the configured one, else that of its tables, else the default.

    Reads the settings file again: another process may have created the home since the settings were loaded.
    """
    return chosen(settings) or model_said(settings.home) or stored_model(settings) or settings.embedding.model


def in_force(settings: Settings) -> list[InForce]:
    """Return each setting as `slowwave.settings.in_force` does, with the model of the tables."""
    from slowwave.settings import in_force as named

    rows = named(settings)
    model = "" if chosen(settings) else stored_model(settings)
    if not model or model == settings.embedding.model:
        return rows
    return [replace(row, value=model, origin=STORE) if row.name == "embedding.model" else row for row in rows]


def stored_model(settings: Settings) -> str:
    """Return the model that the tables were built with; empty if they are missing or unreadable."""
    from slowwave.home.connections import bare_store
    from slowwave.store.integrity import ERRORS, DamageError

    uri = settings.store_uri
    if "://" not in uri and not Path(uri).is_dir():
        return ""  # connecting would create the folder
    store = bare_store(settings)
    try:
        identity = store.get_meta("embedding") if "meta" in store.table_names() else None
    except (DamageError, *ERRORS):  # opening the tables reports what is wrong with them, and what to do
        return ""
    return "" if identity is None else str(identity["model"])


def make(settings: Settings, namespace: str, load: Callable[[], object]) -> None:
    """Create the folder of a home; in a new one, write down the chosen namespace and model.

    Args:
        load: Raises for an unknown model, so that none such is written down.

    Raises:
        StoreError: the folder cannot be created.
        ModelError: as `load` raises it.
    """
    make_home(settings.home)
    if not is_new(settings):
        return
    if chosen(settings):
        load()
    with suppress(OSError):  # opening the journal, which comes next, reports what is wrong with the folder
        remember(settings, namespace)


def refuse_half_restored(home: Path) -> None:
    """Refuse a home whose restore from a backup has not ended.

    Raises:
        StoreError: The restore has not ended; the message says how to finish it.
    """
    if (home / RESTORING).exists():
        raise StoreError(
            f"The home {home} is being restored from a backup, and the restore has not ended. If no process "
            f"is restoring it, run the same `slowwave restore` again: it continues where it stopped."
        )


def is_new(settings: Settings) -> bool:
    """Whether a home has neither journal nor tables; never true if either is elsewhere."""
    elsewhere = settings.journal.url or "://" in settings.store.uri
    return not (elsewhere or settings.journal_file.exists() or Path(settings.store_uri).exists())


def is_missing(settings: Settings) -> bool:
    """Whether there is no home: no folder, or neither journal, tables, restore nor move."""
    if not settings.home.is_dir():
        return True
    marked = any((settings.home / name).exists() for name in (RESTORING, MOVED_FROM))
    return is_new(settings) and not marked


def remember(settings: Settings, namespace: str) -> None:
    """Write the chosen namespace and model into the settings file of a new home.

    Later commands then need no options. A settings file that the user wrote keeps all its values; the model
    is added if it names none.

    Args:
        settings: Of the home, which exists and is new.

    Raises:
        OSError: Its folder cannot be written.
    """
    from slowwave.settings.file import editing

    default = type(settings).model_fields["namespace"].default
    model = chosen(settings)
    if write_first(settings.home, namespace=namespace if namespace != default else "", model=model):
        return
    if model and not model_said(settings.home):
        with editing(settings.home) as document:
            document.setdefault("embedding", {})["model"] = model
