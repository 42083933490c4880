"""Telemetry: spans, measurements, log lines. Off until variables or settings enable it."""

from slowwave.telemetry.recording import Off, Span, carried, count, note, span
from slowwave.telemetry.setup import begin, end

__all__ = ["Off", "Span", "begin", "carried", "count", "end", "note", "span"]
