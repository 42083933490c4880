"""Administration commands: where, settings, doctor, reembed, checkpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from rich.markup import escape

from slowwave.cli.app import Namespace, app, home_settings, open_home, required_settings
from slowwave.common.pluralize import counted
from slowwave.views.moments import since
from slowwave.views.tables import print_table
from slowwave.views.terminal import Output, bars, out, prints_output

if TYPE_CHECKING:
    from slowwave.settings.display import InForce

checkpoints = typer.Typer(no_args_is_help=True, help="Named, restorable states of every table.")
app.add_typer(checkpoints, name="checkpoint")


@app.command()
@prints_output
def where(namespace: Namespace = "") -> Output:
    """Show which home is in use and why, with its namespace, size and counts."""
    from slowwave.home.place import REASONS, place_of

    place = place_of(home_settings(), namespace)

    def show() -> None:
        from slowwave.common.sizes import size
        from slowwave.views.tables import print_card

        rows: list[tuple[str, object]] = [("home", place.home), ("because", REASONS[place.origin])]
        if place.exists:
            counts = ", ".join(f"{count:,} {state}" for state, count in place.counts.items())
            rows += [
                ("namespace", place.namespace), ("memories", counts or "none"),
                ("quarantined", f"{place.quarantined:,}"), ("size", size(place.bytes)),
            ]  # fmt: skip
        else:
            rows.append(("exists", "no: `slowwave init` creates it"))
        print_card(rows)

    return Output(place, show)


@app.command()
@prints_output
def settings(
    name: Annotated[str, typer.Argument(help="One setting (gate.mode), or a group of them (gate).")] = "",
    everything: Annotated[bool, typer.Option("--all", help="Include settings at their default.")] = False,
) -> Output:
    """Show settings that differ from their defaults, or explain one setting.

    With --json all settings.
    """
    from slowwave.home.embedding_model import in_force

    every = in_force(home_settings())
    rows = [row for row in every if name in ("", row.name) or row.name.startswith(f"{name}.")]
    if not rows:
        _no_setting(name, [row.name for row in every])

    data = {row.name: {"value": row.shown, "origin": row.origin} for row in rows}
    if len(rows) == 1:
        return Output(data, lambda: _print_setting(rows[0]))
    return Output(data, lambda: _print_settings(rows, everything=everything or bool(name)))


def _print_settings(rows: list[InForce], *, everything: bool) -> None:
    from slowwave.settings.display import value_text

    shown = [row for row in rows if everything or row.changed]
    if not shown:
        out.print("Every setting has its default value.")
    elif everything:
        cells = [[row.name, row.value_text, row.origin, row.description] for row in shown]
        print_table("Settings in force", ["setting", "value", "from", "meaning"], cells)
    else:
        cells = [[row.name, row.value_text, value_text(row.default), row.origin] for row in shown]
        print_table(
            "Settings that differ from their defaults", ["setting", "value", "default", "from"], cells
        )
    if len(shown) < len(rows):
        out.print(
            f"[dim]{counted(len(rows) - len(shown), 'more setting')} at their default: slowwave settings "
            f"--all; slowwave settings NAME explains one.[/]",
            highlight=False,
        )


def _print_setting(row: InForce) -> None:
    """Print one setting: its meaning, default, range and origin."""
    from slowwave.settings.display import value_text
    from slowwave.views.tables import print_card

    print_card([
        ("setting", row.name), ("value", row.value_text), ("from", row.origin),
        ("default", value_text(row.default)), ("allowed", row.allowed), ("meaning", row.description),
        ("set it by", f"{row.variable}, or in slowwave.toml: {row.line}"),
    ])  # fmt: skip


def _no_setting(name: str, names: list[str]) -> NoReturn:
    from difflib import get_close_matches

    from slowwave.errors import SettingsError

    near = next(iter(get_close_matches(name, names, n=1)), "")
    meant = f" Did you mean {near}?" if near else ""
    raise SettingsError(f"Unknown setting {name!r}.{meant} `slowwave settings --all` lists all settings.")


@app.command()
@prints_output
def doctor(
    repair: Annotated[bool, typer.Option(help="Fix problems that can be fixed automatically.")] = False,
) -> Output:
    """Check the installation, the store, the indexes, the journal and the model.

    A home of an earlier version is not changed; the report names the command that upgrades it.
    """
    from slowwave.maintenance.doctor import examine

    findings = examine(home_settings(), repair=repair)
    healthy = all(finding.ok for finding in findings)

    def show() -> None:
        cells = [["ok" if f.ok else "PROBLEM", f.subject, f.message, f.advice] for f in findings]
        print_table("Doctor", ["", "what", "found", "what to do"], cells)

    return Output({"healthy": healthy, "findings": findings}, show, code=0 if healthy else 1)


@app.command()
@prints_output
def reembed(
    model: Annotated[str, typer.Option(help="Name of the new embedding model.")],
) -> Output:
    """Re-embed all memories with another model into a new table, then switch to it."""
    from slowwave.maintenance.reembed import reembed as run

    with bars():
        report = run(required_settings(), model)

    def show() -> None:
        chunks = counted(report["chunks"], "chunk has", "chunks have")
        out.print(f"{chunks} vectors of [bold]{escape(model)}[/] now.")
        out.print(f'Saved in {report["config"]}: embedding.model = "{model}".', markup=False)

    return Output(report, show)


@checkpoints.command("create")
@prints_output
def checkpoint_create(name: str) -> Output:
    """Create a checkpoint: tag the current version of every table."""
    from datetime import UTC, datetime

    from slowwave.store.checkpoints import create_checkpoint

    # The writer lock: otherwise a concurrent save could be in one table's version and not in another's.
    with open_home() as space, space.writing():
        checkpoint = create_checkpoint(space.store, name, datetime.now(UTC))
    return Output(
        {"name": checkpoint.name, "tables": dict(checkpoint.tables)},
        f"Checkpoint [bold]{escape(checkpoint.name)}[/] of {len(checkpoint.tables)} tables.",
    )


@checkpoints.command("list")
@prints_output
def checkpoint_list() -> Output:
    """List the checkpoints, oldest first."""
    from slowwave.store.checkpoints import list_checkpoints

    with open_home() as space:
        listed, now = list_checkpoints(space.store), space.now()

    if not listed:
        return Output([], "No checkpoints. `slowwave checkpoint create NAME` creates one.")
    cells = [[checkpoint.name, since(checkpoint.created_at, now)] for checkpoint in listed]
    return Output(
        [
            {"name": checkpoint.name, "created_at": checkpoint.created_at, "tables": dict(checkpoint.tables)}
            for checkpoint in listed
        ],
        lambda: print_table("Checkpoints", ["name", "created"], cells),
    )


@checkpoints.command("restore")
@prints_output
def checkpoint_restore(name: str) -> Output:
    """Restore every table to a checkpoint. The journal keeps later events."""
    from slowwave.maintenance.restoring import restore

    with open_home() as space:
        done = restore(space, name)
    return Output(
        {"name": done.name, "tables": dict(done.tables)},
        f"Restored all tables to [bold]{escape(done.name)}[/]. `slowwave night` applies later events again.",
    )


@checkpoints.command("delete")
@prints_output
def checkpoint_delete(name: str) -> Output:
    """Delete a checkpoint, so that its files can be freed."""
    from slowwave.store.checkpoints import delete_checkpoint

    with open_home() as space, space.writing():
        delete_checkpoint(space.store, name)
    return Output({"name": name, "deleted": True}, f"Deleted checkpoint [bold]{escape(name)}[/].")
