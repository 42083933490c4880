"""The warehouse: making it, what is in it, asking it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slowwave.cli.app import app, open_home, required_settings
from slowwave.common.pluralize import counted
from slowwave.views.tables import print_table
from slowwave.views.terminal import Output, bars, out, prints_output

if TYPE_CHECKING:
    from slowwave.warehouse import Described

warehouses = typer.Typer(
    no_args_is_help=True, help="One DuckDB file of small tables, for people and chart tools."
)
app.add_typer(warehouses, name="warehouse")


@warehouses.command("build")
@prints_output
def build() -> Output:
    """Make the warehouse anew from what the nights have made; readers of the old one are not disturbed."""
    from dataclasses import asdict

    from slowwave.warehouse import build_home as run

    path = _path()
    with open_home() as space, bars():
        done = run(space, path)
    caption, rows = f"{path}: {done.bytes:,} bytes, made in {done.seconds:.1f} s", list(done.rows.items())
    return Output(
        {"path": str(path), **asdict(done)},
        lambda: print_table("Warehouse", ["table", "rows"], rows, caption=caption),
    )


@warehouses.command("tables")
@prints_output
def tables(
    name: Annotated[str, typer.Argument(help="A table, to see its columns.")] = "",
) -> Output:
    """List the tables of the warehouse, or the columns of one, with what they say."""
    from dataclasses import asdict

    from slowwave.warehouse import described

    path = _path()
    if not name and not path.exists():
        told = "There is no warehouse yet. `slowwave warehouse build` makes it; evaluation does every night."
        return Output([], told)
    found = [one for one in described(path) if name in ("", one.name)]
    if name and not found:
        _no_table(name)

    def show() -> None:
        if name:
            columns = [list(column) for column in found[0].columns]
            title = f"{name} ({counted(found[0].rows, 'row')})"
            print_table(title, ["column", "type", "says"], columns, caption=found[0].about)
        else:
            print_table(
                "Warehouse", ["table", "rows", "a row is"], [[o.name, o.rows, o.about] for o in found]
            )

    return Output([asdict(one) | {"columns": _columns(one)} for one in found], show)


@warehouses.command("query")
@prints_output
def query(
    sql: Annotated[str, typer.Argument(help="SQL of DuckDB, for example: from quality_by_day")],
    limit: Annotated[int, typer.Option("--limit", "-k", min=0, help="Rows to show; 0: all.")] = 100,
) -> Output:
    """Ask the warehouse. It is opened to read: no statement can change it or reach another file."""
    from slowwave.warehouse import query as run

    answer = run(_path(), sql, most=limit or None)

    def show() -> None:
        more = f"The first {limit:,} rows; --limit 0 gives all." if answer.more else ""
        print_table("", answer.columns, answer.rows, caption=more)
        if not answer.rows:
            out.print("No rows.")

    return Output([dict(zip(answer.columns, row, strict=True)) for row in answer.rows], show)


def _path() -> Path:
    from slowwave.warehouse import FILE

    return Path(required_settings().home) / FILE


def _columns(one: Described) -> list[dict[str, Any]]:
    return [{"name": name, "type": kind, "about": about} for name, kind, about in one.columns]


def _no_table(name: str) -> None:
    from slowwave.errors import NotFoundError

    raise NotFoundError(f"The warehouse has no table {name!r}. `slowwave warehouse tables` lists them.")
