"""Titles of first words: such a title counts as none in a search."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from slowwave.index.channels import Channels
from slowwave.quality.titles import is_cut, is_from_first_words

_READ = ("memory_id", "title", "ordinal", "text", "origin")


def without_derived_titles(share: np.ndarray, shown: pa.Table, chunks: Channels[Any]) -> np.ndarray:
    """Set the title share to 0 where the title is only the text's first words."""
    titled = np.flatnonzero(share)
    if not len(titled):
        return share
    memories, known = shown.column("memory_id").take(pa.array(titled)).to_pylist(), chunks.derived_titles
    if unknown := [at for at, memory in zip(titled.tolist(), memories, strict=True) if memory not in known]:
        known |= _derived_titles(shown.select(_READ).take(pa.array(unknown)), chunks)
    kept = share.copy()
    kept[titled[[known[memory] for memory in memories]]] = 0.0
    return kept


def _derived_titles(rows: pa.Table, chunks: Channels[Any]) -> dict[str, bool]:
    """Return of each memory whether its title is only its text's first words."""
    columns = (rows.column(name).to_pylist() for name in _READ)
    derived, title, first = dict.fromkeys(rows.column("memory_id").to_pylist(), False), {}, {}
    for memory, own_title, ordinal, text, origin in zip(*columns, strict=True):
        if not origin:  # a vault note always has a title or file name
            title[memory] = own_title
            if ordinal == 0:
                first[memory] = text
    derived |= {memory: memory not in first and is_cut(own_title) for memory, own_title in title.items()}
    if unread := sorted(memory for memory in title if memory not in first and not derived[memory]):
        first |= chunks.first_texts(unread)
    return derived | {memory: is_from_first_words(title[memory], text) for memory, text in first.items()}
