"""Warehouse commands: warehouse build, tables, query."""

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

warehouses = typer.Typer(no_args_is_help=True, help="A DuckDB file of aggregates, for SQL and chart tools.")
app.add_typer(warehouses, name="warehouse")


@warehouses.command("build")
@prints_output
def build() -> Output:
    """Rebuild the warehouse from the tables of the nightly jobs. Open readers are not disturbed."""
    from dataclasses import asdict

    from slowwave.warehouse import build_home as run

    path = _path()
    with open_home() as space, bars():
        done = run(space, path)
    caption, rows = f"{path}: {done.bytes:,} bytes, built in {done.seconds:.1f} s", list(done.rows.items())
    return Output(
        {"path": str(path), **asdict(done)},
        lambda: print_table("Warehouse", ["table", "rows"], rows, caption=caption),
    )


@warehouses.command("tables")
@prints_output
def tables(
    name: Annotated[str, typer.Argument(help="A table whose columns to list.")] = "",
) -> Output:
    """List the tables of the warehouse, or the columns of one."""
    from dataclasses import asdict

    from slowwave.warehouse import described

    path = _path()
    if not name and not path.exists():
        message = (
            "There is no warehouse yet. Run `slowwave warehouse build`; the nightly evaluation builds it, "
            "too."
        )
        return Output([], message)
    matches = [table for table in described(path) if name in ("", table.name)]
    if name and not matches:
        _no_table(name)

    def show() -> None:
        if name:
            columns = [list(column) for column in matches[0].columns]
            title = f"{name} ({counted(matches[0].rows, 'row')})"
            print_table(title, ["column", "type", "meaning"], columns, caption=matches[0].about)
        else:
            print_table(
                "Warehouse", ["table", "rows", "a row is"], [[o.name, o.rows, o.about] for o in matches]
            )

    return Output([asdict(table) | {"columns": _columns(table)} for table in matches], show)


@warehouses.command("query")
@prints_output
def query(
    sql: Annotated[str, typer.Argument(help="DuckDB SQL, for example: from quality_by_day")],
    limit: Annotated[int, typer.Option("--limit", "-k", min=0, help="Rows to show; 0: all.")] = 100,
) -> Output:
    """Run SQL on the warehouse, read-only. A statement cannot change it or read other files."""
    from slowwave.warehouse import query as run

    answer = run(_path(), sql, most=limit or None)

    def show() -> None:
        more = f"The first {limit:,} rows; --limit 0 shows all." if answer.more else ""
        print_table("", answer.columns, answer.rows, caption=more)
        if not answer.rows:
            out.print("No rows.")

    return Output([dict(zip(answer.columns, row, strict=True)) for row in answer.rows], show)


def _path() -> Path:
    from slowwave.warehouse import FILE

    return Path(required_settings().home) / FILE


def _columns(table: Described) -> list[dict[str, Any]]:
    return [{"name": name, "type": kind, "about": about} for name, kind, about in table.columns]


def _no_table(name: str) -> None:
    from slowwave.errors import NotFoundError

    raise NotFoundError(f"The warehouse has no table {name!r}. `slowwave warehouse tables` lists them.")
