"""Formatting of byte counts."""

from __future__ import annotations

_UNITS = ("kB", "MB", "GB", "TB")
_STEP = 1_000
_FEW = 100


def size(count: int) -> str:
    """Format a byte count with its unit (powers of 1,000) and three digits: 812 bytes, 1.25 MB, 340 MB."""
    if count < _STEP:
        return f"{count} bytes"
    value, unit = float(count), ""
    for unit in _UNITS:  # noqa: B007 - the last one is the answer
        value /= _STEP
        if value < _STEP:
            break
    return f"{value:.0f} {unit}" if value >= _FEW else f"{value:.3g} {unit}"
