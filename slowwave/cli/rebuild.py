"""The command `slowwave rebuild`: tables from the journal, or the journal's records from the tables."""

from __future__ import annotations

from typing import Annotated

import typer

from slowwave.cli.app import app, home_settings
from slowwave.views.tables import print_table
from slowwave.views.terminal import JSON, bars, fail, out, print_json, reports_errors


@app.command()
@reports_errors
def rebuild(
    tables: Annotated[list[str] | None, typer.Argument(help="Tables; without any: all of them.")] = None,
    journal: Annotated[
        bool, typer.Option("--journal", help="The other way round: let the journal know what the tables do.")
    ] = False,
    json: Annotated[bool, JSON] = False,
) -> None:
    """Make lost or damaged tables again from the journal."""
    from slowwave.home.workspace import Workspace
    from slowwave.settings import require_home
    from slowwave.upkeep.rebuild import mend_journal
    from slowwave.upkeep.rebuild import rebuild as run

    space = Workspace(require_home(home_settings()))
    if journal:
        if tables:
            fail("Give tables, or --journal, not both.", code=2)
        mended = mend_journal(space)
        if json:
            print_json(mended)
            return
        out.print(f"The journal knows what the tables do; {mended.lost:,} acts of memories were not in it.")
        if mended.aside:
            out.print(f"The file that could not be read is {mended.aside}.", highlight=False)
        if mended.gone:
            out.print("What only the journal knew may be lost:")
        for sentence in mended.gone:
            out.print(f"  {sentence}", highlight=False)
        return
    with bars(quiet=json):
        done = run(space, tables or ())
    space.close()
    if json:
        print_json(done)
        return
    print_table("Rebuilt", ["table", "rows"], [[name, f"{rows:,}"] for name, rows in done.tables.items()])
    if done.checkpoints:
        out.print(f"Checkpoints that were of the old tables are gone: {', '.join(done.checkpoints)}")
    if done.from_acts:
        out.print(
            "The journal had no records of tables. Next: [bold]slowwave night[/] takes everything in again"
        )
