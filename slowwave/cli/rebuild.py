"""The command `slowwave rebuild`: tables from the journal, or the journal's records from the tables."""

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
    tables: Annotated[list[str] | None, typer.Argument(help="Tables; without any: all of them.")] = None,
    journal: Annotated[
        bool, typer.Option("--journal", help="The other way round: let the journal know what the tables do.")
    ] = False,
) -> Output:
    """Make lost or damaged tables again from the journal."""
    from slowwave.maintenance.rebuild import mend_journal
    from slowwave.maintenance.rebuild import rebuild as run

    if journal and tables:
        fail("Give tables, or --journal, not both.", code=2)
    with open_home() as space, bars(quiet=journal):
        mended = mend_journal(space) if journal else None
        done = None if journal else run(space, tables or ())

    def show() -> None:
        if mended is not None:
            _print_mended(mended)
        elif done is not None:
            _print_rebuilt(done)

    return Output(mended or done, show)


def _print_mended(mended: Mended) -> None:
    lost = counted(mended.lost, "act of memories was", "acts of memories were")
    out.print(f"The journal knows what the tables do; {lost} not in it.", markup=False)
    if mended.aside:
        say(f"The file that could not be read is {mended.aside}.")
    if mended.gone:
        out.print("What only the journal knew may be lost:")
    for sentence in mended.gone:
        say(f"  {sentence}")


def _print_rebuilt(done: Rebuilt) -> None:
    print_table("Rebuilt", ["table", "rows"], [[name, f"{rows:,}"] for name, rows in done.tables.items()])
    if done.checkpoints:
        gone = ", ".join(done.checkpoints)
        out.print(f"Checkpoints that were of the old tables are gone: {gone}", markup=False)
    if done.from_acts:
        out.print(
            "The journal had no records of tables. Next: [bold]slowwave night[/] takes everything in again"
        )
