"""The command `slowwave upgrade`."""

from __future__ import annotations

from typing import Annotated

import typer

from slowwave.cli.app import app, required_settings
from slowwave.common.pluralize import counted
from slowwave.views.terminal import Output, bars, out, prints_output, say


@app.command()
@prints_output
def upgrade(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would change.")] = False,
    undo: Annotated[
        bool, typer.Option("--undo", help="Take the last upgrade back, for the former Slowwave.")
    ] = False,
) -> Output:
    """Bring a home to the schema of this Slowwave, with a way back; opening it does the same without one."""
    from slowwave.maintenance import upgrading

    settings = required_settings()
    with bars():
        run = upgrading.undo if undo else upgrading.look if dry_run else upgrading.upgrade
        found = run(settings)
    if undo:
        told = (
            f"The tables are of schema version {found.tables} again. Open the home with the Slowwave that "
            f"made it: this one would upgrade it again."
        )
        return Output(found, lambda: out.print(told, markup=False))
    if not found.steps:
        return Output(
            found, lambda: say(f"Nothing to upgrade: tables {found.tables}, journal {found.journal}.")
        )

    def show() -> None:
        for step in found.steps:
            rows = ", ".join(f"{name} ({counted(count, 'row')})" for name, count in step.tables.items())
            say(f"{step.part} {step.version}, {step.name}: {rows or 'adds to it'}")
        out.print("Nothing was written." if dry_run else "Done. slowwave upgrade --undo takes it back.")

    return Output(found, show)
