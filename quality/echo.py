"""Notes that repeat what the memory itself said shortly before: recall fed back (rule 1)."""

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

# A character of a script without spaces is a word of its own, so shingles are of characters there.
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
    """Notes that say what the memory itself said shortly before: recall fed back (rule 1).

    A note is an echo if at least `share` of its distinct 5-word shingles (words without case and marks;
    characters in scripts without spaces; the whole text if it is shorter) stand in passages that were
    served to its namespace in [occurred_at - window, occurred_at). Passages of the same memory are left
    out: saving one's own note again is an update.

    Args:
        notes: namespace, memory_id, content, occurred_at; one row per memory.
        served: namespace, memory_id, text, search_id, shown_at; one row per passage shown.
        window: how long before a note a passage counts.
        share: the least share, over 0 and up to 1.

    Returns:
        memory_id; echo_of: of the memories that said some of it last, the one that says most of it;
        search_id: its last showing. In order of memory_id, whatever the order of the rows given.
    """
    # In order of time a showing is a number, and the window before a note is a range of numbers.
    shown = served.sort("shown_at", "search_id", "memory_id").with_columns(
        pl.col("text").rank("dense").alias("text_id"), show=pl.int_range(pl.len())
    )
    times = shown["shown_at"].dt.epoch("us").to_numpy()
    ends = notes["occurred_at"].dt.epoch("us").to_numpy()
    said = notes.select("namespace", "memory_id", row=pl.int_range(pl.len())).with_columns(
        since=pl.Series(np.searchsorted(times, ends - window // timedelta(microseconds=1)), dtype=pl.Int64),
        until=pl.Series(np.searchsorted(times, ends), dtype=pl.Int64),
    )
    ids = pl.concat([notes["memory_id"], served["memory_id"]]).unique().sort().to_frame().with_row_index("id")
    said = said.join(ids, on="memory_id", how="left", maintain_order="left", nulls_equal=True)
    shown = shown.join(ids, on="memory_id", how="left", maintain_order="left", nulls_equal=True)

    shingles = _in_namespace(_shingles(notes["content"]).join(said, on="row"))
    total = shingles.group_by("row").len("total")
    heard = _heard(shown, shingles["key"])
    last = _last_showing(shingles, _with_another(heard), by=["key"])
    own = pl.col("served") == pl.col("id")
    hits = last.with_columns(
        show=pl.when(own).then("another_show").otherwise("show"),
        served=pl.when(own).then("another").otherwise("served"),
    ).filter(pl.col("show") >= pl.col("since"))
    echoed = hits.group_by("row").len("found").join(total, on="row")
    hits = hits.join(echoed.filter(pl.col("found") >= share * pl.col("total") - 1e-9), on="row", how="semi")
    # How much of the note each of these memories says: with all its showings, also those before the last.
    pairs = hits.select("row", "since", "until", "key").join(hits.select("row", "served").unique(), on="row")
    return (
        _last_showing(pairs, heard, by=["key", "served"])
        .filter(pl.col("show") >= pl.col("since"))
        .group_by("row", "served")
        .agg(covered=pl.len(), show=pl.col("show").max())
        .sort("covered", "show", descending=True)
        .unique("row", keep="first", maintain_order=True)
        .join(said.select("row", "memory_id"), on="row")
        .join(shown.select("show", "search_id", echo_of="memory_id"), on="show")
        .sort("memory_id", "row")
        .select("memory_id", "echo_of", "search_id")
    )


class ShingleIndex:
    """Shingles of passages of one namespace: they tell whether a text may be an echo of any."""

    def __init__(self) -> None:
        self._runs: list[npt.NDArray[np.uint64]] = []  # each sorted

    def add(self, texts: Sequence[str]) -> None:
        """More passages."""
        run = np.unique(_shingles(pl.Series(texts, dtype=pl.String))["shingle"].to_numpy())
        self._runs.append(run)
        while len(self._runs) > 1 and 2 * len(self._runs[-1]) >= len(self._runs[-2]):
            last = self._runs.pop()
            self._runs[-1] = np.union1d(self._runs[-1], last)

    def may_hold(self, texts: Sequence[str], share: float) -> bool:
        """Whether any of these texts has `share` of its shingles among them, as an echo has."""
        if not self._runs:
            return False
        said = _shingles(pl.Series(texts, dtype=pl.String))
        rows, shingles = said["row"].to_numpy(), said["shingle"].to_numpy()
        there = np.zeros(len(shingles), dtype=np.bool_)
        for run in self._runs:
            place = np.minimum(np.searchsorted(run, shingles), len(run) - 1)
            there |= run[place] == shingles if len(run) else False
        found, total = np.bincount(rows[there], minlength=len(texts)), np.bincount(rows, minlength=len(texts))
        return bool((found >= np.maximum(share * total - 1e-9, 1)).any())


def _in_namespace(shingles: pl.DataFrame) -> pl.DataFrame:
    """Shingle and namespace as one key, so that namespaces never meet."""
    mixed = pl.struct("namespace", "shingle").hash(seed=1)
    return shingles.with_columns(key=mixed).drop("namespace", "shingle")


def _heard(shown: pl.DataFrame, wanted: pl.Series) -> pl.DataFrame:
    """Every showing of every wanted shingle: key, show, served (number of the memory)."""
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


def _with_another(heard: pl.DataFrame) -> pl.DataFrame:
    """Beside each showing of a shingle the last one before it of another memory: another, another_show."""
    ordered = heard.sort("key", "show")
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


def _last_showing(shingles: pl.DataFrame, heard: pl.DataFrame, *, by: list[str]) -> pl.DataFrame:
    """The last showing of each shingle before the note; none: nulls."""
    return shingles.sort("until").join_asof(
        heard.sort("show"), left_on="until", right_on="show", by=by, allow_exact_matches=False,
        check_sortedness=False,
    )  # fmt: skip


def _shingles(texts: pl.Series) -> pl.DataFrame:
    """Distinct shingles of each text as 64-bit hashes: row, shingle."""
    words = (
        pl.DataFrame({"text": texts.cast(pl.String)})
        .select(
            row=pl.int_range(pl.len()),
            word=pl.col("text").fill_null("").str.normalize("NFKC").str.to_lowercase().str.extract_all(_WORD),
        )
        .filter(pl.col("word").list.len() > 0)
        .explode("word")
    )
    rows, hashes = words["row"].to_numpy(), words["word"].hash(seed=0).to_numpy()
    with np.errstate(over="ignore"):
        # A text shorter than a shingle is hashed over what there is, with its length.
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
    return pl.DataFrame(
        {"row": rows[whole], "shingle": mixed[whole]}, schema={"row": pl.Int64, "shingle": pl.UInt64}
    ).unique()
