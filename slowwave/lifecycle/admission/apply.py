"""Sound notes enter the memory: decided one after the other, logged, then written.

``quality.admission`` decides; here is what becomes of it. All of it happens behind the home's one writing
lock, so two processes that save at once come to the same memory as one that saves twice. The decision log is
written first and the memories in one commit, so a run that is killed leaves either the old memories or the
new ones; chunks follow their memory (`slowwave.lifecycle.reconcile`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from slowwave.common import progress
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
from slowwave.quality.admission.types import (
    LIVE,
    AdmissionAct,
    AdmissionDecision,
    AdmissionPolicy,
    AdmissionResult,
)
from slowwave.quality.neighbours import Neighbours, coded
from slowwave.store.vectors import mean_vectors

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.journal import Journal

BATCH_SIZE = 4_096
"""Acts decided and committed together (count)."""

ChunksOf = Callable[[pl.DataFrame], pl.DataFrame]


def admit_batch(
    space: Workspace, acts: pl.DataFrame, chunks_of: ChunksOf, *, again: bool = False, later: bool = False
) -> AdmissionReport:
    """Let acts that passed the gate happen: notes enter, forgotten ones retire, decisions are undone.

    Args:
        space: the home.
        acts: rows of ``staged_notes`` (save, forget, undo) of any days and namespaces, in any order.
        chunks_of: gives the embedded chunks of notes (rows of `acts`).
        again: whether these acts may have been settled before, as in a rerun of a night.
        later: rows that are new may wait in the store's log for a commit.
    """
    policy, warnings = space.admission()
    done = AdmissionReport(warnings=warnings)
    with progress.task("deciding and writing", acts.height) as advance:
        for mine in acts.partition_by("namespace", maintain_order=True):
            namespace = str(mine["namespace"][0])
            for run in _consecutive(mine):
                with space.writing():
                    said = current_entries(space.journal, namespace, run)
                    around = ContextLoader(space, namespace, policy)
                    done += _admit(around, said, chunks_of, again=again, later=later)
                advance(run.height)
    _follow_texts(space, acts)
    return done


def _follow_texts(space: Workspace, acts: pl.DataFrame) -> None:
    """What use has taught of a memory is of its text: another one begins anew, an old one has its own."""
    sources: dict[str, list[str]] = {}
    for namespace, act, source in zip(acts["namespace"], acts["act"], acts["source"], strict=True):
        if act == "save" and not source.startswith(KEYLESS):
            sources.setdefault(namespace, []).append(source)
    again = {name: space.journal.rewritten(name, mine) for name, mine in sources.items()}
    if not any(again.values()):  # most say what they said ever
        return
    from slowwave.feedback.apply_state import follow_texts
    from slowwave.feedback.text_attribution import texts_in

    saved = acts.filter(pl.col("act") == "save").select("namespace", "memory_id", "source").unique()
    memories = [
        saved.filter(pl.col("namespace") == name, pl.col("source").is_in(mine))
        for name, mine in again.items()
    ]
    follow_texts(space.store, pl.concat(memories), space.feedback_policy, texts_in(space))


def current_entries(journal: Journal, namespace: str, acts: pl.DataFrame) -> pl.DataFrame:
    """The acts of one namespace without the saves that the journal does not have any more.

    What was erased on its way into the memory does not enter it: this is asked behind the lock that an
    erasure takes, too. A namespace of which nothing was ever erased is asked for that alone.
    """
    if not journal.count(namespace, ERASURE):
        return acts
    saves = acts.filter(pl.col("act") == "save")
    event = pl.col("revision").str.splitn("-", 2).struct[1]
    known = journal.entries(saves.select(event).to_series().to_list())
    there = [name for name, entry in known.items() if entry.kind == "save"]
    return acts.filter((pl.col("act") != "save") | event.is_in(there))


def reconsider_batch(
    space: Workspace, namespace: str, policy: AdmissionPolicy, as_of: datetime, *, dry_run: bool
) -> tuple[int, AdmissionReport, list[AdmissionDecision]]:
    """Reconsolidate what is live already: how many memories, what became of them, and every decision."""
    with space.writing():
        return _reconsider(ContextLoader(space, namespace, policy), as_of, dry_run=dry_run)


def _consecutive(acts: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Acts in the order in which they happen, in pieces of one day.

    A day is forgets, direct saves, notes of vaults by their turn, then people's words about decisions, each
    a piece of its own: what it is about has to be in the log.
    """
    if acts.height == 1:
        yield acts
        return
    order = pl.col("act").replace_strict(ORDER, return_dtype=pl.Int8)
    acts = acts.with_columns(order=order).sort(
        "day", "order", pl.col("origin").fill_null("") != "", moment_of_acts(), "revision", "memory_id"
    )
    for (_, word), part in acts.group_by("day", pl.col("order") == ORDER["undo"], maintain_order=True):
        yield from part.drop("order").iter_slices(1 if word else BATCH_SIZE)


def _admit(
    around: ContextLoader, acts: pl.DataFrame, chunks_of: ChunksOf, *, again: bool, later: bool
) -> AdmissionReport:
    """Decide, log, write."""
    known = around.known_of(acts)
    acts = around.news(acts, known, again=again)
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
    words = around.words(news)
    neighbours = around.neighbours(notes, matrix, acts=news.height)
    taken = _in_batches(around, news, dict(zip(notes["memory_id"], matrix, strict=True)), words)
    around.look_for_newer([act.note for act in taken if act.note is not None], acts=news.height)
    admission = admit(taken, around.surroundings(around.touched(news, known, words), neighbours))
    with around.store.later() if later and _drop_known(admission, news) else nullcontext():
        logged = log(around, admission, saves, news, again=again)
        _refuse(around, admission, saves, again=again)
        done = write(around, admission, news, chunks)
    if around.may_be_held(news["memory_id"].to_list()):
        settle_held(around.store, news, {one.memory_id for one in admission.decisions if one.refused})
    return done + logged + AdmissionReport(unchanged=unchanged)


def _drop_known(admission: AdmissionResult, news: pl.DataFrame) -> bool:
    """Whether all that is to be written are rows of memories that were not known."""
    return (
        not admission.changes
        and not admission.lapses
        and news.filter((pl.col("act") != "save") | pl.col("known_revision").is_not_null()).is_empty()
        and all(one.record.status == LIVE and not one.parts for one in admission.entered.values())
    )


def _reconsider(
    around: ContextLoader, as_of: datetime, *, dry_run: bool
) -> tuple[int, AdmissionReport, list[AdmissionDecision]]:
    """Decide about the live memories, one after the other, and write unless it is a dry run."""
    rows = around.store.read("memories", around.mine("status = 'live'"), columns=RECORD)
    records = sorted(around.records(rows), key=lambda record: record.turn)
    known = {record.memory_id: record for record in records}
    names = list(known)
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
    admission = reconsider(names, around.surroundings(known.values(), neighbours))
    if dry_run:
        return len(names), AdmissionReport(), admission.decisions
    acts = pl.DataFrame(
        {
            "memory_id": names,
            "revision": [record.revision for record in known.values()],
        }
    ).with_columns(
        day=pl.lit(as_of.date().isoformat()),
        act=pl.lit("save"),
        occurred_at=pl.lit(as_of).cast(pl.Datetime("us", "UTC")),
        known_revision="revision",
    )
    looked = replace(admission, decisions=[one for one in admission.decisions if one.outcome != "complement"])
    done = log(around, looked, acts, acts, look=as_of.isoformat())
    done = write(around, looked, acts.clear(), ingest_pipeline.no_chunks(around.space.embedder)) + done
    return len(names), done, admission.decisions


def _in_batches(
    around: ContextLoader, news: pl.DataFrame, vectors: dict[str, np.ndarray], words: dict[str, AdmissionAct]
) -> list[AdmissionAct]:
    """The acts, in their order."""
    gate = around.space.gate_policy
    acts = []
    for row in news.iter_rows(named=True):
        name = row["memory_id"]
        if row["act"] in WORDS:
            acts += [words[row["source"]]] if row["source"] in words else []
        elif row["act"] == "forget":
            acts.append(AdmissionAct("forget", name, revision=row["revision"]))
        else:
            warned = not gate.enforces_at(row["occurred_at"])
            acts.append(AdmissionAct("save", name, note=note_record(row, vectors[name], warned=warned)))
    return acts


_REFUSED = ("memory_id", "revision", "reasons", "duplicate_of", "duplicate_revision", "details")


def _refuse(around: ContextLoader, admission: AdmissionResult, saves: pl.DataFrame, *, again: bool) -> None:
    """Keep the refused notes in quarantine, whole, with the scores that they passed the gate with."""
    rows = [
        {
            "memory_id": one.memory_id, "revision": one.revision, "reasons": list(one.reasons),
            "duplicate_of": one.other, "duplicate_revision": one.other_revision, "details": one.evidence,
        }
        for one in admission.decisions
        if one.refused
    ]  # fmt: skip
    if not rows:
        return
    refused = pl.DataFrame(rows, schema=around.store.empty("quarantine", _REFUSED).schema)
    refused = refused.join(_scores(around, saves), on=["memory_id", "revision"], how="left")
    hold(around.store, saves.drop("score", "parts", strict=False), refused, again=again)


def _scores(around: ContextLoader, saves: pl.DataFrame) -> pl.DataFrame:
    """What the gate counted of these notes, as it came with them or as the night's verdicts have it."""
    columns = ["memory_id", "revision", "score", "parts"]
    if "score" in saves.columns:
        return saves.select(columns)
    found = around.store.read_by("gate_verdicts", "memory_id", saves["memory_id"].to_list(), columns=columns)
    return found.unique(["memory_id", "revision"], keep="last", maintain_order=True)
