"""The divergence guard: what two texts say differently, where their vectors say they are alike (rule 2.3)."""

from quality.divergence.compare import compare, divergence
from quality.divergence.difference import Difference, contradicts, explain, says_more
from quality.divergence.guard import Guard, Statement
from quality.divergence.statements import contradicted
from quality.divergence.subject import Subject, same_subject
from quality.divergence.tokens import Traits, traits

__all__ = [
    "Difference", "Guard", "Statement", "Subject", "Traits", "compare", "contradicted", "contradicts",
    "divergence", "explain", "same_subject", "says_more", "traits",
]  # fmt: skip
