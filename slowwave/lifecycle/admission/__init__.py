"""Sound notes enter the memory: what is known around them, the decision log, and the memories."""

from slowwave.lifecycle.admission.parting import mixed, part_mixed
from slowwave.lifecycle.admission.settling import look_again, settle
from slowwave.lifecycle.admission.writing import AdmissionReport

__all__ = ["AdmissionReport", "look_again", "mixed", "part_mixed", "settle"]
