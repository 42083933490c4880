"""What happens, for those who watch: spans, measurements, log lines. Off until variables or settings ask."""

from slowwave.telemetry.beginning import begin, end
from slowwave.telemetry.recording import Off, Span, carried, count, note, span

__all__ = ["Off", "Span", "begin", "carried", "count", "end", "note", "span"]
