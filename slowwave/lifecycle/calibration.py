"""Calibration of an embedding model's thresholds on labelled pairs, stored per model."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from slowwave.common import progress
from slowwave.errors import SlowwaveError
from slowwave.home.thresholds import calibration_of
from slowwave.quality.calibration import Calibration, ErrorTargets, fit, report

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace

SAME_FROM = 0.8
"""Share of the grade scale from which a pair counts as the same: 4 of 0 to 5, 4.2 of 1 to 5."""
_LABELS = {
    "same": False, "equivalent": False, "duplicate": False, "entailment": False, "1": False, "true": False,
    "different": True, "contradiction": True, "neutral": True, "0": True, "false": True,
}  # fmt: skip
_SCALES = {"score_0_5": (0.0, 5.0), "relatedness_1_5": (1.0, 5.0), "score": (0.0, 1.0)}


@dataclass(frozen=True, slots=True)
class Calibrated:
    """Result of a calibration."""

    model: str
    fitted: Calibration
    table: pl.DataFrame  # as of `slowwave.quality.calibration.report`
    pairs: int


def read_pairs(path: Path) -> pl.DataFrame:
    """Read labelled pairs from a TSV file with a header.

    Args:
        path: Columns ``a`` and ``b``, and ``label`` (same, different, entailment, neutral,
            contradiction) or a grade: ``score_0_5``, ``relatedness_1_5``, ``score`` (0 to 1). If both
            are present, the grade counts.

    Returns:
        Columns a, b, different.

    Raises:
        SlowwaveError: A column is missing, or a label or grade cannot be read; names the line.
    """
    try:
        rows = pl.read_csv(path, separator="\t", quote_char=None, infer_schema=False)
    except pl.exceptions.PolarsError as error:
        raise SlowwaveError(f"Cannot read {path} as tab-separated text: {error}.") from None
    grade = next((name for name in _SCALES if name in rows.columns), None)
    if not {"a", "b"} <= set(rows.columns) or (grade is None and "label" not in rows.columns):
        raise SlowwaveError(
            f"{path} has the columns {rows.columns}. It needs a, b, and label or one of {sorted(_SCALES)}."
        )
    if grade is not None:
        low, high = _SCALES[grade]
        score = pl.col(grade).cast(pl.Float64, strict=False)
        different = score < low + SAME_FROM * (high - low)
    else:
        different = pl.col("label").str.to_lowercase().replace_strict(_LABELS, default=None)
    pairs = rows.select("a", "b", different=different, given=pl.col(grade or "label"))
    bad = pairs.with_row_index("line", offset=2).filter(pl.any_horizontal(pl.all().is_null()))
    if not bad.is_empty():
        line = bad.row(0, named=True)
        raise SlowwaveError(
            f"{path}, line {line['line']}: cannot read {grade or 'label'} {line['given']!r} or a text."
        )
    return pairs.drop("given")


def calibrate(space: Workspace, files: list[Path], targets: ErrorTargets, as_of: datetime) -> Calibrated:
    """Fit the thresholds of the home's model to pairs, and store them in ``meta``.

    Raises:
        SlowwaveError: A file cannot be used, or no threshold meets the targets.
    """
    pairs = pl.concat([read_pairs(path) for path in files])
    similarity = cosines(space, pairs)
    different = pairs["different"].to_numpy()
    try:
        fitted = fit(similarity, different, targets)
    except ValueError as error:
        raise SlowwaveError(f"Cannot fit the thresholds: {error}.") from None
    model = space.embedder.name
    record = {
        **asdict(fitted), "targets": asdict(targets), "pairs": pairs.height, "at": as_of.isoformat(),
        "files": [path.name for path in files],
    }  # fmt: skip
    space.store.put_meta(calibration_of(model), record)
    return Calibrated(model, fitted, report(similarity, different, fitted, targets), pairs.height)


def cosines(space: Workspace, pairs: pl.DataFrame) -> np.ndarray:
    """Return the cosine of each pair (n,); every text is embedded once."""
    texts = pl.concat([pairs["a"], pairs["b"]]).unique(maintain_order=True)
    with progress.task("embedding texts", texts.len()) as advance:
        vectors = space.embedder.embed_documents(texts.to_list(), advance)
    place = {text: at for at, text in enumerate(texts)}
    first = vectors[[place[text] for text in pairs["a"]]].astype(np.float64)
    second = vectors[[place[text] for text in pairs["b"]]].astype(np.float64)
    similarity: np.ndarray = (first * second).sum(axis=1)
    return similarity
