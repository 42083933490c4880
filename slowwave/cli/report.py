"""The reports: how the memory serves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from slowwave.cli.app import Namespace, app, open_namespace
from slowwave.views.tables import show_parts
from slowwave.views.terminal import Output, err, out, prints_output

reports = typer.Typer(no_args_is_help=True, help="How the memory serves, in numbers and pictures.")
app.add_typer(reports, name="report")


@reports.command("feedback")
@prints_output
def feedback(
    days: Annotated[int, typer.Option(min=1, help="Days (UTC) to count, today with them.")] = 30,
    as_of: Annotated[str, typer.Option(help="A past day to end with: the report of its end.")] = "",
    limit: Annotated[int, typer.Option("--limit", "-k", min=1, help="Rows of each list of memories.")] = 5,
    html: Annotated[
        Path | None, typer.Option(help="Also write one page with pictures and tables to this file.")
    ] = None,
    namespace: Namespace = "",
) -> Output:
    """Is it getting better; acts of feedback, what answers used, how effective memories are, which fade.

    Counted is what nights have taken in; what waits for one is named.
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
