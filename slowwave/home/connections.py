"""Tables and journal of a home: their files, and connections that leave them as they are."""

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
    """Folders of tables at a place and of their write-ahead log; none in an object store."""
    return [Path(uri), Path(f"{uri.rstrip('/')}.wal")] if uri and "://" not in uri else []


def journal_files(journal: Path) -> list[Path]:
    """The file of a journal, and those that SQLite keeps beside it while it is open."""
    return [journal, *(journal.with_name(f"{journal.name}{end}") for end in ("-wal", "-shm"))]


def bare_store(settings: Settings, embedder: Embedder | None = None) -> Store:
    """The tables of a home in whatever state they are; none is made or read.

    Args:
        settings: of the home.
        embedder: whose vectors they are said to have; None: nobody asks for vectors.
    """
    from slowwave.store import Store
    from slowwave.store.connection import Identity

    identity = Identity(embedder.name, embedder.dimension, {}) if embedder else Identity("", 0, {})
    return Store.bare(settings.store_uri, identity, settings.store.storage_options)


def open_journal(settings: Settings, durability: Durability) -> Journal:
    """Open the journal that settings name; one is made where there is none."""
    from slowwave.journal import Journal

    if settings.journal.url:
        return Journal(settings.journal.url, durability=durability)
    make_private(settings.journal_file, settings.home)
    return Journal.open_path(settings.journal_file, durability=durability)
