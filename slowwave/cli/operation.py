"""The commands of whoever runs a home: settings, doctor, reembed, checkpoint."""

from __future__ import annotations

from typing import Annotated

import typer

from slowwave.cli.app import Json, app, home_settings, open_home
from slowwave.views.tables import print_table
from slowwave.views.terminal import bars, out, print_json, reports_errors

checkpoints = typer.Typer(no_args_is_help=True, help="Named, restorable states of every table.")
app.add_typer(checkpoints, name="checkpoint")


@app.command()
@reports_errors
def settings(json: Json = False) -> None:
    """What is in force, and where each value comes from."""
    from slowwave.home.model import in_force

    rows = in_force(home_settings())
    if json:
        print_json({row.name: {"value": row.shown, "origin": row.origin} for row in rows})
        return
    cells = [[row.name, str(row.shown), row.origin, row.description] for row in rows]
    print_table("Settings in force", ["setting", "value", "from", "meaning"], cells)


@app.command()
@reports_errors
def doctor(
    repair: Annotated[bool, typer.Option(help="Mend what can be mended.")] = False,
    json: Json = False,
) -> None:
    """Check the installation, the store, the indexes, the journal and the model."""
    from slowwave.upkeep.doctor import examine

    findings = examine(home_settings(), repair=repair)
    healthy = all(finding.ok for finding in findings)
    if json:
        print_json({"healthy": healthy, "findings": findings})
    else:
        cells = [["ok" if f.ok else "PROBLEM", f.subject, f.message, f.advice] for f in findings]
        print_table("Doctor", ["", "what", "found", "what to do"], cells)
    raise typer.Exit(0 if healthy else 1)


@app.command()
@reports_errors
def reembed(
    model: Annotated[str, typer.Option(help="Name of the new embedding model.")],
    json: Json = False,
) -> None:
    """Move the memory to another embedding model: a new table beside the old one, then a switch."""
    from slowwave.upkeep.reembed import reembed as run

    with bars(quiet=json):
        report = run(home_settings(), model)
    if json:
        print_json(report)
        return
    out.print(f"{report['chunks']:,} chunks now have vectors of [bold]{model}[/].")
    out.print(f'Set it for good: embedding.model = "{model}" is in {report["config"]}.')


@checkpoints.command("create")
@reports_errors
def checkpoint_create(name: str, json: Json = False) -> None:
    """Tag the present state of every table."""
    from datetime import UTC, datetime

    from slowwave.store.checkpoints import create_checkpoint

    # The one writer: or one table would be as it is before a save, and another as after it.
    with open_home() as space, space.writing():
        made = create_checkpoint(space.store, name, datetime.now(UTC))
    if json:
        print_json({"name": made.name, "tables": dict(made.tables)})
    else:
        out.print(f"Checkpoint [bold]{made.name}[/] of {len(made.tables)} tables.")


@checkpoints.command("list")
@reports_errors
def checkpoint_list(json: Json = False) -> None:
    """List the checkpoints, oldest first."""
    from slowwave.store.checkpoints import list_checkpoints

    with open_home() as space:
        found = list_checkpoints(space.store)
    if json:
        print_json(
            [{"name": one.name, "created_at": one.created_at, "tables": dict(one.tables)} for one in found]
        )
    elif not found:
        out.print("No checkpoints.")
    else:
        print_table(
            "Checkpoints", ["name", "created"], [[one.name, f"{one.created_at:%F %T}"] for one in found]
        )


@checkpoints.command("restore")
@reports_errors
def checkpoint_restore(name: str, json: Json = False) -> None:
    """Bring every table back to a checkpoint; the journal keeps all acts since."""
    from slowwave.upkeep.restoring import restore

    with open_home() as space:
        done = restore(space, name)
    if json:
        print_json({"name": done.name, "tables": dict(done.tables)})
    else:
        out.print(
            f"All tables are as at [bold]{done.name}[/]. `slowwave night` takes in again what came since."
        )


@checkpoints.command("delete")
@reports_errors
def checkpoint_delete(name: str) -> None:
    """Remove a checkpoint, so that its files may be freed."""
    from slowwave.store.checkpoints import delete_checkpoint

    with open_home() as space, space.writing():
        delete_checkpoint(space.store, name)
    out.print(f"Checkpoint [bold]{name}[/] is gone.")
