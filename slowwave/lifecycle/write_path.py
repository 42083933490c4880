"""Acts of the day are taken in, when they happen, by the functions that the night runs on a day of them.

One writer changes the memories at a time. Who finds the memories free takes in what it wrote; who has to wait
stands in a queue, and whoever has the next turn takes in all that waits, in the order of the journal. The
others find theirs done and fetch what became of it. So however many write at once, an act waits for the turn
that there is and the one after it, and a turn costs its commits once.

All of it was in the journal before. What a turn did not come to, because it was killed, the next one or the
night takes in; what it had done already is known to be done.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl

from slowwave.common import deadline, ids
from slowwave.errors import JournalMovedError
from slowwave.journal.entry import WORDS
from slowwave.journal.entry_builders import entries_frame
from slowwave.lifecycle import ingest_pipeline
from slowwave.lifecycle.admission import AdmissionReport, admit_batch
from slowwave.lifecycle.admission.apply import current_entries
from slowwave.lifecycle.echo_window import served_passages
from slowwave.lifecycle.quarantine import hold
from slowwave.lifecycle.recovery import lacking
from slowwave.lifecycle.source_state import SourceState, entries_after, read_source_state
from slowwave.quality.gate import PASS, judge
from slowwave.store import staging
from slowwave.store.maintenance import keep_fresh
from slowwave.telemetry import span

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.journal import Entry
    from slowwave.journal.group_commit_queue import GroupCommitQueue

LOG = logging.getLogger("slowwave.lifecycle")
MAX_ATTEMPTS = 16
"""Times that one who acts on a source looks at it anew, because another one spoke of it (count)."""

MAX_ENTRIES_PER_CALL = 64
"""Acts of a call that may stand in the queue; of more the vectors are made before the turn (count)."""

MAX_ENTRIES_PER_TURN = 256
"""Acts of others that one turn takes in (count)."""

MAX_LOGGED = 128
"""Turns whose rows wait in the write-ahead log; one of more than `MAX_ENTRIES_PER_CALL` is committed."""

_RULES = {"gate", "reconsolidation", "chunks", "embedding"}  # settings that decide what becomes of a note

T = TypeVar("T")

Became = dict[str, Any]
"""What became of an act, as plain data: of a save the fields of `home.tenant.Saved` but its source."""


def append_and_apply(space: Workspace, act: Entry) -> None:
    """Journal one act, such as a forget or an undo, and carry it out."""
    apply(space, append(space, [act]))


def append(space: Workspace, acts: Sequence[Entry], *, after: Mapping[str, int] | None = None) -> list[Entry]:
    """Write acts; as they are in the journal now, with the place that each has among all acts.

    Args:
        space: the home.
        acts: what happened.
        after: they are written only if these are still the last places of these sources, as of `guarded`.
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
    """Write what rests on how sources stand: all that was said of them before is settled.

    Nobody waits for a turn but who speaks of a source that somebody else is speaking of.

    Args:
        space: the home.
        namespace: of the sources.
        sources: how these stand.
        others: and what was said last of these.
        act: is given what is known of both, and acts by `written` with the places that it is given as
            ``after``; it may be called more than once.

    Raises:
        JournalMovedError: others keep speaking of one of the sources; nothing was written.
    """
    known = read_source_state(space, namespace, sources, others)
    if not known.waiting:
        with suppress(JournalMovedError):
            return act(known, {source: known.place(source) for source in sources})

    def look(last: Mapping[str, int]) -> T:
        return act(read_source_state(space, namespace, sources, others), last)

    return locked_write(space, namespace, sources, look)


def locked_write(
    space: Workspace, namespace: str, sources: Collection[str], act: Callable[[Mapping[str, int]], T]
) -> T:
    """Act on sources such that nothing comes between what was looked at and what is written.

    Nobody else changes the memories meanwhile, all that was said of the sources is taken in, and what is said
    of one at this very moment by another process makes this one look again.

    Args:
        space: the home.
        namespace: of the sources.
        sources: which ones.
        act: looks whether it may, and acts by `written` with the places that it is given as ``after``.

    Raises:
        JournalMovedError: others keep saying something of one of the sources; nothing was written.
    """

    def look() -> T:
        last: dict[str, int] = {}
        for source in sources:
            said = space.journal.about(namespace, source)
            _catch_up(space, namespace, source, said)
            last[source] = max((one.seq or 0 for one in said), default=0)
        return act(last)

    with space.writing():
        for _ in range(MAX_ATTEMPTS - 1):
            with suppress(JournalMovedError):
                return look()
        return look()


def _catch_up(space: Workspace, namespace: str, source: str, said: Sequence[Entry]) -> None:
    """Take in what was said of a source and its memory does not say yet."""
    apply(space, entries_after(space, namespace, source, said)[1] if said else [])


def apply(space: Workspace, acts: Sequence[Entry]) -> list[Became]:
    """Let acts happen that are in the journal; what became of each, in their order.

    Args:
        space: the home.
        acts: of one call, as the journal has them.
    """
    if not acts:
        return []
    became = (
        _apply_entries(space, _batches(acts)) if len(acts) > MAX_ENTRIES_PER_CALL else _with_turn(space, acts)
    )
    return [became[act.event_id] for act in acts]


def _with_turn(space: Workspace, acts: Sequence[Entry]) -> dict[str, Became]:
    """Take them in when the turn comes, or find that another one's turn did."""
    queue, mine = space.journal.queue, [act.event_id for act in acts]
    rules = ids.digest("rules", space.settings.model_dump_json(include=_RULES))
    became: dict[str, Any] = {}
    joined = False

    @contextmanager
    def standing() -> Iterator[None]:
        nonlocal joined
        queue.join(mine, rules)
        joined = True
        yield

    def told() -> bool:
        became.update(queue.answers(mine))
        return len(became) == len(mine)

    try:
        with space.writing(standing(), told) as turn:
            if turn and not (joined and told()):
                became = _turn(space, queue, acts, rules)
                _find_lost_entries(space)
    finally:
        if joined:
            queue.leave(mine)
    if any(one is None for one in became.values()):  # another one could not; if these cannot be, it shows now
        return _apply_entries(space, _batches(acts))
    return became


def _find_lost_entries(space: Workspace) -> None:
    """After a damage or a start of the machine, take in what the tables lack; a failure is told by doctor."""
    wal = space.store.wal
    if wal is None or not (wal.is_of_another_start() or wal.set_aside()):
        return
    try:
        apply_lost_entries(space)
    except Exception as error:  # what this turn was for is done
        LOG.warning("What the tables may lack was not taken in: %s. `slowwave doctor` looks for it.", error)


def apply_lost_entries(space: Workspace) -> int:
    """Take in acts of the journal that the tables lack, forget damaged files of the log; how many (count)."""
    wal = space.store.wal
    with space.writing():
        aside = wal.set_aside(look=True) if wal is not None else ()
        acts = lacking(space)
        _apply_entries(space, _batches(acts))
        if wal is not None:
            wal.forget_set_aside(aside)
            wal.is_whole()
    return len(acts)


def _turn(space: Workspace, queue: GroupCommitQueue, acts: Sequence[Entry], rules: str) -> dict[str, Became]:
    """Take these in, and what waits; tell the others what became of theirs."""
    mine = {act.event_id for act in acts}
    waiting = [one for one in queue.waiting(rules, MAX_ENTRIES_PER_TURN) if one not in mine]
    others = space.journal.entries(waiting) if waiting else {}
    if not others:
        return _apply_entries(space, _batches(acts))
    try:
        became = _apply_entries(space, _batches([*others.values(), *acts]))
    except Exception:  # whosever act it is: each is told by its own call, and the others' are taken in
        queue.answer(dict.fromkeys(others))
        return _apply_entries(space, _batches(acts))
    queue.answer({event: became[event] for event in others})
    return {event: became[event] for event in mine}


def _batches(acts: Sequence[Entry]) -> Iterator[list[Entry]]:
    """The acts in the order of the journal, in pieces that come to the same together as one after the other.

    A piece has acts of one kind and one day, and none of a memory twice; a word about a decision stands
    alone.
    """
    piece: list[Entry] = []
    about: set[tuple[str, str]] = set()
    for act in sorted(acts, key=lambda one: one.seq or 0):
        if piece and (
            act.kind != piece[0].kind
            or act.kind in WORDS
            or act.occurred_at.date() != piece[0].occurred_at.date()
            or (act.namespace, act.subject) in about
        ):
            yield piece
            piece, about = [], set()
        piece.append(act)
        about.add((act.namespace, act.subject))
    if piece:
        yield piece


def _apply_entries(
    space: Workspace, pieces: Iterator[list[Entry]] | Sequence[Sequence[Entry]]
) -> dict[str, Became]:
    """Run the night's stages on these acts, a piece after the other."""
    became: dict[str, Became] = {}
    done = AdmissionReport()
    store, acts = space.store, 0
    for piece in pieces:
        deadline.check()
        acts += len(piece)
        if piece[0].kind == "save":
            told, settled = _save(space, piece)
            became |= told
            done += settled
        else:
            staged = staging.stage(entries_frame(piece))
            admit_batch(space, staged, lambda notes: ingest_pipeline.no_chunks(space.embedder))
            became |= {act.event_id: {} for act in piece}
    with space.writing():
        if acts > MAX_ENTRIES_PER_CALL or len(store.logged()) >= MAX_LOGGED:
            with span("slowwave.save.commit"):
                store.settle()
                store.remove_partial_files()
        keep_fresh(store)
    _log_superseded(became, done)
    return became


def _log_superseded(became: Mapping[str, Became], done: AdmissionReport) -> None:
    """Say of a note that was let in and is older than what it contradicts that it is superseded."""
    superseding = {
        (row["memory_id"], row["other_memory"]): row["decision_id"]
        for row in done.decisions.iter_rows(named=True)
        if row["outcome"] == "supersede"
    }
    for one in became.values():
        status, newer = done.standing.get(one.get("memory_id", ""), ("", None))
        if status == "superseded" and one["status"] != "quarantined":
            decision = superseding.get((newer, one["memory_id"]))
            one |= {"status": status, "outcome": status, "other": newer, "decision_id": decision}


def _save(space: Workspace, entries: Sequence[Entry]) -> tuple[dict[str, Became], AdmissionReport]:
    """Notes pass the gate, are cut and embedded, and enter."""
    store = space.store
    if any(one.kind == "save" for one in entries):
        space.activate_gate()
    staged = staging.stage(entries_frame(entries))
    with span("slowwave.save.gate", notes=staged.height):
        verdicts = judge(staged, space.gate_policy, _served_before(space, staged)).with_columns(
            staged["revision"]
        )
    _quarantine(space, staged, verdicts.filter(pl.col("verdict") == "refuse"))
    scored = verdicts.filter(pl.col("verdict") == PASS).select("memory_id", "score", "parts")
    passed = staged.join(scored, on="memory_id", how="inner", maintain_order="left")
    with span("slowwave.save.embed") as embedded:
        cut = ingest_pipeline.cut(passed, space.chunker, space.embedder.name)
        embedded.set(texts=cut.height)
        chunks = ingest_pipeline.embed(store, space.embedder, cut)
    with span("slowwave.save.reconsolidate", notes=passed.height):
        settled = admit_batch(space, passed, lambda _: chunks, later=True)
    return _outcomes(entries, verdicts, settled, _decided(space, passed, settled)), settled


def _quarantine(space: Workspace, staged: pl.DataFrame, refused: pl.DataFrame) -> None:
    """Keep what the gate refuses, but what was erased meanwhile."""
    if refused.is_empty():
        return
    with space.writing(), space.store.later():
        for mine in staged.partition_by("namespace", maintain_order=True):
            hold(space.store, current_entries(space.journal, str(mine["namespace"][0]), mine), refused)


def _served_before(space: Workspace, staged: pl.DataFrame) -> pl.DataFrame:
    """What searches showed in the namespaces of these notes in the window before each of them."""
    first: datetime = staged["occurred_at"].min()  # type: ignore[assignment]
    last: datetime = staged["occurred_at"].max()  # type: ignore[assignment]
    window = space.gate_policy.echo_window
    reach = window + (last - first) if window else window
    said: dict[str, list[str]] = {}
    for name, text in zip(staged["namespace"], staged["content"], strict=True):
        said.setdefault(name, []).append(text or "")
    share, served, seq = space.gate_policy.echo_share, served_passages(space), int(staged["seq"].max() or 0)  # type: ignore[arg-type]
    return pl.concat([served.recent(name, last, reach, texts, share, seq) for name, texts in said.items()])


def _decided(space: Workspace, passed: pl.DataFrame, settled: AdmissionReport) -> dict[str, dict[str, Any]]:
    """The decision about each memory, by its id; also of what a turn that was killed had come to."""
    decided = {row["memory_id"]: row for row in settled.decisions.iter_rows(named=True)}
    if settled.unchanged:
        pairs = passed.select("memory_id", "revision").iter_rows()
        names = [ids.decision_id(memory, revision) for memory, revision in pairs if memory not in decided]
        rows = space.store.read_by("decisions", "decision_id", names, also="undone_at IS NULL")
        decided |= {row["memory_id"]: row for row in rows.iter_rows(named=True)}
    return decided


def _events_of(decision: Mapping[str, Any]) -> tuple[str, ...]:
    """What who saved a note should know of the decision about it."""
    if decision.get("skipped"):
        return (decision["evidence"],)
    if decision.get("proposed") and decision["outcome"] == "related":
        done = {"merge": "merged into", "supersede": "put in the place of"}[decision["proposed"]]
        return (
            f"Whether it is {done} the memory that it is related to waits for a person: "
            f"`slowwave decisions --waiting` shows both.",
        )
    return ()


def _outcomes(
    entries: Sequence[Entry],
    verdicts: pl.DataFrame,
    settled: AdmissionReport,
    decided: Mapping[str, dict[str, Any]],
) -> dict[str, Became]:
    by_id = {row["memory_id"]: row for row in verdicts.iter_rows(named=True)}
    outcomes: dict[str, Became] = {}
    for entry in entries:
        memory = ids.memory_id(entry.namespace, entry.subject)
        verdict, decision = by_id[memory], decided.get(memory, {})
        refused = verdict["verdict"] != "pass" or decision.get("refused", False)
        outcome = decision.get("outcome", "")
        outcomes[entry.event_id] = {
            "memory_id": memory,
            "status": "quarantined" if refused else "merged" if outcome == "merge" else "live",
            "reasons": (*verdict["reasons"], *(decision.get("reasons") or ())),
            "duplicate_of": decision["other_memory"] if refused and decision else None,
            "outcome": outcome if outcome != "complement" else "",
            "other": decision.get("other_memory"),
            "decision_id": decision.get("decision_id"),
            "quality": verdict["score"],
            "warnings": settled.warnings + _events_of(decision),
        }
    return outcomes
