"""Homes that backups are made of, and what is compared between two homes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
from polars.testing import assert_frame_equal

from slowwave.backup import making
from slowwave.backup.archive import Archive
from slowwave.backup.keys import Key
from slowwave.backup.storage import FileStorage
from slowwave.memory import Memory
from slowwave.settings import load
from slowwave.store.checkpoints import list_checkpoints

FAST_MODEL = "wordllama-256"
NOTES = (
    "We deploy on Thursday at nine in the morning, and Friday is for repairs of what broke.",
    "The battery of the northern gauge lasts eleven weeks in winter, and nineteen in summer.",
    "The telephone rota for nights is kept by Ailsa, who swaps turns on the first of a month.",
    "The radar on the mast at Lyness reads the level every six minutes and sends it by satellite.",
)
QUESTIONS = ("when do we deploy?", "battery in winter", "who has the telephone at night", "radar level")


def live(memory: Memory, *, again: int = 0) -> None:
    """Some saves, searches, feedback and a forgotten note; another number, other texts."""
    for place, text in enumerate(NOTES):
        memory.save(f"{text} It is rule {again}.", key=f"note {place} {again}")
    for question in QUESTIONS:
        found = memory.search(question)
        memory.feedback(found.search_id, found.results[0].memory_id, "helpful")
    forgotten = memory.save(
        f"The ferry of day {again} left at noon and was full of sheep and hay.", key="ferry"
    )
    memory.forget(forgotten.memory_id)


def answers(home: Path, **groups: Any) -> list[Any]:
    """What a home answers to questions, to the last digit of a score; nothing is written."""
    quiet = {"embedding": {"model": FAST_MODEL}, "journal": {"log_searches": False}, **groups}
    with Memory(load(home, **quiet), namespace="ada") as memory:
        return [
            [(one.memory_id, one.score, one.text) for one in memory.search(question).results]
            for question in QUESTIONS
        ]


def assert_equal_homes(left: Memory, right: Memory) -> None:
    """The same rows of the journal, vaults, tables, and checkpoints."""
    assert left.journal.rows.digest() == right.journal.rows.digest()
    assert left.journal.sources() == right.journal.sources()
    names = sorted(left.store.db.list_tables().tables)
    assert names == sorted(right.store.db.list_tables().tables)
    for name in names:
        one, other = (pl.from_arrow(memory.store.db.open_table(name).to_arrow()) for memory in (left, right))
        key = one.columns[0]
        assert_frame_equal(one.sort(key), other.sort(key), check_exact=True)
    assert list_checkpoints(left.store) == list_checkpoints(right.store)


def back_up(memory: Memory, to: Path, key: Key | None = None, **more: Any) -> making.Made:
    """A backup at a folder."""
    return making.make(memory.home, FileStorage(str(to), make=True), key, **more)


def archive(place: Path, key: Key | None = None) -> Archive:
    """The backups in a folder."""
    return Archive(FileStorage(str(place)), key)
