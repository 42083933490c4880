"""Import and export of search logs and feedback.

Two forms are supported: User Behavior Insights, which search applications log, and our own JSON lines
(`docs/how-to/import-and-export-feedback.md`). An import only writes to the journal. The nightly job of those
days processes it.
"""

from __future__ import annotations

from slowwave.evaluation.exchange.errors import ExchangeError
from slowwave.evaluation.exchange.export import FORMATS, ExportReport, export
from slowwave.evaluation.exchange.frame import LineProblem
from slowwave.evaluation.exchange.importing import LogImportOptions, import_logs
from slowwave.evaluation.exchange.jsonl import JsonlForm
from slowwave.evaluation.exchange.report import LogImportReport
from slowwave.evaluation.exchange.ubi import Ubi, parse_actions

__all__ = [
    "FORMATS",
    "ExchangeError",
    "ExportReport",
    "JsonlForm",
    "LineProblem",
    "LogImportOptions",
    "LogImportReport",
    "Ubi",
    "export",
    "import_logs",
    "parse_actions",
]
