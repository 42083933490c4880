"""What an assistant should know when a session starts: the packet of rule 3.6, within a budget of tokens."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import polars as pl

SECTIONS: Final[dict[str, float]] = {
    "constraint": 0.2, "decision": 0.2, "project": 0.15, "preference": 0.15, "procedure": 0.08,
    "fact": 0.07, "incident": 0.05, "person": 0.04, "meeting": 0.02, "reference": 0.02, "note": 0.02,
}  # fmt: skip
"""Share of the budget of each section, in their order; what one leaves over the next ones get."""
OTHER: Final = "note"  # the section of every other memory type
TIERS: Final = {"critical": 1.0, "important": 0.7, "normal": 0.4, "temporary": 0.1}
PRIORITIES: Final = {"high": 1.0, "normal": 0.5, "low": 0.0}
RECENCY_HALF_LIFE_DAYS: Final = 90.0
_WEIGHTS: Final = {"tier": 0.5, "priority": 0.2, "effectiveness": 0.2, "recency": 0.1}


@dataclass(frozen=True, slots=True)
class Item:
    """One memory of a packet.

    Attributes:
        section: the memory type that it stands under.
        score: in [0, 1], which decides what is cut.
        confidence: high, medium or low; shown, without influence on the order.
        tokens: it takes (an estimate).
    """

    memory_id: str
    section: str
    title: str
    text: str
    source: str
    score: float
    confidence: str
    importance_tier: str
    updated_at: datetime
    tokens: int = 0

    @property
    def line(self) -> str:
        """The item as it is given to an assistant: marked as a quote, whose title and text are one line."""
        said = f"{self.title}: {self.text}" if self.text and self.title else self.title or self.text
        return f"> [{self.confidence}] {said}"


@dataclass(frozen=True, slots=True)
class Section:
    """The memories of one type, best first.

    Attributes:
        left_out: memories of this type that the budget had no room for (count).
    """

    name: str
    items: tuple[Item, ...]
    left_out: int

    @property
    def heading(self) -> str:
        """The section's first line."""
        return f"## {self.name.capitalize()}"


def tokens(text: str) -> int:
    """About how many tokens a language model sees: 4 characters of English each, 1.6 of other scripts."""
    plain = sum(character.isascii() for character in text)
    return math.ceil(plain / 4 + (len(text) - plain) / 1.6)


def wakeup_scores(memories: pl.DataFrame, as_of: datetime) -> pl.Series:
    """How much each memory is worth knowing before anything was asked: (n,), in [0, 1].

    Half of it is its importance tier; retrieval priority, effectiveness and recency are the rest.

    Args:
        memories: importance_tier, retrieval_priority, effectiveness (.5 where unknown), updated_at.
        as_of: the moment.
    """
    age = (pl.lit(as_of) - pl.col("updated_at")).dt.total_seconds() / 86_400
    parts = {
        "tier": pl.col("importance_tier").replace_strict(TIERS, default=TIERS["normal"]),
        "priority": pl.col("retrieval_priority").replace_strict(PRIORITIES, default=PRIORITIES["normal"]),
        "effectiveness": pl.col("effectiveness").clip(0, 1),
        "recency": (age.clip(0) * (-math.log(2) / RECENCY_HALF_LIFE_DAYS)).exp(),
    }
    score = pl.sum_horizontal(part * _WEIGHTS[name] for name, part in parts.items())
    return memories.select(score=score)["score"]


def pack(
    candidates: Mapping[str, Sequence[Item]], counts: Mapping[str, int], budget: int
) -> tuple[Section, ...]:
    """Fill the sections, each within its share of the budget and what those before it left over.

    An item that does not fit ends its section: a worse one never comes in because it is shorter.

    Args:
        candidates: items by section, best first.
        counts: memories of each section in all.
        budget: tokens for everything, headings and line breaks with them.
    """
    found: list[Section] = []
    spare = 0.0
    for name, share in SECTIONS.items():
        spare += share * budget
        section = Section(name, (), counts.get(name, 0))
        room = int(spare + 1e-9) - tokens(section.heading) - 1
        chosen: list[Item] = []
        for item in candidates.get(name, ()):
            cost = tokens(item.line) + 1
            if cost > room:
                break
            room -= cost
            chosen.append(replace(item, tokens=cost))
        if chosen:
            spare -= sum(item.tokens for item in chosen) + tokens(section.heading) + 1
        left_out = section.left_out - len(chosen)
        found.append(replace(section, items=tuple(chosen), left_out=left_out))
    return tuple(section for section in found if section.items or section.left_out)
