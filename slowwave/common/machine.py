"""The machine that a program runs on."""

from __future__ import annotations

from pathlib import Path
from typing import Final

STARTED: Final = Path("/proc/sys/kernel/random/boot_id")


def start_of_machine() -> bytes | None:
    """A name of this start of the machine; None where it has none."""
    try:
        return STARTED.read_bytes()
    except OSError:
        return None
