"""What became of acts, for people and for the night's report."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import polars as pl


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of acts: counts, and the decisions that were made (rows of ``decisions``)."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    retired: int = 0
    merged: int = 0
    superseded: int = 0
    refused: int = 0
    related: int = 0
    undone: int = 0
    decisions: pl.DataFrame = field(default_factory=pl.DataFrame)
    warnings: tuple[str, ...] = ()

    def __add__(self, other: Settled) -> Settled:
        counts = {
            part.name: getattr(self, part.name) + getattr(other, part.name)
            for part in fields(self)
            if part.name not in ("decisions", "warnings")
        }
        frames = [frame for frame in (self.decisions, other.decisions) if frame.width]
        return Settled(
            **counts,
            decisions=pl.concat(frames) if frames else pl.DataFrame(),
            warnings=tuple(dict.fromkeys(self.warnings + other.warnings)),
        )
