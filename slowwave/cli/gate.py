"""The commands about the save gate: what it does, what it would do, and when it begins."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from slowwave.cli.app import Limit, Namespace, Reason, Who, Why, app, open_home, open_namespace
from slowwave.common.pluralize import counted
from slowwave.scoring.days import day_end
from slowwave.views.tables import print_table
from slowwave.views.terminal import Output, out, prints_output, say

gates = typer.Typer(no_args_is_help=True, help="The two gates: what may be saved, what may be learned.")
app.add_typer(gates, name="gate")


@gates.command("report")
@prints_output
def gate_report(
    days: Annotated[int, typer.Option(min=1, help="Days to count, today's with them.")] = 14,
    namespace: Namespace = "",
) -> Output:
    """Save gate: when it begins, what it refused, or would refuse if it did more than warn, by reason."""
    from dataclasses import asdict

    with open_namespace(namespace, known=True) as memory:
        done, told = memory.gate_report(days=days), memory.gate_notice()

    def show() -> None:
        say(told.words, "bold red" if told.loud else None)
        rows = [list(row) for row in done.reasons.iter_rows()]
        if not rows:
            out.print(
                f"{counted(done.notes, 'note')} since {done.first}, none with a fault. "
                f"Files count after a night.",
                markup=False,
            )
            return
        columns = ["reason", "notes", "refused", "would be", "share", "low", "high", "example"]
        caption = "share of all notes, with its 95 % interval; a note may have several reasons"
        became = f"{done.refused:,} refused, {done.would:,} would have been"
        title = f"{counted(done.notes, 'note')} since {done.first}: {became}"
        print_table(title, columns, rows, caption=caption)

    return Output(asdict(done) | {"reasons": done.reasons, "notice": told.words}, show)


@gates.command("would-refuse")
@prints_output
def gate_would_refuse(
    reason: Reason = "",
    days: Annotated[
        int | None, typer.Option(min=1, help="Only of so many days; default: since the gate was activated.")
    ] = None,
    limit: Limit = 50,
    namespace: Namespace = "",
) -> Output:
    """Save gate: the notes that entered while it only warned, and that it would have refused."""
    from slowwave.views.gate_text import words_of

    with open_namespace(namespace, known=True) as memory:
        rows = memory.would_refuse(days=days, reason=reason)

    def show() -> None:
        if rows.is_empty():
            out.print("Of the notes that were saved while the gate warned it would have refused none.")
            return
        cells = [
            [row["memory_id"], row["day"], row["title"] or row["source"], ", ".join(row["reasons"]),
             row["score"]]
            for row in rows.head(limit).iter_rows(named=True)
        ]  # fmt: skip
        columns = ["id", "day", "note", "why", "quality"]
        title, left = f"{counted(rows.height, 'note')} would have been refused", rows.height - len(cells)
        print_table(title, columns, cells, left_out=left, option="--limit")
        for name in sorted(set(rows["reasons"].explode())):
            say(f"{name}: {words_of(name).why}.", "dim")
        out.print(
            "[dim]slowwave get ID: the whole note.  They are in the memory and stay there; new ones like "
            "them will be kept out.[/]"
        )

    return Output(rows.head(limit), show)


@gates.command("postpone")
@prints_output
def gate_postpone(
    days: Annotated[
        float, typer.Option(help="From the day on which it would begin; from now, if it has begun.")
    ] = 14,
    who: Who = "command line",
    why: Why = "",
) -> Output:
    """Save gate: put off the day from which it refuses, also where it has begun; the journal keeps it."""
    from slowwave.home.gate_schedule_events import postpone

    return _begins(lambda space: postpone(space, days, who=who, why=why))


@gates.command("enforce")
@prints_output
def gate_enforce(
    who: Who = "command line",
    why: Why = "",
) -> Output:
    """Save gate: refuse from now on, before the fortnight is over; the journal keeps it."""
    from slowwave.home.gate_schedule_events import begin

    return _begins(lambda space: begin(space, who=who, why=why))


def _begins(act: Callable[[Any], datetime]) -> Output:
    """Say when the gate begins, after an act that changed it."""
    with open_home() as space:
        begins, now = act(space), space.now()
    told = f"The save gate only warns until [bold]{begins:%F %H:%M} UTC[/]; then it refuses."
    if begins <= now:
        told = (
            f"The save gate [bold]refuses[/] since {begins:%F %H:%M} UTC. "
            f"`slowwave gate postpone` puts it off."
        )
    return Output({"enforces_from": begins}, told)


@gates.command("docs")
@prints_output
def gate_docs(
    folder: Annotated[Path, typer.Argument(help="Folder to write the pages into.")],
    date: Annotated[str, typer.Option(help="Day (YYYY-MM-DD, UTC); default: the last one judged.")] = "",
) -> Output:
    """Save gate: write the batch contract of a night and what it found as web pages (Data Docs)."""
    from slowwave.common.slim_imports import CONTRACT, when_used
    from slowwave.errors import SlowwaveError
    from slowwave.lifecycle.gate_report import accepted_notes
    from slowwave.quality.contract import write_data_docs

    with open_home() as space:
        judged = space.store.read("gate_verdicts", columns=["day"])["day"]
        day = date or str(judged.max() or "")
        if judged.filter(judged == day).is_empty():
            raise SlowwaveError(
                f"No night has judged notes{f' of {date}' if date else ''}. Run `slowwave night`."
            )
        policy, notes = space.gate_policy, accepted_notes(space.store, [day])
    end = day_end(day)
    try:
        with when_used(*CONTRACT):
            page = write_data_docs(notes, folder, policy, enforced=policy.enforces_at(end))
    except ImportError as error:
        raise SlowwaveError(f"{error}. Run: pip install '.[night]' in its folder.") from None
    return Output({"day": day, "page": str(page)}, f"Contract of {escape(day)}: [bold]{escape(str(page))}[/]")
