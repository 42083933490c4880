"""What erasing is about: what a person named, what goes, and the record that stays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Literal

from slowwave.errors import SlowwaveError

Scope = Literal["memories", "source", "namespace"]


class ErasureError(SlowwaveError):
    """What was asked of an erasure cannot be done, or one has not been finished."""


@dataclass(frozen=True, slots=True)
class Named:
    """One memory that goes, as a person knows it."""

    memory_id: str
    source: str
    title: str
    origin: str = ""
    copy: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """What an erasure takes away; nothing has gone yet.

    Attributes:
        memories: those that go; `copy`: because it says exactly what one that was named says.
        beside: ids of memories that were merged with one of them, put in its place, or refused as too like
            it: they stay.
        places: how much goes, by place (rows of a table, acts of the journal, files).
        checkpoints: named states of the tables, which hold what they held then: all of them go.
        files: in watched vaults that still say it. They are a person's own and stay.
    """

    namespace: str
    scope: Scope
    memories: tuple[Named, ...]
    beside: tuple[str, ...]
    places: Mapping[str, int]
    checkpoints: tuple[str, ...]
    files: tuple[str, ...]
    work: ErasureTask = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """As plain data, for programs and for people."""
        return {name: value for name, value in asdict(self).items() if name != "work"}


@dataclass(frozen=True, slots=True)
class ErasureTask:
    """What has to be known to erase, kept in a file of the home while it is going on and no longer.

    Attributes:
        searches: whose entries go.
        words: that only the erased texts say.
        phrases: titles and names of sources.
        lent: words that were lent to notes that follow one of them.
        followers: ids of those notes.
        elsewhere: of the words, those that other namespaces say, too: they tell nothing in what is of all.
        spared: files and folders that are people's own.
    """

    erasure: str
    namespace: str
    scope: Scope
    memories: tuple[str, ...]
    searches: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    lent: tuple[str, ...] = ()
    followers: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    spared: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Erased:
    """The record that stays: no text.

    Attributes:
        remains: what could not be reached from here, in sentences.
        finished: False while something is still to be done.
    """

    erasure: str
    namespace: str
    scope: str
    memories: tuple[str, ...]
    at: datetime
    principal: str
    why: str
    remains: tuple[str, ...] = ()
    finished: bool = True
