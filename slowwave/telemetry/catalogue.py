"""Allow-list of telemetry: names of attributes and measurements, and permitted values.

Unlisted attributes are dropped, and a text that is no id, name or day is withheld. So a query, a note, a
namespace, a token, a path or an address cannot leak into a span, a metric or a log line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

Value = str | int | float | bool

ATTRIBUTES: Final[Mapping[str, str]] = {
    "system": "db.system.name",
    "operation": "db.operation.name",
    "table": "db.collection.name",
    "rows": "db.response.returned_rows",
    "method": "mcp.method.name",
    "tool": "gen_ai.tool.name",
    "error": "error.type",
    "search_id": "slowwave.search.id",
    "event_id": "slowwave.event.id",
    "act": "slowwave.act",
    "outcome": "slowwave.outcome",
    "results": "slowwave.results",
    "candidates": "slowwave.candidates",
    "notes": "slowwave.notes",
    "texts": "slowwave.texts",
    "asset": "slowwave.asset",
    "job": "slowwave.job",
    "run_id": "slowwave.run.id",
    "first_day": "slowwave.day.first",
    "last_day": "slowwave.day.last",
    "seconds": "slowwave.seconds",
    "day": "slowwave.day",
}
"""Exported names of our attributes, by OpenTelemetry's conventions where it has some."""

_PLAIN: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/+\-]{0,79}")
WITHHELD: Final = "withheld"
"""Placeholder for a text that is no id, name or day."""

BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
LONG_BUCKETS: Final = (1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3_600.0, 4 * 3_600.0)


class Instrument(NamedTuple):
    """Measurement.

    Attributes:
        kind: histogram (seconds) or counter.
        about: Description.
        labels: Attributes that distinguish its series; each has few values.
        buckets: Upper bounds of a histogram (seconds).
    """

    kind: str
    about: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = BUCKETS


MEASURES: Final[Mapping[str, Instrument]] = {
    "slowwave.search.duration": Instrument("histogram", "Time of a search.", ("outcome",)),
    "slowwave.save.duration": Instrument("histogram", "Time of a call that saves notes.", ("outcome",)),
    "slowwave.feedback.duration": Instrument("histogram", "Time of a feedback call.", ("act", "outcome")),
    "slowwave.notes": Instrument("counter", "Notes saved, by outcome.", ("outcome",)),
    "slowwave.tool.duration": Instrument("histogram", "Time of an MCP tool call.", ("tool", "outcome")),
    "slowwave.asset.duration": Instrument(
        "histogram", "Time of a nightly asset.", ("asset", "outcome"), LONG_BUCKETS
    ),
    "slowwave.night.duration": Instrument(
        "histogram", "Time of a nightly run.", ("job", "outcome"), LONG_BUCKETS
    ),
    "db.client.operation.duration": Instrument(
        "histogram", "Time of a query of LanceDB.", ("system", "operation", "table", "outcome")
    ),
}

GAUGES: Final[Mapping[str, str]] = {
    "slowwave.ready": "Whether the server can answer: 1 or 0.",
    "slowwave.quarantine.held": "Notes in quarantine, in all namespaces.",
}
"""Gauges, computed on each request for metrics."""


def label(name: str) -> str:
    """Return the Prometheus label of an attribute, as OpenTelemetry translates names."""
    return ATTRIBUTES[name].replace(".", "_")


def prometheus_name(name: str) -> str:
    """Return the Prometheus name of a measurement, without the suffixes of a histogram's parts."""
    flat = name.replace(".", "_")
    if name in GAUGES:
        return flat
    return f"{flat}_seconds" if MEASURES[name].kind == "histogram" else f"{flat}_total"


def plain(value: object) -> Value:
    """Return a permitted value: a number as is, a text only if it looks like an id, a name or a day."""
    if isinstance(value, bool | int | float):
        return value
    text = str(value)
    return text if _PLAIN.fullmatch(text) else WITHHELD
