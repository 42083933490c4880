"""L1 of the save gate: structure (rule 1). Every fault of a note is listed, not just the first."""

from __future__ import annotations

import polars as pl

NAMESPACE = r"^\w[\w\-./]*$"
# C0 and C1 control characters; spaces and emoji are normal in real vaults.
_CONTROL = r"[\x00-\x1f\x7f-\x9f]"

KNOWN_WORDS: dict[str, frozenset[str]] = {
    "memory_type": frozenset(
        {
            "note", "constraint", "decision", "project", "preference", "fact", "procedure",
            "incident", "meeting", "reference", "person", "document", "chat",
        }
    ),
    "importance_tier": frozenset({"temporary", "normal", "important", "critical"}),
    "retrieval_priority": frozenset({"low", "normal", "high"}),
    "sensitivity": frozenset({"public", "internal", "secret"}),
    "state": frozenset({"draft", "candidate", "accepted", "canonical"}),
    "source_kind": frozenset({"manual", "imported", "generated"}),
}  # fmt: skip


def structure_faults(notes: pl.DataFrame, *, min_characters: int) -> pl.Series:
    """Faults of each note as a list of reason names (empty: none). Shape (n,).

    Args:
        notes: columns title, content, namespace, source, metadata (JSON text) and those of `KNOWN_WORDS`.
        min_characters: least length of the content after trimming.
    """
    faults = {
        "empty_title": pl.col("title").fill_null("").str.strip_chars() == "",
        "too_short": pl.col("content").fill_null("").str.strip_chars().str.len_chars() < min_characters,
        "bad_namespace": ~pl.col("namespace").fill_null("").str.contains(NAMESPACE),
        "bad_path": _bad_path(pl.col("source").fill_null("")),
        "bad_timestamp": pl.col("metadata").str.json_path_match("$.created_invalid").is_not_null(),
    } | {
        f"unknown_{column}": ~pl.col(column).fill_null("").is_in(list(words))
        for column, words in KNOWN_WORDS.items()
    }
    named = [
        pl.when(fault).then(pl.lit(name)).otherwise(pl.lit(None, dtype=pl.String))
        for name, fault in faults.items()
    ]
    return notes.select(faults=pl.concat_list(named).list.drop_nulls())["faults"]


def _bad_path(path: pl.Expr) -> pl.Expr:
    absolute = path.str.contains(r"^([/\\]|[A-Za-z]:[/\\])")
    climbs = path.str.contains(r"(^|[/\\])\.\.([/\\]|$)")
    return (path == "") | absolute | climbs | path.str.contains(_CONTROL)
