"""Commands of the quarantine: list, show, release, discard and restore refused notes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from slowwave.cli.app import Limit, Namespace, Reason, app, open_namespace, reference, settle
from slowwave.common.pluralize import counted
from slowwave.views.moments import since
from slowwave.views.tables import print_table
from slowwave.views.terminal import Output, out, prints_output, say

if TYPE_CHECKING:
    from slowwave.home.tenant import Saved
    from slowwave.memory import Memory

quarantines = typer.Typer(no_args_is_help=True, help="List, show, release and discard refused notes.")
app.add_typer(quarantines, name="quarantine")


@quarantines.command("list")
@prints_output
def quarantine_list(
    reason: Reason = "",
    everything: Annotated[bool, typer.Option("--all", help="Include settled and discarded notes.")] = False,
    limit: Limit = 50,
    namespace: Namespace = "",
) -> Output:
    """List refused notes, newest first, with every reason."""
    from slowwave.home.id_resolution import short_ids
    from slowwave.lifecycle.quarantine import file_of, label_of

    with open_namespace(namespace, known=True) as memory:
        rows = memory.quarantine(status="" if everything else "held", reason=reason)
        short = short_ids(memory.tenant, "quarantine", [row["memory_id"] for row in rows[:limit]])
    if not rows and reason:
        none = f"No note in quarantine has the reason {reason!r}."
        return Output([], f"{none} `slowwave quarantine list --all` shows the reasons.")
    if not rows:
        return Output([], "The quarantine is empty. The save gate puts refused notes there.")

    def show() -> None:
        cells = [
            [
                short[row["memory_id"]], label_of(row), file_of(row), ", ".join(row["reasons"]),
                row["score"], *([row["status"]] if everything else []),
            ]
            for row in rows[:limit]
        ]  # fmt: skip
        columns = ["id", "note", "file or key", "reasons", "score", *(["status"] if everything else [])]
        title, hidden_rows = f"Quarantine: {counted(len(rows), 'note')}", len(rows) - len(cells)
        print_table(title, columns, cells, left_out=hidden_rows, option="--limit")
        out.print("[dim]slowwave quarantine show ID: the whole note.  release ID: accept it.[/]")
        out.print("[dim]slowwave quarantine discard ID, or discard --reason REASON: list it no more.[/]")

    return Output(rows[:limit], show)


@quarantines.command("show")
@prints_output
def quarantine_show(
    quarantine_id: Annotated[str, typer.Argument(help="Id, from quarantine list.")],
    namespace: Namespace = "",
) -> Output:
    """Show one refused note in full, with its scores."""
    import orjson

    from slowwave.lifecycle.quarantine import held
    from slowwave.quality.content import STATEMENT, WEIGHTS
    from slowwave.views import gate_text

    with open_namespace(namespace) as memory:
        quarantine_id = reference(memory, "quarantine", quarantine_id)
        row, now = held(memory.store, memory.namespace, quarantine_id), memory.home.now()
    parts = orjson.loads(row["parts"] or "{}")

    def show() -> None:
        say(row["title"] or row["source"], "bold")
        size = counted(row["size_bytes"] or 0, "byte")
        facts = [row["source"], row["status"], size, since(row["occurred_at"], now)]
        say(" · ".join(facts), "dim")
        for line in gate_text.reason_lines(row["reasons"]):
            say(f"Refused: {line}", "red")
        if row["details"]:
            say(row["details"])
        if row["duplicate_of"]:
            say(f"Duplicate of: {row['duplicate_of']}")
        if STATEMENT in parts:
            cells = [[name, "does not apply" if value is None else value] for name, value in parts.items()]
            print_table(f"Content score {row['score']:.2f}", ["part", "score"], cells)
        elif parts:
            cells = [[name, WEIGHTS[name], value, WEIGHTS[name] * value] for name, value in parts.items()]
            print_table(f"Content score {row['score']:.2f}", ["part", "weight", "score", "adds"], cells)
        say(row["content"] or "")

    return Output(row | {"parts": parts}, show)


@quarantines.command("release")
@prints_output
def quarantine_release(
    quarantine_ids: Annotated[list[str], typer.Argument(help="Ids, from quarantine list.")],
    namespace: Namespace = "",
) -> Output:
    """Release refused notes unchanged. The journal records who did it."""
    from slowwave.lifecycle.quarantine import held, labels_in_reports

    labels: dict[str, str] = {}

    def release(memory: Memory, names: list[str]) -> list[Saved]:
        rows = [held(memory.store, memory.namespace, name) for name in names]
        memory_ids = [row["memory_id"] for row in rows]
        labels.update(zip(memory_ids, labels_in_reports(memory.tenant.space, rows), strict=True))
        return [memory.release(name) for name in names]

    def line(saved: Saved) -> str:
        return f"Released: {labels[saved.memory_id]}  [{saved.memory_id}]: {saved.status}"

    return settle("quarantine", quarantine_ids, namespace, release, line)


@quarantines.command("discard")
@prints_output
def quarantine_discard(
    quarantine_ids: Annotated[list[str] | None, typer.Argument(help="Ids, from quarantine list.")] = None,
    reason: Annotated[str, typer.Option(help="Instead: all that were refused for this reason.")] = "",
    namespace: Namespace = "",
) -> Output:
    """Discard refused notes: they are listed and counted no more. `quarantine restore` undoes it."""
    return settle(
        "quarantine", quarantine_ids or (), namespace,
        lambda memory, names: memory.discard(*names, reason=reason), _line,
        title="Discarded", undo="slowwave quarantine restore",
    )  # fmt: skip


@quarantines.command("restore")
@prints_output
def quarantine_restore(
    quarantine_ids: Annotated[
        list[str] | None, typer.Argument(help="Ids, from quarantine list --all.")
    ] = None,
    reason: Annotated[str, typer.Option(help="Instead, all that were refused for this reason.")] = "",
    namespace: Namespace = "",
) -> Output:
    """Undo the discard of refused notes: they are in quarantine again."""
    return settle(
        "quarantine", quarantine_ids or (), namespace,
        lambda memory, names: memory.restore_discarded(*names, reason=reason), _line,
        title="In quarantine again",
    )  # fmt: skip


def _line(row: dict[str, Any]) -> str:
    return f"  {row['label']}  [{row['memory_id']}]"
