"""A save as a record and as a frame: both forms agree."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from slowwave.journal import Entry
from slowwave.journal.entry_builders import entries_frame
from slowwave.journal.kinds.note import LISTS, NOTE
from slowwave.lifecycle import ingest_pipeline
from slowwave.notes.chunking import Chunker
from slowwave.store import staging, table_specs
from slowwave.store.frames import rows_table, to_schema
from slowwave.store.vectors import mean_rows, mean_vectors

AT = datetime(2026, 3, 1, 23, 30, tzinfo=timezone(timedelta(hours=-2)))
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
ODD = st.one_of(st.none(), st.integers(-(2**65), 2**65), st.booleans(), st.floats(allow_nan=False), TEXTS,
                st.lists(st.one_of(TEXTS, st.none(), st.integers(0, 3)), max_size=2))  # fmt: skip


def right(dtype: Any) -> st.SearchStrategy[Any]:
    """Values of a field's own type, or none."""
    kinds: dict[Any, Any] = {
        pl.String: TEXTS, pl.Int64: st.integers(-(2**58), 2**58), pl.Boolean: st.booleans()
    }  # fmt: skip
    kind: Any = st.lists(TEXTS, max_size=2) if isinstance(dtype, pl.List) else kinds[dtype]
    return st.one_of(st.none(), kind)


NEEDED = ("title", "content", "sensitivity")
NOTES = st.fixed_dictionaries(
    {"title": TEXTS, "content": TEXTS, "sensitivity": st.sampled_from(["internal", "secret"])},
    optional={name: right(kind) for name, kind in dict(NOTE).items() if name not in NEEDED},
)
"""Payloads with the fields of a save."""


def save(payload: dict[str, Any], subject: str = "a.md", **more: Any) -> Entry:
    """An entry of the journal."""
    return Entry("e1", "save", "ada", subject, AT, "ann", content_hash="h", payload=payload, seq=7, **more)


def as_frame(entry: Entry) -> pl.DataFrame:
    """The row by the frame form."""
    return staging.stage(entries_frame([entry]))


@given(NOTES, st.sampled_from(["a.md", "b"]), st.sampled_from(["", "vault"]), st.booleans())
@settings(max_examples=150, deadline=None)
def test_a_save_is_staged_alike_by_record_and_by_frame(
    payload: dict[str, Any], subject: str, origin: str, ordered: bool
) -> None:
    moment = AT + timedelta(microseconds=3) if ordered else None
    entry = save(payload, subject, origin=origin, ordered_at=moment)
    row, frame = staging.stage_save(entry), as_frame(entry)
    if row is None and frame["act"].to_list() == ["save"]:  # a text that is brought back keeps its author
        assert {payload.get("saved_by"), payload.get("saved_at")} != {None}
    elif row is None:  # a date out of range, or no sensitivity
        assert frame["act"].to_list() == ["unreadable"]
    else:
        assert staging.staged_frame(row).equals(frame)
        assert list(row.items()) == list(frame.row(0, named=True).items())


@given(NOTES, st.sampled_from([field.name for field in NOTE.fields]), ODD)
@settings(max_examples=150, deadline=None)
def test_a_payload_of_other_types_is_left_to_the_frame_form_or_read_alike(
    payload: dict[str, Any], name: str, value: Any
) -> None:
    entry = save({**payload, name: value})
    row = staging.stage_save(entry)
    assert row is None or staging.staged_frame(row).equals(as_frame(entry))


def test_a_list_with_a_null_and_an_erased_entry_are_left_to_the_frame_form() -> None:
    plain = {"title": "t", "content": "c", "sensitivity": "internal"}
    assert staging.stage_save(save(plain)) is not None
    for name in LISTS:
        assert staging.stage_save(save({**plain, name: ["a", None]})) is None
    assert staging.stage_save(save({**plain, "erased": "x"})) is None
    assert staging.stage_save(Entry("e", "forget", "ada", "a.md", AT, "ann")) is None


@given(
    st.lists(st.sampled_from(["A pump.", "# Head\n\nOil it.", "word " * 700]), min_size=1, max_size=3), TEXTS
)
@settings(max_examples=25, deadline=None)
def test_few_chunks_are_embedded_as_any_number_are(parts: list[str], title: str) -> None:
    class Model:
        name, dimension = "m", 3

        def embed_documents(self, texts: list[str], progress: Any = None) -> np.ndarray:
            return np.array([[len(text), 1.0, hash(text) % 7] for text in texts], dtype=np.float32)

    chunker = Chunker(20, 200)
    notes = as_frame(save({"title": title, "content": "\n\n".join(parts), "sensitivity": "internal"}))
    frame = ingest_pipeline.cut(notes, chunker, "m")
    wanted = notes.select("namespace", "memory_id", "revision", "title", "content", "context")
    columns = ingest_pipeline.cut_columns(wanted.iter_rows(), chunker, "m")
    vectors = ingest_pipeline.embed_few(Model(), columns)  # type: ignore[arg-type]
    store: Any = None
    both = ingest_pipeline.embed(store, Model(), frame, look_up_from=10**6)  # type: ignore[arg-type]
    assert ingest_pipeline.chunks_frame(columns, vectors).equals(both)
    mean = mean_rows(vectors.astype(np.float64), np.zeros(1, np.int64))
    assert mean.tobytes() == mean_vectors(both, 3)["vector"].to_numpy().tobytes()


def test_a_table_of_plain_values_equals_that_of_a_frame() -> None:
    schema = table_specs(2)["memories"].schema
    rows = {
        "memory_id": ["a", "b"], "tags": [["x"], []], "created_at": [AT.astimezone(UTC), None],
        "source_of_truth": [True, None], "frequency": [1, 2],
    }  # fmt: skip
    vectors = np.array([[0.5, -1.25], [3.0, 0.0]], dtype=np.float32)
    frame = pl.DataFrame(rows).with_columns(vector=pl.Series(vectors, dtype=pl.Array(pl.Float32, 2)))
    table = rows_table({**rows, "vector": vectors}, schema)
    assert table.equals(to_schema(frame, schema), check_metadata=True)
