"""Which embedding model a home has: what was said, else what its tables were made with, else the default."""

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
"""In a home that is just being made out of a backup; see `slowwave.backup.restoring`."""
MOVED_FROM = "moved-from.json"
"""Where a home was before it was moved; it is about this folder, and not about a copy of it."""
STORE = "the store"
"""Where a model comes from that nobody names and the tables know."""


def chosen(settings: Settings) -> str:
    """The model that an argument, a variable or the settings file names; empty where none does."""
    return settings.embedding.model if "model" in settings.embedding.model_fields_set else ""


def model_of(settings: Settings) -> str:
    """The model of a home: the one that was said; else that of its tables; else the default.

    The settings file is looked at again, as another process may have made the home since they were loaded.
    """
    return chosen(settings) or model_said(settings.home) or stored_model(settings) or settings.embedding.model


def in_force(settings: Settings) -> list[InForce]:
    """Each setting as `slowwave.settings.in_force` has it, and the model that the tables were made with."""
    from slowwave.settings import in_force as named

    rows = named(settings)
    known = "" if chosen(settings) else stored_model(settings)
    if not known or known == settings.embedding.model:
        return rows
    return [replace(row, value=known, origin=STORE) if row.name == "embedding.model" else row for row in rows]


def stored_model(settings: Settings) -> str:
    """The model that the tables of a home were made with; empty where there are none, or nobody can tell."""
    from slowwave.home.connections import bare_store
    from slowwave.store.integrity import ERRORS, DamageError

    uri = settings.store_uri
    if "://" not in uri and not Path(uri).is_dir():
        return ""  # to connect would make the folder
    store = bare_store(settings)
    try:
        known = store.get_meta("embedding") if "meta" in store.db.list_tables().tables else None
    except (DamageError, *ERRORS):  # opening the tables says what is wrong with them, and what to do
        return ""
    return "" if known is None else str(known["model"])


def make(settings: Settings, namespace: str, load: Callable[[], object]) -> None:
    """Make the folder of a home, and let one that is new know what was chosen for it.

    Args:
        settings: of the home.
        namespace: that was chosen.
        load: fails for a model that nobody knows, so that none such is written down.

    Raises:
        StoreError: the folder cannot be made.
        ModelError: as `load` raises it.
    """
    make_home(settings.home)
    if not is_new(settings):
        return
    if chosen(settings):
        load()
    with suppress(OSError):  # the journal, which comes next, tells what is wrong with the folder
        remember(settings, namespace)


def refuse_half_restored(home: Path) -> None:
    """Refuse a home that is just being made out of a backup.

    Raises:
        StoreError: the restore has not ended; says how it is finished.
    """
    if (home / RESTORING).exists():
        raise StoreError(
            f"The home {home} is being restored from a backup, and that has not ended. If nobody is doing it "
            f"any more, run the same `slowwave restore` again: it goes on where it was."
        )


def is_new(settings: Settings) -> bool:
    """Whether a home has neither a journal nor tables yet; one that keeps them elsewhere is never new."""
    elsewhere = settings.journal.url or "://" in settings.store.uri
    return not (elsewhere or settings.journal_file.exists() or Path(settings.store_uri).exists())


def is_missing(settings: Settings) -> bool:
    """Whether there is no home: no folder, or one with neither journal nor tables that no work left so."""
    if not settings.home.is_dir():
        return True
    left = any((settings.home / name).exists() for name in (RESTORING, MOVED_FROM))
    return is_new(settings) and not left


def remember(settings: Settings, namespace: str) -> None:
    """Let a new home know what was chosen for it, so that later commands need not say it again.

    A settings file that a person has written before keeps all it says, and the model is added to it if it
    names none.

    Args:
        settings: of the home, which is there and new.
        namespace: that was chosen.

    Raises:
        OSError: its folder cannot be written.
    """
    from slowwave.settings.file import editing

    known = type(settings).model_fields["namespace"].default
    model = chosen(settings)
    if write_first(settings.home, namespace=namespace if namespace != known else "", model=model):
        return
    if model and not model_said(settings.home):
        with editing(settings.home) as document:
            document.setdefault("embedding", {})["model"] = model
