"""What became of acts, for people and for the night's report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

import polars as pl


@dataclass(frozen=True, slots=True)
class AdmissionReport:
    """What became of acts: counts, and the decisions that were made (rows of ``decisions``).

    `standing` has the status and what replaced it of every memory that entered or changed, by its id.
    """

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
    standing: Mapping[str, tuple[str, str | None]] = field(default_factory=dict)

    def __add__(self, other: AdmissionReport) -> AdmissionReport:
        counts = {
            part.name: getattr(self, part.name) + getattr(other, part.name)
            for part in fields(self)
            if part.name not in ("decisions", "warnings", "standing")
        }
        frames = [frame for frame in (self.decisions, other.decisions) if frame.width]
        return AdmissionReport(
            **counts,
            decisions=pl.concat(frames) if frames else pl.DataFrame(),
            warnings=tuple(dict.fromkeys(self.warnings + other.warnings)),
            standing={**self.standing, **other.standing},
        )
