"""Admission of notes that passed the gate: context, decision log, memories."""

from slowwave.lifecycle.admission.apply import admit_batch, reconsider_batch
from slowwave.lifecycle.admission.unmerge_cross_sensitivity import (
    cross_sensitivity_merges,
    unmerge_cross_sensitivity,
)
from slowwave.lifecycle.admission.writing import AdmissionReport

__all__ = [
    "AdmissionReport",
    "admit_batch",
    "cross_sensitivity_merges",
    "reconsider_batch",
    "unmerge_cross_sensitivity",
]
