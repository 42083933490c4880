"""The commands about learning: status, approve, withdraw, rollback, terms, proposals, log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from rich.markup import escape

from slowwave.cli.app import Json, Namespace, app, open_namespace
from slowwave.cli.gate import gates
from slowwave.views.section import Column, Columns, Mark, Section, Table, numbers
from slowwave.views.tables import rich_table, show
from slowwave.views.terminal import bars, err, out, print_json, reports_errors

if TYPE_CHECKING:
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

_SHOWN = 20  # memories whose lessons are taken back
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
        print_json(_decided(status.gate) | {"terms": status.terms, "proposals": status.proposals})
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
        print_json(act)
    elif not decision.open:
        out.print(
            f"Approved by [bold]{escape(who)}[/]. What selections teach from today on is applied, night by "
            f"night. [dim]slowwave learning withdraw stops it; rollback deletes it.[/]"
        )


@learning.command("withdraw")
@reports_errors
def learning_withdraw(who: Who, why: Why = "", namespace: Namespace = "", json: Json = False) -> None:
    """Withdraw the approval: nothing that was learned is used from now on. It is kept, not deleted."""
    with open_namespace(namespace) as memory:
        act = memory.learning.withdraw(who=who, why=why)
    if json:
        print_json(act)
        return
    out.print(
        f"Withdrawn by [bold]{escape(who)}[/]. Searches are from now on as if nothing had been learned. "
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
            "lessons": tried.proposed, "deleted": tried.applied["trigger_id"].to_list(),
            "live_terms": tried.live, "act": tried.act,
        })  # fmt: skip
    elif dry_run:
        out.print("Nothing was changed. Without --dry-run it is done.")
    else:
        out.print(
            f"Taken back by [bold]{escape(who)}[/]. Selections up to now that no night has looked at "
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
        rows = home.learning.terms(state=cast("Any", state), memory_id=memory)
    if json:
        print_json(rows.head(limit))
        return
    if rows.is_empty():
        out.print("No such terms." if state or memory else "No selection has taught anything yet.")
        return
    counts = numbers("questions", "people", "weight", "until")
    columns: Columns = ["term", "memory", Column("id", whole=True), Column("state", whole=True), *counts]
    cells = [
        [row["term"], row["title"], row["memory_id"], row["state"], row["questions"], row["principals"],
         f"{row['weight']:.2f}", f"{row['expires_at']:%F}"]
        for row in rows.head(limit).iter_rows(named=True)
    ]  # fmt: skip
    _show("Learned terms", columns, cells, rows.height)


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
        print_json(rows.head(limit))
        return
    if rows.is_empty():
        out.print(
            f"No selection with the reason {escape(reason)}." if reason else "No selection is known yet."
        )
        return
    cells = [
        [f"{row['selected_at']:%F}", row["reason"], "?" if row["rank"] is None else str(row["rank"]),
         row["principal"], row["query"], row["title"] or row["memory_id"], row["taught"]]
        for row in rows.head(limit).iter_rows(named=True)
    ]  # fmt: skip
    columns: Columns = [
        Column("day", whole=True), "reason", Column("rank", "number"), "who", "query", "selected", "teaches",
    ]  # fmt: skip
    _show("Selections", columns, cells, rows.height)


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
        print_json(rows.head(limit))
        return
    if rows.is_empty():
        out.print("Nothing is in the log.")
        return
    columns: Columns = [
        Column("when (UTC)", whole=True),
        Column("what", whole=True),
        "why",
        "who",
        "memory",
        "term",
    ]
    cells = [
        [f"{row['at']:%F %H:%M}", row["action"], row["reason"] or row["detail"], row["principal"],
         row["memory_id"], row["term"]]
        for row in rows.head(limit).iter_rows(named=True)
    ]  # fmt: skip
    _show("Log of learning", columns, cells, rows.height)


# -- parts -----------------------------------------------------------------------------------------


def _print_gate(decision: GateDecision) -> None:
    """The gate in a line, and its conditions as a table."""
    out.print(f"Learning in [bold]{escape(decision.namespace)}[/] is {_says(decision)}", highlight=False)
    columns: Columns = [Column("condition", whole=True), Column("state", whole=True), "is", "needs"]
    rows = [
        [one["condition"], Mark(one["state"], one["state"]), one["value"], one["bound"]]
        for one in decision.rows
    ]
    out.print(rich_table(Table(columns, rows)))


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
        out.print(f"Nothing that is known yet was taught by {escape(of)}." if tried.rollback.value else
                  "Nothing is proposed or learned yet.", highlight=False)  # fmt: skip
        return
    out.print(
        f"{rows.height:,} lessons would be taken back ({escape(of)}): {tried.applied.height:,} applied, "
        f"{rows.height - tried.applied.height:,} only proposed; {tried.live:,} terms lose their effect.",
        highlight=False,
    )
    by = rows.group_by("memory_id").agg(
        lessons=pl.len(), terms=pl.col("term").unique().sort(), who=pl.col("principal").unique().sort()
    )
    top = by.sort("lessons", "memory_id", descending=[True, False]).head(_SHOWN)
    columns: Columns = [Column("memory", whole=True), "lessons", "terms", "taught by"]
    out.print(rich_table(Table(columns, top.rows(), left_out=by.height - top.height)))


def _show(title: str, columns: Columns, cells: Sequence[list[object]], rows: int) -> None:
    """The first of so many rows, under a title that says how many there are."""
    table = Table(columns, cells, left_out=rows - len(cells), option="--limit")
    show(Section(f"{title}: {rows:,}", [table]))


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


def _decided(decision: GateDecision) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(decision) | {"state": decision.state, "open": decision.open}
