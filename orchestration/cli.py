"""Commands `slowwave night`, `slowwave eval run` and `slowwave ui`. They import Dagster when they run."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from slowwave.cli.app import required_settings
from slowwave.common.addresses import host_and_port
from slowwave.common.pluralize import counted
from slowwave.common.slim_imports import load_tables, uncollected
from slowwave.errors import SlowwaveError
from slowwave.orchestration.instance import close_runs, dagster_home
from slowwave.views.tables import print_table
from slowwave.views.terminal import Output, bars, out, prints_output, reports_errors, say

if TYPE_CHECKING:
    from pathlib import Path

    from slowwave.settings import Settings

Day = Annotated[str, typer.Option(help="One day (YYYY-MM-DD, UTC).")]
Since = Annotated[str, typer.Option("--from", help="First day of a range.")]
Until = Annotated[str, typer.Option("--to", help="Last day of a range.")]

_WARNINGS = "ignore:Function `dev_command` is superseded,ignore:Handling yaml-defined logging configuration"
"""Warnings of Dagster about its own command and file, which users cannot change."""
_DAGSTER = (sys.executable, "-m", "dagster", "dev")
_WORKSPACE_YAML = """\
load_from:
  - python_module: {module_name: slowwave.orchestration.definitions, attribute: defs, location_name: slowwave}
"""


@prints_output
def night(date: Day = "", since: Since = "", until: Until = "") -> Output:
    """Run the nightly job now: without dates, for every stale day up to today."""
    reports = _run("night", date, since, until)
    return _reported(reports, reports[-1] | {"before": reports[:-1]})


@prints_output
def evaluate(date: Day = "", since: Since = "", until: Until = "") -> Output:
    """Evaluate now: without dates, every stale day up to today."""
    reports = _run("evaluation", date, since, until)
    if not reports:
        return Output(reports, "All days are evaluated. Next: [bold]slowwave eval status[/]")
    return _reported(reports, reports)


def _run(job: str, date: str, since: str, until: str) -> list[dict[str, Any]]:
    """Run a job for these days, or without dates for every stale day. Return a report per run."""
    settings = required_settings()
    with uncollected():
        load_tables()
        from slowwave.orchestration.run_nightly import choose_days, evaluate_due, run_due, run_night

    with bars():
        if date or since or until:
            days = choose_days(settings, date=date, since=since, until=until)
            return [run_night(settings, *days, job=job)]
        return run_due(settings) if job == "night" else evaluate_due(settings)


def _reported(reports: list[dict[str, Any]], data: object) -> Output:
    """Return the output of several runs; the last one decides the exit code."""

    def show() -> None:
        for report in reports:
            _print_report(report)

    return Output(data, show, code=0 if reports[-1]["success"] else 1)


def _print_report(report: dict[str, Any]) -> None:
    days = report["from"] if report["from"] == report["to"] else f"{report['from']} to {report['to']}"
    rows = [[step["asset"], step["seconds"], step["summary"]] for step in report["steps"] if step["summary"]]
    idle = len(report["steps"]) - len(rows)
    caption = f"{counted(idle, 'more asset')} had nothing to do" if idle else ""
    title = f"{report['job'].capitalize()} of {days}"
    print_table(title, ["asset", "seconds", "what it did"], rows, caption=caption)
    if report["success"] and report["job"] == "night":
        current, next_step = counted(report["live"], "current memory", "current memories"), "search"
        if not report["live"]:
            next_step = "save"
        out.print(f'{escape(current)}. Next: [bold]slowwave {next_step} "…"[/]')
    if report["gate"] and report["gate"] not in report["warnings"]:
        say(report["gate"])
    for line in report["warnings"]:
        out.print(f"[yellow]Warning:[/] {escape(line)}")
    for line in report["errors"]:
        out.print(f"[bold red]Failed:[/] {escape(line)}", highlight=False)


@reports_errors
def ui(
    port: Annotated[int, typer.Option(min=1, max=65_535, help="Port of the web page.")] = 3000,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    with_input: Annotated[
        bool,
        typer.Option(
            "--with-input",
            hidden=True,
            help="For `slowwave up`: also stop at the end of standard input, and serve no metrics.",
        ),
    ] = False,
) -> None:
    """Run Dagster's web page with its schedules and sensors, until Ctrl-C or TERM."""
    from slowwave.home.embedding_model import refuse_half_restored
    from slowwave.orchestration.process_groups import run_group
    from slowwave.serving.metrics import metrics_served
    from slowwave.serving.server import listening, reserved

    settings = required_settings()
    refuse_half_restored(settings.home)
    with ExitStack() as parts:
        metrics = ""
        if with_input:
            parts.enter_context(listening(host, port, "--ui-port")).close()
        else:  # else the daemon would run without a page
            parts.enter_context(reserved(host, port))
            metrics = parts.enter_context(metrics_served(settings))
        folder = dagster_home(settings)
        close_runs(folder)
        where = f"http://{host_and_port(host, port)}"
        if not with_input:  # `slowwave up` prints it itself
            out.print(
                f"Web page: [bold]{escape(where)}[/]  (home {escape(str(settings.home))}; Ctrl-C stops it)"
            )
        if metrics:
            out.print(f"Metrics of nightly runs: {escape(metrics)}", highlight=False)
        colours = sys.stdout.isatty() and sys.stderr.isatty() and "NO_COLOR" not in os.environ
        code = run_group(
            [*_DAGSTER, "-w", str(_workspace(folder)), "-h", host, "-p", str(port), *_logging(settings)],
            _environment(settings, folder),
            with_input=with_input,
            plain=not colours,
            json=settings.telemetry.logs == "json",
            before_end=partial(close_runs, folder),
        )
        close_runs(folder)  # runs that could not record their own stop
    if code:
        raise SlowwaveError(
            f"Dagster's web page or daemon exited unexpectedly; its output is above. "
            f"Start it again. If it exits again, check the logs in {folder}."
        )


def _workspace(folder: Path) -> Path:
    """Write the workspace file, which names the code that Dagster loads, and return its path."""
    file = folder / "workspace.yaml"
    file.write_text(_WORKSPACE_YAML)
    return file


def _environment(settings: Settings, folder: Path) -> dict[str, str]:
    """Return the variables of Dagster's processes."""
    own = {"SLOWWAVE_HOME": str(settings.home), "DAGSTER_HOME": str(folder)}
    own["PYTHONWARNINGS"] = ",".join(filter(None, [os.environ.get("PYTHONWARNINGS"), _WARNINGS]))
    return {**os.environ, **own}


def _logging(settings: Settings) -> list[str]:
    """Return the log options: Dagster prints warnings only, runs log the rest."""
    form = ["--log-format", "json"] if settings.telemetry.logs == "json" else []
    return ["--log-level", "warning", *form]
