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
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")] = False,
    undo: Annotated[
        bool, typer.Option("--undo", help="Undo the last upgrade, to use the previous Slowwave version.")
    ] = False,
) -> Output:
    """Upgrade a home to this version's schema, with undo.

    Opening a home upgrades it, too, but without undo.
    """
    from slowwave.maintenance import upgrading

    settings = required_settings()
    with bars():
        run = upgrading.undo if undo else upgrading.look if dry_run else upgrading.upgrade
        report = run(settings)
    if undo:
        message = (
            f"The tables have schema version {report.tables} again. Use the previous Slowwave version: "
            f"this one would upgrade the home again."
        )
        return Output(report, lambda: out.print(message, markup=False))
    if not report.steps:
        return Output(
            report, lambda: say(f"Nothing to upgrade: tables {report.tables}, journal {report.journal}.")
        )

    def show() -> None:
        for step in report.steps:
            rows = ", ".join(f"{name} ({counted(count, 'row')})" for name, count in step.tables.items())
            say(f"{step.part} {step.version}, {step.name}: {rows or 'only additions'}")
        out.print("Nothing was written." if dry_run else "Done. slowwave upgrade --undo undoes it.")

    return Output(report, show)
