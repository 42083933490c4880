"""What a night leaves of a namespace's snapshot for all processes to map (`slowwave.index.mapped_file`).

It is made of the table and of nothing else, and says of what: where there is any doubt whether it is of this
table, this model and this way of cutting words, the snapshot is made of the table, as if there were no file.
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
from slowwave.index.partitions import Partitions
from slowwave.index.snapshot import ASKED, Matrix, MemoryRows
from slowwave.index.vocabulary import WORD, Lexicon, Vocabulary
from slowwave.scoring.ranking.bm25 import Postings, WordIndex
from slowwave.store.frames import frame_of
from slowwave.store.text import full_text_config

if TYPE_CHECKING:
    import lance

    from slowwave.store import Store

FOLDER = "_search"
FORMAT = 3
TABLE = "chunks"
Facts = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Left:
    """What there is of a namespace at a version of its table; every row is there.

    Attributes:
        kept: columns of rows.
        asked: those that a condition may name.
        vectors: of length 1, (n, dimension).
        words: what each row says.
        vocabulary: numbers of terms.
        rows_of: rows of each memory.
        parts: where rows are in the table, by the files of a fragment.
        partitions: of the vectors, which are in their order then; None of few rows.
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
    """Where the file of a namespace is."""
    return Path(store.uri, FOLDER, digest("namespace", namespace))


def forget(store: Store, namespace: str) -> None:
    """Take the file of a namespace away, so that nothing of it stays; a night makes it again."""
    if not store.elsewhere:
        remove(path_of(store, namespace))


def damaged(store: Store) -> list[Path]:
    """Files that are not as they were written; every byte of all is read."""
    if store.elsewhere:
        return []
    there = sorted(Path(store.uri, FOLDER).glob("[!.]*"))
    return [one for one in there if not is_sound(one)]


def forget_others(store: Store, namespaces: set[str]) -> int:
    """Take away what is of none of these namespaces, and what was begun and killed; how many files."""
    named = {path_of(store, one).name for one in namespaces}
    others = [one for one in Path(store.uri, FOLDER).glob("*") if one.name not in named]
    for one in others:
        one.unlink(missing_ok=True)
    return len(others)


def is_current(
    store: Store, namespace: str, columns: Sequence[str], data: lance.LanceDataset, parted: str | None = None
) -> bool:
    """Whether the file is of this very version, and parted in this way if one is given."""
    found, now = opened(path_of(store, namespace)), _version(store, data)
    now |= {} if parted is None else {"parted": parted}
    if found is None or any(found.facts.get(name) != value for name, value in now.items()):
        return False
    try:
        return read(store, namespace, columns, data) is not None
    except (KeyError, TypeError, ValueError, pa.ArrowException):
        return False


def write(store: Store, namespace: str, left: Left, data: lance.LanceDataset, parted: str = "") -> None:
    """Make the file; the one before is there until it is whole.

    Args:
        store: has the table.
        namespace: whose rows.
        left: of them.
        data: the version that it was made of.
        parted: in what way the vectors were.

    Raises:
        ValueError: a column is too large to be in one piece.
        OSError: it cannot be written.
    """
    (block,) = left.words.blocks or (Postings.of([], []),)
    block.find_peaks(left.words.lengths)
    words, terms = left.vocabulary.said()
    names = left.kept.column("memory_id").to_pylist()
    with Putting(path_of(store, namespace)) as made:
        made.array("vectors", left.vectors)
        for name in ("centres", "starts", "order", "place") if left.partitions else ():
            made.array(f"partitions:{name}", getattr(left.partitions, name))
        made.table("kept", left.kept)
        made.table("asked", left.asked.rechunk().to_arrow(compat_level=pl.CompatLevel.newest()))
        for name in ("terms", "starts", "rows", "counts"):
            made.array(f"postings:{name}", getattr(block, name))
        made.array("peaks:terms", np.array([*block.peaks], dtype=np.int32))
        made.array("peaks:starts", np.cumsum([0, *map(len, block.peaks.values())]))
        made.array("peaks:rows", np.concatenate([np.empty(0, np.int32), *block.peaks.values()]))
        made.array("lengths", left.words.lengths)
        for name, numbers in (("word", words), ("term", terms)):
            order = made.texts(name, numbers)
            made.array(f"{name}:number", np.array([numbers[one] for one in order], dtype=np.int32))
        places = {name: at for at, name in enumerate(made.texts("memory", set(names)))}
        at = np.array([places[name] for name in names], dtype=np.int64)
        made.array("memory:rows", np.argsort(at, kind="stable").astype(np.int32))
        made.array("memory:starts", np.cumsum([0, *np.bincount(at, minlength=len(places))]))
        parts = list(left.parts.items())
        made.array("part:rows", np.concatenate([part.rows for _, part in parts]))
        made.array("part:offsets", np.concatenate([part.offsets for _, part in parts]))
        made.end(
            {
                **_identity(store, namespace, left.kept.column_names),
                **_version(store, data),
                "rows": left.kept.num_rows,
                "parted": parted,
                "partitions": None
                if left.partitions is None
                else {"probes": left.partitions.probes, "recall": left.partitions.recall},
                "parts": [[path, len(part.rows), part.deletions] for path, part in parts],
            }
        )


def read(store: Store, namespace: str, columns: Sequence[str], data: lance.LanceDataset) -> Left | None:
    """What was left of a namespace, mapped; None where there is none, or any doubt.

    Args:
        store: has the table.
        namespace: whose rows.
        columns: of a row.
        data: the version that is gone on to.
    """
    found = opened(path_of(store, namespace))
    if found is None or not _fits(store, found.facts, _identity(store, namespace, columns), data):
        return None
    left = Left(
        kept=found.table("kept"), asked=frame_of(found.table("asked")), vectors=found.array("vectors"),
        words=WordIndex(
            (
                Postings(
                    terms=found.array("postings:terms"), starts=found.array("postings:starts"),
                    rows=found.array("postings:rows"), counts=found.array("postings:counts"),
                    peaks=_peaks(found),
                ),
            ),
            found.array("lengths"),
        ),
        vocabulary=Vocabulary(
            said=Lexicon(
                found.texts("word"), found.array("word:number"), found.texts("term"),
                found.array("term:number"),
            )
        ),
        rows_of=MemoryRows(found.texts("memory"), found.array("memory:starts"), found.array("memory:rows")),
        parts=dict(_parts(found.facts["parts"], found.array("part:rows"), found.array("part:offsets"))),
        partitions=_partitions(found),
    )  # fmt: skip
    return left if _agrees(left, found.facts["rows"], store.identity.dimension) else None


def _peaks(found: MappedFile) -> dict[int, npt.NDArray[np.int32]]:
    starts, rows = found.array("peaks:starts").tolist(), found.array("peaks:rows")
    parts = (rows[start:end] for start, end in pairwise(starts))
    return dict(zip(found.array("peaks:terms").tolist(), parts, strict=True))


def _partitions(found: MappedFile) -> Partitions | None:
    told = found.facts["partitions"]
    if told is None:
        return None
    arrays = {name: found.array(f"partitions:{name}") for name in ("centres", "starts", "order", "place")}
    return Partitions(**arrays, probes=int(told["probes"]), recall=float(told["recall"]))


def _parts(listed: list[Any], rows: Any, offsets: Any) -> list[tuple[str, Part]]:  # noqa: ANN401 - arrays
    found, start = [], 0
    for path, count, deletions in listed:
        end = start + count
        found.append((path, Part(rows[start:end], offsets[start:end], deletions)))
        start = end
    return found


def _agrees(left: Left, count: int, dimension: int) -> bool:
    """Whether all that was left is of as many rows."""
    parts = sum(len(part.rows) for part in left.parts.values())
    parted = left.partitions
    if parted is not None and {len(parted.order), len(parted.place), int(parted.starts[-1])} != {count}:
        return False
    counts = {len(left.vectors), left.asked.height, left.kept.num_rows, len(left.words.lengths), parts}
    return counts == {count} and left.vectors.shape[1] == dimension and left.asked.columns == list(ASKED)


def _fits(store: Store, facts: Facts, identity: Facts, data: lance.LanceDataset) -> bool:
    """Whether a file was made of an earlier version of this table, or of this one."""
    if any(facts.get(name) != value for name, value in identity.items()) or facts["version"] > data.version:
        return False
    # The file of a version that is long gone was removed; a table that was made again has other fragments.
    now = _manifest(store, facts["version"])
    if now != facts["manifest"] and (now is not None or facts["version"] == data.version):
        return False
    there = fragments_of(data)
    return any(path in there for path, _, _ in facts["parts"])


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
    }


def _version(store: Store, data: lance.LanceDataset) -> Facts:
    return {"version": data.version, "manifest": _manifest(store, data.version)}


def _manifest(store: Store, version: int) -> list[int] | None:
    found = store.file_of(TABLE, version)
    return None if found is None else list(found)
