"""Figures of nightly runs, in a small file that outlives their processes.

The process that serves metrics reads it. It has only numbers and names of jobs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from slowwave.common.shared_file import changing_rows, read_rows

FILE: Final = "nights.json"


def note_night(home: Path, job: str, seconds: float, ended: float, *, failed: bool) -> None:
    """Add a run to the file.

    Args:
        home: Folder.
        job: Name.
        seconds: Duration.
        ended: Seconds since 1970.
        failed: Whether a step failed.
    """
    with changing_rows(home / FILE) as rows:
        previous = rows.get(job, {})
        rows[job] = {
            "runs": previous.get("runs", 0) + 1,
            "failures": previous.get("failures", 0) + int(failed),
            "seconds": seconds,
            "ended": ended,
            "succeeded": previous.get("succeeded", 0.0) if failed else ended,
        }


def nights(home: Path) -> dict[str, dict[str, Any]]:
    """Return the figures by job; empty if the file is missing or damaged."""
    return read_rows(home / FILE)
