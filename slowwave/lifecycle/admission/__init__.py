"""Admission of notes that passed the gate: context, decision log, memories."""

from slowwave.lifecycle.admission.apply import admit_batch, reconsider_batch
from slowwave.lifecycle.admission.writing import AdmissionReport

__all__ = ["AdmissionReport", "admit_batch", "reconsider_batch"]
