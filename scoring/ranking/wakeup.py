"""Wake-up packet: the memories for the start of a session, within a token budget (rule 3.6)."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Final

import polars as pl

from slowwave.scoring.days import DAY_S

SECTIONS: Final = (
    "constraint", "decision", "project", "preference", "procedure", "fact", "incident", "person", "meeting",
    "reference", "note", "chat",
)  # fmt: skip
"""Sections by kind of memory, the most important first; chat has also what other tools took from chats."""
OTHER: Final = "note"  # section of every other memory type
CHAT: Final = "chat"
TIERS: Final = {"critical": 1.0, "important": 0.7, "normal": 0.4, "temporary": 0.1}
PRIORITIES: Final = {"high": 1.0, "normal": 0.5, "low": 0.0}
RECENCY_HALF_LIFE_DAYS: Final = 90.0
MIN_CUT: Final = 20
"""Minimum characters of a cut item, unless it is the only item (count)."""
_POINTED: Final = 80  # characters of a cut item from which its mark has the command for the rest
_OUTDATED: Final = "outdated in part"
_STATED: Final = ("type", "kind", "category")  # fields of front matter that name a kind
_CHANGED: Final = ("updated", "modified")  # fields of front matter with the last change
_ENDED: Final = (
    "archived",
    "cancelled",
    "closed",
    "deprecated",
    "done",
    "obsolete",
    "rejected",
    "superseded",
)
_ARCHIVES: Final = ("archive", "archives", "archived")
_EXTRACTED: Final = ("chat", "document", "fact", "note")  # types that an import gives to what it took
_WORDS: Final = {
    "constraint": "constraint rule policy policies guardrail",
    "decision": "decision adr",
    "project": "project goal roadmap milestone",
    "preference": "preference",
    "procedure": "procedure howto runbook playbook checklist sop",
    "fact": "fact",
    "incident": "incident outage postmortem",
    "person": "person people contact",
    "meeting": "meeting minutes standup",
    "reference": "reference glossary",
    "chat": "chat chatlog conversation transcript",
}  # singular; a plural in s counts, too
_KINDS: Final = {word: kind for kind, words in _WORDS.items() for word in words.split()}
_WEIGHTS: Final = {"tier": 0.5, "priority": 0.2, "effectiveness": 0.2, "recency": 0.1}


@dataclass(frozen=True, slots=True)
class Item:
    """Memory in a wake-up packet.

    Attributes:
        section: kind of memory that it is listed under.
        score: in [0, 1]; sorts the items of a section.
        confidence: high, medium or low; shown, without influence on the order.
        length: characters of the whole text.
        day: of the note, shown where its text needs it (*last night*); else empty.
        is_outdated: whether a newer memory replaces one of several things that it says.
        tokens: estimated tokens of its line.
        cut: characters of the whole text that did not fit the budget; 0 if the item is whole.
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
    day: str = ""
    is_outdated: bool = False
    tokens: int = 0
    cut: int = 0

    @property
    def said(self) -> str:
        """Return title and text; only the text if it begins with the title."""
        if self.is_in_text:
            return self.text
        return f"{self.title}: {self.text}" if self.text else self.title

    @property
    def is_in_text(self) -> bool:
        """Whether the text begins with the title, or there is no title."""
        return self.text.casefold().startswith(self.title.rstrip(" …").casefold())

    @property
    def mark(self) -> str:
        """Return the mark of a cut item; a longer one has the command that reads the rest."""
        if not self.cut:
            return ""
        short = f" … cut, {self.cut:,} more"
        return f"{short} characters: `slowwave get {self.memory_id}`" if len(self.said) > _POINTED else short

    @property
    def line(self) -> str:
        """Return the item as one quoted line for an assistant."""
        labels = (self.confidence, _OUTDATED if self.is_outdated else "", self.day)
        return f"> [{', '.join(filter(None, labels))}] {self.said}{self.mark}"


@dataclass(frozen=True, slots=True)
class PacketSection:
    """Memories of one kind, best first.

    Attributes:
        left_out: other memories of this kind, which do not fit or do not belong (count).
    """

    name: str
    items: tuple[Item, ...]
    left_out: int

    @property
    def heading(self) -> str:
        """Return the section's first line."""
        return f"## {self.name.capitalize()}"


@lru_cache(maxsize=4_096)
def kind_named(word: str) -> str | None:
    """Return the section that a word names: a type, a tag or a folder (`Decisions`, `#rule`, `02 How-to`)."""
    bare = re.sub(r"[^a-z]+", "", word.casefold().split("/")[0])
    return _KINDS.get(bare) or _KINDS.get(bare.removesuffix("s"))


def wakeup_sections(memories: pl.DataFrame) -> pl.Series:
    """Return the section of each memory, (n,).

    A type other than note decides. Then the front matter decides (`type`, `kind` or `category`), then a tag,
    then the nearest folder. Messages of chats and what an import took from them are in the last section. A
    note of an archive, or whose front matter says that it is closed, is a plain note.

    Args:
        memories: memory_type, source_kind, tags, metadata (JSON or empty), folders (of its path, outermost
            first).
    """
    words = memories.lazy().select(
        "memory_type",
        *(_stated(f"$.{name}").alias(name) for name in _STATED),
        imported=_stated("$.imported").is_not_null() & (pl.col("source_kind") != "manual"),
        status=_stated("$.status").str.to_lowercase(),
        tags=pl.col("tags").fill_null([]),
        folders=pl.col("folders").fill_null([]).list.reverse(),
    )
    own = pl.when(pl.col("memory_type").is_in([name for name in SECTIONS if name != OTHER])).then(
        "memory_type"
    )
    stated = [pl.concat_list(pl.col(name)) for name in _STATED]
    named = [_first_kind(column) for column in (*stated, pl.col("tags"), pl.col("folders"))]
    archived = (
        pl.col("folders").list.eval(pl.element().str.to_lowercase().is_in(_ARCHIVES)).list.any()
        | pl.col("status").is_in(_ENDED)
    ).fill_null(value=False)
    section = (
        pl.when(pl.col("imported") & pl.col("memory_type").is_in(_EXTRACTED))
        .then(pl.lit(CHAT))
        .when(archived & (pl.col("memory_type") != CHAT))
        .then(pl.lit(OTHER))
        .otherwise(pl.coalesce(own, *named, pl.lit(OTHER)))
    )
    return words.select(section=section).collect()["section"]


def _stated(path: str) -> pl.Expr:
    """Return a text of the metadata; null if there is none."""
    return pl.when(pl.col("metadata").str.starts_with("{")).then(pl.col("metadata").str.json_path_match(path))


def _first_kind(words: pl.Expr) -> pl.Expr:
    """Return the section that the first fitting word of a list names; null if none does."""
    kinds = words.list.eval(pl.element().map_elements(kind_named, return_dtype=pl.String))
    return kinds.list.drop_nulls().list.first()


def note_dates(memories: pl.DataFrame) -> pl.Series:
    """Return the date of each memory, (n,): that of its text, else of its last change.

    The moment of an ingest is no date of a note: after the first one, all notes of a vault would be new.

    Args:
        memories: dated (of the text or its file; null if unknown), updated_at, metadata (JSON or empty).
    """
    changed = [
        _stated(f"$.{name}").str.slice(0, 10).str.to_datetime("%Y-%m-%d", strict=False, time_zone="UTC")
        for name in _CHANGED
    ]
    stated = pl.max_horizontal(pl.col("dated"), *(moment.dt.cast_time_unit("us") for moment in changed))
    return memories.select(date=pl.coalesce(stated, "updated_at"))["date"]


def tokens(text: str) -> int:
    """Estimate the tokens of a text: 4 ASCII characters each, 1.6 of others."""
    plain = sum(character.isascii() for character in text)
    return math.ceil(plain / 4 + (len(text) - plain) / 1.6)


def wakeup_scores(memories: pl.DataFrame, as_of: datetime) -> pl.Series:
    """Score each memory for the wake-up packet, (n,), in [0, 1].

    The importance tier is half of the score. Retrieval priority, effectiveness and recency are the rest.

    Args:
        memories: importance_tier, retrieval_priority, effectiveness (0.5 if unknown), date (of `note_dates`).
        as_of: moment from which recency is measured.
    """
    age = (pl.lit(as_of) - pl.col("date")).dt.total_microseconds() / (DAY_S * 1e6)
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
    """Fill the sections in order until the token budget is used up.

    The first item that does not fit is cut, and ends the packet: no lower item enters because it is shorter.
    So the larger of two budgets has every item of the smaller.

    Args:
        candidates: items by section, best first.
        counts: memories of each section in all.
        budget: tokens for everything, headings and line breaks included.
    """
    sections: list[PacketSection] = []
    room, whole = budget, True
    for name in SECTIONS:
        section = PacketSection(name, (), counts.get(name, 0))
        chosen: list[Item] = []
        for item in candidates.get(name, ()) if whole else ():
            tokens_left = room - (0 if chosen else tokens(section.heading) + 1)
            fitted = _fitted(
                item,
                tokens_left,
                least=MIN_CUT if chosen or any(section_before.items for section_before in sections) else 1,
            )
            whole = fitted is not None and not fitted.cut
            if fitted is not None:
                chosen.append(fitted)
                room = tokens_left - fitted.tokens
            if not whole:
                break
        left_out = section.left_out - len(chosen)
        sections.append(replace(section, items=tuple(chosen), left_out=left_out))
    return tuple(section for section in sections if section.items or section.left_out)


def _fitted(item: Item, room: int, *, least: int) -> Item | None:
    """Return the item or its longest beginning that fits; None if none does.

    Args:
        item: whole item.
        room: remaining tokens, with its line break.
        least: minimum characters of a cut item.
    """

    def sized(candidate: Item) -> Item:
        return replace(candidate, tokens=tokens(candidate.line) + 1)

    whole = sized(item)
    if whole.tokens <= room:
        return whole
    # Only longer texts have the command for the rest, so the cost is not monotonic in the length:
    # the longest beginning with it counts, else the longest without.
    for low, high in ((_POINTED + 1, len(item.said) - 1), (least, min(_POINTED, len(item.said) - 1))):
        fits = bisect_right(range(low, high + 1), room, key=lambda end: sized(_cut(item, end)).tokens)
        cut = _cut(item, low + fits - 1) if fits else None
        if cut is not None:
            return sized(cut)
    return None


def _cut(item: Item, end: int) -> Item:
    """Return the item with the first characters of its title and text."""
    kept = item.said[:end].rstrip()
    title, text = (kept, "") if end <= len(item.title) else (item.title, kept[len(item.title) :].lstrip(": "))
    if item.is_in_text:
        title, text = (item.title, kept) if len(kept) >= len(item.title.rstrip(" …")) else (kept, "")
    hidden = max(item.length, len(item.text)) - len(text)
    return replace(item, title=title, text=text, cut=max(hidden, 1))
