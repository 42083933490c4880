"""The divergence guard: what two texts say differently, where their vectors say they are alike (rule 2.3)."""

from slowwave.quality.divergence.compare import compare, divergence
from slowwave.quality.divergence.difference import Difference, contradicts, explain, says_more
from slowwave.quality.divergence.guard import Guard, Statement
from slowwave.quality.divergence.statements import contradicted
from slowwave.quality.divergence.subject import Subject, same_subject
from slowwave.quality.divergence.tokens import Traits, traits

__all__ = [
    "Difference", "Guard", "Statement", "Subject", "Traits", "compare", "contradicted", "contradicts",
    "divergence", "explain", "same_subject", "says_more", "traits",
]  # fmt: skip
