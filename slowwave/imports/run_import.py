"""One import: read everything, leave out what is no memory or is there already, then save the rest by date.

Nothing is written before the export was read to its end. The saves are those of any application
(`Memory.save_many`): gate, reconsolidation, journal. An import that is killed is run again: what it had saved
is known by its key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

import orjson
import polars as pl

from slowwave.common import ids, progress
from slowwave.common.batches import gathered
from slowwave.imports.gate_preview import PreviewedNotes, prepare_notes, preview_gate, text_mark
from slowwave.imports.model import (
    IMPORTED,
    TEXT,
    ImportFailedError,
    ImportSource,
    Remark,
    Skipped,
    Thread,
    Unread,
)
from slowwave.imports.report import EXCERPT, MOST_SHOWN, Example, NoteImportReport
from slowwave.journal.entry import ERASED, ERASURE
from slowwave.journal.erasure_tombstones import erased_name
from slowwave.journal.kinds.note import text_in
from slowwave.quality.admission.types import DEFAULT_SENSITIVITY, EXACT_DUPLICATE, LIVE, MERGED
from slowwave.store import one_of

if TYPE_CHECKING:
    from slowwave.imports.model import ImportItem
    from slowwave.journal import Entry
    from slowwave.memory import Memory

EXISTS_BATCH = 2_000
"""Items that are compared with the journal and judged together (count); a conversation stays together."""
SAVE_BATCH = 500
"""Notes of one call of `Memory.save_many` (count)."""
MAX_WAIT_SECONDS = 100
"""Records that may be wrong at the beginning of an export before it is taken for something else."""

OLDER, FORGOTTEN, ERASED_HERE, EDITED = (
    "older than what is here", "forgotten here", "erased here", "edited here"
)  # fmt: skip
BEFORE = "before --since"
REPEATED = "the same record again"


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """What is taken.

    Attributes:
        since: only what was said or written on this day or later (UTC midnight); None is all. What has no
            date is taken.
        dry_run: do everything but write.
    """

    since: datetime | None = None
    dry_run: bool = False


class _Coming(NamedTuple):
    """An item that will be saved.

    Attributes:
        when: its place among all: by date, and the turns of a conversation in their order.
        number: its place in the export.
        note: with what it follows.
        changed: whether it takes the place of an earlier text.
    """

    when: datetime
    number: int
    note: PreviewedNotes
    changed: bool


def run_import(memory: Memory, source: ImportSource, options: ImportOptions) -> NoteImportReport:
    """Take an export into a namespace.

    Args:
        memory: the namespace.
        source: the export.
        options: what is taken of it.

    Raises:
        ImportFailedError: it is no such export, or damaged; nothing was written.
        OSError: it cannot be read.
        JournalError: the journal cannot be written; what was saved until then stays.
    """
    taking = _Taking(memory, source, options)
    for threads in gathered(taking.threads(), EXISTS_BATCH):
        taking.look_at(threads)
    taking.save()
    return taking.report


class _Taking:
    """One import under way."""

    def __init__(self, memory: Memory, source: ImportSource, options: ImportOptions) -> None:
        self._memory, self._source, self._options = memory, source, options
        self._now = memory.home.now()
        self.report = NoteImportReport(
            source.name, memory.namespace, options.dry_run, gate=_gate(memory, self._now)
        )
        self._enforced = memory.gate_policy.enforces_at(self._now)
        self._erased = _erased(memory)
        self._seen: dict[str, tuple[str, str]] = {}  # of each key: when it was changed, and its digest
        self._said: dict[str, str] = {}  # of each text of a conversation that enters: its key
        self._coming: dict[str, _Coming] = {}
        self._kept_out: list[tuple[PreviewedNotes, str]] = []

    # -- reading ---------------------------------------------------------------------------------

    def threads(self) -> Iterator[Thread]:
        """What is in the export; problems are counted.

        Raises:
            ImportFailedError: nothing of it can be read.
        """
        good = 0
        for one in self._source.read():
            if isinstance(one, Unread):
                self.report.problem(one.place, one.why)
                if not good and self.report.unread >= MAX_WAIT_SECONDS:
                    raise self._another_form()
            elif isinstance(one, Remark):
                self.report.notes.append(one.text)
            elif isinstance(one, Skipped):
                good += 1
                self.report.skipped[one.why] += one.count
            else:
                good += 1
                yield self._wanted(one)
        if self.report.unread and not good:
            raise self._another_form()

    def _another_form(self) -> ImportFailedError:
        first = self.report.problems[0]
        return ImportFailedError(
            f"{self._source.path} is no export of {self._source.title}; nothing was written. Expected: "
            f"{self._source.expected}. But {first.place}: {first.why}."
        )

    def _wanted(self, thread: Thread) -> Thread:
        """What is not too old; counted."""
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

    def look_at(self, threads: Sequence[Thread]) -> None:
        """Find out which items of some threads enter."""
        now, most = self._now, self._memory.settings.notes.max_bytes
        items = self._distinct(item for thread in threads for item in thread)
        notes, problems = prepare_notes(items, self._memory.namespace, now=now, max_bytes=most)
        for problem in problems:
            self.report.problem(problem.place, problem.why)
        latest = self._memory.journal.latest(self._memory.namespace, [one.item.key for one in notes])
        fresh = [one for one in notes if not self._is_known(one, latest.get(one.item.key))]
        asked = [one for one in fresh if one.item.spoken or self._options.dry_run]  # the others a save judges
        judged = {one.item.key: one for one in (*fresh, *preview_gate(asked, self._memory.gate_policy))}
        there = self._there(judged.values())
        saved = {key for key, last in latest.items() if last.kind == "save"}
        for thread in threads:
            self._follow(thread, judged, there, saved)

    def _is_known(self, note: PreviewedNotes, last: Entry | None) -> bool:
        """Whether an item stays as it is here; counted."""
        if why := self._why_kept(note, last):
            self.report.kept[why] += 1
        elif last is not None and _same(note, last):
            self.report.already += 1
        else:
            return False
        return True

    def _follow(
        self, thread: Thread, judged: Mapping[str, PreviewedNotes], there: Mapping[str, str], saved: Set[str]
    ) -> None:
        """Let the items of one thread come, each after the one before it that is, or will be, a memory."""
        before, when = "", None
        for item in thread:
            key, note = item.key, judged.get(item.key)
            if item.created_at is not None:
                when = max(when or item.created_at, item.created_at)
            if note is None or note.item is not item:
                before = key if key in saved or key in self._coming else before
            elif self._enters(note, there):
                self._comes(note, before if item.spoken else "", when, changed=key in saved)
                before = key

    def _distinct(self, items: Iterable[ImportItem]) -> list[ImportItem]:
        """Of records with one key the newest, or else the last; the same again is counted."""
        found: dict[str, ImportItem] = {}
        for item in items:
            mine = (item.updated, _fingerprint(item))
            if (known := self._seen.get(item.key)) is not None:
                self.report.skipped[REPEATED] += 1
                if known[1] == mine[1] or known[0] > mine[0]:
                    continue
                self._drop(item.key)
            self._seen[item.key] = mine
            found[item.key] = item
        return list(found.values())

    def _drop(self, key: str) -> None:
        """A newer version of it came."""
        former = self._coming.pop(key, None)
        if former is not None and self._said.get(former.note.entry.content_hash) == key:
            del self._said[former.note.entry.content_hash]

    def _why_kept(self, note: PreviewedNotes, last: Entry | None) -> str:
        """Why a memory is left as it is here; empty: it is not."""
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

    def _there(self, notes: Iterable[PreviewedNotes]) -> dict[str, str]:
        """Which texts the memory has, that are as open as these: the source of one memory of each."""
        store, tenant = self._memory.store, self._memory.tenant
        hashes = sorted({one.entry.content_hash for one in notes})
        rows = store.read_by(
            "memories", "content_hash", hashes, columns=["source", "content_hash", "sensitivity"],
            also=tenant.mine(one_of("status", (LIVE, MERGED))),
        )  # fmt: skip
        mine = rows.filter(pl.col("sensitivity").fill_null(DEFAULT_SENSITIVITY) == DEFAULT_SENSITIVITY)
        return dict(mine.select("content_hash", "source").iter_rows())

    def _enters(self, note: PreviewedNotes, there: Mapping[str, str]) -> bool:
        """Whether an item enters; what does not, and what the gate has against what does, is counted."""
        text, key = note.entry.content_hash, note.item.key
        same = self._said.get(text) or there.get(text, key)
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
        self._said.setdefault(text, key)
        return True

    def _comes(self, note: PreviewedNotes, before: str, when: datetime | None, *, changed: bool) -> None:
        """Remember an item for the saves, after the one that it follows."""
        labels = {**note.labels, **({"follows": before} if before else {})}
        moment = when or datetime.min.replace(tzinfo=UTC)
        note = note._replace(labels=labels)
        self._coming[note.item.key] = _Coming(moment, len(self._coming), note, changed)

    # -- writing ---------------------------------------------------------------------------------

    def save(self) -> None:
        """Let in what comes, the oldest first, and tell."""
        coming = sorted(self._coming.values(), key=lambda one: (one.when, one.number))
        self._tell(coming)
        if self._options.dry_run:
            return
        report = self.report
        with progress.task("saving memories", len(coming)) as advance:
            for start in range(0, len(coming), SAVE_BATCH):
                some = coming[start : start + SAVE_BATCH]
                for one, saved in zip(
                    some, self._memory.save_many([one.note.labels for one in some]), strict=True
                ):
                    report.status[saved.status] += 1
                    refused = saved.status == "quarantined"
                    for reason in saved.reasons:
                        (report.refused if refused else report.warned)[reason] += 1
                    if refused and len(report.staying_out) < MOST_SHOWN:
                        report.stays_out(_example(one.note, ", ".join(saved.reasons)))
                advance(len(some))

    def _tell(self, coming: Sequence[_Coming]) -> None:
        report = self.report
        refused = {note.item.key for note, _ in self._kept_out} if self._enforced else set()
        for one in coming:
            report.new[one.note.item.kind] += 1
            report.dated(_day(one.note.item))
            report.changed += one.changed
            if one.note.item.key not in refused and len(report.entering) < MOST_SHOWN:
                report.entering.append(_example(one.note))
        for note, why in self._kept_out if self._options.dry_run else ():
            report.stays_out(_example(note, why))


def _gate(memory: Memory, now: datetime) -> str:
    policy = memory.gate_policy
    if policy.mode != "warn":
        return policy.mode
    if policy.enforces_at(now):
        return "enforce"
    return "warn" if policy.enforces_from is None else f"warn until {policy.enforces_from:%Y-%m-%d}"


def _erased(memory: Memory) -> set[str]:
    """What the sources are called that were erased from a namespace."""
    if not memory.journal.count(memory.namespace, ERASURE):
        return set()
    rows = memory.journal.read(kinds=[ERASED], namespace=memory.namespace)
    return set(rows["subject"].to_list())


def _same(note: PreviewedNotes, last: Entry) -> bool:
    """Whether the journal has an item as it is; what it follows, and its date, do not make it another."""
    if last.kind != "save":
        return False
    mine, theirs = note.entry.payload, last.payload
    return (
        mine["content"] == text_in(theirs)
        and mine["title"] == theirs.get("title")
        and mine["memory_type"] == theirs.get("memory_type")
        and list(mine["tags"]) == list(theirs.get("tags") or ())
    )


def _mark_of(last: Entry) -> dict[str, object] | None:
    """What an import noted of itself in an act; None: a person or an application saved it, or changed it."""
    try:
        found = orjson.loads(last.payload.get("metadata") or "{}")
    except orjson.JSONDecodeError:
        return None
    mark = found.get(IMPORTED) if isinstance(found, dict) else None
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
