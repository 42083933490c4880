"""Curation commands: decisions, history, undo, unforget, reconsolidate, calibrate."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from slowwave.cli.app import Limit, MemoryId, Namespace, app, open_home, open_namespace, reference, settle
from slowwave.common.pluralize import counted
from slowwave.views.moments import since
from slowwave.views.section import Table
from slowwave.views.tables import print_boxed, print_table
from slowwave.views.terminal import Output, bars, err, fail, out, prints_output, say, until_printed

if TYPE_CHECKING:
    from slowwave.lifecycle.reconsolidate import Reconsolidated
    from slowwave.memory import Memory

_SHOWN = 40


@app.command()
@prints_output
def decisions(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ID|accept ID|decline ID",
            help="Id of a decision or of a memory; or accept / decline and ids of waiting decisions.",
        ),
    ] = None,
    waiting: Annotated[bool, typer.Option("--waiting", help="Only decisions that wait.")] = False,
    outcome: Annotated[
        str,
        typer.Option(help="duplicate, merge, supersede, related, complement or any; default: changes only."),
    ] = "",
    limit: Annotated[int, typer.Option("--limit", "-k", min=1, help="Decisions to show.")] = 20,
    namespace: Namespace = "",
) -> Output:
    """List decisions, newest first: merged, superseded and refused as duplicate.

    Related and complement decisions are listed with --outcome or for a named memory. `decisions accept ID`
    carries out a waiting merge or superseding; `decisions decline ID` leaves both memories unchanged and does
    not ask again.
    """
    first, *more = words or [""]
    if first in _WORDS:
        return _settle(first, more, namespace)
    if more:
        fail("Give one decision or memory id, or accept / decline and decision ids.", code=2)
    memory = until_printed(open_namespace(namespace, known=True))
    kind, first = _decision_or_memory(memory, first)
    if kind == "decision":
        from slowwave.lifecycle.decisions import get_decision

        row = get_decision(memory.home, memory.namespace, first)
        return Output([row], lambda: _print_decision(row, memory.home.now()))
    outcome_filter = outcome if first or waiting else outcome or "changed"
    rows = memory.decisions(memory_id=first, outcome=outcome_filter, waiting=waiting, limit=limit)
    if waiting:
        return Output(rows, lambda: _print_waiting(memory, rows))
    return Output(rows, lambda: _print_log(memory, rows, outcome, first, limit))


def _decision_or_memory(memory: Memory, text: str) -> tuple[str | None, str]:
    from slowwave.home.id_resolution import resolve_either

    return resolve_either(memory.tenant, ("decision", "memory"), text) if text else (None, "")


def _print_log(memory: Memory, rows: list[dict[str, Any]], outcome: str, named: str, limit: int) -> None:
    """Print the decision log, and the counts of decisions that it leaves out."""
    from slowwave.lifecycle.decisions import count_related
    from slowwave.lifecycle.pending_decisions import waiting

    if rows:
        print_decisions(memory, "Decisions", rows)
        out.print("[dim]… slowwave decisions ID shows one in full; slowwave undo ID undoes it.[/]")
        if len(rows) == limit:
            out.print(f"[dim]The newest {limit:,}; --limit shows more.[/]", highlight=False)
    else:
        out.print(
            "No decisions of this kind yet. Duplicates are logged while the gate is on; merges and "
            "superseding once reconsolidation is on ([bold]reconsolidation.policy[/])."
        )
    if outcome or named:
        return
    if wait := waiting(memory.store, memory.namespace).height:
        verb = "waits" if wait == 1 else "wait"
        out.print(
            f"{wait:,} {verb} for your decision: [bold]slowwave decisions --waiting[/]", highlight=False
        )
    if related := count_related(memory.store, memory.namespace) - wait:
        count_text = counted(related, "note is", "notes are")
        out.print(
            f"[dim]{count_text} only related to another memory: slowwave decisions --outcome related[/]",
            highlight=False,
        )


def _print_decision(row: dict[str, Any], now: datetime) -> None:
    """Print one decision in full."""
    from slowwave.views.decisions import whole
    from slowwave.views.tables import print_card

    print_card(whole(row, now=now))
    if row["outcome"] != "complement" and row["undone_at"] is None:
        out.print("[dim]slowwave undo ID undoes it.[/]")


_WORDS = ("accept", "decline")


def _settle(word: str, decision_ids: list[str], namespace: str) -> Output:
    if not decision_ids:
        fail(f"Missing ID. slowwave decisions --waiting lists the ids to {word}.", code=2)

    def line(row: dict[str, Any]) -> str:
        pair = f"{row['memory_id']} and {row['other_memory']}"
        if word == "accept":
            return f"Done: {row['outcome']} of {pair}. Undo: slowwave undo {row['decision_id']}"
        return f"Declined: {pair} stay unchanged, and you are not asked again."

    return settle(
        "decision", decision_ids, namespace,
        lambda memory, names: [getattr(memory, word)(name) for name in names], line,
    )  # fmt: skip


def _print_waiting(memory: Memory, rows: list[dict[str, Any]]) -> None:
    if not rows:
        out.print(
            "No decision waits for a person. Decisions wait if reconsolidation is on and a note that is "
            "critical, or a source of truth, is nearly the same as another."
        )
        return
    from slowwave.home.id_resolution import short_ids

    short = short_ids(memory.tenant, "decision", [row["decision_id"] for row in rows])
    for row in rows:
        similarity = "" if row["similarity"] is None else f"  (cosine {row['similarity']:.3f})"
        say(short[row["decision_id"]], "bold")
        for name, title in (("note", "title"), ("other", "other_title")):
            memory_id = row["memory_id"] if name == "note" else row["other_memory"]
            say(f"  {name}: {row[title] or ''}  [{memory_id}]")
        say(f"  {row['proposed']}?{similarity}  {row['evidence'] or ''}")
        say(f"  accept:  {row['accept']}")
        say(f"  decline: {row['decline']}")
    out.print("[dim]slowwave decisions accept ID, or decline ID.[/]")


def print_decisions(memory: Memory, title: str, rows: list[dict[str, Any]]) -> None:
    """Print decisions, two or three lines each."""
    from rich.text import Text

    from slowwave.home.id_resolution import short_ids
    from slowwave.views.decisions import describe_decision

    names = [row["decision_id"] for row in rows if row.get("decision_id")]
    short, now = short_ids(memory.tenant, "decision", names), memory.home.now()
    say(title, "bold")
    for row in rows:
        described = describe_decision(
            row, short.get(row.get("decision_id") or "", ""), now=now, width=out.width
        )
        out.print(
            Text.assemble((described.name, "bold cyan"), "  " if described.name else "", described.head)
        )
        for line in described.lines:
            say(line, "dim" if line is not described.lines[0] else None)


@app.command()
@prints_output
def history(
    memory_id: MemoryId,
    namespace: Namespace = "",
) -> Output:
    """Show all events of a memory, oldest first."""
    with open_namespace(namespace) as memory:
        memory_id = reference(memory, "memory", memory_id)
        events, now = memory.history(memory_id), memory.home.now()

    def show() -> None:
        cells = []
        for event in events:
            text = " ".join(str(event["text"]).split())
            short = text if len(text) <= _SHOWN else text[:_SHOWN] + " …"
            parts = [event["details"], f"other: {event['other']}" if event["other"] else "", short]
            cells.append(
                [since(event["at"], now), event["event"], event["by"], " · ".join(filter(None, parts))]
            )
        print_table(f"History of {memory_id}", ["when", "event", "user", "details"], cells)

    return Output(events, show)


@app.command()
@prints_output
def undo(
    decision_id: Annotated[str, typer.Argument(help="Id, from decisions.")],
    namespace: Namespace = "",
) -> Output:
    """Undo a decision: restore both memories to their state before it."""
    with open_namespace(namespace) as memory:
        row = memory.undo(reference(memory, "decision", decision_id))
    return Output(
        row,
        f"Undone: {escape(row['outcome'])} of [bold]{escape(row['memory_id'])}[/] and "
        f"[bold]{escape(row['other_memory'])}[/]. They are not merged or superseded by each other again.",
    )


@app.command("remember", hidden=True, deprecated=True)
@app.command("unforget")
@prints_output
def unforget(
    memory_id: Annotated[str, typer.Argument(help="Id of a forgotten memory.")],
    namespace: Namespace = "",
) -> Output:
    """Unforget a memory: searches return it again."""
    with open_namespace(namespace) as memory:
        memory_id = reference(memory, "memory", memory_id)
        done = memory.unforget(memory_id)

    status = "Unforgotten" if done else "Not forgotten; nothing changed"
    return Output({"memory_id": memory_id, "new": done}, f"{status}: [bold]{escape(memory_id)}[/]")


@app.command()
@prints_output
def reconsolidate(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show the decisions.")] = False,
    policy: Annotated[str, typer.Option(help="guarded or literal; default: the setting.")] = "",
    limit: Limit = 50,
    namespace: Namespace = "",
) -> Output:
    """Decide again about all live memories, in order, as if each were saved now."""
    from slowwave.lifecycle.reconsolidate import reconsolidate as run

    memory = until_printed(open_namespace(namespace))
    with bars():
        done = run(memory.tenant, policy=policy, dry_run=dry_run)
    rows = [row for row in done.decisions if row["outcome"] != "complement"]
    return Output(
        {"policy": done.policy, "dry_run": dry_run, "counts": done.counts, "decisions": rows},
        lambda: _print_reconsolidated(memory, done, rows, limit, dry_run=dry_run),
    )


def _print_reconsolidated(
    memory: Memory, done: Reconsolidated, rows: list[dict[str, Any]], limit: int, *, dry_run: bool
) -> None:
    counts = ", ".join(f"{name} {count:,}" for name, count in done.counts.items())

    title = f"{counted(done.memories, 'memory', 'memories')} under {done.policy}: {counts or 'nothing to do'}"
    if rows:
        print_decisions(memory, title, rows[:limit])
    else:
        out.print(title, markup=False)
    if len(rows) > limit:
        out.print(f"[dim]and {len(rows) - limit:,} more (--limit)[/]")
    if dry_run:
        out.print("Nothing was changed. Without --dry-run it is applied, after a checkpoint.")


@app.command()
@prints_output
def calibrate(
    pairs: Annotated[list[Path], typer.Option(help="TSV of labelled pairs: a, b, label or score_0_5.")],
    duplicate: Annotated[float | None, typer.Option(min=0, max=1, help="Error rate of duplicates.")] = None,
    merge: Annotated[float | None, typer.Option(min=0, max=1, help="Error rate of merges.")] = None,
    conflict: Annotated[float | None, typer.Option(min=0, max=1, help="Error rate of conflicts.")] = None,
    recall: Annotated[float | None, typer.Option(min=0, max=1, help="Error rate of sparse recall.")] = None,
) -> Output:
    """Fit the similarity thresholds of the embedding model to labelled pairs, and store them."""
    from dataclasses import asdict, replace
    from datetime import UTC, datetime

    from slowwave.lifecycle.calibration import calibrate as run
    from slowwave.quality.calibration import ErrorTargets

    error_rates = {"duplicate": duplicate, "merge": merge, "conflict": conflict, "recall": recall}
    targets = replace(
        ErrorTargets(), **{name: rate for name, rate in error_rates.items() if rate is not None}
    )
    with open_home() as space, bars():
        done = run(space, pairs, targets, datetime.now(UTC))

    def show() -> None:
        title = f"Thresholds of {done.model} from {counted(done.pairs, 'pair')}"
        print_boxed(title, Table(done.table.columns, done.table.rows()))
        err.print("They apply from now on; the settings of the group [bold]reconsolidation[/] override them.")

    return Output(
        {"model": done.model, "pairs": done.pairs, **asdict(done.fitted), "table": done.table}, show
    )
