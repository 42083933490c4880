"""The commands about learning: status, approve, withdraw, rollback, terms, proposals, log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from slowwave.cli.app import Json, Namespace, app, open_namespace
from slowwave.cli.gate import gates
from slowwave.views.terminal import bars, err, out, print_json, reports_errors

if TYPE_CHECKING:
    from rich.table import Table

    from slowwave.learning.review import TakenBack
    from slowwave.quality.learning_gate import GateDecision

learning = typer.Typer(
    no_args_is_help=True,
    help="What selections teach, behind a gate: look at it, approve it, take it back.",
)
app.add_typer(learning, name="learning")

Who = Annotated[str, typer.Option(help="Who decides: a person's name. It is recorded.")]
Why = Annotated[str, typer.Option(help="Why, in words. It is recorded.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Limit = Annotated[int, typer.Option("--limit", "-k", min=1, help="Rows to show.")]

_COLOURS = {"open": "green", "closed": "red", "insufficient": "yellow"}
_UNUSED = "nothing that was learned is used."
_USED = "nothing more is applied; what was applied before is used until it expires."


@gates.command("status")
@learning.command("status")
@reports_errors
def learning_status(namespace: Namespace = "", json: Json = False) -> None:
    """Learning gate: whether it is open, each condition of it, and what was learned."""
    with open_namespace(namespace) as memory:
        status = memory.learning.status()
    if json:
        print_json(_plain(status.gate) | {"terms": status.terms, "proposals": status.proposals})
        return
    _print_gate(status.gate)
    out.print("Terms: " + ", ".join(f"{count:,} {name}" for name, count in status.terms.items()))
    if status.proposals:
        told = ", ".join(f"{count:,} {name}" for name, count in status.proposals.items())
        out.print(f"Selections: {told}", highlight=False)
    if status.gate.awaits_only_approval:
        out.print("Only a person's approval is missing: [bold]slowwave learning approve --who NAME[/]")


@learning.command("approve")
@reports_errors
def learning_approve(
    who: Who, why: Why = "", yes: Yes = False, namespace: Namespace = "", json: Json = False
) -> None:
    """Approve, after a look at the evidence, that selections teach from today on. It can be withdrawn."""
    from slowwave.learning.review import RefusedError

    with open_namespace(namespace) as memory:
        decision = memory.learning.gate()
        if not json:
            _print_gate(decision)
        if not decision.awaits_only_approval and not decision.open:
            raise RefusedError(decision)
        if decision.open:
            if not json:
                out.print("It is approved already. Nothing was recorded.")
        elif not yes:
            _ask(f"Let selections teach {memory.namespace} from today on, approved by {who}?")
        act = memory.learning.approve(who=who, why=why)
    if json:
        print_json(_act(act))
    elif not decision.open:
        out.print(
            f"Approved by [bold]{_escape(who)}[/]. What selections teach from today on is applied, night by "
            f"night. [dim]slowwave learning withdraw stops it; rollback deletes it.[/]"
        )


@learning.command("withdraw")
@reports_errors
def learning_withdraw(who: Who, why: Why = "", namespace: Namespace = "", json: Json = False) -> None:
    """Withdraw the approval: nothing that was learned is used from now on. It is kept, not deleted."""
    with open_namespace(namespace) as memory:
        act = memory.learning.withdraw(who=who, why=why)
    if json:
        print_json(_act(act))
        return
    out.print(
        f"Withdrawn by [bold]{_escape(who)}[/]. Searches are from now on as if nothing had been learned. "
        f"[dim]slowwave learning rollback deletes it.[/]"
    )


@learning.command("rollback")
@reports_errors
def learning_rollback(
    who: Who = "",
    everything: Annotated[bool, typer.Option("--everything", help="All that was learned.")] = False,
    memory: Annotated[str, typer.Option(help="What this memory learned (id).")] = "",
    search: Annotated[str, typer.Option(help="What this search taught (id).")] = "",
    principal: Annotated[str, typer.Option(help="What this person or program taught.")] = "",
    since: Annotated[str, typer.Option(help="What was taught at this moment or later (ISO, UTC).")] = "",
    why: Why = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what it would take back.")] = False,
    yes: Yes = False,
    namespace: Namespace = "",
    json: Json = False,
) -> None:
    """Take back what was learned, as if it had never been taught. What is taught later stands."""
    scope, value = _scope(
        everything, {"memory": memory, "search": search, "principal": principal, "since": since}
    )
    with open_namespace(namespace) as home:
        tried = home.learning.would_take_back(scope, value)
        if not json:
            _print_taken_back(tried)
        if not dry_run:
            if not who.strip():
                _fail("Say who decides: --who NAME. It is recorded.")
            if not yes:
                _ask(f"Take it back in {home.namespace}?")
            with bars(quiet=json):
                tried = home.learning.roll_back(scope, value, who=who, why=why)
    if json:
        print_json({
            "dry_run": dry_run, "scope": tried.rollback.scope, "value": tried.rollback.value,
            "lessons": tried.proposed.to_dicts(), "deleted": tried.applied["trigger_id"].to_list(),
            "live_terms": tried.live, "act": None if tried.act is None else _act(tried.act),
        })  # fmt: skip
    elif dry_run:
        out.print("Nothing was changed. Without --dry-run it is done.")
    else:
        out.print(
            f"Taken back by [bold]{_escape(who)}[/]. Selections up to now that no night has looked at "
            f"yet are covered, too."
        )


@learning.command("terms")
@reports_errors
def learning_terms(
    state: Annotated[str, typer.Option(help="Only proposed, live, expired or 'taken back'.")] = "",
    memory: Annotated[str, typer.Option(help="Only of this memory (id), also of a secret one.")] = "",
    limit: Limit = 50,
    namespace: Namespace = "",
    json: Json = False,
) -> None:
    """The words that selections taught memories, and whether they have an effect."""
    with open_namespace(namespace) as home:
        rows = home.learning.terms(state=state, memory_id=memory)
    if json:
        print_json(rows.head(limit).to_dicts())
        return
    if rows.is_empty():
        out.print("No such terms." if state or memory else "No selection has taught anything yet.")
        return
    table = _table(f"Learned terms: {rows.height:,}", rows.height, limit)
    for name in ("term", "memory", "id", "state"):
        table.add_column(name, no_wrap=name in ("state", "id"), overflow="fold")
    for name in ("questions", "people", "weight", "until"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows.head(limit).iter_rows(named=True):
        table.add_row(
            _escape(row["term"]), _escape(row["title"] or ""), row["memory_id"], row["state"],
            f"{row['questions']:,}", f"{row['principals']:,}", f"{row['weight']:.2f}",
            f"{row['expires_at']:%F}",
        )  # fmt: skip
    out.print(table)


@learning.command("proposals")
@reports_errors
def learning_proposals(
    reason: Annotated[str, typer.Option(help="Only with this reason, for instance rate_limited.")] = "",
    limit: Limit = 20,
    namespace: Namespace = "",
    json: Json = False,
) -> None:
    """Selections, the newest first: what each could teach, and why most teach nothing."""
    with open_namespace(namespace) as home:
        rows = home.learning.proposals(reason=reason, limit=None)
    if json:
        print_json(rows.head(limit).to_dicts())
        return
    if rows.is_empty():
        out.print(
            f"No selection with the reason {_escape(reason)}." if reason else "No selection is known yet."
        )
        return
    table = _table(f"Selections: {rows.height:,}", rows.height, limit)
    for name in ("day", "reason", "rank", "who", "query", "selected", "teaches"):
        table.add_column(name, justify="right" if name == "rank" else "left",
                         no_wrap=name in ("day", "rank"), overflow="fold")  # fmt: skip
    for row in rows.head(limit).iter_rows(named=True):
        rank = "?" if row["rank"] is None else str(row["rank"])
        table.add_row(
            f"{row['selected_at']:%F}", row["reason"], rank, _escape(row["principal"] or ""),
            _escape(row["query"] or ""), _escape(row["title"] or row["memory_id"]),
            _escape(", ".join(row["taught"])),
        )  # fmt: skip
    out.print(table)


@learning.command("log")
@reports_errors
def learning_log(
    action: Annotated[
        str,
        typer.Option(help="Only add, refresh, expire, rollback, refuse, approve, withdraw or regression."),
    ] = "",
    limit: Limit = 20,
    namespace: Namespace = "",
    json: Json = False,
) -> None:
    """The audit log: everything that was learned, refused, taken back and decided, the newest first."""
    with open_namespace(namespace) as home:
        rows = home.learning.log(action=action, limit=None)
    if json:
        print_json(rows.head(limit).to_dicts())
        return
    if rows.is_empty():
        out.print("Nothing is in the log.")
        return
    table = _table(f"Log of learning: {rows.height:,}", rows.height, limit)
    for name in ("when (UTC)", "what", "why", "who", "memory", "term"):
        table.add_column(name, no_wrap=name in ("when (UTC)", "what"), overflow="fold")
    for row in rows.head(limit).iter_rows(named=True):
        why = row["reason"] or row["detail"]
        told = (row["action"], why, row["principal"], row["memory_id"], row["term"])
        table.add_row(f"{row['at']:%F %H:%M}", *(_escape(part or "") for part in told))
    out.print(table)


# -- parts -----------------------------------------------------------------------------------------


def _print_gate(decision: GateDecision) -> None:
    """The gate in a line, and its conditions as a table."""
    from rich.table import Table

    out.print(f"Learning in [bold]{_escape(decision.namespace)}[/] is {_says(decision)}", highlight=False)
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("condition", no_wrap=True)
    table.add_column("state", no_wrap=True)
    table.add_column("is", overflow="fold")
    table.add_column("needs", overflow="fold")
    for row in decision.rows:
        state = f"[{_COLOURS[row['state']]}]{row['state']}[/]"
        table.add_row(row["condition"], state, _escape(row["value"]), _escape(row["bound"]))
    out.print(table, highlight=False)


def _says(decision: GateDecision) -> str:
    if decision.open:
        return "[green]open[/]: what selections teach is applied, night by night."
    then = _USED if decision.used else _UNUSED
    if decision.awaits_only_approval:
        return f"[yellow]closed until a person approves[/]: {then}"
    if decision.state == "closed":
        return f"[red]closed[/]: {then}"
    return f"[yellow]closed until there is enough evidence[/]: {then}"


def _print_taken_back(tried: TakenBack) -> None:
    import polars as pl

    of = f"{tried.rollback.scope} {tried.rollback.value}".strip()
    rows = tried.proposed
    if rows.is_empty():
        out.print(f"Nothing that is known yet was taught by {_escape(of)}." if tried.rollback.value else
                  "Nothing is proposed or learned yet.", highlight=False)  # fmt: skip
        return
    out.print(
        f"{rows.height:,} lessons would be taken back ({_escape(of)}): {tried.applied.height:,} applied, "
        f"{rows.height - tried.applied.height:,} only proposed; {tried.live:,} terms lose their effect.",
        highlight=False,
    )
    by = rows.group_by("memory_id").agg(
        lessons=pl.len(), terms=pl.col("term").unique().sort(), who=pl.col("principal").unique().sort()
    )
    shown = 20
    table = _table("", by.height, shown)
    table.add_column("memory", no_wrap=True)
    table.add_column("lessons", justify="right")
    table.add_column("terms", overflow="fold")
    table.add_column("taught by", overflow="fold")
    top = by.sort("lessons", "memory_id", descending=[True, False]).head(shown)
    for memory, lessons, terms, who in top.iter_rows():
        table.add_row(memory, f"{lessons:,}", _escape(", ".join(terms)), _escape(", ".join(map(str, who))))
    out.print(table)


def _table(title: str, rows: int, limit: int) -> Table:
    """An empty table under its title, which says how many rows it leaves out."""
    from rich.table import Table

    if title:
        out.print(title, style="bold", highlight=False)
    more = f"and {rows - limit:,} more" + (" (--limit)" if title else "") if rows > limit else None
    return Table(caption=more, caption_justify="left", box=None, pad_edge=False, header_style="dim")


def _scope(everything: bool, given: dict[str, str]) -> tuple[Any, str]:
    """What is to be taken back: exactly one of the options."""
    named = {name: value for name, value in given.items() if value}
    if len(named) + everything != 1:
        _fail("Say what to take back, one of: --everything, --memory, --search, --principal, --since.")
    return ("everything", "") if everything else next(iter(named.items()))


def _ask(question: str) -> None:
    """End unless a person says yes; the question does not mix with what programs read."""
    if not typer.confirm(question, err=True):
        err.print("Nothing was changed.")
        raise typer.Exit(1)


def _fail(message: str) -> None:
    from slowwave.learning.acts import LearningError

    raise LearningError(message)


def _escape(text: str) -> str:
    from rich.markup import escape

    return escape(text)


def _plain(decision: GateDecision) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(decision) | {"state": decision.state, "open": decision.open}


def _act(act: Any) -> dict[str, Any]:  # noqa: ANN401 - Act, imported late
    from dataclasses import asdict

    return asdict(act)
