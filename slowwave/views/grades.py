"""The grades of a pair of query and memory, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

GRADES: Final[Mapping[str, str]] = {
    "0": "not relevant",
    "1": "about it",
    "2": "answers in part",
    "3": "answers",
}
