"""Report commands: report feedback."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from slowwave.cli.app import Namespace, app, open_namespace
from slowwave.views.tables import show_parts
from slowwave.views.terminal import Output, err, out, prints_output

reports = typer.Typer(no_args_is_help=True, help="Reports on use and quality, in numbers and charts.")
app.add_typer(reports, name="report")


@reports.command("feedback")
@prints_output
def feedback(
    days: Annotated[int, typer.Option(min=1, help="Number of days (UTC), including today.")] = 30,
    as_of: Annotated[str, typer.Option(help="Last day of the report, if it is a past one.")] = "",
    limit: Annotated[int, typer.Option("--limit", "-k", min=1, help="Rows of each list of memories.")] = 5,
    html: Annotated[
        Path | None, typer.Option(help="Also write an HTML page with charts and tables to this file.")
    ] = None,
    namespace: Namespace = "",
) -> Output:
    """Report feedback: quality trend, used results, effectiveness, fading memories.

    Only events that nightly jobs processed are counted; unprocessed ones are listed.
    """
    from datetime import UTC, datetime

    from slowwave.common.arguments import parsed_day
    from slowwave.scoring.days import MICROSECOND, day_end
    from slowwave.views.feedback import feedback_report
    from slowwave.views.feedback_sections import feedback_page, period, sections

    now = datetime.now(UTC)
    if as_of:
        now = min(now, day_end(parsed_day("--as-of", as_of)) - MICROSECOND)
    with open_namespace(namespace, known=True) as memory:
        done = feedback_report(memory.home, memory.namespace, days=days, as_of=now, limit=limit)
    if html is not None:
        html.write_text(feedback_page(done), encoding="utf-8")

    def show() -> None:
        title = f"[bold]Feedback of namespace {escape(done.namespace)}[/], {escape(period(done))}"
        out.print(title, highlight=False)
        show_parts(sections(done, width=out.width), apart=True)
        if html is not None:
            err.print(f"Written to [bold]{escape(str(html))}[/].", highlight=False, soft_wrap=True)

    return Output(done.to_dict(), show)
