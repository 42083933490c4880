"""Admission of events that passed the gate: decided one after the other, logged, then written.

``quality.admission`` decides; this module carries the decisions out, behind the home's writing lock. So two
processes that save at once get the same memories as one that saves twice. The decision log is written first,
and the memories in one commit: a killed run leaves either the old memories or the new ones. Chunks follow
their memory (`slowwave.lifecycle.reconcile`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from slowwave.common import progress
from slowwave.common.garbage import paused_collection
from slowwave.index.neighbour_cache import sensitivities
from slowwave.journal.entry import ERASURE, WORDS
from slowwave.journal.entry_builders import KEYLESS
from slowwave.lifecycle import ingest_pipeline
from slowwave.lifecycle.admission.context_loader import ContextLoader
from slowwave.lifecycle.admission.rows import (
    ORDER,
    RECORD,
    matrix_of,
    moment_of_acts,
    note_record,
)
from slowwave.lifecycle.admission.writing import AdmissionReport, log, write
from slowwave.lifecycle.quarantine import hold, settle_held
from slowwave.quality.admission.state_machine import admit, reconsider
from slowwave.quality.admission.statuses import LIVE
from slowwave.quality.admission.types import AdmissionAct, AdmissionDecision, AdmissionPolicy, AdmissionResult
from slowwave.quality.neighbours import Neighbours, coded
from slowwave.store.vectors import mean_vectors

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.journal import Journal

BATCH_SIZE = 4_096
"""Events decided and committed together (count)."""

ChunksOf = Callable[[pl.DataFrame], pl.DataFrame]


def admit_batch(
    space: Workspace, acts: pl.DataFrame, chunks_of: ChunksOf, *, again: bool = False, later: bool = False
) -> AdmissionReport:
    """Apply events that passed the gate: notes enter, forgets hide, undos reverse decisions.

    Args:
        acts: Rows of ``staged_notes`` (save, forget, undo, accept) of any days and namespaces, in any
            order.
        chunks_of: Returns the embedded chunks of notes (rows of `acts`).
        again: Whether these events may have been applied before, as in a rerun of a nightly job.
        later: Whether new rows may wait in the write-ahead log for a commit.
    """
    policy, warnings = space.admission()
    done = AdmissionReport(warnings=warnings)
    with paused_collection(acts.height), progress.task("deciding and writing", acts.height) as advance:
        for events in acts.partition_by("namespace", maintain_order=True):
            namespace = str(events["namespace"][0])
            for run in _consecutive(events):
                with space.writing():
                    current = current_entries(space.journal, namespace, run)
                    around = ContextLoader(space, namespace, policy)
                    done += _admit(around, current, chunks_of, again=again, later=later)
                advance(run.height)
    saves = acts.filter(pl.col("act") == "save").select("namespace", "memory_id", "source").unique()
    follow_texts_of(space, saves.rows())
    return done


def follow_texts_of(space: Workspace, saves: Collection[tuple[str, str, str]]) -> None:
    """Move feedback state with the text: a new text starts fresh, an old one regains its own.

    Args:
        saves: Namespace, memory and source of each.
    """
    sources: dict[str, list[str]] = {}
    for namespace, _, source in saves:
        if not source.startswith(KEYLESS):
            sources.setdefault(namespace, []).append(source)
    rewritten = {name: set(space.journal.rewritten(name, names)) for name, names in sources.items()}
    memories = [save for save in saves if save[2] in rewritten.get(save[0], ())]
    if not memories:  # most sources never change their text
        return
    from slowwave.feedback.apply_state import follow_texts
    from slowwave.feedback.text_attribution import texts_in

    columns = dict.fromkeys(("namespace", "memory_id", "source"), pl.String)
    frame = pl.DataFrame(memories, schema=columns, orient="row")
    follow_texts(space.store, frame, space.feedback_policy, texts_in(space))


def current_entries(journal: Journal, namespace: str, acts: pl.DataFrame) -> pl.DataFrame:
    """Return the events of one namespace without saves that the journal has no more.

    A save that was erased before admission must not enter. The caller holds the lock that an erasure takes.
    A namespace without any erasure costs one count.
    """
    if not journal.count(namespace, ERASURE):
        return acts
    saves = acts.filter(pl.col("act") == "save")
    event = pl.col("revision").str.splitn("-", 2).struct[1]
    entries = journal.entries(saves.select(event).to_series().to_list())
    existing = [name for name, entry in entries.items() if entry.kind == "save"]
    return acts.filter((pl.col("act") != "save") | event.is_in(existing))


def reconsider_batch(
    space: Workspace, namespace: str, policy: AdmissionPolicy, as_of: datetime, *, dry_run: bool
) -> tuple[int, AdmissionReport, list[AdmissionDecision]]:
    """Reconsolidate live memories; return their count, the report and every decision."""
    with space.writing():
        return _reconsider(ContextLoader(space, namespace, policy), as_of, dry_run=dry_run)


def _consecutive(acts: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Yield events in the order in which they apply, in pieces of one day.

    A day is forgets, direct saves, vault notes by their moments, then undos and accepts. Each undo or accept
    is a piece of its own: the decision that it is about must be in the log.
    """
    if acts.height == 1:
        yield acts
        return
    order = pl.col("act").replace_strict(ORDER, return_dtype=pl.Int8)
    acts = acts.with_columns(order=order).sort(
        "day", "order", pl.col("origin").fill_null("") != "", moment_of_acts(), "revision", "memory_id"
    )
    for (_, alone), part in acts.group_by("day", pl.col("order") == ORDER["undo"], maintain_order=True):
        yield from part.drop("order").iter_slices(1 if alone else BATCH_SIZE)


def _admit(
    around: ContextLoader, acts: pl.DataFrame, chunks_of: ChunksOf, *, again: bool, later: bool
) -> AdmissionReport:
    """Decide on the events, log the decisions, write the memories."""
    touched = around.existing_memories(acts)
    acts = around.news(acts, touched, again=again)
    news = acts.filter("is_news")
    unchanged = acts.height - news.height
    if news.is_empty():
        return AdmissionReport(unchanged=unchanged)
    saves = news.filter(pl.col("act") == "save")
    chunks = chunks_of(saves).join(saves, on=["memory_id", "revision"], how="semi")
    vectors = mean_vectors(chunks, around.store.identity.dimension)
    notes = saves.select("memory_id", "sensitivity").join(
        vectors, on="memory_id", how="left", maintain_order="left"
    )
    matrix = matrix_of(notes["vector"], around.store.identity.dimension)
    settlements = around.settlements(news)
    names = notes["memory_id"].to_list()
    neighbours = around.neighbours(names, sensitivities(notes), matrix, acts=news.height)
    events = _events_of(around, news, dict(zip(names, matrix, strict=True)), settlements)
    around.check_order([event.note for event in events if event.note is not None], acts=news.height)
    admission = admit(events, around.surroundings(around.touched(news, touched, settlements), neighbours))
    done = carry_out(around, admission, news, chunks, again=again, later=later)
    return done + AdmissionReport(unchanged=unchanged)


def carry_out(
    around: ContextLoader, admission: AdmissionResult, news: pl.DataFrame, chunks: pl.DataFrame, *,
    again: bool, later: bool,
) -> AdmissionReport:  # fmt: skip
    """Log the decisions on events, quarantine what they refuse, and write the memories.

    Args:
        news: The events, of `ContextLoader.news`.
        chunks: Embedded chunks of the saves among them.
        again: See `admit_batch`.
        later: See `admit_batch`.
    """
    saves = news.filter(pl.col("act") == "save")
    with around.store.later() if later and _only_new(admission, news) else nullcontext():
        logged = log(around, admission, saves, news, again=again)
        _refuse(around, admission, saves, again=again)
        done = write(around, admission, news, chunks)
    if around.may_be_held(news["memory_id"].to_list()):
        settle_held(
            around.store, news, {decision.memory_id for decision in admission.decisions if decision.refused}
        )
    return done + logged


def _only_new(admission: AdmissionResult, news: pl.DataFrame) -> bool:
    """Whether all rows to be written are of memories that were not known before."""
    return (
        enters_only(admission)
        and news.filter((pl.col("act") != "save") | pl.col("known_revision").is_not_null()).is_empty()
    )


def enters_only(admission: AdmissionResult) -> bool:
    """Whether notes enter as they are, and no other memory or decision changes."""
    return (
        not admission.changes
        and not admission.lapses
        and all(change.record.status == LIVE and not change.parts for change in admission.entered.values())
    )


def _reconsider(
    around: ContextLoader, as_of: datetime, *, dry_run: bool
) -> tuple[int, AdmissionReport, list[AdmissionDecision]]:
    """Decide on the live memories in turn; write unless it is a dry run."""
    rows = around.store.read("memories", around.in_namespace("status = 'live'"), columns=RECORD)
    records = sorted(around.records(rows), key=lambda record: record.turn)
    by_id = {record.memory_id: record for record in records}
    names = list(by_id)
    rows = rows.join(
        pl.DataFrame({"memory_id": names}, schema={"memory_id": pl.String}),
        on="memory_id",
        how="right",
        maintain_order="right",
    )
    dimension = around.store.identity.dimension
    matrix = matrix_of(rows["vector"], dimension)
    (kinds,) = coded(sensitivities(rows))
    neighbours = Neighbours(
        names, matrix, names, matrix, around.policy.floor, groups=kinds, batch_groups=kinds
    )
    admission = reconsider(names, around.surroundings(by_id.values(), neighbours))
    if dry_run:
        return len(names), AdmissionReport(), admission.decisions
    acts = pl.DataFrame(
        {
            "memory_id": names,
            "revision": [record.revision for record in by_id.values()],
        }
    ).with_columns(
        day=pl.lit(as_of.date().isoformat()),
        act=pl.lit("save"),
        occurred_at=pl.lit(as_of).cast(pl.Datetime("us", "UTC")),
        known_revision="revision",
    )
    decisions = [decision for decision in admission.decisions if decision.outcome != "complement"]
    logged = replace(admission, decisions=decisions)
    done = log(around, logged, acts, acts, look=as_of.isoformat())
    done = write(around, logged, acts.clear(), ingest_pipeline.no_chunks(around.space.embedder)) + done
    return len(names), done, admission.decisions


def _events_of(
    around: ContextLoader,
    news: pl.DataFrame,
    vectors: dict[str, np.ndarray],
    settlements: dict[str, AdmissionAct],
) -> list[AdmissionAct]:
    """Return the events as admission takes them, in their order."""
    gate = around.space.gate_policy
    acts = []
    for row in news.iter_rows(named=True):
        name = row["memory_id"]
        if row["act"] in WORDS:
            acts += [settlements[row["source"]]] if row["source"] in settlements else []
        elif row["act"] == "forget":
            acts.append(AdmissionAct("forget", name, revision=row["revision"]))
        else:
            warned = not gate.refuses(around.namespace, row["origin"], row["principal"], row["occurred_at"])
            acts.append(AdmissionAct("save", name, note=note_record(row, vectors[name], warned=warned)))
    return acts


_REFUSED = ("memory_id", "revision", "reasons", "duplicate_of", "duplicate_revision", "details")


def _refuse(around: ContextLoader, admission: AdmissionResult, saves: pl.DataFrame, *, again: bool) -> None:
    """Quarantine the refused notes, with the scores that passed the gate."""
    rows = [
        {
            "memory_id": decision.memory_id, "revision": decision.revision, "reasons": list(decision.reasons),
            "duplicate_of": decision.other, "duplicate_revision": decision.other_revision,
            "details": decision.evidence,
        }
        for decision in admission.decisions
        if decision.refused
    ]  # fmt: skip
    if not rows:
        return
    refused = pl.DataFrame(rows, schema=around.store.empty("quarantine", _REFUSED).schema)
    refused = refused.join(_scores(around, saves), on=["memory_id", "revision"], how="left")
    hold(around.store, saves.drop("score", "parts", strict=False), refused, again=again)


def _scores(around: ContextLoader, saves: pl.DataFrame) -> pl.DataFrame:
    """Return the content scores of these notes, from the rows or the nightly verdicts."""
    columns = ["memory_id", "revision", "score", "parts"]
    if "score" in saves.columns:
        return saves.select(columns)
    rows = around.store.read_by("gate_verdicts", "memory_id", saves["memory_id"].to_list(), columns=columns)
    return rows.unique(["memory_id", "revision"], keep="last", maintain_order=True)
