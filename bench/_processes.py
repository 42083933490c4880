"""Measurements in a separate process, and its resource use."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any


def child(script: str, *arguments: object) -> dict[str, Any]:
    """What a script says in the last line of a process of its own."""
    command = [sys.executable, script, *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def peak_mb() -> int:
    """Most memory that this process has had, in MB.

    Linux hands the peak of who started a process on to it (`getrusage`), but not in ``VmHWM``.
    """
    status = Path("/proc/self/status")
    if status.exists():
        told = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return round(int(told["VmHWM"].split()[0]) / 1024)
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
