"""Write path of direct events: applied at once, by the functions that the nightly job runs on days.

One writer changes the memories at a time. A writer that finds the lock free applies its own events. A writer
that finds it taken enqueues their ids; the next lock holder commits its own events and everything queued, in
journal order (group commit). The others find theirs done and fetch the outcomes. So an event waits for at
most two turns, and a turn commits once, however many writers there are.

Every event was in the journal before. What a killed turn did not apply, the next turn or the nightly job
applies; what it did apply is recognised.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl

from slowwave.common import deadline, ids
from slowwave.errors import JournalMovedError
from slowwave.journal.entry import WORDS
from slowwave.journal.entry_builders import entries_frame
from slowwave.lifecycle import ingest_pipeline
from slowwave.lifecycle.admission import AdmissionReport, admit_batch
from slowwave.lifecycle.admission.apply import current_entries
from slowwave.lifecycle.admission.new_note import admit_new_note
from slowwave.lifecycle.closing import EARLIER_CLOSED, close_earlier_texts
from slowwave.lifecycle.discarding import apply_discards
from slowwave.lifecycle.echo_window import served_passages
from slowwave.lifecycle.outcomes import Outcome, decided, mark_superseded, outcomes_of
from slowwave.lifecycle.quarantine import REFUSED, hold
from slowwave.lifecycle.recovery import lacking
from slowwave.lifecycle.source_state import SourceState, entries_after, read_source_state
from slowwave.quality.gate import PASS, judge
from slowwave.store import staging
from slowwave.telemetry import span

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.journal import Entry
    from slowwave.journal.group_commit_queue import GroupCommitQueue

LOG = logging.getLogger("slowwave.lifecycle")
MAX_ATTEMPTS = 16
"""Attempts of an optimistic write while other processes write to the same source (count)."""

MAX_ENTRIES_PER_CALL = 64
"""Events of a call that may be queued; larger calls embed before their turn (count)."""

MAX_ENTRIES_PER_TURN = 256
"""Queued events that one turn applies (count)."""

MAX_LOGGED = 128
"""Turns whose rows may wait in the write-ahead log (count).

A turn with more than `MAX_ENTRIES_PER_CALL` events is committed at once.
"""

_RULES = {"gate", "reconsolidation", "chunks", "embedding"}  # settings that decide the outcome of a note

T = TypeVar("T")


def append_and_apply(space: Workspace, act: Entry) -> None:
    """Append one event, such as a forget, to the journal and apply it."""
    apply(space, append(space, [act]))


def append(space: Workspace, acts: Sequence[Entry], *, after: Mapping[str, int] | None = None) -> list[Entry]:
    """Append events; return them as the journal has them, with their seqs.

    Args:
        after: Write only if these are still the last seqs of these sources (see `locked_write`).
    """
    with span("slowwave.journal.append"):
        return space.journal.append_next(acts, after or {})


def optimistic_write(
    space: Workspace,
    namespace: str,
    sources: Collection[str],
    others: Collection[str],
    act: Callable[[SourceState, Mapping[str, int]], T],
) -> T:
    """Write an event that depends on the state of sources, after all their earlier events.

    Uses optimistic concurrency: only a conflict on the same source falls back to `locked_write`.

    Args:
        sources: State and newest event of these.
        others: Newest event only of these.
        act: Gets the state and the seqs to pass to `append` as ``after``; may run more than once.

    Raises:
        JournalMovedError: Other processes keep writing to one of the sources; nothing was written.
    """
    state = read_source_state(space, namespace, sources, others)
    if not state.waiting:
        with suppress(JournalMovedError):
            return act(state, {source: state.place(source) for source in sources})

    def attempt(last: Mapping[str, int]) -> T:
        return act(read_source_state(space, namespace, sources, others), last)

    return locked_write(space, namespace, sources, attempt)


def locked_write(
    space: Workspace, namespace: str, sources: Collection[str], act: Callable[[Mapping[str, int]], T]
) -> T:
    """Write an event on sources so that nothing changes them after the read.

    The writing lock is held meanwhile, and all earlier events of the sources are applied. If another process
    appends an event on one of them, `act` runs again, up to `MAX_ATTEMPTS` times.

    Args:
        act: Reads the state and writes by `append` with the seqs that it gets as ``after``.

    Raises:
        JournalMovedError: Other processes keep writing to one of the sources; nothing was written.
    """

    def attempt() -> T:
        last: dict[str, int] = {}
        for source in sources:
            entries = space.journal.about(namespace, source)
            _catch_up(space, namespace, source, entries)
            last[source] = max((entry.seq or 0 for entry in entries), default=0)
        return act(last)

    with space.writing():
        for _ in range(MAX_ATTEMPTS - 1):
            with suppress(JournalMovedError):
                return attempt()
        return attempt()


def _catch_up(space: Workspace, namespace: str, source: str, entries: Sequence[Entry]) -> None:
    """Apply the events of a source that its memory does not have yet."""
    apply(space, entries_after(space, namespace, source, entries)[1] if entries else [])


def apply(space: Workspace, acts: Sequence[Entry]) -> list[Outcome]:
    """Apply journalled events of one call; return their outcomes in order.

    Args:
        acts: As the journal has them.
    """
    if not acts:
        return []
    outcomes = (
        _apply_entries(space, _batches(acts)) if len(acts) > MAX_ENTRIES_PER_CALL else _with_turn(space, acts)
    )
    return [outcomes[act.event_id] for act in acts]


def _with_turn(space: Workspace, acts: Sequence[Entry]) -> dict[str, Outcome]:
    """Apply the events in a turn, or return what another writer's turn did."""
    queue, events = space.journal.queue, [act.event_id for act in acts]
    rules = ids.digest("rules", space.settings.model_dump_json(include=_RULES))
    outcomes: dict[str, Any] = {}
    joined = False

    @contextmanager
    def standing() -> Iterator[None]:
        nonlocal joined
        queue.join(events, rules)
        joined = True
        yield

    def answered() -> bool:
        outcomes.update(queue.answers(events))
        return len(outcomes) == len(events)

    try:
        with space.writing(standing(), answered) as turn:
            if turn and not (joined and answered()):
                outcomes = _turn(space, queue, acts, rules)
                _find_lost_entries(space)
    finally:
        if joined:
            queue.leave(events)
    if any(outcome is None for outcome in outcomes.values()):  # the other writer failed: retry here
        return _apply_entries(space, _batches(acts))
    return outcomes


def _find_lost_entries(space: Workspace) -> None:
    """Recover events that the tables miss after damage or a restart of the machine.

    A failure is logged; `slowwave doctor` reports the missing events.
    """
    wal = space.store.wal
    if wal is None or not (wal.is_of_another_start() or wal.set_aside()):
        return
    try:
        apply_lost_entries(space)
    except Exception as error:  # the turn's own events are applied
        LOG.warning(
            "Events that the tables may miss were not applied: %s. Run `slowwave doctor` to check.", error
        )


def apply_lost_entries(space: Workspace) -> int:
    """Apply journal events that the tables miss; return their count.

    Then drop damaged files of the write-ahead log.
    """
    wal = space.store.wal
    with space.writing():
        aside = wal.set_aside(look=True) if wal is not None else ()
        acts = lacking(space)
        _apply_entries(space, _batches(acts))
        apply_discards(space)
        if wal is not None:
            wal.forget_set_aside(aside)
            wal.mark_complete()
    return len(acts)


def _turn(space: Workspace, queue: GroupCommitQueue, acts: Sequence[Entry], rules: str) -> dict[str, Outcome]:
    """Apply these events and the queued ones; answer the queued ones' writers."""
    own = {act.event_id for act in acts}
    waiting = [event for event in queue.waiting(rules, MAX_ENTRIES_PER_TURN) if event not in own]
    others = space.journal.entries(waiting) if waiting else {}
    if not others:
        return _apply_entries(space, _batches(acts))
    try:
        outcomes = _apply_entries(space, _batches([*others.values(), *acts]))
    except Exception:  # whichever event failed: each writer retries its own
        queue.answer(dict.fromkeys(others))
        return _apply_entries(space, _batches(acts))
    queue.answer({event: outcomes[event] for event in others})
    return {event: outcomes[event] for event in own}


def _batches(acts: Sequence[Entry]) -> Iterator[list[Entry]]:
    """Yield the events in journal order, in pieces whose joint result equals one by one.

    A piece has events of one kind and one day, and no memory twice; an undo or accept is alone.
    """
    piece: list[Entry] = []
    subjects: set[tuple[str, str]] = set()
    for act in sorted(acts, key=lambda act: act.seq or 0):
        if piece and (
            act.kind != piece[0].kind
            or act.kind in WORDS
            or act.occurred_at.date() != piece[0].occurred_at.date()
            or (act.namespace, act.subject) in subjects
        ):
            yield piece
            piece, subjects = [], set()
        piece.append(act)
        subjects.add((act.namespace, act.subject))
    if piece:
        yield piece


def _apply_entries(
    space: Workspace, pieces: Iterator[list[Entry]] | Sequence[Sequence[Entry]]
) -> dict[str, Outcome]:
    """Run the nightly job's stages on these events, piece by piece."""
    outcomes: dict[str, Outcome] = {}
    done = AdmissionReport()
    store, acts = space.store, 0
    for piece in pieces:
        deadline.check()
        acts += len(piece)
        if piece[0].kind == "save":
            saved, settled = _save(space, piece)
            outcomes |= saved
            done += settled
        else:
            staged = staging.stage(entries_frame(piece))
            admit_batch(space, staged, lambda notes: ingest_pipeline.no_chunks(space.embedder))
            outcomes |= {act.event_id: {} for act in piece}
    with space.writing():
        if acts > MAX_ENTRIES_PER_CALL or len(store.logged()) >= MAX_LOGGED:
            with span("slowwave.save.commit"):
                store.settle()
                store.remove_partial_files()
        space.keep_fresh()
    mark_superseded(outcomes, done)
    return outcomes


def _save(space: Workspace, entries: Sequence[Entry]) -> tuple[dict[str, Outcome], AdmissionReport]:
    """Judge, cut, embed and admit notes."""
    if any(entry.kind == "save" for entry in entries):
        space.activate_gate()
    note = staging.stage_save(entries[0]) if len(entries) == 1 else None
    staged = staging.stage(entries_frame(entries)) if note is None else staging.staged_frame(note)
    with span("slowwave.save.gate", notes=staged.height):
        verdicts = judge(staged, space.gate_policy, _served_before(space, staged))
    rows = verdicts.rows(named=True)
    notes = zip(rows, staged["revision"].to_list(), strict=True)
    passed = [(row["memory_id"], revision) for row, revision in notes if row["verdict"] == PASS]
    if note is not None and rows[0]["verdict"] == PASS:
        settled = _admit_one(space, staged, note, rows[0])
    else:
        settled = _admit_notes(space, staged, verdicts.with_columns(staged["revision"]))
    outcomes = outcomes_of(entries, rows, settled, decided(space, passed, settled))
    refused = [entry for entry in entries if outcomes[entry.event_id]["status"] == "quarantined"]
    for closing in close_earlier_texts(space, refused):
        _apply_entries(space, [[closing]])
        for entry in refused:
            if entry.subject == closing.subject:
                outcomes[entry.event_id]["warnings"] += (EARLIER_CLOSED,)
    return outcomes, settled


def close_refused(space: Workspace, notes: pl.DataFrame) -> None:
    """Close the earlier texts of those secret notes that were refused.

    Args:
        notes: Columns memory_id and revision of notes that say that they are secret.
    """
    names = notes["memory_id"].to_list()
    held = space.store.read_by("quarantine", "memory_id", names, columns=["revision"], also=REFUSED)
    refused = notes.join(held, on="revision", how="semi")["revision"].to_list()
    entries = space.journal.entries([ids.event_of(revision) for revision in refused]) if refused else {}
    apply(space, close_earlier_texts(space, entries.values()))


def _admit_one(
    space: Workspace, staged: pl.DataFrame, note: Mapping[str, Any], verdict: Mapping[str, Any]
) -> AdmissionReport:
    """Cut, embed and admit one note that passed the gate; without frames if it is new."""
    with span("slowwave.save.embed") as embedded:
        columns = ("namespace", "memory_id", "revision", "title", "content", "context")
        cut = ingest_pipeline.cut_columns(
            [[note[name] for name in columns]], space.chunker, space.embedder.name
        )
        size = len(cut["chunk_id"])
        embedded.set(texts=size)
        few = 0 < size < ingest_pipeline.LOOK_UP_FROM
        if few:
            vectors = ingest_pipeline.embed_few(space.embedder, cut)
        else:
            chunks = ingest_pipeline.embed(space.store, space.embedder, ingest_pipeline.cut_frame(cut))
    with span("slowwave.save.reconsolidate", notes=1):
        if few:
            settled = admit_new_note(space, note, verdict, cut, vectors)
            if settled is not None:
                return settled
            chunks = ingest_pipeline.chunks_frame(cut, vectors)
        passed = staged.with_columns(
            score=pl.lit(verdict["score"], pl.Float64), parts=pl.lit(verdict["parts"])
        )
        return admit_batch(space, passed, lambda _: chunks, later=True)


def _admit_notes(space: Workspace, staged: pl.DataFrame, verdicts: pl.DataFrame) -> AdmissionReport:
    """Quarantine the notes that the gate refuses; cut, embed and admit the others."""
    _quarantine(space, staged, verdicts.filter(pl.col("verdict") == "refuse"))
    scored = verdicts.filter(pl.col("verdict") == PASS).select("memory_id", "score", "parts")
    passed = staged.join(scored, on="memory_id", how="inner", maintain_order="left")
    with span("slowwave.save.embed") as embedded:
        cut = ingest_pipeline.cut(passed, space.chunker, space.embedder.name)
        embedded.set(texts=cut.height)
        chunks = ingest_pipeline.embed(space.store, space.embedder, cut)
    with span("slowwave.save.reconsolidate", notes=passed.height):
        return admit_batch(space, passed, lambda _: chunks, later=True)


def _quarantine(space: Workspace, staged: pl.DataFrame, refused: pl.DataFrame) -> None:
    """Quarantine what the gate refuses, except notes that were erased meanwhile."""
    if refused.is_empty():
        return
    with space.writing(), space.store.later():
        for rows in staged.partition_by("namespace", maintain_order=True):
            hold(space.store, current_entries(space.journal, str(rows["namespace"][0]), rows), refused)


def _served_before(space: Workspace, staged: pl.DataFrame) -> pl.DataFrame:
    """Return passages served in these notes' namespaces in the window before each note."""
    moments = staged["occurred_at"].to_list()
    first, last = min(moments), max(moments)
    window = space.gate_policy.echo_window
    reach = window + (last - first) if window else window
    by_name: dict[str, list[str]] = {}
    for name, text in zip(staged["namespace"], staged["content"], strict=True):
        by_name.setdefault(name, []).append(text or "")
    share, served, seq = space.gate_policy.echo_share, served_passages(space), int(staged["seq"].max() or 0)  # type: ignore[arg-type]
    parts = [served.recent(name, last, reach, texts, share, seq) for name, texts in by_name.items()]
    return pl.concat(parts) if len(parts) > 1 else parts[0]
