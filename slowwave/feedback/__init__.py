"""Feedback: taking it by day, and what it has come to.

By day each act is one line in the journal; the night (:mod:`slowwave.journal.projections`,
:mod:`slowwave.feedback.aggregation`) turns the acts of a day into what use has taught of each memory.
Importing this package loads nothing else.
"""

from slowwave.feedback.model import Concluded, FeedbackError, MemoryStats, Observed, Rated, UsageVerdict

__all__ = ["Concluded", "FeedbackError", "MemoryStats", "Observed", "Rated", "UsageVerdict"]
