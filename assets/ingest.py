"""staged_notes -> gate_verdicts -> embedded_chunks -> memories -> search_index."""

from datetime import datetime, timedelta
from pathlib import Path

import dagster as dg
import polars as pl

from assets.partitions import DAILY, day_end
from assets.report import table
from assets.resources import SlowwaveResource
from quality.gate import judge_days, live_at
from slowwave import stages, vault
from slowwave.progress import task
from slowwave.store.indexes import create_full_text_indexes, refresh_vector_index
from slowwave.store.maintenance import maintain

GROUP = "ingest"
IO_MANAGER = "lance_partitions"
WHOLE_RANGE = dg.BackfillPolicy.single_run()
KINDS = {"python", "polars", "lancedb"}


@dg.asset(
    partitions_def=DAILY,
    backfill_policy=WHOLE_RANGE,
    io_manager_key=IO_MANAGER,
    group_name=GROUP,
    kinds=KINDS,
    code_version="1",
)
def staged_notes(context: dg.AssetExecutionContext, slowwave: SlowwaveResource) -> dg.Output[pl.DataFrame]:
    """What each day brought: saved, changed, deleted and unreadable notes, one row per memory and day.

    Looks at every watched vault first (only when the run includes today or yesterday: a folder can only be
    seen as it is now) and puts what changed into the journal; the journal's acts of the day are the rows.
    """
    days = list(context.partition_keys)
    scans = _look_at_vaults(slowwave, days[-1])
    entries = slowwave.space.journal.read(kinds=["save", "forget", "unreadable"], days=days)
    rows = stages.stage(entries)
    for scan in scans:
        for warning in scan.warnings:
            context.log.warning(warning)
    return dg.Output(
        rows,
        metadata={
            "vaults": table(vault.scan_summary(scans)),
            "acts": table(rows.group_by("namespace", "act").len("notes").sort("namespace", "act")),
            "warnings": dg.MetadataValue.md(
                "\n".join(f"- {w}" for s in scans for w in s.warnings) or "*none*"
            ),
        },
    )


def _look_at_vaults(slowwave: SlowwaveResource, last_day: str) -> list[vault.Scan]:
    """Journal what changed in the watched vaults, as acts of `last_day` if that is today or yesterday."""
    now, end = slowwave.clock(), day_end(last_day)
    if not end - timedelta(days=1) <= now < end + timedelta(days=1):
        return []
    space = slowwave.space
    moment: datetime = min(now, end - timedelta(microseconds=1))
    scans = []
    for source in space.journal.sources():
        if not Path(source.uri).is_dir():
            missing = f"The vault {source.name} is not at {source.uri} any more; its notes stay as they are."
            scans.append(vault.Scan(source.name, warnings=[missing]))
            continue
        scans.append(vault.scan(space.journal, source, space.settings.notes, as_of=moment, before=end))
    return scans


@dg.asset(
    partitions_def=DAILY,
    backfill_policy=WHOLE_RANGE,
    io_manager_key=IO_MANAGER,
    group_name=GROUP,
    kinds=KINDS,
    code_version="1",
)
def gate_verdicts(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, staged_notes: pl.DataFrame
) -> dg.Output[pl.DataFrame]:
    """The save gate's verdict on each staged note: pass, refuse or retire, with every reason.

    A day is judged by what was live when it began, so judging an old day again gives the old verdicts.
    Refused and unreadable notes go to quarantine, whole.
    """
    space = slowwave.space
    first = context.partition_keys[0]
    history = space.store.read("gate_verdicts", f"day < '{first}'")
    verdicts = judge_days(staged_notes, live_at(history), space.gate_policy)
    held = stages.quarantine(space.store, staged_notes, verdicts)
    refused = verdicts.filter(pl.col("verdict") == "refuse")
    reasons = refused.explode("reasons").group_by("reasons").len("notes").sort("notes", descending=True)
    examples = refused.join(
        staged_notes.select("memory_id", "revision", "source", "title"), on=["memory_id", "revision"]
    ).select("source", "title", "reasons")
    return dg.Output(
        verdicts,
        metadata={
            "verdicts": table(verdicts.group_by("verdict").len("notes").sort("verdict")),
            "reasons": table(reasons.rename({"reasons": "reason"})),
            "quarantined": held,
            "refused (examples)": table(examples.sort("source")),
        },
    )


@dg.asset(
    partitions_def=DAILY, backfill_policy=WHOLE_RANGE, group_name=GROUP, kinds=KINDS, code_version="1",
    pool="embedding_model",
)  # fmt: skip
def embedded_chunks(
    context: dg.AssetExecutionContext,
    slowwave: SlowwaveResource,
    staged_notes: pl.DataFrame,
    gate_verdicts: pl.DataFrame,
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Chunks and vectors of the notes that passed.

    Text that was ever embedded is not embedded again. Finished chunks are kept as the work goes on, so a
    run that is killed goes on where it was.
    """
    space = slowwave.space
    days = list(context.partition_keys)
    done = stages.embed_days(
        space.store, space.embedder, space.chunker, passed(staged_notes, gate_verdicts), days
    )
    return dg.MaterializeResult(
        metadata={
            "dagster/partition_row_count": done.chunks,
            "chunks": done.chunks,
            "vectors computed": done.computed,
            "vectors reused": done.chunks - done.computed,
            "embedding model": space.embedder.name,
            "seconds in the model": round(done.seconds, 2),
        }
    )


def passed(staged: pl.DataFrame, verdicts: pl.DataFrame, verdict: str = "pass") -> pl.DataFrame:
    """Staged notes with this verdict."""
    wanted = verdicts.filter(pl.col("verdict") == verdict)
    return staged.join(wanted, on=["day", "memory_id"], how="semi", maintain_order="left")


@dg.asset(
    partitions_def=DAILY, backfill_policy=WHOLE_RANGE, group_name=GROUP, kinds=KINDS, code_version="1",
    pool="lance_memories", deps=[embedded_chunks],
)  # fmt: skip
def memories(
    context: dg.AssetExecutionContext,
    slowwave: SlowwaveResource,
    staged_notes: pl.DataFrame,
    gate_verdicts: pl.DataFrame,
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """The memory takes over what passed and retires what was deleted; the last revision wins.

    Unchanged notes are not touched, changed ones replace their chunks, deleted ones are retired and never
    erased.
    """
    store = slowwave.space.store
    days = list(context.partition_keys)
    accepted = stages.last_acts(passed(staged_notes, gate_verdicts))
    forgotten = stages.last_acts(passed(staged_notes, gate_verdicts, "retire"))
    applied = stages.apply_days(store, accepted, days)
    retired = stages.retire(store, forgotten)
    return dg.MaterializeResult(
        metadata={
            "dagster/row_count": store.count("memories"),
            "added": applied.added,
            "changed": applied.changed,
            "retired": retired.retired,
            "unchanged": applied.unchanged + retired.unchanged,
            "memories": table(_by_status(slowwave)),
        }
    )


def _by_status(slowwave: SlowwaveResource) -> pl.DataFrame:
    rows = slowwave.space.store.read("memories", columns=["namespace", "status"])
    return rows.group_by("namespace", "status").len("memories").sort("namespace", "status")


@dg.asset(
    partitions_def=DAILY, backfill_policy=WHOLE_RANGE, group_name=GROUP, kinds={"lancedb"}, code_version="1",
    pool="lance_memories", deps=[memories],
)  # fmt: skip
def search_index(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, staged_notes: pl.DataFrame
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Chunks brought into agreement with the memories, indexes brought up to date, old files removed."""
    space = slowwave.space
    store = space.store
    mended = stages.reconcile(store, space.chunker, space.embedder)
    with task("indexing"):
        create_full_text_indexes(store.table("chunks"), store.specs["chunks"])
        index = refresh_vector_index(
            store,
            minimum_rows=space.settings.store.vector_index_from,
            wanted_recall=space.settings.store.vector_index_recall,
        )
        kept = maintain(store, keep_versions=timedelta(days=space.settings.store.keep_versions_days))
    finished = staged_notes.group_by("day").agg(seq=pl.col("seq").max())
    for day, seq in finished.iter_rows():
        store.put_meta(f"night-{day}", {"seq": seq})
    return dg.MaterializeResult(
        metadata={
            "dagster/row_count": index.rows,
            "chunks": index.rows,
            "vector index": f"IVF_FLAT, {index.probes} probes, recall@10 {index.recall:.3f}"
            if index.indexed
            else f"none: exact search below {space.settings.store.vector_index_from:,} chunks",
            "stale chunks removed": mended.stale_chunks,
            "memories mended": mended.remade_memories,
            "tables": table(pl.DataFrame(kept)),
        }
    )


ASSETS = [staged_notes, gate_verdicts, embedded_chunks, memories, search_index]
