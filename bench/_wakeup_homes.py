"""Homes whose wake-up packets are known: notes that have to be in it, and notes that must not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import slowwave
from slowwave.common import ids
from slowwave.common.quoting import NOTICE
from slowwave.notes.model import Note
from slowwave.notes.reading import read_notes
from slowwave.scoring.ranking.wakeup import OTHER, Item, pack, tokens
from slowwave.search.wakeup import wakeup

FILE: Final = Path(__file__).with_name("wakeup_homes.txt")
FITTED: Final = 15  # homes that the rule was fitted to
HELD_OUT: Final = 15  # homes behind these that it was not fitted to; the others have older values
AS_OF: Final = datetime(2026, 11, 20, 8, tzinfo=UTC)
BUDGET: Final = 250  # tokens: about half of the notes of a home
MUST, NEVER, LAST = "+", "-", "~"
_MAX_BYTES = 1 << 20  # of a note


@dataclass(frozen=True, slots=True)
class HomeNote:
    """One note of a home; `mark` says whether its packet has it."""

    mark: str
    key: str
    labels: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Home:
    """Notes of one person."""

    person: str
    notes: tuple[HomeNote, ...]


def read_homes() -> list[Home]:
    """All homes, in order."""
    found: list[Home] = []
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if line.startswith("= "):
            found.append(Home(line[2:], ()))
        elif line and not line.startswith("#"):
            last = found.pop()
            found.append(Home(last.person, (*last.notes, _note(line, len(last.notes)))))
    return found


def _note(line: str, number: int) -> HomeNote:
    place, day, fields, text = (part.strip() for part in line.split("|", 3))
    mark, path = place.split(" ", 1)
    text = text.replace("\\n", "\n").replace("\\t", "\t")
    moment = datetime.fromisoformat(day).replace(hour=12, tzinfo=UTC)
    if path in ("chat", "import"):
        labels = {"content": text, "memory_type": "chat" if path == "chat" else "fact"}
        labels["source_kind"] = "imported" if path == "chat" else "generated"
        labels["metadata"] = {"imported": {"from": "chatgpt" if path == "chat" else "mem0"}}
        return HomeNote(mark, f"{path}:{number}", labels | {"created_at": moment})
    head = "".join(f"{field.strip()}\n" for field in fields.split(";") if field.strip())
    (note,) = read_notes(
        (f"---\n{head}---\n{text}\n" if head else f"{text}\n").encode(), f"vault/{path}", max_bytes=_MAX_BYTES
    )
    assert isinstance(note, Note), line
    labels = {
        "content": note.content, "title": note.title, "memory_type": note.memory_type,
        "tags": list(note.tags), "metadata": dict(note.metadata),
        "source_kind": note.source_kind, "created_at": moment,
    }  # fmt: skip
    return HomeNote(mark, note.source, labels)


def part_of(number: int) -> str:
    """Return the part of the homes that a home is in.

    Args:
        number: Its place, from 0.
    """
    if number < FITTED:
        return "fitted"
    return "held out" if number < FITTED + HELD_OUT else "outdated or repeated"


def fill_home(memory: slowwave.Memory, home: Home) -> None:
    """Save the notes of a home; a note that the gate only warns of is kept."""
    memory.save_many([{"key": note.key, **note.labels} for note in home.notes])


def chosen(memory: slowwave.Memory, home: Home) -> Iterator[tuple[str, list[Item]]]:
    """The memories that the packet and each baseline take, with the same budget."""
    packet = wakeup(memory.tenant, budget=BUDGET, as_of=AS_OF)
    yield "packet", [item for section in packet.sections for item in section.items]
    orders: dict[str, Callable[[HomeNote], Any]] = {
        "newest": lambda note: note.labels["created_at"],
        "longest": lambda note: len(note.labels["content"]),
        "newest ingested": home.notes.index,
    }
    for name, order in orders.items():
        items = [_item(memory.namespace, note) for note in sorted(home.notes, key=order, reverse=True)]
        (section,) = pack({OTHER: items}, {OTHER: len(items)}, BUDGET - tokens(NOTICE) - 1)
        yield name, list(section.items)


def _item(namespace: str, note: HomeNote) -> Item:
    return Item(
        memory_id=ids.memory_id(namespace, note.key), section=OTHER, title="", source=note.key, score=0.0,
        text=" ".join(note.labels["content"].split())[:400], confidence="medium", importance_tier="normal",
        updated_at=note.labels["created_at"],
    )  # fmt: skip


def figures(memory: slowwave.Memory, home: Home) -> dict[str, dict[str, int]]:
    """Counts for each way to choose: homes, must, hits, junk, displaced, tokens."""
    marks = {ids.memory_id(memory.namespace, note.key): note.mark for note in home.notes}
    must = sum(mark == MUST for mark in marks.values())
    found = {}
    for name, items in chosen(memory, home):
        taken = [marks[item.memory_id] for item in items if not item.cut]
        hits = taken.count(MUST)
        last = [marks[item.memory_id] for item in items].count(LAST)
        found[name] = {
            "homes": 1, "must": must, "hits": hits,
            "junk": [marks[item.memory_id] for item in items].count(NEVER),
            "displaced": last if hits < must else 0, "tokens": sum(item.tokens for item in items),
        }  # fmt: skip
    return found
