"""The command `erase`. Assistants have no tool for it."""

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
        bool, typer.Option("--everything", help="Everything of the namespace; vault files stay.")
    ] = False,
    why: Annotated[str, typer.Option(help="Reason, kept in the record; do not repeat erased text.")] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Skip the confirmation.")] = False,
    finish: Annotated[bool, typer.Option("--finish", help="Finish an interrupted erasure.")] = False,
    listed: Annotated[bool, typer.Option("--list", help="List the records of erasures.")] = False,
    namespace: Namespace = "",
) -> Output:
    """Erase memories irreversibly: text, learned data and all earlier table versions.

    It shows a plan and asks for confirmation. With --json and without --yes it only shows the plan. `slowwave
    forget` only hides a memory from searches.
    """
    if listed or finish:
        return _records(finish=finish, namespace=namespace)
    with open_namespace(namespace) as memory:
        named = [reference(memory, "memory", memory_id) for memory_id in memory_ids or ()]
        planned = memory.plan_erasure(*named, source=source, everything=everything)
        if is_data() and not yes:
            return Output(planned.to_dict())
        tell(Output(shown=lambda: _show(planned)))
        if not yes:
            _ask(planned)
        with bars():
            done = memory.execute_erasure(planned, why=why)

    def show() -> None:
        out.print(f"Erased. The record is [bold]{escape(done.erasure)}[/] (slowwave erase --list).")
        _warn_remains(done)

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
    """Ask for confirmation; scripts have to pass --yes.

    Raises:
        ErasureError: there is no terminal to ask on.
        typer.Abort: the answer is no.
    """
    from slowwave.maintenance.erasure import ErasureError

    if not can_be_asked():
        raise ErasureError(
            "Nothing was erased: there is no terminal to ask on. Pass --yes, or see the plan with --json."
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
        erasures, now = running.finish(space) if finish else running.records(space, namespace), space.now()

    def show() -> None:
        if finish:
            done = (
                f"Finished {counted(len(erasures), 'erasure')}." if erasures else "Every erasure is finished."
            )
            out.print(done)
            for erasure in erasures:
                _warn_remains(erasure)
            return
        cells = [
            [
                erasure.erasure, since(erasure.at, now), erasure.principal, erasure.namespace, erasure.scope,
                len(erasure.memories), erasure.why, "finished" if erasure.finished else "not finished",
            ]
            for erasure in erasures
        ]  # fmt: skip
        columns = ["record", "when", "user", "namespace", "scope", "memories", "reason", "state"]
        print_table("Erasures", columns, cells)

    return Output(erasures, show if erasures or finish else "Nothing was erased.")


def _warn_remains(done: Erased) -> None:
    for sentence in done.remains:
        warn(sentence)
