"""The command `slowwave upgrade`."""

from __future__ import annotations

from typing import Annotated

import typer

from slowwave.cli.app import Json, app, home_settings
from slowwave.common.plurals import counted
from slowwave.views.terminal import bars, out, print_json, reports_errors


@app.command()
@reports_errors
def upgrade(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would change.")] = False,
    undo: Annotated[
        bool, typer.Option("--undo", help="Take the last upgrade back, for the former Slowwave.")
    ] = False,
    json: Json = False,
) -> None:
    """Bring a home to the schema of this Slowwave, with a way back; opening it does the same without one."""
    from slowwave.settings import require_home
    from slowwave.upkeep import upgrading

    settings = require_home(home_settings())
    with bars(quiet=json):
        run = upgrading.undo if undo else upgrading.look if dry_run else upgrading.upgrade
        found = run(settings)
    if json:
        print_json(found)
        return
    if undo:
        out.print(
            f"The tables are of schema version {found.tables} again. Open the home with the Slowwave that "
            f"made it: this one would upgrade it again.",
            markup=False,
        )
        return
    if not found.steps:
        out.print(
            f"Nothing to upgrade: tables {found.tables}, journal {found.journal}.",
            highlight=False,
            markup=False,
        )
        return
    for step in found.steps:
        rows = ", ".join(f"{name} ({counted(count, 'row')})" for name, count in step.tables.items())
        out.print(
            f"{step.part} {step.version}, {step.name}: {rows or 'adds to it'}", highlight=False, markup=False
        )
    out.print("Nothing was written." if dry_run else "Done. slowwave upgrade --undo takes it back.")
