"""Steps of an erasure: first the journal, so that nothing can come back, then everything derived from it.

Every step is idempotent. An interrupted erasure has a begin event in the journal without an end event;
`finish` resumes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from slowwave.backup.catalog import still_there
from slowwave.common import ids, progress
from slowwave.errors import NotFoundError, SlowwaveError, TakenInLaterError
from slowwave.home.relocation import require_current
from slowwave.home.workspace import RECONSOLIDATION_CHECKPOINT
from slowwave.index import mmap_snapshot
from slowwave.journal import Entry, payload_of
from slowwave.journal.entry import ERASURE
from slowwave.journal.kinds.erasure import Begun, Finished, begins, ends
from slowwave.lifecycle import ingest_pipeline
from slowwave.lifecycle.repetitions import labels_of
from slowwave.lifecycle.write_path import apply_lost_entries
from slowwave.maintenance.erasure import erasure_state, files, matches, tables, versions
from slowwave.maintenance.erasure.entry_redaction import RedactedEntries
from slowwave.maintenance.erasure.model import Erased, ErasureTask, Plan
from slowwave.maintenance.erasure.quote_detection import QuoteFingerprints
from slowwave.maintenance.moving import cutover
from slowwave.scoring.days import from_microseconds
from slowwave.store import staging
from slowwave.store.checkpoints import ensure_checkpoint, list_checkpoints
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace

STEPS = 5


def plan(
    space: Workspace, namespace: str, memory_ids: Sequence[str] = (), *, source: str = "",
    everything: bool = False,
) -> Plan:  # fmt: skip
    """Return what an erasure would delete; nothing is deleted yet.

    Raises:
        ErasureError: Nothing was named, or more than one scope.
        NotFoundError: The namespace has nothing of this name.
        StoreError: The home was moved while this process had it open.
    """
    require_current(space.settings)
    scope = matches.scope_of(memory_ids, source, everything=everything)
    subjects = matches.find(space, namespace, scope, memory_ids, source)
    begun = ErasureTask(
        ids.new_event_id(), namespace, scope, tuple(subjects.named),
        words=tuple(sorted(subjects.needles.words)),
        phrases=subjects.needles.phrases, lent=tuple(sorted(subjects.lent)),
        followers=tuple(sorted(subjects.followers)), elsewhere=tuple(sorted(subjects.elsewhere)),
        spared=tuple(map(str, _spared(space))),
    )  # fmt: skip
    changes = RedactedEntries(begun, subjects.sources, subjects.needles)
    changes.of(space.journal)
    task = replace(begun, searches=tuple(changes.searches))
    places = {f"journal: {kind}": count for kind, count in sorted(changes.counts.items())}
    places |= {f"table {name}": n for name, n in tables.counts(space.store, task, subjects.needles).items()}
    home = space.settings.home
    if scope == "namespace":
        tokens = sum(token.namespace == namespace for token in space.settings.mcp.tokens)
        watched = sum(vault.namespace == namespace for vault in space.journal.sources())
        places |= {name: n for name, n in (("tokens", tokens), ("watched folders", watched)) if n}
    if not subjects.named and not places:
        raise NotFoundError(f"Namespace {namespace!r} has nothing to erase. Check its name.")
    if (home / files.WAREHOUSE).exists():
        places["warehouse (recreated by the next evaluation)"] = 1
    pages = _pages(space, task)
    places |= {f"file {path.relative_to(home)}": 1 for path in pages.go}
    beside = () if scope == "namespace" else matches.beside(space, namespace, subjects)
    return Plan(
        namespace=namespace,
        scope=scope,
        memories=tuple(subjects.named.values()),
        beside=beside,
        labels=labels_of(space, namespace, beside),
        places=places,
        checkpoints=tuple(checkpoint.name for checkpoint in list_checkpoints(space.store)),
        files=(*matches.files_of(space, namespace, subjects.named.values()), *map(str, pages.stay)),
        work=task,
    )


def erase(space: Workspace, planned: Plan, *, principal: str, why: str = "") -> Erased:
    """Carry out a plan.

    Args:
        space: The home.
        planned: Also erases what was recorded about the same memories since the plan.
        principal: Recorded.
        why: Recorded, so it should not repeat what is erased.

    Raises:
        JournalError: The journal cannot be written; nothing was erased.
        TakenInLaterError: It has started and failed; `finish` resumes it.
    """
    with space.one_night(progress.task("waiting for a nightly run")):
        require_current(space.settings)
        _ = space.policy, space.embedder  # fail before the start if one cannot be loaded
        begun = _begin(space, planned, principal, why)
        try:
            return _carry_out(space, begun)
        except (SlowwaveError, OSError, RuntimeError) as error:
            raise TakenInLaterError(
                f"{error} The erasure has begun: the text is gone from the journal, other places may still "
                f"have it. Resume it: slowwave erase --finish"
            ) from error


def _begin(space: Workspace, planned: Plan, principal: str, why: str) -> ErasureTask:
    """Redact the journal in one transaction and record the begin event."""
    begun, journal = planned.work, space.journal
    sources = {memory.source: memory.memory_id for memory in planned.memories}
    changes = RedactedEntries(begun, sources, QuoteFingerprints(frozenset(begun.words), begun.phrases))
    rows = changes.of(journal)
    begun = replace(begun, searches=tuple(changes.searches))
    erasure_state.write(space.settings.home, begun)
    payload = Begun(
        scope=begun.scope, memories=list(begun.memories), searches=list(begun.searches), why=why,
        acts=len(rows),
    )  # fmt: skip
    event = _event(space, begun, principal, payload)
    journal.erase(event, rows, watched=begun.namespace if begun.scope == "namespace" else None)
    return begun


def _event(
    space: Workspace, begun: ErasureTask, principal: str, payload: Begun | Finished, end: str = ""
) -> Entry:
    return Entry(
        event_id=ids.digest("erasure", begun.erasure, end) if end else begun.erasure, kind=ERASURE,
        namespace=begun.namespace, subject=begun.erasure, occurred_at=space.now(), principal=principal,
        payload=payload,
    )  # fmt: skip


def _carry_out(space: Workspace, begun: ErasureTask) -> Erased:
    """Run all steps after the journal; each may have been done before."""
    home, store, settings = space.settings.home, space.store, space.settings.store
    needles = QuoteFingerprints(frozenset(begun.words), begun.phrases)
    remains = []
    with progress.task("erasing", STEPS) as advance:
        if begun.scope != "namespace":
            _unmerge(space, begun)
        advance(1)
        with space.writing():
            recreated = [
                checkpoint.name
                for checkpoint in list_checkpoints(store)
                if checkpoint.name == RECONSOLIDATION_CHECKPOINT
            ]
            apply_lost_entries(space)
            tables.remove(store, begun, needles)
            if store.wal is not None:
                store.settle()
                store.wal.forget_strays()
            mmap_snapshot.forget(store, begun.namespace)
            versions.drop_tags(store)
            advance(1)
            young = versions.rewrite(
                store, vectors_from=settings.ann_min_chunks, wanted_recall=settings.vector_index_recall,
                max_bytes=int(settings.snapshot_mb * 2**20),
            )  # fmt: skip
            for name in recreated:
                ensure_checkpoint(store, name, space.now())
            _rerecord(space, begun)
        advance(1)
        if remaining := space.journal.rewrite():
            remains.append(remaining)
        advance(1)
        files.drop_warehouse(home)
        files.drop_sessions(home)
        for page in _pages(space, begun).go:
            page.unlink()
        if (home / "dagster").is_dir():
            files.clean_dagster(home / "dagster", _shared_fingerprints(begun))
        if begun.scope == "namespace":
            _drop_tokens(space, begun.namespace)
        advance(1)
    if young:
        remains.append(
            f"{young} files of the tables belong to writes that may still be in progress. If those were "
            f"killed, a later erasure removes the files."
        )
    remains += still_there(home, space.journal.rows.erasures())
    remains += cutover.still_there(space.settings)
    done = Finished(finished=True, remains=remains)
    space.journal.append([_event(space, begun, "slowwave", done, "finished")])
    erasure_state.remove(home, begun.erasure)
    return next(record for record in records(space) if record.erasure == begun.erasure)


def _rerecord(space: Workspace, begun: ErasureTask) -> None:
    """Replace all records of the tables in the journal by their current content."""
    from slowwave.change_log import backfill_existing

    last = space.journal.last_seq()
    backfill_existing(space.store, space.journal)
    space.journal.drop_records(until=last, erasure=begun.erasure)
    space.journal.queue.clear()


def _unmerge(space: Workspace, begun: ErasureTask) -> None:
    """Remove the memories from those that absorbed or superseded them, as forget does."""
    from slowwave.journal.entry_builders import entries_frame, forget_entry
    from slowwave.lifecycle.admission import admit_batch

    where = within(begun.namespace, "status <> 'retired'")
    rows = space.store.read_by("memories", "memory_id", begun.memories, also=where)
    if rows.is_empty():
        return
    newest = max(int(revision[:16], 16) for revision in rows["revision"])
    moment = max(space.now(), from_microseconds(newest + 1))
    events = [
        forget_entry(
            namespace=begun.namespace, source=source, origin="", occurred_at=moment, principal="erasure"
        )
        for source in rows["source"]
    ]
    admit_batch(
        space, staging.stage(entries_frame(events)), lambda _: ingest_pipeline.no_chunks(space.embedder)
    )


def _shared_fingerprints(begun: ErasureTask) -> QuoteFingerprints:
    """Return fingerprints for files that have texts of all namespaces."""
    return QuoteFingerprints(frozenset(begun.words) - frozenset(begun.elsewhere), begun.phrases)


def _pages(space: Workspace, begun: ErasureTask) -> files.Pages:
    spared = [*map(Path, begun.spared), *_spared(space)]
    return files.quoting_pages(space.settings.home, _shared_fingerprints(begun), begun.memories, spared)


def _spared(space: Workspace) -> list[Path]:
    """Return files and folders that are people's own: vaults, and files named in the settings."""
    settings, home = space.settings, space.settings.home.resolve()
    policy_files = [settings.ranking.policy_file, settings.evaluation.interleave]
    policies = [*filter(None, policy_files), *settings.evaluation.shadow_policies.values()]
    named = [Path(source.uri) for source in space.journal.sources()]
    vaults = [
        folder for folder in named if not home.is_relative_to(folder.resolve())
    ]  # a home may be in a vault
    return [*vaults, *map(settings.in_home, policies)]


def _drop_tokens(space: Workspace, namespace: str) -> None:
    """Remove the tokens that are bound to the namespace."""
    from slowwave.settings.file import editing

    if not any(token.namespace == namespace for token in space.settings.mcp.tokens):
        return
    with editing(space.settings.home) as document:
        kept = [token for token in document["mcp"]["tokens"] if token["namespace"] != namespace]
        document["mcp"]["tokens"] = kept


# -- records and unfinished erasures -------------------------------------------------------------------


def records(space: Workspace, namespace: str = "") -> list[Erased]:
    """Return every erasure of a namespace or of the home, oldest first, also unfinished ones."""
    by_id: dict[str, Erased] = {}
    for row in space.journal.read(kinds=[ERASURE], namespace=namespace or None).iter_rows(named=True):
        payload = payload_of(row["payload"])
        if ends(payload):
            if (begun := by_id.get(row["subject"])) is not None:
                by_id[row["subject"]] = replace(begun, finished=True, remains=tuple(payload["remains"]))
        elif begins(payload):  # else it is not an event of ours
            by_id[row["subject"]] = Erased(
                row["subject"], row["namespace"], payload["scope"],
                tuple(payload["memories"]), row["occurred_at"],
                row["principal"], payload["why"], finished=False,
            )  # fmt: skip
    return list(by_id.values())


def unfinished(space: Workspace) -> list[Erased]:
    """Return interrupted erasures, and those of which a table has rows again.

    A nightly run in progress may have written what it had read before.
    """
    home, erasures = space.settings.home, records(space)
    restored = _back(space, erasures)
    return [
        erasure
        for erasure in erasures
        if not erasure.finished
        or erasure_state.read(home, erasure.erasure)
        or restored.intersection(erasure.memories)
    ]


def _back(space: Workspace, erasures: Sequence[Erased]) -> set[str]:
    """Return erased memories with rows in a table, except those saved again."""
    gone: set[str] = set()
    for namespace in {erasure.namespace for erasure in erasures}:
        erased = {name for erasure in erasures if erasure.namespace == namespace for name in erasure.memories}
        current = {ids.memory_id(namespace, source) for source in space.journal.subjects(namespace)}
        gone |= erased - current
    return tables.left_over(space.store, gone) if gone else set()


def finish(space: Workspace) -> list[Erased]:
    """Finish every unfinished erasure."""
    done = []
    home = space.settings.home
    with space.one_night(progress.task("waiting for a nightly run")):
        require_current(space.settings)
        for path in erasure_state.orphans(home, {record.erasure for record in records(space)}):
            path.unlink()  # of an erasure that never started
        for erasure in unfinished(space):
            begun = erasure_state.read(home, erasure.erasure) or _task_from_journal(space, erasure)
            done.append(_carry_out(space, begun))
    return done


def _task_from_journal(space: Workspace, record: Erased) -> ErasureTask:
    """Return the task of an erasure from the journal, without its words.

    Its file is missing, or on another machine.
    """
    entry = space.journal.get(record.erasure)
    searches = tuple(entry.payload.get("searches", ())) if entry else ()
    return ErasureTask(record.erasure, record.namespace, record.scope, record.memories, searches)  # type: ignore[arg-type]
