"""Model of an erasure: the plan, the task in progress, and the record that stays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Literal

from slowwave.errors import SlowwaveError

Scope = Literal["memories", "source", "namespace"]


class ErasureError(SlowwaveError):
    """Error for an impossible erasure request, or one that has not been finished."""


@dataclass(frozen=True, slots=True)
class Named:
    """One memory to erase, as a person knows it."""

    memory_id: str
    source: str
    title: str
    origin: str = ""
    copy: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """Dry run of an erasure: what it would delete.

    Attributes:
        memories: To erase; `copy`: its text equals that of a named memory.
        beside: Ids of memories that were merged with one of them, superseded it, or were refused as too
            similar, over any number of steps: they stay.
        labels: Title and status of those in `beside`, by id, live ones first.
        places: Amount by place (rows of a table, journal entries, files).
        checkpoints: Names of checkpoints, which hold earlier states of the tables: all are deleted.
        files: Files of watched vaults that still have the text. They are a person's own and stay.
    """

    namespace: str
    scope: Scope
    memories: tuple[Named, ...]
    beside: tuple[str, ...]
    places: Mapping[str, int]
    checkpoints: tuple[str, ...]
    files: tuple[str, ...]
    work: ErasureTask = field(repr=False)
    labels: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for programs and for people."""
        return {name: value for name, value in asdict(self).items() if name not in ("work", "labels")}


@dataclass(frozen=True, slots=True)
class ErasureTask:
    """Task data of an erasure in progress, kept in a file of the home.

    Attributes:
        searches: Ids of the searches whose entries are erased.
        words: Words that only the erased texts have.
        phrases: Titles and names of sources.
        lent: Words that were lent to notes that follow one of them.
        followers: Ids of those notes.
        elsewhere: Those of `words` that other namespaces have too: no evidence in files shared by all
            namespaces.
        spared: Files and folders that are people's own.
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
    """Record of an erasure, which stays; it has no text.

    Attributes:
        remains: Places that could not be reached from here, as sentences.
        finished: False while steps remain.
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
