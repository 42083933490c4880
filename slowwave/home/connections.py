"""Files of a home's tables and journal, and connections that do not change them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from slowwave.common.permissions import make_private

if TYPE_CHECKING:
    from slowwave.embedding import Embedder
    from slowwave.journal import Journal
    from slowwave.journal.engines import Durability
    from slowwave.settings import Settings
    from slowwave.store import Store


def table_folders(uri: str) -> list[Path]:
    """Return the folders of the tables and of their write-ahead log; empty for an object store."""
    return [Path(uri), Path(f"{uri.rstrip('/')}.wal")] if uri and "://" not in uri else []


def journal_files(journal: Path) -> list[Path]:
    """Return the journal file and the files that SQLite keeps beside it while open."""
    return [journal, *(journal.with_name(f"{journal.name}{end}") for end in ("-wal", "-shm"))]


def bare_store(settings: Settings, embedder: Embedder | None = None) -> Store:
    """Return a store on the tables in whatever state they are; creates and reads none.

    Args:
        embedder: Its name and dimension become the store's; None if no vectors are needed.
    """
    from slowwave.store import Store
    from slowwave.store.connection import Identity

    identity = Identity(embedder.name, embedder.dimension, {}) if embedder else Identity("", 0, {})
    return Store.bare(settings.store_uri, identity, settings.store.storage_options)


def open_journal(settings: Settings, durability: Durability) -> Journal:
    """Open the journal that the settings name; create it if it is missing."""
    from slowwave.journal import Journal

    if settings.journal.url:
        return Journal(settings.journal.url, durability=durability)
    make_private(settings.journal_file, settings.home)
    return Journal.open_path(settings.journal_file, durability=durability)
