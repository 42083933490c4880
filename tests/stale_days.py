"""Days that wait for a nightly job."""

from __future__ import annotations

from slowwave.orchestration import run_nightly
from slowwave.settings import Settings


def pending_days(settings: Settings) -> list[str]:
    """The days with entries that no finished run took in, and those that depend on such a day."""
    stale = run_nightly._stale(settings)
    return sorted({*stale.notes, *stale.feedback})
