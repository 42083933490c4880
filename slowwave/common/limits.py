"""Maximum sizes of arguments, declared once for Python, the command line, MCP and HTTP.

Names of arguments are the same at every door; what is not named here has the bounds of `ANY`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Limit:
    """Bounds of an argument.

    Attributes:
        characters: of a text, and of each text of a list (count).
        values: of a list (count).
    """

    characters: int = 20_000
    values: int = 1_000


ANY: Final = Limit()
_LABELS: Final = Limit(200, 100)
_ID: Final = Limit(300)
LIMITS: Final[Mapping[str, Limit]] = {
    "query": Limit(4_000),
    "content": Limit(4_000_000),
    "response": Limit(4_000_000),
    "text": Limit(4_000_000),
    "title": Limit(1_000),
    "key": Limit(1_000),
    "follows": Limit(1_000),
    "source": Limit(1_000),
    "project": Limit(200),
    "request": _ID,
    "search_id": _ID,
    "memory_id": _ID,
    "decision_id": _ID,
    "quarantine_id": _ID,
    "result": _ID,
    "cited": _LABELS,
    "tags": _LABELS,
    "memory_type": _LABELS,
    "tier": _LABELS,
    "sensitivity": _LABELS,
    "trigger_phrases": _LABELS,
    "aliases": _LABELS,
    "notes": Limit(values=1_000_000),
    "memory_ids": Limit(300, 100_000),
}
"""Bounds by the name of the argument."""
METADATA_BYTES: Final = 65_536
"""Most that the metadata of a note may have as JSON, as much as the front matter of a file."""


def limit_of(name: str) -> Limit:
    """Bounds of an argument, by its name."""
    return LIMITS.get(name, ANY)
