"""Import of an export: read all of it, drop known and unwanted items, then save the rest by date.

Nothing is written before the export was read to its end. The saves are those of any application
(`Memory.save_many`): gate, reconsolidation, journal. After a kill, run it again: saved items are recognised
by their keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson
import polars as pl

from slowwave.common import ids, progress
from slowwave.common.batches import gathered
from slowwave.common.json_repair import replaced_characters
from slowwave.common.pluralize import counted
from slowwave.imports.gate_preview import PreviewedNotes, prepare_notes, preview_gate, text_mark
from slowwave.imports.model import (
    IMPORTED,
    TEXT,
    ImportFailedError,
    ImportSource,
    Remark,
    Repaired,
    Skipped,
    Thread,
    Unread,
)
from slowwave.imports.report import EXCERPT, MAX_EXAMPLES, Example, NoteImportReport
from slowwave.journal.erasure_tombstones import erased_name, erased_names
from slowwave.journal.kinds.note import text_in
from slowwave.lifecycle.write_path import apply_lost_entries
from slowwave.notes.sensitivity import SENSITIVITIES, SENSITIVITY, most_closed
from slowwave.quality.admission.statuses import DEFAULT_SENSITIVITY, EXACT_DUPLICATE, LIVE, MERGED
from slowwave.store import one_of

if TYPE_CHECKING:
    from slowwave.imports.model import ImportItem
    from slowwave.journal import Entry
    from slowwave.memory import Memory

EXISTS_BATCH = 2_000
"""Items compared with the journal and judged together (count); a conversation is not split."""
SAVE_BATCH = 500
"""Notes per call of `Memory.save_many` (count)."""
MAX_LEADING_ERRORS = 100
"""Maximum unreadable records at the start of an export; with more it counts as another form (count)."""

OLDER, FORGOTTEN, ERASED_HERE, EDITED = (
    "older than what is here", "forgotten here", "erased here", "edited here"
)  # fmt: skip
BEFORE = "before --since"
REPEATED = "the same record again"


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """Options of an import.

    Attributes:
        since: Import only items of this day or later (UTC midnight); None: all. Undated items are imported.
        dry_run: Write nothing.
    """

    since: datetime | None = None
    dry_run: bool = False


class _Coming(NamedTuple):
    """Item that will be saved.

    Attributes:
        when: Sort key: by date, with the turns of a conversation in order.
        number: Position in the export.
        note: With the key that it follows.
        changed: Whether it replaces an earlier text.
    """

    when: datetime
    number: int
    note: PreviewedNotes
    changed: bool


def run_import(memory: Memory, source: ImportSource, options: ImportOptions) -> NoteImportReport:
    """Import an export into a namespace; what a stopped run before left undone, too.

    Args:
        memory: The namespace.
        source: The export.
        options: Filter and dry run.

    Raises:
        ImportFailedError: It is of another form, or damaged; nothing was written.
        OSError: It cannot be read.
        JournalError: The journal cannot be written; saves up to then stay.
    """
    process = _ImportProcess(memory, source, options)
    for threads in gathered(process.threads(), EXISTS_BATCH):
        process.check(threads)
    process.save()
    if process.report.already and not options.dry_run:
        apply_lost_entries(memory.home)  # a run before may have been stopped behind the journal
    return process.report


class _ImportProcess:
    """Import in progress."""

    def __init__(self, memory: Memory, source: ImportSource, options: ImportOptions) -> None:
        self._memory, self._source, self._options = memory, source, options
        self._now = memory.home.now()
        self.report = NoteImportReport(
            source.name, memory.namespace, options.dry_run, gate=_gate(memory, self._now)
        )
        self._enforced = memory.gate_policy.enforces_at(self._now)
        self._erased = erased_names(memory.journal, memory.namespace)
        self._seen: dict[str, tuple[str, str]] = {}  # key: last change and digest
        self._new_texts: dict[str, str] = {}  # content hash of new texts: key
        self._coming: dict[str, _Coming] = {}
        self._kept_out: list[tuple[PreviewedNotes, str]] = []

    # -- reading ---------------------------------------------------------------------------------

    def threads(self) -> Iterator[Thread]:
        """Yield the threads of the export; count problems.

        Raises:
            ImportFailedError: Nothing of it can be read.
        """
        good = 0
        repaired: list[Repaired] = []
        for record in self._source.read():
            if isinstance(record, Unread):
                self.report.problem(record.place, record.why)
                if not good and self.report.unread >= MAX_LEADING_ERRORS:
                    raise self._another_form()
            elif isinstance(record, Remark):
                self.report.notes.append(record.text)
            elif isinstance(record, Repaired):
                repaired.append(record)
            elif isinstance(record, Skipped):
                good += 1
                self.report.skipped[record.why] += record.count
            else:
                good += 1
                yield self._wanted(record)
        if self.report.unread and not good:
            raise self._another_form()
        if repaired:
            self.report.notes.append(_replaced(repaired))

    def _another_form(self) -> ImportFailedError:
        first = self.report.problems[0]
        return ImportFailedError(
            f"{self._source.path} is not an export of {self._source.title}; nothing was written. Expected: "
            f"{self._source.expected}. Problem at {first.place}: {first.why}."
        )

    def _wanted(self, thread: Thread) -> Thread:
        """Count the items, and drop those that are too old."""
        for item in thread:
            self.report.found[item.kind] += 1
        since = self._options.since
        if since is None:
            return thread
        young = tuple(item for item in thread if item.created_at is None or item.created_at >= since)
        if len(young) < len(thread):
            self.report.skipped[BEFORE] += len(thread) - len(young)
        return young

    # -- deciding --------------------------------------------------------------------------------

    def check(self, threads: Sequence[Thread]) -> None:
        """Decide which items of some threads enter."""
        now, max_bytes = self._now, self._memory.settings.notes.max_bytes
        items = self._distinct(item for thread in threads for item in thread)
        notes, problems = prepare_notes(items, self._memory.namespace, now=now, max_bytes=max_bytes)
        for problem in problems:
            self.report.problem(problem.place, problem.why)
        latest = self._memory.journal.latest(self._memory.namespace, [note.item.key for note in notes])
        fresh = [note for note in notes if not self._is_known(note, latest.get(note.item.key))]
        previewed = [
            note for note in fresh if note.item.spoken or self._options.dry_run
        ]  # a save judges the others
        judged = {
            note.item.key: note for note in (*fresh, *preview_gate(previewed, self._memory.gate_policy))
        }
        existing = self._existing(judged.values())
        saved = {key for key, last in latest.items() if last.kind == "save"}
        for thread in threads:
            self._follow(thread, judged, existing, saved)

    def _is_known(self, note: PreviewedNotes, last: Entry | None) -> bool:
        """Whether an item needs no save; counted."""
        if why := self._why_kept(note, last):
            self.report.kept[why] += 1
        elif last is not None and _same(note, last):
            self.report.already += 1
        else:
            return False
        return True

    def _follow(
        self,
        thread: Thread,
        judged: Mapping[str, PreviewedNotes],
        existing: Mapping[str, str],
        saved: Set[str],
    ) -> None:
        """Queue the items of a thread, each following the previous present or future memory."""
        before, when = "", None
        for item in thread:
            key, note = item.key, judged.get(item.key)
            if item.created_at is not None:
                when = max(when or item.created_at, item.created_at)
            if note is None or note.item is not item:
                before = key if key in saved or key in self._coming else before
            elif self._enters(note, existing):
                self._comes(note, before if item.spoken else "", when, changed=key in saved)
                before = key

    def _distinct(self, items: Iterable[ImportItem]) -> list[ImportItem]:
        """Keep the newest of records with one key, else the last; count repetitions."""
        newest: dict[str, ImportItem] = {}
        for item in items:
            version = (item.updated, _fingerprint(item))
            if (previous := self._seen.get(item.key)) is not None:
                self.report.skipped[REPEATED] += 1
                if previous[1] == version[1] or previous[0] > version[0]:
                    continue
                self._drop(item.key)
            self._seen[item.key] = version
            newest[item.key] = item
        return list(newest.values())

    def _drop(self, key: str) -> None:
        """Drop an item, because a newer version of it came."""
        former = self._coming.pop(key, None)
        if former is not None and self._new_texts.get(former.note.entry.content_hash) == key:
            del self._new_texts[former.note.entry.content_hash]

    def _why_kept(self, note: PreviewedNotes, last: Entry | None) -> str:
        """Return why an existing memory is left unchanged; empty: it is not."""
        if last is None:
            name = erased_name(self._memory.namespace, note.item.key)
            return ERASED_HERE if name in self._erased else ""
        if last.kind == "forget":
            return FORGOTTEN
        if _same(note, last):
            return ""
        mark = _mark_of(last)
        if mark is None:
            return EDITED
        before = mark.get("updated")
        return OLDER if isinstance(before, str) and before > note.item.updated else ""

    def _existing(self, notes: Iterable[PreviewedNotes]) -> dict[str, str]:
        """Return content hashes that visible memories have already, each with the source of one memory."""
        store, tenant = self._memory.store, self._memory.tenant
        hashes = sorted({note.entry.content_hash for note in notes})
        rows = store.read_by(
            "memories", "content_hash", hashes, columns=["source", "content_hash", "sensitivity"],
            also=tenant.mine(one_of("status", (LIVE, MERGED))),
        )  # fmt: skip
        visible = rows.filter(pl.col("sensitivity").fill_null(DEFAULT_SENSITIVITY) == DEFAULT_SENSITIVITY)
        return dict(visible.select("content_hash", "source").iter_rows())

    def _enters(self, note: PreviewedNotes, existing: Mapping[str, str]) -> bool:
        """Whether an item enters; count rejections and faults."""
        text, key = note.entry.content_hash, note.item.key
        same = self._new_texts.get(text) or existing.get(text, key)
        reasons = note.reasons + ((EXACT_DUPLICATE,) if same != key else ())
        if note.item.spoken and reasons:
            for reason in reasons:
                self.report.left_out[reason] += 1
            self._kept_out.append((note, reasons[0]))
            return False
        counted = self.report.refused if self._enforced else self.report.warned
        for reason in reasons if self._options.dry_run else ():
            counted[reason] += 1
        if reasons and self._enforced:
            self._kept_out.append((note, reasons[0]))
        self._new_texts.setdefault(text, key)
        return True

    def _comes(self, note: PreviewedNotes, before: str, when: datetime | None, *, changed: bool) -> None:
        """Queue an item for saving, after the one that it follows."""
        labels = {**note.labels, **({"follows": before} if before else {})}
        moment = when or datetime.min.replace(tzinfo=UTC)
        note = note._replace(labels=labels)
        self._coming[note.item.key] = _Coming(moment, len(self._coming), note, changed)

    # -- writing ---------------------------------------------------------------------------------

    def save(self) -> None:
        """Save the queued items, oldest first, and report."""
        coming = sorted(self._coming.values(), key=lambda queued: (queued.when, queued.number))
        self._report_new(coming)
        if self._options.dry_run:
            return
        report = self.report
        with progress.task("saving memories", len(coming)) as advance:
            for start in range(0, len(coming), SAVE_BATCH):
                batch = coming[start : start + SAVE_BATCH]
                for queued, saved in zip(
                    batch, self._memory.save_many([queued.note.labels for queued in batch]), strict=True
                ):
                    report.status[saved.status] += 1
                    refused = saved.status == "quarantined"
                    for reason in saved.reasons:
                        (report.refused if refused else report.warned)[reason] += 1
                    if refused and len(report.staying_out) < MAX_EXAMPLES:
                        report.stays_out(_example(queued.note, ", ".join(saved.reasons)))
                advance(len(batch))

    def _report_new(self, coming: Sequence[_Coming]) -> None:
        report = self.report
        refused = {note.item.key for note, _ in self._kept_out} if self._enforced else set()
        for queued in coming:
            report.new[queued.note.item.kind] += 1
            report.dated(_day(queued.note.item))
            report.changed += queued.changed
            if queued.note.item.key not in refused and len(report.entering) < MAX_EXAMPLES:
                report.entering.append(_example(queued.note))
        for note, why in self._kept_out if self._options.dry_run else ():
            report.stays_out(_example(note, why))


def _replaced(repaired: Sequence[Repaired]) -> str:
    """Return the remark about replaced characters, with the places of the first records."""
    remark = replaced_characters(sum(record.characters for record in repaired))
    places = "; ".join(record.place for record in repaired[:3])
    return f"In {counted(len(repaired), 'record')}: {remark}. The first: {places}."


def _gate(memory: Memory, now: datetime) -> str:
    policy = memory.gate_policy
    if policy.mode != "warn":
        return policy.mode
    if policy.enforces_at(now):
        return "enforce"
    return "warn" if policy.enforces_from is None else f"warn until {policy.enforces_from:%Y-%m-%d}"


def _same(note: PreviewedNotes, last: Entry) -> bool:
    """Whether the journal has an item unchanged; its date and what it follows are not compared."""
    if last.kind != "save":
        return False
    new, existing = note.entry.payload, last.payload
    return (
        new["content"] == text_in(existing)
        and new["title"] == existing.get("title")
        and new["memory_type"] == existing.get("memory_type")
        and list(new["tags"]) == list(existing.get("tags") or ())
        and not (_is_secret(new) and not _is_secret(existing))
    )


def _is_secret(payload: Mapping[str, Any]) -> bool:
    return most_closed([payload.get(SENSITIVITY)]) == SENSITIVITIES[-1]


def _mark_of(last: Entry) -> dict[str, object] | None:
    """Return the import's mark in an entry; None if a person or an application saved or changed it."""
    try:
        metadata = orjson.loads(last.payload.get("metadata") or "{}")
    except orjson.JSONDecodeError:
        return None
    mark = metadata.get(IMPORTED) if isinstance(metadata, dict) else None
    return mark if isinstance(mark, dict) and mark.get(TEXT) == text_mark(last) else None


def _fingerprint(item: ImportItem) -> str:
    sound = (part.encode("utf-8", "replace").decode() for part in (item.content, item.title, *item.tags))
    return ids.digest(IMPORTED, *sound)


def _day(item: ImportItem) -> str:
    return "" if item.created_at is None else item.created_at.astimezone(UTC).date().isoformat()


def _example(note: PreviewedNotes, why: str = "") -> Example:
    text = " ".join(note.item.content[: 4 * EXCERPT].split())
    short = text if len(text) <= EXCERPT else f"{text[: EXCERPT - 1]}…"
    return Example(_day(note.item), note.item.kind, short, note.item.key, why)
