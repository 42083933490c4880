"""Save gate commands: report, preview, postpone, enforce, docs."""

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

gates = typer.Typer(no_args_is_help=True, help="Save gate (validation of notes) and learning gate.")
app.add_typer(gates, name="gate")


@gates.command("report")
@prints_output
def gate_report(
    days: Annotated[int, typer.Option(min=1, help="Number of days, including today.")] = 14,
    namespace: Namespace = "",
) -> Output:
    """Save gate: report refused notes by reason, and when enforcement starts."""
    from dataclasses import asdict

    with open_namespace(namespace, known=True) as memory:
        done, notice = memory.gate_report(days=days), memory.gate_notice()

    def show() -> None:
        say(notice.words, "bold red" if notice.loud else None)
        rows = [list(row) for row in done.reasons.iter_rows()]
        if not rows:
            out.print(
                f"{counted(done.notes, 'note')} since {done.first}, none with a problem. "
                f"Files count after a nightly job.",
                markup=False,
            )
            return
        columns = ["reason", "notes", "refused", "would be", "share", "low", "high", "example"]
        caption = "share of all notes, with its 95 % interval; a note may have several reasons"
        outcome = f"{done.refused:,} refused, {done.would:,} would be"
        title = f"{counted(done.notes, 'note')} since {done.first}: {outcome}"
        print_table(title, columns, rows, caption=caption)

    return Output(asdict(done) | {"reasons": done.reasons, "notice": notice.words}, show)


@gates.command("would-refuse", hidden=True, deprecated=True)
@gates.command("preview")
@prints_output
def gate_preview(
    reason: Reason = "",
    days: Annotated[
        int | None, typer.Option(min=1, help="Number of days; default: since the gate was activated.")
    ] = None,
    limit: Limit = 50,
    namespace: Namespace = "",
) -> Output:
    """Save gate: list notes accepted with a warning that enforcement would refuse."""
    from slowwave.views.gate_text import words_of

    with open_namespace(namespace, known=True) as memory:
        rows = memory.gate_preview(days=days, reason=reason)

    def show() -> None:
        if rows.is_empty():
            out.print("The gate would have refused none of the notes saved while it warned.")
            return
        cells = [
            [row["memory_id"][:8], row["day"], row["title"] or row["source"], ", ".join(row["reasons"])]
            for row in rows.head(limit).iter_rows(named=True)
        ]  # fmt: skip
        columns = ["id", "day", "note", "reasons"]
        title, hidden_rows = (
            f"{counted(rows.height, 'note')} would have been refused",
            rows.height - len(cells),
        )
        print_table(title, columns, cells, left_out=hidden_rows, option="--limit")
        for name in sorted(set(rows["reasons"].explode())):
            say(f"{name}: {words_of(name).why}.", "dim")
        out.print(
            "[dim]slowwave get ID: the whole note.  They stay searchable; new notes like "
            "them will be refused.[/]"
        )

    return Output(rows.head(limit), show)


@gates.command("postpone")
@prints_output
def gate_postpone(
    days: Annotated[
        float, typer.Option(help="Days to add to the scheduled start; if it enforces already, days from now.")
    ] = 14,
    who: Who = "command line",
    why: Why = "",
) -> Output:
    """Save gate: postpone enforcement, also if it has started. Recorded in the journal."""
    from slowwave.home.gate_schedule_events import postpone

    return _show_schedule(lambda space: postpone(space, days, who=who, why=why))


@gates.command("enforce")
@prints_output
def gate_enforce(
    who: Who = "command line",
    why: Why = "",
) -> Output:
    """Save gate: start enforcement now. Recorded in the journal."""
    from slowwave.home.gate_schedule_events import begin

    return _show_schedule(lambda space: begin(space, who=who, why=why))


def _show_schedule(change: Callable[[Any], datetime]) -> Output:
    """Change the schedule, and report when enforcement starts."""
    with open_home() as space:
        begins, now = change(space), space.now()
    message = f"The save gate only warns until [bold]{begins:%F %H:%M} UTC[/]; then it refuses."
    if begins <= now:
        message = (
            f"The save gate [bold]refuses[/] notes since {begins:%F %H:%M} UTC. "
            f"`slowwave gate postpone` postpones it."
        )
    return Output({"enforces_from": begins}, message)


@gates.command("trust")
@prints_output
def gate_trust(
    source: Annotated[
        str, typer.Argument(help="vault:NAME or user:NAME. Empty: list the trusted sources.")
    ] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Also a source that no note is from yet.")] = False,
    who: Who = "command line",
    why: Why = "",
    namespace: Namespace = "",
) -> Output:
    """Save gate: always let in a source's notes, with their reasons. Recorded in the journal."""
    from dataclasses import asdict, replace

    from slowwave.lifecycle.trusted_sources import require_known, trust, trusted_sources

    with open_namespace(namespace) as memory:
        tenant = replace(memory.tenant, principal=who)
        if source and not yes:
            require_known(tenant, source)
        new = bool(source) and trust(tenant, source, why=why)
        rules = trusted_sources(tenant)
    if source:
        message = f"Let in from now on: {escape(source)}. `slowwave gate untrust` ends it."
        return Output(
            {"source": source, "new": new}, message if new else f"Trusted already: {escape(source)}."
        )
    if not rules:
        return Output([], "No source is trusted: the save gate judges the notes of all.")
    rows = [[rule.source, rule.since, rule.by, rule.why] for rule in rules]
    return Output(
        [asdict(rule) for rule in rules],
        lambda: print_table("Always let in", ["source", "since", "by", "why"], rows),
    )


@gates.command("untrust")
@prints_output
def gate_untrust(
    source: Annotated[str, typer.Argument(help="vault:NAME or user:NAME.")],
    who: Who = "command line",
    why: Why = "",
    namespace: Namespace = "",
) -> Output:
    """Save gate: judge a trusted source's notes again. Recorded in the journal."""
    from dataclasses import replace

    from slowwave.lifecycle.trusted_sources import untrust

    with open_namespace(namespace) as memory:
        new = untrust(replace(memory.tenant, principal=who), source, why=why)
    message = f"Judged again from now on: {escape(source)}."
    return Output({"source": source, "new": new}, message if new else "No such rule; nothing changed.")


@gates.command("docs")
@prints_output
def gate_docs(
    folder: Annotated[Path, typer.Argument(help="Folder to write the pages into.")],
    date: Annotated[str, typer.Option(help="Day (YYYY-MM-DD, UTC); default: the last validated day.")] = "",
) -> Output:
    """Save gate: write a day's batch contract and results as web pages (Data Docs)."""
    from slowwave.common.slim_imports import CONTRACT, when_used
    from slowwave.errors import SlowwaveError
    from slowwave.lifecycle.gate_report import accepted_notes
    from slowwave.quality.contract import write_data_docs

    with open_home() as space:
        judged = space.store.read("gate_verdicts", columns=["day"])["day"]
        day = date or str(judged.max() or "")
        if judged.filter(judged == day).is_empty():
            raise SlowwaveError(
                f"No nightly job has validated notes{f' of {date}' if date else ''}. Run `slowwave night`."
            )
        policy, notes = space.gate_policy, accepted_notes(space.store, [day])
    end = day_end(day)
    try:
        with when_used(*CONTRACT):
            page = write_data_docs(notes, folder, policy, enforced=policy.enforces_at(end))
    except ImportError as error:
        raise SlowwaveError(f"{error}. Run: pip install '.[night]' in its folder.") from None
    return Output({"day": day, "page": str(page)}, f"Contract of {escape(day)}: [bold]{escape(str(page))}[/]")
