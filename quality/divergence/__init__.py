"""The divergence guard: what two texts say differently, where their vectors say they are alike (rule 2.3)."""

from quality.divergence.compare import Difference, compare, contradicts, divergence, explain, says_more
from quality.divergence.subject import Subject, same_subject
from quality.divergence.tokens import Traits, traits

__all__ = [
    "Difference", "Subject", "Traits", "compare", "contradicts", "divergence", "explain", "same_subject",
    "says_more", "traits",
]  # fmt: skip
