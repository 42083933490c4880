"""Passages of memories, each with the moment from which its values hold (rule 3.12)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property, lru_cache

from slowwave.quality.outdated.dates import is_to_come, written_date
from slowwave.quality.titles import is_from_first_words

is_from_text = lru_cache(maxsize=1_024)(is_from_first_words)
"""Whether a title is the beginning of a text, cached: a passage is compared with many others."""


@dataclass(frozen=True)
class DatedPassage:
    """Passage of a memory, with what orders it in time.

    Attributes:
        sensitivity: Label; values are compared within one label only.
        created_at: Date of the note, or the moment of its save.
        updated_at: Moment of its last save.
        written: Date that its memory begins with, if the passage is a later part.
        holds_later: Whether the text names a later month, from which its change holds.
    """

    memory_id: str
    title: str
    text: str
    sensitivity: str
    created_at: datetime
    updated_at: datetime
    written: datetime | None = None
    holds_later: bool = False

    @cached_property
    def titled(self) -> str:
        """Title and text; only the text if the title is its beginning."""
        return self.text if is_from_text(self.title, self.text) else f"{self.title} {self.text}"

    @property
    def said_at(self) -> datetime | None:
        """Date that the text gives: that of the passage, or else of its memory."""
        return written_date(self.text) or self.written

    @cached_property
    def moment(self) -> datetime:
        """Moment from which its values hold: the date that the text gives, or else the one it came with."""
        return self.said_at or self.created_at

    def is_ahead(self, now: datetime) -> bool:
        """Whether the text is of a day to come, so that it replaces nothing yet."""
        return self.moment > now

    @property
    def is_to_come(self) -> bool:
        """Whether its change does not hold yet: it was a later one when the text was written, or is now."""
        return self.holds_later or is_to_come(self.text, self.moment)


def order_in_time(passage: DatedPassage) -> tuple[date, datetime, datetime]:
    """Return what orders a passage in time: its day, its moment, its last save."""
    return passage.moment.date(), passage.created_at, passage.updated_at
