"""Sound notes enter the memory: what is known around them, the decision log, and the memories."""

from slowwave.admission.parting import mixed, part_mixed
from slowwave.admission.settled import Settled
from slowwave.admission.settling import look_again, settle

__all__ = ["Settled", "look_again", "mixed", "part_mixed", "settle"]
