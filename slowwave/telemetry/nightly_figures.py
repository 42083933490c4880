"""What the nights of a home came to, in a small file: they run in processes that end before anybody asks.

The process that is asked for metrics reads it. It has numbers and names of jobs alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from slowwave.common.shared_file import changing_rows, read_rows

FILE: Final = "nights.json"


def note_night(home: Path, job: str, seconds: float, ended: float, *, failed: bool) -> None:
    """Add a run to what the file tells.

    Args:
        home: the folder.
        job: that was run.
        seconds: that it took.
        ended: when, in seconds since 1970.
        failed: whether a step of it did.
    """
    with changing_rows(home / FILE) as told:
        before = told.get(job, {})
        told[job] = {
            "runs": before.get("runs", 0) + 1,
            "failures": before.get("failures", 0) + int(failed),
            "seconds": seconds,
            "ended": ended,
            "succeeded": before.get("succeeded", 0.0) if failed else ended,
        }


def nights(home: Path) -> dict[str, dict[str, Any]]:
    """What the file tells, by job; nothing where there is none, or it is damaged."""
    return read_rows(home / FILE)
