"""Assets of ingest: staged_notes -> gate_verdicts -> embedded_chunks -> memories -> search_index."""

import time
from datetime import datetime, timedelta
from functools import partial

import dagster as dg
import polars as pl

from slowwave.assets.daily import (
    DAILY_FRESH,
    ROWS,
    Metadata,
    daily_asset,
    defined_in,
    materialized,
    names_of,
    rows_of,
    rows_of_run,
    sizes_of,
    write_days,
    write_rows,
)  # fmt: skip
from slowwave.assets.failed_namespaces import failure_metadata, run_per_namespace
from slowwave.assets.partitions import DAILY, run_key
from slowwave.assets.report import table
from slowwave.assets.resources import OneNight, SlowwaveResource
from slowwave.common.progress import task
from slowwave.home.fault_isolation import rows_in_scope
from slowwave.home.processing_watermarks import NOTES, faulty_days
from slowwave.home.visibility import open_rows
from slowwave.home.workspace import Workspace
from slowwave.index.incremental_snapshot import leave_files, searched_in_table
from slowwave.journal.entry import ERASURE, WORDS
from slowwave.lifecycle import ingest_pipeline
from slowwave.lifecycle.admission import AdmissionReport, admit_batch
from slowwave.lifecycle.discarding import apply_discards
from slowwave.lifecycle.echo_window import served_passages
from slowwave.lifecycle.pending_decisions import COMMAND, waiting
from slowwave.lifecycle.quarantine import hold, lost_originals
from slowwave.lifecycle.reconcile import reconcile
from slowwave.lifecycle.write_path import close_refused
from slowwave.maintenance.stale_partitions import ACTS
from slowwave.quality.gate_policy import GatePolicy
from slowwave.scoring.days import DAY, MICROSECOND, day_end
from slowwave.store import Store, staging
from slowwave.store.indexes import refresh_vector_index
from slowwave.store.maintenance import maintain, remove_replaced
from slowwave.store.text import create_full_text_indexes
from slowwave.vaults import vault

GROUP = "ingest"
asset = partial(daily_asset, GROUP)
JOURNAL = dg.AssetSpec(
    "journal",
    partitions_def=DAILY,
    group_name=GROUP,
    kinds={"sqlite"},
    tags={"stage": GROUP},
    description="Append-only log of all events: saves, searches, feedback, judgments, decisions.\n\n"
    "All tables are derived from it. Applications write it, not the nightly job.",
)


@asset(JOURNAL, rules=("notes", "store/staging.py"))
def staged_notes(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, one_night: OneNight
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Notes saved, changed or deleted each day, and unreadable ones: one row per memory and day.

    Scans every watched vault first and appends changes to the journal; the day's journal entries are the
    rows. Vaults are scanned only if the run includes today or yesterday, because a folder has no history.
    """
    days = list(context.partition_keys)
    scans = _look_at_vaults(slowwave, days[-1])
    space = slowwave.space
    entries = space.journal.read(kinds=ACTS, days=days)
    NOTES.look(space.store, run_key(context), "staged_notes", dict(_last(entries).iter_rows()))

    def made(own: Workspace, part: list[str]) -> pl.DataFrame:
        return staging.stage(rows_in_scope(own, entries.filter(pl.col("day").is_in(part))))

    rows, written = write_days(context, space, made, "namespace", "act")
    warnings = [warning for scan in scans for warning in scan.recorded]
    for warning in warnings:
        context.log.warning(warning)
    return materialized(
        context,
        written,
        {
            "vaults": table(vault.scan_summary(scans)),
            "acts": table(rows.group_by("namespace", "act").len("notes").sort("namespace", "act")),
            "warnings": dg.MetadataValue.md("\n".join(f"- {warning}" for warning in warnings) or "*none*"),
            "lance_version": int(space.store.table("staged_notes").version),
        },
    )


def _last(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the last seq of each day."""
    return rows.group_by("day").agg(pl.col("seq").max())


def _look_at_vaults(slowwave: SlowwaveResource, last_day: str) -> list[vault.ScanResult]:
    """Scan the watched vaults and append changes to the journal.

    They are dated in `last_day` if that is today or yesterday; else no vault is scanned.
    """
    now, end = slowwave.clock(), day_end(last_day)
    if not end - DAY <= now < end + DAY:
        return []
    slowwave.watch_vault()
    space = slowwave.space
    moment: datetime = min(now, end - MICROSECOND)
    return vault.scan_all(space.journal, space.settings.notes, as_of=moment, before=end)


@asset(staged_notes, rules=("quality",))
def gate_verdicts(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, one_night: OneNight
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Save gate's verdict on each staged note: pass or refuse, with all reasons and its content score.

    Checks structure (L1), content (L2) and the named kinds of junk. While the gate only warns, a faulty note
    passes with the reasons for which the gate would refuse it. Refused and unreadable notes go to quarantine
    unchanged. Duplicates (L3) are decided by `memories`, one note after the other.
    """
    space = slowwave.space
    staged = rows_of_run(context, space.store, "staged_notes")
    if (staged["act"] == "save").any():
        space.activate_gate()
    policy = space.gate_policy
    served = served_passages(space).of_days(list(context.partition_keys), policy.echo_window)
    judged = ingest_pipeline.judged(staged, policy, served).drop("memory_id")
    verdicts = pl.concat(
        [staged.select("day", "namespace", "memory_id", "revision", "content_hash"), judged],
        how="horizontal",
    ).with_columns(verdict_id=pl.concat_str("day", pl.lit(":"), "memory_id"))
    refused = verdicts.filter(pl.col("verdict") == "refuse")
    quarantined = hold(space.store, staged, refused)
    apply_discards(space)
    faulty = verdicts.filter(pl.col("reasons").list.len() > 0)
    examples = faulty.select("memory_id", "verdict", "score", "reasons")
    scores = verdicts["score"].drop_nulls()
    written = write_rows(context, space.store, verdicts)
    return materialized(
        context,
        written,
        {
            "gate": _gate_state(policy, space.settings.gate.mode),
            "verdicts": table(verdicts.group_by("verdict").len("notes").sort("verdict")),
            "reasons": table(_by_reason(faulty)),
            "would refuse, duplicates not counted": faulty.height - refused.height,
            "quarantined": quarantined,
            "median quality score": float(scores.median() or 0.0),  # type: ignore[arg-type]
            "faulty notes (examples)": table(examples.sort("memory_id")),
        },
    )


def _gate_state(policy: GatePolicy, mode: str) -> str:
    """Describe the gate by its dates, which stay true; the check `save_gate` shows its current state."""
    start = policy.enforces_from
    return mode if start is None else f"warns until {start:%Y-%m-%d %H:%M} UTC, enforces from then on"


def _by_reason(faulty: pl.DataFrame) -> pl.DataFrame:
    counts = faulty.explode("reasons").group_by(reason="reasons", verdict="verdict").len("notes")
    return counts.sort("notes", "reason", descending=[True, False])


@asset(staged_notes, gate_verdicts, rules=("notes/chunking.py", "embedding"))
def embedded_chunks(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, one_night: OneNight
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Chunks and vectors of the notes that passed.

    Cached texts are not embedded again. Finished chunks are stored as the work proceeds, so a killed run
    resumes where it was.
    """
    space = slowwave.space
    days, notes = list(context.partition_keys), passed(*_judged(context, space.store))
    reports, faults = run_per_namespace(
        space,
        lambda own: ingest_pipeline.embed_days(
            own.store, own.embedder, own.chunker, rows_in_scope(own, notes), days
        ),
    )
    numbers = {day: {ROWS: rows} for day, rows in sizes_of(space.store, "embedded_chunks", days).items()}
    chunks, computed = (sum(getattr(report, name) for report in reports) for name in ("chunks", "computed"))
    return materialized(
        context,
        Metadata(numbers),
        {
            "chunks": chunks,
            "vectors computed": computed,
            "vectors reused": chunks - computed,
            "embedding model": space.embedder.name,
            "seconds in the model": round(sum(report.seconds for report in reports), 2),
            **failure_metadata(context, space.store, faults),
        },
    )


def _judged(context: dg.AssetExecutionContext, store: Store) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the staged notes of the run's days, and the verdicts on them."""
    return rows_of_run(context, store, "staged_notes"), rows_of_run(context, store, "gate_verdicts")


def passed(staged: pl.DataFrame, verdicts: pl.DataFrame, verdict: str = "pass") -> pl.DataFrame:
    """Return staged notes with this verdict, with their score and its parts."""
    wanted = verdicts.filter(pl.col("verdict") == verdict).select("day", "memory_id", "score", "parts")
    return staged.join(wanted, on=["day", "memory_id"], how="inner", maintain_order="left")


@asset(staged_notes, gate_verdicts, embedded_chunks, rules=("quality", "lifecycle/admission"))
def memories(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, one_night: OneNight
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Memories after reconsolidation: each passed note is stored, merged, superseding or refused.

    Notes enter one after the other. Also hides forgotten memories and applies decisions that a person
    reversed. Every decision is logged with its reason; nothing is erased.
    """
    space = slowwave.space
    judged = _judged(context, space.store)
    acts = pl.concat([passed(*judged, name) for name in ("pass", "retire", *WORDS)])
    secret = judged[0].filter((pl.col("act") == "save") & ~open_rows())

    def embedded(notes: pl.DataFrame) -> pl.DataFrame:
        rows = space.store.read_by("embedded_chunks", "memory_id", notes["memory_id"].to_list())
        return rows.drop("embedded_id", "day", "cutter").unique(["chunk_id", "revision"])

    def ingest_days(own: Workspace) -> dict[str, AdmissionReport]:
        done: dict[str, AdmissionReport] = {}
        for (day,), day_rows in rows_in_scope(own, acts).sort("day").group_by("day", maintain_order=True):
            done[str(day)] = admit_batch(own, day_rows, embedded, again=True)
            lost = lost_originals(own.store, until=str(day))
            if not lost.is_empty():  # their original was forgotten or changed: decide again
                retried = own.store.read_by("staged_notes", "memory_id", lost["memory_id"].to_list())
                retried = retried.join(lost, on=["memory_id", "revision"], how="semi")
                done[str(day)] += admit_batch(own, retried, embedded, again=True)
        close_refused(own, rows_in_scope(own, secret))
        return done

    by_namespace, faults = run_per_namespace(space, ingest_days)
    done, numbers = AdmissionReport(), {}
    for day in context.partition_keys:
        report = sum((by_day[day] for by_day in by_namespace if day in by_day), start=AdmissionReport())
        numbers[day] = {name: getattr(report, name) for name in COUNTED}
        done += report
    for warning in done.warnings:
        context.log.warning(warning)
    return materialized(
        context,
        Metadata(numbers),
        {
            "reconsolidation": space.admission()[0].reconsolidation,
            **{name: getattr(done, name) for name in COUNTED},
            "decisions": table(_by_outcome(done.decisions)),
            "decisions (examples)": table(_examples(done.decisions)),
            **failure_metadata(context, space.store, faults),
        },
        as_of_end={
            "dagster/row_count": space.store.count("memories"),
            **_waiting(slowwave),
            "memories": table(_by_status(slowwave)),
        },
    )


COUNTED = (
    "added", "changed", "unchanged", "retired", "merged", "superseded", "related", "refused", "undone",
)  # fmt: skip


def _waiting(slowwave: SlowwaveResource) -> dict[str, int]:
    """Count the decisions that wait for a person, also 0: Dagster plots a history without gaps."""
    return {f"waiting for a person ({COMMAND})": waiting(slowwave.space.store).height}


def _by_outcome(decisions: pl.DataFrame) -> pl.DataFrame:
    if decisions.is_empty():
        return decisions
    return decisions.group_by("outcome", "refused").len("notes").sort("outcome")


def _examples(decisions: pl.DataFrame) -> pl.DataFrame:
    """Return decisions that changed something; `slowwave decisions` has titles and evidence."""
    if decisions.is_empty():
        return decisions
    shown = decisions.filter(pl.col("outcome") != "complement").sort("similarity").head(20)
    return shown.select("outcome", "similarity", "reasons", "memory_id", "other_memory", "decision_id")


def _by_status(slowwave: SlowwaveResource) -> pl.DataFrame:
    rows = slowwave.space.store.read("memories", columns=["namespace", "status"])
    return rows.group_by("namespace", "status").len("memories").sort("namespace", "status")


@asset(
    staged_notes, memories, kinds={"lancedb"}, freshness_policy=DAILY_FRESH,
    rules=("store/text.py", "store/indexes.py", "lifecycle/reconcile.py"),
)  # fmt: skip
def search_index(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, one_night: OneNight
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Chunks synchronised with the memories, updated indexes, and a snapshot file per namespace.

    Old table versions are removed. Processes that search a namespace map its snapshot file.
    """
    space = slowwave.space
    store = space.store
    with space.writing():
        reconciled, faults = run_per_namespace(
            space, lambda own: reconcile(own.store, own.chunker, own.embedder)
        )
    failed_metadata = failure_metadata(context, store, faults)
    settings = space.settings.store
    max_bytes = int(settings.snapshot_mb * 2**20)
    with task("indexing"):
        create_full_text_indexes(store.table("chunks"), store.specs["chunks"])
        large = searched_in_table(store, max_bytes)
        index = refresh_vector_index(
            store,
            minimum_rows=settings.ann_min_chunks,
            wanted_recall=settings.vector_index_recall,
            needed=bool(large),
        )
        kept = maintain(store, keep_versions=timedelta(days=settings.keep_versions_days))
        maintained_at = time.monotonic()
        snapshots = leave_files(
            store,
            max_bytes,
            erasures=lambda name: space.journal.count(name, ERASURE),
            parted_from=settings.ann_min_chunks,
            wanted_recall=settings.vector_index_recall,
        )
        remove_replaced(store, maintained_at, pause=_pause)
    for name, why in snapshots.failed.items():
        context.log.warning(
            f"Cannot write the snapshot file of {name}: {why}. Each process builds its own copy."
        )
    faulty = faulty_days(store, TAKEN_IN)  # they stay stale
    scanned = NOTES.seen(store, run_key(context), "staged_notes")
    staged = rows_of(store, "staged_notes", list(context.partition_keys), ["day", "seq"])
    seen = _last(pl.concat([staged, scanned]))
    NOTES.finish(store, {day: {"seq": seq} for day, seq in seen.iter_rows() if day not in faulty})
    return materialized(
        context,
        Metadata(),
        {},
        as_of_end={
            "dagster/row_count": index.rows,
            "chunks": index.rows,
            "vector index": f"IVF_FLAT, {index.probes} probes, recall@10 {index.recall:.3f}"
            if index.indexed
            else f"none: exact search below {settings.ann_min_chunks:,} chunks"
            if large
            else "none: each namespace is searched in its snapshot",
            "stale chunks removed": sum(report.stale_chunks for report in reconciled),
            "memories fixed": sum(report.remade_memories for report in reconciled),
            "snapshot files": len(snapshots.rows),
            "tables": table(pl.DataFrame(kept)),
            **failed_metadata,
        },
    )


def _pause(seconds: float) -> None:
    with task("waiting until no reader needs the replaced files"):
        time.sleep(seconds)


ASSETS = defined_in(globals())
TAKEN_IN = names_of(ASSETS)
"""Assets that must succeed before a day's notes count as ingested."""
