"""The command that takes memories away for good. There is no tool of an assistant that does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from slowwave.cli.app import Namespace, app, open_home, open_namespace, reference
from slowwave.common.pluralize import counted
from slowwave.views import erasing
from slowwave.views.moments import since
from slowwave.views.section import Table
from slowwave.views.tables import print_boxed, print_table
from slowwave.views.terminal import Output, bars, can_be_asked, is_data, out, prints_output, tell, warn

if TYPE_CHECKING:
    from slowwave.maintenance.erasure import Erased, Plan

_SHOWN = 20


@app.command()
@prints_output
def erase(
    memory_ids: Annotated[list[str] | None, typer.Argument(help="Ids, from save or search.")] = None,
    source: Annotated[str, typer.Option(help="All whose source (vault path or key) begins with this.")] = "",
    everything: Annotated[
        bool, typer.Option("--everything", help="All that the namespace has; files of its vaults stay.")
    ] = False,
    why: Annotated[str, typer.Option(help="Kept with the record; do not repeat what is erased.")] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    finish: Annotated[bool, typer.Option("--finish", help="Go on with what was interrupted.")] = False,
    listed: Annotated[bool, typer.Option("--list", help="Show the records of what was erased.")] = False,
    namespace: Namespace = "",
) -> Output:
    """Take memories away for good: their text, what they taught, and every old state of the tables.

    It shows what goes and asks. With --json and without --yes it only shows. `slowwave forget` takes a memory
    out of searches and keeps its history.
    """
    if listed or finish:
        return _records(finish=finish, namespace=namespace)
    with open_namespace(namespace) as memory:
        named = [reference(memory, "memory", one) for one in memory_ids or ()]
        planned = memory.to_erase(*named, source=source, everything=everything)
        if is_data() and not yes:
            return Output(planned.to_dict())
        tell(Output(shown=lambda: _show(planned)))
        if not yes:
            _ask(planned)
        with bars():
            done = memory.erase_planned(planned, why=why)

    def show() -> None:
        out.print(f"Erased. The record is [bold]{escape(done.erasure)}[/] (slowwave erase --list).")
        _told(done)

    return Output(planned.to_dict() | {"erased": done}, show)


def _show(planned: Plan) -> None:
    for section in erasing.goes(planned, _SHOWN):
        for table in section.parts:
            assert isinstance(table, Table)
            print_boxed(section.title, table)
    for line in erasing.beside(planned, _SHOWN):
        out.print(line, markup=False, highlight=False, soft_wrap=True)
    out.print(erasing.ELSEWHERE, style="dim")


def _ask(planned: Plan) -> None:
    """Ask a person; a script has to say --yes.

    Raises:
        ErasureError: nobody can be asked.
        typer.Abort: the answer is no.
    """
    from slowwave.maintenance.erasure import ErasureError

    if not can_be_asked():
        raise ErasureError(
            "Nothing was erased: there is no terminal to ask on. Say --yes, or look with --json."
        )
    if planned.scope == "namespace":
        answer = typer.prompt(f"{erasing.NO_WAY_BACK} Type the namespace ({planned.namespace}) to erase it")
        if answer != planned.namespace:
            raise typer.Abort
        return
    typer.confirm(f"{erasing.NO_WAY_BACK} Erase?", abort=True)


def _records(*, finish: bool, namespace: str) -> Output:
    from slowwave.maintenance.erasure import running

    with open_home() as space, bars():
        found, now = running.finish(space) if finish else running.records(space, namespace), space.now()

    def show() -> None:
        if finish:
            done = f"Finished {counted(len(found), 'erasure')}." if found else "Every erasure is finished."
            out.print(done)
            for one in found:
                _told(one)
            return
        cells = [
            [
                one.erasure, since(one.at, now), one.principal, one.namespace, one.scope, len(one.memories),
                one.why, "finished" if one.finished else "not finished",
            ]
            for one in found
        ]  # fmt: skip
        columns = ["record", "when", "who", "namespace", "what", "memories", "why", "state"]
        print_table("What was erased", columns, cells)

    return Output(found, show if found or finish else "Nothing was erased.")


def _told(done: Erased) -> None:
    for sentence in done.remains:
        warn(sentence)
