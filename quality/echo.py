"""Echoes: notes that repeat recently returned results (rule 1)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import numpy as np
import numpy.typing as npt
import polars as pl

ECHO = "echo"
ECHO_SHARE = 0.8
ECHO_WINDOW = timedelta(hours=24)
SHINGLE_WORDS = 5

# A character of a script without spaces counts as a word, so shingles are of characters there.
_ALONE = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_WORD = rf"[{_ALONE}]|[\p{{L}}\p{{N}}\p{{M}}--[{_ALONE}]]+"
_MULTIPLIER = 0x9E3779B97F4A7C15  # odd, so that no bit of a word's hash is lost


def find_echoes(
    notes: pl.DataFrame,
    served: pl.DataFrame,
    *,
    window: timedelta = ECHO_WINDOW,
    share: float = ECHO_SHARE,
) -> pl.DataFrame:
    """Find notes that repeat results returned shortly before (rule 1).

    A note is an echo if at least `share` of its distinct 5-word shingles are in passages returned to its
    namespace in [occurred_at - window, occurred_at). Shingles are of words without case and marks, of
    characters in scripts without spaces, or the whole text if it is shorter. Passages of the same memory do
    not count: saving one's own note again is an update.

    Args:
        notes: namespace, memory_id, content, occurred_at; one row per memory.
        served: namespace, memory_id, text, search_id, shown_at; one row per returned passage.
        window: time before a note in which a passage counts.
        share: minimum share, above 0 and up to 1.

    Returns:
        memory_id; echo_of: the memory with most of the text, among those that had a part of it last;
        search_id: its last return. Sorted by memory_id.
    """
    # Sorted by time, a returned passage is a number, and the window before a note is a range of numbers.
    shown = served.sort("shown_at", "search_id", "memory_id").with_columns(
        pl.col("text").rank("dense").alias("text_id"), show=pl.int_range(pl.len())
    )
    times = shown["shown_at"].dt.epoch("us").to_numpy()
    ends = notes["occurred_at"].dt.epoch("us").to_numpy()
    note_rows = notes.select("namespace", "memory_id", row=pl.int_range(pl.len())).with_columns(
        since=pl.Series(np.searchsorted(times, ends - window // timedelta(microseconds=1)), dtype=pl.Int64),
        until=pl.Series(np.searchsorted(times, ends), dtype=pl.Int64),
    )
    ids = pl.concat([notes["memory_id"], served["memory_id"]]).unique().sort().to_frame().with_row_index("id")
    note_rows = note_rows.join(ids, on="memory_id", how="left", maintain_order="left", nulls_equal=True)
    shown = shown.join(ids, on="memory_id", how="left", maintain_order="left", nulls_equal=True)

    shingles = _in_namespace(_shingles(notes["content"]).join(note_rows, on="row"))
    total = shingles.group_by("row").len("total")
    returned = _returned_shingles(shown, shingles["key"])
    last = _last_showing(shingles, _with_another(returned), by=["key"])
    own = pl.col("served") == pl.col("id")
    hits = last.with_columns(
        show=pl.when(own).then("another_show").otherwise("show"),
        served=pl.when(own).then("another").otherwise("served"),
    ).filter(pl.col("show") >= pl.col("since"))
    echoed = hits.group_by("row").len("found").join(total, on="row")
    hits = hits.join(echoed.filter(pl.col("found") >= share * pl.col("total") - 1e-9), on="row", how="semi")
    # Share of the note in each of these memories, over all its returned passages.
    pairs = hits.select("row", "since", "until", "key").join(hits.select("row", "served").unique(), on="row")
    return (
        _last_showing(pairs, returned, by=["key", "served"])
        .filter(pl.col("show") >= pl.col("since"))
        .group_by("row", "served")
        .agg(covered=pl.len(), show=pl.col("show").max())
        .sort("covered", "show", descending=True)
        .unique("row", keep="first", maintain_order=True)
        .join(note_rows.select("row", "memory_id"), on="row")
        .join(shown.select("show", "search_id", echo_of="memory_id"), on="show")
        .sort("memory_id", "row")
        .select("memory_id", "echo_of", "search_id")
    )


class ShingleIndex:
    """Shingle index of one namespace's passages, a fast pre-check for echoes."""

    def __init__(self) -> None:
        self._runs: list[npt.NDArray[np.uint64]] = []  # each sorted

    def add(self, texts: Sequence[str]) -> None:
        """Add passages."""
        run = np.unique(_every_shingle(pl.Series(texts, dtype=pl.String))[1])
        self._runs.append(run)
        while len(self._runs) > 1 and 2 * len(self._runs[-1]) >= len(self._runs[-2]):
            last = self._runs.pop()
            self._runs[-1] = np.union1d(self._runs[-1], last)

    def may_hold(self, texts: Sequence[str], share: float) -> bool:
        """Whether the index has `share` of the shingles of any text, as an echo needs."""
        if not self._runs:
            return False
        rows, shingles = _every_shingle(pl.Series(texts, dtype=pl.String))
        order = np.lexsort((shingles, rows))
        rows, shingles = rows[order], shingles[order]
        is_first = np.ones(len(rows), dtype=np.bool_)
        is_first[1:] = (rows[1:] != rows[:-1]) | (shingles[1:] != shingles[:-1])
        rows, shingles = rows[is_first], shingles[is_first]
        present = np.zeros(len(shingles), dtype=np.bool_)
        for run in self._runs:
            place = np.minimum(np.searchsorted(run, shingles), len(run) - 1)
            present |= run[place] == shingles if len(run) else False
        hits, total = (
            np.bincount(rows[present], minlength=len(texts)),
            np.bincount(rows, minlength=len(texts)),
        )
        return bool((hits >= np.maximum(share * total - 1e-9, 1)).any())


def _in_namespace(shingles: pl.DataFrame) -> pl.DataFrame:
    """Replace shingle and namespace by one key, so that namespaces never match."""
    mixed = pl.struct("namespace", "shingle").hash(seed=1)
    return shingles.with_columns(key=mixed).drop("namespace", "shingle")


def _returned_shingles(shown: pl.DataFrame, wanted: pl.Series) -> pl.DataFrame:
    """Return every return of every wanted shingle: key, show, served (number of the memory)."""
    texts = (
        shown.select("namespace", "text_id", "text")
        .unique(["namespace", "text_id"])
        .sort("text_id", "namespace")
    )
    numbered = texts.select("namespace", "text_id", row=pl.int_range(pl.len()))
    keys = _in_namespace(_shingles(texts["text"]).join(numbered, on="row"))
    return (
        keys.join(wanted.unique().to_frame(), on="key", how="semi")
        .join(numbered.select("row", "namespace"), on="row")
        .join(shown.select("namespace", "text_id", "show", served="id"), on=["namespace", "text_id"])
        .select("key", "show", "served")
    )


def _with_another(returned: pl.DataFrame) -> pl.DataFrame:
    """Add to each return of a shingle the previous one of another memory: another, another_show."""
    ordered = returned.sort("key", "show")
    first = (pl.col("key") != pl.col("key").shift(1)).fill_null(True)
    turn = first | (pl.col("served") != pl.col("served").shift(1))
    at = pl.int_range(pl.len())
    marked = ordered.select(
        began=pl.when(first).then(at).forward_fill(), turned=pl.when(turn).then(at).forward_fill()
    )
    before = marked.select(
        row=pl.when(pl.col("turned") > pl.col("began")).then(pl.col("turned") - 1).otherwise(None)
    )["row"]
    return ordered.with_columns(
        another=ordered["served"].gather(before), another_show=ordered["show"].gather(before)
    )


def _last_showing(shingles: pl.DataFrame, returned: pl.DataFrame, *, by: list[str]) -> pl.DataFrame:
    """Return the last return of each shingle before the note; nulls without one."""
    return shingles.sort("until").join_asof(
        returned.sort("show"), left_on="until", right_on="show", by=by, allow_exact_matches=False,
        check_sortedness=False,
    )  # fmt: skip


def _shingles(texts: pl.Series) -> pl.DataFrame:
    """Return the distinct shingles of each text as 64-bit hashes: row, shingle."""
    rows, shingles = _every_shingle(texts)
    schema = {"row": pl.Int64, "shingle": pl.UInt64}
    return pl.DataFrame({"row": rows, "shingle": shingles}, schema=schema).unique()


def _every_shingle(texts: pl.Series) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
    """Return row and hash of every shingle, in the order of the texts."""
    lowered = pl.col("text").fill_null("").str.normalize("NFKC").str.to_lowercase()
    lists = texts.cast(pl.String).alias("text").to_frame().select(lowered.str.extract_all(_WORD)).to_series()
    arrow = lists.rechunk().to_arrow()
    ends = arrow.offsets.to_numpy()
    rows = np.repeat(np.arange(len(texts), dtype=np.int64), np.diff(ends))
    hashes = pl.Series(arrow.values[ends[0] : ends[-1]]).cast(pl.String).hash(seed=0).to_numpy()
    with np.errstate(over="ignore"):
        # A text shorter than a shingle is hashed as a whole, with its length.
        mixed = np.zeros(len(rows), dtype=np.uint64)
        length = np.zeros(len(rows), dtype=np.uint64)
        for offset in range(min(SHINGLE_WORDS, len(rows))):
            same = np.zeros(len(rows), dtype=bool)
            same[: len(rows) - offset] = rows[: len(rows) - offset] == rows[offset:]
            step = np.zeros(len(rows), dtype=np.uint64)
            step[: len(rows) - offset] = hashes[offset:]
            mixed = np.where(same, mixed * np.uint64(_MULTIPLIER) + step, mixed)
            length += same
        mixed += length
    begins = np.ones(len(rows), dtype=bool)
    begins[1:] = rows[1:] != rows[:-1]
    whole = (length == SHINGLE_WORDS) | begins
    return rows[whole], mixed[whole]
