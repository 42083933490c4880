"""Cost of telemetry for a search: off, and with everything on.

    python bench/watched.py [--notes 3000] [--times 400]

`off` is the search as it ships; `off, 1,000 spans` is what a thousand calls of a span cost while telemetry is
off; `on` has spans to a collector that is down, metrics for Prometheus and JSON log lines to nowhere. Off and
on are searched turn about.
"""

from __future__ import annotations

import io
import logging
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from _chunks import NAMESPACE, asked, vocabulary
from _report import bench, options, positive, ratio, report

import slowwave
from slowwave.telemetry import span
from slowwave.telemetry.logs import JsonLines
from slowwave.telemetry.otel import OtelTracer, quiet
from slowwave.telemetry.prometheus import PrometheusMeter
from slowwave.telemetry.recording import EVENTS, STATE
from slowwave.telemetry.setup import end, use

_WORDS = 40  # of a note
_BATCH = 500


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Measure in one home."""
    parser = options(__doc__)
    parser.add_argument("--notes", type=positive, default=3000, help="notes in the home")
    parser.add_argument("--times", type=positive, default=400, help="searches of each sort")
    arguments = parser.parse_args(argv)
    random, (words, share) = np.random.default_rng(0), vocabulary()
    with tempfile.TemporaryDirectory() as folder:
        settings = {"embedding": {"model": "wordllama-256"}, "gate": {"mode": "off"}}
        memory = slowwave.open(Path(folder) / "home", namespace=NAMESPACE, **settings)
        texts = [" ".join(random.choice(words, size=_WORDS, p=share)) for _ in range(arguments.notes)]
        for at in range(0, len(texts), _BATCH):
            memory.save_many([{"content": text} for text in texts[at : at + _BATCH]])
        queries = asked(arguments.times)
        took = _measure(memory, queries)
        memory.close()
    off = statistics.median(took["off"])
    rows = [
        {"run": name, "ms": round(statistics.median(times), 3), "ratio": ratio(statistics.median(times), off)}
        for name, times in took.items()
    ]
    report("watched", rows, note="medians of a search, in ms; ratio: over off")


def _measure(memory: slowwave.Memory, queries: Sequence[str]) -> dict[str, list[float]]:
    logs = logging.StreamHandler(io.StringIO())
    logs.setFormatter(JsonLines())
    EVENTS.addHandler(logs)
    EVENTS.setLevel(logging.INFO)
    EVENTS.propagate = False
    took: dict[str, list[float]] = {"off": [], "off, 1,000 spans": [], "on": []}
    quiet()
    tracer, meter = _down(), PrometheusMeter()
    memory.search(queries[0])
    for query in queries:
        took["off"].append(_ms(lambda query=query: memory.search(query)))
        took["off, 1,000 spans"].append(_ms(_spans))
        use(tracer=tracer, meter=meter)
        STATE.logs = True
        took["on"].append(_ms(lambda query=query: memory.search(query)))
        end()
    return took


def _down() -> OtelTracer:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OtelTracer(OTLPSpanExporter("http://127.0.0.1:1/v1/traces"))


def _spans() -> None:
    for number in range(1_000):
        with span("slowwave.nothing", candidates=number):
            pass


def _ms(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1e3


if __name__ == "__main__":
    main()
