"""The divergence guard: what two texts say differently, where their vectors say they are alike (rule 2.3).

Its word lists and patterns cost as much as a tenth of a search, which asks for none of them.
"""

from typing import TYPE_CHECKING

from slowwave.scoring.facade import names_of

if TYPE_CHECKING:
    from slowwave.quality.divergence.comparing import compare, divergence
    from slowwave.quality.divergence.difference import Difference, contradicts, explain, says_more
    from slowwave.quality.divergence.guard import Guard
    from slowwave.quality.divergence.note import Statement
    from slowwave.quality.divergence.statements import contradicted
    from slowwave.quality.divergence.subject import Subject, same_subject
    from slowwave.quality.divergence.tokens import Traits, traits

__all__ = [
    "Difference", "Guard", "Statement", "Subject", "Traits", "compare", "contradicted", "contradicts",
    "divergence", "explain", "same_subject", "says_more", "traits",
]  # fmt: skip

__getattr__ = names_of(
    __name__,
    {
        "comparing": "compare divergence",
        "difference": "Difference contradicts explain says_more",
        "guard": "Guard",
        "note": "Statement",
        "statements": "contradicted",
        "subject": "Subject same_subject",
        "tokens": "Traits traits",
    },
)
