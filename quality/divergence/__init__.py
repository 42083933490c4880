"""The divergence guard: what two texts say differently, where their vectors say they are alike (rule 2.3)."""

from quality.divergence.compare import Difference, compare, contradicts, divergence, explain, says_more
from quality.divergence.longer import LONG, plainly_different, without_common_lines, words_of
from quality.divergence.statements import answers, contradicted
from quality.divergence.subject import Subject, different_places, same_subject
from quality.divergence.tokens import Traits, traits

__all__ = [
    "LONG",
    "Difference",
    "Subject",
    "Traits",
    "answers",
    "compare",
    "contradicted",
    "contradicts",
    "different_places",
    "divergence",
    "explain",
    "plainly_different",
    "same_subject",
    "says_more",
    "traits",
    "without_common_lines",
    "words_of",
]  # fmt: skip
