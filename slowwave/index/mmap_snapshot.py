"""Snapshot file of a namespace, written nightly and mapped by all processes (`slowwave.index.mapped_file`).

It is derived from the table alone and records from which version. If table, model or tokenization may differ,
the snapshot is built from the table as if there were no file.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from slowwave.common.ids import digest
from slowwave.index.incremental import Part, fragments_of
from slowwave.index.mapped_file import MappedFile, Putting, is_sound, opened, remove
from slowwave.index.partitioned_vectors import Matrix
from slowwave.index.partitions import Partitions
from slowwave.index.snapshot import ASKED, MemoryRows
from slowwave.index.vocabulary import WORD, Lexicon, Vocabulary
from slowwave.scoring.ranking.bm25 import Postings, WordIndex
from slowwave.store.frames import frame_of
from slowwave.store.text import full_text_config

if TYPE_CHECKING:
    import lance

    from slowwave.store import Store

FOLDER = "_search"
FORMAT = 4
TABLE = "chunks"
Facts = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Left:
    """Snapshot of a namespace at a version of its table, with every row.

    Attributes:
        kept: Columns of rows.
        asked: Columns that a condition may name.
        vectors: Unit vectors, (n, dimension).
        words: Word index of the rows.
        vocabulary: Numbers of terms.
        rows_of: Rows of each memory.
        parts: Positions of rows in the table, by the files of a fragment.
        partitions: Partitions of the vectors, which are in their order then; None for few rows.
    """

    kept: pa.Table
    asked: pl.DataFrame
    vectors: Matrix
    words: WordIndex
    vocabulary: Vocabulary
    rows_of: MemoryRows
    parts: dict[str, Part]
    partitions: Partitions | None = None


def path_of(store: Store, namespace: str) -> Path:
    """Return the path of a namespace's file."""
    return Path(store.uri, FOLDER, digest("namespace", namespace))


def forget(store: Store, namespace: str) -> None:
    """Delete the file of a namespace; the nightly job recreates it."""
    if not store.elsewhere:
        remove(path_of(store, namespace))


def damaged(store: Store) -> list[Path]:
    """Return the files with a wrong checksum; every byte of all is read."""
    if store.elsewhere:
        return []
    files = sorted(Path(store.uri, FOLDER).glob("[!.]*"))
    return [path for path in files if not is_sound(path)]


def forget_others(store: Store, namespaces: set[str]) -> int:
    """Delete files of other namespaces and of killed writes; return their number."""
    current = {path_of(store, item).name for item in namespaces}
    others = [item for item in Path(store.uri, FOLDER).glob("*") if item.name not in current]
    for item in others:
        item.unlink(missing_ok=True)
    return len(others)


def is_current(
    store: Store, namespace: str, columns: Sequence[str], data: lance.LanceDataset, parted: str | None = None
) -> bool:
    """Return whether the file has this version, and this partitioning if one is given."""
    mapped, expected = opened(path_of(store, namespace)), _version(store, data)
    expected |= {} if parted is None else {"parted": parted}
    if mapped is None or any(mapped.facts.get(name) != value for name, value in expected.items()):
        return False
    try:
        return read(store, namespace, columns, data) is not None
    except (KeyError, TypeError, ValueError, pa.ArrowException):
        return False


def write(store: Store, namespace: str, snapshot: Left, data: lance.LanceDataset, parted: str = "") -> None:
    """Write the file; it replaces the previous one when complete.

    Args:
        store: Store of the table.
        namespace: Namespace of the rows.
        snapshot: The snapshot.
        data: Version that it was built from.
        parted: Key of the partitioning parameters.

    Raises:
        ValueError: a column is too large for one piece.
        OSError: it cannot be written.
    """
    (block,) = snapshot.words.blocks or (Postings.of([], []),)
    block.find_peaks(snapshot.words.lengths)
    words, terms = snapshot.vocabulary.added()
    names = snapshot.kept.column("memory_id").to_pylist()
    with Putting(path_of(store, namespace)) as file:
        file.array("vectors", snapshot.vectors)
        for name in ("centres", "starts", "order", "place") if snapshot.partitions else ():
            file.array(f"partitions:{name}", getattr(snapshot.partitions, name))
        file.table("kept", snapshot.kept)
        file.table("asked", snapshot.asked.rechunk().to_arrow(compat_level=pl.CompatLevel.newest()))
        for name in ("terms", "starts", "rows", "counts"):
            file.array(f"postings:{name}", getattr(block, name))
        file.array("peaks:terms", np.array([*block.peaks], dtype=np.int32))
        file.array("peaks:starts", np.cumsum([0, *map(len, block.peaks.values())]))
        file.array("peaks:rows", np.concatenate([np.empty(0, np.int32), *block.peaks.values()]))
        file.array("lengths", snapshot.words.lengths)
        for name, numbers in (("word", words), ("term", terms)):
            order = file.texts(name, numbers)
            file.array(f"{name}:number", np.array([numbers[text] for text in order], dtype=np.int32))
        places = {name: at for at, name in enumerate(file.texts("memory", set(names)))}
        at = np.array([places[name] for name in names], dtype=np.int64)
        file.array("memory:rows", np.argsort(at, kind="stable").astype(np.int32))
        file.array("memory:starts", np.cumsum([0, *np.bincount(at, minlength=len(places))]))
        parts = list(snapshot.parts.items())
        file.array("part:rows", np.concatenate([part.rows for _, part in parts]))
        file.array("part:offsets", np.concatenate([part.offsets for _, part in parts]))
        file.end(
            {
                **_identity(store, namespace, snapshot.kept.column_names),
                **_version(store, data),
                "rows": snapshot.kept.num_rows,
                "parted": parted,
                "partitions": None
                if snapshot.partitions is None
                else {"probes": snapshot.partitions.probes, "recall": snapshot.partitions.recall},
                "parts": [[path, len(part.rows), part.deletions] for path, part in parts],
            }
        )


def read(store: Store, namespace: str, columns: Sequence[str], data: lance.LanceDataset) -> Left | None:
    """Map the snapshot of a namespace; None if there is none, or it may not fit.

    Args:
        store: Store of the table.
        namespace: Namespace of the rows.
        columns: Columns of a row.
        data: Version to continue to.
    """
    mapped = opened(path_of(store, namespace))
    if mapped is None or not _fits(store, mapped.facts, _identity(store, namespace, columns), data):
        return None
    snapshot = Left(
        kept=mapped.table("kept"), asked=frame_of(mapped.table("asked")), vectors=mapped.array("vectors"),
        words=WordIndex(
            (
                Postings(
                    terms=mapped.array("postings:terms"), starts=mapped.array("postings:starts"),
                    rows=mapped.array("postings:rows"), counts=mapped.array("postings:counts"),
                    peaks=_peaks(mapped),
                ),
            ),
            mapped.array("lengths"),
        ),
        vocabulary=Vocabulary(
            file=Lexicon(
                mapped.texts("word"), mapped.array("word:number"), mapped.texts("term"),
                mapped.array("term:number"),
            )
        ),
        rows_of=MemoryRows(
            mapped.texts("memory"), mapped.array("memory:starts"), mapped.array("memory:rows")
        ),
        parts=dict(_parts(mapped.facts["parts"], mapped.array("part:rows"), mapped.array("part:offsets"))),
        partitions=_partitions(mapped),
    )  # fmt: skip
    return snapshot if _agrees(snapshot, mapped.facts["rows"], store.identity.dimension) else None


def _peaks(mapped: MappedFile) -> dict[int, npt.NDArray[np.int32]]:
    starts, rows = mapped.array("peaks:starts").tolist(), mapped.array("peaks:rows")
    parts = (rows[start:end] for start, end in pairwise(starts))
    return dict(zip(mapped.array("peaks:terms").tolist(), parts, strict=True))


def _partitions(mapped: MappedFile) -> Partitions | None:
    facts = mapped.facts["partitions"]
    if facts is None:
        return None
    arrays = {name: mapped.array(f"partitions:{name}") for name in ("centres", "starts", "order", "place")}
    return Partitions(**arrays, probes=int(facts["probes"]), recall=float(facts["recall"]))


def _parts(listed: list[Any], rows: Any, offsets: Any) -> list[tuple[str, Part]]:  # noqa: ANN401 - arrays
    parts, start = [], 0
    for path, count, deletions in listed:
        end = start + count
        parts.append((path, Part(rows[start:end], offsets[start:end], deletions)))
        start = end
    return parts


def _agrees(snapshot: Left, count: int, dimension: int) -> bool:
    """Return whether all parts of the snapshot have the same number of rows."""
    parts = sum(len(part.rows) for part in snapshot.parts.values())
    parted = snapshot.partitions
    if parted is not None and {len(parted.order), len(parted.place), int(parted.starts[-1])} != {count}:
        return False
    counts = {
        len(snapshot.vectors),
        snapshot.asked.height,
        snapshot.kept.num_rows,
        len(snapshot.words.lengths),
        parts,
    }
    return (
        counts == {count} and snapshot.vectors.shape[1] == dimension and snapshot.asked.columns == list(ASKED)
    )


def _fits(store: Store, facts: Facts, identity: Facts, data: lance.LanceDataset) -> bool:
    """Return whether a file was built from this or an earlier version of the table."""
    if any(facts.get(name) != value for name, value in identity.items()) or facts["version"] > data.version:
        return False
    # The manifest of an old version is removed; a recreated table has other fragments.
    now = _manifest(store, facts["version"])
    if now != facts["manifest"] and (now is not None or facts["version"] == data.version):
        return False
    current = fragments_of(data)
    return any(path in current for path, _, _ in facts["parts"])


def _identity(store: Store, namespace: str, columns: Sequence[str]) -> Facts:
    import lance

    schema = store.specs[TABLE].schema
    kinds = [f"{name}: {schema.field(name).type}" for name in (*columns, *ASKED)]
    return {
        "content": FORMAT,
        "uri": os.path.realpath(store.uri),
        "table": store.physical(TABLE),
        "namespace": namespace,
        "model": store.identity.model,
        "dimension": store.identity.dimension,
        "columns": digest(*kinds),
        "words": digest(WORD, repr(full_text_config())),
        "lance": lance.__version__,
        "hashes": pl.__version__,
    }


def _version(store: Store, data: lance.LanceDataset) -> Facts:
    return {"version": data.version, "manifest": _manifest(store, data.version)}


def _manifest(store: Store, version: int) -> list[int] | None:
    manifest = store.file_of(TABLE, version)
    return None if manifest is None else list(manifest)
