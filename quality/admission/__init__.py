"""Which sound notes enter, and how: L3 of the save gate and reconsolidation (rules 1 and 2)."""

from typing import TYPE_CHECKING

from slowwave.scoring.facade import names_of

if TYPE_CHECKING:
    from slowwave.quality.admission.batch import admit, reconsider
    from slowwave.quality.admission.labels import LABELS, Labels, unite
    from slowwave.quality.admission.machine import AdmissionVerdict, Machine
    from slowwave.quality.admission.memories import Memories, merge_lines
    from slowwave.quality.admission.records import (
        ACCEPTED,
        CHANGED,
        DEFAULT_SENSITIVITY,
        DIFFERENT_SENSITIVITY,
        EXACT_DUPLICATE,
        LIVE,
        MERGED,
        NEAR_DUPLICATE,
        REORDERED,
        RETIRED,
        SUPERSEDED,
        UNDONE_BY_HAND,
        Admission,
        AdmissionAct,
        AdmissionDecision,
        AdmissionPolicy,
        AdmissionRecord,
        Lapse,
        MemoryChange,
        Outcome,
        Vector,
    )
    from slowwave.quality.admission.state import Surroundings

__all__ = [
    "ACCEPTED",
    "CHANGED",
    "DEFAULT_SENSITIVITY",
    "DIFFERENT_SENSITIVITY",
    "EXACT_DUPLICATE",
    "LABELS",
    "LIVE",
    "MERGED",
    "NEAR_DUPLICATE",
    "REORDERED",
    "RETIRED",
    "SUPERSEDED",
    "UNDONE_BY_HAND",
    "Admission",
    "AdmissionAct",
    "AdmissionDecision",
    "AdmissionPolicy",
    "AdmissionRecord",
    "AdmissionVerdict",
    "Labels",
    "Lapse",
    "Machine",
    "Memories",
    "MemoryChange",
    "Outcome",
    "Surroundings",
    "Vector",
    "admit",
    "merge_lines",
    "reconsider",
    "unite",
]

__getattr__ = names_of(
    __name__,
    {
        "batch": "admit reconsider",
        "labels": "LABELS Labels unite",
        "machine": "Machine AdmissionVerdict",
        "memories": "Memories merge_lines",
        "records": "ACCEPTED CHANGED DEFAULT_SENSITIVITY DIFFERENT_SENSITIVITY EXACT_DUPLICATE LIVE MERGED "
        "NEAR_DUPLICATE REORDERED RETIRED SUPERSEDED UNDONE_BY_HAND Admission AdmissionAct AdmissionDecision "
        "AdmissionPolicy AdmissionRecord Lapse MemoryChange Outcome Vector",
        "state": "Surroundings",
    },
)
