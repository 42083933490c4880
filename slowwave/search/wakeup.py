"""Wake-up packet: the memories that an assistant gets when a session starts (rule 3.6)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import polars as pl

from slowwave.common.quoting import NOTICE, plain_line
from slowwave.errors import SlowwaveError
from slowwave.feedback.states import states_in
from slowwave.feedback.tiers import with_tiers
from slowwave.index.channels import CONFIDENCE_LABELS
from slowwave.lifecycle.newer_values import newer_values
from slowwave.quality.admission.statuses import RESOLVED
from slowwave.quality.gate import has_faults
from slowwave.quality.outdated.cues import announces
from slowwave.quality.outdated.short_sentences import says_several
from slowwave.scoring.ranking.confidence import memory_confidence
from slowwave.scoring.ranking.duplicates import duplicates
from slowwave.scoring.ranking.text_times import depends_on_its_day
from slowwave.scoring.ranking.wakeup import (
    SECTIONS,
    Item,
    PacketSection,
    note_dates,
    pack,
    tokens,
    wakeup_scores,
    wakeup_sections,
)  # fmt: skip
from slowwave.search.deliveries import deliveries_of
from slowwave.search.filters import Filters
from slowwave.search.signals import signals_in
from slowwave.search.stored_pairs import ComparedPassage, with_near_duplicates
from slowwave.store import quote

if TYPE_CHECKING:
    from slowwave.home.tenant import Tenant
    from slowwave.home.workspace import Workspace

MIN_BUDGET = 50  # tokens
AVERAGE_ITEM = 20  # tokens of a short item; decides how many are read first
EXCERPT_WORDS = 40
EXCERPT_CHARACTERS = 400  # maximum of these words (count)
_LOOKED_AT = 4_000  # characters of a text that are read for them
_WITHIN = re.compile(r"\w|[^\w\s]\w")
_BETWEEN = re.compile(r"^(?:\s|[.:—–-](?=\s|$))+")
_SEPARATOR = re.compile(r"\s*[.:—–-](?=\s|$)")
_HEADINGS = re.compile(r"(?m)^\s*#{1,6}\s[^\n]*$")
_LABELS = ("memory_type", "importance_tier", "retrieval_priority", *CONFIDENCE_LABELS)
JUDGED = ("title", "content", "trigger_phrases", "tags", "aliases", "links", "metadata", "front_matter")
_PLACE = ("source", "origin", "path", "tags", "metadata", "dated")
COLUMNS = tuple(dict.fromkeys(("memory_id", "title", "updated_at", *_PLACE, *_LABELS)))


_PATH = pl.coalesce(pl.col("path").replace("", None), "source").str.split("/")
_FOLDERS = (
    pl.when(pl.col("origin").fill_null("") == "")
    .then(_PATH.list.head(_PATH.list.len() - 1))
    .otherwise(_PATH.list.slice(1, _PATH.list.len().cast(pl.Int64) - 2))
)
"""Folders of a note; a vault's own name, which is the first part, says nothing about its notes."""


@dataclass(frozen=True, slots=True)
class Packet:
    """Wake-up packet of a session.

    Attributes:
        sections: One per memory type, most important first, with its best memories and the number left out.
            The last item may be cut, and then says so.
        budget: Maximum tokens.
        tokens: Estimated tokens; never more than the budget.
    """

    namespace: str
    as_of: datetime
    budget: int
    tokens: int
    sections: tuple[PacketSection, ...]

    @property
    def text(self) -> str:
        """Return the packet as Markdown, with memories as quoted data."""
        lines = []
        for section in self.sections:
            if section.items:
                lines += [section.heading, *(item.line for item in section.items)]
        return "\n".join([NOTICE, *lines]) if lines else ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return asdict(self) | {"text": self.text}


def wakeup(tenant: Tenant, *, budget: int, as_of: datetime, secret: bool = False) -> Packet:
    """Build the packet; see `slowwave.Memory.wakeup`."""
    space, namespace = tenant.space, tenant.namespace
    if budget < MIN_BUDGET:
        raise SlowwaveError(f"budget = {budget} is too small: a packet needs {MIN_BUDGET} tokens or more.")
    filters = Filters(sensitivity=("public", "internal", "secret")) if secret else Filters()
    rows = space.store.read("memories", filters.where(namespace), columns=COLUMNS)
    rows = with_tiers(rows, states_in(space).promoted(namespace))
    states = states_in(space).states(namespace, rows["memory_id"])
    effectiveness = [states[name].effectiveness if name in states else 0.5 for name in rows["memory_id"]]
    rows = rows.with_columns(
        effectiveness=pl.Series(effectiveness, dtype=pl.Float64), date=note_dates(rows), folders=_FOLDERS
    )
    rows = rows.with_columns(score=wakeup_scores(rows, as_of), section=wakeup_sections(rows)).sort(
        "score", "date", "memory_id", descending=[True, True, False]
    )
    counts = dict(rows.group_by("section").len().iter_rows())
    rows = pl.concat([rows.filter(section=name) for name in SECTIONS])
    many = math.ceil(budget / AVERAGE_ITEM) + 1
    while True:
        items = _items(tenant, rows.head(many), filters.where(namespace))
        sections = pack(items, counts, budget - tokens(NOTICE) - 1)
        # Short items leave room for more: read more.
        if sum(len(section.items) for section in sections) < many or many >= rows.height:
            break
        many *= 4
    packet = Packet(namespace, as_of, budget, 0, sections)
    return Packet(namespace, as_of, budget, tokens(packet.text), sections)


def deliver(space: Workspace, packet: Packet, principal: str, session: str) -> None:
    """Begin a session again, with the packet as all that it was given."""
    deliveries = deliveries_of(space, packet.namespace, principal, session)
    if deliveries is not None:
        deliveries.begin(item for section in packet.sections for item in section.items)


def _items(tenant: Tenant, best: pl.DataFrame, where: str) -> dict[str, list[Item]]:
    names = best["memory_id"].to_list()
    notes = tenant.store.read_by("memories", "memory_id", names, columns=["memory_id", *JUDGED], also=where)
    contents = notes.filter(~_refusable(tenant.space, notes)).select("memory_id", "content")
    rows = best.join(contents, on="memory_id", maintain_order="left").to_dicts()
    outdated = newer_values(tenant, [row["memory_id"] for row in rows])
    items: dict[str, list[Item]] = {}
    rows = [
        row | {"is_outdated": is_outdated}
        for row in rows
        if not (is_outdated := row["memory_id"] in outdated)
        or says_several(_HEADINGS.sub("", row["content"]))
    ]
    for row in _without_repetitions(tenant, rows):
        items.setdefault(row["section"], []).append(_item(row))
    return items


def _without_repetitions(tenant: Tenant, rows: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the first memory of each group of duplicates, grouped as in a search."""
    columns = ([row[name] for row in rows] for name in ("memory_id", "content", "title"))
    names, texts, titles = columns
    passages = {
        row["memory_id"]: ComparedPassage(
            row["memory_id"], row["sensitivity"] or "", row["title"] or "", row["source"], row["content"]
        )
        for row in rows
    }
    near = signals_in(tenant.space).pairs(tenant.namespace).near
    same_as = with_near_duplicates(
        duplicates(names, [0] * len(names), [1] * len(names), texts, titles), near, passages
    )
    included = set()
    for row in rows:
        group = same_as.get(row["memory_id"], row["memory_id"])
        if group not in included:
            included.add(group)
            yield row


def _refusable(space: Workspace, notes: pl.DataFrame) -> pl.Series:
    """Mark notes that an enforcing gate would refuse and that no person released."""
    faulty = has_faults(notes, space.gate_policy)
    if not faulty.any():
        return faulty
    settled = f"status = {quote(RESOLVED)}"
    released = space.store.read_by(
        "quarantine", "memory_id", notes.filter(faulty)["memory_id"].to_list(), columns=["memory_id"],
        also=settled,
    )  # fmt: skip
    return faulty & ~notes["memory_id"].is_in(released["memory_id"].to_list())


def _item(row: dict[str, Any]) -> Item:
    title = " ".join((row["title"] or "").split())
    text = plain_line(_text_beside(title, row["content"][:_LOOKED_AT]))
    return Item(
        memory_id=row["memory_id"],
        section=row["section"],
        title=plain_line(title),
        text=text,
        length=len(row["content"]),
        source=row["path"] or row["source"],
        score=row["score"],
        confidence=memory_confidence(*(row[name] for name in CONFIDENCE_LABELS)).tier,
        importance_tier=row["importance_tier"],
        updated_at=row["updated_at"],
        is_outdated=row["is_outdated"],
        day=row["date"].date().isoformat() if _needs_day(f"{title} {text}", row["date"].date()) else "",
    )


def _needs_day(text: str, day: date) -> bool:
    """Whether a text says a time by its own day (*last night*), or a change."""
    return announces(text) or depends_on_its_day(text, day)


def _text_beside(title: str, content: str) -> str:
    """Return the excerpt of a note without its title.

    It stays whole if the title is part of its first sentence:
    "Mail moves in May" under the title Mail does not become "Mail: moves in May".
    """
    first = next((line for line in _HEADINGS.sub("", content).splitlines() if line.strip()), "")
    rest = _rest_after(title, " ".join(first.split()))
    return excerpt(content, "" if rest and not _SEPARATOR.match(rest) else title)


def _rest_after(title: str, line: str) -> str | None:
    """Return what follows a title at the beginning of a line; None if the line begins otherwise."""
    bare = title.rstrip(" …")
    rest = line[len(bare) :]
    # A title of first words may end within a word, and the rest may start with a sign: "Freezer -20 °C".
    is_whole = bare != title or not _WITHIN.match(rest)
    return rest if bare and is_whole and line.casefold().startswith(bare.casefold()) else None


def excerpt(text: str, title: str) -> str:
    """Return the first words of a text on one line, without headings and title."""
    words = _HEADINGS.sub(" ", text).split()
    beginning = " ".join(words[:EXCERPT_WORDS])
    line = beginning[:EXCERPT_CHARACTERS].rstrip()
    more = len(words) > EXCERPT_WORDS or line != beginning
    if (rest := _rest_after(title, line)) is not None:
        line = _BETWEEN.sub("", rest)
    return line + " …" if more else line
