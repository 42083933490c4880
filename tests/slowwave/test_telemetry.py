"""Spans, metrics and log lines: their shape, that they cost nothing when off, and what they never say."""

from __future__ import annotations

import gzip
import io
import json
import logging
import os
import re
import subprocess
import sys
import threading
import time
import urllib.request
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from mcp_helpers import connected, free_port
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import slowwave
from slowwave.errors import SlowwaveError
from slowwave.mcp.server import build
from slowwave.serving.caller import Caller
from slowwave.serving.health import Health
from slowwave.serving.memory_pool import MemoryPool
from slowwave.serving.metrics import metrics_served
from slowwave.settings import load
from slowwave.telemetry import count, end, note, span
from slowwave.telemetry.catalogue import ATTRIBUTES, MEASURES, WITHHELD, plain
from slowwave.telemetry.logs import JsonLines, of_another
from slowwave.telemetry.nightly_figures import nights
from slowwave.telemetry.otel import FLUSH_S, OtelTracer, wanted
from slowwave.telemetry.prometheus import PrometheusMeter, names
from slowwave.telemetry.recording import OFF, STATE
from slowwave.telemetry.setup import use

ROOT = Path(__file__).parents[2]
NOTES = (
    "We deploy on Thursday since 2 March; Friday is for repairs only.",
    "The battery of the gauge on the roof lasts eleven months; Ruaridh changes it in winter.",
)
QUESTION = "when do we deploy?"


@pytest.fixture(autouse=True)
def _off() -> Iterator[None]:
    end()
    yield
    end()


@pytest.fixture
def spans() -> InMemorySpanExporter:
    """Spans are kept here."""
    exporter = InMemorySpanExporter()
    use(tracer=OtelTracer(exporter, at_once=True))
    return exporter


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """Log lines as JSON are kept here."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(JsonLines())
    logger, before = logging.getLogger("slowwave"), logging.getLogger("slowwave").level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    STATE.logs = True
    STATE.settle()
    yield written
    logger.removeHandler(handler)
    logger.setLevel(before)


def tree(exporter: InMemorySpanExporter) -> dict[str, list[str]]:
    """Names of spans by the name of the one that they are part of, in the order of their beginnings."""
    finished = sorted(exporter.get_finished_spans(), key=lambda one: one.start_time)
    by_id = {one.context.span_id: one.name for one in finished}
    found: dict[str, list[str]] = defaultdict(list)
    for one in finished:
        found[by_id[one.parent.span_id] if one.parent else ""].append(one.name)
    return dict(found)


# -- spans -----------------------------------------------------------------------------------------


def test_the_tree_of_a_search_a_save_and_feedback(memory, spans):
    memory.save(NOTES[0])
    found = memory.search(QUESTION)
    rated = memory.feedback(found.search_id, 1, "helpful")
    made = tree(spans)
    assert made[""] == ["slowwave.save", "slowwave.search", "slowwave.feedback"]
    assert [one for one in made["slowwave.save"] if one.startswith("slowwave")] == [
        "slowwave.journal.append", "slowwave.save.gate", "slowwave.save.embed", "slowwave.save.reconsolidate",
    ]  # fmt: skip
    assert [one for one in made["slowwave.search"] if one.startswith("slowwave")] == [
        "slowwave.search.text", "slowwave.search.embed", "slowwave.search.vector", "slowwave.search.rank",
        "slowwave.journal.append",
    ]  # fmt: skip
    said = {one.name: dict(one.attributes or {}) for one in spans.get_finished_spans()}
    assert said["slowwave.search"] == {
        "slowwave.search.id": found.search_id, "slowwave.results": 1, "slowwave.outcome": "answered",
    }  # fmt: skip
    assert said["slowwave.feedback"]["slowwave.event.id"] == rated.event_id
    assert said["slowwave.feedback"]["slowwave.search.id"] == found.search_id


def test_queries_of_lancedb_are_parts_of_the_search_that_asks_them_also_in_threads(open_memory, spans):
    memory = open_memory(store={"snapshot_mb": 0})  # the tables are searched
    memory.save_many([{"content": one} for one in NOTES])
    memory.store.settle()
    spans.clear()
    memory.search(QUESTION)
    made = tree(spans)
    assert made[""] == ["slowwave.search"]
    assert "vector_search chunks" in made["slowwave.search.vector"]
    assert "full_text_search chunks" in made["slowwave.search.text"]
    query = next(one for one in spans.get_finished_spans() if one.name == "vector_search chunks")
    assert dict(query.attributes or {}) == {
        "db.system.name": "lancedb", "db.operation.name": "vector_search", "db.collection.name": "chunks",
        "db.response.returned_rows": 2,
    }  # fmt: skip
    assert query.kind.name == "CLIENT"


def test_of_an_error_the_kind_is_told_and_not_the_words(memory, spans):
    with pytest.raises(SlowwaveError, match="canaryword"):
        memory.feedback("canaryword", 1, "helpful")
    (told,) = [one for one in spans.get_finished_spans() if one.name == "slowwave.feedback"]
    assert (told.status.status_code.name, told.status.description) == ("ERROR", None)
    assert dict(told.attributes or {}) == {"slowwave.act": "feedback", "error.type": "NotFoundError"}
    assert not told.events


@pytest.mark.slow
def test_a_night_is_a_span_with_its_assets_and_their_queries(memory, home, spans, lines):
    from slowwave.orchestration.run_nightly import run_night

    memory.save(NOTES[0])
    memory.feedback(memory.search(QUESTION).search_id, 1, "helpful")
    memory.close()
    spans.clear()
    today = datetime.now(UTC).date().isoformat()
    report = run_night(load(home), today, today)
    assert report["success"], report["errors"]
    made = tree(spans)
    assert made[""].count("slowwave.night") == 1
    ran = [one for one in spans.get_finished_spans() if one.name == "slowwave.asset"]
    assert made["slowwave.night"].count("slowwave.asset") == len(ran) >= len(report["steps"])
    told = dict(ran[0].attributes or {})
    assert told["slowwave.run.id"] == report["run_id"]
    assert (told["slowwave.day.first"], told["slowwave.day.last"]) == (today, today)
    assert any(one.startswith(("merge_insert", "add")) for one in made["slowwave.asset"])
    events = [json.loads(line) for line in lines.getvalue().splitlines()]
    assert {one["asset"] for one in events if one.get("event") == "asset"} >= {"searches", "events"}
    (night,) = [one for one in events if one.get("event") == "night"]
    assert (night["run_id"], night["outcome"]) == (report["run_id"], "ok")


# -- off -------------------------------------------------------------------------------------------


def test_off_a_span_is_the_one_that_does_nothing(memory):
    assert span("slowwave.search", metric="slowwave.search.duration") is OFF
    with span("anything") as told:
        told.set(results=1)
    count("slowwave.notes", outcome="live")
    note("search", results=1)
    assert memory.search(QUESTION).results == ()


WITHOUT = """
import sys, slowwave
memory = slowwave.open(sys.argv[1], namespace="ada", embedding={"model": "wordllama-256"})
memory.save("We deploy on Thursday since 2 March; Friday is for repairs only.")
memory.search("when do we deploy?")
memory.close()
print([one for one in sys.modules if one.startswith(("opentelemetry", "prometheus_client"))])
"""


def process(code: str, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """A Python of its own."""
    given = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    given |= {"PYTHONPATH": str(ROOT), **variables}
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        env=given, capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"},
    ],
)
def test_off_no_library_is_loaded(tmp_path, variables):
    assert process(WITHOUT, str(tmp_path / "home"), **variables).stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("variables", "asked"),
    [
        ({}, ("", "")),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"}, ("otlp", "otlp")),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://x"}, ("otlp", "")),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_METRICS_EXPORTER": "none"}, ("otlp", "")),
        ({"OTEL_TRACES_EXPORTER": "console"}, ("console", "")),
        ({"OTEL_TRACES_EXPORTER": "zipkin"}, ("", "")),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_SDK_DISABLED": "TRUE"}, ("", "")),
    ],
)
def test_the_standard_variables_switch_it_on(variables, asked):
    assert (wanted("TRACES", variables), wanted("METRICS", variables)) == asked


# -- a collector -----------------------------------------------------------------------------------


class Collector:
    """Receives OTLP over HTTP, and decodes it."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.metrics: dict[str, Any] = {}
        self.services: set[str] = set()
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                collector.take(self.path, gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body)
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take(self, path: str, body: bytes) -> None:
        if path == "/v1/traces":
            asked = ExportTraceServiceRequest.FromString(body)
            for resource in asked.resource_spans:
                told = {one.key: one.value.string_value for one in resource.resource.attributes}
                self.services.add(told["service.name"])
                self.spans += [one for scope in resource.scope_spans for one in scope.spans]
        else:
            assert path == "/v1/metrics"
            for part in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                self.metrics |= {one.name: one for scope in part.scope_metrics for one in scope.metrics}

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.mark.slow
def test_a_short_process_hands_everything_to_a_collector_before_it_ends(tmp_path):
    with closing(Collector()) as collector:
        process(WITHOUT, str(tmp_path / "home"), OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
    assert collector.services == {"slowwave"}
    by_id = {one.span_id: one for one in collector.spans}
    (search,) = [one for one in collector.spans if one.name == "slowwave.search"]
    parts = {one.name for one in by_id.values() if one.parent_span_id == search.span_id}
    assert parts >= {"slowwave.search.embed", "slowwave.search.vector", "slowwave.search.rank"}
    assert {one.trace_id for one in by_id.values() if one.parent_span_id == search.span_id} == {
        search.trace_id
    }
    took = collector.metrics["slowwave.search.duration"]
    assert took.unit == "s"
    (point,) = took.histogram.data_points
    assert point.count == 1
    assert 0 < point.sum < 60
    assert {one.key: one.value.string_value for one in point.attributes} == {"slowwave.outcome": "answered"}
    queries = collector.metrics["db.client.operation.duration"].histogram.data_points
    assert {one.key for one in queries[0].attributes} >= {"db.system.name", "db.operation.name"}


@pytest.mark.slow
def test_a_collector_that_is_down_or_hangs_fails_nothing_and_holds_nothing_up(tmp_path):
    import socket

    with socket.socket() as deaf:  # takes connections, and never answers
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(16)
        done = process(
            WITHOUT,
            str(tmp_path / "home"),
            OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=f"http://127.0.0.1:{deaf.getsockname()[1]}/v1/traces",
            OTEL_EXPORTER_OTLP_METRICS_ENDPOINT="http://127.0.0.1:1/v1/metrics",
        )
    assert "opentelemetry" in done.stdout
    assert done.stderr == ""


def test_the_end_waits_for_a_collector_for_so_long_and_no_longer(memory):
    from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

    gate = threading.Event()

    class Hanging(SpanExporter):
        def export(self, spans: Any) -> SpanExportResult:
            gate.wait(60)
            return SpanExportResult.FAILURE

    tracer = OtelTracer(Hanging())
    use(tracer=tracer, ending=tracer.close)
    assert memory.search(QUESTION).search_id  # it hangs in a thread of its own
    start = time.monotonic()
    end()
    assert FLUSH_S * 0.9 <= time.monotonic() - start < 30
    gate.set()


# -- Prometheus ------------------------------------------------------------------------------------


def scraped(url: str) -> dict[str, float]:
    """What `/metrics` says, by series."""
    with urllib.request.urlopen(url, timeout=30) as answer:
        text = answer.read().decode()
    rows = [line.rpartition(" ") for line in text.splitlines() if not line.startswith("#")]
    return {series: float(value) for series, _, value in rows}


def test_metrics_are_served_at_an_address_of_their_own_and_end_with_the_server(memory, home):
    port = int(free_port())
    memory.home.settings = load(home, telemetry={"metrics_port": port})
    with metrics_served(memory.settings, memory._space) as url:
        assert url == f"http://127.0.0.1:{port}/metrics"
        memory.save(NOTES[0])
        memory.save("short")  # the gate has something to say
        memory.search(QUESTION)
        found = scraped(url)
    assert found['slowwave_search_duration_seconds_count{slowwave_outcome="answered"}'] == 1
    assert found["slowwave_ready"] == 1
    notes = {one: number for one, number in found.items() if one.startswith("slowwave_notes_total")}
    assert sum(notes.values()) == 2
    held = found["slowwave_quarantine_held"]
    assert held == notes.get('slowwave_notes_total{slowwave_outcome="quarantined"}', 0.0)
    assert any(one.startswith("db_client_operation_duration_seconds_count") for one in found)
    with pytest.raises(OSError, match="refused"):
        scraped(url)
    assert not STATE.on


def test_a_port_that_is_taken_is_said_with_the_setting(memory, home):
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        memory.home.settings = load(home, telemetry={"metrics_port": taken.getsockname()[1]})
        with (
            pytest.raises(SlowwaveError, match=r"telemetry\.metrics_port"),
            metrics_served(memory.settings, memory._space),
        ):
            pass


def test_nights_are_told_by_whoever_serves_the_home(tmp_path):
    from slowwave.telemetry.nightly_figures import FILE, note_night
    from slowwave.telemetry.prometheus import serve

    note_night(tmp_path, "night", 12.5, 1_000.0, failed=False)
    note_night(tmp_path, "night", 3.0, 2_000.0, failed=True)
    port = int(free_port())
    stop = serve(PrometheusMeter(nights=lambda: nights(tmp_path)), "127.0.0.1", port)
    try:
        found = scraped(f"http://127.0.0.1:{port}/metrics")
        label = '{slowwave_job="night"}'
        assert found[f"slowwave_night_runs_total{label}"] == 2
        assert found[f"slowwave_night_failures_total{label}"] == 1
        assert found[f"slowwave_night_last_duration_seconds{label}"] == 3.0
        assert found[f"slowwave_night_last_success_timestamp_seconds{label}"] == 1_000.0
        (tmp_path / FILE).write_text("no JSON")
        assert not [one for one in scraped(f"http://127.0.0.1:{port}/metrics") if "night_runs" in one]
    finally:
        stop()


def test_the_dashboard_asks_for_metrics_and_labels_that_there_are():
    board = json.loads((ROOT / "deploy/grafana/slowwave.json").read_text())
    known = names() | {"process_resident_memory_bytes"}
    labels = {ATTRIBUTES[key].replace(".", "_") for one in MEASURES.values() for key in one.labels}
    labels |= {"le", "instance"}
    asked = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    assert len(asked) >= 14
    words = {
        word for one in asked for word in re.findall(r"[a-z]+(?:_[a-z]+)+", re.sub(r'"[^"]*"|\$\w+', "", one))
    }
    functions = {"histogram_quantile"}
    assert words - functions - labels <= known
    assert all(re.search("|".join(known), one) for one in asked)
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    about = " ".join(panel["title"] for panel in board["panels"])
    for subject in ("Searches", "p95", "saved", "gate", "night", "failed", "Ready", "quarantine"):
        assert subject in about


# -- log lines -------------------------------------------------------------------------------------


DAY = """
import sys, slowwave
from datetime import UTC, datetime
from slowwave.orchestration.run_nightly import run_night
from slowwave.settings import load
with slowwave.open(sys.argv[1], namespace="ada", embedding={"model": "wordllama-256"}) as memory:
    memory.save("We deploy on Thursday since 2 March; Friday is for repairs only.")
    memory.feedback(memory.search("when do we deploy?").search_id, 1, "helpful")
today = datetime.now(UTC).date().isoformat()
assert run_night(load(sys.argv[1]), today, today)["success"]
"""


@pytest.mark.slow
def test_a_search_is_joined_to_its_feedback_and_the_night_that_counted_it_as_documented(tmp_path):
    log = tmp_path / "log"
    done = process(DAY, str(tmp_path / "home"), SLOWWAVE_TELEMETRY__LOGS="json")
    of_the_exporter = '{\n    "name": "slowwave.search",\n    "kind": {}\n}\n[]\n"word"\n{broken\n'
    log.write_text(f"{of_the_exporter}{done.stderr}{of_the_exporter}")
    text = (ROOT / "docs/how-to/monitor.md").read_text()
    (snippet,) = re.findall(r"```py\n(import json\n.*?)```", text, re.DOTALL)
    told = subprocess.run(
        [sys.executable, "-c", snippet, str(log)], capture_output=True, text=True, timeout=60, check=True
    ).stdout.splitlines()
    assert re.fullmatch(r"search [0-9a-f]{32} answered", told[0])
    assert re.fullmatch(r"   feedback [0-9a-f]+ of \d{4}-\d\d-\d\d", told[1])
    assert re.fullmatch(r"     counted by run [0-9a-f-]{36}", told[2])
    assert len(told) == 3
    events = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    assert {"search", "save", "feedback", "asset", "night"} == {one.get("event") for one in events} - {None}
    assert "deploy" not in log.read_text()


def test_in_json_the_words_of_errors_are_left_out(lines):
    log = logging.getLogger("slowwave.mcp")
    log.warning("The memory is not ready: %s", ValueError("canaryword"))
    try:
        int("canaryword")
    except ValueError:
        log.exception("%s failed", "search")
    first, second = map(json.loads, lines.getvalue().splitlines())
    assert first["message"] == "The memory is not ready: ValueError"
    assert (second["message"], second["error"]) == ("search failed", "ValueError")
    assert second["where"][0].startswith("test_telemetry.test_in_json")


OWN = """
import logging, sys
import slowwave
logging.basicConfig(format="mine: %(message)s", level="INFO")
before = logging.root.handlers[:], sys.excepthook
with slowwave.open(sys.argv[1], namespace="ada", embedding={"model": "wordllama-256"}) as memory:
    memory.save("We deploy on Thursday since 2 March; Friday is for repairs only.")
assert (logging.root.handlers, sys.excepthook) == before
logging.getLogger("slowwave.any").warning("as ever")
"""


def test_an_application_that_opens_a_home_keeps_its_log_and_gets_events(tmp_path):
    done = process(OWN, str(tmp_path / "home"), SLOWWAVE_TELEMETRY__LOGS="json")
    *events, last = done.stderr.splitlines()
    assert last == "mine: as ever"
    assert [json.loads(line)["event"] for line in events if line.startswith("{")] == ["save"]
    assert "mine: save" not in events


def test_the_first_home_of_a_process_says_whether_events_are_logged(open_memory, capsys):
    """As a running memory stays as it began, whatever is written into the file for later ones."""
    open_memory().close()
    with open_memory(telemetry={"logs": "json"}) as memory:
        memory.save(NOTES[0])
    assert not STATE.logs
    assert "{" not in capsys.readouterr().err
    end()
    with open_memory(telemetry={"logs": "json"}) as memory:
        memory.save(NOTES[1])
    assert json.loads(capsys.readouterr().err)["event"] == "save"
    end()
    assert logging.getLogger("slowwave.events").propagate


WORDS = """
import logging, sys, threading, warnings
from slowwave.telemetry.logs import begin_logs
from slowwave.views.terminal import err, fail, warn
begin_logs("json")
begin_logs("json")
warnings.warn("the first", RuntimeWarning)
warn("the second")
err.print("[bold]the[/] third \\x1b[31m")
err.print("the [fourth]", markup=False)
class Falls:
    def __del__(self): raise ValueError("canaryword")
Falls()
thread = threading.Thread(target=lambda: int("canaryword"))
thread.start(); thread.join()
if sys.argv[1] == "fails":
    fail("the fifth")
{}["canaryword"]
"""


@pytest.mark.parametrize("ending", ["fails", "falls"])
def test_whatever_a_process_says_on_standard_error_is_a_line_of_json(ending):
    """Warnings of Python, words for a person, and errors that nothing caught: of these the kind alone."""
    with pytest.raises(subprocess.CalledProcessError) as ended:
        process(WORDS, ending)
    assert (ended.value.returncode, ended.value.stdout) == (1, "")
    assert "canaryword" not in ended.value.stderr
    lines = [json.loads(line) for line in ended.value.stderr.splitlines()]
    assert all({"at", "level", "logger", "message"} <= line.keys() for line in lines)
    told = [(line["level"], line["logger"], line["message"]) for line in lines]
    assert told[:4] == [
        ("warning", "py.warnings", "RuntimeWarning: the first (<string>:7)"),
        ("warning", "slowwave.cli", "Warning: the second"),
        ("info", "slowwave.cli", r"the third \x1b[31m"),
        ("info", "slowwave.cli", "the [fourth]"),
    ]
    assert [line["error"] for line in lines[4:6]] == ["ValueError", "ValueError"]
    if ending == "fails":
        assert told[6:] == [("error", "slowwave.cli", "Error: the fifth")]
    else:
        assert [(line["level"], line["error"]) for line in lines[6:]] == [("critical", "KeyError")]
        assert lines[6]["where"] == ["__main__.<module>:18"]


@pytest.mark.parametrize(
    ("printed", "told"),
    [
        ("Aborted!\n", {"level": "warning", "logger": "dagster", "message": "Aborted!"}),
        ("[1]\n", {"level": "warning", "logger": "dagster", "message": "[1]"}),
        ('{"at": "now", "event": "night"}\n', {"event": "night"}),
        ('{"timestamp": "now", "event": "old", "level": "error"}', {"message": "old", "level": "error"}),
    ],
)
def test_a_line_of_another_program_is_one_of_ours(printed, told):
    line = of_another(printed, "dagster")
    assert line.endswith("}\n")
    said = json.loads(line)
    assert said.pop("at")
    assert said == told
    assert of_another(" \n", "dagster") == ""


def test_a_log_line_has_the_trace_that_it_belongs_to(memory, spans, lines):
    found = memory.search(QUESTION)
    (search,) = [one for one in spans.get_finished_spans() if one.name == "slowwave.search"]
    (line,) = map(json.loads, lines.getvalue().splitlines())
    assert line["search_id"] == found.search_id
    assert line["trace_id"] == f"{search.context.trace_id:032x}"


# -- what is never said ----------------------------------------------------------------------------

CANARY = re.compile(r"[a-z]*zyx[a-z]*", re.IGNORECASE)


@pytest.mark.parametrize(
    "value", ["two words", "ä", "", "a" * 81, "postgresql://u:p@h/d x", "a\nb", "'", "~"]
)
def test_what_looks_like_a_text_is_withheld(value):
    assert plain(value) == WITHHELD


def test_a_name_that_is_not_listed_is_not_said(spans, lines):
    with span("slowwave.search", query="zyx", namespace="zyx", results=2) as told:
        told.set(principal="zyx")
    note("search", query="zyx", results=2)
    assert dict(spans.get_finished_spans()[0].attributes or {}) == {"slowwave.results": 2}
    assert "zyx" not in lines.getvalue()


@pytest.mark.slow
def test_no_canary_is_in_a_span_a_metric_a_log_line_or_health(home, fast_embedder, spans, lines, monkeypatch):
    import prepared

    from slowwave.orchestration.run_nightly import run_night

    prepared.take_over(home)
    port = int(free_port())
    settings = load(
        home,
        telemetry={"metrics_port": port},
        store={"storage_options": {"aws_secret_access_key": "storagezyx"}},
    )
    monkeypatch.setenv("SLOWWAVE_TELEMETRY__METRICS_PORT", str(port))  # for the night
    memories = MemoryPool(settings, lambda: Caller("spacezyx", "principalzyx"))
    space = memories.space
    space.__dict__["embedder"] = fast_embedder
    with metrics_served(settings, space) as url:
        with connected(build(memories)) as assistant:
            saved = assistant.call(
                "memory_save", content=f"{NOTES[0]} textzyx", title="titlezyx", tags=["tagzyx"], key="keyzyx"
            )
            found = assistant.call("memory_search", query="when do we deploy queryzyx?", project="projectzyx")
            assistant.call("memory_observe", search_id=found["search_id"], response="answerzyx on Thursday")
            assistant.call("memory_outcome", project="projectzyx", outcome="success")
            assistant.ask("memory_history", memory_id="idzyx")
            assistant.ask("toolzyx", query="zyx")
            assistant.ask("memory_search", query="zyx", argumentzyx=1)
            today = datetime.now(UTC).date().isoformat()
            assert run_night(settings, today, today)["success"]
            with urllib.request.urlopen(url, timeout=30) as answer:
                metrics = answer.read().decode()
        health = str(Health(space).look())
    with closing(slowwave.Memory(settings, namespace="otherzyx")) as other:
        other.home.__dict__["embedder"] = fast_embedder
        with pytest.raises(SlowwaveError):
            other.search("zyx " * 2_000)
    faulty = load(home, journal={"url": "postgresql+psycopg://userzyx:passwordzyx@127.0.0.1:1/basezyx"})
    with pytest.raises(SlowwaveError):
        slowwave.Memory(faulty, namespace="ada").search("zyx")
    health += str(Health(slowwave.Memory(faulty, namespace="ada").home).look())
    told = "".join(one.to_json() for one in spans.get_finished_spans())
    assert {"slowwave.search", "slowwave.save", "slowwave.asset"} <= {
        one.name for one in spans.get_finished_spans()
    }
    everything = {"spans": told, "metrics": metrics, "logs": lines.getvalue(), "health": health}
    everything["nights"] = str(nights(home))
    for place, text in everything.items():
        assert len(text) > 50, place
        assert CANARY.findall(text) == [], place
        assert str(home) not in text, place
        assert saved["memory_id"] not in text, place
