"""The steps of an erasure: first the journal, so that nothing can come back, then everything made of it.

Every step can be done again. One that was killed is known by its act in the journal, which has no act that
says that it is finished; `finish` goes on with it.
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
from slowwave.journal.kinds.erasure import Begun, Finished, begins, ends, searches_in
from slowwave.lifecycle import ingest_pipeline
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
    """What would go; nothing does yet.

    Raises:
        ErasureError: nothing was named, or more than one kind of thing.
        NotFoundError: the namespace has nothing of this name.
        StoreError: the home was moved since this process has it open.
    """
    require_current(space.settings)
    scope = matches.scope_of(memory_ids, source, everything=everything)
    found = matches.find(space, namespace, scope, memory_ids, source)
    begun = ErasureTask(
        ids.new_event_id(), namespace, scope, tuple(found.named), words=tuple(sorted(found.needles.words)),
        phrases=found.needles.phrases, lent=tuple(sorted(found.lent)),
        followers=tuple(sorted(found.followers)), elsewhere=tuple(sorted(found.elsewhere)),
        spared=tuple(map(str, _spared(space))),
    )  # fmt: skip
    changes = RedactedEntries(begun, found.sources, found.needles)
    changes.of(space.journal)
    known = replace(begun, searches=tuple(changes.searches))
    places = {f"journal: {kind}": count for kind, count in sorted(changes.counts.items())}
    places |= {f"table {name}": n for name, n in tables.counts(space.store, known, found.needles).items()}
    home = space.settings.home
    if scope == "namespace":
        tokens = sum(one.namespace == namespace for one in space.settings.mcp.tokens)
        watched = sum(one.namespace == namespace for one in space.journal.sources())
        places |= {name: n for name, n in (("tokens", tokens), ("watched folders", watched)) if n}
    if not found.named and not places:
        raise NotFoundError(f"Namespace {namespace!r} has nothing that could be erased. Is its name right?")
    if (home / files.WAREHOUSE).exists():
        places["warehouse (built again by the next evaluation)"] = 1
    pages = _pages(space, known)
    places |= {f"file {path.relative_to(home)}": 1 for path in pages.go}
    return Plan(
        namespace=namespace,
        scope=scope,
        memories=tuple(found.named.values()),
        beside=() if scope == "namespace" else matches.beside(space, namespace, found),
        places=places,
        checkpoints=tuple(one.name for one in list_checkpoints(space.store)),
        files=(*matches.files_of(space, namespace, found.named.values()), *map(str, pages.stay)),
        work=known,
    )


def erase(space: Workspace, planned: Plan, *, principal: str, why: str = "") -> Erased:
    """Carry a plan out.

    Args:
        space: the home.
        planned: what goes; what was said meanwhile of the same memories goes, too.
        principal: who erases; it is kept.
        why: in words; it is kept, so it should not repeat what is erased.

    Raises:
        JournalError: the journal cannot be written, and nothing was erased.
        TakenInLaterError: it has begun and something stood in its way; `finish` goes on with it.
    """
    with space.one_night(progress.task("waiting for a night")):
        require_current(space.settings)
        _ = space.policy, space.embedder  # what cannot be loaded is better known before
        begun = _begin(space, planned, principal, why)
        try:
            return _carry_out(space, begun)
        except (SlowwaveError, OSError, RuntimeError) as error:
            raise TakenInLaterError(
                f"{error} The erasure has begun: the journal says nothing of it any more, other places may. "
                f"Go on with it: slowwave erase --finish"
            ) from error


def _begin(space: Workspace, planned: Plan, principal: str, why: str) -> ErasureTask:
    """Take it out of the journal, all at once, and say there what is going on."""
    begun, journal = planned.work, space.journal
    sources = {one.source: one.memory_id for one in planned.memories}
    changes = RedactedEntries(begun, sources, QuoteFingerprints(frozenset(begun.words), begun.phrases))
    rows = changes.of(journal)
    begun = replace(begun, searches=tuple(changes.searches))
    erasure_state.write(space.settings.home, begun)
    said = Begun(
        scope=begun.scope, memories=list(begun.memories), searches=list(begun.searches), why=why,
        acts=len(rows),
    )  # fmt: skip
    act = _act(space, begun, principal, said)
    journal.erase(act, rows, watched=begun.namespace if begun.scope == "namespace" else None)
    return begun


def _act(
    space: Workspace, begun: ErasureTask, principal: str, payload: Begun | Finished, end: str = ""
) -> Entry:
    return Entry(
        event_id=ids.digest("erasure", begun.erasure, end) if end else begun.erasure, kind=ERASURE,
        namespace=begun.namespace, subject=begun.erasure, occurred_at=space.now(), principal=principal,
        payload=payload,
    )  # fmt: skip


def _carry_out(space: Workspace, begun: ErasureTask) -> Erased:
    """Everything that follows from the journal; each step may have been done before."""
    home, store, settings = space.settings.home, space.store, space.settings.store
    needles = QuoteFingerprints(frozenset(begun.words), begun.phrases)
    remains = []
    with progress.task("erasing", STEPS) as advance:
        if begun.scope != "namespace":
            _part(space, begun)
        advance(1)
        with space.writing():
            again = [one.name for one in list_checkpoints(store) if one.name == RECONSOLIDATION_CHECKPOINT]
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
                most_bytes=int(settings.snapshot_mb * 2**20),
            )  # fmt: skip
            for name in again:
                ensure_checkpoint(store, name, space.now())
            _record_anew(space, begun)
        advance(1)
        if told := space.journal.rewrite():
            remains.append(told)
        advance(1)
        files.drop_warehouse(home)
        for page in _pages(space, begun).go:
            page.unlink()
        if (home / "dagster").is_dir():
            files.clean_dagster(home / "dagster", _of_all(begun))
        if begun.scope == "namespace":
            _drop_tokens(space, begun.namespace)
        advance(1)
    if young:
        remains.append(
            f"{young} files of the tables belong to writes that may still be going on; were they killed, a "
            f"later erasure removes them."
        )
    remains += still_there(home, space.journal.rows.erasures())
    remains += cutover.still_there(space.settings)
    done = Finished(finished=True, remains=remains)
    space.journal.append([_act(space, begun, "slowwave", done, "finished")])
    erasure_state.remove(home, begun.erasure)
    return next(one for one in records(space) if one.erasure == begun.erasure)


def _record_anew(space: Workspace, begun: ErasureTask) -> None:
    """Put what the tables hold now in the place of all that was recorded of them."""
    from slowwave.change_log import backfill_existing

    last = space.journal.last_seq()
    backfill_existing(space.store, space.journal)
    space.journal.drop_records(until=last, erasure=begun.erasure)
    space.journal.queue.clear()


def _part(space: Workspace, begun: ErasureTask) -> None:
    """Take the memories out of what they were merged into, absorbed or superseded, as forgetting does."""
    from slowwave.journal.entry_builders import entries_frame, forget_entry
    from slowwave.lifecycle.admission import admit_batch

    mine = within(begun.namespace, "status <> 'retired'")
    found = space.store.read_by("memories", "memory_id", begun.memories, also=mine)
    if found.is_empty():
        return
    newest = max(int(revision[:16], 16) for revision in found["revision"])
    moment = max(space.now(), from_microseconds(newest + 1))
    acts = [
        forget_entry(
            namespace=begun.namespace, source=source, origin="", occurred_at=moment, principal="erasure"
        )
        for source in found["source"]
    ]
    admit_batch(
        space, staging.stage(entries_frame(acts)), lambda _: ingest_pipeline.no_chunks(space.embedder)
    )


def _of_all(begun: ErasureTask) -> QuoteFingerprints:
    """By what a text is known where texts of all namespaces are."""
    return QuoteFingerprints(frozenset(begun.words) - frozenset(begun.elsewhere), begun.phrases)


def _pages(space: Workspace, begun: ErasureTask) -> files.Pages:
    spared = [*map(Path, begun.spared), *_spared(space)]
    return files.quoting_pages(space.settings.home, _of_all(begun), begun.memories, spared)


def _spared(space: Workspace) -> list[Path]:
    """Files and folders that are people's own: vaults, and what the settings name."""
    settings, home = space.settings, space.settings.home.resolve()
    given = [settings.ranking.policy_file, settings.evaluation.interleave]
    policies = [*filter(None, given), *settings.evaluation.shadow_policies.values()]
    named = [Path(one.uri) for one in space.journal.sources()]
    vaults = [one for one in named if not home.is_relative_to(one.resolve())]  # a home may be in a vault
    return [*vaults, *map(settings.in_home, policies)]


def _drop_tokens(space: Workspace, namespace: str) -> None:
    """Tokens that were bound to the namespace open nothing any more."""
    from slowwave.settings.file import editing

    if not any(one.namespace == namespace for one in space.settings.mcp.tokens):
        return
    with editing(space.settings.home) as document:
        kept = [one for one in document["mcp"]["tokens"] if one["namespace"] != namespace]
        document["mcp"]["tokens"] = kept


# -- what was erased, and what has not been finished -------------------------------------------------


def records(space: Workspace, namespace: str = "") -> list[Erased]:
    """Every erasure of a namespace or of the home, the first first, and also those that are not finished."""
    found: dict[str, Erased] = {}
    for row in space.journal.read(kinds=[ERASURE], namespace=namespace or None).iter_rows(named=True):
        said = payload_of(row["payload"])
        if ends(said):
            if (begun := found.get(row["subject"])) is not None:
                found[row["subject"]] = replace(begun, finished=True, remains=tuple(said["remains"]))
        elif begins(said):  # else it is no act of ours
            found[row["subject"]] = Erased(
                row["subject"], row["namespace"], said["scope"], tuple(said["memories"]), row["occurred_at"],
                row["principal"], said["why"], finished=False,
            )  # fmt: skip
    return list(found.values())


def unfinished(space: Workspace) -> list[Erased]:
    """Erasures that were interrupted, and those of which a table has rows again.

    A run of the night that was going on may have written what it had read before.
    """
    home, known = space.settings.home, records(space)
    back = _back(space, known)
    return [
        one
        for one in known
        if not one.finished or erasure_state.read(home, one.erasure) or back.intersection(one.memories)
    ]


def _back(space: Workspace, known: Sequence[Erased]) -> set[str]:
    """Erased memories of which a table has rows, but for those that were saved again under their name."""
    gone: set[str] = set()
    for namespace in {one.namespace for one in known}:
        mine = {name for one in known if one.namespace == namespace for name in one.memories}
        there = {ids.memory_id(namespace, source) for source in space.journal.subjects(namespace)}
        gone |= mine - there
    return tables.left_over(space.store, gone) if gone else set()


def finish(space: Workspace) -> list[Erased]:
    """Go on with every erasure that is not finished."""
    done = []
    home = space.settings.home
    with space.one_night(progress.task("waiting for a night")):
        require_current(space.settings)
        for path in erasure_state.orphans(home, {one.erasure for one in records(space)}):
            path.unlink()  # of one that never began
        for one in unfinished(space):
            begun = erasure_state.read(home, one.erasure) or _known(space, one)
            done.append(_carry_out(space, begun))
    return done


def _known(space: Workspace, one: Erased) -> ErasureTask:
    """What the journal knows of an erasure whose file is gone (or on another machine): no words."""
    entry = space.journal.get(one.erasure)
    searches = tuple(searches_in(entry.payload)) if entry else ()
    return ErasureTask(one.erasure, one.namespace, one.scope, one.memories, searches)  # type: ignore[arg-type]
