"""What an assistant should know when a session starts: the packet of rule 3.6, within a budget of tokens."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import polars as pl

from slowwave.scoring.days import DAY_S

SECTIONS: Final = (
    "constraint", "decision", "project", "preference", "procedure", "fact", "incident", "person", "meeting",
    "reference", "note",
)  # fmt: skip
"""The sections, the most important first."""
OTHER: Final = "note"  # the section of every other memory type
TIERS: Final = {"critical": 1.0, "important": 0.7, "normal": 0.4, "temporary": 0.1}
PRIORITIES: Final = {"high": 1.0, "normal": 0.5, "low": 0.0}
RECENCY_HALF_LIFE_DAYS: Final = 90.0
LEAST_CUT: Final = 20
"""Characters of an item that are worth showing when the rest is cut, unless it is all there is (count)."""
_POINTED: Final = 80  # characters of a cut item from which it says how to read the rest
_WEIGHTS: Final = {"tier": 0.5, "priority": 0.2, "effectiveness": 0.2, "recency": 0.1}


@dataclass(frozen=True, slots=True)
class Item:
    """One memory of a packet.

    Attributes:
        section: the memory type that it stands under.
        score: in [0, 1], which decides what is cut.
        confidence: high, medium or low; shown, without influence on the order.
        length: characters of the whole text.
        tokens: it takes (an estimate).
        cut: characters of the whole text that the budget had no room for; 0 where the item was not cut.
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
    length: int = 0
    tokens: int = 0
    cut: int = 0

    @property
    def said(self) -> str:
        """Title and text."""
        return f"{self.title}: {self.text}" if self.text and self.title else self.title or self.text

    @property
    def mark(self) -> str:
        """What says that the item was cut; beside a longer one also how to read the rest."""
        if not self.cut:
            return ""
        short = f" … cut, {self.cut:,} more"
        return f"{short} characters: `slowwave get {self.memory_id}`" if len(self.said) > _POINTED else short

    @property
    def line(self) -> str:
        """The item as it is given to an assistant: marked as a quote, whose title and text are one line."""
        return f"> [{self.confidence}] {self.said}{self.mark}"


@dataclass(frozen=True, slots=True)
class PacketSection:
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
    age = (pl.lit(as_of) - pl.col("updated_at")).dt.total_microseconds() / (DAY_S * 1e6)
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
) -> tuple[PacketSection, ...]:
    """Fill the sections from the front: a less important one gets what those before it leave over.

    The first item that does not fit is cut, and ends the packet: nothing worse comes in because it is
    shorter. So of two budgets the larger has every item of the smaller.

    Args:
        candidates: items by section, best first.
        counts: memories of each section in all.
        budget: tokens for everything, headings and line breaks with them.
    """
    found: list[PacketSection] = []
    room, whole = budget, True
    for name in SECTIONS:
        section = PacketSection(name, (), counts.get(name, 0))
        chosen: list[Item] = []
        for item in candidates.get(name, ()) if whole else ():
            left = room - (0 if chosen else tokens(section.heading) + 1)
            fitted = _fitted(item, left, least=LEAST_CUT if chosen or any(one.items for one in found) else 1)
            whole = fitted is not None and not fitted.cut
            if fitted is not None:
                chosen.append(fitted)
                room = left - fitted.tokens
            if not whole:
                break
        left_out = section.left_out - len(chosen)
        found.append(replace(section, items=tuple(chosen), left_out=left_out))
    return tuple(section for section in found if section.items or section.left_out)


def _fitted(item: Item, room: int, *, least: int) -> Item | None:
    """The item, or its beginning where it is too long for the room; None where not even that fits.

    Args:
        item: whole.
        room: tokens that are left, for its line break, too.
        least: characters that are worth it.
    """

    def sized(one: Item) -> Item:
        return replace(one, tokens=tokens(one.line) + 1)

    whole = sized(item)
    if whole.tokens <= room:
        return whole
    # The pointer to the rest comes with longer texts, so the cost is no steady function of the length:
    # the longest beginning with it counts, else the longest without.
    for low, high in ((_POINTED + 1, len(item.said) - 1), (least, min(_POINTED, len(item.said) - 1))):
        fits = bisect_right(range(low, high + 1), room, key=lambda end: sized(_cut(item, end)).tokens)
        cut = _cut(item, low + fits - 1) if fits else None
        if cut is not None:
            return sized(cut)
    return None


def _cut(item: Item, end: int) -> Item:
    """The item with the first characters of what it says."""
    said = item.said[:end].rstrip()
    title, text = (said, "") if end <= len(item.title) else (item.title, said[len(item.title) :].lstrip(": "))
    if not item.title:
        title, text = "", said
    hidden = max(item.length, len(item.text)) - len(text)
    return replace(item, title=title, text=text, cut=max(hidden, 1))
