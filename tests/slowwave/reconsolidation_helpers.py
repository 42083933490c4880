"""Memories that supersede or absorb each other."""

from __future__ import annotations

import polars as pl

from slowwave.home.tenant import Saved
from slowwave.lifecycle import ingest_pipeline
from slowwave.lifecycle.admission import admit_batch
from slowwave.lifecycle.quarantine import hold
from slowwave.lifecycle.reconcile import Reconciled, reconcile
from slowwave.memory import Memory
from slowwave.quality.gate import judge
from slowwave.store import staging

TUESDAY = "We deploy on Tuesday at nine in the morning, everybody is there."
THURSDAY = TUESDAY.replace("Tuesday", "Thursday")
BATTERY = "The battery of the northern gauge lasts eleven weeks in winter, and nineteen in summer."
CHANGED = "It is changed by Ruaridh."
ROTA = "Ishbel is on call in odd weeks, Ruaridh in even ones; both phones ring at night."
TABLES = ("memories", "chunks", "edges")


def supersede(memory: Memory, **labels) -> tuple[Saved, Saved]:
    """A memory and the one that supersedes it."""
    old = memory.save(TUESDAY, title="Deploy day", **labels)
    new = memory.save(THURSDAY, title="Deploy day")
    assert (new.status, new.outcome, new.other) == ("live", "supersede", old.memory_id)
    return old, new


def merge(memory: Memory, **labels) -> tuple[Saved, Saved]:
    """A memory and the one that it absorbed."""
    target = memory.save(BATTERY, title="Battery", **labels)
    part = memory.save(f"{BATTERY}\n{CHANGED}", title="Battery")
    assert (part.status, part.outcome, part.other) == ("merged", "merge", target.memory_id)
    return target, part


def status(memory: Memory, *saved: Saved) -> list[str]:
    return [memory.get(one.memory_id).status for one in saved]


def found(memory: Memory, query: str) -> list[str]:
    return [result.memory_id for result in memory.search(query)]


def decision(memory: Memory, one: Saved) -> dict:
    (row,) = [row for row in memory.decisions(outcome="any") if row["decision_id"] == one.decision_id]
    return row


def replayed(memory: Memory, other: Memory) -> Memory:
    """Another home, whose tables are made from the journal of the first, day by day, as nights do."""
    kinds = ["save", "forget", "undo", "accept", "unreadable"]
    space, entries = other._space, memory.journal.read(kinds=kinds)
    for (_,), day in entries.sort("day").group_by("day", maintain_order=True):
        rows = staging.stage(day)
        verdicts = judge(rows, space.gate_policy).with_columns(rows["revision"])
        hold(space.store, rows, verdicts.filter(verdict="refuse"))
        let_in = rows.join(verdicts.filter(pl.col("verdict") != "refuse"), on="memory_id", how="semi")

        def chunks_of(notes: pl.DataFrame) -> pl.DataFrame:
            cut = ingest_pipeline.cut(notes, space.chunker, space.embedder.name)
            return ingest_pipeline.embed(space.store, space.embedder, cut)

        admit_batch(space, let_in, chunks_of, again=True)
    return other


def said(memory: Memory) -> list[tuple]:
    columns = ["source", "status", "content", "replaced_by", "absorbed", "revision"]
    return sorted(memory.store.read("memories", columns=columns).rows())


def assert_chunks_follow(memory: Memory) -> None:
    assert reconcile(memory.store, memory._space.chunker, memory.embedder) == Reconciled(0, 0)


def texts(memory: Memory) -> set[str]:
    """Everything that can be found, line by line."""
    live = memory.store.read("memories", "status = 'live'")["content"]
    return {line for content in live for line in content.split("\n")}
