"""The command `rebuild`: tables from the journal, or journal records from the tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from slowwave.cli.app import app, open_home
from slowwave.common.pluralize import counted
from slowwave.views.tables import print_table
from slowwave.views.terminal import Output, bars, fail, out, prints_output, say

if TYPE_CHECKING:
    from slowwave.maintenance.rebuild import Mended, Rebuilt


@app.command()
@prints_output
def rebuild(
    tables: Annotated[list[str] | None, typer.Argument(help="Names of tables; default: all.")] = None,
    journal: Annotated[
        bool, typer.Option("--journal", help="Rebuild the journal's records from the tables instead.")
    ] = False,
) -> Output:
    """Rebuild lost or damaged tables from the journal."""
    from slowwave.maintenance.rebuild import mend_journal
    from slowwave.maintenance.rebuild import rebuild as run

    if journal and tables:
        fail("Give tables, or --journal, not both.", code=2)
    with open_home() as space, bars(quiet=journal):
        journal_report = mend_journal(space) if journal else None
        done = None if journal else run(space, tables or ())

    def show() -> None:
        if journal_report is not None:
            _print_journal_report(journal_report)
        elif done is not None:
            _print_rebuilt(done)

    return Output(journal_report or done, show)


def _print_journal_report(report: Mended) -> None:
    lost = counted(report.lost, "event of memories is", "events of memories are")
    out.print(f"The journal has the records of the tables again; {lost} lost.", markup=False)
    if report.aside:
        say(f"The unreadable file was moved to {report.aside}.")
    if report.gone:
        out.print("Data that only the journal had may be lost:")
    for sentence in report.gone:
        say(f"  {sentence}")


def _print_rebuilt(done: Rebuilt) -> None:
    print_table("Rebuilt", ["table", "rows"], [[name, f"{rows:,}"] for name, rows in done.tables.items()])
    if done.checkpoints:
        gone = ", ".join(done.checkpoints)
        out.print(f"Deleted checkpoints of the old tables: {gone}", markup=False)
    if done.from_acts:
        out.print(
            "The journal had no records of tables. Next: [bold]slowwave night[/] applies all events again"
        )
