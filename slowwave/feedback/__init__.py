"""Feedback: recording it by day and aggregating it at night.

Each feedback event is one journal entry. The nightly job (:mod:`slowwave.journal.projections`,
:mod:`slowwave.feedback.aggregation`) aggregates a day's events into the state of each memory. Importing this
package loads nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from slowwave.scoring.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from slowwave.feedback.model import Concluded, FeedbackError, MemoryStats, Observed, Rated, UsageVerdict

__all__ = ["Concluded", "FeedbackError", "MemoryStats", "Observed", "Rated", "UsageVerdict"]

__getattr__ = lazy_exports(__name__, {"model": " ".join(__all__)})
