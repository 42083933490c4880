"""Projection of journal entries into rows of ``searches`` and ``events``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from slowwave.common import progress
from slowwave.journal import FEEDBACK_KINDS
from slowwave.journal.kinds import feedback, search
from slowwave.journal.kinds.fields import decoded, struct
from slowwave.journal.kinds.search import SearchPayload
from slowwave.scoring.feedback.signals import TIERS

if TYPE_CHECKING:
    from slowwave.journal import Journal

ENTRIES_AT_ONCE = 20_000
"""Entries read together (count); a search with its candidates is tens of kilobytes."""

_SEARCH = struct(
    SearchPayload, "query", "limit", "policy_version", "abstained", "signal",
    *(f"shown.{name}" for name in ("memory_id", "best", "chunks", "rank", "score", "channels")),
    "imported_from", "left_out",
)  # fmt: skip
_HEAD = ("day", "namespace", "occurred_at", "principal")
_READ = ("seq", "event_id", "kind", *_HEAD, "subject", "origin", "payload")


@dataclass(frozen=True, slots=True)
class ProjectedRows:
    """Rows projected from days of the journal.

    Attributes:
        rows: Rows of a table.
        unreadable: Ids of unusable entries: they are skipped and stay in the journal.
        last: Per day the seq of the last entry that was read, whether it has a row or not.
    """

    rows: pl.DataFrame
    unreadable: tuple[str, ...]
    last: Mapping[str, int] = field(default_factory=dict)


def drain_searches(journal: Journal, days: Sequence[str]) -> ProjectedRows:
    """Project rows of ``searches`` of these days."""
    return read_projected(journal, ("search",), days, _SEARCH, _search_rows, search.SOUND)


def drain_events(journal: Journal, days: Sequence[str]) -> ProjectedRows:
    """Project rows of ``events`` of these days."""
    return read_projected(journal, FEEDBACK_KINDS, days, feedback.EVENT, _event_rows, feedback.SOUND)


def read_projected(
    journal: Journal,
    kinds: Sequence[str],
    days: Sequence[str],
    payload: pl.Struct,
    made: Callable[[pl.DataFrame], pl.DataFrame],
    sound: pl.Expr | None = None,
) -> ProjectedRows:
    """Project entries of some kinds and days whose payloads have (at most) these fields.

    Entries that are not `sound` are set aside as unreadable.
    """
    parts, unreadable, last = [], list[str](), dict[str, int]()
    counts = journal.days(kinds, days)
    with progress.task(f"reading {kinds[-1]} entries", int(counts["entries"].sum())) as advance:
        for some in _slices(counts):
            entries = journal.read(kinds=kinds, days=some, columns=_READ)
            last |= dict(entries.group_by("day").agg(pl.col("seq").max()).iter_rows())
            readable, broken = decoded(entries, payload)
            if sound is not None:
                broken += readable.filter(~sound)["event_id"].to_list()
                readable = readable.filter(sound)
            parts.append(made(readable))
            unreadable += broken
            advance(entries.height)
    if not parts:
        empty, _ = decoded(journal.read(kinds=kinds, days=[], limit=0, columns=_READ), payload)
        parts.append(made(empty))
    return ProjectedRows(pl.concat(parts), tuple(unreadable), last)


def _slices(counts: pl.DataFrame) -> Iterator[list[str]]:
    """Yield days in order, in groups of about `ENTRIES_AT_ONCE` entries."""
    some: list[str] = []
    size = 0
    for day, entries in counts.group_by("day").agg(pl.col("entries").sum()).sort("day").iter_rows():
        if some and size + entries > ENTRIES_AT_ONCE:
            yield some
            some, size = [], 0
        some.append(day)
        size += entries
    if some:
        yield some


def _search_rows(entries: pl.DataFrame) -> pl.DataFrame:
    fields = [pl.element().struct[name] for name in ("rank", "score", "channels")]
    shown = pl.struct(pl.element().struct["memory_id"], search.BEST.alias("chunk_id"), *fields)
    return entries.select(
        *_HEAD, "query", "policy_version", "abstained", "signal", "imported_from", "seq",
        "left_out",
        search_id="event_id",
        project="origin",
        wanted=search.LIMIT,
        shown=pl.col("shown").list.eval(shown),
    )  # fmt: skip


def _event_rows(entries: pl.DataFrame) -> pl.DataFrame:
    outcome = pl.col("kind") == "outcome"
    none = pl.lit(None, pl.String)
    return entries.select(
        *_HEAD, "event_id", "kind", "memory_id", "response", "verdicts", "imported_from", "seq",
        chunk_id=pl.coalesce("chunk_id", pl.col("memory_id") + ":00000"),
        tier=pl.col("kind").replace_strict(TIERS, return_dtype=pl.String),
        verdict=pl.coalesce("rating", "outcome"),
        search_id=pl.when(outcome).then(none).otherwise("subject"),
        project=pl.when(outcome).then("subject").otherwise(none),
    )  # fmt: skip
