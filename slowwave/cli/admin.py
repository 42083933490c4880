"""The commands of whoever runs a home: settings, doctor, reembed, checkpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from rich.markup import escape

from slowwave.cli.app import app, home_settings, open_home
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
def settings(
    name: Annotated[str, typer.Argument(help="One setting (gate.mode), or a group of them (gate).")] = "",
    everything: Annotated[bool, typer.Option("--all", help="Also what is as it is by default.")] = False,
) -> Output:
    """What differs from the defaults, and where each value comes from; of one setting, what it means.

    With --json everything.
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
    shown = [row for row in rows if everything or row.changed]
    if not shown:
        out.print("Every setting is as it is by default.")
    elif everything:
        cells = [[row.name, _said(row.shown), row.origin, row.description] for row in shown]
        print_table("Settings in force", ["setting", "value", "from", "meaning"], cells)
    else:
        cells = [[row.name, _said(row.shown), _said(row.default), row.origin] for row in shown]
        print_table("What differs from the defaults", ["setting", "value", "default", "from"], cells)
    if len(shown) < len(rows):
        out.print(
            f"[dim]{counted(len(rows) - len(shown), 'more setting')} as by default: slowwave settings --all; "
            f"slowwave settings NAME explains one.[/]",
            highlight=False,
        )


def _print_setting(row: InForce) -> None:
    """One setting: its meaning, its default, its range, and where its value comes from."""
    from slowwave.settings.display import variable_of
    from slowwave.views.tables import print_card

    group, _, name = row.name.rpartition(".")
    line = f"[{group}] {name} = …" if group else f"{name} = …"
    print_card([
        ("setting", row.name), ("value", _said(row.shown)), ("from", row.origin),
        ("default", _said(row.default)), ("allowed", row.allowed), ("meaning", row.description),
        ("set it by", f"{variable_of(tuple(row.name.split('.')))}, or in slowwave.toml: {line}"),
    ])  # fmt: skip


def _said(value: object) -> str:
    """A value as it is shown; of nothing that it is."""
    return "(empty)" if value in ("", [], {}, None) else str(value)


def _no_setting(name: str, names: list[str]) -> NoReturn:
    from difflib import get_close_matches

    from slowwave.errors import SettingsError

    near = next(iter(get_close_matches(name, names, n=1)), "")
    meant = f" Did you mean {near}?" if near else ""
    raise SettingsError(f"There is no setting {name!r}.{meant} `slowwave settings --all` lists them.")


@app.command()
@prints_output
def doctor(
    repair: Annotated[bool, typer.Option(help="Mend what can be mended.")] = False,
) -> Output:
    """Check the installation, the store, the indexes, the journal and the model.

    A home that an earlier version wrote is left as it is: it says what upgrades it.
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
    """Move the memory to another embedding model: a new table beside the old one, then a switch."""
    from slowwave.maintenance.reembed import reembed as run

    with bars():
        report = run(home_settings(), model)

    def show() -> None:
        chunks = counted(report["chunks"], "chunk has", "chunks have")
        out.print(f"{chunks} now vectors of [bold]{escape(model)}[/].")
        out.print(f'Set it for good: embedding.model = "{model}" is in {report["config"]}.', markup=False)

    return Output(report, show)


@checkpoints.command("create")
@prints_output
def checkpoint_create(name: str) -> Output:
    """Tag the present state of every table."""
    from datetime import UTC, datetime

    from slowwave.store.checkpoints import create_checkpoint

    # The one writer: or one table would be as it is before a save, and another as after it.
    with open_home() as space, space.writing():
        made = create_checkpoint(space.store, name, datetime.now(UTC))
    return Output(
        {"name": made.name, "tables": dict(made.tables)},
        f"Checkpoint [bold]{escape(made.name)}[/] of {len(made.tables)} tables.",
    )


@checkpoints.command("list")
@prints_output
def checkpoint_list() -> Output:
    """List the checkpoints, oldest first."""
    from slowwave.store.checkpoints import list_checkpoints

    with open_home() as space:
        found, now = list_checkpoints(space.store), space.now()

    if not found:
        return Output([], "No checkpoints. `slowwave checkpoint create NAME` makes one.")
    cells = [[one.name, since(one.created_at, now)] for one in found]
    return Output(
        [{"name": one.name, "created_at": one.created_at, "tables": dict(one.tables)} for one in found],
        lambda: print_table("Checkpoints", ["name", "created"], cells),
    )


@checkpoints.command("restore")
@prints_output
def checkpoint_restore(name: str) -> Output:
    """Bring every table back to a checkpoint; the journal keeps all acts since."""
    from slowwave.maintenance.restoring import restore

    with open_home() as space:
        done = restore(space, name)
    return Output(
        {"name": done.name, "tables": dict(done.tables)},
        f"All tables are as at [bold]{escape(done.name)}[/]. "
        f"`slowwave night` takes in again what came since.",
    )


@checkpoints.command("delete")
@prints_output
def checkpoint_delete(name: str) -> Output:
    """Remove a checkpoint, so that its files may be freed."""
    from slowwave.store.checkpoints import delete_checkpoint

    with open_home() as space, space.writing():
        delete_checkpoint(space.store, name)
    return Output({"name": name, "deleted": True}, f"Checkpoint [bold]{escape(name)}[/] is gone.")
