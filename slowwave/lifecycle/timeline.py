"""Timeline of a namespace: what was said, changed, forgotten and superseded, by day."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from slowwave.common import ids
from slowwave.common.arguments import parsed_day, shown
from slowwave.errors import ArgumentError
from slowwave.home.visibility import Viewer, assistant_rows, open_rows, redact
from slowwave.journal.kinds.note import is_released
from slowwave.lifecycle.newer_values import newer_values
from slowwave.quality.admission.statuses import RETIRED

if TYPE_CHECKING:
    from slowwave.home.tenant import Tenant
    from slowwave.journal import Entry

NEW: Final = "new"
CHANGED: Final = "changed"
FORGOTTEN: Final = "forgotten"
SUPERSEDED: Final = "superseded"
KINDS: Final = (NEW, CHANGED, FORGOTTEN, SUPERSEDED)
_TIME = pl.Datetime("us", "UTC")
_EVENT: dict[str, pl.DataType | type[pl.DataType]] = {
    "at": _TIME, "kind": pl.String, "memory_id": pl.String, "event_id": pl.String, "by": pl.String,
    "other": pl.String, "same_text": pl.Boolean,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Timeline:
    """Page of a timeline.

    Attributes:
        events: at, kind, memory_id, title, sensitivity, by, words; other and other_title of what supersedes
            it; newer, newer_title and until of its newer value. Newest first.
        total: Events of all pages (count).
        months: Every month with events (YYYY-MM) and their count, newest first.
    """

    events: list[dict[str, Any]]
    total: int
    months: list[tuple[str, int]]


def timeline(
    tenant: Tenant, *, viewer: Viewer, month: str = "", kind: str = "", limit: int, skip: int = 0
) -> Timeline:
    """Return a page of what happened to the memories of a namespace.

    A memory is new on the date of its note. Texts that the save gate refused are in no timeline.

    Args:
        tenant: Namespace of the memories.
        viewer: A report shows no word of secret memories; an assistant sees neither
            them nor forgotten ones.
        month: Only of this month (YYYY-MM, UTC).
        kind: Only of this kind.
        limit: Events of the page (count).
        skip: Events before it (count).

    Raises:
        ArgumentError: An unknown kind, or a month of another form.
    """
    if kind and kind not in KINDS:
        raise ArgumentError(f"kind {kind!r}: use one of {', '.join(KINDS)}.")
    memories = tenant.store.scan(
        "memories", tenant.mine("content_hash IS NOT NULL"),
        columns=["memory_id", "status", "sensitivity", "created_at", "retired_at", "principal"],
    )  # fmt: skip
    if viewer is Viewer.ASSISTANT:
        memories = memories.filter(assistant_rows())
    resaved = _resaved(tenant)
    events = pl.concat([_new(memories), _forgotten(tenant, memories), _superseded(tenant), resaved])
    events = events.filter(pl.col("at").is_not_null()).join(
        memories.select("memory_id", "sensitivity"), on="memory_id"
    )
    if kind:
        events = events.filter(pl.col("kind") == kind)
    events = events.with_columns(month=pl.col("at").dt.strftime("%Y-%m"))
    months = events["month"].value_counts().sort("month", descending=True)
    if month:
        try:
            parsed_day("month", f"{month}-01")
        except ArgumentError:
            raise ArgumentError(f"month = {shown(month)}: write a month as YYYY-MM, as in 2026-03.") from None
        events = events.filter(pl.col("month") == month)
    page = events.sort("at", "kind", "memory_id", descending=[True, False, False]).slice(skip, limit)
    described = _described(tenant, page, memories, resaved)
    return Timeline(described, events.height, list(months.iter_rows()))


def _frame(rows: pl.DataFrame, **columns: pl.Expr) -> pl.DataFrame:
    return rows.select(
        columns.get(name, pl.lit(None)).cast(dtype).alias(name) for name, dtype in _EVENT.items()
    )


def _new(memories: pl.DataFrame) -> pl.DataFrame:
    name, by = pl.col("memory_id"), pl.col("principal")
    return _frame(memories, at=pl.col("created_at"), kind=pl.lit(NEW), memory_id=name, by=by)


def _forgotten(tenant: Tenant, memories: pl.DataFrame) -> pl.DataFrame:
    """Return every forgetting, also of memories that somebody unforgot since."""
    rows = memories.filter(pl.col("status") == RETIRED).select("memory_id", at="retired_at")
    forgets = tenant.journal.forgets(tenant.namespace)
    names = [ids.memory_id(tenant.namespace, subject) for subject in forgets["subject"]]
    in_journal = forgets.select(pl.Series("memory_id", names, pl.String), at="occurred_at")
    rows = pl.concat([rows.with_columns(pl.col("at").cast(_TIME)), in_journal]).unique()
    return _frame(rows, at=pl.col("at"), kind=pl.lit(FORGOTTEN), memory_id=pl.col("memory_id"))


def _superseded(tenant: Tenant) -> pl.DataFrame:
    edges = tenant.store.read(
        "edges", tenant.mine("kind = 'supersedes'"), columns=["from_memory", "to_memory", "created_at"]
    )
    name, other = pl.col("to_memory"), pl.col("from_memory")
    return _frame(edges, at=pl.col("created_at"), kind=pl.lit(SUPERSEDED), memory_id=name, other=other)


def _resaved(tenant: Tenant) -> pl.DataFrame:
    saves = tenant.journal.resaved(tenant.namespace)
    saves = saves.filter(~pl.col("event_id").is_in(_refused(tenant)))
    names = [ids.memory_id(tenant.namespace, subject) for subject in saves["subject"]]
    return _frame(
        saves.with_columns(pl.Series("memory_id", names, pl.String)),
        at=pl.col("occurred_at"), kind=pl.lit(CHANGED), memory_id=pl.col("memory_id"),
        event_id=pl.col("event_id"), by=pl.col("principal"),
        same_text=pl.col("content_hash") == pl.col("before"),
    )  # fmt: skip


def _described(
    tenant: Tenant, page: pl.DataFrame, memories: pl.DataFrame, resaved: pl.DataFrame
) -> list[dict[str, Any]]:
    """Return the rows of a page with titles, words, and the authors of first texts.

    Args:
        resaved: Events of memories that were saved more than once: their row may name another user, and
            their title is that of the last text.
    """
    again = set(resaved["memory_id"])
    rewritten = set(resaved.filter(~pl.col("same_text"))["memory_id"])
    names = [*page["memory_id"], *page["other"].drop_nulls()]
    rows = tenant.store.read_by(
        "memories",
        "memory_id",
        names,
        columns=["memory_id", "title", "sensitivity", "source"],
        also=tenant.mine("content_hash IS NOT NULL"),
    )
    begun = page.filter(pl.col("kind").is_in([NEW, CHANGED]))
    ends = newer_values(tenant, begun["memory_id"].unique(maintain_order=True).to_list())
    rows = redact(rows, ~open_rows(), "title")
    titles = dict(rows.select("memory_id", "title").iter_rows())
    sources = dict(rows.select("memory_id", "source").iter_rows())
    visible = set(memories["memory_id"]) if page["other"].null_count() < page.height else set()
    changed = page.filter(pl.col("event_id").is_not_null())
    entries = tenant.journal.entries(changed["event_id"].to_list()) if changed.height else {}
    described = []
    for row in page.drop("month").iter_rows(named=True):
        entry = entries.get(row["event_id"] or "")
        other = row["other"] if row["other"] in visible else None
        words = _words(row, entry)
        if row["kind"] == NEW and row["memory_id"] in rewritten:
            words = "new, with an earlier text"
        if row["kind"] == NEW and row["memory_id"] in again and row["memory_id"] in sources:
            row["by"] = _author(tenant, sources[row["memory_id"]]) or row["by"]
        more = {"title": titles.get(row["memory_id"]) or "", "other": other, "words": words}
        end = ends.get(row["memory_id"]) if row["kind"] in (NEW, CHANGED) else None
        until = {"newer": end.memory_id, "until": end.until} if end else {"newer": "", "until": None}
        newer_title = end.title if end else ""
        more |= {"other_title": titles.get(other or "") or "", "newer_title": newer_title}
        described.append(row | more | until)
    return described


def _author(tenant: Tenant, source: str) -> str:
    """Return who saved a note first; empty if the journal does not say."""
    acts = tenant.journal.about(tenant.namespace, source)
    return next((entry.principal for entry in acts if entry.kind == "save"), "")


def _words(row: Mapping[str, Any], entry: Entry | None) -> str:
    """Return what happened, in words."""
    if row["kind"] != CHANGED:
        return str(row["kind"])
    if entry is None or not row["same_text"]:
        return "text changed"
    if "saved_at" in entry.payload:
        return "no longer forgotten"
    is_release = is_released(entry.payload) and "saved_by" not in entry.payload
    return "released" if is_release else "labels changed"


def _refused(tenant: Tenant) -> list[str]:
    """Return the events of texts in quarantine."""
    rows = tenant.store.read("quarantine", tenant.mine("status <> 'resolved'"), columns=["revision"])
    return [ids.event_of(revision) for revision in rows["revision"]]
